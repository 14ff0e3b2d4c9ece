"""Search for the set A of `dpnoise.optimality.radial_test`.

For given c and W the condition, taken with equality, determines the caps of A from those at smaller
radii: P(r U in A) is what is missing, (c - r^order) / W + e^epsilon P(r U + d in A). If this is
more than the points that d leads outwards, c is too large for W. The largest c that is not is found
by bisection, and W by golden sections, c(W) - delta W being concave. What is proved is decided by
the certificate.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betaincinv

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.optimality.radial_test import RadialTest, distance, rises, sphere_cdf
from dpnoise.optimality.scalar_floor import group_budget

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array

_SMALL_EPSILON = 0.1  # below, shifts of several radii
_SMALLEST_DELTA = 1e-14  # looked at: tests for a larger one prove almost as much
_FAR = np.linspace(0.0, 1.0, 40)  # beyond r_n, where points may still come into A
_MOST = 2.5  # c, in E |T|^2 of Gaussian or K-norm noise, or in its root
_SMALLEST_SLOPE = 0.01  # of g
_FINER = 5  # nodes of the certificate than of the search
_FALL = 0.98  # from a node to the next, beyond which it is put off by one
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
_SPARE = (
    0.0,
    1e-3,
    3e-3,
    7e-3,
    1.5e-2,
    4e-2,
    0.1,
    0.25,
)  # of c and of what comes in, for what is missing between nodes


class Effort(NamedTuple):
    """Numbers of nodes, of cells, of heights W and of bisections for each."""

    nodes: int
    cells: int
    heights: int
    bisections: int


FAST, FINE = Effort(200, 25_000, 7, 8), Effort(600, 150_000, 12, 12)


class _Design(NamedTuple):
    """The problem for the unit ball and the nodes."""

    K: int
    growth: float
    nodes: Array
    width: float
    order: int

    def caps(self, c: float, W: float) -> Array | None:
        """S at the first nodes, up to the last one needed; None if c is too large for W."""
        r, s, exact = self.nodes, np.zeros(self.nodes.size), np.zeros(self.nodes.size)
        g = r + 1.0
        most = sphere_cdf(self.K, 1.0 + 0.5 / np.maximum(r, 0.5))
        k = 0
        while k < r.size:
            # What comes in at r depends on s where g < r.
            stop = min(r.size, max(k + 2, int(np.searchsorted(r, g[max(k - 1, 0)]))))
            at = r[k:stop]
            need = (c - at**self.order) / W + self.growth * self._come(at, s[:k], g[:k])
            if (need > most[k:stop]).any():
                return None
            exact[k:stop] = self._paying(np.maximum(need, 0.0))
            start = max(k - 2, 0)
            s[k:stop], g[k:stop] = self._rising(at, _above(exact[start:stop])[k - start :])
            k = stop
            if self._may_end(c, W, s[:k], g[:k]):
                return s[:k] if rises(float(r[1]), s[:k]) else None
        return None

    def _come(self, at: Array, s: Array, g: Array) -> Array:
        """P(r U + d in A) for each r, s being known at the first nodes."""
        b, known = at + self.width, self.nodes[: s.size]
        if s.size == 0:
            return np.zeros(at.size)
        q = np.interp(b, g, known) + self.width
        q = np.where(b > g[-1], known[-1] + (b - g[-1]), q)  # where s goes on as a constant
        left = 2.0 * q * np.interp(q, known, s) / (q + 1.0 + b)
        lost = sphere_cdf(self.K, left * (q - 1.0 + b) / (2.0 * np.maximum(at, 0.5)))
        return np.where(b > 1.0, lost, 0.0)

    def _paying(self, need: Array) -> Array:
        """S for which P(r U in A) is as large as needed."""
        half = 0.5 * (self.K - 1)
        return np.asarray(2.0 * betaincinv(half, half, np.minimum(need, 1.0)))

    @staticmethod
    def _rising(r: Array, s: Array) -> tuple[Array, Array]:
        """S made so large that g rises, and g."""
        g = distance(r, s)
        line = _SMALLEST_SLOPE * r
        lower = np.minimum.accumulate((g - line)[::-1])[::-1] + line
        raised = ((r + 1.0) ** 2 - lower**2) / (2.0 * np.maximum(r, 1e-9))
        return np.where(lower < g, raised, s), lower

    def _may_end(self, c: float, W: float, s: Array, g: Array) -> bool:
        """Whether A may end at the last of these nodes."""
        known = self.nodes[: s.size]
        end = float(known[-1])
        if end**self.order <= c or end < 1.0:
            return False
        r = end + _FAR
        q = np.interp(r, g, known)
        left = np.where(r < g[-1], 2.0 * q * np.interp(q, known, s) / (q + 1.0 + r), end + 1.0 - r)
        lost = self.growth * W * sphere_cdf(self.K, left * (q - 1.0 + r) / (2.0 * r))
        return bool(np.all(r**self.order - lost >= c))


def _above(s: Array) -> Array:
    """Values at nodes raised so that lines between them lie above s, where it falls or is concave.

    Two values are needed before those that count.
    """
    if s.size < 3:
        return s
    before = np.concatenate([s[:1], s[:-1]])
    rise = s - before
    bend = np.zeros(s.size)
    bend[1:] = np.maximum(rise[:-1] - rise[1:], 0.0)
    bend[2:] = np.maximum(bend[2:], bend[1:-1])
    return np.where(s < _FALL * before, before, s + 0.15 * bend)


@lru_cache(maxsize=64)
def radial_test(
    dimension: int, epsilon: float, delta: float, effort: Effort = FAST, order: int = 2
) -> RadialTest | None:
    """Certificate for the l2 ball of radius 1 in K >= 2 dimensions, or None.

    Of a bound on E |T|^order.
    """
    delta = max(delta, _SMALLEST_DELTA)
    group = max(1, math.floor(_SMALL_EPSILON / epsilon))
    while group > 1 and group_budget(group, epsilon, delta)[1] > 0.05:
        group //= 2
    wide, spent = group_budget(group, epsilon, delta)
    gaussian = float(gaussian_sigma(wide, spent))
    spread = min(math.sqrt(dimension + 1.0) / wide, gaussian)
    reach = spread * math.sqrt(dimension) + min(math.log(1.0 / spent) / wide, 7.0 * gaussian) + 3.0
    per_unit = math.ceil(_FINER * effort.nodes / reach)
    cells = math.ceil(effort.cells / effort.nodes / _FINER)
    width = 1.0 / (per_unit * cells)
    rough = _Design(dimension, math.exp(wide), _nodes(reach, effort.nodes / reach), width, order)
    c, W = _highest(rough, spent, _MOST * (math.sqrt(dimension) * spread) ** order, effort)
    design = rough._replace(nodes=_nodes(reach, per_unit))
    best, highest = None, 0.0
    for spare in _SPARE:
        if c * (1.0 - spare) - spent * W < highest:
            break
        wary = design._replace(growth=design.growth * (1.0 + 0.25 * spare * min(wide, 1.0)))
        caps = wary.caps(c * (1.0 - spare), W)
        if caps is None:
            continue
        test = RadialTest(group, W, 1.0 / per_unit, caps, cells, order)
        value = test.value(dimension, wide, spent)
        if value > highest:
            best, highest = test, value
    return best


def _nodes(reach: float, per_unit: float) -> Array:
    """At least so many nodes per unit, whole numbers among them: there caps have kinks."""
    count = math.ceil(per_unit)
    return np.arange(math.ceil(reach * count) + 1) / count


def _highest(design: _Design, delta: float, most: float, effort: Effort) -> tuple[float, float]:
    """The c and W of largest c - delta W, c below `most`."""
    found: dict[float, float] = {}

    def value(log_w: float) -> float:
        W = math.exp(log_w)
        below = max((c for x, c in found.items() if x < log_w), default=0.0)
        above = min((c for x, c in found.items() if x > log_w), default=most)
        low, high = below, max(above, below)
        while high - low > most * 0.5**effort.bisections:
            c = 0.5 * (low + high)
            low, high = (low, c) if design.caps(c, W) is None else (c, high)
        found[log_w] = low
        return low - delta * W

    _golden(value, math.log(most), math.log(most / delta), effort.heights)
    best = max(found, key=lambda x: found[x] - delta * math.exp(x))
    return found[best], math.exp(best)


def _golden(value: Callable[[float], float], low: float, high: float, steps: int) -> None:
    """Golden sections towards the largest value of a unimodal function."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = value(left), value(right)
    for _ in range(steps - 2):
        if at_left > at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = value(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = value(right)
