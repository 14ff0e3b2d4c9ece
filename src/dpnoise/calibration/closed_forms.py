"""Noise whose minimum variance has a closed form.

Gaussian noise (Balle & Wang, ICML 2018), staircase noise (Geng & Viswanath 2016), the limit of
Huber noise for delta = 0, and any family with a scale and nothing else for delta = 0. In K
coordinates with the box of neighbours the l1 sensitivity is K times and the l2 sensitivity sqrt(K)
times the sensitivity.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from dpnoise.calibration.certify import certified_calibration
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


def pure_scale(budget: Budget, unit: Noise) -> float:
    """Minimum scale of (epsilon, 0)-DP noise, rounded up: K largest_loss / epsilon."""
    loss = unit.largest_loss(budget.sensitivity)
    scale = budget.dimension * float(loss) / budget.epsilon
    minimum = budget.dimension * Fraction(loss) / Fraction(budget.epsilon)
    # ends: one or two doubles up
    while Fraction(scale) < minimum:
        scale = math.nextafter(scale, math.inf)
    return scale


def pure_optimum(unit: Noise, budget: Budget) -> Calibration:
    """Noise of minimum variance for delta = 0, from `unit`, which has scale 1."""
    return certified_calibration(unit.scaled(pure_scale(budget, unit)), budget)
