"""Lower bounds on the variance of one-dimensional additive noise, each with a certificate.

V1(epsilon, delta) is the least E T^2 of additive (epsilon, delta)-DP noise for a query of
sensitivity 1. A certificate holds what proves a bound V <= V1 for given epsilon and delta; its
`bound` computes V from that alone, with a margin for rounding. Three kinds:

- delta = 0: V1 itself, the variance of the best staircase (Geng & Viswanath 2016);
- delta > 0, epsilon <= 8: multipliers of a linear program (`dpnoise.optimality.program`);
- delta > 0, epsilon > 8: one step outwards (`dpnoise.optimality.one_step`), or the mass beyond 1/2
  from one event and a shift by 1. At small delta the first is 25 % below V1 at epsilon = 8, 12 % at
  10 and less beyond.

Where epsilon is small, shifts by a whole number g of sensitivities are used: they are
(g epsilon, delta (e^(g epsilon) - 1) / (e^epsilon - 1))-DP (group privacy), so that
V1(epsilon, delta) >= g^2 V1 at that budget. The loss is of the order of (g epsilon)^2.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.noise.stepwise import Staircase, staircase_gamma
from dpnoise.optimality.one_step import INTERVAL, one_step, steps
from dpnoise.optimality.program import LARGE_DELTA, LatticeProgram
from dpnoise.optimality.radial_floor import smallest_moment, step_group

if TYPE_CHECKING:
    from dpnoise._types import Array

MARGIN = 1e-12  # relative, for the rounding of closed forms
_LARGEST_EPSILON = 8.0  # of the programs
_SMALL_EPSILON = 0.1  # below, group privacy makes programs smaller and loses less than 1e-3
_SMALLEST_DELTA = 1e-14  # of the programs: a solver takes no smaller one, a larger one weakens
_LARGER = 1.0, 3.0, 30.0, 1000.0  # factors of delta
_REACH = 16.0  # the lattice ends at this many 1 / epsilon, or past truncated Laplace noise


def group_budget(group: int, epsilon: float, delta: float) -> tuple[float, float]:
    """Budget (epsilon, delta) of shifts `group` times as long, delta rounded up."""
    if delta == 0.0:
        return group * epsilon, 0.0
    growth = math.expm1(group * epsilon) / math.expm1(epsilon)
    return group * epsilon, min(1.0, delta * growth * (1.0 + MARGIN) if group > 1 else delta)


@dataclass(frozen=True)
class StaircaseVariance:
    """Certificate for delta = 0: V1 in closed form."""

    def bound(self, epsilon: float, delta: float) -> float:
        """Variance of the best staircase, less rounding; 0 if delta is positive."""
        if delta > 0.0:
            return 0.0
        best = Staircase(epsilon, 1.0, float(staircase_gamma(epsilon)))
        return best.var() * (1.0 - MARGIN)


@dataclass(frozen=True)
class StaircaseMeanAbs:
    """Certificate for delta = 0: the least E|T| in closed form."""

    def bound(self, epsilon: float, delta: float) -> float:
        """Mean absolute value of the best staircase, less rounding; 0 if delta is positive."""
        if delta > 0.0:
            return 0.0
        group = step_group(1, epsilon)
        return group * smallest_moment(1, group * epsilon, 1)[0]


@dataclass(frozen=True)
class HalfUnitTail:
    """Certificate for any budget: mass beyond 1/2, mass near -1 and 1, or one step outwards.

    Parameters
    ----------
    order : int
        2 for the variance, 1 for E|T|.
    """

    order: int = 2

    def bound(self, epsilon: float, delta: float) -> float:
        """Largest of (1 - delta) / (2 (1 + e^epsilon)), (1 - delta) a^2 and `one_step`.

        With b = e^-epsilon, a is the root of a^2 = 2 b (1 - 2 a), below 1/2 (docs/floor.md). Of
        order 1 the larger of (1 - delta) / (1 + e^epsilon) and (1 - delta) 2 b / (1 + 4 b).
        """
        b = math.exp(-min(epsilon, 709.0))
        if self.order == 1:
            return (1.0 - delta) * max(b / (1.0 + b), 2.0 * b / (1.0 + 4.0 * b)) * (1.0 - MARGIN)
        a = math.sqrt(4.0 * b * b + 2.0 * b) - 2.0 * b
        events = (1.0 - delta) * max(0.5 * b / (1.0 + b), a * a)
        step = np.max(one_step(INTERVAL, epsilon, delta, steps(INTERVAL, epsilon)))
        return max(events, float(step)) * (1.0 - MARGIN)


@dataclass(frozen=True, eq=False)
class LatticeDual:
    """Certificate for delta > 0: multipliers of the program on a lattice.

    Parameters
    ----------
    group : int
        The shifts are this many sensitivities long.
    cells, last : int
        Lattice points per shift, and the index of the last.
    multipliers : array of float
        Of the rows of every shift by 1, ..., `cells` lattice points, then of their budgets.
    whole : bool
        Whether the program has the shifts towards 0.
    order : int
        2 for the variance, 1 for E|T|.
    """

    group: int
    cells: int
    last: int
    multipliers: Array
    whole: bool = False
    order: int = 2

    def bound(self, epsilon: float, delta: float) -> float:
        """Bound that the multipliers prove."""
        epsilon, delta = group_budget(self.group, epsilon, delta)
        delta = max(delta, _SMALLEST_DELTA)
        shape = (self.order, self.cells, self.last)
        program = LatticeProgram(epsilon, delta, *shape, whole=self.whole)
        value = program.bound(list(range(1, self.cells + 1)), np.abs(self.multipliers))
        # Rounding to the lattice may have raised the variance by 1 / (4 cells^2), and not E|T|.
        value -= 0.25 / self.cells**2 if self.order == 2 else 0.0
        return self.group**self.order * value * (1.0 - MARGIN) if value > 0.0 else 0.0


ScalarCertificate = StaircaseVariance | StaircaseMeanAbs | HalfUnitTail | LatticeDual


@lru_cache(maxsize=256)
def scalar_certificate(
    epsilon: float, delta: float, *, fine: bool = False, order: int = 2
) -> ScalarCertificate:
    """Certificate of a lower bound on V1, or on E|T| of order 1; `fine` asks for finer lattices."""
    if delta == 0.0:
        return StaircaseVariance() if order == 2 else StaircaseMeanAbs()
    if epsilon > _LARGEST_EPSILON:
        return HalfUnitTail(order)
    group = max(1, math.floor(_SMALL_EPSILON / epsilon))
    while group > 1 and group_budget(group, epsilon, delta)[1] > 0.1:
        group //= 2
    wide, spent = group_budget(group, epsilon, delta)
    spent = max(spent, _SMALLEST_DELTA)
    # Peaks of the density become narrow as epsilon grows.
    cells = min(1 + math.ceil(6.0 * wide), 12 if wide <= 4.0 else 30)
    if fine:
        cells = max(cells, min(2 * cells, 24))
    support = min(_REACH, math.log1p(math.expm1(wide) / (2.0 * spent)))
    last = math.ceil((support / wide + 2.0) * cells)
    tail, whole = HalfUnitTail(order), spent > LARGE_DELTA
    # The solver may fail at one delta; multipliers for a larger one prove a little less.
    for more in _LARGER:
        program = LatticeProgram(wide, more * spent, order, cells, last, whole=whole)
        with suppress(RuntimeError):
            multipliers = program.multipliers(list(range(1, cells + 1)))
            found = LatticeDual(group, cells, last, multipliers, whole, order)
            if found.bound(epsilon, delta) >= tail.bound(epsilon, delta):
                return found
    return tail
