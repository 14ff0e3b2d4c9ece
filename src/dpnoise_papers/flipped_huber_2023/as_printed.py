"""Formulas of flipped-huber-2023 exactly as they are printed, to be checked and compared.

The printed forms are not for use: they overflow for alpha / gamma > 38, cancel where
delta is small and divide by zero at alpha = 0. `dpnoise.noise` and `dpnoise.privacy` hold
the stable ones. All parameters broadcast.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise_papers.flipped_huber_2023 import arithmetic
from dpnoise_papers.flipped_huber_2023.arithmetic import ROOT_2PI, upper_tail
from dpnoise_papers.flipped_huber_2023.as_printed_cases import profiles, ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpnoise._types import Array

    Real = Array | float


def loss_function(t: Real, alpha: Real) -> Array:
    """Loss function rho_alpha(t), equation (7)."""
    t = np.abs(t)
    return np.where(t <= alpha, alpha * t, (t * t + alpha * alpha) / 2)


def omega(alpha: Real, gamma: Real) -> Array:
    """Factor omega, equation (9)."""
    return np.asarray(arithmetic.omega(alpha / gamma))


def cdf(t: Real, alpha: Real, gamma: Real) -> Array:
    """Distribution function, equation (10)."""
    w, size = omega(alpha, gamma), np.minimum(np.abs(t), alpha)
    rise = np.exp(alpha / (2 * gamma**2) * (alpha - size))
    rise *= np.sinh(alpha * np.sign(t) * size / (2 * gamma**2))
    tail = 0.5 + np.sign(t) * (0.5 - ROOT_2PI / w * upper_tail(np.abs(t) / gamma))
    return np.where(np.abs(t) <= alpha, 0.5 + 2 * gamma / (alpha * w) * rise, tail)


def quantile(u: Real, alpha: Real, gamma: Real) -> Array:
    """Inverse distribution function, equation (23)."""
    w, v = omega(alpha, gamma), np.abs(2 * u - 1)
    inside = np.minimum(u, 1 - u) >= ROOT_2PI / w * upper_tail(alpha / gamma)
    centre = alpha * w / (2 * gamma) * v * np.exp(-((alpha / gamma) ** 2) / 2)
    centre = -(gamma**2) / alpha * np.log1p(-np.where(inside, centre, 0.0))
    tail = -gamma * special.ndtri(w * (1 - v) / (2 * ROOT_2PI))
    return np.sign(2 * u - 1) * np.where(inside, centre, tail)


def variance(alpha: Real, gamma: Real) -> Array:
    """Variance, equation (11)."""
    b = alpha / gamma
    a = b * b / 2
    bracket = a * np.cosh(a) - np.sinh(a)
    return gamma**2 * (1 - (2 / b) ** 3 / omega(alpha, gamma) * bracket)


def fisher_information(alpha: Real, gamma: Real) -> Array:
    """Fisher information about a shift, equation (12)."""
    b = alpha / gamma
    a = b * b / 2
    return (1 + 4 / (b * omega(alpha, gamma)) * (a * np.exp(a) - np.sinh(a))) / gamma**2


def mgf(s: Real, alpha: Real, gamma: Real) -> Array:
    """Moment generating function, Section III-B."""

    def part(s: Real) -> Array:
        m = alpha / gamma + gamma * s
        return np.expm1(m * alpha / gamma) * np.exp(-m * m / 2) / (m * ROOT_2PI) + upper_tail(m)

    w = omega(alpha, gamma)
    return ROOT_2PI / w * (part(s) + part(-s)) * np.exp((gamma * s) ** 2 / 2)


def orlicz_factor(s: Real, alpha: Real, gamma: Real) -> Array:
    """Factor C_{alpha,gamma}(s) of the proof of Lemma 2."""
    b = alpha / gamma
    root = np.sqrt(2 * s)
    # exp(-z^2) erfi(z) = 2 dawsn(z) / sqrt(pi), with the exponent (1/s - 1) b^2 / 2 split.
    high, low = b / root, (1 - s) * b / root
    first = special.dawsn(high) * np.exp(b * b / 2)
    second = special.dawsn(low) * np.exp(-(1 - s) * b * b / 2)
    inner = np.sqrt(1 / s - 1) * 2 / math.sqrt(math.pi) * (first - second)
    return ROOT_2PI / omega(alpha, gamma) * (inner + 2 * upper_tail(np.sqrt(1 - s) * b))


def transition_cost(alpha: Real, sensitivity: Real) -> Array:
    """Cost R_Delta(alpha) of the transition, above equation (18)."""
    return alpha**2 - np.maximum(alpha - sensitivity, 0) ** 2


def transition_inverse(cost: Real, sensitivity: Real) -> Array:
    """Inverse R_Delta^-1 of the cost, equation (21)."""
    far = (cost + sensitivity**2) / (2 * sensitivity)
    return np.where(cost < sensitivity**2, np.sqrt(cost), far)


def shift(alpha: Real, gamma: Real) -> Array:
    """Shift theta, equation (22)."""
    return -gamma * special.ndtri(math.sqrt(math.pi / 2) / omega(alpha, gamma))


def centred_loss(t: Real, d: Real, alpha: Real, gamma: Real) -> Array:
    """Centred privacy loss, equation (25)."""
    x, h, sign = np.abs(t), np.abs(d) / 2, np.sign(d)
    pieces = [
        (x < np.minimum(alpha - h, h), 2 * sign * alpha * x),
        ((x >= h) & (x < alpha - h), alpha * d),
        ((x >= np.abs(alpha - h)) & (x < h), sign / 2 * (x + alpha + h) ** 2 - alpha * d),
        (
            (x >= np.maximum(alpha - h, h)) & (x < alpha + h),
            sign / 2 * (x - alpha + h) ** 2 + alpha * d,
        ),
    ]
    conditions, values = zip(*pieces, strict=True)
    return np.sign(t) / gamma**2 * np.select(conditions, values, x * d)


def centred_loss_inverse(nu: Real, d: Real, alpha: Real, gamma: Real) -> Array:
    """Partial inverse of the centred privacy loss for d > 0, equation (15)."""
    size, scale = np.abs(nu), gamma**2
    (low, nu1), (_, nu2) = ranges(d, alpha, gamma)[2:4]

    def root(signed: Real) -> Array:
        inside = np.maximum(2 * (scale * size + signed * d), 0)
        return np.sign(nu) * (np.sqrt(inside) - d / 2 - signed)

    conditions = [
        size < np.minimum(2 * alpha - d, d) * alpha / scale,
        (size >= low) & (size < nu1),
        (size >= nu1) & (size < nu2),
    ]
    values = [scale * nu / (2 * alpha), root(alpha), root(-alpha)]
    return np.select(conditions, values, scale * nu / d)


def case(epsilon: Real, d: Real, alpha: Real, gamma: Real) -> NDArray[np.int64]:
    """Case of Table I that holds, 1 to 5; 0 if none or several do."""
    held = np.stack([(low <= epsilon) & (epsilon < high) for low, high in ranges(d, alpha, gamma)])
    return np.where(held.sum(axis=0) == 1, 1 + held.argmax(axis=0), 0)


def profile(epsilon: Real, d: Real, alpha: Real, gamma: Real) -> Array:
    """Privacy profile in one dimension, equation (13)."""
    which = case(epsilon, d, alpha, gamma)
    values = profiles(epsilon, d, alpha, gamma)
    return np.select([which == k for k in range(1, 6)], list(values), np.nan)


def theorem_8(
    epsilon: Real, alpha: Real, gamma: Real, dimension: Real, norms: tuple[Real, Real, Real]
) -> tuple[Array, Array, NDArray[np.bool]]:
    """Two tails of Theorem 8, and whether its condition on alpha holds.

    `norms` are Delta_1, Delta_2 and Delta. The delta that it vouches for is the first tail
    less e^epsilon times the second.
    """
    d1, d2, d = norms
    cost = dimension * transition_cost(alpha, d)
    centre = (d2**2 + cost) / (2 * gamma * d2)
    upper = upper_tail(gamma * epsilon / d2 - centre)
    lower = upper_tail(gamma * epsilon / d2 + centre + shift(alpha, gamma) * d1 / (gamma * d2))
    return upper, lower, cost <= 2 * gamma**2 * epsilon - d2**2
