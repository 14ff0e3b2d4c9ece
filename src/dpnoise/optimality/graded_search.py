"""Linear program for the test of `dpnoise.optimality.graded_test`.

The left side of the condition is linear in the values f_k at the nodes. The program asks for
left side >= c + eta R^2 at many R and takes the largest c - delta W; eta leaves room for what is
lost between these R. What is proved is decided by the certificate.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, diags, hstack, vstack
from scipy.special import betaincinv

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.optimality.graded_sphere import incoming, staying
from dpnoise.optimality.graded_test import GradedTest, gains
from dpnoise.optimality.scalar_floor import group_budget

if TYPE_CHECKING:
    from dpnoise._types import Array

_SMALL_EPSILON = 0.3  # below, shifts of several radii
_SMALLEST_DELTA = 1e-7  # looked at: tests for a larger one prove almost as much
_SLACK = 1e-3  # eta
_REACHED = 1e-3  # share of c below which the certificate may stay, for R near 0
_ROWS = 12  # values of R per node
_OFFSETS = 12
_NODES = 160
_ITERATIONS = 30_000  # of the solver, far more than usual; without a result there is no test
_SCALES = np.append(0.0, np.geomspace(1e-5, 0.3, 60))  # shares by which psi may be lowered


class _Grid(NamedTuple):
    """Where the test has its values."""

    K: int
    per_unit: int
    nodes: int
    offsets: Array


@lru_cache(maxsize=64)
def graded_test(dimension: int, epsilon: float, delta: float) -> GradedTest | None:
    """Certificate for the l2 ball of radius 1 in K >= 2 dimensions, or None."""
    delta = max(delta, _SMALLEST_DELTA)
    group = max(1, math.floor(_SMALL_EPSILON / epsilon))
    while group > 1 and group_budget(group, epsilon, delta)[1] > 0.05:
        group //= 2
    wide, spent = group_budget(group, epsilon, delta)
    grid = _grid(dimension, wide, spent)
    found = _program(grid, wide, spent)
    if found is None:
        return None
    values, c = found
    test = GradedTest(group, grid.per_unit, grid.offsets, values, c * (1.0 - _REACHED))
    return _lowered(test, dimension, wide, spent)


def _grid(K: int, epsilon: float, delta: float) -> _Grid:
    """A grid as far out as the best noise has mass that counts."""
    gaussian = float(gaussian_sigma(epsilon, delta))
    spread = min(math.sqrt(K + 1.0) / epsilon, gaussian)
    typical = spread * math.sqrt(K)
    reach = typical + min(math.log(1.0 / delta) / epsilon, 7.0 * gaussian) + 3.0
    per_unit = 2 ** min(max(math.floor(math.log2(_NODES / reach)), 1), 4)
    # Caps of a half down to a small share of the sphere of typical radius.
    rarest = 10.0 ** (-0.5 * (K + 3.0))
    many = _OFFSETS // 2
    wide = np.linspace(0.5, 0.1, many, endpoint=False)
    share = np.append(wide, np.geomspace(0.1, rarest, _OFFSETS - many))
    half = 0.5 * (K - 1)
    cap = 2.0 * betaincinv(half, half, share) * (1.0 + 0.5 / typical)
    outer = np.sqrt(np.maximum((typical + 1.0) ** 2 - 2.0 * typical * cap, typical**2))
    offsets = np.unique(np.clip(outer - typical, 0.0, 0.9999))
    return _Grid(K, per_unit, math.ceil(reach * per_unit), offsets)


def _program(grid: _Grid, epsilon: float, delta: float) -> tuple[Array, float] | None:
    """Values at the nodes and c, or None if the solver fails."""
    size, n = grid.offsets.size, grid.nodes
    count = n * size
    R = (np.arange((n + grid.per_unit) * _ROWS) + 0.5) / (grid.per_unit * _ROWS)
    left = _left_side(grid, R, math.exp(epsilon))
    heights = csr_matrix((np.ones(count), (np.arange(count) // size, np.arange(count))))
    # Left side >= c + eta R^2 - R^2, in like units; sum of the values at a node <= W.
    even = 1.0 / (R * R + np.mean(R) ** 2 / 4.0)
    at_radii = hstack([-left, csr_matrix((R.size, 1)), csr_matrix(np.ones((R.size, 1)))])
    at_radii = diags(even) @ at_radii
    at_nodes = hstack([heights, csr_matrix(-np.ones((n, 1))), csr_matrix((n, 1))])
    found = linprog(
        np.concatenate([np.zeros(count), [delta, -1.0]]),
        A_ub=vstack([at_radii, at_nodes]).tocsr(),
        b_ub=np.concatenate([even * (1.0 - _SLACK) * R * R, np.zeros(n)]),
        bounds=(0.0, None),
        method="highs-ipm",
        options={"maxiter": _ITERATIONS},
    )
    if found.x is None:
        return None
    values = np.maximum(found.x[:count], 0.0).reshape(n, size)
    return values, float(found.x[count + 1])


def _left_side(grid: _Grid, R: Array, growth: float) -> csr_matrix:
    """Matrix of the left side less R^2 at each R, by the values at all nodes."""
    size, n = grid.offsets.size, grid.nodes
    weights, first, _ = incoming(grid.K, R, grid.per_unit, grid.offsets)
    node = (first[:, None] + np.arange(weights.shape[2]))[:, None, :]
    stay = staying(grid.K, R, grid.offsets)
    j = np.floor(R * grid.per_unit)
    share = (((R * grid.per_unit) ** 2 - j * j) / (2.0 * j + 1.0))[:, None]
    parts = [(-growth * weights, node)]
    for at, part in ((j, 1.0 - share), (j + 1.0, share)):
        parts.append(((stay * part)[:, :, None], at.astype(int)[:, None, None]))
    value, column, row = [], [], []
    for part, at in parts:
        at = np.broadcast_to(at, part.shape)  # noqa: PLW2901
        keep = (at < n) & (part != 0.0)
        column.append((at * size + np.arange(size)[None, :, None])[keep])
        row.append(np.broadcast_to(np.arange(R.size)[:, None, None], part.shape)[keep])
        value.append(part[keep])
    places = (np.concatenate(row), np.concatenate(column))
    return csr_matrix((np.concatenate(value), places), shape=(R.size, n * size))


def _lowered(test: GradedTest, K: int, epsilon: float, delta: float) -> GradedTest:
    """The test times the factor at most 1 that proves most."""
    a, gain = gains(test, K, math.exp(epsilon), test.level)
    best, highest = test, -math.inf
    for scale in 1.0 / (1.0 + _SCALES):
        c = min(float(np.min(a * a + scale * gain)), (test.end + 1.0) ** 2)
        if c - delta * scale * test.height > highest:
            highest = c - delta * scale * test.height
            best = replace(test, values=scale * test.values, level=c * (1.0 - 1e-9))
    return best
