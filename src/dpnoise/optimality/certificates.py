"""Certificates of lower bounds on sum w_i sigma_i^2: projections, and those made of others.

*Projections* (docs/floor.md, section 2). For any direction a, a'T is additive noise for a query of
sensitivity h(a) = max a'd over the differences d, so that Var(a'T) >= h(a)^2 V1. If the set is
symmetric under sign flips of coordinates, T may be taken with a diagonal covariance. Then for every
mixture of differences with second moments m_i = E d_i^2

    sum w_i sigma_i^2 >= V1 (sum sqrt(w_i m_i))^2.

Another set has the bound of a symmetric set within it. That of the ellipsoid with the axes h(e_i)
is at most V1 sum w_i h(e_i)^2, of single coordinates, and true for every set; for an ellipsoid with
any axes it is the best one, as Gaussian noise of a covariance proportional to its matrix shows.

For counts with equal weights the whole matrix M = E d d' of second moments is used. The direction
a = Sigma^-1 d, Sigma the covariance of the noise, gives d' Sigma^-1 d <= 1 / V1 for every d, hence
tr(Sigma^-1 M) <= 1 / V1, and by Cauchy and Schwarz

    tr(M^(1/2))^2 <= tr(Sigma) tr(Sigma^-1 M) <= tr(Sigma) / V1.

Differences with a entries c and b entries -c, at all places alike, have the eigenvalues
c^2 (a - b)^2 / K once and c^2 (a + b - (a - b)^2 / K) / (K - 1) otherwise; those of mixtures are
their means.

The certificate is m and that of V1. `moments_size` is the gauge of the set of all m: the bound is
scaled by it, so that any non-negative m gives a true one.

*Blocks of coordinates, and the heaviest coordinates.* A subvector of additive noise is additive
noise for the differences of those coordinates alone. So a product of sets has at least the sum of
the blocks' bounds, and for a set whose coordinates may be exchanged, with weights in the order
w_(1) >= ... >= w_(K) and w_(K+1) = 0,

    sum w_i sigma_i^2 = sum_l (w_(l) - w_(l+1)) sum_{i <= l} sigma_(i)^2,

where each inner sum is bounded by the floor of l coordinates with weights 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dpnoise.optimality.scalar_floor import MARGIN, ScalarCertificate, WholeCertificate
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.balls import L1, LInf
from dpnoise.sensitivity.ellipsoid import Ellipsoid
from dpnoise.sensitivity.product import Product

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity
    from dpnoise.sensitivity.differences import Differences

SUMS = "variance", "mean-abs"  # errors that add up over the coordinates
_SHARES = np.linspace(0.0, 1.0, 65)  # of a second pattern


class FloorCertificate(Protocol):
    """What proves a lower bound on sum w_i sigma_i^2, or on another error, from itself alone."""

    @property
    def method(self) -> str:
        """Kind of the bound."""
        ...

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Lower bound for a set, a budget and weights, shape (K,); 0 where it proves nothing."""
        ...


@dataclass(frozen=True, eq=False)
class Projection:
    """Certificate of the bound from projections.

    Parameters
    ----------
    moments : array of float, shape (K,)
        Second moments m_i of a mixture of differences, up to a common factor.
    scalar : ScalarCertificate or WholeCertificate
        Of a lower bound on V1; for sets that are not `star_shaped` with single shifts, up to 1.
    """

    moments: Array
    scalar: ScalarCertificate | WholeCertificate

    @property
    def method(self) -> str:
        """Kind of the bound."""
        return "projection"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """V1 (sum sqrt(w_i m_i))^2 over the gauge of m, less rounding."""
        moments, inner = np.abs(self.moments), unconditional(sensitivity)
        good = inner is not None and serves(self.scalar, sensitivity)
        size = moments_size(inner, moments) if inner and good else math.inf
        if not 0.0 < size < math.inf:
            return 0.0
        total = float(np.sum(np.sqrt(weights) * np.sqrt(moments / size)))
        return self.scalar.bound(epsilon, delta) * total * total * (1.0 - MARGIN)


def star_shaped(sensitivity: Sensitivity) -> bool:
    """Whether with a difference d all t d, 0 <= t <= 1, are differences."""
    for _, factor in sensitivity.factors():
        found = factor.differences
        if not factor.convex and (found is None or found.whole or found.full):
            return False
    return True


def serves(scalar: ScalarCertificate | WholeCertificate, sensitivity: Sensitivity) -> bool:
    """Whether the shifts that a bound for one number uses are there along each difference."""
    if isinstance(scalar, WholeCertificate):
        return scalar.change == 1
    return star_shaped(sensitivity)


def unconditional(sensitivity: Sensitivity) -> Sensitivity | None:
    """A set symmetric under sign flips whose bound holds, too; None if none is known."""
    core = _core(sensitivity)
    if core is not None or sensitivity.blocks:
        return core
    return Ellipsoid(tuple(sensitivity.box.tolist()))  # single coordinates


def _core(sensitivity: Sensitivity) -> Sensitivity | None:
    """A set of differences that flips of signs leave as it is; None if none is known."""
    if sensitivity.blocks:
        cores = [_core(block) for block in sensitivity.blocks]
        known = [core for core in cores if core is not None]
        return Product(*known) if len(known) == len(cores) else None
    few, K = sensitivity.differences, sensitivity.dimension
    if few is not None and not few.full:
        return AtMost(few.down, K, few.size) if few.down else L1(few.size, K)
    return sensitivity.body if sensitivity.convex and not sensitivity.signed else None


def moments_size(ball: Sensitivity, moments: Array) -> float:
    """Smallest t such that m / t are second moments of a mixture of points; infinite if not known.

    Of points of a set {|d_i| <= c_i, sum |d_i| / c_i <= M} the m_i / c_i^2 are at most 1, and add
    up to at most M; of an ellipsoid along the coordinates the roots are in the set.
    """
    if ball.blocks:
        return max(moments_size(block, part) for block, part in ball.split(moments))
    unit = ball.box**2
    if np.any(moments[unit == 0.0] > 0.0) or ball.signed:
        return math.inf
    if ball.is_round:
        return float(ball.norm(np.sqrt(moments))) ** 2
    ratio = np.divide(moments, unit, out=np.zeros(unit.shape), where=unit > 0.0)
    most = float(np.max(ratio))
    return max(most, float(np.sum(ratio)) / ball.cut) if ball.cut else math.inf


def largest_moments(ball: Sensitivity, weights: Array) -> Array:
    """Second moments m_i of a mixture of points of a set with the largest sum of sqrt(w_i m_i).

    For a set that flips of signs leave as it is; shape (K,). Where all weights are 0, those of
    one extreme point.
    """
    if ball.blocks:
        parts = ball.split(weights)
        return np.concatenate([largest_moments(block, part) for block, part in parts])
    unit = ball.box**2
    if not np.any(weights > 0.0) or ball.cut == ball.dimension:
        return ball.extreme_point**2
    if ball.is_round:  # shares of the squared axes, by the weights: points on the axes
        squares = weights * (unit / np.max(unit))
        return unit * (squares / np.sum(squares))
    return unit * _shares(ball.cut, weights)


def _shares(total: int, weights: Array) -> Array:
    """Shares min(1, t w_i) that add up to `total`."""
    order = np.argsort(weights)[::-1]
    heavy = weights[order]
    rest = np.cumsum(heavy[::-1])[::-1]
    # The k heaviest have share 1; then t = (total - k) / (the others' weight).
    k = np.arange(heavy.size)
    fits = (total - k) * heavy <= rest
    first = int(np.argmax(fits)) if np.any(fits) else heavy.size
    shares = np.ones(heavy.size)
    if first < heavy.size and rest[first] > 0.0:
        shares[first:] = (total - first) * heavy[first:] / rest[first]
    found = np.empty(heavy.size)
    found[order] = np.clip(shares, 0.0, 1.0)
    return found


@dataclass(frozen=True)
class CountProjection:
    """Certificate for counts with equal weights.

    Parameters
    ----------
    patterns : tuple of (int, int)
        How many entries of the differences that are mixed are c and -c.
    shares : tuple of float
        Of the mixture, up to a common factor.
    scalar : ScalarCertificate or WholeCertificate
        Of a lower bound on V1; for sets that are not `star_shaped` with single shifts, up to 1.
    """

    patterns: tuple[tuple[int, int], ...]
    shares: tuple[float, ...]
    scalar: ScalarCertificate | WholeCertificate

    @property
    def method(self) -> str:
        """Kind of the bound."""
        return "projection of counts"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """V1 tr(M^(1/2))^2 times the weight; 0 where it does not apply."""
        equal = bool(np.all(weights == weights[0]))
        shares = np.array(self.shares)
        sizes = len(self.patterns) == shares.size > 0
        if not equal or not sizes or not serves(self.scalar, sensitivity):
            return 0.0
        known = all(up >= 0 and down >= 0 for up, down in self.patterns)
        few = sensitivity.differences
        if few is None or few.listed or not known:
            return 0.0
        inside = all(few.holds_pattern(*pattern) for pattern in self.patterns)
        if not inside or not np.min(shares) >= 0.0 or not 0.0 < np.sum(shares) < math.inf:
            return 0.0
        K, each = sensitivity.dimension, float(sensitivity.box[0])
        values = _eigenvalues(K, np.array(self.patterns)).T @ (shares / np.sum(shares))
        size = float(_root_trace(K, *values)) * each
        return self.scalar.bound(epsilon, delta) * size**2 * float(weights[0]) * (1.0 - MARGIN)


def _eigenvalues(K: int, patterns: Array) -> Array:
    """The two eigenvalues of M for each pattern and c = 1, shape (n, 2)."""
    up, down = patterns.T.astype(float)
    first = (up - down) ** 2 / K
    return np.stack([first, (up + down - first) / max(K - 1, 1)], axis=1)


def _root_trace(K: int, first: Array, others: Array) -> Array:
    """tr(M^(1/2)) by the eigenvalues."""
    return np.sqrt(first) + (K - 1) * np.sqrt(np.maximum(others, 0.0))


def count_projection(
    sensitivity: Sensitivity, scalar: ScalarCertificate | WholeCertificate
) -> CountProjection:
    """Certificate by the best pattern and the one that improves most when mixed with it."""
    K = sensitivity.dimension
    assert sensitivity.differences is not None  # noqa: S101  (asked for counts alone)
    patterns = np.array(_patterns(sensitivity.differences))
    values = _eigenvalues(K, patterns)
    best = int(np.argmax(_root_trace(K, *values.T)))
    mixed = values[best] + _SHARES[:, None, None] * (values - values[best])
    found = _root_trace(K, mixed[..., 0], mixed[..., 1])
    share, other = np.unravel_index(int(np.argmax(found)), found.shape)
    pair = tuple(tuple(map(int, patterns[k])) for k in (best, other))
    t = float(_SHARES[share])
    return CountProjection(pair, (1.0 - t, t), scalar)  # type: ignore[arg-type]  # pairs of ints


def _patterns(few: Differences) -> list[tuple[int, int]]:
    """Some patterns of differences: the most entries, and fewer of one sign or of both.

    For add/remove with m = K those near the best one, (K + sqrt(K)) / 2 entries c, are all tried.
    """
    most = few.up
    up = most if few.up + few.down == few.moved else (few.moved + 1) // 2
    down = few.moved - up
    middle = 0.5 * (few.of + math.sqrt(few.of))
    tried = np.concatenate([np.linspace(0, most, 200), middle + np.arange(-20, 21)])
    some = [int(k) for k in np.unique(np.clip(tried, 0, most).astype(int))]
    found = {(up, down)} | {(most, k) for k in some} | {(k, 0) for k in some if k}
    return sorted(pattern for pattern in found if few.holds_pattern(*pattern))


@dataclass(frozen=True)
class Blocks:
    """Certificate for a product: one per block, added up or the largest.

    Parameters
    ----------
    parts : tuple of FloorCertificate
        In the order of the blocks.
    error : str
        "variance", "mean-abs", "max" or "norm".
    """

    parts: tuple[FloorCertificate, ...]
    error: str = "variance"

    @property
    def method(self) -> str:
        """Kinds of the parts' bounds."""
        return _kinds(self.parts)

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Sum of the blocks' bounds for sums, else the largest."""
        blocks = sensitivity.split(weights)
        if not blocks or len(self.parts) != len(blocks):
            return 0.0
        rows = zip(self.parts, blocks, strict=True)
        found = [part.bound(block, epsilon, delta, share) for part, (block, share) in rows]
        total = float(np.sum(found) if self.error in SUMS else np.max(found))
        return total * (1.0 - MARGIN)


def exchangeable(
    sensitivity: Sensitivity, weights: Array, power: int = 2
) -> tuple[Sensitivity, Array] | None:
    """An equivalent set whose coordinates may be exchanged, and its weights; None if unknown.

    Noise of the least weighted sum of E|T_i|^power is meant. A box becomes the unit cube of its
    active coordinates when each is divided by its sensitivity, with weights w_i lambda_i^power.
    """
    found = sensitivity.differences
    if found is not None:
        return None if found.full else (sensitivity, weights)
    if not sensitivity.convex or sensitivity.signed:
        return None
    if sensitivity.ball_radius(1.0) or sensitivity.ball_radius(2.0):
        return sensitivity, weights
    if sensitivity.cut != sensitivity.dimension:
        return (sensitivity, weights) if sensitivity.cut else None
    active = sensitivity.active
    return LInf(1.0, int(np.count_nonzero(active))), (weights * sensitivity.box**power)[active]


@dataclass(frozen=True)
class Layers:
    """Certificate for coordinates that may be exchanged: bounds for the l heaviest.

    Parameters
    ----------
    sizes : tuple of int
        Each l, falling.
    parts : tuple of FloorCertificate
        Of l coordinates with equal weights.
    """

    sizes: tuple[int, ...]
    parts: tuple[FloorCertificate, ...]

    @property
    def method(self) -> str:
        """Kinds of the parts' bounds."""
        return _kinds(self.parts)

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Sum over l of (w_(l) - w_(l+1)) times the bound for l coordinates."""
        unit = exchangeable(sensitivity, weights)
        if unit is None or len(self.sizes) != len(self.parts):
            return 0.0
        heavy = np.append(np.sort(unit[1])[::-1], 0.0)
        ends = np.unique(self.sizes)
        if ends.size != len(self.sizes) or ends[0] < 1 or ends[-1] >= heavy.size:
            return 0.0
        total, before = 0.0, 0.0
        # Sizes that are left out lower the weights of the others: w_(l) - w_(next l).
        for size, part in sorted(zip(self.sizes, self.parts, strict=True), reverse=True):
            rise = heavy[size - 1] - before
            before = heavy[size - 1]
            inner = unit[0].restricted(range(size))
            total += rise * part.bound(inner, epsilon, delta, np.ones(size))
        return float(total) * (1.0 - 1e-12)


def free_cube(sensitivity: Sensitivity) -> tuple[int, float]:
    """How many coordinates, whichever they are, move by how much at once, in any directions."""
    found = sensitivity.differences
    if found is not None:
        return (0, 0.0) if found.full else (found.down, found.size)
    side = sensitivity.ball_radius(math.inf)
    return (sensitivity.dimension, side) if side else (0, 0.0)


@dataclass(frozen=True)
class Subsets:
    """Certificate for at most m of K coordinates, or for a cube: any k <= m may move at once.

    Where differences are whole, the bound is one for the noise and uniform noise beside it, whose
    variance 1/12 is taken off.

    Averaged over all subsets of k coordinates, sum sigma_i^2 is K / k times the floor of a cube
    of k coordinates.

    Parameters
    ----------
    inner : LInf
        The cube of k coordinates.
    part : FloorCertificate
        For that cube with equal weights.
    """

    inner: LInf
    part: FloorCertificate

    @property
    def method(self) -> str:
        """Kind of the bound used."""
        return f"cube of a subset, {self.part.method}"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Sum of the weights over k, times the bound for the cube; 0 for unequal weights."""
        K = sensitivity.dimension
        most, side = free_cube(sensitivity)
        if self.inner.of > most or self.inner.radius > side or not np.all(weights == weights[0]):
            return 0.0
        share = float(weights[0]) * K / self.inner.of
        value = share * self.part.bound(self.inner, epsilon, delta, np.ones(self.inner.of))
        lost = (1.0 + MARGIN) / 12.0 * K * float(weights[0]) if sensitivity.is_whole else 0.0
        return max(0.0, value - lost)


def _kinds(parts: tuple[FloorCertificate, ...]) -> str:
    """Methods of several certificates, each named once."""
    return " + ".join(dict.fromkeys(part.method for part in parts))
