"""Lower bounds on the cost of additive noise for one number, each with a certificate.

V1(epsilon, delta) is the least E T^2 of additive (epsilon, delta)-DP noise for a query of
sensitivity 1. A certificate holds what proves a bound V <= V1 for given epsilon and delta; its
`bound` computes V from that alone, with a margin for rounding. Three kinds:

- delta = 0: V1 itself, the variance of the best staircase (Geng & Viswanath 2016);
- delta > 0, epsilon <= 8: multipliers of a linear program;
- delta > 0, epsilon > 8: one step outwards, or the mass beyond 1/2 from one event and a shift by 1.
  At small delta the first is 25 % below V1 at epsilon = 8, 12 % at 10 and less beyond.

Where epsilon is small, shifts by a whole number g of sensitivities are used: they are
(g epsilon, delta (e^(g epsilon) - 1) / (e^epsilon - 1))-DP (group privacy), so that
V1(epsilon, delta) >= g^2 V1 at that budget. The loss is of the order of (g epsilon)^2.

*The linear program* of additive noise on a lattice. Unknown are the masses p_0, ..., p_N of
symmetric noise at the points j/n, where p_N is all mass from N on (on one side), and, for each
shift by k cells, slacks u_kj:

    minimise    sum_j c_j p_j  over both signs
    subject to  sum_j p_j = 1  over both signs,
                p_|j| - e^epsilon p_|j+k| <= u_kj  for j >= -(k-1)/2, j + k < N,
                p_(N-k) + ... + p_N - e^epsilon p_N <= u_kN,
                sum_j u_kj <= delta.

Shifts towards 0, j < -(k-1)/2, are left out: noise whose density falls on either side of 0 gains
nothing by them. For large delta the optimum is another, and the `whole` program has all j > -N.

The last slack belongs to the events {T >= N - k} and, shifted, {T >= N}. By data processing
the masses of every (epsilon, delta)-DP lattice noise, the lump being what it has beyond N,
are feasible (see `dpnoise.optimality.bounds` for noise off the lattice).

Any multipliers y_kj in [0, w_k] give the bound min_j (c_j + (A' y)_j) - delta sum_k w_k. The
solver's multipliers are clipped to that and the bound is computed from them, independently of the
solver's accuracy.

**Whole numbers.** Answers that differ by whole numbers up to c ask less of noise T than answers
that differ by any number up to c, and T may still be any real number. Let N + t be T, N an integer
and t in [0, 1). A whole shift leaves t as it is, so that given t, N hides the shifts by 1, ..., c
(on average over t, with delta). What is left is noise on the integers and its cost about t
(docs/floor.md, section 8).

*delta = 0.* The least variance is that of a staircase on the integers or on the half-integers: w
points have the largest probability, the next c on either side have e^-epsilon times it, and so on.
The least of w = 1, ..., 2 c is the optimum, for E|T| as for the variance. At c = 1 it is discrete
Laplace noise.

*delta > 0.* The program above on the multiples of 1/2 with whole shifts alone. Its even points are
noise about 0 and its odd ones noise about 1/2. Let A and A + s be lower bounds for these, from one
set of multipliers. The cost about t, less t^2, is concave in t for each multiplier, so that it is
at least A - (1/4 - s)^2 for all t between. The cost of the odd points is lowered by s, and s = 0,
1/8, 1/4 are tried. E|N - t| is concave in t itself, and least at t = 0.

*Any budget.* T + U hides all shifts up to c, U uniform on [-1/2, 1/2]: its variance, larger by
1/12, is not below the floor for these. That is close where T is wide.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise.noise.stepwise import Staircase, staircase_gamma
from dpnoise.optimality.closed_forms import INTERVAL, one_step, smallest_moment, step_group, steps

if TYPE_CHECKING:
    from dpnoise._types import Array

LARGE_DELTA = 0.1  # beyond, the optimum may not fall on either side of 0
_TOLERANCE = 1e-10  # the solver's, on primal and dual feasibility; the least it accepts
_UNIT = 2.0**-52
MARGIN = 1e-12  # relative, for the rounding of closed forms
_LARGEST_EPSILON = 8.0  # of the programs
_SMALL_EPSILON = 0.1  # below, group privacy makes programs smaller and loses less than 1e-3
_SMALLEST_DELTA = 1e-14  # of the programs: a solver takes no smaller one, a larger one weakens
_LARGER = 1.0, 3.0, 30.0, 1000.0  # factors of delta
_REACH = 16.0  # the lattice ends at this many 1 / epsilon, or past truncated Laplace noise
_COMPARED = 2000  # for which all staircases are compared
_SHARES = 1.0, 0.5, 0.0  # of 1/4, by which the cost of odd points is lowered

UNIFORM_COST = {2: 1.0 / 12.0, 1: 0.25}  # E U^2 and E|U| of uniform noise of width 1

# Of the program for whole numbers.
_MOST_CHANGE, _MOST_POINTS = 12, 1500  # of changes c, and of points times c


class LatticeProgram:
    """Program for one budget, cost |t|^power and lattice.

    There are n = `cells` lattice points per unit, and N = `last` is more than n. `whole` adds the
    shifts towards 0.
    """

    def __init__(
        self,
        epsilon: float,
        delta: float,
        power: int,
        cells: int,
        last: int,
        *,
        whole: bool = False,
    ) -> None:
        self.epsilon, self.delta, self.cells, self.last = epsilon, delta, cells, last
        self.whole = whole
        self.growth = math.exp(epsilon)
        self.cost = (np.arange(last + 1) / cells) ** power
        self.weight = np.full(last + 1, 2.0)  # the cost and the mass of both signs
        self.weight[0] = 1.0
        # The solver's tolerances are absolute: costs are given to it near 1.
        self._unit_cost = epsilon**-power

    def solve(self, shifts: list[int]) -> tuple[Array, float]:
        """Optimal masses, shape (N + 1,), and a certified lower bound on the cost.

        The shifts k, in 1, ..., n, are those constrained.
        """
        rows, counts = self._rows(shifts)
        masses, multipliers = self._run(rows, counts)
        return masses, self._bound(rows, counts, multipliers)

    def multipliers(self, shifts: list[int]) -> Array:
        """Multipliers of the rows of the given shifts, then of their budgets, all >= 0."""
        return self._run(*self._rows(shifts))[1]

    def bound(self, shifts: list[int], multipliers: Array) -> float:
        """Lower bound on the cost that any multipliers >= 0 prove."""
        return self._bound(*self._rows(shifts), multipliers)

    def _rows(self, shifts: list[int]) -> tuple[Any, list[int]]:
        """Rows of several shifts, and how many each has."""
        blocks = [self._differences(k) for k in shifts]
        return _stack(blocks), [block.shape[0] for block in blocks]

    def solve_decreasing(self) -> tuple[Array, float]:
        """Minimum of the cost over decreasing masses, as these masses and their cost.

        For decreasing symmetric masses the largest shift is the worst, so that it alone is
        constrained: each cell's term grows as the shift moves its partner outwards.
        """
        from scipy import sparse  # noqa: PLC0415 - heavy and rarely needed

        block = self._differences(self.cells)
        size = (self.last - 1, self.last + 1)
        steps = sparse.diags_array([-1.0, 1.0], offsets=[0, 1], shape=size)
        masses, _ = self._run(block, [block.shape[0]], steps)
        return masses, float(np.sum(self.cost * self.weight * masses))

    def _differences(self, k: int) -> Any:  # noqa: ANN401 - a sparse array
        """Rows p_|j| - e^epsilon p_|j+k| of one shift."""
        from scipy import sparse  # noqa: PLC0415 - heavy and rarely needed

        first = 1 - self.last if self.whole else -((k - 1) // 2)
        j = np.arange(first, self.last - k + 1)
        row = np.arange(j.size)
        lump = np.arange(self.last - k + 1, self.last + 1)
        values = [np.ones(j.size), np.full(j.size, -self.growth), np.ones(lump.size)]
        rows = [row, row, np.full(lump.size, row[-1])]
        index = (np.concatenate(rows), np.concatenate([np.abs(j), np.abs(j + k), lump]))
        shape = (j.size, self.last + 1)
        return sparse.csr_array(sparse.coo_array((np.concatenate(values), index), shape=shape))

    def _run(self, rows: Any, counts: list[int], extra: Any = None) -> tuple[Array, Array]:  # noqa: ANN401
        """Masses and the multipliers of `rows`, then of each shift's budget."""
        from scipy import sparse  # noqa: PLC0415 - heavy and rarely needed
        from scipy.optimize import linprog  # noqa: PLC0415

        size, slacks = self.last + 1, 0
        matrix, right = rows, np.zeros(rows.shape[0])
        if self.delta > 0.0:  # else a slack could only be 0
            slacks = rows.shape[0]
            owner = np.repeat(np.arange(len(counts)), counts)
            # Budgets in units of delta, which may be far below the solver's tolerance.
            value = np.full(slacks, 1.0 / self.delta)
            shape = (len(counts), slacks)
            budget = sparse.coo_array((value, (owner, np.arange(slacks))), shape=shape)
            matrix = sparse.block_array([[rows, -sparse.eye_array(slacks)], [None, budget]])
            right = np.concatenate([right, np.ones(len(counts))])
        if extra is not None:
            extra = sparse.csr_array(extra)  # a copy, to be widened
            extra.resize(extra.shape[0], size + slacks)
            matrix = sparse.vstack([matrix, extra])
            right = np.append(right, np.zeros(extra.shape[0]))
        # Typed loosely: the types of SciPy know no sparse constraints.
        inequalities: Any = sparse.csr_array(matrix)
        normalised: Any = sparse.csr_array(np.append(self.weight, np.zeros(slacks))[None, :])
        # ends: raises unless solved
        answer = linprog(
            np.append(self.cost * self.weight / self._unit_cost, np.zeros(slacks)),
            A_ub=inequalities,
            b_ub=right,
            A_eq=normalised,
            b_eq=np.ones(1),
            method="highs-ds",
            options={
                "primal_feasibility_tolerance": _TOLERANCE,
                "dual_feasibility_tolerance": _TOLERANCE,
            },
        )
        if answer.status != 0 or answer.x is None:
            message = (
                f"linear program of additive noise (epsilon={self.epsilon!r}, "
                f"delta={self.delta!r}, {self.cells} cells per unit): {answer.message}"
            )
            raise RuntimeError(message)
        masses = np.maximum(answer.x[:size], 0.0)
        masses[-1] = min(masses[-1], masses[-2])  # one cell of the lump
        multipliers = -answer.ineqlin.marginals[: rows.shape[0] + len(counts)] * self._unit_cost
        return masses, np.maximum(multipliers, 0.0)

    def _bound(self, rows: Any, counts: list[int], multipliers: Array) -> float:  # noqa: ANN401
        """Bound that feasible multipliers near the solver's prove."""
        y, paid = multipliers[: rows.shape[0]], 0.0
        if self.delta > 0.0:
            w = multipliers[rows.shape[0] :] / self.delta
            y = np.minimum(y, np.repeat(w, counts))
            paid = self.delta * math.fsum(w)
        value = self.cost * self.weight + rows.T @ y
        size = self.cost * self.weight + abs(rows).T @ y
        terms = np.diff(rows.tocsc().indptr)
        # Each sum of m terms is off by less than m + 4 units in the last place of its size.
        minimum = float(np.min((value - (terms + 4) * _UNIT * size) / self.weight))
        return minimum - paid - 8.0 * _UNIT * (abs(minimum) + paid)


def _stack(blocks: list[Any]) -> Any:  # noqa: ANN401
    from scipy import sparse  # noqa: PLC0415 - heavy and rarely needed

    return sparse.csr_array(sparse.vstack(blocks))


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
def scalar_certificate(epsilon: float, delta: float, *, order: int = 2) -> ScalarCertificate:
    """Certificate of a lower bound on V1, or on E|T| of order 1."""
    if delta == 0.0:
        return StaircaseVariance() if order == 2 else StaircaseMeanAbs()
    if epsilon > _LARGEST_EPSILON:
        return HalfUnitTail(order)
    group = max(1, math.floor(_SMALL_EPSILON / epsilon))
    # ends: halves an integer down to 1
    while group > 1 and group_budget(group, epsilon, delta)[1] > 0.1:
        group //= 2
    wide, spent = group_budget(group, epsilon, delta)
    spent = max(spent, _SMALLEST_DELTA)
    # Peaks of the density become narrow as epsilon grows.
    cells = min(1 + math.ceil(6.0 * wide), 12 if wide <= 4.0 else 30)
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
        return float(np.min(staircase_costs(self.change, epsilon, self.order))) * (1.0 - MARGIN)


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
    return max(0.0, value) * (1.0 - MARGIN)


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
