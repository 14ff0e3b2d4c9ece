"""One step of noise on a Poisson sample, whose records are in it with a probability q each.

The two distributions have a density f, shifted by what the record adds with the probability q. For
Gaussian noise delta is a closed form, in ball arithmetic (Arb); for both, delta and the mean of
e^(s loss) are integrals of densities, with the digits of mpmath.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import mpmath
import numpy as np
from flint import arb

from dpnoise_papers.verify.oracles.gaussian import decided, gaussian_ball, normal_ball, number

Number: TypeAlias = Any  # of any type that mpmath takes, or a number of mpmath
_FAR = 60  # beyond it there is no mass
# What the record adds with the probability q under both of a pair, in units of its size.
_PAIRS = {"removed": (1, 0), "added": (0, 1), "replaced": (1, -1), "replaced: removed": (2, 0)}
_FIXED = "without replacement"


def one_step_ball(sigma: float, rate: float, epsilon: float, *, removed: bool) -> arb | None:
    """Delta of one step of Gaussian noise; None where more digits are needed."""
    if rate == 1.0:
        return gaussian_ball(1 / arb(sigma), arb(epsilon))
    spread, q = arb(sigma), arb(rate)
    level = arb(epsilon).exp() if removed else (-arb(epsilon)).exp()
    inner = (level - 1 + q) / q
    if not inner > 0:  # the loss is on one side of epsilon everywhere
        if not inner < 0:
            return None
        return 1 - arb(epsilon).exp() if removed else arb(0)
    edge = spread * inner.log() + 1 / (2 * spread)
    sign = -1 if removed else 1
    plain, moved = normal_ball(sign * edge), normal_ball(sign * (edge - 1 / spread))
    mixed = (1 - q) * plain + q * moved
    level = arb(epsilon).exp()
    return mixed - level * plain if removed else plain - level * mixed


def one_step(sigma: float, rate: float, epsilon: float, *, removed: bool) -> Number:
    """Delta of one step of Gaussian noise at any epsilon, proved to 30 digits."""
    return number(
        lambda: one_step_ball(sigma, rate, epsilon, removed=removed),
        f"sigma={sigma!r}, rate={rate!r}, epsilon={epsilon!r}",
    )


def one_step_within(sigma: float, rate: float, epsilon: float, low: float, high: float) -> bool:
    """Whether delta of one step, of the worse direction, is between two doubles: a proof."""

    def answer() -> bool | None:
        first = one_step_ball(sigma, rate, epsilon, removed=True)
        second = one_step_ball(sigma, rate, epsilon, removed=False)
        if first is None or second is None:
            return None
        return _between(low, high, first.max(second))

    return decided(answer, f"sigma={sigma!r}, rate={rate!r}, epsilon={epsilon!r}")


def everybody_within(sigma: float, steps: int, epsilon: float, low: float, high: float) -> bool:
    """Whether delta of steps that sample everybody is between two doubles: a proof."""
    return decided(
        lambda: _between(low, high, gaussian_ball(arb(steps).sqrt() / arb(sigma), arb(epsilon))),
        f"sigma={sigma!r}, steps={steps!r}, epsilon={epsilon!r}",
    )


def _between(low: float, high: float, delta: arb) -> bool | None:
    """Whether a number, of which a ball is known, is between two doubles."""
    if (low > 0.0 and delta < arb(low)) or (high < 1.0 and delta > arb(high)):
        return False
    inside = (low <= 0.0 or delta >= arb(low)) and (high >= 1.0 or delta <= arb(high))
    return True if inside else None


def densities(noise: str, form: str, size: Number, rate: Number, y: Number) -> tuple[Any, Any]:
    """Densities of a pair at y, for 'gaussian' or 'laplace' noise of scale 1."""
    m, q = mpmath.mpf(size), mpmath.mpf(rate)

    def mixed(x: Number) -> Number:
        return (1 - q) * plain(0) + q * plain(x)

    def plain(x: Number) -> Number:
        return mpmath.npdf(y - x) if noise == "gaussian" else mpmath.exp(-abs(y - x)) / 2

    one, other = _PAIRS[form]
    return mixed(one * m), mixed(other * m)


def delta(noise: str, form: str, size: Number, rate: Number, epsilon: Number) -> Number:
    """Delta of a pair, by quadrature on the side of where its loss is epsilon."""
    level = mpmath.exp(epsilon)

    def gap(y: Number) -> Number:
        one, two = densities(noise, form, size, rate, y)
        return one - level * two

    sign = 1 if form != "added" else -1
    if gap(_FAR * sign) <= 0:
        return mpmath.mpf(0)
    low, high = mpmath.mpf(-_FAR * sign), mpmath.mpf(_FAR * sign)
    # ends: halved to 100 bits
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if gap(middle) > 0 else (middle, high)
    m = mpmath.mpf(size)
    marks = [0, m, -m, 2 * m, *(sign * mpmath.mpf(k) for k in range(2, _FAR + 2, 6))]
    ends = sorted({high, *(p for p in marks if (p - high) * sign > 0)})
    # ends: a reference: what is missed shows as a disagreement
    return mpmath.quad(gap, ends, method="gauss-legendre")


def transform(noise: str, form: str, size: Number, rate: Number, s: Number) -> Number:
    """Mean of e^(s loss) under the first of a pair, by quadrature.

    A sample of fixed size, 'without replacement', has of the pair 'removed' the losses above 0,
    their reflections, and the rest at 0.
    """
    m, fixed = mpmath.mpf(size), form == _FIXED

    def pair(y: Number) -> tuple[Any, Any]:
        return densities(noise, "removed" if fixed else form, m, rate, y)

    def term(y: Number, *, turned: bool = False) -> Number:
        one, two = reversed(pair(y)) if turned else pair(y)
        return one * mpmath.exp(s * (mpmath.log(one) - mpmath.log(two)))

    reach = 14 + 5 * float(m) if noise == "gaussian" else 45
    ends = sorted([*np.linspace(-reach, reach, 24).tolist(), 0, m, -m])
    if fixed:
        ends = sorted({m / 2, m, *(y for y in ends if y > m / 2)})

    def whole(function: Any) -> Number:  # noqa: ANN401 - of one of two kinds
        # ends: a reference: what is missed shows as a disagreement
        return mpmath.quad(function, ends, method="gauss-legendre")

    if not fixed:
        return whole(term)
    seen = [whole(lambda y, k=k: pair(y)[k]) for k in (0, 1)]
    return whole(term) + whole(lambda y: term(y, turned=True)) + 1 - sum(seen)
