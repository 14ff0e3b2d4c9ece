"""Find our value for a claim in the result tables, with its standard error.

By convention a stochastic column `x` has its standard error beside it in `x_se`; a
column without one is deterministic. Rows whose `status` is not 'ok' have no value.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dpnoise.claims.model import Claim, Condition


class NotRunError(Exception):
    """There is no value to judge; the message says why."""


class Quantity(NamedTuple):
    """What a claim speaks of, one entry per selected row (or one after reducing).

    `first` and `second` are the two sides of a difference, ratio or ordering, shape
    (n,); `value` is the number, difference or ratio; `se` its standard error, or None if
    the columns are deterministic.
    """

    value: np.ndarray
    se: np.ndarray | None
    first: np.ndarray
    second: np.ndarray | None


def read_tables(claims: Iterable[Claim], folder: str | Path) -> dict[str, pd.DataFrame]:
    """Read every result table that the claims name and that exists.

    Parameters
    ----------
    claims : iterable of Claim
    folder : str or Path
        The results folder.

    Returns
    -------
    dict
        From `Claim.result` to its table; a file that is absent or empty is left out.
    """
    tables = {}
    for result in sorted({claim.result for claim in claims}):
        path = Path(folder) / result
        if path.is_file() and path.stat().st_size:
            tables[result] = pd.read_csv(path)
    return tables


def quantity(claim: Claim, tables: Mapping[str, pd.DataFrame]) -> Quantity:
    """Return our value for a claim.

    Parameters
    ----------
    claim : Claim
    tables : mapping
        From `Claim.result` to its table.

    Returns
    -------
    Quantity

    Raises
    ------
    NotRunError
        If the table, a row or a value is missing, or the run that makes it has not
        succeeded.
    """
    if claim.result not in tables:
        raise NotRunError(f"results/{claim.result} does not exist yet")
    table = tables[claim.result]
    rows = _rows(table, claim.select, claim.result)
    value, se = _values(rows, claim.column, claim.result)
    if claim.kind == "number":
        return _reduce(claim, Quantity(value, se, value, None))
    named = {condition.column for condition in claim.against}
    kept = tuple(condition for condition in claim.select if condition.column not in named)
    others = _rows(table, (*kept, *claim.against), claim.result)
    rows, others = _paired(claim, rows, others)
    first, first_se = _values(rows, claim.column, claim.result)
    second, second_se = _values(others, claim.against_column, claim.result)
    stochastic = first_se is not None or second_se is not None
    a = np.zeros_like(first) if first_se is None else first_se
    b = np.zeros_like(second) if second_se is None else second_se
    if claim.kind == "ratio":
        if np.any(second == 0):
            raise NotRunError(f"the ratio divides by {claim.against_column} = 0")
        value, se = first / second, np.hypot(a, first / second * b) / np.abs(second)
    else:
        value, se = first - second, np.hypot(a, b)
    return _reduce(claim, Quantity(value, se if stochastic else None, first, second))


def _rows(table: pd.DataFrame, conditions: tuple[Condition, ...], result: str) -> pd.DataFrame:
    """Return the rows that satisfy all conditions; there must be one, and all must be ok."""
    words = ", ".join(map(str, conditions)) or "any row"
    chosen = np.ones(len(table), dtype=bool)
    for condition in conditions:
        if condition.column not in table:
            raise NotRunError(f"results/{result} has no column {condition.column!r}")
        chosen &= condition.holds(table[condition.column])
    rows = table[chosen]
    if rows.empty:
        raise NotRunError(f"results/{result} has no row with {words}")
    if "status" in rows:
        failed = rows[rows["status"] != "ok"]
        if not failed.empty:
            why = failed["reason"].iloc[0] if "reason" in failed else ""
            why = why if isinstance(why, str) and why else "no reason is recorded"
            raise NotRunError(f"{words}: {failed['status'].iloc[0]}: {why.rstrip('.')}")
    return rows


def _values(rows: pd.DataFrame, column: str, result: str) -> tuple[np.ndarray, np.ndarray | None]:
    """Return a column and its standard error (None if deterministic), each of shape (n,)."""
    found = []
    for name in (column, f"{column}_se"):
        if name not in rows:
            if name == column:
                raise NotRunError(f"results/{result} has no column {column!r}")
            return found[0], None
        entries = pd.to_numeric(rows[name], errors="coerce").to_numpy(dtype=float)
        if not np.isfinite(entries).all():
            raise NotRunError(f"results/{result} lacks {name!r} in a selected row")
        found.append(entries)
    if np.any(found[1] < 0):
        raise NotRunError(f"results/{result} has a negative standard error in {column}_se")
    return found[0], found[1]


def _paired(
    claim: Claim, rows: pd.DataFrame, others: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return both selections with rows that belong together in the same place.

    A second selection of one row stands against every row of the first.
    """
    if rows.index.equals(others.index):
        return rows, others
    if len(others) == 1 and not claim.pair:
        return rows, others.iloc[np.zeros(len(rows), dtype=int)]
    if not claim.pair:
        message = f"{len(rows)} rows stand against {len(others)} and 'pair' does not say how"
        raise NotRunError(message)
    keys = list(claim.pair)
    absent = [key for key in keys if key not in rows]
    if absent:
        raise NotRunError(f"results/{claim.result} has no column {absent[0]!r} to pair rows by")
    rows, others = rows.set_index(keys), others.set_index(keys)
    unique = rows.index.is_unique and others.index.is_unique
    if not unique or set(rows.index) != set(others.index):
        message = f"the rows of the two selections do not pair off by {', '.join(keys)}"
        raise NotRunError(message)
    return rows, others.loc[rows.index]


def _reduce(claim: Claim, found: Quantity) -> Quantity:
    """Reduce the selected rows to one, as the claim says ('all' keeps each)."""
    count = len(found.value)
    if claim.reduce == "one" and count > 1:
        raise NotRunError(f"{count} rows are selected where one is expected")
    if claim.reduce in ("one", "all"):
        return found
    if claim.reduce == "mean":
        # Rows are taken as independent draws; this is their mean's standard error.
        se = None if found.se is None else [np.sqrt(np.sum(found.se**2)) / count]
        parts = [None if part is None else [np.mean(part)] for part in (found.first, found.second)]
        arrays = [None if part is None else np.array(part) for part in (se, *parts)]
        return Quantity(np.array([np.mean(found.value)]), *arrays)
    place = np.argmin(found.value) if claim.reduce == "min" else np.argmax(found.value)
    return Quantity(*(None if part is None else part[[place]] for part in found))
