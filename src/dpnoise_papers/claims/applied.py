"""Claims that do not fit the tables they name: a misspelt column, a selection without a row.

Such a claim would be 'not run' for ever, in silence. A column that a table with rows lacks is
always a mistake. A selection without a row is one in a run by the papers' settings with all its
data; otherwise the settings or a missing data set may be why.
"""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches
from typing import TYPE_CHECKING

from dpnoise_papers.claims.quantity import chosen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from dpnoise_papers.claims.model import Claim


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
