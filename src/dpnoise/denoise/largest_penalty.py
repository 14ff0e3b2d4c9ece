"""Penalties from which on trend filtering returns a constant signal.

The solution is the mean of y everywhere as soon as some dual u with |u| <= lambda has
D'u = y - mean: any such u proves that it is flat from |u|_inf on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from dpnoise._validation import Problems
from dpnoise.denoise._checks import check_order, node_signal

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.denoise.graph import Graph


def largest_penalty(graph: Graph, y: ArrayLike, *, order: int = 0) -> float:
    """Minimum penalty at which the trend-filtering solution is the mean of y everywhere.

    It is the minimum of |u|_inf over the u with D'u = y - mean. For order 0, where u is a flow, a
    linear program finds it. For order 1 u solves the Laplace equation up to a constant, and the
    best constant puts its midrange at 0. Order 2 is order 0 with that solution as data.

    Parameters
    ----------
    graph : Graph
    y : array_like of float, shape (n,)
        The noisy data, one number for each node.
    order : int
        0, 1 or 2.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `y` or `order` is not as required.
    ArithmeticError
        If the linear program was not solved.

    Examples
    --------
    >>> from dpnoise.denoise.graph import Graph
    >>> largest_penalty(Graph(2, [(0, 1)]), [4.0, 1.0])
    1.5
    """
    problems = Problems("trend filtering")
    signal = node_signal(problems, graph.nodes, y)
    check_order(problems, order)
    problems.raise_if_any()
    centred = signal - float(np.mean(signal))
    if order == 1:
        return flat_penalty(graph, centred, 1)[0]
    return _minimum_flow(graph, centred if order == 0 else _potential(graph, centred))


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
    grounded = linalg.splu(sparse.csc_array(graph.laplacian[1:, 1:]))
    potential = np.zeros(graph.nodes)
    for _ in range(2):  # the second solve refines the first
        potential[1:] += grounded.solve((supply - graph.laplacian @ potential)[1:])
    return potential - np.mean(potential)


def _minimum_flow(graph: Graph, supply: Array) -> float:
    """Minimum of |u|_inf over the flows u with D_1'u = supply."""
    from scipy.optimize import linprog  # noqa: PLC0415  # a tenth of a second

    edges = len(graph.edges)
    # u = t w, |w| <= 1: the largest share s = 1 / t of the supply that unit edges can carry
    scale = float(np.max(np.abs(supply)))
    if scale == 0.0:
        return 0.0
    demand = sparse.csc_array(-(supply / scale)[:, None])
    balance = sparse.hstack([graph.incidence.T, demand], format="csc")
    cost = np.append(np.zeros(edges), -1.0)
    bounds = [(-1.0, 1.0)] * edges + [(0.0, None)]
    answer = linprog(cost, A_eq=balance, b_eq=np.zeros(graph.nodes), bounds=bounds, method="highs")
    if not answer.success or answer.x is None:
        raise ArithmeticError(f"largest penalty: {answer.message}")
    return scale / float(answer.x[-1])
