"""The minimum scale of Gaussian noise for (epsilon, delta), and the classical scale.

Balle & Wang (ICML 2018), Algorithm 1, solves for sigma by bisection to an absolute tolerance
in delta; here log delta is solved for log mu, mu = sensitivity / sigma, by its first two
derivatives. With s the first one (see `dpnoise.privacy.gaussian`), a = epsilon / mu and h = mu / 2,
the second one is s (1 + a^2 - h^2 - s). Log delta is increasing and concave in log mu, so that a
step of Newton's method, which is taken far from the root and after an iterate that turns out to be
above it, always ends below it: on the private side.

The baseline that this replaces is the classical mechanism: Dwork & Roth (2014), Theorem A.1, as
quoted in Balle & Wang (ICML 2018), Theorem 1. For epsilon in (0, 1), sigma = sensitivity
sqrt(2 log(1.25 / delta)) / epsilon is enough. It is never the minimum; at larger epsilon it need
not even be private.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise._validation import Problems, floats
from dpnoise.privacy.gaussian import log_delta_and_slope

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array

MINIMUM_DELTA = 1e-300
_STEPS = 100
_BLOCK = 16384  # pairs at a time, so that the work stays in the processor's cache
# An error e in log mu becomes about e^3 c^2 / 3 in one step, where c is the relative change of the
# slope of log delta per unit of log mu: at most about |a - h| (a + h), and a + h is
# sqrt((a - h)^2 + 2 epsilon) with |a - h| below 40. So a step below this over
# (1 + sqrt(epsilon))^(2/3) leaves less than 2e-13; it is seen whether it does.
_CLOSE = 5e-6
_STRAIGHT = 0.25  # share of the square of the slope at which the second derivative is left out
# Rounding moves the root in log mu by (error of log delta) / slope. With u = 2^-53 the error
# is about u (4 |a^2 - h^2| + 64 + 4 |log delta|) at most. The slope is above a^2 - h^2, since
# -m'(x) < 1 / x^2, and above 1/3 while delta <= 1/2; towards delta = 1 the error falls with
# 1 - delta, faster than the slope. So the shift is largest at epsilon = 0, delta = 1e-300,
# where it is below 3000 u; the margin is 4096 u.
_MARGIN = 2.0**-41
_SPARSE = 2.0**-960  # where the relative accuracy of doubles is not that of their rounding


def _start(epsilon: Array, delta: Array) -> Array:
    """A mu that is not above the root.

    delta <= Q(a - h) gives a quadratic inequality for mu, and delta >= erf(h / sqrt 2) at
    epsilon = 0 is never exceeded at larger epsilon; both bound mu from below.
    """
    y = -special.ndtri(delta)
    root = np.sqrt(y * y + 2.0 * epsilon)
    total = np.where(y > 0, y + root, 1.0)
    tail = np.where(y > 0, 2.0 * epsilon / total, root - y)
    return np.maximum(tail, 2.0 * math.sqrt(2.0) * special.erfinv(delta))


def _maximum_mu(epsilon: Array, delta: Array) -> Array:
    """Verified mu of each pair, for checked arrays of one shape (n,)."""
    target = np.log(delta)
    mu = _start(epsilon, delta)
    close = _CLOSE * (1.0 + np.sqrt(epsilon)) ** (-2.0 / 3.0)
    left = np.arange(mu.size)  # most pairs need two steps, a few need five
    # ends: from below the root: more noise than needed
    for _ in range(_STEPS):
        some, epsilons = mu[left], epsilon[left]
        log_delta, slope = log_delta_and_slope(some, epsilons)
        gap, (a, h) = target[left] - log_delta, (epsilons / some, 0.5 * some)
        root = slope * slope + 2.0 * gap * (slope * (1.0 + (a - h) * (a + h) - slope))
        straight = ~(root > _STRAIGHT * slope * slope)
        step = gap / (0.5 * (slope + np.where(straight, slope, np.sqrt(np.maximum(root, 0.0)))))
        mu[left] = some * np.exp(step)
        left = left[np.abs(step) >= close[left]]
        if left.size == 0:
            break
    mu *= 1.0 - _MARGIN
    log_delta, slope = log_delta_and_slope(mu, epsilon)
    above = log_delta > target
    if above.any():
        mu[above] *= np.exp((target - log_delta)[above] / slope[above]) * (1.0 - _MARGIN)
        log_delta[above] = log_delta_and_slope(mu[above], epsilon[above])[0]
    if not np.all(log_delta <= target):
        worst = np.argmax(log_delta - target)
        message = (
            f"Gaussian calibration: not verified at epsilon={epsilon[worst]!r}, "
            f"delta={delta[worst]!r}"
        )
        raise RuntimeError(message)
    return mu


def gaussian_sigma(epsilon: ArrayLike, delta: ArrayLike, sensitivity: ArrayLike = 1.0) -> Array:
    """Minimum standard deviation of Gaussian noise that is (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : array_like of float
        Non-negative.
    delta : array_like of float
        In [1e-300, 1); below, double precision cannot vouch for the result. Gaussian noise
        is never (epsilon, 0)-DP.
    sensitivity : array_like of float
        The l2 sensitivity of the query, positive. The three arguments broadcast.

    Returns
    -------
    numpy.ndarray or float
        sigma, at least the exact minimum and above it by less than 1e-12 of its value, or by two
        of the smallest doubles. Never 0.

    Raises
    ------
    ValueError
        If an argument is out of range or sigma has no double.
    RuntimeError
        If the profile at the result could not be verified.

    Notes
    -----
    Proved: what is handed out is on the private side, up to rounding, for which sigma has a
    margin: the profile at the result is evaluated again. Tested: that
    margin, against Arb balls for epsilon up to 1000 and delta from 1e-300 to 1.

    A case of `best`: the standard deviation of `best(L2(sensitivity, of=K), epsilon=epsilon,
    delta=delta, family="gaussian")` for any K, which is above it by less than 1e-12 of its value.

    Examples
    --------
    >>> from dpnoise import gaussian_sigma
    >>> round(float(gaussian_sigma(epsilon=1.0, delta=1e-6, sensitivity=1.0)), 6)
    4.224679
    """
    problems = Problems("Gaussian calibration")
    epsilon = floats(problems, "epsilon", epsilon, low=0.0, high=1e12)
    delta = floats(problems, "delta", delta, low=MINIMUM_DELTA, high=1.0, open_high=True)
    sensitivity = floats(problems, "sensitivity", sensitivity, low=0.0, open_low=True)
    problems.raise_if_any()
    epsilon, delta, sensitivity = np.broadcast_arrays(epsilon, delta, sensitivity)
    flat = epsilon.ravel(), delta.ravel()
    mu: Array = np.empty(epsilon.size)
    for start in range(0, mu.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        mu[block] = _maximum_mu(flat[0][block], flat[1][block])
    mu = mu.reshape(epsilon.shape)
    with np.errstate(over="ignore"):  # refused below
        sigma = sensitivity / mu
    # Where doubles are so sparse that the margin does not cover the rounding of the quotient.
    sigma = np.where(sigma < _SPARSE, np.nextafter(sigma, math.inf), sigma)
    good = bool(np.all(np.isfinite(sigma)))
    problems.require(good, "sigma", "a result below 1.8e308", float(np.max(sigma, initial=0)))
    problems.raise_if_any()
    return sigma[()]


_ROUNDING = 2.0**-49  # of the few operations


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
    >>> from dpnoise.calibration.gaussian import classical_gaussian_sigma
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
