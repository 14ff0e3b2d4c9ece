"""Noise whose least variance has a closed form, or one scalar root.

Gaussian noise (Balle & Wang, ICML 2018), Laplace noise, staircase noise (Geng & Viswanath 2016),
and truncated Laplace noise in several coordinates. In K coordinates with the box of neighbours
the l1 sensitivity is K times and the l2 sensitivity sqrt(K) times the sensitivity.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from dpnoise.calibration.certify import certified_calibration
from dpnoise.calibration.delta_bounds import equal_share
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.noise import Gaussian, Huber, Laplace, Staircase, Subbotin, staircase_gamma

if TYPE_CHECKING:
    from dpnoise.calibration.budget import Budget, Calibration

_NEARLY_LAPLACE = 1e-5  # an alpha at which the variance is within 1e-10 of the limit


def gaussian(budget: Budget) -> Calibration:
    """Return the least Gaussian noise, for delta > 0."""
    length = math.nextafter(budget.sensitivity * math.sqrt(budget.dimension), math.inf)
    sigma = gaussian_sigma(budget.epsilon, budget.tight.delta, length)
    return certified_calibration(Gaussian(float(sigma)), budget)


def laplace_scale(epsilon: float, delta: float) -> float:
    """Return the least scale of (epsilon, delta)-DP Laplace noise for sensitivity 1, K = 1.

    The profile is 1 - exp((epsilon - 1 / beta) / 2) where that is positive.
    """
    return 1.0 / (epsilon - 2.0 * math.log1p(-delta))


def pure_laplace(budget: Budget) -> Calibration:
    """Return the least Laplace noise for delta = 0."""
    return certified_calibration(Laplace(_pure_scale(budget)), budget)


def _pure_scale(budget: Budget) -> float:
    """Return K sensitivity / epsilon, rounded up."""
    scale = budget.dimension * budget.sensitivity / budget.epsilon
    least = budget.dimension * Fraction(budget.sensitivity) / Fraction(budget.epsilon)
    while Fraction(scale) < least:
        scale = math.nextafter(scale, math.inf)
    return scale


def pure_subbotin(budget: Budget) -> Calibration:
    """Return the only Subbotin noise for delta = 0, p = 1."""
    return certified_calibration(Subbotin(1.0, _pure_scale(budget)), budget)


def pure_huber(budget: Budget) -> Calibration:
    """Return Huber noise for delta = 0, close to its limit.

    The loss is at most K alpha sensitivity / scale. At a fixed slope alpha / scale of the tails
    the variance falls with alpha, since a Gaussian centre moves mass outwards: the limit
    alpha -> 0 is Laplace noise.
    """
    limit = pure_laplace(budget)
    scale = _NEARLY_LAPLACE * limit.noise.beta
    return certified_calibration(Huber(_NEARLY_LAPLACE, scale), budget, infimum=limit.variance)


def staircase(budget: Budget) -> Calibration:
    """Return the staircase noise of least variance, which leaves delta unused.

    Each coordinate is epsilon / K-private.
    """
    share = equal_share(budget.epsilon, budget.dimension)
    gamma = float(staircase_gamma(share))
    return certified_calibration(Staircase(share, budget.sensitivity, gamma), budget)
