"""Bounds on the minimum cost of one-dimensional additive noise, from linear programs.

For a real query of sensitivity 1 and noise T that does not depend on the data, (epsilon,
delta)-DP asks for every shift |d| <= 1 that sup_A P(T in A) - e^epsilon P(T + d in A) <= delta.
`minimum_cost` brackets the minimum E T^2 or E|T| under these constraints, over all
distributions, atoms included. Linear programs over discretised noise are the way of Selvi, Liu
& Wiesemann (2023, "Differential privacy via distributionally robust optimization"). Noise that
is merely binned loses a share of order h of its cost in cells of width h; the rounding below is
unbiased and loses h^2.

Below. Round T up or down to a lattice of width h = 1/n, so that the mean stays T. The result
T' is additive noise on the lattice; rounding commutes with shifts by k h, so the constraints
for these hold for T' (data processing). E|T'| = E|T|, since |t| is linear between lattice
points, and E T'^2 <= E T^2 + h^2 / 4. Reflection and averaging make T' symmetric. Its masses
p_j therefore satisfy, for each k in a set S of shifts, a linear program with slacks
u_kj >= p_j - e^epsilon p_(j+k), sum_j u_kj <= delta. Everything from L on is one lump at L, and
terms with |j + k| < |j| are left out unless delta > 0.1; both only relax. So the minimum of the
program, less h^2 / 4 for the variance, bounds the cost of every noise from below. What is returned
is not the solver's optimum but the value of its dual solution, made feasible and computed here with
a margin for rounding: weak duality makes it a bound whatever the solver did.

Above. The masses of the program, spread evenly over cells around the lattice points, are a
histogram, whose exact profile is checked (`dpnoise.optimality.histogram`) and repaired. The
shifts it violates enter S, and so on until the bounds meet. Decreasing densities (for which
the largest shift is the worst, so that one shift is enough) give further histograms; they are
nearly but not exactly optimal, so they are never assumed: at epsilon = 1, delta = 0.3 they are 3 %
above the optimum, whose density falls and rises again on either side of 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise.optimality.histogram import Histogram, repaired_histogram
from dpnoise.optimality.program import LARGE_DELTA, LatticeProgram

if TYPE_CHECKING:
    from dpnoise._types import Array

COSTS = ("variance", "mean-abs")
_MAXIMUM_EPSILON = 8.0  # beyond, peaks of width e^(-epsilon / 2) ask for too fine a lattice
_REACH = 16.0  # a Laplace tail beyond this many 1 / epsilon holds e^-16 of the mass
_MAXIMUM_PROGRAM = 20_000  # lattice points
_ALL_SHIFTS = 64  # up to so many cells per unit, one program with all shifts is fastest
_MAX_CELLS = 128  # chosen without being asked for
_ROUNDS = 12
_GAP, _WIDE_GAP, _FINE_EPSILON = 0.001, 0.005, 3.0  # the gap asked for by default, up to epsilon
_SHIFTS_PER_ROUND = 6


@dataclass(frozen=True, eq=False)
class CostBounds:
    """Bounds on the minimum cost of additive noise, and noise that attains the upper one.

    Parameters
    ----------
    epsilon, delta : float
        The budget, for sensitivity 1.
    cost : str
        "variance" or "mean-abs".
    lower, upper : float
        No (epsilon, delta)-DP noise costs less than `lower`; `noise` costs `upper`.
    noise : Histogram
        Verified to be (epsilon, delta)-DP.
    cells : int
        Lattice points per unit of the program behind `lower`.
    shifts : int
        How many shifts it constrains.
    """

    epsilon: float
    delta: float
    cost: str
    lower: float
    upper: float
    noise: Histogram
    cells: int
    shifts: int

    @property
    def gap(self) -> float:
        """How far the bounds are apart, as a share of `lower`."""
        return self.upper / self.lower - 1.0 if self.lower > 0.0 else math.inf


def minimum_cost(
    epsilon: float,
    delta: float,
    *,
    cost: str = "variance",
    cells: int | None = None,
    gap: float | None = None,
) -> CostBounds:
    """Bounds on the minimum cost of one-dimensional additive (epsilon, delta)-DP noise.

    Parameters
    ----------
    epsilon : float
        In (0, 8].
    delta : float
        In [0, 1).
    cost : str, optional
        "variance", E T^2 (the minimum is attained at mean 0), or "mean-abs", E|T|.
    cells : int, optional
        Lattice points per unit of length; by default as many as `gap` needs.
    gap : float, optional
        The work ends when upper <= (1 + gap) lower. It may end above, when `cells` is too
        small for it; the bounds hold all the same. By default 0.001, which takes seconds, and
        0.005 for epsilon > 3, where 0.001 may take minutes.

    Returns
    -------
    CostBounds
        lower <= upper, and noise that attains the upper bound.

    Raises
    ------
    ValueError
        If an argument is out of range; names all that are. Also where the program would have
        more than 20,000 lattice points (epsilon below about 0.001).
    RuntimeError
        If the solver failed.

    References
    ----------
    Selvi, Liu & Wiesemann, "Differential privacy via distributionally robust optimization" (2023).

    Examples
    --------
    >>> from dpnoise.optimality.bounds import minimum_cost
    >>> found = minimum_cost(1.0, 1e-3, gap=0.05)
    >>> found.lower <= found.upper <= 1.05 * found.lower
    True
    """
    problems = Problems("least cost of additive noise")
    ok = problems.number("epsilon", epsilon, low=0.0, high=_MAXIMUM_EPSILON, open_low=True)
    ok &= problems.number("delta", delta, low=0.0, high=1.0, open_high=True)
    problems.require(cost in COSTS, "cost", f"one of {', '.join(COSTS)}", cost)
    if gap is not None:
        problems.number("gap", gap, low=0.0, open_low=True)
    whole = cells is None or (is_integer(cells) and cells >= 1)
    known = problems.require(whole, "cells", "a whole number >= 1 or None", cells)
    if ok and known:
        points = math.ceil((cells or 1) * _reach(epsilon, delta))
        expected = f"a program of at most {_MAXIMUM_PROGRAM} lattice points"
        problems.require(points <= _MAXIMUM_PROGRAM, "epsilon, delta, cells", expected, points)
    problems.raise_if_any()
    epsilon, delta = float(epsilon), float(delta)
    if gap is None:
        gap = _GAP if epsilon <= _FINE_EPSILON else _WIDE_GAP
    if cells is not None:
        masses, _ = _program(epsilon, delta, cost, cells).solve_decreasing()
        start = repaired_histogram(cells, masses, epsilon, delta)
        return _bracket(epsilon, delta, cost, cells, gap=gap, start=start)
    cells, finest, start = _choose_cells(epsilon, delta, cost, gap)
    limit = _bracket(epsilon, delta, cost, cells, gap=gap, start=start)
    while limit.gap > gap and limit.cells < min(finest, _MAX_CELLS):
        cells = min(2 * limit.cells, finest)
        again = _bracket(epsilon, delta, cost, cells, gap=gap, start=limit.noise)
        limit = replace(again, lower=max(limit.lower, again.lower))
    return limit


def _reach(epsilon: float, delta: float) -> float:
    """Where the lattice ends: past the support of truncated Laplace noise."""
    support = _REACH
    if delta > 0.0:
        support = min(support, math.log1p(math.expm1(epsilon) / (2.0 * delta)))
    return support / epsilon + 2.0


def _program(epsilon: float, delta: float, cost: str, cells: int) -> LatticeProgram:
    power = 2 if cost == "variance" else 1
    last = math.ceil(_reach(epsilon, delta) * cells)
    return LatticeProgram(epsilon, delta, power, cells, last, whole=delta > LARGE_DELTA)


def _cost(noise: Histogram, cost: str) -> float:
    return noise.var() if cost == "variance" else noise.mean_abs()


def _rounding_loss(cells: int, cost: str) -> float:
    """By how much rounding to the lattice may raise the cost."""
    return 0.25 / cells**2 if cost == "variance" else 0.0


def _choose_cells(
    epsilon: float, delta: float, cost: str, gap: float
) -> tuple[int, int, Histogram]:
    """A lattice expected to suffice for `gap`, a fine one, and noise that it led to.

    The optimum peaks sharply at multiples of 1 when epsilon is large, so that lattices on
    which the peaks are a whole number of points wide do better than much finer ones. Programs
    restricted to decreasing densities take milliseconds and foretell which.
    """
    fine, needed = 1, 2
    while needed > fine:
        fine = min(needed, 3 * fine + 1)  # a coarse lattice may ask for far too much
        masses, value = _program(epsilon, delta, cost, fine).solve_decreasing()
        # Spreading mass over cells costs 1 / (12 n^2), or about 1 / (8 n^2 E|T|) for E|T|:
        # not more than a tenth of the gap.
        scale = 1.2 * value if cost == "variance" else 0.8 * value**2
        needed = math.ceil(1.0 / math.sqrt(gap * scale))
    found = repaired_histogram(fine, masses, epsilon, delta)
    upper = _cost(found, cost)
    best = (0.0, 1)
    for cells in range(max(1, fine // 20), min(fine, _ALL_SHIFTS) + 1):
        value = _program(epsilon, delta, cost, cells).solve_decreasing()[1]
        best = max(best, (value - _rounding_loss(cells, cost), cells))
        if upper <= (1.0 + 0.6 * gap) * best[0]:
            break
    return best[1], fine, found


def _bracket(
    epsilon: float, delta: float, cost: str, cells: int, *, gap: float, start: Histogram
) -> CostBounds:
    """Bounds by the program of one lattice and by noise known before."""
    program = _program(epsilon, delta, cost, cells)
    few = {cells, cells - 1, cells // 2 + 1, cells // 3}
    shifts = sorted(few) if cells > _ALL_SHIFTS else list(range(1, cells + 1))
    best, lower, bounded_by = start, 0.0, 0
    for _ in range(_ROUNDS):
        masses, bound = program.solve(shifts)
        met = (best, repaired_histogram(cells, masses, epsilon, delta))
        best = min(met, key=lambda noise: _cost(noise, cost))
        upper = _cost(best, cost)
        before, bound = lower, bound - _rounding_loss(cells, cost)
        if bound > lower:
            lower, bounded_by = bound, len(shifts)
        unrepaired = Histogram(cells, masses, 0.0)
        new = _violated(unrepaired.deltas(epsilon), delta, shifts)
        # More shifts only raise the optimum; stop once the unrepaired histogram exceeds the upper
        # bound.
        slow = 0.0 < lower <= (1.0 + 0.05 * gap) * before
        settled = best is not start or _cost(unrepaired, cost) >= upper
        if upper <= (1.0 + gap) * lower or not new or (slow and settled):
            break
        shifts = sorted({*shifts, *new})
    upper *= 1.0 + 1e-12  # rounding of the sum
    return CostBounds(epsilon, delta, cost, lower, upper, best, cells, bounded_by)


def _violated(deltas: Array, delta: float, shifts: list[int]) -> list[int]:
    """The most violated shifts, some way apart."""
    excess = deltas - delta
    excess[np.array(shifts) - 1] = 0.0
    apart = max(deltas.size // 12, 1)
    new: list[int] = []
    while len(new) < _SHIFTS_PER_ROUND and np.max(excess) > 1e-4 * delta + 1e-9:
        place = int(np.argmax(excess))
        new.append(place + 1)
        excess[max(place - apart, 0) : place + apart + 1] = 0.0
    return new
