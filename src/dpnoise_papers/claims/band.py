"""The band of a claim: where our value would have had which verdict."""

from __future__ import annotations

import math
from typing import NamedTuple


class Band(NamedTuple):
    """Our value in the row that decides a claim, and where it would have had which verdict.

    Attributes
    ----------
    value : float
        Our value: the number, difference or ratio that the claim speaks of.
    printed : float
        What it is compared with: the printed number or bound (of a misprint the corrected one), or
        0 for an ordering.
    allowed : pair of floats
        Ends of the interval in which it is reproduced; infinite where an order has no end.
    clear : pair of floats
        Ends of the interval outside of which it differs.
    """

    value: float
    printed: float
    allowed: tuple[float, float]
    clear: tuple[float, float]


def band_around(value: float, printed: float, allowed: float, clear: float) -> Band:
    """Band of a printed number, from the distances to it that are allowed and that are clear."""
    inner = float(printed - allowed), float(printed + allowed)
    outer = float(printed - clear), float(printed + clear)
    return Band(float(value), printed, inner, outer)


def band_beyond(value: float, bound: float, below: float, above: float, *, downwards: bool) -> Band:
    """Band of an order, whose noise reaches `below` our value and `above` it, seen from the bound.

    `downwards` says that the values below the bound are claimed.
    """
    if downwards:
        inner, outer = (-math.inf, float(bound - below)), (-math.inf, float(bound + above))
    else:
        inner, outer = (float(bound + below), math.inf), (float(bound - above), math.inf)
    return Band(float(value), bound, inner, outer)
