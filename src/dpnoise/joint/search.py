"""Scale, bound and power of joint noise: searches, whose results are certified afterwards.

A search goes by an estimate of delta. What it finds is verified by the proved bounds, and enlarged
by what their gap needs: delta falls as the noise is stretched (docs/joint-noise.md).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.joint.profile import radial_delta_bounds, radial_delta_estimate
from dpnoise.joint.radial import LARGEST_POWER, RadialNoise
from dpnoise.joint.staircase import NormStaircase, staircase_layer_moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity

_CELLS = 2**16  # of a certificate
_FAR = 30.0  # of log delta - target: other values only say 'far'
_EVEN = 1e-7  # a log delta this close to the budget's is on it
_PROBE = 1e-3  # step for the slope of log delta
_COLD, _WARM = 0.25, 0.05  # first steps of log scale from a guess and from a neighbour's root
_CERTIFICATES = 8
_LOG_FAR = 600.0  # logarithm of a bound that nothing reaches
_WIDEST = 4.0  # epsilon times the scale of truncated noise
_BELOW = 5.0  # of log gamma, where the minimum may be just beyond 1
_CLOSE = 5e-4  # of log scale and log power at a minimum, where the variance is flat


class Search:
    """One sensitivity set and one budget with delta > 0."""

    def __init__(self, ball: Sensitivity, epsilon: float, delta: float) -> None:
        self.ball, self.epsilon, self.delta = ball, epsilon, delta
        self.log_delta = math.log(delta)

    def spare(self, noise: RadialNoise) -> float:
        """About the budget's log delta less that of the noise."""
        about = radial_delta_estimate(noise, self.epsilon)
        return self.log_delta - math.log(about) if about > 0.0 else _FAR

    def root(self, curve: Callable[[float], RadialNoise], start: float, step: float) -> float:
        """Where noise on a curve has about the budget's delta."""
        from dpnoise.calibration.equal_variance import (  # noqa: PLC0415 - 0.1 s
            increasing_root,
        )

        def spare(x: float) -> float:
            try:
                return self.spare(curve(x))
            except ValueError:  # hardly any mass within the bound
                return -_FAR

        return increasing_root(spare, start, step, even=_EVEN)

    def certified(
        self, curve: Callable[[float], RadialNoise], x: float
    ) -> tuple[RadialNoise, float, float]:
        """The noise near `x` whose delta is proved to be within the budget, and its bounds.

        RuntimeError if there is none close by.
        """
        here, after = self.spare(curve(x)), self.spare(curve(x + _PROBE))
        if after >= _FAR:  # (epsilon, 0)-DP noise is next to it: the slope on the other side
            here, after = self.spare(curve(x - _PROBE)), here
        slope = max((after - here) / _PROBE, 1e-3)
        for _ in range(_CERTIFICATES):
            noise = curve(x)
            lower, upper = radial_delta_bounds(noise, self.epsilon, cells=_CELLS)
            if upper <= self.delta:
                return noise, lower, upper
            x += 1.01 * (math.log(upper) - self.log_delta) / slope + 1e-9
        message = f"calibration of joint noise: {curve(x)!r} could not be verified"
        raise RuntimeError(message)

    def scales(self, power: float) -> Callable[[float], RadialNoise]:
        """The noise of a power, by the logarithm of its scale."""
        return lambda x: RadialNoise(self.ball, math.exp(min(x, _LOG_FAR)), power)

    def scale(self, power: float, start: float | None = None) -> float:
        """The logarithm of the scale that a power needs."""
        step = _WARM
        if start is None:  # a loss of epsilon from the typical norm outwards
            K = self.ball.active_dimension
            step = _COLD
            start = math.log(K / max(self.epsilon, 1e-3)) - math.log(K / power) / power
        return self.root(self.scales(power), start, step)

    def bounds(self, scale: float) -> Callable[[float], RadialNoise]:
        """Truncated K-norm noise of a scale, by the logarithm of its bound."""
        return lambda x: RadialNoise(self.ball, scale, 1.0, math.exp(min(x, _LOG_FAR)))

    def bound(self, scale: float) -> float:
        """The logarithm of the bound that truncated K-norm noise of a scale needs."""
        K = self.ball.active_dimension
        return self.root(self.bounds(scale), math.log(scale * (K + 1.0) + 1.0), _COLD)


def pure_scale(epsilon: float) -> float:
    """The least double that is at least 1 / epsilon."""
    scale = 1.0 / epsilon
    while Fraction(scale) * Fraction(epsilon) < 1:
        scale = math.nextafter(scale, math.inf)
    return scale


def minimum(function: Callable[[float], float], grid: Array) -> float:
    """The argument of the smallest value seen on a grid and between its best neighbours."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 - 0.1 s, for these searches only

    cached = cache(function)
    values = [cached(float(x)) for x in grid]
    best = int(np.argmin(values))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    with np.errstate(invalid="ignore"):  # infinite where nothing was found
        found = minimize_scalar(
            cached, bounds=(float(low), float(high)), method="bounded", options={"xatol": _CLOSE}
        )
    return float(found.x) if found.fun < values[best] else float(grid[best])


def best_gamma(dimension: int, epsilon: float, order: int = 2) -> float:
    """The gamma of the staircase of minimum E T^order, 2 for the variance."""

    def moment(x: float) -> float:
        return staircase_layer_moment(dimension, epsilon, math.exp(x), order)

    low = -max(1.0, epsilon / (dimension + order)) - _BELOW  # gamma = 0 and gamma = 1 are the same
    return math.exp(minimum(moment, np.linspace(low, -1e-4, 49)))


def staircase(ball: Sensitivity, epsilon: float, order: int = 2) -> NormStaircase:
    """The staircase of minimum variance, or of the least mean norm with order 1."""
    return NormStaircase(ball, epsilon, best_gamma(ball.active_dimension, epsilon, order))


def truncated_scale(search: Search, start: float) -> float:
    """The scale of truncated K-norm noise of minimum variance, from `start` upwards."""

    def mean_square(x: float) -> float:
        scale = start * math.exp(x)
        try:
            return search.bounds(scale)(search.bound(scale)).layer_moment(2)
        except RuntimeError:  # private at no bound
            return math.inf

    widest = math.log(_WIDEST / (start * max(search.epsilon, 1e-3 / start)))
    grid = np.append(0.0, np.geomspace(1e-2, max(widest, 0.1), 5))
    return start * math.exp(minimum(mean_square, grid))


def best_power(search: Search) -> float:
    """The power above 1 of generalised gamma noise of minimum variance."""
    last: list[float | None] = [None]

    def mean_square(x: float) -> float:
        power = math.exp(x)
        try:
            log_scale = search.scale(power, last[0])
        except RuntimeError:
            return math.inf
        last[0] = log_scale
        return search.scales(power)(log_scale).layer_moment(2)

    grid = np.log([1.01, 1.06, 1.15, 1.3, 1.6, 2.0, 2.6, 4.0, 8.0, LARGEST_POWER])
    return math.exp(minimum(mean_square, grid))
