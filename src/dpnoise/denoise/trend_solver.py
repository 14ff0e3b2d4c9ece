"""Solver of graph trend filtering: a quadratic program, then linear systems on its active rows.

Clarabel's interior-point method solves, with slacks s in units c that balance the two terms,

    min 1/2 |b|^2 - y'b + (lambda / c) sum (s + c D b)  subject to  s >= 0,  s + 2 c D b >= 0,

where s + c D b = |c D b| at the optimum. Half of the bounds hold one variable each, so that the
factors are sparser than those of |c D b| <= z. The dual program in u, and forms of both with more
variables and sparser matrices, are as fast on a city of 4000 junctions, but lose digits where
lambda is large. Near the optimum |(D b)_i| and lambda - |u_i| have a small product, so that
comparing the two separates the active rows A, with D b != 0, from the rest. With A and the signs of
u on it known, the optimum solves the linear system

    b + D_R' u_R = y - D_A' (lambda sign u_A) - D_N' u_N,    D_R b = 0,

where R are linearly independent rows among the rest, and N those that depend on them. (For order 0
b is known at once, and the remaining part of u is spread over all of the rest.) Where a sign of D b
or a bound on u contradicts A, A is repaired and the system solved again; if nothing does, the
solution is the optimum to rounding.

The certificate is the dual gap, computed without cancellation. For P(b) = 1/2 |y - b|^2 +
lambda |D b|_1 and any dual |u| <= lambda, with r = y - D'u,

    P(b) - (1/2 |y|^2 - 1/2 |r|^2) = 1/2 |r - b|^2 + sum_i (lambda |(D b)_i| - u_i (D b)_i),

a sum of non-negative terms. The gap bounds P(b) - min P, and since P is strongly convex also
the distance to the optimum: 1/2 |b - b*|^2 <= gap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph, linalg

from dpnoise._imports import imports_of

with imports_of("denoise"):
    import clarabel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise.denoise.graph import Graph

    Flags = NDArray[np.bool_]

_TOLERANCE = 1e-10  # of the interior-point method: separates the active rows
_MOST = 0.75  # of the rows unknown: leaving out the others saves less than a prepared program
_REPAIRS = 12
_SETTLED = 1e-10  # dual gap that may be rounding
_ROUNDING = 1e-9  # contradictions up to this size count as rounding


class Optimum(NamedTuple):
    """Point b with a dual |u| <= lambda, and the active rows, where D b is not zero.

    `settled` says that the active rows were verified.
    """

    fitted: Array
    dual: Array
    active: Flags
    settled: bool


def solve(  # noqa: PLR0917
    graph: Graph,
    order: int,
    difference: sparse.csr_array,
    y: Array,
    penalty: float,
    program: TrendProgram | None = None,
) -> Optimum:
    """Optimum at a positive penalty, for data not all zero and D = `difference` of this order.

    A `program` of D saves time from its second use on.
    """
    rough = interior_point(difference, y, penalty, program)
    return polish(graph, order, difference, y, penalty, rough)


def interior_point(
    difference: sparse.csr_array, y: Array, penalty: float, program: TrendProgram | None = None
) -> Optimum:
    """Approximate optimum by Clarabel's interior-point method, not settled.

    The `program` is of all rows of D, and is used where most of them are unknown.
    """
    sign = certain_signs(difference, y, penalty)
    unknown = sign == 0.0
    if program is not None and np.mean(unknown) > _MOST:
        fitted, dual = program.solution(y, penalty)
    else:
        dual = penalty * sign
        fitted = y - difference.T @ dual
        rows = difference[unknown]
        nodes = np.unique(rows.indices)
        if nodes.size:
            rest = TrendProgram(rows[:, nodes])
            fitted[nodes], dual[unknown] = rest.solution(fitted[nodes], penalty)
    return Optimum(
        fitted, dual, np.abs(difference @ fitted) > penalty - np.abs(dual), settled=False
    )


def certain_signs(difference: sparse.csr_array, y: Array, penalty: float) -> Array:
    """Signs of the rows of D b that are known beforehand, or 0.

    No b_i is further from y_i than lambda times the sum of |D| over its column. A row of D y whose
    size exceeds what that can change keeps its sign, and with it u. What is known of u shifts y and
    leaves less to change, so that further signs may follow.
    """
    size = abs(difference)
    sign = np.zeros(difference.shape[0])
    # ends: at least one more sign each time
    while True:
        change = difference @ (y - penalty * (difference.T @ sign))
        reach = penalty * (size @ (size.T @ (sign == 0.0)))
        certain = (sign == 0.0) & (np.abs(change) > reach + _ROUNDING * (penalty + np.abs(change)))
        if not np.any(certain):
            return sign
        sign[certain] = np.sign(change[certain])


class TrendProgram:
    """Quadratic program of one D, for any data and penalty.

    The order of elimination is found once, for the first of them.
    """

    def __init__(self, difference: sparse.csr_array) -> None:
        self._difference = difference
        self._solver: clarabel.DefaultSolver | None = None

    def solution(self, y: Array, penalty: float) -> tuple[Array, Array]:
        """Approximate b and u of the interior-point method."""
        rows, n = self._difference.shape
        # y is scaled to the unit of the solver's absolute tolerances
        unit = float(np.max(np.abs(y))) or 1.0
        balance = np.sqrt(penalty / unit)
        slacks, scaled = sparse.eye_array(rows), balance * self._difference
        constraints = sparse.block_array([[None, -slacks], [-2.0 * scaled, -slacks]], format="csc")
        cost = np.full(rows, penalty / unit / balance)
        linear = np.concatenate([scaled.T @ cost - y / unit, cost])
        if self._solver is None:
            self._solver = self._prepared(linear, constraints)
        else:
            self._solver.update(q=linear, A=constraints)
        solution = self._solver.solve()
        multipliers = unit * balance * np.asarray(solution.z)
        dual = np.clip(multipliers[:rows] - multipliers[rows:], -penalty, penalty)
        return unit * np.asarray(solution.x)[:n], dual

    def _prepared(self, linear: Array, constraints: sparse.csc_array) -> clarabel.DefaultSolver:
        """Solver of the program, before its first use."""
        rows, n = self._difference.shape
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        settings.direct_solve_method = "qdldl"
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOLERANCE
        settings.presolve_enable = False  # no bound is infinite, and the data change
        settings.iterative_refinement_enable = False  # a third of the time, and polished later
        hessian = sparse.block_diag(
            [sparse.eye_array(n), sparse.csc_array((rows, rows))], format="csc"
        )
        cones = [clarabel.NonnegativeConeT(2 * rows)]
        limits = np.zeros(2 * rows)
        return clarabel.DefaultSolver(hessian, linear, constraints, limits, cones, settings)


def polish(  # noqa: PLR0917
    graph: Graph, order: int, difference: sparse.csr_array, y: Array, penalty: float, rough: Optimum
) -> Optimum:
    """Exact optimum whose active rows are those of `rough`, or near them.

    The one of smallest dual gap: settled, or `rough` itself, which `interior_point` found.
    """
    best = rough
    smallest = relative_gap(difference, y, penalty, rough.fitted, rough.dual)
    active, sign = rough.active, np.sign(rough.dual)
    slack = _ROUNDING * float(np.max(np.abs(y)))
    # ends: the duality gap is checked afterwards
    for _ in range(_REPAIRS):
        if order != 1:  # an edge whose ends the inactive edges connect has no change
            low, high = graph.components(~active)[1][graph.edges].T
            active = active & (low != high)
        given = np.where(active, penalty * sign, rough.dual)
        if order == 0:
            fitted, free = _solve_pieces(graph, y, active, given)
        else:
            fitted, free = _solve(graph, order, difference, y, active, given)
        dual, over = _within_bounds(graph, order, free, penalty)
        gap = relative_gap(difference, y, penalty, fitted, dual)
        wrong = active & ((difference @ fitted) * sign < -slack)
        over &= ~active
        settled = not (np.any(wrong) or np.any(over))
        # a settled optimum is exact to rounding, which may exceed the gap of the rough one
        if gap < (max(smallest, _SETTLED) if settled else smallest):
            best, smallest = Optimum(fitted, dual, active, settled), gap
        if settled:
            break
        active = (active & ~wrong) | over
        sign = np.where(over, np.sign(dual), sign)
    return best


def _solve_pieces(graph: Graph, y: Array, active: Flags, given: Array) -> tuple[Array, Array]:
    """Solution (b, u) of the linear system of order 0.

    b is the mean of y - D'u over each component without the active edges. Within the components u
    is the flow nearest to `given` that carries the remaining supply.
    """
    count, label = graph.components(~active)
    rest = y - graph.incidence.T @ given
    means = np.bincount(label, weights=rest) / np.bincount(label)
    rest -= means[label]
    if count < graph.nodes:
        inner = graph.incidence[~active]
        free = np.ones(graph.nodes, dtype=bool)
        free[np.unique(label, return_index=True)[1]] = False  # one node of each is grounded
        laplacian = sparse.csc_array(inner.T @ inner)[free][:, free]
        potential = np.zeros(graph.nodes)
        potential[free] = linalg.splu(laplacian).solve(rest[free])
        given = given.copy()
        given[~active] += inner @ potential
    return means[label], given


def _solve(  # noqa: PLR0917
    graph: Graph,
    order: int,
    difference: sparse.csr_array,
    y: Array,
    active: Flags,
    given: Array,
) -> tuple[Array, Array]:
    """Solution (b, u) of the linear system of the active rows.

    `given` is u on the active rows, and on those that depend on the rest.
    """
    independent = _independent_rows(graph, order, active)
    u = np.where(independent, 0.0, given)
    rows = difference[independent]
    n, r = graph.nodes, rows.shape[0]
    system = sparse.block_array([[sparse.eye_array(n), rows.T], [rows, None]], format="csc")
    factor = linalg.splu(system)  # COLAMD: other orderings filled up or lost digits
    target = np.concatenate([y - difference.T @ u, np.zeros(r)])
    point = factor.solve(target)
    point += factor.solve(target - system @ point)
    u[independent] = point[n:]
    return point[:n], u


def _within_bounds(graph: Graph, order: int, free: Array, penalty: float) -> tuple[Array, Flags]:
    """Dual within its bounds with the same D'u as `free`, and the rows where there is none.

    For order 2 the dual is a flow: D'u = L (D_1'u) depends on its net supply D_1'u alone. A bound
    that one flow exceeds may hold for another one of the same supply, which order 0 finds.
    """
    over = np.abs(free) > penalty * (1.0 + _ROUNDING)
    if order != 2 or not np.any(over):
        return np.clip(free, -penalty, penalty), over
    shift = graph.incidence.T @ free
    flow = solve(graph, 0, graph.incidence, shift, penalty)
    tolerance = _ROUNDING * float(np.max(np.abs(shift)))
    return flow.dual, np.abs(graph.incidence @ flow.fitted) > tolerance


def _independent_rows(graph: Graph, order: int, active: Flags) -> Flags:
    """Maximal set of linearly independent rows of D that are not active.

    Order 1: any proper subset of the Laplacian's rows is independent. Order 2: rows of D_1 L are
    independent where those of D_1 are, that is where they form a spanning forest.
    """
    if order == 1:
        chosen = ~active
        if not np.any(active):
            chosen[0] = False
        return chosen
    low, high = graph.edges[~active].T
    number = np.flatnonzero(~active) + 1
    matrix = sparse.csr_array((number, (low, high)), shape=(graph.nodes, graph.nodes))
    chosen = np.zeros(active.size, dtype=bool)
    chosen[csgraph.minimum_spanning_tree(matrix).data.astype(int) - 1] = True
    return chosen


def objective(difference: sparse.csr_array, y: Array, penalty: float, fitted: Array) -> float:
    """Objective P(b) of trend filtering, b = `fitted` and lambda = `penalty`."""
    variation = float(np.sum(np.abs(difference @ fitted)))
    return 0.5 * float(np.sum((y - fitted) ** 2)) + penalty * variation


def relative_gap(
    difference: sparse.csr_array, y: Array, penalty: float, fitted: Array, dual: Array
) -> float:
    """Dual gap relative to the objective, (P(b) - dual value) / P(b), u = `dual`.

    The data `y` come less their mean, which would enlarge P and so hide the gap. The gap is
    infinite where |u| <= lambda does not hold.
    """
    if not np.all(np.abs(dual) <= penalty):
        return np.inf
    change = difference @ fitted
    distance = 0.5 * float(np.sum((y - difference.T @ dual - fitted) ** 2))
    gap = distance + float(np.sum(penalty * np.abs(change) - dual * change))
    if gap == 0.0:
        return 0.0
    # terms that are zero in exact arithmetic enter with their rounding errors
    return gap / objective(difference, y, penalty, fitted) if np.isfinite(gap) else np.inf
