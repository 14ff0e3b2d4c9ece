"""Packages that a run needs and this environment lacks, known before any of them is imported.

The Snakefile puts `src` on the path, so that a run needs no install step of its own; what
pyproject.toml declares for the papers has to be there. Nothing is imported here that Snakemake does
not bring.
"""

from __future__ import annotations

import os
import tomllib
from importlib import metadata
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EXTRA = "papers"


def hand_on(sources: str) -> None:
    """Put a folder first on the path of modules of all processes that this one starts."""
    parts = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if parts[0] != sources:
        os.environ["PYTHONPATH"] = os.pathsep.join([sources, *filter(None, parts)])


def refusal_of_environment(pyproject: Path) -> str:
    """One sentence on what is missing and on the command that adds it, or "" if nothing is."""
    lacking = [words for one in _needed(pyproject, EXTRA) if (words := _lacking(one))]
    if not lacking:
        return ""
    return (
        f"this environment lacks {', '.join(sorted(set(lacking)))}: "
        f"`python -m pip install '.[pipeline]'` in {pyproject.parent} adds what is missing, and "
        "`make reproduce` there makes an environment of its own"
    )


def _needed(pyproject: Path, extra: str) -> Iterator[Requirement]:
    """Requirements of the package and of one of its extras, with those of the extras it names."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    lines, extras = list(project["dependencies"]), [extra]
    for name in extras:  # grows below
        lines += project["optional-dependencies"][name]
        own = (Requirement(line) for line in project["optional-dependencies"][name])
        more = [one for each in own if each.name == project["name"] for one in each.extras]
        extras += sorted({*more} - {*extras})
    for line in lines:
        requirement = Requirement(line)
        applies = requirement.marker is None or requirement.marker.evaluate()
        if requirement.name != project["name"] and applies:
            yield requirement


def _lacking(requirement: Requirement) -> str:
    """The requirement in words, with the version found, or "" if this environment meets it."""
    wanted = f"{requirement.name}{requirement.specifier}"
    try:
        found = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return wanted
    good = requirement.specifier.contains(found, prereleases=True)
    return "" if good else f"{wanted} (found {found})"
