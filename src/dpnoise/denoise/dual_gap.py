"""Dual gap of a trend-filtering solution, its certificate, computed without cancellation.

For P(b) = 1/2 |y - b|^2 + lambda |D b|_1 and any dual |u| <= lambda, with r = y - D'u,

    P(b) - (1/2 |y|^2 - 1/2 |r|^2) = 1/2 |r - b|^2 + sum_i (lambda |(D b)_i| - u_i (D b)_i),

a sum of non-negative terms. The gap bounds P(b) - min P, and since P is strongly convex also
the distance to the optimum: 1/2 |b - b*|^2 <= gap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy import sparse

    from dpnoise._types import Array


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
