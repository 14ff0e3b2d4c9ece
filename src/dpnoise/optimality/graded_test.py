"""Lower bound on the variance of (epsilon, delta)-DP noise for the l2 ball, from a graded test.

The test psi of `dpnoise.optimality.radial_test` is 0 or W; where the best noise is close to a
staircase in the norm, its density has ties, and the best test takes values in between. Here

    psi(x) = sum_k f_k(|x|) 1{|x - d| > |x| + o_k},  0 <= o_1 < ... < o_M < 1, f_k >= 0,

each f_k linear in |x|^2 between nodes 0, h, 2 h, ..., and 0 from the last one on. W is the largest
sum of the f_k at a node. With rho = |R U + d| the left side of the condition is

    R^2 + sum_k f_k(R) P(|R U - d| > R + o_k) - e^epsilon E sum_k f_k(rho) 1{rho < R - o_k},

each term an incomplete beta function. It is bounded on cells [a, b] of R, which are divided where
the bound is below the level claimed (docs/floor.md, section 6): for the same U, R - rho rises with
R and rho changes by at most b - a.

*Means over a shifted sphere.* With U uniform on the unit sphere of K >= 2 dimensions and d of
length 1, the squared norm of R U + d is (R - 1)^2 + 2 R X, where X = 1 + U_1 = 2 B and B has the
beta distribution with both parameters (K - 1) / 2. So a function that is linear in the squared norm
is linear in X, and its mean over {X <= x} follows from P(X <= x) and E X 1{X <= x}, both incomplete
beta functions.

*Search*, by a linear program: the left side of the condition is linear in the values f_k at the
nodes. The program asks for left side >= c + eta R^2 at many R and takes the largest c - delta W;
eta leaves room for what is lost between these R. What is proved is decided by the certificate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, diags, hstack, vstack
from scipy.special import betainc, betaincinv

from dpnoise.optimality.radial_test import rounding, sphere_cdf
from dpnoise.optimality.scalar_floor import group_budget
from dpnoise.privacy.gaussian import gaussian_sigma

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity

_FIRST_CELLS = 16  # per node
_PARTS = 4  # into which a cell is divided
_DIVISIONS = 5
_MOST_CELLS = 200_000  # of one width: a level far out of reach is not pursued
_CHUNK = 2000  # cells at a time
_MARGIN = 1e-12  # of the place of nodes, relative to 1 + R

# Of the search.
_SMALL_EPSILON = 0.3  # below, shifts of several radii
_SMALLEST_DELTA = 1e-7  # looked at: tests for a larger one prove almost as much
_SLACK = 1e-3  # eta
_REACHED = 1e-3  # share of c below which the certificate may stay, for R near 0
_ROWS = 12  # values of R per node
_OFFSETS = 12
_NODES = 160
_ITERATIONS = 30_000  # of the solver, far more than usual; without a result there is no test
_SCALES = np.append(0.0, np.geomspace(1e-5, 0.3, 60))  # shares by which psi may be lowered


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
        radius = sensitivity.ball_radius(2.0)
        if not equal or not radius or sensitivity.dimension < 2:
            return 0.0
        epsilon, delta = group_budget(self.group, epsilon, delta)
        K = sensitivity.dimension
        total = float(np.sum(weights)) / K * (self.group * radius) ** 2
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
    # ends: the bound holds; with fewer divisions it is lower
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


class Incoming(NamedTuple):
    """Weights of nodal values in E sum_k f_k(rho) 1{rho < R - o_k}, rho = |R U + d|.

    Attributes
    ----------
    weights : array of float, shape (n, offsets, J)
        For each R, each offset o_k and J nodes in a row.
    first : array of int, shape (n,)
        The first of these nodes.
    error : array of float, shape (n, offsets)
        Bound on the rounding error per largest nodal value.
    """

    weights: Array
    first: Array
    error: Array


def _moments(K: int, x: Array) -> tuple[Array, Array]:
    """P(X <= x) and E X 1{X <= x}."""
    half = 0.5 * (K - 1)
    share = np.clip(0.5 * x, 0.0, 1.0)
    return np.asarray(betainc(half, half, share)), np.asarray(betainc(half + 1.0, half, share))


def incoming(K: int, R: Array, per_unit: int, offsets: Array) -> Incoming:
    """Weights for functions linear in rho^2 between the nodes j / per_unit, for each R > 0."""
    R = R[:, None]
    first = np.maximum(np.floor((R - 1.0) * per_unit), 0.0).astype(int)
    rho = (first + np.arange(per_unit + 3)) / per_unit
    shortest = np.abs(R - 1.0)
    node = (rho - shortest) * (rho + shortest) / (2.0 * R)
    # rho < R - o: less than the least norm by a difference that is written without cancellation.
    inside = np.where(R >= 1.0, 1.0 - offsets, 2.0 * R - 1.0 - offsets + 1e-15)
    end = np.maximum(inside, 0.0) * np.maximum(R - offsets + shortest, 0.0) / (2.0 * R)
    share, first_moment = _moments(K, node)
    most, most_moment = _moments(K, end)
    mass = np.diff(np.minimum(share[:, None, :], most[:, :, None]), axis=2)
    moment = np.diff(np.minimum(first_moment[:, None, :], most_moment[:, :, None]), axis=2)
    width = np.diff(node, axis=1)
    weights = np.zeros((R.shape[0], offsets.size, rho.shape[1]))
    weights[:, :, :-1] += (node[:, None, 1:] * mass - moment) / width[:, None, :]
    weights[:, :, 1:] += (moment - node[:, None, :-1] * mass) / width[:, None, :]
    spread = (np.max(np.abs(node), axis=1) + 1.0) / np.min(width, axis=1)
    error = 4.0 * rho.shape[1] * rounding(K) * spread[:, None] * most
    return Incoming(weights, first[:, 0], error)


def staying(K: int, R: Array, offsets: Array) -> Array:
    """P(|R U - d| > R + o) for each R > 0 and each offset o in [0, 1); it falls with R."""
    R = R[:, None]
    return sphere_cdf(K, (1.0 - offsets) * (2.0 * R + 1.0 + offsets) / (2.0 * R))


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
    # ends: halves an integer down to 1
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
    # ends: no test unless solved; what the values prove is computed from them alone
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
