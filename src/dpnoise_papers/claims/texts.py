"""Numbers of one item as the paper prints them, digit by digit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise_papers.claims.model import Claim


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
