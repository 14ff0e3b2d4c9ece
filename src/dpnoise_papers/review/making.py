"""How one item is made and what it costs, from its declaration and the files of a run.

Functions are found by file and line without importing them; seconds and memory come from the
benchmark file of its job, where its tables have a job of their own.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from dpnoise_papers.config import sections
from dpnoise_papers.making import SOURCE
from dpnoise_papers.steps import outputs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dpnoise_papers.steps import Run

KINDS = ("table", "figure", "page")


class Place(NamedTuple):
    """A function by its full dotted name, and the file and line where it starts."""

    function: str
    path: str
    line: int


class Making(NamedTuple):
    """How an item is made: functions with their places, settings, command, cost, files.

    `cost` are seconds and MB, None if they were not measured; `files` are (words, address relative
    to the page, bytes).
    """

    functions: list[tuple[str, Place]]
    settings: str
    command: str
    cost: tuple[float, float] | None
    files: list[tuple[str, str, int]]


def command_options(files: Iterable[str | Path], overrides: Mapping[str, Any]) -> list[str]:
    """Snakemake's options for config files, relative to the working directory, and settings."""
    names = [os.path.relpath(path) for path in files]
    options = ["--configfile", *names] if names else []
    settings = [f"{name}={json.dumps(value)}" for name, value in sorted(overrides.items())]
    return [*options, *(["--config", *settings] if settings else [])]


def making(run: Run, key: str, options: Sequence[str]) -> Making:
    """How the item 'paper/item' is made, with the files that are there."""
    paper, item = run.items[key]
    made = outputs(run.calls(key))
    command = shlex.join(["snakemake", "--cores", "2", *options, "--force", *made[:1]])
    settings = sections(run.config, paper.module, item.table.settings) if item.table else {}
    files = [Path(path) for path in made if Path(path).is_file()]
    page = Path(run.page_for_reviewers).parent
    return Making(
        functions=[
            (kind, place(getattr(item, kind).function)) for kind in KINDS if getattr(item, kind)
        ],
        settings=yaml.safe_dump({paper.module: settings}, sort_keys=False, default_flow_style=None,
                                width=100) if settings else "",
        command=f"make {item.target}" if item.extra else command,
        cost=cost(Path(run.logs, "benchmarks", f"{key}-table.tsv")),
        files=[(file.name, Path(os.path.relpath(file, page)).as_posix(), file.stat().st_size)
               for file in files],
    )  # fmt: skip


def place(function: str) -> Place:
    """Place of a function with a full dotted name; ValueError if its module lacks it."""
    module, _, name = function.rpartition(".")
    path = SOURCE.joinpath(*module.split(".")).with_suffix(".py")
    text = path.read_text(encoding="utf-8")
    found = re.search(rf"^(?:def {name}\(|class {name}\b|{name} =)", text, re.MULTILINE)
    if not found:
        raise ValueError(f"{path}: expected a function {name!r}, found none")
    line = text.count("\n", 0, found.start()) + 1
    return Place(function, path.relative_to(SOURCE.parent).as_posix(), line)


def cost(path: Path) -> tuple[float, float] | None:
    """Seconds and memory (MB) of a job by its benchmark file, 0 where Snakemake has no number."""
    if not path.is_file():
        return None
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    seconds, memory = (
        max((float(row[name]) for row in rows if re.fullmatch(r"[\d.]+", row[name])), default=0.0)
        for name in ("s", "max_rss")
    )
    return seconds, memory
