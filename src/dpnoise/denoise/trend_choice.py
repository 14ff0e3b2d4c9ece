"""The penalty of trend filtering by Stein's unbiased risk estimate.

SURE(lambda) = |y - b|^2 - n sigma^2 + 2 sigma^2 df(b) estimates the risk E |b - E y|^2 from the
noisy data alone, so that a choice by it costs no privacy. It is found on a geometric grid of
penalties, refined around the least value.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise._validation import Problems
from dpnoise.denoise.graph import LARGEST
from dpnoise.denoise.trend_filtering import (
    TrendFit,
    check_order,
    difference_operator,
    flat_from,
    one_map,
    trend_path,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array
    from dpnoise.denoise.graph import Graph

_COARSE = 3.0  # greatest ratio of neighbouring penalties, before the refinements
_REFINEMENTS = 2


class TrendChoice(NamedTuple):
    """The fit of least estimated risk, and the whole curve that it was chosen from."""

    fit: TrendFit
    penalties: Array  # increasing
    sure: Array  # estimated risk, summed over the nodes, at each penalty
    degrees_of_freedom: NDArray[np.int64]


def choose_by_sure(
    graph: Graph,
    y: ArrayLike,
    sigma: float,
    *,
    order: int = 0,
    penalties: Sequence[float] | None = None,
) -> TrendChoice:
    """Return the trend-filtering solution of least SURE.

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
        sigma / 10 to where the solution is flat, refined around the best.

    Raises
    ------
    ValueError
        If an argument is not as required.
    ArithmeticError
        If a solution could not be certified.
    """
    problems = Problems("choice of penalty")
    one_map(problems, graph, y)
    check_order(problems, order)
    problems.number("sigma", sigma, low=0.0, high=LARGEST, open_low=True)
    if penalties is not None:
        problems.require(len(penalties) > 0, "penalties", "at least one", penalties)
    problems.raise_if_any()
    if penalties is not None:
        fits = {fit.penalty: fit for fit in trend_path(graph, y, penalties, order=order)}
        return _choice(fits, sigma)
    # a datum moves by (D'u)_i, at most lambda times a column sum of |D|
    columns = np.abs(difference_operator(graph, order)).sum(axis=0)
    least = 0.1 * sigma / float(np.max(columns))
    centred = np.asarray(y, dtype=float) - np.mean(y)
    largest = max(flat_from(graph, centred, order)[0], least)
    count = 1 + max(int(np.ceil(np.log(largest / least) / np.log(_COARSE))), 1)
    grid = np.geomspace(largest, least, count)
    fits = {fit.penalty: fit for fit in trend_path(graph, y, grid, order=order)}
    for _ in range(_REFINEMENTS):
        tried = sorted(fits)
        at = tried.index(_choice(fits, sigma).fit.penalty)
        between = pairwise(tried[max(at - 1, 0) : at + 2])
        fresh = [float(np.sqrt(low * high)) for low, high in between]
        fits |= {fit.penalty: fit for fit in trend_path(graph, y, fresh, order=order)}
    return _choice(fits, sigma)


def _choice(fits: dict[float, TrendFit], sigma: float) -> TrendChoice:
    """Return the best of some fits; of equal ones, that with the larger penalty."""
    ordered = [fits[penalty] for penalty in sorted(fits)]
    sure = np.array([fit.sure(sigma) for fit in ordered])
    best = len(sure) - 1 - int(np.argmin(sure[::-1]))
    return TrendChoice(
        ordered[best],
        np.array([fit.penalty for fit in ordered]),
        sure,
        np.array([fit.degrees_of_freedom for fit in ordered]),
    )
