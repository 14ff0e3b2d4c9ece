"""Noise whose minimum variance has a closed form, or is the root of one equation.

Gaussian noise (Balle & Wang, ICML 2018), staircase noise (Geng & Viswanath 2016), the limit of
Huber noise for delta = 0, and any family with a scale and nothing else for delta = 0. In K
coordinates with the box of neighbours the l1 sensitivity is K times and the l2 sensitivity sqrt(K)
times the sensitivity. Flipped Huber and truncated Laplace noise on the kink of their profiles
(`dpnoise.calibration.scalar`) are given by their shapes.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.calibration.budget import certified_calibration
from dpnoise.noise.exponential_power import Gaussian, Laplace, mills_ratio
from dpnoise.noise.grafted import Huber
from dpnoise.noise.stepwise import Staircase, staircase_gamma
from dpnoise.privacy.accounts import equal_share
from dpnoise.privacy.gaussian import gaussian_sigma, mills_slope

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.calibration.budget import Budget, Calibration
    from dpnoise.noise.base import Noise

_KINK_STEPS = 400  # down to shapes of 1e-300, by a factor of ten each
_LARGE = 50.0
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


def kink_shape(epsilon: Array, delta: Array) -> Array:
    """Shape b = alpha / gamma at which the Laplace centre has loss epsilon and delta is spent.

    Vectorised over budgets with positive epsilon and delta. With gamma = sensitivity b / epsilon
    it is flipped Huber noise of the given profile if alpha >= sensitivity, that is
    b^2 >= epsilon; a smaller b belongs to no such noise.
    """
    target = np.log(2.0 * delta) - epsilon - np.log(-np.expm1(-epsilon))
    # log delta is decreasing, nearly -b^2 - log b^2, and concave in b but for small b, where the
    # bounds keep Newton's method from leaving the domain.
    square = np.maximum(-target, 1.0)
    b = np.sqrt(np.maximum(epsilon, square - np.log(square)))
    # ends: raises
    for _ in range(_KINK_STEPS):
        mills, slope, rim = mills_ratio(b), mills_slope(b), np.exp(-b * b)
        weight = -np.expm1(-b * b) + rim * b * mills
        excess = np.log(slope / weight) - b * b - target
        steepness = -2.0 * b + (b * slope - mills) / slope - rim * (mills + b * slope) / weight
        step = excess / steepness
        b = np.maximum(b - step, 0.1 * b)
        if np.all(np.abs(step) <= 1e-9 * b):  # the error is its square
            return b
    raise RuntimeError(f"calibration: no flipped Huber kink within {_KINK_STEPS} steps")


def bound_shape(epsilon: float, delta: float) -> float:
    """Shape b = bound / beta of truncated Laplace noise with beta = sensitivity / epsilon.

    Geng, Ding, Guo & Kumar (AISTATS 2020): the loss is epsilon up to the bound and delta is the
    mass that a shift moves beyond it.
    """
    if epsilon > _LARGE:  # log((e^epsilon - 1) / (2 delta)) >> 1
        return epsilon - math.log(2.0 * delta)
    return math.log1p(math.expm1(epsilon) / (2.0 * delta))
