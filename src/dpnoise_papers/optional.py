"""Optional items: what needs an extra that the default run neither installs nor waits for.

An optional table is made by a target of its own (`make deep`), in an environment that has the
extra. The verdicts of a later default run count it, without that run trying to make it; one that
was made with other settings than those in force counts as not made. For that, each optional table
has a column `settings_digest` with the digest of the settings behind it.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dpnoise_papers.config import sections, settings_digest
from dpnoise_papers.item import PART, Table
from dpnoise_papers.making.job import file_digest, find_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpnoise_papers.item import Item, Paper
    from dpnoise_papers.settings import Section

DIGEST = "settings_digest"
_DIGITS = 16


class OptionalTable(NamedTuple):
    """An optional table: what makes it, the digest of the settings in force, its job's record.

    The record is that of `stem` (`dpnoise_papers.making.job`).
    """

    extra: str
    target: str
    digest: str
    stem: str


def targets(papers: tuple[Paper, ...]) -> list[str]:
    """Sorted names of the targets of optional items."""
    return sorted({item.target for paper in papers for item in paper.items if item.extra})


def digest_behind(config: Section, papers: tuple[Paper, ...], paper: Paper, item: Item) -> str:
    """Digest of the settings of an item and of all items whose tables it reads, at any distance."""
    found: dict[str, object] = {}
    behind = [(paper, item)]
    for owner, one in behind:  # grows below
        table = one.table or Table(function="")
        for name, section in sections(config, owner.module, table.settings).items():
            found[f"{owner.id}.{name}"] = section
        behind += [
            (other, made)
            for other in papers
            for made in other.items
            if (other, made) not in behind
            and any(
                _is_read(f"{other.id}/{name}", read, owner.id)
                for name in made.tables
                for read in table.reads
            )
        ]
    return settings_digest(found)[:_DIGITS]


def _is_read(table: str, read: str, paper: str) -> bool:
    """Whether a name in `reads` of an item of a paper is a table, such as 'paper/runs/{part}'."""
    pattern = re.escape(table).replace(re.escape(PART), ".+")
    return any(re.fullmatch(pattern, name) for name in (read, f"{paper}/{read}"))


def optional_tables(config: Section, papers: tuple[Paper, ...]) -> dict[str, OptionalTable]:
    """Optional tables by their path below results/; not those that are made in parts."""
    return {
        f"{paper.id}/{name}.csv": OptionalTable(
            item.extra,
            item.target,
            digest_behind(config, papers, paper, item),
            f"{paper.id}/{item.id}-table",
        )
        for paper in papers
        for item in paper.items
        for name in item.tables
        if item.extra and PART not in name
    }


def standing(
    tables: Mapping[str, OptionalTable], folder: str | Path, *, recorded: bool = True
) -> dict[str, dict[str, str]]:
    """State of optional tables in the folder of results, by path.

    'content' is the sha256 of a table that counts, else empty; 'reason' is why it does not count.
    A table that is not what its record says does not; copies have none (`recorded=False`).
    """
    states = {}
    for path, table in sorted(tables.items()):
        file = Path(folder) / path
        reason = _reason(file, table)
        content = "" if reason else file_digest(file)
        if recorded and content:
            record = find_record(folder, table.stem)
            if record is None or record.outputs.get(str(file)) != content:
                content = ""
                how = "changed since it was made" if record else "of unknown origin"
                reason = f"{file} is {how}; `make {table.target}` makes it again"
        states[path] = {"content": content, "reason": reason}
    return states


def _reason(file: Path, table: OptionalTable) -> str:
    """Why a table does not count, or nothing."""
    needs = f"no part of the default run, because it needs the extra {table.extra!r}"
    again = f"`make {table.target}` makes it"
    try:
        with file.open(newline="", encoding="utf-8") as stream:
            digests = {row.get(DIGEST) for row in csv.DictReader(stream)}
    except FileNotFoundError:
        return f"{file} is {needs}; {again}"
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        return f"{file} cannot be read ({error}); {again}"
    if not digests:
        missing = "its data or device could not be had"
        return f"{file} has no rows, because {missing}; once they can, {again}"
    if digests != {table.digest}:
        return f"{file} was made with other settings than those in force; {again} again"
    return ""
