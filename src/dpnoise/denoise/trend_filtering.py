"""Trend filtering on graphs (Wang, Sharpnack, Smola & Tibshirani, JMLR 17, 2016).

    minimise  1/2 |y - b|^2 + lambda |D_{k+1} b|_1

with D_1 the incidence matrix of the graph, D_2 = D_1' D_1 its Laplacian and D_3 = D_1 D_2. Order
k = 0 favours signals that are constant on large parts of the graph, k = 1 and 2 signals that change
linearly or quadratically. An interior-point method solves all three, and linear systems on the
active rows make its answer exact. Every solution carries its dual and is refused if its dual gap
exceeds 1e-8 of the objective.

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

from dpnoise._validation import Problems
from dpnoise.denoise._checks import LARGEST, check_order, node_signal
from dpnoise.denoise.dual_gap import objective, relative_gap
from dpnoise.denoise.largest_penalty import flat_penalty
from dpnoise.denoise.trend_solver import Optimum, Program, solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.denoise.graph import Graph

LARGEST_GAP = 1e-8


@dataclass(frozen=True, eq=False)
class TrendFit:
    """Trend-filtering solution with its certificate.

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
        """Upper bound on the Euclidean distance of `fitted` to the exact optimum."""
        return float(np.sqrt(2.0 * self.gap * self.objective))

    def sure(self, sigma: float) -> float:
        """Stein's unbiased estimate of E |b - E y|^2 under noise N(0, sigma^2 I)."""
        excess = 2 * self.degrees_of_freedom - self.fitted.size
        return self.residual + sigma * sigma * excess


def difference_operator(graph: Graph, order: int) -> sparse.csr_array:
    """Difference operator D_{order + 1}, shape (m, n) for even orders and (n, n) for order 1."""
    problems = Problems("trend filtering")
    check_order(problems, order)
    problems.raise_if_any()
    if order == 0:
        return graph.incidence
    if order == 1:
        return graph.laplacian
    return sparse.csr_array(graph.incidence @ graph.laplacian)


def trend_filter(graph: Graph, y: ArrayLike, penalty: float, *, order: int = 0) -> TrendFit:
    """Trend-filtering solution at one penalty.

    Parameters
    ----------
    graph : Graph
    y : array_like of float, shape (n,)
        The noisy data, one number for each node.
    penalty : float
        lambda, non-negative.
    order : int
        0, 1 or 2.

    Returns
    -------
    TrendFit

    Raises
    ------
    ValueError
        If an argument is not as required.
    ArithmeticError
        If the dual gap of the solution exceeds 1e-8 of the objective.

    References
    ----------
    Wang, Sharpnack, Smola & Tibshirani, "Trend filtering on graphs", JMLR 17, 2016.

    Examples
    --------
    >>> from dpnoise.denoise.graph import Graph
    >>> trend_filter(Graph(2, [(0, 1)]), [4.0, 1.0], 0.5).fitted.round(9)
    array([3.5, 1.5])
    """
    return trend_path(graph, y, [penalty], order=order)[0]


def trend_path(
    graph: Graph, y: ArrayLike, penalties: Sequence[float] | Array, *, order: int = 0
) -> list[TrendFit]:
    """Trend-filtering solutions at several penalties, in the order given.

    Parameters
    ----------
    graph, y
        As for `trend_filter`, which raises the same errors.
    penalties : sequence of float
        Non-negative.
    order : int
        0, 1 or 2.

    Returns
    -------
    list of TrendFit

    Examples
    --------
    >>> from dpnoise.denoise.graph import Graph
    >>> path = trend_path(Graph(2, [(0, 1)]), [4.0, 1.0], [0.0, 2.0])
    >>> [fit.degrees_of_freedom for fit in path]
    [2, 1]
    """
    problems = Problems("trend filtering")
    signal = node_signal(problems, graph.nodes, y)
    for penalty in penalties:
        problems.number("penalty", penalty, low=0.0, high=LARGEST)
    check_order(problems, order)
    problems.raise_if_any()
    trend = Trend(graph, signal, order)
    fits = {penalty: trend.fit(penalty) for penalty in {float(p) for p in penalties}}
    return [fits[float(p)] for p in penalties]


class Trend:
    """Trend filtering of one signal, checked, at any penalty.

    Attributes
    ----------
    flat : float
        A penalty from which on the solution is constant.
    """

    def __init__(self, graph: Graph, signal: Array, order: int) -> None:
        self._graph, self._order = graph, order
        self._mean = float(np.mean(signal))
        self._centred = signal - self._mean
        self._difference = difference_operator(graph, order)
        self._program = Program(self._difference)
        self.flat, self._flat_dual = flat_penalty(graph, self._centred, order)

    def fit(self, penalty: float) -> TrendFit:
        """Solution at a penalty, finite and non-negative; ArithmeticError as for `trend_filter`."""
        rows, nodes = self._difference.shape
        if penalty == 0.0:
            every = np.ones(rows, dtype=bool)
            optimum = Optimum(self._centred, np.zeros(rows), every, settled=True)
        elif penalty >= self.flat:
            none = np.zeros(rows, dtype=bool)
            optimum = Optimum(np.zeros(nodes), self._flat_dual, none, settled=True)
        else:
            given = self._graph, self._order, self._difference, self._centred
            optimum = solve(*given, penalty, self._program)
        return _certified(
            self._graph,
            self._order,
            self._difference,
            self._centred,
            self._mean,
            penalty,
            optimum,
        )


def _certified(  # noqa: PLR0917
    graph: Graph,
    order: int,
    difference: sparse.csr_array,
    centred: Array,
    mean: float,
    penalty: float,
    optimum: Optimum,
) -> TrendFit:
    """Solution for data `centred` + `mean`, refused if its dual gap is too large."""
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
