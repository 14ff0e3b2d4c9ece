"""Printed numbers of a paper's items, for figures and pages that show them beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from dpnoise_papers.claims.judge import judge
from dpnoise_papers.claims.published import read_claims
from dpnoise_papers.result_files import read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise_papers.claims.model import Claim


def printed_beside(
    claims: str, paper: str, items: Sequence[str], tables: Sequence[str]
) -> pd.DataFrame:
    """Printed numbers of some items of a paper, with their verdicts.

    `claims` is the path of the paper's claims, `tables` are those of the tables that the figure is
    drawn from. Claims about them are judged by them; those about other tables are 'not run'.
    """
    known = {"/".join(Path(path).parts[-2:]): read_table(path) for path in tables}
    parts = []
    for item in items:
        own = [claim for claim in read_claims(claims) if claim.item == item]
        parts.append(printed_numbers(own, judge(own, known), paper=paper, item=item))
    return pd.concat(parts)


def bounds_beside(
    claims: str,
    paper: str,  # noqa: ARG001 - as for `printed_beside`
    items: Sequence[str],
    tables: Sequence[str],  # noqa: ARG001
) -> pd.DataFrame:
    """Bounds that a paper prints for a column of some items' tables, one row per claim.

    `claims` is the path of the paper's claims. Columns column, relation, printed and place; what
    the paper itself does not print is left out.
    """
    rows = [
        (claim.column, claim.relation, claim.printed.value, claim.place)
        for item in items
        for claim in read_claims(claims)
        if claim.item == item and claim.kind == "printed" and claim.quantity == "number"
        if claim.relation and claim.printed
    ]
    return pd.DataFrame(rows, columns=["column", "relation", "printed", "place"])


def printed_numbers(
    claims: Sequence[Claim], verdicts: pd.DataFrame, *, paper: str, item: str
) -> pd.DataFrame:
    """Numbers that one item of a paper prints, as a tidy table for its figure.

    `verdicts` are what `judge` returns for these claims. One row per claim of a number without a
    relation: a column for each column that the claim selects by, then `column`, `printed`,
    `half_unit` and `verdict`.
    """
    words = dict(zip(verdicts["id"], verdicts["verdict"], strict=True))
    rows = [
        {condition.column: condition.value for condition in claim.select}
        | {"column": claim.column, "printed": claim.printed.value}
        | {"half_unit": claim.printed.half_unit, "verdict": words[claim.id]}
        for claim in claims
        if (claim.paper, claim.item, claim.quantity, claim.relation) == (paper, item, "number", "")
        and claim.printed is not None
    ]
    return pd.DataFrame(rows)


def printed_texts(
    claims: Sequence[Claim], item: str, keys: Sequence[str]
) -> dict[tuple[str | float, ...], str]:
    """Single printed numbers of an item by the values of the columns `keys`.

    Values of columns that the claims select by; a number among them becomes a float.
    """
    found = {}
    for claim in claims:
        where = {condition.column: condition.value for condition in claim.select}
        single = claim.quantity == "number" and not claim.relation and claim.kind == "printed"
        if claim.item == item and single and claim.printed and set(keys) <= set(where):
            found[tuple(_value(where[key]) for key in keys)] = claim.printed.text
    return found


def _value(text: str) -> str | float:
    """Float that a text stands for, or the text itself."""
    try:
        return float(text)
    except ValueError:
        return text
