"""The exact privacy profile of noise whose -log density is piecewise quadratic and convex.

With psi = -log g, the privacy loss of a shift by d is L(t) = psi(t + d) - psi(t). It grows with
t, is odd about t = -d / 2 and is itself piecewise quadratic. With t1 the last point where
L <= epsilon and t2 = t1 + d, equations (14)-(16) of Muthukrishnan & Kalyani ("Grafting Laplace
and Gaussian distributions", IEEE TIFS 2023) read

    delta = SF(t1) - e^epsilon SF(t2) = g(t1) [M(t1) - M(t2)],    M = SF / g,

since g(t1) = e^epsilon g(t2) (or t2 is the bound of the support, where M is 0). M falls, since
g is log-concave. With fall(a, b) = M(a) - M(b) and g M = 1/2 at 0, symmetry gives for t1 < 0

    delta = 1 - g(t1) / g(0) + g(t1) [fall(0, |t1|) + fall(0, t2)].

Every term is positive; t1 is the root of a quadratic. All five cases of equation (13) come out of
these two lines.

**Falls of the tail ratio M.** A difference of two values cancels for small shifts. The derivative
satisfies -M' = 1 - psi' M. On a piece of t >= 0 that ends at r, with y = r - t and
drop = g(r) / g(t),

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

from dpnoise.noise.exact import (
    as_double,
    as_double_above,
    as_pair,
)
from dpnoise.noise.exponential_power import mills_ratio
from dpnoise.privacy.gaussian import mills_slope

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.noise.base import Noise
    from dpnoise.noise.exact import Quadratic


_MIN = 1e-300  # in place of 0 in a logarithm that only matters beside a much larger one
# Beyond this many standard units only the logarithm of the density counts.
_MAX = 1e150
# A width of this times (1 + z), in standard units from z on, costs a difference of Mills
# ratios two digits; on less, _FEW Gauss-Legendre nodes leave 1e-20.
_NARROW, _FEW = 0.02, 5
_NEAR, _SOME = 0.7, 10  # up to this drop -M' keeps its digits; from it on _SOME nodes do


class PieceShift:
    """Noise with a piecewise quadratic, convex -log density, and a positive shift of it.

    `smallest_delta` is no less than the mass that leaves the support, and at most 1e-60 of it more.
    """

    log_error, epsilon_error = 4e-12, 0.0

    def __init__(self, noise: Noise, shift: Fraction) -> None:
        exact = noise.exact_pieces()
        bounded = noise.bound < math.inf
        bound = Fraction(noise.bound) if bounded else math.inf
        self._ratio = _TailRatio(exact, bound)
        self._log_peak = -(noise.pieces() or ())[0].value
        self._shift = as_double(shift)
        end = bound - shift
        self._disjoint = bounded and 2 * bound <= shift
        start = -shift / 2
        edges = {piece.left for piece in exact} | {Fraction(0)}
        every = edges | {-e for e in edges} | {e - shift for e in edges}
        cuts = sorted({t for t in every if start < t < end} | {start})
        self._bounded = bounded and not self._disjoint
        self._cuts = [*cuts, Fraction(end)] if self._bounded else cuts
        self._tabulate(exact)
        self.smallest_delta = self._leaving(noise, shift) if bounded else Fraction(0)

    def _leaving(self, noise: Noise, shift: Fraction) -> Fraction:
        """The mass beyond the bound less the shift, rounded up."""
        bound = Fraction(noise.bound)
        if shift >= 2 * bound:
            return Fraction(1)
        if shift == bound:
            return Fraction(1, 2)
        mass = noise.mass_beyond(bound - shift)
        if mass is not None:
            return mass
        # As computed, with its possible error.
        log_delta = self.log_delta_and_slope(np.array([self.largest_loss]))[0][0]
        return Fraction(math.exp(min(log_delta + self.log_error, 0.0)))

    def _tabulate(self, exact: list[Quadratic]) -> None:
        """Table of stretches between cuts: L at their ends, L' at their ends and L''."""

        def right_hand(t: Fraction) -> tuple[Fraction, Fraction]:
            x, side = abs(t), 1 if t >= 0 else -1
            piece = [e for e in exact if e.left < x or (e.left == x and t >= 0)][-1]
            return side * piece.at(x), piece.curvature

        cuts, shift = self._cuts, self._cuts[0] * -2
        losses, left, right, curvatures = [Fraction(0)], [], [], []
        for i, cut in enumerate(cuts):
            (p0, c0), (p1, c1) = right_hand(cut), right_hand(cut + shift)
            slope, curvature = p1 - p0, c1 - c0
            left.append(as_double(slope))
            curvatures.append(as_double(curvature))
            if i + 1 < len(cuts):
                length = cuts[i + 1] - cut
                right.append(as_double(slope + curvature * length))
                losses.append(losses[-1] + length * (slope + curvature * length / 2))
        self._left, self._right, self._curvature = map(np.array, (left, right, curvatures))
        self._high, self._low = np.array([as_pair(loss) for loss in losses]).T
        self._cut = np.array([as_double(cut) for cut in cuts])
        self._to_end = [
            np.array([math.inf if end == math.inf else as_double(end - cut) for cut in cuts])
            for end in self._ratio.ends
        ]
        top = math.inf
        if self._bounded or slope == 0:  # exactly: its double may underflow
            top = as_double_above(losses[-1])
        self.largest_loss = 0.0 if self._disjoint else top

    def _crossing(self, epsilon: Array) -> tuple[Array, Array, Array]:
        """t1 = cut[k] + x, the last point with loss <= epsilon, as t1, k and x.

        Without any larger loss x is infinite.
        """
        gap = (self._high - epsilon[:, None]) + self._low  # L - epsilon at the cuts
        rows, last = np.arange(epsilon.size), len(self._cut) - 1
        k = np.maximum((gap <= 0.0).sum(axis=1) - 1, 0)
        below = -gap[rows, k]
        x = np.zeros_like(epsilon)
        if not self._bounded:
            slope = self._left[last]
            x[k == last] = below[k == last] / slope if slope > 0.0 else math.inf
        inner = (k < last) & (below > 0.0)
        j = k[inner]
        low, high = below[inner], gap[rows[inner], j + 1]
        # From the end whose loss is nearer to epsilon, so that nothing cancels.
        forwards = low <= high
        rise = np.where(forwards, low, high)
        slope = np.where(forwards, self._left[j], self._right[j])
        bend = np.where(forwards, self._curvature[j], -self._curvature[j])
        root = np.sqrt(np.maximum(slope * slope + 2.0 * bend * rise, 0.0))
        step = 2.0 * rise / (slope + root)
        x[inner] = np.where(forwards, step, -step)
        k[inner] = np.where(forwards, j, j + 1)
        return self._cut[k] + x, k, x

    def log_delta_and_slope(self, epsilon: Array) -> tuple[Array, Array]:
        """Log delta, and log of e^epsilon P(T > t2) = -d delta / d epsilon, at epsilon >= 0."""
        if self._disjoint:
            return np.zeros_like(epsilon), np.full_like(epsilon, -math.inf)
        # Distances and depths without a double belong to a delta without one.
        with np.errstate(over="ignore"):
            t1, k, x = self._crossing(epsilon)
            log_delta, log_slope = np.full((2, epsilon.size), -math.inf)
            for side, formula in ((t1 < 0.0, self._left_half), (t1 >= 0.0, self._right_half)):
                here = side & (t1 < math.inf)
                if here.any():
                    log_delta[here], log_slope[here] = formula(t1[here], k[here], x[here])
        return log_delta, log_slope

    def _left_half(self, t1: Array, _k: Array, _x: Array) -> tuple[Array, Array]:
        ratio, t2 = self._ratio, t1 + self._shift
        depth = ratio.depth(-t1)
        log_g = self._log_peak - depth
        fall = ratio.fall_from_peak(-t1) + ratio.fall_from_peak(t2)
        delta = np.minimum(-np.expm1(-depth) + np.exp(log_g) * fall, 1.0)
        return np.log(np.maximum(delta, _MIN)), log_g + ratio.log(t2)

    def _right_half(self, t1: Array, k: Array, x: Array) -> tuple[Array, Array]:
        ratio, t2 = self._ratio, t1 + self._shift
        log_g = self._log_peak - ratio.depth(t1)
        # Not end - t1, which loses digits of a small x.
        to_ends = [np.where(end[k] < math.inf, end[k] - x, math.inf) for end in self._to_end]
        fall = ratio.fall(t1, to_ends, np.full_like(t1, self._shift))
        return log_g + np.log(np.maximum(fall, _MIN)), log_g + ratio.log(t2)


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


class _TailRatio:
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
