"""Our value for a claim, from the result tables, with its standard error.

By convention a stochastic column `x` has its standard error beside it in `x_se`, or the
ends of its 99 % interval over replications of the whole experiment in `x_low` and
`x_high`; a column without either is deterministic. `repetitions` says how many draws a
standard error rests on. `x_least` and `x_greatest` are the ends of the range of `x` over
choices that the paper leaves open. Rows whose `status` is not 'ok' have no value; those with a
`data_note` are of other data than the paper's, as it says, `equal_by_construction` says why two
mechanisms are one distribution, and `untried` names open choices that no range covers.

A claim that does not fit its table would be 'not run' for ever, in silence; `misfits` finds it. A
column that a table with rows lacks is always a mistake. A selection without a row is one in a run
by the papers' settings with all its data; otherwise the settings or a missing data set may be why.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from dpnoise_papers.claims.model import replaced
from dpnoise_papers.result_files import read_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise_papers.claims.model import Claim, Condition

    Ends = tuple[Array, Array]


class NotRunError(Exception):
    """There is no value to judge; the message says why."""


class Quantity(NamedTuple):
    """What a claim speaks of, one entry per selected row (or one after reducing).

    Attributes
    ----------
    value : array of shape (n,)
        The number, difference or ratio.
    first, second : array of shape (n,)
        The two sides of a difference, ratio or ordering; of a number, itself and 0.
    se : array of shape (n,), or None
        The standard error of `value`; None if the columns are deterministic.
    interval : pair of arrays of shape (n,), or None
        The ends of the 99 % interval of `value` over replications, instead of `se`.
    repetitions : array of shape (n,)
        How many draws a standard error rests on; infinite if not known.
    choices : pair of arrays of shape (n,), or None
        The ends of the range of `value` over choices that the paper leaves open.
    rows : int
        How many rows were selected before reducing.
    """

    value: Array
    first: Array
    second: Array
    se: Array | None
    interval: Ends | None
    repetitions: Array
    choices: Ends | None
    rows: int


def read_tables(results: Iterable[str], folder: str | Path) -> dict[str, pd.DataFrame]:
    """Those of some result tables that exist, by their path below `folder`.

    ValueError names a file that is no table, such as one of 0 bytes.
    """
    tables = {}
    for result in sorted(set(results)):
        path = Path(folder) / result
        if path.is_file():
            tables[result] = read_table(path)
    return tables


def quantity(claim: Claim, tables: Mapping[str, pd.DataFrame]) -> Quantity:
    """Our value for a claim, from the tables by `Claim.result`.

    NotRunError if the table, a row or a value is missing, or the run that makes it has failed.
    """
    if not claim.result:
        because = f". {claim.reason.removesuffix('.')}" if claim.reason else ""
        raise NotRunError(f"nothing that we compute can judge it{because}")
    if claim.result not in tables:
        raise NotRunError(f"results/{claim.result} does not exist yet")
    table = tables[claim.result]
    claim = claim.within(table.columns)
    rows = rows_of(table, claim.select, claim.result)
    if claim.quantity == "number":
        return _reduce(claim, _values(rows, claim.column, claim.result))
    others = rows_of(table, replaced(claim.select, claim.against), claim.result)
    rows, others = _paired(claim, rows, others)
    first = _values(rows, claim.column, claim.result)
    second = _values(others, claim.against_column, claim.result)
    if first.interval is not None or second.interval is not None:
        raise NotRunError(
            f"results/{claim.result} has intervals, which two columns cannot share: it needs a "
            "column of the difference"
        )
    x, y = first.value, second.value
    a = np.zeros_like(x) if first.se is None else first.se
    b = np.zeros_like(y) if second.se is None else second.se
    if claim.quantity == "ratio":
        if np.any(y == 0):
            raise NotRunError(f"the ratio divides by {claim.against_column} = 0")
        value, se = x / y, np.hypot(a, x / y * b) / np.abs(y)
    else:
        value, se = x - y, np.hypot(a, b)
    found = Quantity(
        value=value,
        first=x,
        second=y,
        se=None if first.se is None and second.se is None else se,
        interval=None,
        repetitions=np.minimum(first.repetitions, second.repetitions),
        choices=_choices(claim, first, second),
        rows=len(x),
    )
    return _reduce(claim, found)


def _choices(claim: Claim, first: Quantity, second: Quantity) -> Ends | None:
    """Range of a difference or ratio over choices; the sides vary apart, to be safe."""
    if first.choices is None and second.choices is None:
        return None
    a, b = first.choices or (first.value, first.value)
    c, d = second.choices or (second.value, second.value)
    if claim.quantity != "ratio":
        return a - d, b - c
    if np.any(c <= 0):
        raise NotRunError(f"the range of the ratio divides by {claim.against_column} = 0")
    corners = np.stack([a / c, a / d, b / c, b / d])
    return corners.min(axis=0), corners.max(axis=0)


def notes(claim: Claim, tables: Mapping[str, pd.DataFrame], column: str) -> list[str]:
    """What a column of texts says of the rows that a claim selects, one entry for each row.

    `data_note` says which other data than the paper's a row is of, `equal_by_construction` why two
    sides are one distribution, `untried` which open choices no range covers; an empty text says
    nothing. Nothing if the table lacks the column.
    The tables must be such that `quantity` has a value.
    """
    table = tables[claim.result]
    if column not in table:
        return []
    claim = claim.within(table.columns)
    sides = [claim.select] if claim.quantity == "number" else [
        claim.select, replaced(claim.select, claim.against)
    ]  # fmt: skip
    found = [rows_of(table, side, claim.result)[column] for side in sides]
    return ["" if pd.isna(note) else str(note) for side in found for note in side]


def corrected(claim: Claim) -> Claim:
    """Claim with the rows and the column of its corrected statement."""
    return dataclasses.replace(
        claim,
        select=replaced(claim.select, claim.corrected_select),
        column=claim.corrected_column,
    )


def chosen(
    table: pd.DataFrame, conditions: tuple[Condition, ...], result: str
) -> NDArray[np.bool_]:
    """Whether all conditions hold, for each row of the table at path `result`.

    NotRunError if the table lacks a column.
    """
    found = np.ones(len(table), dtype=bool)
    for condition in conditions:
        if condition.column not in table:
            raise NotRunError(f"results/{result} has no column {condition.column!r}")
        found &= condition.holds(table[condition.column])
    return found


def rows_of(table: pd.DataFrame, conditions: tuple[Condition, ...], result: str) -> pd.DataFrame:
    """Rows of the table at path `result` that satisfy all conditions.

    NotRunError if there is none, or one whose status is not 'ok'.
    """
    words = ", ".join(map(str, conditions)) or "any row"
    rows = table[chosen(table, conditions, result)]
    if rows.empty:
        raise NotRunError(f"results/{result} has no row with {words}")
    failed = rows[rows["status"] != "ok"] if "status" in rows else rows[:0]
    if not failed.empty:
        why = failed["reason"].iloc[0] if "reason" in failed else ""
        why = why if isinstance(why, str) and why else "no reason is recorded"
        raise NotRunError(f"{words}: {failed['status'].iloc[0]}: {why.rstrip('.')}")
    return rows


def _values(rows: pd.DataFrame, column: str, result: str) -> Quantity:
    """Column with what is said of its noise, each of shape (n,)."""

    def read(name: str) -> Array:
        entries = pd.to_numeric(rows[name], errors="coerce").to_numpy(dtype=float)
        if not np.isfinite(entries).all():
            raise NotRunError(f"results/{result} lacks {name!r} in a selected row")
        return entries

    def ends(low: str, high: str) -> Ends | None:
        if not {f"{column}_{low}", f"{column}_{high}"} <= set(rows):
            return None
        below, above = read(f"{column}_{low}"), read(f"{column}_{high}")
        if np.any(below > value) or np.any(value > above):
            raise NotRunError(f"results/{result} has {column} outside its own interval")
        return below, above

    if column not in rows:
        raise NotRunError(f"results/{result} has no column {column!r}")
    value = read(column)
    choices, interval = ends("least", "greatest"), ends("low", "high")
    se, repetitions = None, np.full(len(value), math.inf)
    if interval is None and f"{column}_se" in rows:
        se = read(f"{column}_se")
        if np.any(se < 0):
            raise NotRunError(f"results/{result} has a negative standard error in {column}_se")
        if "repetitions" in rows:
            repetitions = read("repetitions")
    zero = np.zeros(len(value))
    return Quantity(value, value, zero, se, interval, repetitions, choices, len(value))


def _paired(
    claim: Claim, rows: pd.DataFrame, others: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both selections with rows that belong together in the same place.

    A second selection of one row stands against every row of the first.
    """
    if rows.index.equals(others.index):
        return rows, others
    if len(others) == 1 and not claim.pair:
        return rows, others.iloc[np.zeros(len(rows), dtype=int)]
    if not claim.pair:
        counts = f"{len(rows)} rows stand against {len(others)}"
        raise NotRunError(f"{counts} and 'pair' does not say how")
    keys = list(claim.pair)
    absent = [key for key in keys if key not in rows]
    if absent:
        raise NotRunError(f"results/{claim.result} has no column {absent[0]!r} to pair rows by")
    rows, others = rows.set_index(keys), others.set_index(keys)
    unique = rows.index.is_unique and others.index.is_unique
    if not unique or set(rows.index) != set(others.index):
        raise NotRunError(f"the rows of the two selections do not pair off by {', '.join(keys)}")
    return rows, others.loc[rows.index]


def _reduce(claim: Claim, found: Quantity) -> Quantity:
    """Reduce the selected rows to one, as the claim says ('all' and 'open' keep each)."""
    if claim.reduce == "one" and found.rows > 1:
        raise NotRunError(f"{found.rows} rows are selected where one is expected")
    if claim.reduce in ("one", "all", "open"):
        return found
    if claim.reduce == "mean":
        if found.interval is not None or found.choices is not None:
            raise NotRunError("the interval of a mean is not known from those of its rows")
        # Rows are taken as independent draws; this is their mean's standard error.
        se = None if found.se is None else np.sqrt(np.sum(found.se**2, keepdims=True)) / found.rows
        value, first, second = (np.mean(part, keepdims=True) for part in found[:3])
        fewest = np.min(found.repetitions, keepdims=True)
        return Quantity(value, first, second, se, None, fewest, None, 1)
    place = [np.argmin(found.value) if claim.reduce == "min" else np.argmax(found.value)]
    interval, choices = (
        None if ends is None else (ends[0][place], ends[1][place])
        for ends in (found.interval, found.choices)
    )
    return Quantity(
        value=found.value[place],
        first=found.first[place],
        second=found.second[place],
        se=None if found.se is None else found.se[place],
        interval=interval,
        repetitions=found.repetitions[place],
        choices=choices,
        rows=found.rows,
    )


def misfits(
    claims: Sequence[Claim], tables: Mapping[str, pd.DataFrame], *, whole: bool
) -> list[str]:
    """What does not fit, one line for each claim: its file, row and id, and the nearest names.

    `tables` are result tables by `Claim.result`; claims about others are left out. `whole` says
    that a run has the papers' settings and all data, so that every selection must have a row.
    """
    known = {name: table for name, table in tables.items() if len(table)}
    rows = {one.id: where for one, where in zip(claims, places(claims), strict=True)}
    found = []
    for claim in claims:
        table = known.get(claim.result)
        if table is not None:
            wrong = list(_columns(claim, table)) or (list(_rows(claim, table)) if whole else [])
            found += [f"{rows[claim.id]}: results/{claim.result} {one}" for one in wrong[:1]]
    return found


def unmade(
    claims: Sequence[Claim], named: Iterable[str], tables: Mapping[str, pd.DataFrame]
) -> list[str]:
    """Tables that claims or causes name and no item makes, one line each, with the claims' rows."""
    where = dict(zip((one.id for one in claims), places(claims), strict=True))
    lines = []
    for name in sorted(set(named) - set(tables)):
        rows = [where[one.id] for one in claims if one.result == name]
        lines.append(f"{'; '.join(rows) or 'a cause or a document'}: no item makes {name}"
                     f"{_near(name, tables)}")  # fmt: skip
    return lines


def places(claims: Iterable[Claim]) -> list[str]:
    """File and row of each claim, for claims in the order of their files."""
    counts: Counter[str] = Counter()
    found = []
    for claim in claims:
        counts[claim.paper] += 1
        found.append(f"{claim.paper}.csv, row {counts[claim.paper] + 1} ({claim.id})")
    return found


def _columns(claim: Claim, table: pd.DataFrame) -> Iterator[str]:
    """Columns that a claim names and a table lacks, in words."""
    named = [one.column for conditions, _ in claim.sides for one in conditions]
    named += [column for _, column in claim.sides] + list(claim.pair)
    for name in dict.fromkeys(named):
        if name not in table:
            yield f"has no column {name!r}{_near(name, map(str, table))}"


def _rows(claim: Claim, table: pd.DataFrame) -> Iterator[str]:
    """Selections of a claim without a row, in words."""
    for conditions, _ in claim.within(table.columns).sides:
        if chosen(table, conditions, claim.result).any():
            continue
        alone = [one for one in conditions if not chosen(table, (one,), claim.result).any()]
        words = ", ".join(map(str, alone or conditions))
        near = _near(alone[0].value, table[alone[0].column].astype(str)) if alone else ""
        yield f"has no row with {words}{near}"


def _near(name: str, names: Iterable[str]) -> str:
    """Words on the names nearest to a misspelt one."""
    near = get_close_matches(name, dict.fromkeys(names), n=3)
    return f"; the nearest: {', '.join(near)}" if near else ""
