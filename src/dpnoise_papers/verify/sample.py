"""Deterministic claims of a run, which of them have an independent path, and their cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise_papers.claims.quantity import NotRunError, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from dpnoise_papers.claims.model import Claim
    from dpnoise_papers.verify.model import Paths

_NOISE = ("_se", "_low")  # beside a column, they say that it holds draws


class Cell(NamedTuple):
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
) -> list[Cell]:
    """Cells of a claim, of each selection at most so many rows: the deciding one and random ones.

    Nothing where a selection has no row or one that failed.
    """
    found: dict[Cell, None] = {}
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
        found |= dict.fromkeys(Cell(claim.result, int(place), column) for place in sorted(chosen))
    return list(found)
