"""Recomputation of a random part of the deterministic printed claims of a run, and its report."""

from __future__ import annotations

import math
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise_papers.claims.published import read_published
from dpnoise_papers.claims.quantity import NotRunError, read_tables, rows_of
from dpnoise_papers.config import load, places
from dpnoise_papers.item import PART, papers
from dpnoise_papers.seeds import generator
from dpnoise_papers.verify.paths import PATHS, SLOW, Answer, Row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from dpnoise_papers.claims.model import Claim

LIMIT = 200.0  # seconds
ROWS = 2  # of one selection, beside the deciding one
_NOISE = ("_se", "_low")  # beside a column, they say that it holds draws


class TableCell(NamedTuple):
    """Cell of a result table, by its path, the place of its row and its column."""

    result: str
    place: int
    column: str

    def __str__(self) -> str:
        """Place in words; rows count from 2, after the header."""
        return f"results/{self.result}, line {self.place + 2}, {self.column}"


class Checked(NamedTuple):
    """A cell, its value and its answer, None where there is none, for the `reason`."""

    cell: TableCell
    value: float
    answer: Answer | None
    reason: str = ""


@dataclass(frozen=True)
class Report:
    """Outcome of a verification: how many claims there are, those with a path, cells by claim."""

    seed: int
    claims: int
    covered: int
    drawn: Mapping[str, Sequence[TableCell]]
    checked: Mapping[TableCell, Checked]
    seconds: float

    @property
    def disagreements(self) -> list[Checked]:
        """Cells on which table and answer disagree."""
        return [x for x in self.checked.values() if x.answer and not x.answer.agrees(x.value)]

    @property
    def unchecked(self) -> list[Checked]:
        """Cells without an answer."""
        return [one for one in self.checked.values() if one.answer is None]

    @property
    def recomputed(self) -> list[str]:
        """Claims of which every drawn cell has an answer, and of which there is one."""
        open_ = {one.cell for one in self.unchecked}
        return [name for name, some in self.drawn.items() if some and not open_ & set(some)]

    @property
    def fails(self) -> bool:
        """Whether a cell disagrees, or nothing was recomputed at all."""
        return bool(self.disagreements) or not self.recomputed

    def lines(self) -> list[str]:
        """Report in words."""
        bad = {one.cell for one in self.disagreements}
        wrong = [name for name, some in self.drawn.items() if bad & set(some)]
        told = [
            (
                f"seed {self.seed}: {len(self.drawn)} of {self.claims} deterministic printed claims"
                f" drawn, {len(self.checked)} cells, {self.seconds:.0f} s"
            ),
            f"independent path: {self.covered} of {self.claims} claims",
            *(f"not checked: {one.cell}: {one.reason}" for one in self.unchecked),
        ]
        told += [
            f"DISAGREES: {cell}: {value:.10g} in the table, {answer.value:.10g} recomputed"
            for cell, value, answer, _ in self.disagreements
            if answer
        ]
        agree = f"{', '.join(wrong)} DISAGREE" if wrong else "all agree"
        why = Counter(
            next((self.checked[x].reason for x in some if not self.checked[x].answer), "no cell")
            for name, some in self.drawn.items()
            if name not in self.recomputed
        )
        end = f", {agree}" if wrong or self.recomputed else ": this run shows nothing"
        late = "".join(f"; {count} not ({reason})" for reason, count in why.items())
        told.append(f"{len(self.recomputed)} of {len(self.drawn)} claims recomputed{end}{late}")
        return told


def verify(
    *files: str,
    folder: str = "",
    share: float = 0.1,
    seed: int,
    cores: int = 2,
    limit: float | None = None,
) -> Report:
    """Recompute a random `share` of the deterministic printed claims of a run.

    `files` are config files over config.yaml and `folder` the folder of the run, as for the
    pipeline. What has not begun after `limit` seconds (200, or without end for a share of 1) is
    left out, which the report says. Tables whose cells take long come last. ValueError if there is
    no run.
    """
    limit = (math.inf if share == 1.0 else LIMIT) if limit is None else limit
    began = time.monotonic()
    config = load("config.yaml", *files, overrides={"folder": folder} if folder else None)
    results = places(config)["results"]
    claims = [claim for claim in read_published("published").claims if claim.kind == "printed"]
    tables = read_tables((claim.result for claim in claims if claim.result), results)
    if not tables:
        raise ValueError(f"verify: no results in {results}/: a run (make reproduce) comes first")
    known = [claim for claim in claims if deterministic(claim, tables)]
    covered = [claim for claim in known if has_path(claim)]
    rng = generator(seed, "verify")
    count = min(len(covered), math.ceil(share * len(known)))
    drawn = [covered[k] for k in sorted(rng.permutation(len(covered))[:count])]
    by_claim = {claim.id: cells(claim, tables[claim.result], rng, ROWS) for claim in drawn}
    wanted = list(dict.fromkeys(cell for some in by_claim.values() for cell in some))
    wanted.sort(key=lambda cell: cell.result in SLOW)
    settings = _settings(config)
    rows = [_row(cell, tables, settings) for cell in wanted]
    with ProcessPoolExecutor(cores) as pool:
        found = list(pool.map(_one, wanted, rows, [began + limit] * len(rows)))
    checked = {one.cell: one for one in found}
    return Report(seed, len(known), len(covered), by_claim, checked, time.monotonic() - began)


def _one(cell: TableCell, row: Row, deadline: float) -> Checked:
    """Answer to one cell."""
    value = float(getattr(row, cell.column))
    if time.monotonic() > deadline:
        return Checked(cell, value, None, "no time was left")
    found = PATHS[cell.result][cell.column](row)
    answer = found if isinstance(found, Answer) else Answer(float(found))
    if math.isnan(answer.value):
        return Checked(cell, value, None, "no path for this row")
    return Checked(cell, value, answer)


def _row(cell: TableCell, tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> Row:
    """Row of a cell with what stands behind it."""
    told: dict[str, Any] = tables[cell.result].loc[cell.place].to_dict()  # type: ignore[assignment]
    return Row(**told, settings=settings.get(cell.result))


def _settings(config: Any) -> dict[str, Any]:  # noqa: ANN401
    """First section of the typed settings behind each table."""
    return {
        f"{paper.id}/{name}.csv": getattr(getattr(config, paper.module), item.table.settings[0])
        for paper in papers()
        for item in paper.items
        if item.table and item.table.settings
        for name in item.tables
        if PART not in name
    }


def deterministic(claim: Claim, tables: Mapping[str, pd.DataFrame]) -> bool:
    """Whether a claim's table is there and its columns have no standard error or interval."""
    if claim.result not in tables:
        return False
    table = tables[claim.result]
    columns = {column for _, column in claim.sides}
    noisy = any(f"{column}{end}" in table for column in columns for end in _NOISE)
    return columns <= set(table) and not noisy and bool(cells(claim, table, None, 1))


def has_path(claim: Claim) -> bool:
    """Whether every column that a claim looks at can be recomputed."""
    return {column for _, column in claim.sides} <= set(PATHS.get(claim.result, {}))


def cells(
    claim: Claim, table: pd.DataFrame, rng: np.random.Generator | None, most: int
) -> list[TableCell]:
    """Cells of a claim, of each selection at most so many rows: the deciding one and random ones.

    Nothing where a selection has no row or one that failed.
    """
    found: dict[TableCell, None] = {}
    for select, column in claim.within(table.columns).sides:
        try:
            rows = rows_of(table, select, claim.result)
        except NotRunError:
            return []
        if not np.isfinite(rows[column].to_numpy(dtype=float)).all():
            return []
        places = rows.index.to_numpy()
        chosen = set(places[:most]) if rng is None else set(rng.permutation(places)[:most])
        if claim.reduce in ("min", "max"):
            chosen.add(getattr(rows[column], f"idx{claim.reduce}")())
        found |= dict.fromkeys(
            TableCell(claim.result, int(place), column) for place in sorted(chosen)
        )
    return list(found)
