"""Noise whose minimum variance has a closed form, or is one scalar root in the scale.

Gaussian noise (Balle & Wang, ICML 2018), Laplace noise, staircase noise (Geng & Viswanath 2016),
the limit of Huber noise for delta = 0, and any family with a scale and nothing else. In K
coordinates with the box of neighbours the l1 sensitivity is K times and the l2 sensitivity sqrt(K)
times the sensitivity.

At fixed epsilon delta falls with the scale, so that the budget determines the scale: one root of
log delta in the logarithm of d = sensitivity / scale. Where the privacy loss is bounded, the root
lies beyond the largest d of (epsilon, 0)-DP noise, and is sought as an excess over it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from dpnoise.calibration.certify import certified_calibration
from dpnoise.calibration.equal_variance import EqualVarianceSearch, increasing_root
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.noise.grafted import Huber
from dpnoise.noise.stepwise import Staircase, staircase_gamma
from dpnoise.privacy.composition import equal_share

if TYPE_CHECKING:
    from dpnoise.calibration.budget import Budget, Calibration
    from dpnoise.noise.base import Noise

_NEARLY_LAPLACE = 1e-5  # an alpha at which the variance is within 1e-10 of the limit
UNIT_LAPLACE = Laplace(1.0)


def gaussian_scale(budget: Budget) -> float:
    """Minimum sigma of Gaussian noise for delta > 0, by the l2 sensitivity."""
    length = math.nextafter(budget.sensitivity * math.sqrt(budget.dimension), math.inf)
    return float(gaussian_sigma(budget.epsilon, budget.tight.delta, length))


def gaussian(budget: Budget) -> Calibration:
    """Gaussian noise of minimum variance for delta > 0."""
    return certified_calibration(Gaussian(gaussian_scale(budget)), budget)


def laplace_scale(epsilon: float, delta: float) -> float:
    """Minimum scale of (epsilon, delta)-DP Laplace noise for sensitivity 1 and K = 1.

    The root of the profile 1 - exp((epsilon - 1 / beta) / 2).
    """
    return 1.0 / (epsilon - 2.0 * math.log1p(-delta))


@lru_cache(maxsize=256)  # a limit of the searches for other families
def laplace(budget: Budget) -> Calibration:
    """Laplace noise of minimum variance for delta > 0: in closed form for K = 1, else by a root."""
    variance = None
    if budget.dimension == 1:
        variance = 2.0 * laplace_scale(budget.epsilon, budget.tight.delta) ** 2
    return scale_optimum(UNIT_LAPLACE, budget, variance)


def pure_huber(budget: Budget) -> Calibration:
    """Huber noise for delta = 0, close to its limit.

    The loss is at most K alpha sensitivity / scale. At a fixed slope alpha / scale of the tails
    the variance falls with alpha, since a Gaussian centre moves mass outwards: the limit
    alpha -> 0 is Laplace noise.
    """
    scale = _NEARLY_LAPLACE * pure_scale(budget, UNIT_LAPLACE)
    infimum = pure_optimum(UNIT_LAPLACE, budget).variance
    return certified_calibration(Huber(_NEARLY_LAPLACE, scale), budget, infimum=infimum)


def staircase(budget: Budget) -> Calibration:
    """Staircase noise of minimum variance, epsilon / K for each coordinate, delta unused."""
    share = equal_share(budget.epsilon, budget.dimension)
    gamma = float(staircase_gamma(share))
    return certified_calibration(Staircase(share, budget.sensitivity, gamma), budget)


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
