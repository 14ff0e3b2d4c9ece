"""The exact privacy profile of Gaussian noise, and its inverse, the minimum scale.

Balle & Wang (ICML 2018), Theorem 8: with mu = sensitivity / sigma, a = epsilon / mu and
h = mu / 2,

    delta = Q(a - h) - e^epsilon Q(a + h).

Since e^epsilon phi(a + h) = phi(a - h), the Mills ratio m = Q / phi turns this into

    delta     = phi(a - h) [m(a - h) - m(a + h)]
    1 - delta = phi(a - h) [m(h - a) + m(h + a)],

which neither overflows nor underflows in log space. Where the difference would cancel it is
the integral of -m'(x) = 1 - x m(x) > 0 over [a - h, a + h], by Gauss-Legendre quadrature, or far
out by m(x) = int exp(-x t - t^2 / 2) dt over t > 0, with sinh(h t) as a series:

    m(a - h) - m(a + h) = 2 sum over odd k of h^k b_k,  b_k = int t^k / k! exp(-a t - t^2 / 2) dt,

whose ratios r_k = b_k / b_(k-1) = 1 / (a + (k + 1) r_(k+1)) are found from the last on down: all
terms are positive.

**The minimum scale** for (epsilon, delta). Balle & Wang (ICML 2018), Algorithm 1, solves for sigma
by bisection to an absolute tolerance in delta; here log delta is solved for log mu by its first two
derivatives. With s the first one the second one is s (1 + a^2 - h^2 - s). Log delta is increasing
and concave in log mu, so that a step of Newton's method, which is taken far from the root and after
an iterate that turns out to be above it, always ends below it: on the private side.

**The classical scale**, the baseline that this replaces: Dwork & Roth (2014), Theorem A.1, as
quoted in Balle & Wang (ICML 2018), Theorem 1. For epsilon in (0, 1), sigma = sensitivity
sqrt(2 log(1.25 / delta)) / epsilon is enough. It is never the minimum; at larger epsilon it need
not even be private.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy import special

from dpnoise._validation import MINIMUM_DELTA, Problems, floats
from dpnoise.noise.exponential_power import mills_ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array

    Number = TypeVar("Number", Array, float)

# The integrand behaves like 1 / x^2 far out and the interval is within 0.2 (a + 1) of its
# middle, so ten nodes leave a relative error of about 1e-20.
_NARROW = 0.2
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_HALF_WEIGHTS = 0.5 * _WEIGHTS
# From here on the continued fraction for 1 - x m(x) replaces the difference; its first
# terms cut off at this depth change the value by less than one rounding.
_FAR, _DEPTH = 4.0, 40
# From here on the series, of which the terms left out are below one rounding.
_SERIES, _TERMS = 3.0, 10
_LOG_ROOT = 0.5 * math.log(2.0 * math.pi)
# Beyond this a = epsilon / mu, delta < exp(-1e299) is far below any double.
_MAX = 1e150
_LARGE = 700.0  # logarithm of a double
_PLAIN = float, np.float64, int  # numbers that need no array
_MIN = 1e-300  # half of mu is a double of full accuracy


def mills_slope(x: Array) -> Array:
    """-m'(x) = 1 - x m(x) to full relative accuracy, for x > -1.

    Far out it is m(x) / (x + 2 / (x + 3 / (x + ...))), whose terms are positive.
    """

    def far(x: Array) -> Array:
        fraction = 0.5 * (np.sqrt(x * x + 4.0 * _DEPTH) + x)
        # ends: a continued fraction of positive terms; test_privacy_gaussian against Arb
        # balls
        for k in range(_DEPTH, 1, -1):
            fraction = x + k / fraction
        return mills_ratio(x) / fraction

    return np.piecewise(x, [x >= _FAR], [far, lambda x: 1.0 - x * mills_ratio(x)])


def log_mills_difference(a: Array, h: Array) -> Array:
    """Log of m(a - h) - m(a + h) for a >= 0, h > 0 and a - h > -1, both of shape (n,)."""
    narrow = h < _NARROW * (a + 1.0)
    log_difference = np.empty_like(a)
    if not narrow.all():
        low, high = (a - h)[~narrow], (a + h)[~narrow]
        log_difference[~narrow] = np.log(mills_ratio(low) - mills_ratio(high))
    a, h = a[narrow], h[narrow]
    near, mean = a < _SERIES, np.empty_like(a)
    if near.any():
        mean[near] = mills_slope(a[near, None] + h[near, None] * _NODES) @ _HALF_WEIGHTS
    far = a[~near], h[~near]
    if far[0].size == 1:  # a float takes a tenth of the time of an array
        mean[~near] = _mean_slope(*(float(x[0]) for x in far))
    elif far[0].size:
        mean[~near] = _mean_slope(*far)
    # A sum of logarithms: a product of two tiny factors would underflow.
    log_difference[narrow] = np.log(2.0 * h) + np.log(mean)
    return log_difference


def _mean_slope(a: Number, h: Number) -> Number:
    """The mean of -m' over [a - h, a + h] by the series, for h < 0.2 (a + 1)."""
    ratio = 0.5 * ((a * a + 4.0 * _DEPTH) ** 0.5 - a) / _DEPTH
    # ends: the profile, to 1e-12
    for k in range(_DEPTH - 1, 2 * _TERMS, -1):
        ratio = 1.0 / (a + (k + 1.0) * ratio)
    square = h * h
    total: Any = 1.0
    # ends: the profile, to 1e-12
    for k in range(2 * _TERMS - 1, 0, -2):
        even = 1.0 / (a + (k + 2.0) * ratio)
        total = 1.0 + square * (even * ratio) * total
        ratio = 1.0 / (a + (k + 1.0) * even)
    return mills_ratio(a) * ratio * total


def log_delta_and_slope(mu: Array, epsilon: Array) -> tuple[Array, Array]:
    """Log delta and its derivative in log mu, for checked arrays of one shape.

    The derivative is mu phi(a - h) / delta = 2 h / [m(a - h) - m(a + h)], one over the mean
    of -m' over [a - h, a + h]. That mean grows with mu, so log delta is increasing and
    concave in log mu.
    """
    shape = mu.shape
    mu, epsilon = mu.ravel(), epsilon.ravel()
    h = 0.5 * mu
    with np.errstate(over="ignore"):  # an infinite a is cut to _MAX
        a = np.minimum(epsilon / mu, _MAX)
    log_density = -0.5 * (a - h) ** 2 - _LOG_ROOT
    # 1 - delta <= 1/2 needs h - a > 0; there the sum is the accurate one.
    upper, log_delta = h > a, np.empty_like(a)
    if upper.any():
        edge = np.maximum(h - a, 0.0)
        complement = np.exp(log_density) * (mills_ratio(edge) + mills_ratio(h + a))
        upper &= complement <= 0.5
        log_delta[upper] = np.log1p(-complement[upper])
    lower = ~upper
    log_delta[lower] = log_density[lower] + log_mills_difference(a[lower], h[lower])
    with np.errstate(over="ignore"):  # an infinite slope: a Newton step of zero
        slope = np.exp(np.log(mu) + log_density - log_delta)
    return log_delta.reshape(shape), slope.reshape(shape)


def _plain(*values: Any) -> tuple[float, ...] | None:  # noqa: ANN401
    """Numbers of Python or NumPy as floats; None for others, and for arrays."""
    if all(type(value) in _PLAIN and abs(value) < _MAX for value in values):
        return tuple(map(float, values))
    return None


def _of_one(mu: float, epsilon: float) -> tuple[float, float]:
    """`log_delta_and_slope` of two floats, the same to the bit in a fifth of its time."""
    h, a = 0.5 * mu, min(epsilon / mu, _MAX)
    if h <= a and h < _NARROW * (a + 1.0):
        log_density = -0.5 * ((a - h) * (a - h)) - _LOG_ROOT
        if a < _SERIES:
            x = a + h * _NODES
            mean = float((1.0 - x * mills_ratio(x)) @ _HALF_WEIGHTS)
        else:
            mean = _mean_slope(a, h)
        log_delta = log_density + float(np.log(2.0 * h) + np.log(mean))
        log_slope = float(np.log(mu)) + log_density - log_delta
        if log_slope < _LARGE:
            return log_delta, float(np.exp(log_slope))
    pair = log_delta_and_slope(np.array([mu]), np.array([epsilon]))
    return float(pair[0][0]), float(pair[1][0])


def gaussian_log_delta(mu: ArrayLike, epsilon: ArrayLike) -> Array:
    """Log delta(epsilon) of Gaussian noise, exactly.

    `mu` is sensitivity over standard deviation, from 1e-300 to 1e150; compositions and vector
    queries have one mu too: the root of the sum of the squares. `epsilon` is non-negative and
    broadcasts with it. A ValueError is raised if an argument is out of range.

    Proved: the formula, Theorem 8 of Balle & Wang. Tested and not proved: its rounding, a relative
    1e-12 of delta down to 1e-300, against Arb balls for epsilon from 0 to 1000 and delta from
    1e-300 to 1 - 1e-19. Beyond epsilon / mu = 1e150 it is the larger value there.

    Examples
    --------
    >>> from dpnoise.privacy.gaussian import gaussian_log_delta
    >>> round(float(gaussian_log_delta(0.5, 1.0)), 6)
    -4.98649
    """
    plain = _plain(mu, epsilon)
    if plain and plain[0] >= _MIN and plain[1] >= 0.0:
        return np.float64(_of_one(*plain)[0])  # type: ignore[return-value]
    problems = Problems("Gaussian privacy profile")
    mu = floats(problems, "mu", mu, low=_MIN, high=_MAX)
    epsilon = floats(problems, "epsilon", epsilon, low=0.0)
    problems.raise_if_any()
    mu, epsilon = np.broadcast_arrays(mu, epsilon)
    return log_delta_and_slope(mu, epsilon)[0][()]


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


def _mu_of_one(epsilon: float, delta: float) -> float:
    """The same as `_maximum_mu` in floats, to the bit, in a fifth of its time."""
    y, target = -float(special.ndtri(delta)), float(np.log(delta))
    root = math.sqrt(y * y + 2.0 * epsilon)
    tail = 2.0 * epsilon / (y + root) if y > 0.0 else root - y
    mu = max(tail, 2.0 * math.sqrt(2.0) * float(special.erfinv(delta)))
    close = _CLOSE * (1.0 + math.sqrt(epsilon)) ** (-2.0 / 3.0)
    # ends: from below the root: more noise than needed
    for _ in range(_STEPS):
        log_delta, slope = _of_one(mu, epsilon)
        gap, a, h = target - log_delta, epsilon / mu, 0.5 * mu
        square = slope * slope + 2.0 * gap * (slope * (1.0 + (a - h) * (a + h) - slope))
        curved = square > _STRAIGHT * slope * slope
        step = gap / (0.5 * (slope + (math.sqrt(square) if curved else slope)))
        mu *= float(np.exp(step))
        if not abs(step) >= close:
            break
    mu *= 1.0 - _MARGIN
    log_delta, slope = _of_one(mu, epsilon)
    if log_delta > target:
        mu *= float(np.exp((target - log_delta) / slope)) * (1.0 - _MARGIN)
        log_delta = _of_one(mu, epsilon)[0]
    _verify(log_delta <= target, epsilon, delta)
    return mu


def _verify(good: bool, epsilon: float, delta: float) -> None:
    if not good:
        message = f"Gaussian calibration: not verified at epsilon={epsilon!r}, delta={delta!r}"
        raise RuntimeError(message)


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
    if mu.size:
        worst = np.argmax(np.where(np.isnan(log_delta), np.inf, log_delta - target))
        _verify(log_delta[worst] <= target[worst], epsilon[worst], delta[worst])
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
    plain = _plain(epsilon, delta, sensitivity)
    if plain and 0.0 <= plain[0] <= 1e12 and MINIMUM_DELTA <= plain[1] < 1.0 and plain[2] > 0.0:
        one = plain[2] / _mu_of_one(*plain[:2])
        if _SPARSE <= one < math.inf:
            return np.float64(one)  # type: ignore[return-value]
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
    >>> from dpnoise.privacy.gaussian import classical_gaussian_sigma
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
