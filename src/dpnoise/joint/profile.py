"""Two-sided bounds on delta(epsilon) of radial noise (docs/joint-noise.md has the proofs).

The worst neighbour is an extreme point d of the set. With T the layer
(`dpnoise.joint.noise`), Z uniform in D and q(t) the norm at which the log density is epsilon below
that at norm t,

    delta_d(epsilon) = P(||T Z + d|| > q(T)) <= E g(1 / T, q(T) / T - 1),

g as below, with equality where all extreme points are alike. Both arguments fall with T, so that
over any cell of T the function g lies between two of its values, and delta between two sums over
cells. A first pass finds out where cells are needed.

**The share of a ball that a shifted, larger ball leaves uncovered.** For Z uniform in D, g(a, e) is
the largest P(||Z + a d|| > 1 + e) over the extreme points d of D, the share of D outside
(1 + e) D - a d. It is 0 if e >= a, rises with a and falls with e. With c = a - e:

- every D contains a copy of itself, scaled by 1 - c / 2, in the intersection, for every d, so that
  g <= 1 - (1 - c / 2)^K; for boxes and l1 balls the copy is the intersection: equality;
- for any polytope, g >= 1 - (1 - rho c)^K with rho the share of D under the facets that d lies in;
- l2 balls and ellipsoids: the intersection is two caps,
  g = I((2 + a + e) c / (4 a)) - (1 + e)^K I((2 + e - a) c / (4 a (1 + e))), with I(x) the
  incomplete beta function with both parameters (K + 1) / 2, regularised; where both terms are
  nearly equal, I(x) - I(y) is bounded by x - y and the extremes of the density between them;
- products: the covered shares multiply.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from dpnoise._validation import Problems
from dpnoise.privacy.spherical import relative_error

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.joint.noise import Radial
    from dpnoise.sensitivity.base import Sensitivity

_WILD = 1e120  # shifts, in units of the ball, whose powers have no double
_ROUNDING = 1e-14  # relative errors of the arguments
_UNDERFLOW = 1e-300
_CANCELS = 1e-8  # relative: a smaller difference loses too many digits


@dataclass(frozen=True)
class Uncovered:
    """The function g of one set, as bounds."""

    ball: Sensitivity

    @cached_property
    def caps(self) -> Counter[int]:
        """Dimensions of the blocks that are ellipsoids, with their numbers."""
        return Counter(
            block.active_dimension
            for _, block in self.ball.factors()
            if block.is_round and block.active_dimension > 1
        )

    @cached_property
    def polytopes(self) -> Counter[float]:
        """The numbers of coordinates of all other blocks, by their share under the facets of d."""
        found: Counter[float] = Counter()
        for _, block in self.ball.factors():
            K = block.active_dimension
            if not block.is_round or K == 1:
                found[block.facet_share] += K
        return found

    def upper(self, a: Array, e: Array) -> Array:
        """An upper bound on g, for `a` and `e` that may be off by some units in the last place."""
        return self._bound(a, e, 1.0)

    def lower(self, a: Array, e: Array) -> Array:
        """A lower bound on g, likewise."""
        return self._bound(a, e, -1.0)

    def about(self, a: Array, e: Array) -> Array:
        """The function whose upper bound `upper` is, without care for rounding."""
        return self._bound(a, e, 0.0)

    def _bound(self, a: Array, e: Array, side: float) -> Array:
        """A bound on the side given by its sign, or with 0 the value in between."""
        wild = np.broadcast_to(~(np.asarray(a) < _WILD), np.broadcast(a, e).shape)
        a, e = np.minimum(a, _WILD) * (1.0 + side * _ROUNDING), e * (1.0 - side * _ROUNDING)
        a, e = np.broadcast_arrays(a, e)
        c = np.maximum(a - e, 0.0)
        log_cover = np.zeros(c.shape)
        for share, K in self.polytopes.items():
            rate = share if side < 0.0 else 0.5
            log_cover = log_cover + K * np.log1p(-np.minimum(rate * c, 1.0 - 2.0**-53))
        for K, n in self.caps.items():
            log_cover = log_cover + n * np.log1p(-_cap(a, e, c, K, side))
        g = -np.expm1(log_cover) * (1.0 + side * 1e-12) + side * _UNDERFLOW
        g = np.where(c > 0.0, np.clip(g, 0.0, 1.0), 0.0)
        return np.where(wild, 0.5 + 0.5 * side, g)  # between 0 and 1 where nothing is computed


def _cap(a: Array, e: Array, c: Array, K: int, side: float) -> Array:
    """A bound on g for the l2 ball in K dimensions, below 1."""
    b = 0.5 * (K + 1.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        x = np.clip(c * (2.0 + a + e) / (4.0 * a), 0.0, 1.0)
        y = np.clip(c * (2.0 + e - a) / (4.0 * a * (1.0 + e)), 0.0, 1.0)
        outer, under = special.betainc(b, b, x), special.betainc(b, b, y)
        growth = np.exp(K * np.log1p(e))
        inner = np.where(under > 0.0, under * growth, 0.0)
        wide = outer - inner + side * relative_error(K) * (outer + inner)
        # Close to each other: I(x) - I(y) is between (x - y) times the extremes of the density.
        step = c * (a + e) * (2.0 + e) / (4.0 * a * (1.0 + e))
        growing = np.where(under > 0.0, under * np.expm1(K * np.log1p(e)), 0.0)
        if side == 0.0:
            near = step * np.exp(_log_beta_density(b, 0.5 * (x + y))) - growing
            found = np.where((wide > _CANCELS * outer) | (y <= 0.0) | (x >= 1.0), wide, near)
            return np.clip(np.nan_to_num(found), 0.0, 1.0 - 2.0**-53)
        ends = np.stack([_log_beta_density(b, x), _log_beta_density(b, y)])
        peak = np.where((x > 0.5) & (y < 0.5), _log_beta_density(b, np.array(0.5)), -np.inf)
        level = np.maximum(np.max(ends, axis=0), peak) if side > 0.0 else np.min(ends, axis=0)
        gain = step * np.exp(level) * (1.0 + side * relative_error(K))
        close = gain - growing * (1.0 - side * relative_error(K))
    close = np.where((x < 1.0) & (y > 0.0) & np.isfinite(close), close, wide)
    best = np.fmin(wide, close) if side > 0.0 else np.fmax(wide, close)
    unknown = outer if side > 0.0 else 0.0 * outer  # where powers have no double
    return np.clip(np.where(np.isnan(best), unknown, best), 0.0, 1.0 - 2.0**-53)


def _log_beta_density(b: float, x: Array) -> Array:
    """The logarithm of the density of the beta distribution with both parameters `b`."""
    return (b - 1.0) * (np.log(x) + np.log1p(-x)) - special.betaln(b, b)


_FIRST_PASS = 512
_FARTHEST = 1e300
_EDGE = 1e-15  # relative error of the bound as it is computed
_PLACES, _POINTS = 64, 64  # of an estimate: where it looks, nodes between two seams
_ROUNDS, _DIVIDED = 3, 32  # the divisions that a seam is found by
_SEEN = 1e-18  # of the largest value
_FEWEST = 2  # cells of the second pass in one of the first
_CLOSED = 1e-14  # relative error of the closed form
_TAIL = 1e-300  # mass of T left out on either side, and counted in full above


class DeltaBounds(NamedTuple):
    """Proved bounds lower <= delta <= upper."""

    lower: float
    upper: float


class _Layers:
    """Distribution of v = (T / scale)^p: cells, their masses and the two arguments of g."""

    def __init__(self, noise: Radial, epsilon: float) -> None:
        self.noise, self.epsilon = noise, epsilon
        # Of K-norm noise the loss is at most epsilon wherever both densities are positive.
        self.pure = noise.power == 1.0 and Fraction(epsilon) * Fraction(noise.scale) >= 1
        self.whole = float(special.gammainc(noise.shape, noise.edge))
        self.k = noise.shape + 1.0
        low = float(special.gammaincinv(self.k, _TAIL))
        high = float(special.gammainccinv(self.k, _TAIL))
        self.median = float(special.gammaincinv(self.k, 0.5))
        self.bounded = noise.edge < math.inf
        self.low, self.high = min(low, noise.edge), min(high, noise.edge)

    def arguments(self, v: Array) -> tuple[Array, Array, Array]:
        """The argument a = 1 / T of g, and bounds on the other one, e = q(T) / T - 1."""
        noise = self.noise
        radius = noise.scale * v ** (1.0 / noise.power)
        low = np.full(v.shape, math.inf)
        if not self.pure:
            with np.errstate(over="ignore"):
                low = np.expm1(np.log1p(self.epsilon / v) / noise.power)
        high = low
        if self.bounded:
            with np.errstate(over="ignore"):
                far = np.expm1(np.log1p(np.maximum(noise.edge - v, 0.0) / v) / noise.power)
            far = np.minimum(far, _FARTHEST)
            # The edge is rounded, by less than that relative to the bound.
            low = np.minimum(low, np.maximum(far - _EDGE * (1.0 + far), 0.0))
            high = np.minimum(high, far + _EDGE * (1.0 + far))
        with np.errstate(divide="ignore"):
            return 1.0 / radius, low, high

    def masses(self, v: Array) -> tuple[Array, Array]:
        """Masses of the cells between rising nodes `v`, and a bound on the error of each tail."""
        split = int(np.searchsorted(v, self.median))
        below, above = special.gammainc(self.k, v[:split]), special.gammaincc(self.k, v[split:])
        middle = 1.0 - below[-1:] - above[:1]  # nothing where all nodes are on one side
        mass = np.concatenate([np.diff(below), middle, -np.diff(above)])
        error = 2.0 * relative_error(self.k) * np.concatenate([below, above])
        return np.maximum(mass, 0.0) / self.whole, error / self.whole

    def atom(self) -> float:
        """Mass of T at the bound."""
        if not self.bounded:
            return 0.0
        w, k = self.noise.edge, self.noise.shape
        return math.exp(k * math.log(w) - w - math.lgamma(k + 1.0)) / self.whole


class _Sums(NamedTuple):
    """Bounds on the contribution of each cell, and on the error of their sums by rounding."""

    lower: Array
    upper: Array
    error: float


def _sums(layers: _Layers, uncovered: Uncovered, v: Array) -> _Sums:
    """Contributions of the cells between the nodes `v`."""
    a, low, high = layers.arguments(v)
    mass, error = layers.masses(v)
    upper = uncovered.upper(a[:-1], low[1:])
    lower = uncovered.lower(a[1:], high[:-1])
    # Summed by parts, an error of the mass beyond a node counts times the jump of g there.
    jumps = np.abs(np.diff(upper, prepend=0.0, append=0.0))
    return _Sums(mass * lower, mass * upper, float(np.sum(jumps * error)))


def _refined(layers: _Layers, v: Array, first: _Sums, cells: int) -> Array:
    """Nodes that divide each cell in proportion to the root of its gap."""
    gap = np.sqrt(np.maximum(first.upper - first.lower, 0.0))
    count = _FEWEST + np.floor(cells * gap / max(float(np.sum(gap)), 1e-300)).astype(int)
    part = np.arange(np.sum(count)) - np.repeat(np.cumsum(count) - count, count)
    root = np.sqrt(v)
    fine = (np.repeat(root[:-1], count) + part * np.repeat(np.diff(root) / count, count)) ** 2
    fine = np.append(np.maximum.accumulate(fine), layers.high)
    return np.minimum(fine, layers.high)


def _nodes(layers: _Layers, uncovered: Uncovered, cells: int) -> Array:
    """Nodes of about as many cells as asked for, close where the bounds need it."""
    v = np.linspace(math.sqrt(layers.low), math.sqrt(layers.high), _FIRST_PASS + 1) ** 2
    v[0], v[-1] = layers.low, layers.high
    return _refined(layers, v, _sums(layers, uncovered, v), cells)


@cache
def _rule() -> tuple[Array, Array]:
    """Nodes and weights on [0, 1], dense at both ends, where g may begin with a root."""
    u, weight = np.polynomial.legendre.leggauss(_POINTS)
    u = 0.5 * (1.0 + u)
    return u * u * (3.0 - 2.0 * u), 3.0 * weight * u * (1.0 - u)


def _seams(layers: _Layers, x: Array) -> Array:
    """Square roots of the v at which g has a seam, looked for between the rising roots `x`.

    There c is 0 or 2, or the edge takes over in e.
    """

    def shift(x: Array) -> Array:
        a, e, _ = layers.arguments(x * x)
        with np.errstate(invalid="ignore"):
            return a - e

    levels, c = np.array([[0.0], [2.0]]), shift(x)
    level, place = np.nonzero((c[1:] > levels) != (c[:-1] > levels))
    low, high = x[place], x[place + 1]
    each = np.arange(place.size)
    for _ in range(_ROUNDS if place.size else 0):
        inner = np.linspace(low, high, _DIVIDED + 1, axis=1)
        beyond = shift(inner) > levels[level]
        first = np.maximum(np.argmax(beyond != beyond[:, :1], axis=1), 1)
        low, high = inner[each, first - 1], inner[each, first]
    if layers.bounded and layers.low < layers.noise.edge - layers.epsilon:
        high = np.append(high, math.sqrt(layers.noise.edge - layers.epsilon))
    return high


def _integral(layers: _Layers, uncovered: Uncovered) -> float:
    """About E g over all but the atom: Gauss-Legendre sums between the seams."""

    def values(x: Array) -> Array:
        v = x * x
        a, e, _ = layers.arguments(v)
        log_density = (layers.k - 1.0) * np.log(v) - v - math.lgamma(layers.k)
        return 2.0 * x * np.exp(log_density) * uncovered.about(a, e)

    x = np.linspace(math.sqrt(layers.low), math.sqrt(layers.high), _PLACES + 1)
    rough = values(x)
    seen = np.flatnonzero(rough >= _SEEN * np.max(rough))
    ends = x[[max(seen[0] - 1, 0), min(seen[-1] + 1, _PLACES)]]
    edges = np.unique(np.append(ends, np.clip(_seams(layers, x), *ends)))
    nodes, weights = _rule()
    width = np.diff(edges)
    every = values(edges[:-1, None] + width[:, None] * nodes)
    return float(np.sum(every @ weights * width)) / layers.whole


def radial_delta_estimate(noise: Radial, epsilon: float) -> float:
    """About delta(epsilon), or an upper bound where that is what is known: for searches."""
    if noise.power == 1.0 and noise.bound == math.inf:
        simple = _k_norm_delta(noise, epsilon)
        if simple == 0.0 or not Uncovered(noise.ball).caps:
            return simple
    layers, uncovered = _Layers(noise, epsilon), Uncovered(noise.ball)
    total = 0.0
    if layers.bounded:
        a, e, _ = layers.arguments(np.array([noise.edge]))
        total = layers.atom() * float(uncovered.about(a, e)[0])
    if layers.low < layers.high:
        total += _integral(layers, uncovered)
    return min(total, 1.0)


def _k_norm_delta(noise: Radial, epsilon: float, share: float = 0.5) -> float:
    """1 - exp(share (epsilon - 1 / scale)): E g if g is 1 - (1 - share c)^K, for K-norm noise.

    It bounds delta of every set with the share 1 / 2, and is that of boxes and l1 balls.
    """
    loss = float(1 / Fraction(noise.scale) - Fraction(epsilon))
    return -math.expm1(-share * max(loss, 0.0))


def radial_delta_bounds(noise: Radial, epsilon: float, *, cells: int = 2**14) -> DeltaBounds:
    """Bounds on delta(epsilon) of radial noise for the sensitivity set that is its ball.

    Parameters
    ----------
    noise : RadialNoise
        The noise.
    epsilon : float
        From 0 to 1e4.
    cells : int, default 2**14
        The number of cells, from 2**10 to 2**22; the gap falls like its inverse.

    Returns
    -------
    DeltaBounds
        `lower` and `upper`; apart by a factor for `Counts` and for `AtMost` with 1 < m < K, where
        g is only bounded.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names every problem.

    Examples
    --------
    >>> from dpnoise import L2
    >>> from dpnoise.joint.profile import radial_delta_bounds
    >>> from dpnoise.joint.noise import RadialNoise
    >>> found = radial_delta_bounds(RadialNoise(L2(1.0, of=20), 6.0, power=2.0), 1.0)
    >>> found.lower <= found.upper < 1.01 * found.lower
    True
    """
    problems = Problems("delta of radial noise")
    problems.require(hasattr(noise, "edge"), "noise", "RadialNoise", noise)
    problems.number("epsilon", epsilon, low=0.0, high=1e4)
    problems.number("cells", cells, low=2**10, high=2**22)
    problems.raise_if_any()
    uncovered = Uncovered(noise.ball)
    plain = noise.power == 1.0 and noise.bound == math.inf
    simple = _k_norm_delta(noise, epsilon) if plain else math.inf
    if simple == 0.0 or (plain and not uncovered.caps):
        below = _k_norm_delta(noise, epsilon, min(uncovered.polytopes, default=0.5))
        return DeltaBounds(below * (1.0 - _CLOSED), simple * (1.0 + _CLOSED))
    layers = _Layers(noise, float(epsilon))
    rounding = relative_error(layers.k)
    lower = upper = 0.0
    if layers.bounded:
        a, low, high = layers.arguments(np.array([noise.edge]))
        lower = layers.atom() * float(uncovered.lower(a, high)[0])
        upper = layers.atom() * float(uncovered.upper(a, low)[0])
    if layers.low < layers.high:
        v = _nodes(layers, uncovered, int(cells))
        sums = _sums(layers, uncovered, v)
        lower += float(np.sum(sums.lower)) - sums.error
        upper += float(np.sum(sums.upper)) + sums.error
    lower = max(0.0, lower * (1.0 - rounding))
    upper = upper * (1.0 + rounding) + 2.0 * _TAIL / layers.whole
    return DeltaBounds(lower, min(1.0, upper, simple * (1.0 + _CLOSED)))
