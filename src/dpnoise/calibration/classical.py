"""The classical Gaussian mechanism, the baseline that the analytic one replaces.

Dwork & Roth (2014), Theorem A.1, as quoted in Balle & Wang (ICML 2018), Theorem 1: for epsilon
in (0, 1), sigma = sensitivity sqrt(2 log(1.25 / delta)) / epsilon is enough. It is never the
minimum; at larger epsilon it need not even be private.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems
from dpnoise.noise._arrays import floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array

_ROUNDING = 2.0**-49  # of the few operations
_SPARSE = 2.0**-960  # where the relative accuracy of doubles is not that of their rounding


def classical_gaussian_sigma(
    epsilon: ArrayLike,
    delta: ArrayLike,
    sensitivity: ArrayLike = 1.0,
    *,
    allow_large_epsilon: bool = False,
) -> Array:
    """Classical sigma of Gaussian noise, sensitivity sqrt(2 log(1.25 / delta)) / epsilon.

    Parameters
    ----------
    epsilon : array_like of float
        Positive, and below 1 where the theorem holds.
    delta : array_like of float
        In (0, 1).
    sensitivity : array_like of float
        The l2 sensitivity of the query, positive. The three arguments broadcast.
    allow_large_epsilon : bool
        Return the formula's value at epsilon >= 1 too, where nothing vouches for its privacy.

    Returns
    -------
    numpy.ndarray or float
        The standard deviation, rounded up; never 0. Proved to be private for epsilon < 1 only.

    Raises
    ------
    ValueError
        If an argument is out of range or sigma has no double.

    Examples
    --------
    >>> from dpnoise.calibration.classical import classical_gaussian_sigma
    >>> round(float(classical_gaussian_sigma(0.5, 1e-6)), 4)
    10.5976
    """
    problems = Problems("classical Gaussian calibration")
    high = np.inf if allow_large_epsilon else 1.0
    epsilon = floats(
        problems, "epsilon", epsilon, low=0.0, high=high, open_low=True, open_high=True
    )
    delta = floats(problems, "delta", delta, low=0.0, high=1.0, open_low=True, open_high=True)
    sensitivity = floats(problems, "sensitivity", sensitivity, low=0.0, open_low=True)
    problems.raise_if_any()
    root = np.sqrt(2.0 * (np.log(1.25) - np.log(delta))) * (1.0 + _ROUNDING)
    with np.errstate(over="ignore"):  # refused below
        share = sensitivity / epsilon
        share = np.where(share < _SPARSE, np.nextafter(share, np.inf), share)
        sigma = root * share
    sigma = np.where(sigma < _SPARSE, np.nextafter(sigma, np.inf), sigma)
    good = bool(np.all(np.isfinite(sigma)))
    problems.require(good, "sigma", "a result below 1.8e308", float(np.max(sigma, initial=0.0)))
    problems.raise_if_any()
    return sigma[()]
