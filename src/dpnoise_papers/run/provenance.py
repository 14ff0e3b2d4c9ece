"""Provenance of a run: from which code, settings and data, on which machine, each file was made.

`results/provenance.json` holds it, in one file for the whole run, with the record of each job
(`dpnoise_papers.making`). Date and machine stand there and
nowhere else, so that all other results stay byte-identical between runs.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from dpnoise._version import __version__
from dpnoise_papers.config import settings_digest
from dpnoise_papers.item import PART
from dpnoise_papers.making import file_digest, read_record
from dpnoise_papers.steps import steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dpnoise_papers.item import Paper
    from dpnoise_papers.settings import Section
    from dpnoise_papers.steps import Step

PACKAGE = "dpnoise"
_SOURCES = ("Snakefile", "config.yaml", "data", "published", "src", "workflow")
_EXTRAS = ("learn", "denoise", "papers", "pipeline")


class Origin(NamedTuple):
    """What a file is made from: 'paper/item', settings by 'paper.section', names of data sets.

    Settings and data are those of every step on the way to the file.
    """

    item: str
    settings: dict[str, Any]
    data: list[str]


def origins(config: Section, papers: Iterable[Paper]) -> dict[str, Origin]:
    """Origin of each table, figure and page, by its path as in `dpnoise_papers.steps`."""
    made = {}
    for kind in ("table", "figure", "page"):
        for step in steps(config, tuple(papers), kind):
            for part in step.parts or [""]:
                for path in step.outputs:
                    made[path.replace(PART, part)] = (step, part)

    @cache
    def origin(path: str) -> Origin:
        step, part = made[path]
        given = {kind: [name.replace(PART, part) for name in names]
                 for kind, names in step.inputs.items()}  # fmt: skip
        found = Origin(f"{step.paper}/{step.item}", _settings(step, part), [])
        found.data.extend(Path(name).stem for name in given.get("npz", []))
        for read in map(origin, given.get("tables", [])):
            found.settings.update(read.settings)
            found.data.extend(read.data)
        return found._replace(data=sorted(set(found.data)))

    return {path: origin(path) for path in made}


def told(origin: Origin) -> dict[str, Any]:
    """Origin of a file as provenance.json has it, with a digest of its settings."""
    settings = settings_digest(origin.settings)
    return {"item": origin.item, "settings": settings, "data": origin.data}


def _settings(step: Step, part: str) -> dict[str, Any]:
    """Settings that a step itself is given, by 'paper.section'."""
    own = step.params.get("settings", {})
    own = own(SimpleNamespace(part=part)) if callable(own) else own
    module = step.paper.replace("-", "_")
    # One part of a swept section has a name of its own beside the whole section.
    return {f"{module}.{name}" + (f" {part}" if part else ""): own[name] for name in own}


@cache
def revision(root: str = ".") -> tuple[str, bool]:
    """Commit of a checkout and whether its sources differ from it.

    Without one, the version of the package and False.
    """
    try:
        if Path(_git(root, "rev-parse", "--show-toplevel").strip()) == Path(root).resolve():
            commit = _git(root, "rev-parse", "HEAD").strip()
            return commit, bool(_git(root, "status", "--porcelain", "--", *_SOURCES))
    except (OSError, subprocess.SubprocessError):
        pass
    return __version__, False


def _git(root: str, *arguments: str) -> str:
    """Output of a git command that only reads."""
    return subprocess.run(  # noqa: S603 - fixed words
        ["git", "--no-optional-locks", "-C", root, *arguments],  # noqa: S607 - the user's git
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
    ).stdout


def run_stamp() -> dict[str, Any]:
    """Date, machine and versions of packages of this process."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
            "cpu": processor(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        },
        "packages": _packages(),
    }


def files_made(
    paths: Iterable[str],
    about: Iterable[Mapping[str, Any]],
    stems: Iterable[str],
    folder: str | os.PathLike[str],
    also: Iterable[str] = (),
) -> dict[str, Any]:
    """Digest (sha256) of each file beside what is told about it, by path, and records of the jobs.

    `stems` are those of the files' jobs, whose records lie in a folder; those of `also` are kept
    besides. ValueError names every file that is not what its job wrote, or that was made from other
    files than there are now.
    """
    files: dict[str, Any] = {}
    stems = list(stems)
    jobs = {stem: read_record(Path(folder) / f"{stem}.json") for stem in sorted({*stems, *also})}
    wrong = []
    for path, one, stem in zip(paths, about, stems, strict=True):
        job, digest = jobs[stem], file_digest(path)
        if job is None or job.outputs.get(path) != digest:
            wrong.append(f"{path} is not what its job wrote")
        files[path] = {"sha256": digest, "job": stem, **one}
    for stem, job in jobs.items():
        read = job.inputs if job else {}
        wrong += [
            f"{stem} was made from another {path}"
            for path, digest in read.items()
            if files.get(path, {"sha256": digest})["sha256"] != digest
        ]
    if wrong:
        what = f"{len(wrong)} result(s) changed while the run went on"
        raise ValueError(f"provenance: {what}: {'; '.join(wrong)}. Run again: they are made anew")
    return {"files": files, "jobs": {stem: job._asdict() for stem, job in jobs.items() if job}}


def processor() -> str:
    """Model of the processor, or what is known of it."""
    try:
        found = re.search(r"(?m)^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def _packages() -> dict[str, str]:
    """Versions of the packages that the pipeline declares, by name."""
    try:
        declared: Sequence[str] = requires(PACKAGE) or ()
    except PackageNotFoundError:
        return {}
    found = {}
    for line in declared:
        name, extra = re.match(r"[\w.-]+", line), re.search(r"extra == .([\w-]+)", line)
        if name and (extra is None or extra[1] in _EXTRAS):
            try:
                found[name[0]] = version(name[0])
            except PackageNotFoundError:
                continue
    return dict(sorted(found.items()))
