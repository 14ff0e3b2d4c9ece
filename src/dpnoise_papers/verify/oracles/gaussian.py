"""Delta of Gaussian noise by Theorem 8 of balle-wang-2018, in ball arithmetic (Arb).

Every rounding error is enclosed.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from flint import arb, ctx
from scipy import optimize

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")
_BITS = 160, 2**15
_EXCESS = 1e-12  # relative: a root is proved to lie within it
_SMALL = 2.0**-60


def decided(question: Callable[[], _T | None], about: str) -> _T:
    """The answer of a question at the first precision at which it is not None."""
    before, bits = ctx.prec, _BITS[0]
    try:
        # ends: doubles the precision up to a cap, then raises
        while bits <= _BITS[1]:
            ctx.prec = bits
            found = question()
            if found is not None:
                return found
            bits *= 2
    finally:
        ctx.prec = before
    raise ArithmeticError(f"undecided at {_BITS[1]} bits: {about}")


def gaussian_log_delta(mu: float, epsilon: float) -> float:
    """Logarithm of the delta of Gaussian noise with sensitivity / sigma = mu."""

    def answer() -> float | None:
        ball = gaussian_ball(arb(mu), arb(epsilon))
        if not ball > 0:
            return None
        value = ball.log()
        close = float(value.rad()) <= _SMALL * max(1.0, abs(float(value.mid())))
        return float(value.mid()) if close else None

    return decided(answer, f"mu={mu!r}, epsilon={epsilon!r}")


def normal_ball(x: arb) -> arb:
    """Ball that holds the normal distribution function."""
    return (-x / arb(2).sqrt()).erfc() / 2


def gaussian_ball(mu: arb, epsilon: arb) -> arb:
    """Ball that holds Q(epsilon/mu - mu/2) - e^epsilon Q(epsilon/mu + mu/2)."""
    near, far = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    return normal_ball(near) - epsilon.exp() * normal_ball(far)


@cache
def gaussian_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Minimum sigma that keeps (epsilon, delta), proved to a relative 1e-12."""
    target = math.log(delta)

    def excess(log_mu: float) -> float:
        return gaussian_log_delta(math.exp(log_mu), epsilon) - target

    guess = math.log(max(delta, 1e-3 * math.sqrt(epsilon))) if epsilon else math.log(delta)
    ends = [guess, guess]
    for end, way in ((0, -1.0), (1, 1.0)):
        for stride in (1.0, 2.0, 4.0, 8.0, 16.0):
            if way * excess(ends[end]) >= 0.0:
                break
            ends[end] += way * stride
    root = math.exp(optimize.brentq(excess, ends[0], ends[1], xtol=1e-15, rtol=1e-15))
    apart = [
        gaussian_log_delta(root * (1.0 + way * _EXCESS), epsilon) - target for way in (-1.0, 1.0)
    ]
    if not apart[0] <= 0.0 <= apart[1]:
        raise ArithmeticError(f"sigma is not proved: epsilon={epsilon!r}, delta={delta!r}")
    return sensitivity / root
