"""Linear program for the test function of `dpnoise.optimality.radial_test`.

The heights y_l at the nodes are found by the program's condition at a few radii between each pair
of nodes. What it proves is decided by the certificate, which checks all radii.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import betaincinv

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.optimality.radial_test import (
    RadialTest,
    first_coordinate_cdf,
    intervals,
    lower_values,
    shell_heights,
)
from dpnoise.optimality.scalar_floor import group_budget

if TYPE_CHECKING:
    from dpnoise._types import Array

_SMALL_EPSILON = 0.1  # below, shifts of several radii
_SMALLEST_DELTA = 1e-14  # looked at: tests for a larger one prove almost as much
_PRICE = 1e-5  # of a height times its probability
_POINTS = 3  # radii between two nodes at which the program asks for its condition


class Effort(NamedTuple):
    """Numbers of nodes, thresholds, shells per node, programs in a row; the widest shell."""

    nodes: int
    thresholds: int
    shells: int
    programs: int
    widest: float = 0.12


FAST, FINE = Effort(40, 8, 16, 2, 0.3), Effort(80, 14, 48, 4)


@lru_cache(maxsize=64)
def radial_test(
    dimension: int, epsilon: float, delta: float, effort: Effort = FAST
) -> RadialTest | None:
    """Certificate for the l2 ball of radius 1 in K >= 2 dimensions, or None."""
    delta = max(delta, _SMALLEST_DELTA)
    group = max(1, math.floor(_SMALL_EPSILON / epsilon))
    while group > 1 and group_budget(group, epsilon, delta)[1] > 0.05:
        group //= 2
    wide, spent = group_budget(group, epsilon, delta)
    radii, s = _grid(dimension, wide, spent, effort.nodes, effort.thresholds)
    empty = np.zeros((effort.nodes, effort.thresholds))
    # Heights change by e^epsilon per radius; shifts are 1.
    shells = max(effort.shells * math.ceil(wide), math.ceil(radii[1] / effort.widest))
    start = RadialTest(group, float(radii[1]), s, empty, shells)
    return _improved(dimension, wide, spent, start, effort.programs)


def _grid(K: int, epsilon: float, delta: float, nodes: int, thresholds: int) -> tuple[Array, Array]:
    """Nodes from 0 to beyond the bulk of the noise, and thresholds s_l by their probabilities."""
    gaussian = float(gaussian_sigma(epsilon, delta))
    spread = min(math.sqrt(K + 1.0) / epsilon, gaussian)
    tail = min(math.log(1.0 / delta) / epsilon, 4.5 * gaussian) + 2.0
    radii = np.linspace(0.0, spread * math.sqrt(K) + tail, nodes)
    # Angles below 0.1 shorten the shift by less than 0.005.
    cap = float(first_coordinate_cdf(K, np.array(-math.cos(0.1))))
    levels = np.geomspace(max(min(30.0 * delta, 0.01), min(cap, 0.2)), 0.45, thresholds)
    half = 0.5 * (K - 1)
    return radii, np.clip(1.0 - 2.0 * betaincinv(half, half, levels), 1e-3, 0.9999)


def _improved(
    K: int, epsilon: float, delta: float, start: RadialTest, programs: int
) -> RadialTest | None:
    """Certificate with heights by the program, asked again with the margins that the bound needs.

    Between the radii of the program the condition may fail by a little, mostly far out, where the
    noise has little mass and a margin costs almost nothing.
    """
    count, s = start.heights.shape[0], start.thresholds
    radii = np.asarray(start.spacing * np.arange(count), dtype=float)
    rows, r = _conditions(K, epsilon, radii, s)
    margin, best, highest = np.zeros(r.size), None, 0.0
    for _ in range(programs):
        heights = _solved(delta, first_coordinate_cdf(K, -s), rows, r**2 - margin)
        if heights is None:
            break
        edges, y = shell_heights(start.spacing, heights, start.shells)
        proved = lower_values(K, math.exp(epsilon), edges, y, s)
        value = float(np.min(proved)) - delta * float(np.max(np.sum(y, axis=1)))
        if value > highest:
            best, highest = replace(start, heights=heights), value
        # The program's value at each radius, less what is proved from there to the next one.
        found = r**2 + rows @ heights.ravel()
        lowest = np.full(r.size, math.inf)
        owner = np.clip(np.searchsorted(r, intervals(edges)[:-1], side="right") - 1, 0, None)
        np.minimum.at(lowest, owner, proved)
        short = np.where(np.isfinite(lowest), found - lowest, 0.0)
        margin = np.maximum(margin, np.maximum(short, np.append(0.0, short[:-1])))
    return best


def _solved(delta: float, probability: Array, rows: Array, right: Array) -> Array | None:
    """Heights at the nodes, shape (nodes, thresholds), or None where the solver gives up."""
    from scipy import sparse  # noqa: PLC0415 - heavy and rarely needed
    from scipy.optimize import linprog  # noqa: PLC0415

    count, unit, scale = rows.shape[1], min(1.0 / delta, 1e4), float(right[-1])
    n = count // probability.size
    # Unknown: heights in `unit`s, their largest sum W, and c; the condition of each r, then W.
    condition: Any = [sparse.csr_array(-unit * rows), None, np.ones((right.size, 1))]
    sums = sparse.kron(sparse.eye_array(n), np.ones((1, probability.size)))
    largest: Any = [sums, -np.ones((n, 1)), None]
    matrix: Any = sparse.csr_array(sparse.block_array([condition, largest]))
    # Heights that are not needed are avoided: they only cost accuracy of the certificate.
    cost = np.zeros(count + 2)
    cost[:count] = _PRICE * unit * np.tile(probability, n)
    cost[count:] = delta * unit, -1.0
    answer = linprog(
        cost,
        A_ub=matrix,
        b_ub=np.append(right, np.zeros(n)) / scale,
        bounds=[(0.0, None)] * (count + 1) + [(None, None)],
        method="highs-ds",
    )
    if answer.x is None:
        return None
    return np.maximum(answer.x[:count], 0.0).reshape(n, -1) * unit * scale


def _conditions(K: int, epsilon: float, radii: Array, s: Array) -> tuple[Array, Array]:
    """Rows E psi(r U) - e^epsilon E psi(r U + d) of each unit height, and the radii r."""
    n = radii.size
    shells = min(max(2, math.ceil(16 * (radii[1] - radii[0]))), 32)
    edges, hats = shell_heights(float(radii[1]), np.eye(n), shells)  # each node's hat on the shells
    all_radii = intervals(edges)
    middle = 0.5 * (all_radii[:-1] + all_radii[1:])
    index = np.arange(middle.size)
    step = max(1, shells // _POINTS)
    r = np.append(1e-9, middle[(index % step == step // 2) | (middle < 4.0)])
    hat = np.zeros((r.size, n))
    within = r < radii[-1]
    places = np.searchsorted(edges, r[within], side="right") - 1
    hat[within] = hats[places]
    inside = first_coordinate_cdf(K, (1.0 - s**2) / (2.0 * r[:, None]) - s)
    first = hat[:, :, None] * inside[:, None, :]
    below = first_coordinate_cdf(K, 0.5 * (edges**2 - 1.0) / r[:, None] - 0.5 * r[:, None])
    cut = first_coordinate_cdf(K, -s - (1.0 - s**2) / (2.0 * r[:, None]))
    second = [np.diff(np.minimum(below, c[:, None]), axis=1) @ hats for c in cut.T]
    rows = first - math.exp(epsilon) * np.stack(second, axis=2)
    rows[:, -1] = 0.0  # the last node's height does not count
    rows[np.abs(rows) < 1e-13] = 0.0
    return rows.reshape(r.size, -1), r
