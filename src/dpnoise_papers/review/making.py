"""How one item is made and what it costs, from its declaration and the files of a run.

Functions are found by file and line without importing them; seconds and memory come from the
benchmark files that the jobs left. A document shows the costs of all items as a table.
"""

from __future__ import annotations

import ast
import csv
import json
import math
import os
import re
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from dpnoise_papers.config import places, sections
from dpnoise_papers.item import PART
from dpnoise_papers.making import SOURCE
from dpnoise_papers.result_files import write_text
from dpnoise_papers.review.model import Making
from dpnoise_papers.steps import outputs, parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dpnoise_papers.item import Item, Paper
    from dpnoise_papers.settings import Section
    from dpnoise_papers.steps import Kind

KINDS: tuple[Kind, ...] = ("table", "figure", "page")
BEGIN, END = "<!-- costs -->", "<!-- end of costs -->"
_HEAD = ("item", "jobs", "seconds", "memory (MB)", "disk (kB)")


@dataclass(frozen=True, kw_only=True)
class Folders:
    """Where a run has written and the page will lie; `options` are those of Snakemake."""

    results: Path
    figures: Path
    benchmarks: Path
    page: Path
    options: tuple[str, ...] = ()

    def path(self, declared: str) -> Path:
        """Path of a declared output such as '<results>/paper/item.csv'."""
        kind, _, rest = declared.partition(">/")
        return (self.results if kind == "<results" else self.figures) / rest


def command_options(files: Iterable[str | Path], overrides: Mapping[str, Any]) -> list[str]:
    """Snakemake's options for config files, relative to the working directory, and settings."""
    names = [os.path.relpath(path) for path in files]
    options = ["--configfile", *names] if names else []
    settings = [f"{name}={json.dumps(value)}" for name, value in sorted(overrides.items())]
    return [*options, *(["--config", *settings] if settings else [])]


def making(config: Section, paper: Paper, item: Item, folders: Folders) -> Making:
    """How an item is made, with the files that are there."""
    settings = sections(config, paper.module, item.table.settings) if item.table else {}
    functions = [
        (kind, place(getattr(item, kind).function)) for kind in KINDS if getattr(item, kind)
    ]
    listed = parts(config, paper, item.table.parts) if item.table and item.table.parts else []
    stem = f"{paper.id}/{item.id}"
    benchmarks = [f"{stem}-table.tsv", *(f"{stem}-{part}-table.tsv" for part in listed)]
    files = _files(paper, item, listed, folders)
    return Making(
        functions=tuple(functions),
        settings=_slice(paper, settings),
        command=_command(paper, item, listed, folders),
        cost=cost(folders.benchmarks / name for name in benchmarks),
        files=tuple(files),
    )


def _slice(paper: Paper, settings: dict[str, dict[str, Any]]) -> str:
    """The item's settings as they would stand in a config file."""
    if not settings:
        return ""
    return yaml.safe_dump(
        {paper.module: settings}, sort_keys=False, default_flow_style=None, width=100
    )


def _command(paper: Paper, item: Item, listed: list[str], folders: Folders) -> str:
    """Command that makes an item again, from its table on; of an optional one its target."""
    if item.extra:
        return f"make {item.target}"
    kinds = [kind for kind in KINDS if getattr(item, kind)]
    rules = [f"{paper.id}_{item.id}_{kind}".replace("-", "_") for kind in kinds]
    last = [
        path.replace(PART, listed[0] if listed else "") for path in outputs(paper, item, kinds[-1])
    ]
    target = folders.path(last[0]).as_posix()
    words = ["snakemake", target, "--cores", "2", *folders.options, "--forcerun", *rules]
    return shlex.join(words)


def _files(
    paper: Paper, item: Item, listed: list[str], folders: Folders
) -> list[tuple[str, str, int]]:
    """Files of an item that are there: words, address relative to the page, bytes."""
    found = []
    for kind in KINDS:
        for declared in outputs(paper, item, kind):
            swept = PART in declared
            for path in [declared.replace(PART, part) for part in listed] if swept else [declared]:
                file = folders.path(path)
                if file.is_file():
                    address = os.path.relpath(file, folders.page.parent)
                    found.append((file.name, Path(address).as_posix(), file.stat().st_size))
    return found


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


def costs_table(config: Section, papers: tuple[Paper, ...], benchmarks: str | Path) -> list[str]:
    """Lines of a table with one row for each item whose tables a run has measured.

    Seconds are those of all jobs of its tables one after another, memory that of the largest, disk
    that of all its files.
    """
    where = places(config)
    folders = Folders(
        results=Path(where["results"]),
        figures=Path(where["figures"]),
        benchmarks=Path(benchmarks),
        page=Path("report.html"),
    )
    lines = [_line(*_HEAD), _line("---", "---:", "---:", "---:", "---:")]
    for paper in papers:
        for item in paper.items:
            made = making(config, paper, item, folders)
            if made.cost:
                size = sum(size for _, _, size in made.files)
                lines.append(_row(f"{paper.id}/{item.id}", made.cost, size))
    return lines


def write_costs(
    document: str | Path, benchmarks: str | Path, config: Section, papers: tuple[Paper, ...]
) -> int:
    """Write the table between the marks of a document anew; return its number of items.

    ValueError if the document has no marks or there are no files of a run.
    """
    text = Path(document).read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"{document}: expected the marks {BEGIN} and {END}, once each")
    lines = costs_table(config, papers, benchmarks)
    if len(lines) == 2:
        raise ValueError(f"costs: no benchmark files of a run in {benchmarks}")
    block = "\n".join([BEGIN, "", *lines, "", END])
    pattern = f"{re.escape(BEGIN)}.*{re.escape(END)}"
    write_text(re.sub(pattern, lambda _: block, text, flags=re.DOTALL), document)
    return len(lines) - 2


def _row(name: str, found: Cost, size: int) -> str:
    """Row of an item."""
    numbers = f"{found.jobs}", f"{found.seconds:.0f}", f"{found.memory:.0f}", f"{size / 1000:.0f}"
    return _line(name, *numbers)


def _line(*cells: str) -> str:
    """Line of a table."""
    return f"| {' | '.join(cells)} |"
