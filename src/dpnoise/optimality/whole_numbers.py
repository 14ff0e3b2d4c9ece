"""Lower bounds for a number whose differences are whole: the staircases on a lattice, a program.

Answers that differ by whole numbers up to c ask less of noise T than answers that differ by any
number up to c, and T may still be any real number. Let N + t be T, N an integer and t in [0, 1).
A whole shift leaves t as it is, so that given t, N hides the shifts by 1, ..., c (on average over
t, with delta). What is left is noise on the integers and its cost about t (docs/floor.md, section
8).

*delta = 0.* The least variance is that of a staircase on the integers or on the half-integers: w
points have the largest probability, the next c on either side have e^-epsilon times it, and so on.
The least of w = 1, ..., 2 c is the optimum, for E|T| as for the variance. At c = 1 it is discrete
Laplace noise.

*delta > 0.* The program of `dpnoise.optimality.scalar_floor` on the multiples of 1/2 with whole
shifts alone. Its even points are noise about 0 and its odd ones noise about 1/2. Let A and A + s be
lower bounds for these, from one set of multipliers. The cost about t, less t^2, is concave in t for
each multiplier, so that it is at least A - (1/4 - s)^2 for all t between. The cost of the odd
points is lowered by s, and s = 0, 1/8, 1/4 are tried. E|N - t| is concave in t itself, and least at
t = 0.

*Any budget.* T + U hides all shifts up to c, U uniform on [-1/2, 1/2]: its variance, larger by
1/12, is not below the floor for these. That is close where T is wide.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.optimality.scalar_floor import (
    LARGE_DELTA,
    MARGIN,
    LatticeProgram,
    scalar_certificate,
)

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.optimality.scalar_floor import ScalarCertificate

_COMPARED = 2000  # for which all staircases are compared
_MARGIN = 1e-12  # relative, of sums of positive terms
_SHARES = 1.0, 0.5, 0.0  # of 1/4, by which the cost of odd points is lowered

UNIFORM_COST = {2: 1.0 / 12.0, 1: 0.25}  # E U^2 and E|U| of uniform noise of width 1

# Of the program.
_LARGEST_EPSILON, _MOST_CHANGE, _SMALLEST_DELTA = 8.0, 12, 1e-14
_REACH, _MOST_POINTS = 16.0, 1500  # a Laplace tail beyond so many 1 / epsilon; points times c


def without_uniform(value: float, cost: float, margin: float) -> float:
    """A bound for T + U as one for T: less the cost of the uniform noise U, to the safe side."""
    return max(0.0, value * (1.0 - margin) - cost * (1.0 + margin))


def staircase_costs(change: int, epsilon: float, order: int) -> Array:
    """E T^2 or E|T| of the lattice staircases with w = 1, ..., 2 c points of the largest mass."""
    c, w = change, np.arange(1.0, 2.0 * change + 1.0)
    b, rest = math.exp(-epsilon), -math.expm1(-epsilon)
    sums = 1.0 / rest, b / rest**2, b * (1.0 + b) / rest**3  # of b^k, k b^k and k^2 b^k
    first = 0.5 * (w + 1.0)  # the nearest point of the first step
    if order == 2:
        core = w * (w * w - 1.0) / 12.0
        step = c * (c - 1.0) * (2.0 * c - 1.0) / 6.0
        flat = c * first**2 + first * c * (c - 1.0) + step
        tail = flat * sums[0] + (2.0 * first + c - 1.0) * c * c * sums[1] + c**3 * sums[2]
    else:
        core = np.floor(0.25 * w * w)
        tail = (c * first + 0.5 * c * (c - 1.0)) * sums[0] + c * c * sums[1]
    return np.asarray((core + 2.0 * b * tail) / (w + 2.0 * b * c / rest))


@dataclass(frozen=True)
class WholeStaircase:
    """Certificate for delta = 0: the best staircase on the integers or half-integers.

    Parameters
    ----------
    change : int
        The largest difference c.
    order : int
        2 for the variance, 1 for E|T|.
    """

    change: int
    order: int = 2

    def bound(self, epsilon: float, delta: float) -> float:
        """Least cost, less rounding; 0 if delta is positive."""
        if delta > 0.0 or not 1 <= self.change <= _COMPARED:
            return 0.0
        return float(np.min(staircase_costs(self.change, epsilon, self.order))) * (1.0 - _MARGIN)


@dataclass(frozen=True)
class WholeEvents:
    """Certificate for any budget: the point nearest to 0 and those a difference away.

    Parameters
    ----------
    change : int
        The largest difference c.
    order : int
        2 for the variance, 1 for E|T|.
    """

    change: int
    order: int = 2

    def bound(self, epsilon: float, delta: float) -> float:
        """The larger of `one_whole_step` and the mass beyond c / 2."""
        c, p = float(self.change), self.order
        total = 2.0 * (c * (c + 1.0) * (2.0 * c + 1.0) / 6.0 if p == 2 else c * (c + 1.0) / 2.0)
        step = one_whole_step(WholePoints(1, 2.0 * c, total), epsilon, delta, p)
        tail = (1.0 - delta) / (1.0 + math.exp(min(epsilon, 700.0)))
        return max(step, 2.0 * tail * (0.5 * c) ** p) * (1.0 - MARGIN)


class WholePoints(NamedTuple):
    """Whole differences other than 0 in some dimensions: how many, and the sum of their sizes.

    The squares (order 2), or the l1 or largest norms (order 1).
    """

    dimension: int
    number: float
    total: float


def one_whole_step(points: WholePoints, epsilon: float, delta: float, order: int) -> float:
    """Lower bound on E|T|^2 (order 2) or on the l1 or largest norm (order 1) for whole shifts.

    The point of the class of T that is nearest to 0 has the probability p; each difference from it
    has at least e^-epsilon (p - delta), and all other points are 1/2 away or more.
    """
    dimension, number, total = points
    b = math.exp(-min(epsilon, 700.0))
    other = 0.5**order
    beyond = total - other * number  # of a sum of terms >= 0, as the value may be far below 1/4
    value = other * number * (1.0 - delta) + (1.0 + b * number * delta) * beyond
    value = min(other, b * value / (1.0 + b * number))
    if delta > 0.0:  # the point is at most so far from 0
        near = 0.5 * math.sqrt(dimension) if order == 2 else 0.5 * dimension
        lost = total + near * number
        if order == 2:
            lost = (math.sqrt(total) + near * math.sqrt(number)) ** 2
        value -= b * delta * lost
    return max(0.0, value) * (1.0 - _MARGIN)


@dataclass(frozen=True, eq=False)
class WholeDual:
    """Certificate for delta > 0: multipliers of the program on the multiples of 1/2.

    Parameters
    ----------
    change : int
        The largest difference c.
    order : int
        2 for the variance, 1 for E|T|, for which the integers are enough.
    last : int
        The index of the last lattice point.
    lowered : float
        s, by which the cost of the odd points is lowered, in [0, 1/4].
    multipliers : array of float
        Of the rows of every whole shift, then of their budgets.
    whole : bool
        Whether the program has the shifts towards 0.
    """

    change: int
    order: int
    last: int
    lowered: float
    multipliers: Array
    whole: bool = False

    def bound(self, epsilon: float, delta: float) -> float:
        """Bound that the multipliers prove."""
        if not 0.0 <= self.lowered <= 0.25 or self.last % 2:
            return 0.0
        delta = max(delta, _SMALLEST_DELTA)
        program, shifts = self.program(epsilon, delta)
        value = program.bound(shifts, np.abs(self.multipliers)) * float(self.change) ** self.order
        if self.order == 2:
            value -= (0.25 - self.lowered) ** 2 * (1.0 + MARGIN)
        return max(0.0, value * (1.0 - MARGIN))

    def program(self, epsilon: float, delta: float) -> tuple[LatticeProgram, list[int]]:
        """The program in units of c, and its shifts."""
        points = self.order  # per whole number
        n = points * self.change
        found = LatticeProgram(epsilon, delta, self.order, n, self.last, whole=self.whole)
        if self.order == 2:
            found.cost[1::2] -= self.lowered / self.change**2
        return found, [points * k for k in range(1, self.change + 1)]


@dataclass(frozen=True)
class Spread:
    """Certificate for any budget: the floor for all shifts, of T and uniform noise beside it.

    Parameters
    ----------
    change : int
        The largest difference c.
    order : int
        2 for the variance, 1 for E|T|.
    part : ScalarCertificate
        For all shifts up to 1.
    """

    change: int
    order: int
    part: ScalarCertificate

    def bound(self, epsilon: float, delta: float) -> float:
        """The bound for all shifts up to c, less 1/12 or E|U| = 1/4."""
        value = float(self.change) ** self.order * self.part.bound(epsilon, delta)
        return without_uniform(value, UNIFORM_COST[self.order], MARGIN)


WholeCertificate = WholeStaircase | WholeEvents | WholeDual | Spread


@lru_cache(maxsize=256)
def whole_certificate(
    change: int, epsilon: float, delta: float, order: int = 2
) -> WholeCertificate:
    """Certificate of a lower bound for a number whose differences are whole, up to `change`."""
    wide = Spread(change, order, scalar_certificate(epsilon, delta, order=order))
    found: list[WholeCertificate] = [WholeEvents(change, order), wide]
    if delta == 0.0:
        found.append(WholeStaircase(change, order))
    else:
        found += _duals(change, epsilon, delta, order)
    return max(found, key=lambda one: one.bound(epsilon, delta))


def _duals(change: int, epsilon: float, delta: float, order: int) -> list[WholeDual]:
    """Multipliers of the program, if it is small enough and solved."""
    if not 0.0 < epsilon <= _LARGEST_EPSILON or change > _MOST_CHANGE:
        return []
    spent = max(delta, _SMALLEST_DELTA)
    support = min(_REACH, math.log1p(math.expm1(epsilon) / (2.0 * spent)))
    last = order * math.ceil((support / epsilon + 2.0) * change)
    last += last % 2
    if last * change > _MOST_POINTS:
        return []
    found = []
    for share in _SHARES if order == 2 else _SHARES[:1]:
        empty = WholeDual(change, order, last, 0.25 * share, np.empty(0), spent > LARGE_DELTA)
        program, shifts = empty.program(epsilon, spent)
        with suppress(RuntimeError):  # the solver may fail
            found.append(replace(empty, multipliers=program.multipliers(shifts)))
    return found
