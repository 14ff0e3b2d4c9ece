"""Penalty of trend filtering by Stein's unbiased risk estimate (SURE).

SURE(lambda) = |y - b|^2 - n sigma^2 + 2 sigma^2 df(b) estimates the risk E |b - E y|^2 from the
noisy data alone, so that a choice by it costs no privacy. Its minimum is sought on a geometric grid
of penalties, refined around the best one. The grid is gone through from its smallest penalty: the
residual |y - b|^2 never falls as lambda grows and df is at least 1, which bounds SURE from below at
all larger penalties, and the grid ends where that bound exceeds what was found.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise._validation import Problems
from dpnoise.denoise._checks import check_order, node_signal, standard_deviation
from dpnoise.denoise.trend_filtering import Trend, TrendFit, difference_operator, trend_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array
    from dpnoise.denoise.graph import Graph

_COARSE = 3.0  # maximum ratio of neighbouring penalties, before the refinements
_REFINEMENTS = 2


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
    penalties: Sequence[float] | None = None,
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
    penalties : sequence of float, optional
        What to choose from. By default a grid from where no datum moves by more than
        sigma / 10 to where the solution is flat, without penalties so large that their
        residual alone loses, refined around the best.

    Returns
    -------
    TrendChoice

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
    check_order(problems, order)
    standard_deviation(problems, sigma)
    if penalties is not None:
        problems.require(len(penalties) > 0, "penalties", "at least one", penalties)
    problems.raise_if_any()
    if penalties is not None:
        given = {fit.penalty: fit for fit in trend_path(graph, y, penalties, order=order)}
        return _choice(given, sigma)
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
