"""The exact privacy profile of noise whose -log density is piecewise quadratic and convex.

With psi = -log g, the privacy loss of a shift by d is L(t) = psi(t + d) - psi(t). It grows with
t, is odd about t = -d / 2 and is itself piecewise quadratic. With t1 the last point where
L <= epsilon and t2 = t1 + d, equations (14)-(16) of Muthukrishnan & Kalyani ("Grafting Laplace
and Gaussian distributions", IEEE TIFS 2023) read

    delta = SF(t1) - e^epsilon SF(t2) = g(t1) [M(t1) - M(t2)],    M = SF / g,

since g(t1) = e^epsilon g(t2) (or t2 is the bound of the support, where M is 0). M falls, since
g is log-concave. With fall(a, b) = M(a) - M(b) and g M = 1/2 at 0, symmetry gives for t1 < 0

    delta = 1 - g(t1) / g(0) + g(t1) [fall(0, |t1|) + fall(0, t2)].

Every term is positive, and `scalar.tail_ratio` has the falls in closed form; t1 is the root
of a quadratic. All five cases of equation (13) come out of these two lines.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.noise.exact import (
    as_double,
    as_double_above,
    as_pair,
)
from dpnoise.privacy.scalar.tail_ratio import TailRatio

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.noise.base import Noise
    from dpnoise.noise.exact import Quadratic

_MIN = 1e-300  # in place of 0 in a logarithm that only matters beside a much larger one


class PieceShift:
    """Noise with a piecewise quadratic, convex -log density, and a positive shift of it.

    `smallest_delta` is no less than the mass that leaves the support, and at most 1e-60 of it more.
    """

    log_error, epsilon_error = 4e-12, 0.0

    def __init__(self, noise: Noise, shift: Fraction) -> None:
        exact = noise.exact_pieces()
        bounded = noise.bound < math.inf
        bound = Fraction(noise.bound) if bounded else math.inf
        self._ratio = TailRatio(exact, bound)
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
