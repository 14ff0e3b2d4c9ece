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

_MARGIN = 1e-13  # of q and of differences, relative to 1 + r


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
        if not equal or not isinstance(sensitivity, L2) or sensitivity.dimension < 2:
            return 0.0
        epsilon, delta = group_budget(self.group, epsilon, delta)
        K = sensitivity.dimension
        total = float(np.sum(weights)) / K * (self.group * sensitivity.radius) ** self.order
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
