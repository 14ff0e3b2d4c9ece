"""Delta of Gaussian noise to any digits, and proofs of what is private, by balls of Arb."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import mpmath
from flint import arb

from dpnoise_papers.verify.oracles.gaussian import decided, gaussian_ball

if TYPE_CHECKING:
    from collections.abc import Callable

Number: TypeAlias = Any  # of any type that mpmath takes, or a number of mpmath
_DIGITS = 2.0**-110  # relative, of a proved number


def gaussian_delta(mu: Number, epsilon: Number) -> Number:
    """Delta with sensitivity / sigma = mu, with as many digits as mpmath works with."""
    mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
    far = mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)
    return mpmath.ncdf(mu / 2 - epsilon / mu) - far


def number(question: Callable[[], arb | None], about: str) -> Number:
    """A number of which a question gives balls, as one of mpmath, proved to a relative 2^-110."""

    def answer() -> Number | None:
        ball = question()
        if ball is None or not ball.rad() <= abs(ball.mid()) * _DIGITS:
            return None
        man, exponent = ball.mid().man_exp()
        return mpmath.ldexp(int(man), int(exponent))

    return decided(answer, about)


def is_private(
    epsilon: float, delta: float, sigma: float, sensitivity: float = 1.0, *, widen: float = 0.0
) -> bool:
    """Whether sigma / (1 + widen) is (epsilon, delta)-DP: a proof, in both directions.

    The arguments are doubles and are taken as exact.
    """

    def answer() -> bool | None:
        mu = arb(float(sensitivity)) / arb(float(sigma)) * (1 + arb(widen))
        ball, limit = gaussian_ball(mu, arb(float(epsilon))), arb(float(delta))
        return True if ball <= limit else False if ball > limit else None

    return decided(answer, f"epsilon={epsilon!r}, delta={delta!r}")
