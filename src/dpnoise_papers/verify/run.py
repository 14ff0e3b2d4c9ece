"""Recomputation of a random part of the deterministic claims of a run, and the report on it."""

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
from dpnoise_papers.verify.paths import SLOW, all_paths
from dpnoise_papers.verify.paths.common import Answer, NoPathError, Row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from dpnoise_papers.claims.model import Claim
    from dpnoise_papers.verify.paths.common import Paths

LIMIT = 200.0  # seconds
ROWS = 2  # of one selection, beside the deciding one
_WITH = {
    "flipped-huber-2023/figure-4-dimensions.csv": (
        "flipped-huber-2023/figure-4a.csv",
        "flipped-huber-2023/figure-4b.csv",
    ),
}
_NOISE = ("_se", "_low")  # beside a column, they say that it holds draws
_REASONS = {
    "theory.csv": "a statement at random parameters, checked in the table by quadrature or search",
    "higher-accuracy.csv": "a count of random trials, by the sums of Table I",
    "orders.csv": "the largest ratio over random parameters of two bounds and a stated order",
    "descent-orders-spread.csv": "seeded training runs in several orders of columns",
    "table-3.csv": "quantiles of seeded runs",
    "heat-map-data.csv": "counts of the public road graph",
    "limit.csv": "bounds of a linear program, with a certificate of its own",
    "dp-pca-sensitivities.csv": "a maximum over unit vectors, proved in docs",
    "algorithm-1.csv": "an iteration count of the printed algorithm in doubles",
}
_OTHER = "no path was written: paths are for what the papers print"


class Checked(NamedTuple):
    """A cell, its answer (None where there is none, for the `reason`), and seconds."""

    cell: TableCell
    value: float
    answer: Answer | None
    reason: str
    seconds: float

    @property
    def agrees(self) -> bool:
        """Whether cell and answer agree."""
        return self.answer is not None and self.answer.agrees(self.value)


@dataclass(frozen=True)
class Report:
    """Outcome of a verification.

    `turn` is the slow table whose cells came first, by rotation, or nothing if none was drawn.
    """

    seed: int
    claims: int
    covered: int
    drawn: Mapping[str, Sequence[TableCell]]
    checked: Mapping[TableCell, Checked]
    without: Mapping[str, int]
    seconds: float
    turn: str = ""

    @property
    def disagreements(self) -> list[Checked]:
        """Cells on which table and answer disagree."""
        return [one for one in self.checked.values() if one.answer and not one.agrees]

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

    def _reason(self, cells: Sequence[TableCell]) -> str:
        """Why cells of a claim have no answer."""
        found = (self.checked[cell] for cell in cells)
        return next((one.reason for one in found if not one.answer), "no cell")

    def lines(self) -> list[str]:
        """Report in words."""
        bad = {one.cell for one in self.disagreements}
        wrong = [name for name, some in self.drawn.items() if bad & set(some)]
        left = [name for name in self.drawn if name not in self.recomputed]
        late = Counter(self._reason(self.drawn[name]) for name in left)
        share = self.covered / self.claims if self.claims else 0.0
        told = [
            (
                f"seed {self.seed}: {len(self.drawn)} of {self.claims} deterministic claims drawn, "
                f"{len(self.checked)} cells, {self.seconds:.0f} s"
            ),
            f"independent path: {self.covered} of {self.claims} claims ({share:.0%})",
        ]
        told += [f"  without one: {count:>3}  {words}" for words, count in self.without.items()]
        told += [f"not checked: {_place(one.cell)}: {one.reason}" for one in self.unchecked]
        for one in self.disagreements:
            if one.answer:
                told.append(
                    f"DISAGREES: {_place(one.cell)}: {one.value:.10g} in the table, "
                    f"{one.answer.value:.10g} recomputed"
                )
        if self.turn:
            told.append(f"slow tables take turns by the seed: this time {self.turn} came first")
        agree = f"{', '.join(wrong)} DISAGREE" if wrong else "all agree" if self.recomputed else ""
        words = f"{len(self.recomputed)} of {len(self.drawn)} claims recomputed"
        told.append(f"{words}, {agree}" if agree else f"{words}: this run shows nothing")
        if left:
            reasons = "; ".join(f"{count} not ({why})" for why, count in late.items())
            told[-1] += f"; {reasons}"
        return told


def verify(
    *files: str,
    folder: str = "",
    share: float = 0.1,
    seed: int,
    cores: int = 2,
    limit: float | None = None,
) -> Report:
    """Recompute a random `share` of the deterministic claims of a run.

    `files` are config files over config.yaml and `folder` the folder of the run, as for the
    pipeline. What has not begun after `limit` seconds (200, or without end for a share of 1) is
    left out, which the report says. Tables whose cells take long come last but for one of them,
    which the seed chooses in turn and which comes first. ValueError if there is no run.
    """
    limit = (math.inf if share == 1.0 else LIMIT) if limit is None else limit
    began = time.monotonic()
    config = load("config.yaml", *files, overrides={"folder": folder} if folder else None)
    results = places(config)["results"]
    claims = read_published("published").claims
    tables = read_tables((claim.result for claim in claims if claim.result), results)
    if not tables:
        raise ValueError(f"verify: no results in {results}/: a run (make reproduce) comes first")
    paths = all_paths()
    known = deterministic(claims, tables)
    covered = [claim for claim in known if has_path(claim, paths)]
    rng = generator(seed, "verify")
    count = min(len(covered), math.ceil(share * len(known)))
    drawn = [covered[k] for k in sorted(rng.permutation(len(covered))[:count])]
    by_claim = {claim.id: cells(claim, tables[claim.result], rng, ROWS) for claim in drawn}
    wanted = list(dict.fromkeys(cell for some in by_claim.values() for cell in some))
    settings = _settings(config)
    slow = sorted({cell.result for cell in wanted} & SLOW)
    turn = slow[seed % len(slow)] if slow else ""
    wanted.sort(key=lambda cell: (cell.result != turn, cell.result in SLOW))
    jobs = [(cell, _row(cell, tables, settings)) for cell in wanted]
    checked = _all(jobs, cores, began + limit)
    without = Counter(why_not(claim) for claim in known if claim not in covered)
    spent = time.monotonic() - began
    return Report(seed, len(known), len(covered), by_claim, checked, dict(without), spent, turn)


def _all(
    jobs: Sequence[tuple[TableCell, Row]], cores: int, deadline: float
) -> dict[TableCell, Checked]:
    """Answers to all cells, on several cores."""
    with ProcessPoolExecutor(cores) as pool:
        found = (
            list(pool.map(_one, *zip(*jobs, strict=True), [deadline] * len(jobs))) if jobs else []
        )
    return {one.cell: one for one in found}


def _one(cell: TableCell, row: Row, deadline: float) -> Checked:
    """Answer to one cell."""
    began, value = time.monotonic(), row.number(cell.column)
    if began > deadline:
        return Checked(cell, value, None, "no time was left", 0.0)
    path = all_paths()[cell.result][cell.column]
    try:
        answer = path.answer(row)
    except NoPathError as error:
        return Checked(cell, value, None, str(error), time.monotonic() - began)
    return Checked(cell, value, answer, "", time.monotonic() - began)


def _row(
    cell: TableCell,
    tables: Mapping[str, pd.DataFrame],
    settings: Mapping[str, tuple[Any, ...]],
) -> Row:
    """Row of a cell with what stands behind it."""
    others = {name: tables[name] for name in _WITH.get(cell.result, ()) if name in tables}
    cells_of = tables[cell.result].loc[cell.place].to_dict()
    return Row(cells_of, settings.get(cell.result, ()), others)


def _settings(config: Any) -> dict[str, tuple[Any, ...]]:  # noqa: ANN401
    """Typed settings of the item behind each table."""
    return {
        f"{paper.id}/{name}.csv": tuple(
            getattr(getattr(config, paper.module), section) for section in item.table.settings
        )
        for paper in papers()
        for item in paper.items
        if item.table
        for name in item.tables
        if PART not in name
    }


def _place(cell: TableCell) -> str:
    """Place of a cell in words; rows count from 2, after the header."""
    return f"results/{cell.result}, line {cell.place + 2}, {cell.column}"


class TableCell(NamedTuple):
    """Cell of a result table, by its path, the place of its row and its column."""

    result: str
    place: int
    column: str


def deterministic(claims: Sequence[Claim], tables: Mapping[str, pd.DataFrame]) -> list[Claim]:
    """Claims whose tables are there and whose columns have no standard error or interval."""
    return [claim for claim in claims if _is_deterministic(claim, tables)]


def _is_deterministic(claim: Claim, tables: Mapping[str, pd.DataFrame]) -> bool:
    if claim.result not in tables:
        return False
    table = tables[claim.result]
    columns = {column for _, column in claim.sides}
    noisy = any(f"{column}{end}" in table for column in columns for end in _NOISE)
    return columns <= set(table) and not noisy and bool(cells(claim, table, None, 1))


def has_path(claim: Claim, paths: Paths) -> bool:
    """Whether every column that a claim looks at can be recomputed."""
    known = paths.get(claim.result, {})
    return all(column in known for _, column in claim.sides)


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


def why_not(claim: Claim) -> str:
    """Reason in words, with the table."""
    name = claim.result.rpartition("/")[2]
    return f"{claim.result}, {claim.column}: {_REASONS.get(name, _OTHER)}"
