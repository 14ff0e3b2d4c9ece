"""Lower bound on the error of (epsilon, delta)-DP noise for the l2 ball, from a radial test.

Averaging over rotations makes the noise T radial. For a shift d of length 1 and a function
0 <= psi <= W, E psi(T) <= e^epsilon E psi(T + d) + delta W. So if for all r >= 0, with U uniform on
the unit sphere,

    r^2 + E psi(r U) - e^epsilon E psi(r U + d) >= c,

then E |T|^2 >= c - delta W (docs/floor.md, section 6), and with r in the place of r^2
E |T| >= c - delta W. Here psi is W on a set A of caps of spheres,

    A = {x : |x| <= r_n, cos(x, d) < -1 + s(|x|)},

and 0 elsewhere; s is linear between nodes 0 = r_0 < ... < r_n. In A a point of norm r is more than
g(r) = sqrt((r + 1)^2 - 2 r s(r)) away from d, and g rises if on every piece s = alpha + beta r the
function (1 - 2 beta) r + 1 - alpha, linear in r, is positive at both ends. With q(r) the
largest norm in A of a point that is r away from d, and F the distribution function of 1 + U_1,

    P(r U in A)     = F(s(r))                            for r <= r_n,
    P(r U + d in A) = F((q + 1 - r) (q - 1 + r) / (2 r))  for 1 <= r <= r_n + 1, q = q(r),

and 0 elsewhere. On a cell of r the first is least where s is, at one of the ends. For r <= g(r_n)
the deficit q + 1 - r is 2 q s(q) / (q + 1 + g(q)), which rises with q and with s: the second is at
most what the largest q, the largest s and the least r give.

*Search for A.* For given c and W the condition, taken with equality, determines the caps of A from
those at smaller radii: P(r U in A) is what is missing, (c - r^order) / W + e^epsilon
P(r U + d in A). If this is more than the points that d leads outwards, c is too large for W. The
largest c that is not is found by bisection, and W by golden sections, c(W) - delta W being concave.
What is proved is decided by the certificate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betainc, betaincinv

from dpnoise.optimality.scalar_floor import group_budget
from dpnoise.privacy.gaussian import gaussian_sigma

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity

_MARGIN = 1e-13  # of q and of differences, relative to 1 + r

# Of the search.
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


def sphere_cdf(dimension: int, x: Array) -> Array:
    """F(x) = P(1 + U_1 <= x) for U uniform on the unit sphere of K >= 2 dimensions."""
    half = 0.5 * (dimension - 1)
    return np.asarray(betainc(half, half, np.minimum(np.maximum(0.5 * x, 0.0), 1.0)))


def rounding(dimension: int) -> float:
    """Relative error allowed for F, its argument being off by some units in the last place."""
    return 1e-11 + 1e-13 * dimension


@dataclass(frozen=True, eq=False)
class RadialTest:
    """Certificate for the l2 ball at delta > 0: the set A and the height W of the test.

    Parameters
    ----------
    group : int
        The shift is this many radii long (group privacy); lengths are in units of it.
    height : float
        W > 0.
    spacing : float
        Distance of the nodes 0, spacing, 2 spacing, ...
    caps : array of float, shape (n + 1,)
        s at the nodes: in [0, 2], rising so slowly that g rises.
    cells : int
        Cells of r per node.
    order : int
        2 for a bound on E |T|^2, 1 for E |T|.
    """

    group: int
    height: float
    spacing: float
    caps: Array
    cells: int
    order: int = 2

    @property
    def method(self) -> str:
        """Kind of the bound."""
        return "radial test"

    @property
    def end(self) -> float:
        """The largest |x| in A."""
        return self.spacing * (len(self.caps) - 1)

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Sum of the weights times the bound on E |T|^order / K; 0 where it does not apply."""
        equal = bool(np.all(weights == weights[0]))
        radius = sensitivity.ball_radius(2.0)
        if not equal or not radius or sensitivity.dimension < 2:
            return 0.0
        epsilon, delta = group_budget(self.group, epsilon, delta)
        K = sensitivity.dimension
        total = float(np.sum(weights)) / K * (self.group * radius) ** self.order
        return max(0.0, self.value(K, epsilon, delta)) * total * (1.0 - 1e-12)

    def value(self, K: int, epsilon: float, delta: float) -> float:
        """Lower bound c - delta W on E |T|^order for the unit ball; -inf if A is refused."""
        if not (self.height > 0.0 and self.end >= 1.0 and self.spacing / self.cells < 1.0):
            return -math.inf
        if not rises(self.spacing, np.asarray(self.caps, dtype=float)):
            return -math.inf
        _, low = lower_values(K, math.exp(epsilon), self)
        # Beyond the last cell psi does not count: |T|^order itself is above c.
        c = min(float(np.min(low)), (self.end + 1.0) ** self.order * (1.0 - 1e-12))
        return c - delta * self.height * (1.0 + 1e-12)


def rises(spacing: float, caps: Array) -> bool:
    """Whether g rises and s lies in [0, 2]."""
    r = spacing * np.arange(caps.size)
    slope = np.diff(caps) / spacing
    origin = caps[:-1] - slope * r[:-1]
    ends = [(1.0 - 2.0 * slope) * at + 1.0 - origin for at in (r[:-1], r[1:])]
    inside = np.min(caps) >= 0.0 and np.max(caps) <= 2.0
    return bool(inside and np.min(ends) > 1e-9)


def distance(r: Array, caps: Array) -> Array:
    """Distance g from d of the points of norm r on the boundary of A."""
    return np.sqrt((r + 1.0) ** 2 - 2.0 * r * caps)


def lower_values(K: int, growth: float, test: RadialTest) -> tuple[Array, Array]:
    """Left ends of the cells up to r_n + 1, and lower bounds of the left side on each of them."""
    end, width = test.end, test.spacing / test.cells
    inside = (len(test.caps) - 1) * test.cells
    r: Array = np.arange(inside + math.ceil(1.0 / width) + 2, dtype=float) * width
    caps = np.interp(r[: inside + 1], test.spacing * np.arange(len(test.caps)), test.caps)
    a, b = r[:-1], r[1:]
    low = a**test.order * (1.0 - 1e-14)
    error = _MARGIN * float(np.max(test.caps))  # of s between nodes
    stay = sphere_cdf(K, np.minimum(caps[:-1], caps[1:]) - error)
    low[:inside] += test.height * (1.0 - rounding(K)) * stay
    # Points that come into A from |x - d| in [a, b], b > 1.
    g = np.maximum.accumulate(distance(r[: inside + 1], caps))  # but for rounding it rises anyway
    come = np.nonzero(b > 1.0)[0]
    a, b = a[come], b[come]
    # Ends of cells around q(a) and q(b).
    first = np.searchsorted(g, a - _MARGIN * (1.0 + a)) - 1
    last = np.minimum(np.searchsorted(g, b + _MARGIN * (1.0 + b)), inside)
    first = np.clip(first, 0, last)
    both = np.stack([first, last + 1], axis=1).ravel()
    most = np.maximum.reduceat(np.append(caps, 0.0), both)[::2] + error
    q = r[last]
    left = 2.0 * q * most / (q + 1.0 + distance(q, most))
    # At the end of A q is r_n: there the deficit falls as r grows.
    near = g[-1]
    beyond = a > near
    left[beyond] = np.maximum(end + 1.0 - a[beyond] + _MARGIN * (1.0 + end), 0.0)
    opposite = q - 1.0 + np.where(beyond, a, np.minimum(b, near))
    lost = sphere_cdf(K, left * opposite / (2.0 * a))
    low[come] -= growth * test.height * (1.0 + rounding(K)) * lost
    return r[:-1], np.asarray(low)


class Effort(NamedTuple):
    """Numbers of nodes, of cells, of heights W and of bisections for each."""

    nodes: int
    cells: int
    heights: int
    bisections: int


FAST = Effort(200, 25_000, 7, 8)


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
        # ends: two nodes more each time, to the last
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


@lru_cache(maxsize=256)
def radial_test(
    dimension: int, epsilon: float, delta: float, effort: Effort = FAST, order: int = 2
) -> RadialTest | None:
    """Certificate for the l2 ball of radius 1 in K >= 2 dimensions, or None.

    Of a bound on E |T|^order.
    """
    delta = max(delta, _SMALLEST_DELTA)
    group = max(1, math.floor(_SMALL_EPSILON / epsilon))
    # ends: halves an integer down to 1
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
        # ends: halves an interval to a share of it
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
