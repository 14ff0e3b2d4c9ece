"""Noise whose least variance has a closed form, or one scalar root.

Gaussian noise (Balle & Wang, ICML 2018), Laplace noise, staircase noise (Geng & Viswanath 2016),
and truncated Laplace noise in several coordinates. In K coordinates with the box of neighbours
the l1 sensitivity is K times and the l2 sensitivity sqrt(K) times the sensitivity.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from dpnoise.calibration.certify import settle
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.noise import Gaussian, Laplace, Staircase, staircase_gamma

if TYPE_CHECKING:
    from dpnoise.calibration.budget import Budget, Calibration


def gaussian(budget: Budget) -> Calibration:
    """Return the least Gaussian noise, for delta > 0."""
    length = math.nextafter(budget.sensitivity * math.sqrt(budget.dimension), math.inf)
    return settle(Gaussian(float(gaussian_sigma(budget.epsilon, budget.delta, length))), budget)


def laplace_scale(epsilon: float, delta: float) -> float:
    """Return the least scale of (epsilon, delta)-DP Laplace noise for sensitivity 1, K = 1.

    The profile is 1 - exp((epsilon - 1 / beta) / 2) where that is positive.
    """
    return 1.0 / (epsilon - 2.0 * math.log1p(-delta))


def pure_laplace(budget: Budget) -> Calibration:
    """Return the least Laplace noise for delta = 0."""
    return settle(Laplace(budget.dimension * budget.sensitivity / budget.epsilon), budget)


def scalar_laplace(budget: Budget) -> Calibration:
    """Return the least Laplace noise for one coordinate."""
    beta = budget.sensitivity * laplace_scale(budget.epsilon, budget.delta)
    return settle(Laplace(beta), budget)


def staircase(budget: Budget) -> Calibration:
    """Return the staircase noise of least variance, which leaves delta unused.

    Each coordinate is epsilon / K-private.
    """
    share = budget.epsilon / budget.dimension
    if budget.dimension * Fraction(share) > Fraction(budget.epsilon):
        share = math.nextafter(share, 0.0)
    gamma = float(staircase_gamma(share))
    return settle(Staircase(share, budget.sensitivity, gamma), budget)
