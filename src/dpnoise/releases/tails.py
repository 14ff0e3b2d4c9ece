"""P(|T| > t) of every continuous family as a ball that is proved to contain it.

Parameters are doubles and points are rational, both taken as exact; functions are those of Arb
(Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval arithmetic", IEEE
Transactions on Computers 2017). The precision is that of the context of python-flint.

What is written here is a second derivation of each distribution, from its density: tests compare
it with the methods of the families.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from flint import arb, fmpq

from dpnoise.noise.exponential_power import Gaussian, Laplace, Subbotin, TruncatedLaplace
from dpnoise.noise.grafted import FlippedHuber, Huber, OffsetSymmetricGaussian
from dpnoise.noise.stepwise import Histogram, Staircase

if TYPE_CHECKING:
    from collections.abc import Callable

_DOUBLES = 1200  # bits after the point that hold every double from 1e-300 on
_LARGE = 30  # from it the complementary error function is not multiplied by its inverse


def ball(value: Fraction | float) -> arb:
    """A ball around a rational number."""
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))


def _upper_erf(x: arb) -> arb:
    """The integral of exp(-u^2 / 2) over u >= x."""
    return (arb.pi() / 2).sqrt() * (x / arb(2).sqrt()).erfc()


def _mills(x: Fraction) -> arb:
    """The Mills ratio, the integral of exp(-u^2 / 2 - x u) over u >= 0, for x >= 0."""
    if x < _LARGE:
        return _upper_erf(ball(x)) * ball(x * x / 2).exp()
    return ball(x * x / 2).hypgeom_u(arb(0.5), arb(0.5)) / arb(2).sqrt()


def _laplace(noise: Laplace, t: Fraction) -> arb:
    return (-ball(t / Fraction(noise.beta))).exp()


def _gaussian(noise: Gaussian, t: Fraction) -> arb:
    return (ball(t / Fraction(noise.sigma)) / arb(2).sqrt()).erfc()


def _truncated_laplace(noise: TruncatedLaplace, t: Fraction) -> arb:
    beta, bound = Fraction(noise.beta), Fraction(noise.bound)
    if t >= bound:
        return arb(0)
    rest, all_ = (-ball((bound - t) / beta)).expm1(), (-ball(bound / beta)).expm1()
    return (-ball(t / beta)).exp() * rest / all_


def _flipped_huber(noise: FlippedHuber, t: Fraction) -> arb:
    """The mass beyond t over all mass, both for t > 0 and without the factor 1 / Z."""
    b, x = Fraction(noise.alpha) / Fraction(noise.gamma), t / Fraction(noise.gamma)
    rim = (-ball(b * b / 2)).exp()
    tails = rim * _upper_erf(ball(max(b, x)))
    if b == 0:
        return tails / _upper_erf(arb(0))
    whole = -(-ball(b * b)).expm1() / ball(b) + rim * _upper_erf(ball(b))
    if x >= b:
        return tails / whole
    centre = -(-ball(b * (b - x))).expm1() * (-ball(b * x)).exp() / ball(b)
    return (centre + tails) / whole


def _huber(noise: Huber, t: Fraction) -> arb:
    a, z = Fraction(noise.alpha), t / Fraction(noise.scale)
    tails = (-ball(a * max(z, a) - a * a / 2)).exp() / ball(a)
    edge = _upper_erf(ball(a))
    whole = _upper_erf(arb(0)) - edge + (-ball(a * a / 2)).exp() / ball(a)
    return (tails if z >= a else _upper_erf(ball(z)) - edge + tails) / whole


def _offset_symmetric_gaussian(noise: OffsetSymmetricGaussian, t: Fraction) -> arb:
    rho, theta = Fraction(noise.rho), Fraction(noise.theta)
    z, s = t / rho, theta / rho
    return (-ball(z * (z / 2 + s))).exp() * _mills(z + s) / _mills(s)


def _staircase(noise: Staircase, t: Fraction) -> arb:
    steps = t / Fraction(noise.sensitivity)
    k = math.floor(steps)
    f, gamma, epsilon = steps - k, Fraction(noise.gamma), Fraction(noise.epsilon)
    b, drop = (-ball(epsilon)).exp(), -(-ball(epsilon)).expm1()
    q = ball(gamma) + b * ball(1 - gamma)
    if f < gamma:
        inside = ball(gamma - f) + b * ball(1 - gamma + f)
    else:
        inside = b * (q + drop * ball(1 - f))
    return (-ball(epsilon * k)).exp() * inside / q


def _subbotin(noise: Subbotin, t: Fraction) -> arb:
    p = ball(noise.p)
    power = ball(t / Fraction(noise.scale)) ** p / p
    return power.gamma_upper(1 / p, regularized=1)


@lru_cache(maxsize=16)
def _cumulated(noise: Histogram) -> tuple[list[int], list[int], Fraction]:
    """Masses, sums of those before them, and everything on one side, over 2^-1200: exact."""
    masses = [int(Fraction(p) * 2**_DOUBLES) for p in noise.masses]
    ratio = Fraction(noise.ratio)
    rest = ratio / (1 - ratio) * sum(masses[-noise.cells :])
    before = [0, *accumulate(masses)]
    return masses, before, before[-1] + rest


def _histogram(noise: Histogram, t: Fraction) -> arb:
    masses, before, side = _cumulated(noise)
    steps = t * noise.cells / Fraction(noise.sensitivity) + Fraction(1, 2)
    cell = math.floor(steps)
    times = max(0, (cell - len(masses)) // noise.cells + 1)
    listed = cell - times * noise.cells
    tail = (cell + 1 - steps) * masses[listed] + (side - before[listed + 1])
    fall = ball(noise.ratio) ** times if times else arb(1)
    return fall * ball(2 * tail / (2 * side - masses[0]))


TAILS: dict[type, Callable[[Any, Fraction], arb]] = {
    FlippedHuber: _flipped_huber,
    Gaussian: _gaussian,
    Histogram: _histogram,
    Huber: _huber,
    Laplace: _laplace,
    OffsetSymmetricGaussian: _offset_symmetric_gaussian,
    Staircase: _staircase,
    Subbotin: _subbotin,
    TruncatedLaplace: _truncated_laplace,
}
