"""How one item is made: functions, settings, command, cost and files, from its declaration."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from dpnoise_papers.config import sections
from dpnoise_papers.item import PART
from dpnoise_papers.review.costs import cost
from dpnoise_papers.review.model import Making
from dpnoise_papers.review.sources import place
from dpnoise_papers.steps import outputs, parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dpnoise_papers.item import Item, Paper
    from dpnoise_papers.settings import Section
    from dpnoise_papers.steps import Kind


KINDS: tuple[Kind, ...] = ("table", "figure", "page")


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
