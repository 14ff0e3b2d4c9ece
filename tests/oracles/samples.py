"""One step of noise on a Poisson sample, whose records are in it with a probability q each.

The two distributions have a density f, shifted by what the record adds with the probability q. For
Gaussian noise delta is a closed form; for both, delta and the mean of e^(s loss) are integrals of
densities. All are in ball arithmetic (Arb), with the digits of its context.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from flint import acb, arb

from dpnoise_papers.verify.oracles.gaussian import decided, gaussian_ball, normal_ball
from oracles.gaussian import number

if TYPE_CHECKING:
    from collections.abc import Callable

Number: TypeAlias = Any  # a number that Arb takes, or one of Arb
_FAR = 60  # beyond it there is no mass
# What the record adds with the probability q under both of a pair, in units of its size.
_PAIRS = {"removed": (1, 0), "added": (0, 1), "replaced": (1, -1), "replaced: removed": (2, 0)}
_FIXED = "without replacement"


def delta_ball(noise: str, form: str, size: Number, rate: Number, epsilon: Number) -> arb | None:
    """Delta of a pair in closed form; None where more digits are needed.

    The difference of both distributions on the outputs from or up to the one whose loss is epsilon.
    """
    m, q, level = (
        arb(size) * (2 if form == "replaced: removed" else 1),
        arb(rate),
        arb(epsilon).exp(),
    )
    added, replaced, gaussian = form == "added", form == "replaced", noise == "gaussian"
    other = q * (-m).exp() + 1 - q if replaced else arb(1)
    inner = ((1 / level if added else level * other) - 1 + q) / q
    if not inner > 0:  # the loss is on one side of epsilon everywhere
        if not inner < 0:
            return None
        return arb(0) if added else 1 - level
    edge = m / 2 + inner.log() / (m if gaussian else 2)
    if replaced and gaussian:  # e^(m edge) is a root of x^2 - c x - e^epsilon
        c = (level - 1) * (1 - q) / q * (m * m / 2).exp()
        edge = ((c + (c * c + 4 * level).sqrt()) / 2).log() / m

    def mass(x: arb, *, inside: bool) -> arb:
        """Of the noise moved by x, whose centre is among the outputs, or not."""
        if gaussian:
            return normal_ball(edge - x if added else x - edge)
        far = (-abs(edge - x)).exp() / 2
        return 1 - far if inside else far

    near, far = mass(arb(0), inside=added), mass(m, inside=not added)
    last = mass(-m, inside=False) if replaced else near
    both = (1 - q) * near
    if added:
        return (near - level * (both + q * far)).max(arb(0))
    return (both + q * far - level * (both + q * last)).max(arb(0))


def one_step_ball(sigma: float, rate: float, epsilon: float, *, removed: bool) -> arb | None:
    """Delta of one step of Gaussian noise; None where more digits are needed."""
    form = "removed" if removed else "added"
    return delta_ball("gaussian", form, 1 / arb(sigma), rate, epsilon)


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


def ball_within(question: Callable[[], arb | None], low: float, high: float, about: str) -> bool:
    """Whether a number of which a question gives balls is between two doubles: a proof."""

    def answer() -> bool | None:
        found = question()
        return None if found is None else _between(low, high, found)

    return decided(answer, about)


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


def densities(
    noise: str, form: str, size: Number, rate: Number, y: Number, *, at: Number
) -> tuple[Any, Any]:
    """Densities of a pair at y over their height, for 'gaussian' or 'laplace' noise of scale 1.

    `at` is a real number on the same side of all seams as y, which may be complex.
    """
    m, q = arb(size), arb(rate)

    def mixed(x: Number) -> Number:
        return (1 - q) * plain(arb(0)) + q * plain(x)

    def plain(x: Number) -> Number:
        if noise == "gaussian":
            return (-(y - x) * (y - x) / 2).exp()
        return (y - x if at < x else x - y).exp()

    one, other = _PAIRS[form]
    return mixed(one * m), mixed(other * m)


def delta(noise: str, form: str, size: Number, rate: Number, epsilon: Number) -> Number:
    """Delta of a pair, by quadrature on the side of where its loss is epsilon."""
    level, m = arb(epsilon).exp(), arb(size)

    def gap(y: Number, at: Number) -> Number:
        one, two = densities(noise, form, size, rate, y, at=at)
        return one - level * two

    sign = 1 if form != "added" else -1
    low, high = arb(-_FAR * sign), arb(_FAR * sign)
    if not gap(high, high) > 0:
        return arb(0)
    # ends: halved to 100 bits
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if gap(middle, middle) > 0 else (middle, high)
    seams = sorted((p for p in (arb(0), m, -m, 2 * m) if (p - high) * sign > 0), key=float)
    ends = [high, *seams[::sign], arb(_FAR * sign)]

    def between(a: Number, b: Number) -> Number:
        def at_point(y: Number, _: Any) -> Number:
            return gap(y, (a + b) / 2)

        return acb.integral(at_point, a, b)

    # ends: a ball of the integral, however wide
    return sum(between(a, b) for a, b in pairwise(ends)).real * sign / _height(noise)


def transform(noise: str, form: str, size: Number, rate: Number, s: Number) -> Number:
    """Mean of e^(s loss) under the first of a pair, by quadrature.

    A sample of fixed size, 'without replacement', has of the pair 'removed' the losses above 0,
    their reflections, and the rest at 0.
    """
    m, fixed = arb(size), form == _FIXED

    def term(pair: tuple[Any, Any], analytic: bool) -> Number:
        one, two = (density.log(analytic=analytic) for density in pair)
        return (one + s * (one - two)).exp()

    reach = 14 + 5 * m if noise == "gaussian" else arb(45)
    ends = [m / 2, m, reach] if fixed else [-reach, -m, arb(0), m, reach]

    def whole(function: Callable[[tuple[Any, Any], bool], Number]) -> Number:
        def between(a: Number, b: Number) -> Number:
            def at_point(y: Number, analytic: bool) -> Number:
                pair = densities(noise, "removed" if fixed else form, m, rate, y, at=(a + b) / 2)
                return function(pair, analytic)

            return acb.integral(at_point, a, b)

        # ends: a ball of the integral, however wide
        return sum(between(a, b) for a, b in pairwise(ends)) / _height(noise)

    if not fixed:
        return whole(term)
    both = whole(term) + whole(lambda pair, analytic: term(pair[::-1], analytic))
    return both + 1 - whole(lambda pair, _: pair[0] + pair[1])


def _height(noise: str) -> Number:
    """One over the density of noise of scale 1 at 0."""
    return (2 * arb.pi()).sqrt() if noise == "gaussian" else arb(2)
