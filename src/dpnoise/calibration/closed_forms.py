"""Noise whose minimum variance has a closed form, or one scalar root.

Gaussian noise (Balle & Wang, ICML 2018), Laplace noise, staircase noise (Geng & Viswanath 2016),
and the limits of Subbotin and Huber noise for delta = 0. In K coordinates with the box of
neighbours the l1 sensitivity is K times and the l2 sensitivity sqrt(K) times the sensitivity.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpnoise.calibration.certify import certified_calibration
from dpnoise.calibration.delta_bounds import equal_share
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.calibration.scale_family import pure_optimum, pure_scale, scale_optimum
from dpnoise.noise.gaussian import Gaussian
from dpnoise.noise.huber import Huber
from dpnoise.noise.laplace import Laplace
from dpnoise.noise.staircase import Staircase, staircase_gamma
from dpnoise.noise.subbotin import Subbotin

if TYPE_CHECKING:
    from dpnoise.calibration.budget import Budget, Calibration

_NEARLY_LAPLACE = 1e-5  # an alpha at which the variance is within 1e-10 of the limit
UNIT_LAPLACE = Laplace(1.0)


def gaussian(budget: Budget) -> Calibration:
    """Return the Gaussian noise of minimum variance for delta > 0.

    Parameters
    ----------
    budget : Budget
        With positive delta.

    Returns
    -------
    Calibration
        By `gaussian_sigma` with the l2 sensitivity.
    """
    length = math.nextafter(budget.sensitivity * math.sqrt(budget.dimension), math.inf)
    sigma = gaussian_sigma(budget.epsilon, budget.tight.delta, length)
    return certified_calibration(Gaussian(float(sigma)), budget)


def laplace_scale(epsilon: float, delta: float) -> float:
    """Return the minimum scale of (epsilon, delta)-DP Laplace noise for sensitivity 1, K = 1.

    Parameters
    ----------
    epsilon, delta : float
        The budget, not both 0.

    Returns
    -------
    float
        The root of the profile 1 - exp((epsilon - 1 / beta) / 2).
    """
    return 1.0 / (epsilon - 2.0 * math.log1p(-delta))


def laplace(budget: Budget) -> Calibration:
    """Return the Laplace noise of minimum variance for delta > 0.

    Parameters
    ----------
    budget : Budget
        With positive delta.

    Returns
    -------
    Calibration
        By the closed form for one coordinate, else by a scalar root.
    """
    variance = None
    if budget.dimension == 1:
        variance = 2.0 * laplace_scale(budget.epsilon, budget.tight.delta) ** 2
    return scale_optimum(UNIT_LAPLACE, budget, variance)


def pure_laplace(budget: Budget) -> Calibration:
    """Return the Laplace noise of minimum variance for delta = 0.

    Parameters
    ----------
    budget : Budget
        With positive epsilon.

    Returns
    -------
    Calibration
        Of scale K sensitivity / epsilon.
    """
    return pure_optimum(UNIT_LAPLACE, budget)


def pure_subbotin(budget: Budget) -> Calibration:
    """Return the only Subbotin noise for delta = 0, p = 1.

    Parameters
    ----------
    budget : Budget
        With positive epsilon.

    Returns
    -------
    Calibration
        Laplace noise by another name.
    """
    return pure_optimum(Subbotin(1.0, 1.0), budget)


def pure_huber(budget: Budget) -> Calibration:
    """Return Huber noise for delta = 0, close to its limit.

    The loss is at most K alpha sensitivity / scale. At a fixed slope alpha / scale of the tails
    the variance falls with alpha, since a Gaussian centre moves mass outwards: the limit
    alpha -> 0 is Laplace noise.

    Parameters
    ----------
    budget : Budget
        With positive epsilon.

    Returns
    -------
    Calibration
        With the variance of the limit as its infimum.
    """
    scale = _NEARLY_LAPLACE * pure_scale(budget, UNIT_LAPLACE)
    infimum = pure_laplace(budget).variance
    return certified_calibration(Huber(_NEARLY_LAPLACE, scale), budget, infimum=infimum)


def staircase(budget: Budget) -> Calibration:
    """Return the staircase noise of minimum variance, which leaves delta unused.

    Parameters
    ----------
    budget : Budget
        With positive epsilon; each coordinate is epsilon / K-private.

    Returns
    -------
    Calibration
        With the step of minimum variance.

    References
    ----------
    Geng & Viswanath, "The optimal noise-adding mechanism in differential privacy" (2016).
    """
    share = equal_share(budget.epsilon, budget.dimension)
    gamma = float(staircase_gamma(share))
    return certified_calibration(Staircase(share, budget.sensitivity, gamma), budget)
