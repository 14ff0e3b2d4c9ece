"""How one item is made and what it costs, from its declaration and the files of a run.

Functions are found by file and line without importing them; seconds and memory come from the
benchmark file of its job, where its tables have a job of their own.
"""

from __future__ import annotations

import ast
import csv
import json
import math
import os
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from dpnoise_papers.config import sections
from dpnoise_papers.making import SOURCE
from dpnoise_papers.review.model import Making
from dpnoise_papers.steps import outputs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dpnoise_papers.item import Item, Paper
    from dpnoise_papers.steps import Run

KINDS = ("table", "figure", "page")


@dataclass(frozen=True, kw_only=True)
class Folders:
    """Where a run has written and the page will lie; `options` are those of Snakemake."""

    results: Path
    figures: Path
    benchmarks: Path
    page: Path
    options: tuple[str, ...] = ()


def command_options(files: Iterable[str | Path], overrides: Mapping[str, Any]) -> list[str]:
    """Snakemake's options for config files, relative to the working directory, and settings."""
    names = [os.path.relpath(path) for path in files]
    options = ["--configfile", *names] if names else []
    settings = [f"{name}={json.dumps(value)}" for name, value in sorted(overrides.items())]
    return [*options, *(["--config", *settings] if settings else [])]


def making(run: Run, paper: Paper, item: Item, folders: Folders) -> Making:
    """How an item is made, with the files that are there."""
    settings = sections(run.config, paper.module, item.table.settings) if item.table else {}
    functions = [
        (kind, place(getattr(item, kind).function)) for kind in KINDS if getattr(item, kind)
    ]
    made = outputs(run.calls(key := f"{paper.id}/{item.id}"))
    files = [Path(path) for path in made if Path(path).is_file()]
    return Making(
        functions=tuple(functions),
        settings=_slice(paper, settings),
        command=_command(item, made, folders),
        cost=cost([folders.benchmarks / f"{key}-table.tsv"]),
        files=tuple((file.name, Path(os.path.relpath(file, folders.page.parent)).as_posix(),
                     file.stat().st_size) for file in files),
    )  # fmt: skip


def _slice(paper: Paper, settings: dict[str, dict[str, Any]]) -> str:
    """The item's settings as they would stand in a config file."""
    if not settings:
        return ""
    return yaml.safe_dump(
        {paper.module: settings}, sort_keys=False, default_flow_style=None, width=100
    )


def _command(item: Item, made: list[str], folders: Folders) -> str:
    """Command that makes an item again; of an optional one its target."""
    if item.extra:
        return f"make {item.target}"
    words = ["snakemake", "--cores", "2", *folders.options, "--force", *made[:1]]
    return shlex.join(words)


class Place(NamedTuple):
    """A function by its full dotted name, and the file and line where it starts."""

    function: str
    path: str
    line: int


def place(function: str) -> Place:
    """Place of a function with a full dotted name; ValueError if its module lacks it."""
    module, _, name = function.rpartition(".")
    path = SOURCE.joinpath(*module.split(".")).with_suffix(".py")
    lines = _lines(path)
    if name not in lines:
        raise ValueError(f"{path}: expected a function {name!r}, found none")
    return Place(function, path.relative_to(SOURCE.parent).as_posix(), lines[name])


@cache
def _lines(path: Path) -> dict[str, int]:
    """Line of each name that a module defines or imports at its top level."""
    found = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node.lineno
        elif isinstance(node, ast.Assign):
            found |= {one.id: node.lineno for one in node.targets if isinstance(one, ast.Name)}
    return found


class Cost(NamedTuple):
    """Wall seconds of all jobs together, memory (MB) of the largest, and how many there were."""

    seconds: float
    memory: float
    jobs: int


def cost(paths: Iterable[str | Path]) -> Cost | None:
    """Cost of some jobs by their benchmark files; None if none of the files is there."""
    seconds, memory, jobs = 0.0, 0.0, 0
    for path in map(Path, paths):
        if not path.is_file():
            continue
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        jobs += 1
        seconds += max((_number(row.get("s")) for row in rows), default=0.0)
        memory = max([memory, *(_number(row.get("max_rss")) for row in rows)])
    return Cost(seconds, memory, jobs) if jobs else None


def _number(text: str | None) -> float:
    """Number of a cell, 0 where Snakemake could not measure ('NA', '-')."""
    try:
        value = float(text or 0)
    except ValueError:
        return 0.0
    return value if math.isfinite(value) else 0.0
