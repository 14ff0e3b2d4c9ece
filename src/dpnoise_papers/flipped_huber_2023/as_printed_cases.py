"""Table I of flipped-huber-2023 and the profile (13), exactly as they are printed.

Each function returns one value for each of the five cases. Numbers are arrays of doubles, which
broadcast, or decimals of mpmath: see `dpnoise_papers.flipped_huber_2023.arithmetic`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dpnoise_papers.flipped_huber_2023.arithmetic import DOUBLES, omega

if TYPE_CHECKING:
    from dpnoise_papers.flipped_huber_2023.arithmetic import Arithmetic

    Number = Any  # of either kind
    Pair = tuple[Number, Number]

CASES = ("i", "ii", "iii", "iv", "v")


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
    w, e, scale = omega(alpha / gamma, using), exp(epsilon), gamma**2
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
