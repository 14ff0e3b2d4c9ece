"""The interval of noise around a value, and the band in which a claim would have which verdict.

Verdicts judge by both; figures draw the interval, the page for reviewers the band.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy  # its special, 0.2 s, loads where it is used

if TYPE_CHECKING:
    import pandas as pd

    from dpnoise._types import Array

LEVEL = 0.99


def quantile(repetitions: Array | float, rows: int = 1, *, two: bool = False) -> Array:
    """How many standard errors are clear at 99 %, `rows` being looked at (Bonferroni).

    Student's quantile for as many repetitions. With `two` a printed number is taken to carry an
    error of the size of ours: the difference has sqrt 2 of it and twice the degrees of freedom.
    """
    freedom = np.maximum(np.subtract(repetitions, 1), 1) * (2 if two else 1)
    freedom = np.minimum(freedom, 1e10)  # beyond, Student's distribution is the normal one
    errors: Array = scipy.special.stdtrit(freedom, 1 - (1 - LEVEL) / 2 / rows)
    return (math.sqrt(2) if two else 1.0) * errors


def ends(table: pd.DataFrame, column: str) -> tuple[Array, Array]:
    """Ends of the 99 % interval of a column, each of shape (n,), as the verdict takes it.

    Those of the replications where the table has them (`x_low`, `x_high`), else by the standard
    error (`x_se`) and the number of repetitions, which counts as unlimited if it is unknown; a
    column with neither is exact.
    """
    value = table[column].to_numpy(dtype=float)
    if {f"{column}_low", f"{column}_high"} <= set(table):
        low, high = (table[f"{column}_{end}"].to_numpy(dtype=float) for end in ("low", "high"))
        return low, high
    if f"{column}_se" not in table:
        return value, value
    unknown = np.full(len(table), math.inf)
    repetitions = table["repetitions"].to_numpy(float) if "repetitions" in table else unknown
    reach = quantile(repetitions) * table[f"{column}_se"].to_numpy(dtype=float)
    return value - reach, value + reach


def reach(table: pd.DataFrame, column: str) -> Array:
    """How far the interval of a column reaches down and up, of shape (2, n), for error bars."""
    value = table[column].to_numpy(dtype=float)
    low, high = ends(table, column)
    return np.stack([value - low, high - value])


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
