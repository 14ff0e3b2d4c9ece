"""Minimum variance over a family with a shape and a scale, with a vectorised profile.

At a fixed shape delta falls with the scale, so that the budget determines one scale, found by
Newton's method for many shapes at once. What is left is the variance as a function of the
shape, with kinks and perhaps with more than one local minimum: it is scanned on a grid, and the
neighbourhood of the best point is divided again and again.

A variance is checked from the other side: at equal variance, is any other shape more private?
That takes one evaluation of the profile, so that a good guess is confirmed without a search.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.calibration.certify import certified_calibration

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise.calibration.budget import Budget, Calibration
    from dpnoise.noise.base import Noise

_STEPS = 200
_LONGEST, _FLATTEST = 3.0, 1e-9  # bounds of the Newton step and of the slope
_CLOSE, _ROUGH = 1e-13, 1e-6  # errors of log d, in the end and in a scan
_EVEN = 1e-5  # error of log delta
_POINTS, _ROUNDS = 17, 30
_FLAT = 4e-13  # differences of log variance that are rounding
_NARROW = 1e-14
# Relative differences of variances below this are rounding, largest for OSGT far out.
_RESOLVED = 1e-11
# Relative distances from a candidate at which other shapes are tried: the grid is coarse.
_BESIDE = np.geomspace(1e-6, 0.6, 40)


class Candidate(NamedTuple):
    """A shape that may be the best one, and d = sensitivity / scale that spends delta."""

    shape: float
    d: float


class ShapeFamily(NamedTuple):
    """A family and a way to account for its privacy.

    `log_delta` maps (shape, d, epsilon) to log delta and its derivative in log d, where d is the
    sensitivity over the scale.
    """

    make: Callable[[float, float], Noise]  # (shape, scale) -> noise
    log_delta: Callable[[Array, Array, float], tuple[Array, Array]]
    variance: Callable[[Array], Array]  # at scale 1, by shape
    grid: Array  # increasing shapes that reach both limits of the family
    limit: float  # variance for sensitivity 1 at the upper limit, which no member attains
    near: float  # how far above the limit noise may be that stands for it, relatively
    candidate: Candidate | None = None


def solve_scale(
    log_delta: Callable[[Array], tuple[Array, Array]],
    target: float,
    start: Array,
    close: float = _CLOSE,
) -> Array:
    """Values of log d with log delta = target, for many increasing functions at once.

    Newton's method in a bracket, from `start` to an error of `close`. `log_delta` gives log delta
    and its derivative in log d.
    """
    x = start
    low, high = np.full(x.shape, -np.inf), np.full(x.shape, np.inf)
    for k in range(_STEPS):
        value, slope = log_delta(np.exp(x))
        above = value > target
        low, high = np.where(above, low, x), np.where(above, x, high)
        step = np.clip((target - value) / np.maximum(slope, _FLATTEST), -_LONGEST, _LONGEST)
        # Beside a kink the slope is huge, so that a short step is not enough to stop.
        even = (np.abs(value - target) <= _EVEN) | (high - low <= close)
        shortest = np.where(even | np.isfinite(high - low), 0.0, min(close * 2.0**k, _LONGEST))
        following = x + np.where(above, -1.0, 1.0) * np.maximum(np.abs(step), shortest)
        outside = (following <= low) | (following >= high)
        outside &= ~even | (following != x)
        with np.errstate(invalid="ignore"):  # inf - inf before both ends are known
            middle = 0.5 * (low + high)
        following = np.where(outside & np.isfinite(middle), middle, following)
        done = even & (np.abs(following - x) <= close)
        if np.all(done):
            return x
        x = following
    if not np.all(done | np.isfinite(low)):
        message = f"calibration: no scale with log delta = {target!r} within {_STEPS} steps"
        raise RuntimeError(message)
    return np.where(done, x, low)  # the private side


def minimize_on_interval(
    value: Callable[[Array], Array], grid: Array, values: Array
) -> tuple[float, float]:
    """Argument and minimum of a vectorised function of order 1, from its values on a grid.

    The interval between the neighbours of the best point is divided again and again, so that
    kinks do no harm. Of several local minima that the grid does not resolve, one may be
    missed.
    """
    points = grid
    for _ in range(_ROUNDS):
        best = int(np.argmin(values))
        around = slice(max(best - 1, 0), best + 2)
        low, middle, high = points[around][0], points[best], points[around][-1]
        flat = np.max(values[around]) - values[best] <= _FLAT
        if flat or high - low <= _NARROW * (abs(low) + abs(high)):
            break
        inner = np.linspace(low, high, _POINTS)[1:-1]
        inner = inner[inner != middle]
        order = np.argsort(np.concatenate([points[around], inner]))
        points, values = (
            np.concatenate([old[around], new])[order]
            for old, new in ((points, inner), (values, value(inner)))
        )
    best = int(np.argmin(values))
    return float(points[best]), float(values[best])


class _ScaleSearch:
    """One family and one budget for sensitivity 1."""

    def __init__(self, family: ShapeFamily, epsilon: float, delta: float) -> None:
        self.family, self.epsilon, self.target = family, epsilon, math.log(delta)
        # As if all needed the variance of the limit.
        self._known = family.grid, 0.5 * np.log(family.variance(family.grid) / family.limit)

    def log_d(self, shapes: Array, close: float = _CLOSE) -> Array:
        """Values of log d that spend delta; the solutions are the next start."""
        start = np.interp(shapes, *self._known)
        found = solve_scale(
            lambda d: self.family.log_delta(shapes, d, self.epsilon), self.target, start, close
        )
        self._known = shapes, found
        return found

    def log_variance(self, shapes: Array, close: float = _CLOSE) -> Array:
        """Logarithms of the variances that the budget needs."""
        return np.log(self.family.variance(shapes)) - 2.0 * self.log_d(shapes, close)

    def private(self, shapes: Array, variance: float) -> NDArray[np.bool_]:
        """Whether noise of this variance keeps the budget, by shape."""
        d = np.sqrt(self.family.variance(shapes) / variance)
        return self.family.log_delta(shapes, d, self.epsilon)[0] <= self.target

    def unbeaten(self, variance: float, near: float | None = None) -> bool:
        """Whether no shape of the grid, or near to one, keeps the budget with less variance."""
        shapes = self.family.grid
        if near is not None:
            shapes = np.concatenate([shapes, near * (1.0 - _BESIDE), near * (1.0 + _BESIDE)])
        return not np.any(self.private(shapes, variance * (1.0 - _RESOLVED)))


def minimum_variance(family: ShapeFamily, budget: Budget, method: str = "exact") -> Calibration:
    """Certified noise of minimum variance of a family, for a positive delta."""
    search = _ScaleSearch(family, budget.epsilon, budget.tight.delta)
    unit, infimum = budget.sensitivity, None
    if family.candidate:
        shape, d = family.candidate
        variance = float(family.variance(np.array([shape]))[0]) / d**2
        if variance <= family.limit * (1.0 + _RESOLVED) and search.unbeaten(variance, shape):
            return certified_calibration(family.make(shape, unit / d), budget, method=method)
    if search.unbeaten(family.limit):
        infimum = family.limit * unit**2
        close = search.private(family.grid, family.limit * (1.0 + family.near))
        shape = float(family.grid[np.argmax(close)] if close.any() else family.grid[-1])
    else:
        values = search.log_variance(family.grid, _ROUGH)
        shape, _ = minimize_on_interval(search.log_variance, family.grid, values)
    d = math.exp(float(search.log_d(np.array([shape]))[0]))
    return certified_calibration(
        family.make(shape, unit / d), budget, method=method, infimum=infimum
    )
