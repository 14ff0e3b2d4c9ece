"""The tail ratio M = P(T > t) / g(t) of a log-concave density by pieces, and how it falls.

A privacy profile is a difference of two values of M (see `dpnoise.privacy.scalar.pieces`), which
cancels for small shifts. M falls, and its derivative satisfies -M' = 1 - psi' M with
psi = -log g. On a piece of t >= 0 that ends at r, with y = r - t and drop = g(r) / g(t),

    psi' = s constant:  M = (1 - drop) / s + drop M(r),  -M' = -M'(r) drop,
    psi'' = c > 0:      M = m(z) / sqrt(c) + X drop,     -M' = 1 - z m(z) - X psi' drop,

where z = psi' / sqrt(c), m is the Mills ratio of the normal distribution and X takes M to its
value at r. At a kink of psi -M' jumps by M times the jump of psi'; at a bound M = 0.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.noise.exact import as_double
from dpnoise.noise.exponential_power import mills_ratio
from dpnoise.privacy.gaussian import mills_slope

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.noise.exact import Quadratic

# Beyond this many standard units only the logarithm of the density counts.
_MAX = 1e150
# A width of this times (1 + z), in standard units from z on, costs a difference of Mills
# ratios two digits; on less, _FEW Gauss-Legendre nodes leave 1e-20.
_NARROW, _FEW = 0.02, 5
_NEAR, _SOME = 0.7, 10  # up to this drop -M' keeps its digits; from it on _SOME nodes do


def _nodes(count: int) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return 0.5 * nodes + 0.5, 0.5 * weights


_NODES, _WEIGHTS = _nodes(_SOME)
_FEW_NODES, _FEW_WEIGHTS = _nodes(_FEW)


def _mean(x: Array) -> Array:
    """(1 - exp(-x)) / x."""
    return np.where(x > 0.0, -np.expm1(-x) / np.where(x > 0.0, x, 1.0), 1.0)


def normal_fall(z: Array, width: Array) -> Array:
    """m(z) - m(z + width) for the normal Mills ratio m, z > -0.9 and width >= 0 of shape (n,)."""
    fall = mills_ratio(z) - mills_ratio(np.minimum(z + width, _MAX))
    narrow = width < _NARROW * (1.0 + z)
    if narrow.any():
        points = np.minimum(z[narrow, None] + width[narrow, None] * _FEW_NODES, _MAX)
        fall[narrow] = width[narrow] * (mills_slope(points) @ _FEW_WEIGHTS)
    return fall


class _Exponential:
    """M on a piece with constant psi'. Places are given by t and y, the distance to its end."""

    def __init__(self, piece: Quadratic, end: Fraction | float, ratio: float, q: float) -> None:
        self.left, self.slope = as_double(piece.left), as_double(piece.slope)
        self.length = as_double(end - piece.left)
        self.end_ratio, self.end_q = ratio, q

    def ratio(self, _t: Array, y: Array) -> Array:
        """M(t)."""
        if self.length == math.inf:
            return np.full_like(y, 1.0 / self.slope)
        x = self.slope * y
        return y * _mean(x) + np.exp(-x) * self.end_ratio

    def q(self, _t: Array, y: Array) -> Array:
        """-M'(t)."""
        if self.length == math.inf:
            return np.zeros_like(y)
        return np.exp(-self.slope * y) * self.end_q

    def fall(self, t: Array, y: Array, width: Array) -> Array:
        """M(t) - M(t + width)."""
        return self.q(t, np.maximum(y - width, 0.0)) * width * _mean(self.slope * width)


class _Normal:
    """M on a piece with constant psi'' > 0. Near an end y has digits that t has lost."""

    def __init__(self, piece: Quadratic, end: Fraction | float, ratio: float, q: float) -> None:
        self.left, self.slope, self.curvature = map(as_double, piece)
        self.length = as_double(end - piece.left)
        self.root = math.sqrt(self.curvature)
        self.end_ratio, self.end_q = ratio, q
        self.excess = 0.0
        if self.length < math.inf:
            slope = as_double(piece.at(Fraction(end)))
            normal_q = mills_slope(np.array([min(slope / self.root, _MAX)]))[0]
            self.excess = float(normal_q - q) / slope

    def _slope_at(self, t: Array) -> Array:
        return self.slope + self.curvature * (t - self.left)

    def _z(self, t: Array) -> Array:
        return np.minimum(self._slope_at(t) / self.root, _MAX)

    def _drop(self, t: Array, y: Array) -> Array:
        return np.exp(-y * (self._slope_at(t) + 0.5 * self.curvature * y))

    def ratio(self, t: Array, y: Array) -> Array:
        """M(t)."""
        normal = mills_ratio(self._z(t)) / self.root
        return normal + self.excess * self._drop(t, y) if self.excess else normal

    def q(self, t: Array, y: Array) -> Array:
        """-M'(t)."""
        normal = mills_slope(self._z(t))
        if not self.excess:
            return normal
        value, near = np.empty_like(t), self._drop(t, y) > _NEAR
        value[near] = self._q_near(t[near], y[near])
        far = ~near
        rest = self.excess * self._slope_at(t[far]) * self._drop(t[far], y[far])
        value[far] = normal[far] - rest
        return value

    def _q_near(self, t: Array, y: Array) -> Array:
        """-M' near the end, as the integral of psi'' M exp(psi(t) - psi)."""
        x = y[:, None] * _NODES
        start = t[:, None]
        part = np.exp(-x * (self._slope_at(start) + 0.5 * self.curvature * x))
        part = part * self.ratio(start + x, y[:, None] - x)
        return self.curvature * y * (part @ _WEIGHTS) + self._drop(t, y) * self.end_q

    def fall(self, t: Array, y: Array, width: Array) -> Array:
        """M(t) - M(t + width)."""
        fall = normal_fall(self._z(t), self.root * width) / self.root
        if not self.excess:
            return fall
        near = self._drop(t, y) > _NEAR
        a, b, w = t[near, None], y[near, None], width[near]
        x = w[:, None] * _NODES
        q = self.q((a + x).ravel(), (b - x).ravel()).reshape(x.shape)
        after, x = self._drop(t + width, y - width), width
        rise = after * -np.expm1(-x * (self._slope_at(t) + 0.5 * self.curvature * x))
        fall = fall - self.excess * rise
        fall[near] = w * (q @ _WEIGHTS)
        return fall


class TailRatio:
    """M = P(T > t) / g(t) for t >= 0, with g symmetric about 0 and -log g convex, in pieces.

    `ends` are the right ends of the pieces, the last one the bound of the support or infinity.
    """

    def __init__(self, pieces: list[Quadratic], bound: Fraction | float) -> None:
        self.ends = [*(piece.left for piece in pieces[1:]), bound]
        ratio, q = 0.0, 1.0  # at a bound
        self._pieces: list[_Exponential | _Normal] = []
        for i in range(len(pieces) - 1, -1, -1):
            kind = _Normal if pieces[i].curvature else _Exponential
            piece = kind(pieces[i], self.ends[i], ratio, q)
            self._pieces.insert(0, piece)
            if i:
                left, length = np.array([piece.left]), np.array([piece.length])
                ratio, q = float(piece.ratio(left, length)[0]), float(piece.q(left, length)[0])
                q += as_double(pieces[i].slope - pieces[i - 1].at(pieces[i].left)) * ratio
        self._slopes = [(as_double(p.slope), as_double(p.curvature)) for p in pieces]
        rises = [a.rise(b.left) for a, b in pairwise(pieces)]
        self._depths = [as_double(sum(rises[:i])) for i in range(len(pieces))]

    def depth(self, t: Array) -> Array:
        """Log g(0) - log g(t)."""
        value = np.zeros_like(t)
        for i, piece in enumerate(self._pieces):
            slope, curvature = self._slopes[i]
            x = np.maximum(t - piece.left, 0.0)
            inner = self._depths[i] + x * (slope + 0.5 * curvature * x)
            value = np.where(t >= piece.left, inner, value)
        return value

    def log(self, t: Array) -> Array:
        """Log M(t), -inf at the bound."""
        value = np.empty_like(t)
        for piece in self._pieces:
            inside = t >= piece.left
            y = np.maximum(piece.length - (t[inside] - piece.left), 0.0)
            value[inside] = piece.ratio(t[inside], y)
        with np.errstate(divide="ignore"):
            return np.log(value)

    def fall(self, t: Array, to_ends: list[Array], width: Array) -> Array:
        """M(t) - M(t + width), with to_ends[i] the distance from t to ends[i]."""
        total, rest = np.zeros_like(t), width.copy()
        for piece, to_end in zip(self._pieces, to_ends, strict=True):
            here = (to_end > 0.0) & (rest > 0.0)
            if not here.any():
                continue
            inside = t[here] >= piece.left
            y = np.where(inside, to_end[here], piece.length)
            part = np.minimum(rest[here], y)
            total[here] += piece.fall(np.maximum(t[here], piece.left), y, part)
            rest[here] -= part
        return total

    def fall_from_peak(self, t: Array) -> Array:
        """M(0) - M(t)."""
        to_ends = [np.full_like(t, as_double(end)) for end in self.ends]
        return self.fall(np.zeros_like(t), to_ends, t)
