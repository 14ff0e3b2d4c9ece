"""Variance of every mechanism over a grid of K, epsilon and delta, for two sensitivity sets.

One person changes all K numbers by at most 1 each ('all'), or at most three of them ('three'; up
to K = 3 that is the same, and left out). Mechanisms are those that `dpnoise.compare` tries without
its slow searches, as `dpnoise.best` does by default. Bounds are rounded to the safe side, as the
shortest decimals that stand for them: 1e-6 is 1e-6.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING

import pandas as pd

from dpnoise.mechanisms.compare import compare
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.balls import LInf
from dpnoise_papers.progress import counted

if TYPE_CHECKING:
    from dpnoise.sensitivity.base import Sensitivity
    from dpnoise_papers.flipped_huber_2023.settings import WhichNoise

COLUMNS = ["set", "dimension", "epsilon", "delta", "mechanism", "variance", "certified", "floor"]
DIGITS = 8  # of the bounds, fewer than a result table keeps: not rounded again
FEW = 3  # numbers that one person changes in the set 'three'


def sensitivity_of(name: str, dimension: int) -> Sensitivity:
    """The sensitivity set called 'all' or 'three', of K coordinates."""
    return LInf(1.0, of=dimension) if name == "all" else AtMost(FEW, of=dimension)


def which_noise(settings: WhichNoise) -> pd.DataFrame:
    """Mechanisms of each point of the grid, best first.

    Columns set, dimension, epsilon, delta, mechanism, variance (per coordinate), certified (a
    proved upper bound on the mechanism's delta, rounded up) and floor (no additive noise has less
    variance; rounded down).
    """
    cases = [
        (name, K, epsilon, delta)
        for name in ("all", "three")
        for K in sorted(settings.dimensions)
        if name == "all" or K > FEW
        for epsilon in sorted(settings.epsilons)
        for delta in sorted(settings.deltas)
    ]
    rows = []
    for name, K, epsilon, delta in counted(cases, "budgets"):
        sensitivity = sensitivity_of(name, K)
        for row in compare(sensitivity, epsilon=epsilon, delta=delta, exhaustive=False):
            bounds = upper(row.delta, DIGITS), lower(row.floor, DIGITS)
            rows.append((name, K, epsilon, delta, row.name, row.variance, *bounds))
    return pd.DataFrame(rows, columns=COLUMNS)


def upper(x: float, digits: int) -> float:
    """A number in some significant digits, rounded up."""
    return _rounded(x, digits, ROUND_CEILING)


def lower(x: float, digits: int) -> float:
    """A number in some significant digits, rounded down."""
    return _rounded(x, digits, ROUND_FLOOR)


def _rounded(x: float, digits: int, rounding: str) -> float:
    return float(Context(prec=digits, rounding=rounding).create_decimal(Decimal(repr(float(x)))))
