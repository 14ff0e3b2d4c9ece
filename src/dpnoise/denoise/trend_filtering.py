"""Trend filtering on graphs (Wang, Sharpnack, Smola & Tibshirani, JMLR 17, 2016).

    minimise  1/2 |y - b|^2 + lambda |D_{k+1} b|_1

with D_1 the incidence matrix of the graph, D_2 = D_1' D_1 its Laplacian and D_3 = D_1 D_2. Order
k = 0 favours signals that are constant on large parts of the graph, k = 1 and 2 such that change
linearly or quadratically. An interior-point method solves all three, and its answer is made
exact. Every solution carries its dual and is refused if its dual gap exceeds 1e-8 of the
objective.

The degrees of freedom are those of the generalised lasso (Tibshirani & Taylor, Annals of
Statistics 40, 2012): the nullity of D without the rows A where D b is not zero. For order 1 these
are the functions that are harmonic off the nodes A, of dimension |A|, or 1 if there are none; for
order 2 the functions whose Laplacian is constant on the parts into which the graph falls without
the edges A, of as many dimensions as parts; for order 0 those that are constant on each part.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from dpnoise._validation import Problems
from dpnoise.denoise.duality import objective, relative_gap
from dpnoise.denoise.graph import LARGEST, node_values
from dpnoise.denoise.trend_program import Optimum, solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.denoise.graph import Graph

ORDERS = (0, 1, 2)
LARGEST_GAP = 1e-8


@dataclass(frozen=True, eq=False)
class TrendFit:
    """A solution with its certificate.

    Attributes
    ----------
    penalty : float
        lambda.
    order : int
        k.
    fitted : numpy.ndarray, shape (n,)
        b.
    dual : numpy.ndarray, shape (rows of D,)
        |u| <= lambda; y - D'u is the exact optimum if u is.
    degrees_of_freedom : int
        The nullity of D without the rows where D b is not zero.
    settled : bool
        Whether these rows were verified: they alone reproduce the solution, and no sign or bound
        contradicts them. Otherwise the gap holds all the same, but rows whose D b is within the
        error bound may be miscounted.
    gap : float
        The dual gap divided by the objective, at most 1e-8.
    objective : float
        1/2 |y - b|^2 + lambda |D b|_1.
    residual : float
        |y - b|^2.
    """

    penalty: float
    order: int
    fitted: Array = field(repr=False)
    dual: Array = field(repr=False)
    degrees_of_freedom: int
    settled: bool
    gap: float
    objective: float
    residual: float

    @property
    def error_bound(self) -> float:
        """No less than the Euclidean distance of `fitted` to the exact optimum."""
        return float(np.sqrt(2.0 * self.gap * self.objective))

    def sure(self, sigma: float) -> float:
        """Return Stein's unbiased estimate of E |b - E y|^2 under noise N(0, sigma^2 I)."""
        excess = 2 * self.degrees_of_freedom - self.fitted.size
        return self.residual + sigma * sigma * excess


def difference_operator(graph: Graph, order: int) -> sparse.csr_array:
    """Return D_{order + 1}, shape (m, n) for even orders and (n, n) for order 1.

    Raises
    ------
    ValueError
        If `order` is not 0, 1 or 2.
    """
    problems = Problems("trend filtering")
    check_order(problems, order)
    problems.raise_if_any()
    if order == 0:
        return graph.incidence
    if order == 1:
        return graph.laplacian
    return sparse.csr_array(graph.incidence @ graph.laplacian)


def largest_penalty(graph: Graph, y: ArrayLike, *, order: int = 0) -> float:
    """Return the least lambda for which the solution is the mean of y everywhere.

    It is the least |u|_inf with D'u = y - mean. For order 0, a flow, a linear program finds it.
    For order 1 u is a solution of the Laplace equation up to a constant, which its midrange makes
    best; order 2 is order 0 for that solution as data.

    Parameters
    ----------
    graph : Graph
    y : array_like of float, shape (n,)
    order : int
        0, 1 or 2.

    Raises
    ------
    ValueError
        If `y` or `order` is not as required.
    """
    centred, _ = _checked(graph, y, [], order)
    if order == 1:
        return flat_from(graph, centred, 1)[0]
    return _least_flow(graph, centred if order == 0 else _potential(graph, centred))


def trend_filter(graph: Graph, y: ArrayLike, penalty: float, *, order: int = 0) -> TrendFit:
    """Return the trend-filtering solution at one penalty.

    Parameters
    ----------
    graph : Graph
    y : array_like of float, shape (n,)
        The noisy data, one number for each node.
    penalty : float
        lambda, non-negative.
    order : int
        0, 1 or 2.

    Raises
    ------
    ValueError
        If an argument is not as required.
    ArithmeticError
        If the dual gap of the solution exceeds 1e-8 of the objective.
    """
    return trend_path(graph, y, [penalty], order=order)[0]


def trend_path(
    graph: Graph, y: ArrayLike, penalties: Sequence[float], *, order: int = 0
) -> list[TrendFit]:
    """Return the solutions at several penalties, in the order given.

    Parameters and errors are those of `trend_filter`.
    """
    centred, mean = _checked(graph, y, penalties, order)
    difference = difference_operator(graph, order)
    limit, beyond = flat_from(graph, centred, order)
    rows = difference.shape[0]
    fits: dict[float, TrendFit] = {}
    for penalty in {float(p) for p in penalties}:
        if penalty == 0.0:
            optimum = Optimum(centred, np.zeros(rows), np.ones(rows, dtype=bool), settled=True)
        elif penalty >= limit:
            flat = np.zeros(rows, dtype=bool)
            optimum = Optimum(np.zeros(graph.nodes), beyond, flat, settled=True)
        else:
            optimum = solve(graph, order, difference, centred, penalty)
        fits[penalty] = _certified(graph, order, difference, centred, mean, penalty, optimum)
    return [fits[float(p)] for p in penalties]


def _certified(  # noqa: PLR0917
    graph: Graph,
    order: int,
    difference: sparse.csr_array,
    centred: Array,
    mean: float,
    penalty: float,
    optimum: Optimum,
) -> TrendFit:
    """Return the solution for data `centred` + `mean`, or refuse it."""
    gap = relative_gap(difference, centred, penalty, optimum.fitted, optimum.dual)
    if not gap <= LARGEST_GAP:
        message = (
            f"trend filtering: relative dual gap {gap:.2g} exceeds {LARGEST_GAP:g} "
            f"at order={order!r}, penalty={penalty!r}"
        )
        raise ArithmeticError(message)
    active = optimum.active
    harmonic = max(int(np.count_nonzero(active)), 1)
    freedom = harmonic if order == 1 else graph.components(~active)[0]
    return TrendFit(
        penalty=penalty,
        order=order,
        fitted=optimum.fitted + mean,
        dual=optimum.dual,
        degrees_of_freedom=freedom,
        settled=optimum.settled,
        gap=gap,
        objective=objective(difference, centred, penalty, optimum.fitted),
        residual=float(np.sum((centred - optimum.fitted) ** 2)),
    )


def flat_from(graph: Graph, centred: Array, order: int) -> tuple[float, Array]:
    """Return a penalty from which on the solution is flat, and a dual that proves it.

    For order 1 the least such penalty; for the others the largest flow of the potential flow,
    which is no less than that of the best one.
    """
    potential = _potential(graph, centred)
    if order == 1:
        potential -= 0.5 * (np.max(potential) + np.min(potential))
        return float(np.max(np.abs(potential))), potential
    if order == 2:
        potential = _potential(graph, potential)
    flow = graph.incidence @ potential
    return float(np.max(np.abs(flow), initial=0.0)), flow


def _potential(graph: Graph, supply: Array) -> Array:
    """Return the solution of L v = supply, for a supply that sums to 0; so does v."""
    grounded = linalg.splu(sparse.csc_array(graph.laplacian[1:, 1:]))
    potential = np.zeros(graph.nodes)
    for _ in range(2):  # once more for what rounding left
        potential[1:] += grounded.solve((supply - graph.laplacian @ potential)[1:])
    return potential - np.mean(potential)


def _least_flow(graph: Graph, supply: Array) -> float:
    """Return the least |u|_inf over the flows with D_1'u = supply."""
    from scipy.optimize import linprog  # noqa: PLC0415  # a tenth of a second

    edges = len(graph.edges)
    # u = t w, |w| <= 1: the largest share s = 1 / t of the supply that unit edges can carry
    scale = float(np.max(np.abs(supply)))
    if scale == 0.0:
        return 0.0
    balance = sparse.hstack([graph.incidence.T, -(supply / scale)[:, None]], format="csc")
    cost = np.append(np.zeros(edges), -1.0)
    bounds = [(-1.0, 1.0)] * edges + [(0.0, None)]
    answer = linprog(cost, A_eq=balance, b_eq=np.zeros(graph.nodes), bounds=bounds, method="highs")
    if not answer.success:
        raise ArithmeticError(f"largest penalty: {answer.message}")
    return scale / float(answer.x[-1])


def _checked(
    graph: Graph, y: ArrayLike, penalties: Sequence[float], order: int
) -> tuple[Array, float]:
    """Return the data less their mean, and the mean, or refuse all that is wrong."""
    problems = Problems("trend filtering")
    array = one_map(problems, graph, y)
    for penalty in penalties:
        problems.number("penalty", penalty, low=0.0, high=LARGEST)
    check_order(problems, order)
    problems.raise_if_any()
    mean = float(np.mean(array))
    return array - mean, mean


def one_map(problems: Problems, graph: Graph, y: ArrayLike) -> Array:
    """Return the data, shape (n,), or record what is wrong with them."""
    array = node_values(problems, graph.nodes, y)
    if array.ndim > 1:
        problems.add(f"y: expected shape ({graph.nodes},), got {array.shape}")
    return array


def check_order(problems: Problems, order: int) -> None:
    """Record a problem unless the order is 0, 1 or 2."""
    good = isinstance(order, int | np.integer) and not isinstance(order, bool) and order in ORDERS
    problems.require(good, "order", "0, 1 or 2", order)
