"""-log density by pieces in rational arithmetic, as an exact function of the parameters.

The profile of noise with stretches of constant privacy loss hangs on the difference between
epsilon and that loss: for Laplace noise delta = 1 - exp((epsilon - d / beta) / 2), which is
exactly 0 from epsilon = d / beta on. Parameters, shift and epsilon are doubles, hence rational
numbers, and so is every such difference; 1 / beta as a double would already spoil it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

ZERO = Fraction(0)


class Quadratic(NamedTuple):
    """One piece of psi = -log g on t >= 0: psi' = slope + curvature (t - left) from left on."""

    left: Fraction
    slope: Fraction
    curvature: Fraction

    def at(self, t: Fraction) -> Fraction:
        """psi'(t)."""
        return self.slope + self.curvature * (t - self.left)

    def rise(self, t: Fraction) -> Fraction:
        """psi(t) - psi(left)."""
        x = t - self.left
        return x * (self.slope + self.curvature * x / 2)


def as_double(value: Fraction | float) -> float:
    """The nearest double, infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def as_pair(value: Fraction) -> tuple[float, float]:
    """Two doubles whose sum is a rational number to about 32 digits, the nearest one first."""
    high = as_double(value)
    return high, as_double(value - Fraction(high)) if math.isfinite(high) else 0.0


def as_double_above(value: Fraction | float) -> float:
    """The smallest double that is not below a rational number, infinite beyond the largest."""
    high = as_double(value)
    return math.nextafter(high, math.inf) if math.isfinite(high) and high < value else high
