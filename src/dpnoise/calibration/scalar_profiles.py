"""The scalar privacy profile for many parameters at once, of the two-parameter families.

A search over a family asks for the profile at thousands of parameters and one epsilon, the
transpose of `dpnoise.privacy_profile`. Noise is split into shape and scale: the shape is
b = alpha / gamma for flipped Huber noise and b = theta / rho for offset symmetric Gaussian noise
(OSGT), b = bound / beta for truncated Laplace noise; the scale enters as d, the sensitivity
over gamma, rho or beta.

With density g, tail SF and t1 the point where the privacy loss of a shift by d crosses epsilon
(flipped-huber-2023, equations (13)-(16)), g(t1) = e^epsilon g(t1 + d), so that

    delta = SF(t1) - e^epsilon SF(t1 + d) = g(t1) [M(t1) - M(t1 + d)],  M = SF / g.

M falls, since the density is log-concave. Its fall is added up over the pieces of g, each a
positive term in closed form with the Mills ratio m = Q / phi, so that nothing cancels at any
scale. t1 maximises SF(t) - e^epsilon SF(t + d), so that the derivative of delta in d is g(t1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise.noise.exponential_power import mills_ratio
from dpnoise.privacy.gaussian import log_mills_difference, mills_slope

if TYPE_CHECKING:
    from dpnoise._types import Array

_MINIMUM_SHAPE = 1e-60  # indistinguishable from the Gaussian
_MINIMUM_GAP = 1e-300
_FAR, _DEPTH = 3.0, 48  # an error of exp(-2 _FAR sqrt(2 _DEPTH)) in the continued fraction


def _mills_fall(low: Array, high: Array) -> Array:
    """m(low) - m(high) for 0 <= low <= high."""
    fall, some = np.zeros_like(low), high > low
    if some.any():
        half = 0.5 * (high[some] - low[some])
        fall[some] = np.exp(log_mills_difference(low[some] + half, half))
    return fall


def _combine(log_g: Array, near: Array, far: Array, d: Array) -> tuple[Array, Array]:
    """Logarithm of near + g(t1) far, and d g(t1) over that sum; near is 0 unless t1 < 0."""
    inside = near > 0
    log_delta = np.where(
        inside,
        np.log(np.maximum(near + np.exp(log_g) * far, _MINIMUM_GAP)),
        log_g + np.log(np.maximum(far, _MINIMUM_GAP)),
    )
    return log_delta, np.exp(np.log(d) + log_g - log_delta)


def flipped_huber_log_delta(b: Array, d: Array, epsilon: Array | float) -> tuple[Array, Array]:
    """Log delta of flipped Huber noise and its derivative in log d.

    b = alpha / gamma >= 0, d = sensitivity / gamma > 0 and epsilon >= 0 broadcast.
    """
    b, d, epsilon = np.broadcast_arrays(*np.atleast_1d(b, d, epsilon))
    b = np.maximum(b, _MINIMUM_SHAPE)
    square, mills = b * b, mills_ratio(b)
    weight = -np.expm1(-square) + np.exp(-square) * b * mills  # b Z
    # t2 = t1 + d by the pieces that hold t1 and t2, in the order of Table I from the last on.
    excess = epsilon - b * d
    t1 = np.select(
        [
            epsilon >= b * d + 0.5 * d * d,  # both in the tail
            excess >= 0.5 * np.maximum(d - b, 0.0) ** 2,  # centre, tail
            0.5 * d - epsilon / d > b,  # opposite tails
            0.5 * (d + epsilon / b) <= b,  # both in the centre, on opposite sides
        ],
        [
            epsilon / d - 0.5 * d,
            b - d + np.sqrt(2.0 * np.maximum(excess, 0.0)),
            epsilon / d - 0.5 * d,
            0.5 * (epsilon / b - d),
        ],
        np.sqrt(2.0 * (epsilon + b * d)) - b - d,
    )
    t2 = t1 + d
    inner, outer = np.minimum(np.abs(t1), b), np.maximum(np.abs(t1), b)
    log_g = np.log(0.5 * b / weight) - b * inner - 0.5 * (outer - b) * (outer + b)
    # The fall of M between 0 and t1 < 0, times g(t1) ...
    beyond = np.exp(-0.5 * (outer - b) * (outer + b))
    left = (1.0 - beyond) + beyond * -np.expm1(-b * inner) * (0.5 + 0.5 / weight)
    left = np.where(t1 < 0, left + np.exp(log_g) * _mills_fall(b, np.where(t1 < 0, outer, b)), 0.0)
    # ... in the centre, and in the tail.
    low, high = np.clip(t1, 0.0, b), np.minimum(t2, b)
    centre = np.exp(b * (high - b)) * -np.expm1(b * (low - high)) * mills_slope(b) / b
    tail = _mills_fall(np.maximum(t1, b), np.maximum(t2, b))
    return _combine(log_g, left, centre + tail, d)


def offset_gaussian_log_delta(b: Array, d: Array, epsilon: Array | float) -> tuple[Array, Array]:
    """Log delta of OSGT noise and its derivative in log d.

    b = theta / rho >= 0, d = sensitivity / rho > 0 and epsilon >= 0 broadcast.
    """
    b, d, epsilon = np.broadcast_arrays(*np.atleast_1d(b, d, epsilon))
    excess = (epsilon - b * d) - 0.5 * d * d
    t1 = np.where(excess >= 0, excess / d, epsilon / (d + 2.0 * b) - 0.5 * d)
    size = np.abs(t1)
    log_g = -size * (0.5 * size + b) - np.log(2.0 * mills_ratio(b))
    left = -np.expm1(-size * (0.5 * size + b)) + np.exp(log_g) * _mills_fall(b, b + size)
    tail = _mills_fall(b + np.maximum(t1, 0.0), b + t1 + d)
    return _combine(log_g, np.where(t1 < 0, left, 0.0), tail, d)


def truncated_laplace_log_delta(b: Array, d: Array, epsilon: Array | float) -> tuple[Array, Array]:
    """Log delta of truncated Laplace noise and its derivative in log d.

    b = bound / beta > 0, d = sensitivity / beta > 0 and epsilon >= 0 broadcast.
    """
    b, d, epsilon = np.broadcast_arrays(*np.atleast_1d(b, d, epsilon))
    # The loss crosses epsilon where t + d leaves the support, if not before.
    t1 = np.where(d > epsilon, np.minimum(0.5 * (epsilon - d), b - d), b - d)
    start, end = np.maximum(t1, 0.0), np.minimum(t1 + d, b)
    scale = -2.0 * np.expm1(-b)
    fall = np.exp(end - b) * -np.expm1(start - end)
    # All of the noise lies below a shift by more than the support.
    inner = np.maximum(t1, -b)
    log_g = -np.abs(inner) - np.log(scale)
    left = -np.expm1(np.minimum(inner, 0.0)) / scale * (2.0 - np.exp(-b))
    log_delta, slope = _combine(log_g, left, fall, d)
    return log_delta, np.where(t1 < -b, 0.0, slope)


def offset_gaussian_variance(b: Array) -> Array:
    """Variance of OSGT noise with rho = 1, from b = theta / rho.

    It is 1 + b^2 - b / m(b), which cancels for large b, where a continued fraction has it (see
    `dpnoise.noise.grafted`).
    """

    def near(b: Array) -> Array:
        return 1.0 + b * (b - 1.0 / mills_ratio(b))

    def far(b: Array) -> Array:
        ratio = np.zeros_like(b)
        for n in range(_DEPTH, 1, -1):
            ratio = 1.0 / (b + (n + 1.0) * ratio)
        return 2.0 * ratio / (b + 2.0 * ratio)

    b = np.asarray(b, dtype=float)
    return np.piecewise(b, [b < _FAR], [near, far])


def truncated_laplace_variance(b: Array) -> Array:
    """Variance of truncated Laplace noise with beta = 1."""
    return 2.0 * special.gammainc(3.0, b) / -np.expm1(-b)
