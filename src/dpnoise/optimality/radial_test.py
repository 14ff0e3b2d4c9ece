"""Lower bound on the variance of (epsilon, delta)-DP noise for the l2 ball, from radial tests.

Averaging over rotations makes the noise T radial. For a shift d of length 1 and a function
0 <= psi <= W, E psi(T) <= e^epsilon E psi(T + d) + delta W. So if for all r >= 0, with U uniform on
the unit sphere,

    r^2 + E psi(r U) - e^epsilon E psi(r U + d) >= c,

then E |T|^2 >= c - delta W (docs/floor.md, section 6). Here

    psi(x) = sum_l y_l(|x|) [|x - d| - |x| > s_l],  0 < s_l < 1,  y_l >= 0,

with y_l constant on shells. With F the distribution function of the first coordinate of U,

    E psi(r U) = sum_l y_l(r) F(-s_l + (1 - s_l^2) / (2 r)),
    E psi(r U + d) = sum_l E y_l(R) [R < r - s_l],  R = |r U + d|,
    P(R < b) = F((b^2 - 1) / (2 r) - r / 2).

Intervals [a, b] of r, as wide as a shell, cover all r: on each the left side is bounded below on
the whole, not at points. -s_l + (1 - s_l^2) / (2 r) falls with r. At a fixed U, |r U + d| moves by
at most b - a, that is to a neighbouring shell, and R < r - s_l means
U_1 < -s_l - (1 - s_l^2) / (2 r), which is largest at b.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc

from dpnoise.optimality.scalar_floor import group_budget
from dpnoise.sensitivity.balls import L2

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity

_ROUNDING = 1e-11  # relative, of each probability (incomplete beta function)


def first_coordinate_cdf(dimension: int, t: Array) -> Array:
    """P(U_1 <= t) for U uniform on the unit sphere of K >= 2 dimensions."""
    half = 0.5 * (dimension - 1)
    return np.asarray(betainc(half, half, 0.5 + 0.5 * np.clip(t, -1.0, 1.0)))


@dataclass(frozen=True, eq=False)
class RadialTest:
    """Certificate for the l2 ball at delta > 0: a test function.

    Parameters
    ----------
    group : int
        The shift is this many radii long (group privacy); lengths are in units of it.
    spacing : float
        Distance of the nodes 0, spacing, 2 spacing, ...; y_l is linear between them before it is
        made constant on shells.
    thresholds : array of float, shape (l,)
        Each s_l, in (0, 1).
    heights : array of float, shape (n, l)
        The values y_l at the nodes, >= 0; the last row does not count.
    shells : int
        Shells per node.
    """

    group: int
    spacing: float
    thresholds: Array
    heights: Array
    shells: int

    @property
    def method(self) -> str:
        """Kind of the bound."""
        return "radial test"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Sum of the weights times the bound on the mean variance; 0 where it does not apply."""
        equal = bool(np.all(weights == weights[0]))
        if not equal or not isinstance(sensitivity, L2) or sensitivity.dimension < 2:
            return 0.0
        epsilon, delta = group_budget(self.group, epsilon, delta)
        K = sensitivity.dimension
        edges, y = shell_heights(self.spacing, np.abs(self.heights), self.shells)
        s = np.clip(self.thresholds, 1e-12, 1.0 - 1e-12)
        low = float(np.min(lower_values(K, math.exp(epsilon), edges, y, s)))
        value = min(low, edges[-1] ** 2) - delta * float(np.max(np.sum(y, axis=1))) * (1 + 1e-12)
        total = float(np.sum(weights)) / K * (self.group * sensitivity.radius) ** 2
        return max(0.0, value) * total * (1.0 - 1e-12)


def shell_heights(spacing: float, heights: Array, shells: int) -> tuple[Array, Array]:
    """Edges of equally wide shells, shape (m + 1,), and the heights on them, shape (m, l)."""
    count = (len(heights) - 1) * shells
    edges = spacing / shells * np.arange(count + 1)
    places = (np.arange(count) + 0.5) / shells
    heights = np.concatenate([heights[:-1], np.zeros((1, heights.shape[1]))])
    rows = [np.interp(places, np.arange(len(heights)), row) for row in heights.T]
    return np.asarray(edges, dtype=float), np.stack(rows, axis=1)


def intervals(edges: Array) -> Array:
    """The shells and, beyond them, as many more as the shift can come back from."""
    width = edges[-1] / (edges.size - 1)
    return width * np.arange(edges.size + math.ceil(1.0 / width) + 1)


def lower_values(K: int, growth: float, edges: Array, y: Array, s: Array) -> Array:
    """Lower bounds of r^2 + E psi(r U) - e^epsilon E psi(r U + d) on each of `intervals`."""
    r = intervals(edges)
    left, right = r[:-1], r[1:]
    # One more shell, from which |r U + d| may come back to the last one.
    edges, y = r[: edges.size + 1], np.pad(y, ((0, 1), (0, 0)))
    first = np.zeros(left.size)
    inside = first_coordinate_cdf(K, (1.0 - s**2) / (2.0 * right[: len(y), None]) - s)
    first[: len(y)] = np.sum(y * inside, axis=1)
    second = np.zeros(left.size)
    padded = np.pad(y, ((1, 1), (0, 0)))
    above = np.maximum(padded[1:-1], padded[2:])
    highest = np.maximum(above, padded[:-2])
    # For r <= 1/2 no shift leads inwards.
    for i in np.nonzero(right > 0.5)[0]:
        a, b = left[i], right[i]
        if a == 0.0:
            second[i] = math.inf  # shells too wide
            continue
        # |r U + d| is below b at r = b, hence below b + (b - a) at r = a; and at least |a - 1|.
        start = max(0, int(np.searchsorted(edges, abs(a - 1.0), side="right")) - 1)
        stop = min(int(np.searchsorted(edges, b + (b - a))), edges.size - 1)
        if stop <= start:
            continue
        at = edges[start : stop + 1]
        below = first_coordinate_cdf(K, 0.5 * (at * at - 1.0) / a - 0.5 * a)
        cut = first_coordinate_cdf(K, -s - (1.0 - s**2) / (2.0 * b))
        share = np.diff(np.minimum(below[:, None], cut), axis=0)
        # |r U + d| rises with r >= 1, and the highest neighbour is the next one.
        top = above if a >= 1.0 else highest
        second[i] = float(np.sum(share * top[start:stop]))
    slack = _ROUNDING * (left**2 + first + growth * second)
    return np.asarray(left**2 + first - growth * second - slack)
