"""Symmetric densities exp(-psi(|t|)) up to a factor, in doubles.

psi is piecewise offset + rate t + curvature t^2/2 and convex. Moments, Fisher information, tails of
the privacy loss and the privacy profile are Gauss-Legendre sums over stretches between the seams of
the integrand: no closed form, no normaliser, no distribution function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_STRETCHES = 24
_DEPTH = 80.0  # where exp(-psi) has fallen by exp(-80) the rest is nothing
_REACHES = 2.0 ** np.arange(-330.0, 331.0)


@dataclass(frozen=True)
class Density:
    """Symmetric density exp(-psi(|t|)) up to a factor, with convex psi.

    `pieces` are (start, offset, rate, curvature) of psi from 0 outwards; beyond `bound` there is
    no density.
    """

    pieces: tuple[tuple[float, float, float, float], ...]
    bound: float = math.inf

    def psi(self, t: Array | float) -> Array:
        """Minus the logarithm of the density, up to a constant; infinite beyond the bound."""
        t = np.abs(t)
        starts, offset, rate, curvature = self._columns
        k = starts.searchsorted(t, side="right") - 1
        value = offset[k] + t * (rate[k] + 0.5 * curvature[k] * t)
        return value if math.isinf(self.bound) else np.where(t <= self.bound, value, np.inf)

    @cached_property
    def _columns(self) -> Array:
        """Starts, offsets, rates and curvatures of the pieces."""
        return np.array(self.pieces).T

    @cached_property
    def seams(self) -> list[float]:
        """Points t >= 0 at which psi is not smooth."""
        inner = [piece[0] for piece in self.pieces]
        return inner if math.isinf(self.bound) else [*inner, self.bound]

    def reach(self, start: float, depth: float = _DEPTH) -> float:
        """Distance from 0 at which exp(-psi) is at most exp(-depth) of its value at `start`.

        At most twice as far from the start as that, and never beyond the bound.
        """
        start = abs(start)
        steps = start + _REACHES
        if math.isfinite(self.bound):
            steps = np.minimum(steps, self.bound)
        beyond = self.psi(steps) >= float(self.psi(start)) + depth
        return float(steps[int(np.argmax(beyond))]) if beyond.any() else self.bound

    @cached_property
    def half(self) -> float:
        """Integral of exp(-psi) over t >= 0."""
        return self.integral(lambda t: np.exp(-self.psi(t)), 0.0, self.reach(0.0))

    def integral(
        self,
        function: Callable[[Array], Array],
        low: float,
        high: float,
        more: Iterable[float] = (),
    ) -> float:
        """Integral of a function that is smooth between the seams and `more` points."""
        marks = [*more, *self.seams, *(-seam for seam in self.seams)]
        t, weights = panels([low, high, *(mark for mark in marks if low < mark < high)])
        return float(weights @ function(t))

    def expectation(self, function: Callable[[Array], Array]) -> float:
        """Mean of an even function of the noise."""
        density = self.integral(
            lambda t: function(t) * np.exp(-self.psi(t)), 0.0, self.reach(0.0, 1.5 * _DEPTH)
        )
        return density / self.half

    @property
    def variance(self) -> float:
        """Variance of the noise."""
        return self.expectation(np.square)

    @property
    def fisher_information(self) -> float:
        """Mean of the squared derivative of psi."""
        starts, _, rate, curvature = self._columns

        def slope(t: Array) -> Array:
            k = np.searchsorted(starts, t, side="right") - 1
            return rate[k] + curvature[k] * t

        return self.expectation(lambda t: slope(t) ** 2)

    def loss(self, t: Array | float, shift: float) -> Array:
        """Privacy loss log g(t) - log g(t + shift)."""
        return self.psi(t + shift) - self.psi(t)

    def crossing(self, shift: float, epsilon: float) -> float | None:
        """Smallest t >= -shift/2 with a loss of epsilon >= 0 or more, None if there is none."""
        low, high = -0.5 * shift, self.reach(0.0, 4.0 * _DEPTH)
        marks = [s * seam + o for seam in self.seams for s in (1, -1) for o in (0.0, -shift)]
        edges = np.array(sorted({low, high, *(mark for mark in marks if low < mark < high)}))
        last = edges[-1] if math.isinf(self.bound) else self.bound - 0.5 * shift
        losses = self.loss(np.minimum(edges, last), shift)
        beyond = np.flatnonzero(losses >= epsilon)
        if not beyond.size:
            return None
        place = int(beyond[0])
        if place == 0:
            return float(edges[0])

        def excess(t: float) -> float:
            return min(float(self.loss(t, shift)), 1e9) - epsilon

        if excess(edges[place - 1]) >= 0.0:
            return float(edges[place - 1])
        return float(
            optimize.brentq(excess, edges[place - 1], edges[place], xtol=1e-300, rtol=1e-15)
        )

    def delta(self, shift: float, epsilon: float) -> float:
        """Privacy profile: the integral of [g(t) - e^epsilon g(t + shift)]_+."""
        if 2.0 * self.bound <= shift:
            return 1.0
        start = self.crossing(shift, epsilon)
        if start is None:
            return 0.0
        top = float(self.psi(start)) if start > 0.0 else float(self.psi(0.0))

        def gain(t: Array) -> Array:
            return np.exp(top - self.psi(t)) * -np.expm1(
                np.minimum(epsilon - self.loss(t, shift), 0.0)
            )

        end = self.reach(max(start, 0.0))
        shifted = [mark - shift for seam in self.seams for mark in (seam, -seam)]
        return self.integral(gain, start, end, shifted) * math.exp(-top) / (2.0 * self.half)

    def loss_tail(self, shift: float, epsilon: float) -> float:
        """Probability that the loss is epsilon or more."""
        start = self.crossing(shift, epsilon)
        return 0.0 if start is None else self.tail(start)

    def tail(self, start: float) -> float:
        """Probability of t >= start."""
        if start < 0.0:
            return 1.0 - self.tail(-start)
        if start >= self.bound:
            return 0.0
        top = float(self.psi(start))
        part = self.integral(lambda t: np.exp(top - self.psi(t)), start, self.reach(start))
        return part * math.exp(-top) / (2.0 * self.half)


def panels(edges: Iterable[float]) -> tuple[Array, Array]:
    """Nodes and weights of Gauss-Legendre sums, on several stretches between each two edges."""
    ordered = np.array(sorted(set(edges)))
    steps = np.linspace(0.0, 1.0, _STRETCHES + 1)
    ends = ordered[:-1, None] + np.diff(ordered)[:, None] * steps
    low, high = ends[:, :-1].ravel(), ends[:, 1:].ravel()
    half = 0.5 * (high - low)
    nodes = (0.5 * (low + high))[:, None] + half[:, None] * _NODES
    return nodes.ravel(), (half[:, None] * _WEIGHTS).ravel()


def gaussian(sigma: float) -> Density:
    """Gaussian density of standard deviation sigma."""
    return Density(((0.0, 0.0, 0.0, sigma**-2),))


def laplace(beta: float) -> Density:
    """Laplace density of scale beta."""
    return Density(((0.0, 0.0, 1.0 / beta, 0.0),))


def flipped_huber(alpha: float, gamma: float) -> Density:
    """Flipped Huber density, equations (7) and (8) of flipped-huber-2023."""
    tail = (alpha, 0.5 * (alpha / gamma) ** 2, 0.0, gamma**-2)
    return Density(((0.0, 0.0, alpha / gamma**2, 0.0), tail) if alpha > 0.0 else (tail,))


def offset_symmetric_gaussian(theta: float, rho: float) -> Density:
    """Offset-symmetric Gaussian density, Appendix F of flipped-huber-2023."""
    return Density(((0.0, 0.0, theta / rho**2, rho**-2),))


def truncated_laplace(beta: float, bound: float) -> Density:
    """Laplace density of scale beta inside a bound (Geng, Ding, Guo & Kumar 2020)."""
    return Density(((0.0, 0.0, 1.0 / beta, 0.0),), bound)


def huber(alpha: float, scale: float) -> Density:
    """Huber density: Gaussian up to alpha times the scale, exponential from there."""
    tail = (alpha * scale, -0.5 * alpha**2, alpha / scale, 0.0)
    return Density(((0.0, 0.0, 0.0, scale**-2), tail))
