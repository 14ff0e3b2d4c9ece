"""Formulas of flipped-huber-2023 exactly as they are printed, to be checked and compared.

The printed forms are not for use: they overflow for alpha / gamma > 38, cancel where
delta is small and divide by zero at alpha = 0. `dpnoise.noise` and `dpnoise.privacy` hold
the stable ones. All parameters broadcast.

The factor omega and Table I take arrays of doubles or, for 50 digits where doubles cancel,
decimals of mpmath: their last argument holds the elementary functions of either kind.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import mpmath
import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dpnoise._types import Array

    Number = Any  # of either kind
    Pair = tuple[Number, Number]
    Real = Array | float

ROOT_2PI = math.sqrt(2.0 * math.pi)
CASES = ("i", "ii", "iii", "iv", "v")


class Arithmetic(NamedTuple):
    """Elementary functions of one kind of number.

    Attributes
    ----------
    root_2pi : callable
        Without arguments; decimals have the precision that is set when it is called.
    upper_tail : callable
        Q, the standard normal survival function.
    """

    root_2pi: Callable[[], Any]
    upper_tail: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    expm1: Callable[[Any], Any]
    sinh: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]
    maximum: Callable[[Any, Any], Any]
    minimum: Callable[[Any, Any], Any]


def upper_tail(x: Array | float) -> Array:
    """Standard normal survival function Q(x) in doubles."""
    return special.ndtr(-np.asarray(x))


def _decimal_tail(x: Any) -> Any:  # noqa: ANN401 - mpmath has no types
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


DOUBLES = Arithmetic(
    lambda: ROOT_2PI, upper_tail, np.exp, np.expm1, np.sinh, np.sqrt, np.maximum, np.minimum
)
DECIMALS = Arithmetic(
    lambda: mpmath.sqrt(2 * mpmath.pi),
    _decimal_tail,
    mpmath.exp,
    mpmath.expm1,
    mpmath.sinh,
    mpmath.sqrt,
    max,
    min,
)


def omega_of_ratio(ratio: Any, using: Arithmetic = DOUBLES) -> Any:  # noqa: ANN401 - of either kind
    """Factor omega of the density, equation (9), as printed."""
    return 2 * (using.root_2pi() * using.upper_tail(ratio) + 2 / ratio * using.sinh(ratio**2 / 2))


def ranges(
    d: Number, alpha: Number, gamma: Number, using: Arithmetic = DOUBLES
) -> tuple[Pair, ...]:
    """Ranges [low, high) of epsilon of the cases of Table I, empty where low >= high."""
    scale = 2 * gamma**2
    one = (d - 2 * alpha) * d / scale
    two = 2 * using.minimum(2 * alpha - d, d) * alpha / scale
    low = (using.maximum(2 * alpha, d) ** 2 - 2 * alpha * d) / scale
    three = (using.maximum(d - alpha, 0) ** 2 + 2 * alpha * d) / scale
    four = (d + 2 * alpha) * d / scale
    return (0, one), (0, two), (low, three), (three, four), (four, math.inf)


def points(
    epsilon: Number, d: Number, alpha: Number, gamma: Number, using: Arithmetic = DOUBLES
) -> tuple[Pair, ...]:
    """Points t1 and t2 of Table I, where the privacy loss is epsilon."""
    scaled = gamma**2 * epsilon
    up, down = _roots(scaled, alpha * d, using)
    far = scaled / d - d / 2, scaled / d + d / 2
    inner = scaled / (2 * alpha) - d / 2, scaled / (2 * alpha) + d / 2
    return far, inner, (-alpha + up - d, up - alpha), (alpha + down - d, down + alpha), far


def intervals(alpha: Number) -> tuple[tuple[Pair, Pair], ...]:
    """Intervals of t1 and of t2 of Table I, each (low, high)."""
    top = math.inf
    return (
        ((-top, -alpha), (alpha, top)),
        ((-alpha, 0), (0, alpha)),
        ((-alpha, 0), (alpha, top)),
        ((0, alpha), (alpha, top)),
        ((alpha, top), (alpha, top)),
    )


def profiles(
    epsilon: Number, d: Number, alpha: Number, gamma: Number, using: Arithmetic = DOUBLES
) -> tuple[Number, ...]:
    """Expressions of (13) for the privacy profile; off its case an expression means nothing."""
    tail, exp = using.upper_tail, using.exp
    w, e, scale = omega_of_ratio(alpha / gamma, using), exp(epsilon), gamma**2
    factor = gamma / (alpha * w) * exp(alpha**2 / (2 * scale))
    ratio = using.root_2pi() / w
    up, down = _roots(scale * epsilon, alpha * d, using)
    shift, half = gamma * epsilon / d, d / (2 * gamma)
    gauss = ratio * (tail(shift - half) - e * tail(shift + half))
    middle = 1 + e - 2 * exp(epsilon / 2 - alpha * d / (2 * scale))
    # Off its case an expression may overflow; its exponent is cut where it is positive.
    rise = -using.expm1(using.minimum(alpha / scale * (-alpha + up - d), 0))
    fall = -using.expm1(using.minimum(alpha / scale * (-alpha - down + d), 0))
    return (
        1 - ratio + gauss,
        (1 - e) / 2 + factor * middle,
        0.5 + factor * rise - e * ratio * tail((up - alpha) / gamma),
        0.5 - factor * fall - e * ratio * tail((down + alpha) / gamma),
        gauss,
    )


def _roots(scaled: Number, product: Number, using: Arithmetic) -> Pair:
    """Square roots of 2 (gamma^2 epsilon + alpha d) and of the same with minus, where positive."""
    return using.sqrt(2 * (scaled + product)), using.sqrt(using.maximum(2 * (scaled - product), 0))


def loss_function(t: Real, alpha: Real) -> Array:
    """Loss function rho_alpha(t), equation (7)."""
    t = np.abs(t)
    return np.where(t <= alpha, alpha * t, (t * t + alpha * alpha) / 2)


def omega(alpha: Real, gamma: Real) -> Array:
    """Factor omega, equation (9)."""
    return np.asarray(omega_of_ratio(alpha / gamma))


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
