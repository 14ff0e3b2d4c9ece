"""Lower bound on the variance of (epsilon, delta)-DP noise for the l2 ball, from a graded test.

The test psi of `dpnoise.optimality.radial_test` is 0 or W; where the best noise is close to a
staircase in the norm, its density has ties, and the best test takes values in between. Here

    psi(x) = sum_k f_k(|x|) 1{|x - d| > |x| + o_k},  0 <= o_1 < ... < o_M < 1, f_k >= 0,

each f_k linear in |x|^2 between nodes 0, h, 2 h, ..., and 0 from the last one on. W is the largest
sum of the f_k at a node. With rho = |R U + d| the left side of the condition is

    R^2 + sum_k f_k(R) P(|R U - d| > R + o_k) - e^epsilon E sum_k f_k(rho) 1{rho < R - o_k},

each term an incomplete beta function (`dpnoise.optimality.graded_sphere`). It is bounded on cells
[a, b] of R, which are divided where the bound is below the level claimed (docs/floor.md, section
6): for the same U, R - rho rises with R and rho changes by at most b - a.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.optimality.graded_sphere import incoming, staying
from dpnoise.optimality.radial_test import rounding
from dpnoise.optimality.scalar_floor import group_budget
from dpnoise.sensitivity.balls import L2

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity

_FIRST_CELLS = 16  # per node
_PARTS = 4  # into which a cell is divided
_DIVISIONS = 5
_MOST_CELLS = 200_000  # of one width: a level far out of reach is not pursued
_CHUNK = 2000  # cells at a time
_MARGIN = 1e-12  # of the place of nodes, relative to 1 + R


@dataclass(frozen=True, eq=False)
class GradedTest:
    """Certificate for the l2 ball at delta > 0: the values of the test at nodes.

    Parameters
    ----------
    group : int
        The shift is this many radii long (group privacy); lengths are in units of it.
    per_unit : int
        Nodes per unit of |x|, a power of 2 up to 1024 (cells then have exact ends).
    offsets : array of float, shape (M,)
        o_k, rising, in [0, 1).
    values : array of float, shape (n, M)
        f_k >= 0 at the nodes 0, ..., n - 1; 0 from node n on.
    level : float
        Lower bound claimed for the left side; cells are divided until it is reached.
    """

    group: int
    per_unit: int
    offsets: Array
    values: Array
    level: float

    @property
    def method(self) -> str:
        """Kind of the bound."""
        return "graded radial test"

    @property
    def end(self) -> float:
        """The norm from which on psi is 0."""
        return len(self.values) / self.per_unit

    @property
    def height(self) -> float:
        """W, the largest value of psi."""
        return float(np.max(np.sum(self.values, axis=1))) * (1.0 + 1e-12)

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Sum of the weights times the bound on the mean variance; 0 where it does not apply."""
        equal = bool(np.all(weights == weights[0]))
        if not equal or not isinstance(sensitivity, L2) or sensitivity.dimension < 2:
            return 0.0
        epsilon, delta = group_budget(self.group, epsilon, delta)
        K = sensitivity.dimension
        total = float(np.sum(weights)) / K * (self.group * sensitivity.radius) ** 2
        return max(0.0, self.value(K, epsilon, delta)) * total * (1.0 - 1e-12)

    def value(self, K: int, epsilon: float, delta: float) -> float:
        """Lower bound c - delta W on E |T|^2 for the unit ball; -inf if the test is refused."""
        if not self._is_sound():
            return -math.inf
        a, gain = gains(self, K, math.exp(epsilon), self.level)
        c = min(float(np.min(a * a * (1.0 - 1e-14) + gain)), (self.end + 1.0) ** 2)
        return c * (1.0 - 1e-13) - delta * self.height

    def _is_sound(self) -> bool:
        """Whether psi is as its formula needs it."""
        o, f = np.asarray(self.offsets), np.asarray(self.values)
        dyadic = self.per_unit in {2**n for n in range(11)}
        shapes = o.ndim == 1 and f.ndim == 2 and o.size > 0 and f.shape[1:] == o.shape
        if not dyadic or not shapes or len(f) < 1 or not math.isfinite(self.level):
            return False
        rising = bool(np.all(np.diff(o) > 0.0)) and o[0] >= 0.0 and o[-1] < 1.0 - 1e-6
        return rising and bool(np.all(np.isfinite(f))) and bool(np.all(f >= 0.0))


def gains(test: GradedTest, K: int, growth: float, level: float) -> tuple[Array, Array]:
    """Left ends of cells up to the end of psi plus 1, and bounds of the left side less a^2.

    Cells are divided while a^2 plus the bound is below the level.
    """
    count = (len(test.values) + test.per_unit) * _FIRST_CELLS
    width = 1.0 / (test.per_unit * _FIRST_CELLS)
    a: Array = np.arange(count, dtype=float) * width
    found: list[tuple[Array, Array]] = []
    cells = _Cells(test, K, growth)
    for _ in range(_DIVISIONS):
        gain = cells.gains(a, width)
        low = a * a + gain < level
        low &= _PARTS * np.count_nonzero(low) <= _MOST_CELLS
        found.append((a[~low], gain[~low]))
        if not np.any(low):
            break
        width /= _PARTS
        a = (a[low, None] + width * np.arange(_PARTS)).ravel()
    else:
        found.append((a, cells.gains(a, width)))
    ends, bounds = zip(*found, strict=True)
    return np.concatenate(ends), np.concatenate(bounds)


class _Cells:
    """The left side on cells of one width."""

    def __init__(self, test: GradedTest, K: int, growth: float) -> None:
        self.test, self.K, self.growth = test, K, growth
        self.offsets = np.asarray(test.offsets, dtype=float)
        beyond = np.zeros((test.per_unit + 4, self.offsets.size))
        self.values = np.concatenate([np.asarray(test.values, dtype=float), beyond])
        self.slopes = _slopes(self.values, test.per_unit)

    def gains(self, a: Array, width: float) -> Array:
        """Lower bounds of the left side less a^2, some cells at a time."""
        parts = np.array_split(a, a.size // _CHUNK + 1)
        return np.concatenate([self._gain(part, width) for part in parts])

    def _gain(self, a: Array, width: float) -> Array:
        """Lower bounds of the left side less a^2 on the cells [a, a + width]."""
        b = a + width
        stay = staying(self.K, b, self.offsets) * (1.0 - rounding(self.K))
        ends = [self._at(x, a) for x in (a, b)]
        kept = [np.sum(f * stay, axis=1) for f in ends]
        # |x|^2 and the f_k are linear in R^2: the least value is at an end.
        return np.minimum(kept[0], kept[1] + (b * b - a * a) * (1.0 - 1e-9)) - self._come(b, width)

    def _at(self, x: Array, a: Array) -> Array:
        """Values f_k(x), at an end of the cells that begin at a."""
        j = np.floor(a * self.test.per_unit).astype(int)
        share = ((x * self.test.per_unit) ** 2 - j * j) / (2.0 * j + 1.0)
        share = np.clip(share, 0.0, 1.0)[:, None]
        last = len(self.values) - 1
        low, high = self.values[np.minimum(j, last)], self.values[np.minimum(j + 1, last)]
        return np.asarray((low * (1.0 - share) + high * share) * (1.0 - 1e-14))

    def _come(self, b: Array, width: float) -> Array:
        """Upper bounds of e^epsilon E psi(R U + d) for R in [b - width, b]."""
        weights, first, error = incoming(self.K, b, self.test.per_unit, self.offsets)
        nodes = first[:, None] + np.arange(weights.shape[2])
        nodes = np.minimum(nodes, len(self.values) - 1)
        shift = width + _MARGIN * (1.0 + b)
        values = self.values[nodes] + shift[:, None, None] * self.slopes[nodes]
        mean = np.einsum("nmj,njm->n", weights, values)
        mean += np.sum(error * np.max(np.abs(values), axis=1), axis=1)
        return np.asarray(self.growth * mean * (1.0 + 1e-13))


def _slopes(values: Array, per_unit: int) -> Array:
    """What a change of |x| by 1 adds at most to f_1 + ... + f_k, near each node, as sums over k.

    The change is downwards, or either way below 1, where R U + d may come nearer as R grows.
    """
    total = np.cumsum(values, axis=1)
    j = np.arange(len(values) - 1)
    # The derivative in |x| of a function linear in |x|^2 is largest at the outer node.
    steep = np.diff(total, axis=0) * (per_unit * (2.0 * j + 2.0) / (2.0 * j + 1.0))[:, None]
    falls = np.where((j <= per_unit)[:, None], np.abs(steep), np.maximum(-steep, 0.0))
    near = np.pad(falls, ((2, 2), (0, 0)))
    most = np.max([near[i : i + len(values)] for i in range(4)], axis=0)
    return np.diff(most, axis=1, prepend=0.0)
