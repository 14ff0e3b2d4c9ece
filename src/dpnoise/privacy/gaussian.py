"""The exact privacy profile of Gaussian noise, accurate at any scale.

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
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dpnoise._validation import Problems, floats
from dpnoise.noise.exponential_power import mills_ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array

    Number = TypeVar("Number", Array, float)

# The integrand behaves like 1 / x^2 far out and the interval is within 0.2 (a + 1) of its
# middle, so ten nodes leave a relative error of about 1e-20.
_NARROW = 0.2
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
# From here on the continued fraction for 1 - x m(x) replaces the difference; its first
# terms cut off at this depth change the value by less than one rounding.
_FAR, _DEPTH = 4.0, 40
# From here on the series, of which the terms left out are below one rounding.
_SERIES, _TERMS = 3.0, 10
_LOG_ROOT = 0.5 * math.log(2.0 * math.pi)
# Beyond this a = epsilon / mu, delta < exp(-1e299) is far below any double.
_MAX = 1e150
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
        mean[near] = mills_slope(a[near, None] + h[near, None] * _NODES) @ (0.5 * _WEIGHTS)
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
    problems = Problems("Gaussian privacy profile")
    mu = floats(problems, "mu", mu, low=_MIN, high=_MAX)
    epsilon = floats(problems, "epsilon", epsilon, low=0.0)
    problems.raise_if_any()
    mu, epsilon = np.broadcast_arrays(mu, epsilon)
    return log_delta_and_slope(mu, epsilon)[0][()]
