"""Noise of minimum variance in a family with a scale and nothing else.

At fixed epsilon delta falls with the scale, so that the budget determines the scale: one root of
log delta in the logarithm of d = sensitivity / scale. Where the privacy loss is bounded, the root
lies beyond the largest d of (epsilon, 0)-DP noise, and is sought as an excess over it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from dpnoise.calibration.certify import certified_calibration
from dpnoise.calibration.equal_variance import EqualVarianceSearch, increasing_root

if TYPE_CHECKING:
    from dpnoise.calibration.budget import Budget, Calibration
    from dpnoise.noise.base import Noise

# Noise whose delta is spent within the first, relative to the pure scale, is pure; then a bound of
# the logarithm of d.
_INVISIBLE, _LONGEST = 1e-14, 300.0


def pure_scale(budget: Budget, unit: Noise) -> float:
    """Minimum scale of (epsilon, 0)-DP noise, rounded up: K largest_loss / epsilon."""
    loss = unit.largest_loss(budget.sensitivity)
    scale = budget.dimension * float(loss) / budget.epsilon
    minimum = budget.dimension * Fraction(loss) / Fraction(budget.epsilon)
    while Fraction(scale) < minimum:
        scale = math.nextafter(scale, math.inf)
    return scale


def pure_optimum(unit: Noise, budget: Budget) -> Calibration:
    """Noise of minimum variance for delta = 0, from `unit`, which has scale 1."""
    return certified_calibration(unit.scaled(pure_scale(budget, unit)), budget)


def scale_optimum(unit: Noise, budget: Budget, variance: float | None = None) -> Calibration:
    """Noise of minimum variance for delta > 0, from `unit`, which has scale 1.

    `variance` is the minimum for sensitivity 1, where a closed form has it. (epsilon, 0)-DP noise,
    which keeps every delta, is returned where it is not larger.
    """
    if variance is None:
        variance = _minimum_variance(unit, budget)
    scale = math.sqrt(variance / unit.var())
    found = certified_calibration(unit.scaled(scale * budget.sensitivity), budget)
    if not budget.allows_pure or unit.largest_loss(1.0) == math.inf:
        return found
    pure = pure_optimum(unit, budget)
    return found if found.variance < pure.variance else pure


def _minimum_variance(unit: Noise, budget: Budget) -> float:
    """Variance at the scale that spends delta, for sensitivity 1."""
    search = EqualVarianceSearch(lambda _, scale: unit.scaled(scale), budget.unit)
    pure = 0.0
    if budget.allows_pure:
        pure = budget.epsilon / budget.dimension / float(unit.largest_loss(1.0))
    # Just beyond the pure scale delta grows with a power of the excess.
    start = math.log(max(pure, 1e-3)) - 4.0

    def excess(x: float) -> float:
        return search.excess(unit, pure + math.exp(min(x, _LONGEST)))

    # Where delta is used up within the rounding of the pure scale, that is the answer.
    if pure > 0.0 and search.excess(unit, pure * (1.0 + _INVISIBLE)) > 0.0:
        return unit.var() / pure**2
    return unit.var() / (pure + math.exp(increasing_root(excess, start, 1.0))) ** 2
