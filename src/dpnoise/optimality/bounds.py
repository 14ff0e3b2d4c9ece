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
is not the solver's optimum but the value of its dual solution, made feasible and computed with a
margin for rounding (`LatticeProgram`): weak duality makes it a bound whatever the solver did.

Above. The masses of the program, spread evenly over cells around the lattice points, are a
histogram, whose exact profile is checked without the program and repaired where the solver's
rounding left it short. The shifts it violates enter S, and so on until the bounds meet. Decreasing
densities (for which the largest shift is the worst, so that one shift is enough) give further
histograms; they are nearly but not exactly optimal, so they are never assumed: at epsilon = 1,
delta = 0.3 they are 3 % above the optimum, whose density falls and rises again on either side of 0.

Profile of a histogram. Cells have width h = 1/n and centres j h. For such a density f and a shift
d = (k + s) h with 0 <= s < 1, f(. + d) is on each cell p_(j+k) / h for a share 1 - s of it and
p_(j+k+1) / h for the rest. The integral of [f(t) - e^epsilon f(t + d)]_+ is therefore linear in s,
and its largest value over |d| <= 1 is attained at a whole number of cells: n sums decide. Symmetry
makes d and -d alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dpnoise._validation import Problems, is_integer
from dpnoise.optimality.scalar_floor import LARGE_DELTA, LatticeProgram

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
class Histogram:
    """A symmetric histogram on the line, with a geometric tail if there is one.

    Parameters
    ----------
    cells : int
        Cells per unit of length, n; the width is 1/n.
    masses : array of float, shape (m,)
        Mass of the cell centred at j/n for j = 0, ..., m - 1; cell -j has the same mass.
        m is at least 2 n + 1.
    ratio : float
        In [0, 1). Beyond the last cell, each n cells repeat the n before them times this.
    """

    cells: int
    masses: Array
    ratio: float

    @property
    def edges(self) -> Array:
        """Edges of the cells at t >= 0: 0, then those of the half-open cells, shape (m + 1,)."""
        return np.maximum(np.arange(-0.5, self.masses.size) / self.cells, 0.0)

    def total(self) -> float:
        """Mass of all cells, tail included: 1 but for rounding."""
        return self._moment(np.ones(self.masses.size), 0)

    def var(self) -> float:
        """Variance."""
        width = 1.0 / self.cells
        centres = np.arange(self.masses.size, dtype=float) * width
        return self._moment(centres**2 + width**2 / 12.0, 2)

    def mean_abs(self) -> float:
        """E|T|."""
        width = 1.0 / self.cells
        size = np.arange(self.masses.size, dtype=float) * width
        size[0] = width / 4.0  # the cell that straddles 0
        return self._moment(size, 1)

    def _moment(self, values: Array, power: int) -> float:
        """E v(T), with `values` of v by cell and v(t + 1) known from E t^i, i <= power."""
        inside = float(self.masses[0] * values[0]) + 2.0 * math.fsum(self.masses[1:] * values[1:])
        block, r = self.masses[-self.cells :], self.ratio
        if r == 0.0:
            return inside
        x = values[-self.cells :]
        # sums of r^m, m r^m and m^2 r^m over m >= 1
        sums = np.array([r / (1 - r), r / (1 - r) ** 2, r * (1 + r) / (1 - r) ** 3])
        centres = np.arange(self.masses.size - self.cells, self.masses.size) / self.cells
        # v at m further: (t + m)^2 = t^2 + 2 t m + m^2, or |t| + m, or 1
        linear = 2.0 * centres if power == 2 else np.full_like(x, float(power))
        terms = [x, linear, np.full_like(x, float(power == 2))]
        return inside + 2.0 * float(sums @ (np.array(terms) @ block))

    def deltas(self, epsilon: float) -> Array:
        """Delta for a shift by each of 1, ..., n cells, shape (n,)."""
        n, m, r = self.cells, self.masses.size, self.ratio
        block = self.masses[-n:]
        right = np.concatenate([self.masses, r * block, r * r * block])  # to cell m - 1 + 2 n
        both = np.concatenate([right[:0:-1], right])
        # Cells -(m - 1 + n), ..., m - 1. The outermost n of each side stand for all beyond,
        # which repeat them times r, r^2, ..., on either side of the shift.
        start = n
        source = both[start : start + 2 * (m - 1) + 1 + n]
        weight = np.ones(source.size)
        weight[:n] = weight[-n:] = 1.0 / (1.0 - r)
        shifted = sliding_window_view(both[start + 1 : start + source.size + n], source.size)
        with np.errstate(over="ignore"):  # e^epsilon p = inf exceeds every p
            rest = source - math.exp(min(epsilon, 709.0)) * shifted
        return np.maximum(rest, 0.0) @ weight

    def delta(self, epsilon: float) -> float:
        """Minimum delta for which this noise is (epsilon, delta)-DP, sensitivity 1."""
        return float(np.max(self.deltas(epsilon)))


def pure_envelope(cells: int, masses: Array, epsilon: float) -> Histogram:
    """(epsilon, 0)-DP noise: the lowest envelope of given masses from above, normalised.

    p_j becomes max_i p_i e^(-epsilon ceil(|i - j| / n)), normalised: since ceil(a + b) <=
    ceil(a) + 1 for b <= 1, cells at most n apart differ by at most e^epsilon. Masses that
    are (epsilon, 0)-DP already stay as they are. They are those of cells 0, 1, ..., symmetric
    about 0, with n cells per unit.
    """
    from scipy.ndimage import maximum_filter1d  # noqa: PLC0415 - heavy and rarely needed

    reach = masses.size + 2 * cells
    right = np.zeros(reach)
    right[: masses.size] = masses
    both = np.concatenate([right[:0:-1], right])
    shrink = math.exp(-epsilon)
    # One step of the maximum at a time: the largest within n cells, times e^-epsilon.
    # ends: masses rise to one of finitely many values
    while True:
        near = maximum_filter1d(both, 2 * cells + 1, mode="constant")
        grown = np.maximum(both, shrink * near)
        if np.array_equal(grown, both):
            break
        both = grown
    return _normalised(Histogram(cells, both[reach - 1 :], shrink))


def _normalised(noise: Histogram) -> Histogram:
    return Histogram(noise.cells, noise.masses / noise.total(), noise.ratio)


def repaired_histogram(cells: int, masses: Array, epsilon: float, delta: float) -> Histogram:
    """(epsilon, delta)-DP noise close to given masses, for sensitivity 1.

    delta is convex in the noise, so that a share of (epsilon, 0)-DP noise, see `pure_envelope`,
    lowers it as far as needed. The profile of the result is verified: RuntimeError if it fails.
    """
    # A hair inside the budget: masses are rounded to 1e-16 of themselves and sum to 1, which
    # moves delta by less than 1e-15 and the ratio of two masses by less than 1e-12.
    inner_epsilon = epsilon * (1.0 - 1e-12)
    inner_delta = max(delta * (1.0 - 1e-9) - 1e-15, 0.0)
    safe = pure_envelope(cells, masses, inner_epsilon)
    short = np.zeros_like(safe.masses)
    short[: masses.size] = masses
    raw = _normalised(Histogram(cells, short, 0.0))
    excess = raw.delta(epsilon)
    noise = raw
    if excess > inner_delta:
        kept = inner_delta / excess
        noise = Histogram(cells, kept * raw.masses + (1.0 - kept) * safe.masses, safe.ratio)
    if not noise.delta(epsilon) <= delta:
        message = (
            f"histogram noise: not verified, delta is {noise.delta(epsilon)!r} "
            f"at epsilon={epsilon!r}, asked for {delta!r}"
        )
        raise RuntimeError(message)
    return noise


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
    # ends: cells double to a bound; the gap is part of the result
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
    # ends: cells grow to a bound
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
    # ends: the bounds hold after any number of rounds
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
    # ends: one shift less each time
    while len(new) < _SHIFTS_PER_ROUND and np.max(excess) > 1e-4 * delta + 1e-9:
        place = int(np.argmax(excess))
        new.append(place + 1)
        excess[max(place - apart, 0) : place + apart + 1] = 0.0
    return new
