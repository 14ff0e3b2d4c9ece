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

The penalty is chosen by Stein's unbiased risk estimate (SURE),

    SURE(lambda) = |y - b|^2 - n sigma^2 + 2 sigma^2 df(b),

which estimates the risk E |b - E y|^2 from the noisy data alone, so that the choice costs no
privacy. Its minimum is sought on a geometric grid of penalties, refined around the best one. The
grid is gone through from its smallest penalty: the residual |y - b|^2 never falls as lambda grows
and df is at least 1, which bounds SURE from below at all larger penalties, and the grid ends where
that bound exceeds what was found.

The solution is the mean of y everywhere as soon as some dual u with |u| <= lambda has
D'u = y - mean: any such u proves that it is flat from |u|_inf on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from dpnoise._validation import Problems, is_integer
from dpnoise.denoise.graph import node_signal
from dpnoise.denoise.shrinkage import LARGEST, standard_deviation
from dpnoise.denoise.trend_solver import Optimum, TrendProgram, objective, relative_gap, solve

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array
    from dpnoise.denoise.graph import Graph

LARGEST_GAP = 1e-8
_COARSE = 3.0  # maximum ratio of neighbouring penalties, before the refinements
_REFINEMENTS = 2


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


def _check_order(problems: Problems, order: int) -> None:
    """Record a problem unless the order of trend filtering is 0, 1 or 2."""
    problems.require(is_integer(order) and order in (0, 1, 2), "order", "0, 1 or 2", order)


def difference_operator(graph: Graph, order: int) -> sparse.csr_array:
    """Difference operator D_{order + 1}, shape (m, n) for even orders and (n, n) for order 1."""
    problems = Problems("trend filtering")
    _check_order(problems, order)
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
    problems = Problems("trend filtering")
    signal = node_signal(problems, graph.nodes, y)
    problems.number("penalty", penalty, low=0.0, high=LARGEST)
    _check_order(problems, order)
    problems.raise_if_any()
    return Trend(graph, signal, order).fit(float(penalty))


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
        self._program = TrendProgram(self._difference)
        self.flat, self._flat_dual = flat_penalty(graph, self._centred, order)

    def fit(self, penalty: float) -> TrendFit:
        """Solution at a penalty, finite and non-negative; ArithmeticError as for `trend_filter`."""
        order, difference, centred = self._order, self._difference, self._centred
        rows, nodes = difference.shape
        if penalty == 0.0:
            every = np.ones(rows, dtype=bool)
            optimum = Optimum(centred, np.zeros(rows), every, settled=True)
        elif penalty >= self.flat:
            none = np.zeros(rows, dtype=bool)
            optimum = Optimum(np.zeros(nodes), self._flat_dual, none, settled=True)
        else:
            optimum = solve(self._graph, order, difference, centred, penalty, self._program)
        gap = relative_gap(difference, centred, penalty, optimum.fitted, optimum.dual)
        if not gap <= LARGEST_GAP:
            message = (
                f"trend filtering: relative dual gap {gap:.2g} exceeds {LARGEST_GAP:g} "
                f"at order={order!r}, penalty={penalty!r}"
            )
            raise ArithmeticError(message)
        harmonic = max(int(np.count_nonzero(optimum.active)), 1)
        freedom = harmonic if order == 1 else self._graph.components(~optimum.active)[0]
        return TrendFit(
            penalty=penalty,
            order=order,
            fitted=optimum.fitted + self._mean,
            dual=optimum.dual,
            degrees_of_freedom=freedom,
            settled=optimum.settled,
            gap=gap,
            objective=objective(difference, centred, penalty, optimum.fitted),
            residual=float(np.sum((centred - optimum.fitted) ** 2)),
        )


class TrendChoice(NamedTuple):
    """Fit of minimum SURE, and the curve that it was chosen from.

    `penalties` increase; `sure` is the estimated risk at each of them, summed over the nodes.
    """

    fit: TrendFit
    penalties: Array
    sure: Array
    degrees_of_freedom: NDArray[np.int64]


def choose_by_sure(
    graph: Graph,
    y: ArrayLike,
    sigma: float,
    *,
    order: int = 0,
) -> TrendChoice:
    """Trend-filtering solution of minimum SURE.

    Parameters
    ----------
    graph : Graph
    y : array_like of float, shape (n,)
        Data with independent N(0, sigma^2) noise.
    sigma : float
        Positive.
    order : int
        0, 1 or 2.

    Returns
    -------
    TrendChoice
        From a grid of penalties from where no datum moves by more than sigma / 10 to where the
        solution is flat, without penalties so large that their residual alone loses, refined
        around the best.

    Raises
    ------
    ValueError
        If an argument is not as required.
    ArithmeticError
        If a solution could not be certified.

    References
    ----------
    Tibshirani & Taylor, "Degrees of freedom in lasso problems", Annals of Statistics 40, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from dpnoise.denoise.graph import Graph
    >>> path = Graph(8, [(i, i + 1) for i in range(7)])
    >>> choice = choose_by_sure(path, [0.1, -0.2, 0.3, 0.0, 9.1, 8.8, 9.2, 9.0], 0.3)
    >>> choice.fit.degrees_of_freedom
    2
    """
    problems = Problems("choice of penalty")
    signal = node_signal(problems, graph.nodes, y)
    _check_order(problems, order)
    standard_deviation(problems, sigma)
    problems.raise_if_any()
    # a datum moves by (D'u)_i, at most lambda times a column sum of |D|
    columns = abs(difference_operator(graph, order)).sum(axis=0)
    smallest = 0.1 * sigma / float(np.max(columns))
    trend = Trend(graph, signal, order)
    largest = max(trend.flat, smallest)
    count = 1 + max(int(np.ceil(np.log(largest / smallest) / np.log(_COARSE))), 1)
    fits: dict[float, TrendFit] = {}
    for penalty in np.geomspace(largest, smallest, count)[::-1].tolist():
        fits[penalty] = trend.fit(penalty)
        if _loses_from_here(fits[penalty], sigma, float(_choice(fits, sigma).sure.min())):
            break
    # ends: more penalties to choose from
    for _ in range(_REFINEMENTS):
        tried = sorted(fits)
        at = tried.index(_choice(fits, sigma).fit.penalty)
        between = pairwise(tried[max(at - 1, 0) : at + 2])
        fresh = [float(np.sqrt(low * high)) for low, high in between]
        fits |= {penalty: trend.fit(penalty) for penalty in fresh}
    return _choice(fits, sigma)


def _loses_from_here(fit: TrendFit, sigma: float, best: float) -> bool:
    """Whether SURE exceeds `best` at the penalty of a fit and all larger ones.

    Their residuals are at least that of the fit, and their degrees of freedom at least 1. Twice the
    error bound allows for rounding.
    """
    distance = max(np.sqrt(fit.residual) - 2.0 * fit.error_bound, 0.0)
    return bool(distance**2 + sigma * sigma * (2 - fit.fitted.size) > best)


def _choice(fits: dict[float, TrendFit], sigma: float) -> TrendChoice:
    """Fit of minimum SURE among some; of equal ones, that with the larger penalty."""
    ordered = [fits[penalty] for penalty in sorted(fits)]
    sure = np.array([fit.sure(sigma) for fit in ordered])
    best = len(sure) - 1 - int(np.argmin(sure[::-1]))
    return TrendChoice(
        ordered[best],
        np.array([fit.penalty for fit in ordered]),
        sure,
        np.array([fit.degrees_of_freedom for fit in ordered]),
    )


def flat_penalty(graph: Graph, centred: Array, order: int) -> tuple[float, Array]:
    """Penalty from which on the solution is flat for data of mean 0, and a dual u that proves it.

    D'u = `centred` and |u| <= penalty. For order 1 it is the minimum; for the others the maximum of
    the potential flow, at least that of the best flow.
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
    """Solution v of mean 0 of L v = supply, for a supply of sum 0."""
    potential = np.zeros(graph.nodes)
    # ends: one refinement; the dual gap is checked
    for _ in range(2):  # the second solve refines the first
        potential[1:] += graph.grounded.solve((supply - graph.laplacian @ potential)[1:])
    return potential - np.mean(potential)
