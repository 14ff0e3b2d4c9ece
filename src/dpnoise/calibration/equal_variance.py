"""Minimum variance over a family with a shape and a scale, with a costly profile.

In K dimensions, and for families without a vectorised profile, one value of delta takes
milliseconds. The search therefore works at equal variance: with f(shape, V) = log delta - target
at variance V, the minimum variance V* is where the minimum of f over shapes is 0. Starting from
the best of some noise whose calibration is known (Gaussian, Laplace, a kink), f is scanned over
shapes; where it is negative, its minimum is located and the variance lowered to V at that shape.
As f is flat in the shape at its minimum, this converges quadratically: two rounds are usual.
How deep f is says little of how much variance there is to gain, since log delta falls much faster
with the variance near Laplace noise than near the Gaussian; so the shapes are scanned again at
the variance found, until none of them is more private.

Where delta is below what the inversion resolves beside a kink, one value of it can take a second
and leave its bounds far apart. So cheap bounds come first: they decide what is far from the
budget, and after a few such values the search goes by the cheap upper bound there. All limits
are on the number of evaluations, never on time.

Shapes are evaluated together wherever an estimate without bounds is enough
(`dpnoise.privacy.inversion.trapezoid`), and one by one by the account where it finds none.

Local minima of f that the grid does not resolve may be missed.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.privacy.composition import (
    composed_log_delta,
    composed_lower_bound,
    half_line_log_delta,
)
from dpnoise.privacy.inversion.loss import coordinate_loss
from dpnoise.privacy.inversion.trapezoid import log_deltas
from dpnoise.privacy.profile import log_privacy_profile
from dpnoise.privacy.vector import vector_profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array
    from dpnoise.calibration.budget import Budget
    from dpnoise.noise.base import Noise

# The estimate may be this much below the upper bound that certification asks for. One
# coordinate has a closed form.
_RTOL, _ROUGH, _SLACK = 1e-7, 1e-4, 1.2e-7
# Cheap bounds this far from the target decide; bounds of the inversion this far apart are of no
# use, and after so many of them it is not asked again where the cheap bounds leave it open.
_NARROWEST, _WIDEST = 1.01e-9, 0.99e6
_DECISIVE, _LOOSE, _MAX_LOOSE, _UNDECIDED = 0.7, 0.1, 4, 10.0
# After so many values that missed the accuracy asked for, up to 0.3 s each, the search ends; after
# so many without any lower bound the cheap upper bound decides alone.
_MAX_INACCURATE, _MAX_UNBOUNDED = 30, 12
_SCALAR_SLACK = 4e-11
_FLOOR = -30.0  # of log delta - target: much lower values only say 'far below'
_GROWTH, _BRACKETS = 2.0, 60
_EVEN = 2e-9  # a log delta this close to the target is on it
_CLOSE = 1e-13  # error of log d where log delta jumps
_PROMISING = 0.1  # f at a local minimum of the scan that may be negative between grid points
_DESCENTS = 2  # local minima to follow
_SCANS = 8  # a shape can turn out best only when the variance has come down
_GAIN = 2e-8  # a smaller gain in log delta is not worth another round
_LAST = 1e-4  # the gain after one of this size is of the order of its square
_SCALAR_GAIN, _SCALAR_LAST = 2e-10, 1e-5  # the same for one coordinate
_ROUNDS = 6
_SHAPE_CLOSE = 2e-4  # error of the shape relative to the grid's spacing
_SHAPE_NEAR = 2e-2  # the same while there is much to gain
_AT_END = 5e-2  # of an interval, relative: the minimum may lie beyond
_POINTS, _DIVISIONS = 17, 5  # of an interval at a time, and how often
_LITTLE = 1e-9  # of f, above the least
_BARRIER = 1.0  # of f, beyond which no shape is looked at one by one
_AGREE = 1e-5  # of log delta, between estimate and account
_STEPS = np.append(0.0, 2.0 ** np.arange(-2.0, 7.0))  # towards a crossing
_NEARBY = np.linspace(-0.1, 0.1, 5)  # around a crossing, in units of the step that contains it


class KnownNoise(NamedTuple):
    """Noise that keeps the budget, or a limit, from which the search starts."""

    variance: float  # for sensitivity 1
    shape: float  # of a member of this variance, or of one close to the limit
    limit: bool  # whether no member has this variance


def increasing_root(
    function: Callable[[float], float], start: float, step: float, even: float = _EVEN
) -> float:
    """Where an increasing function crosses 0, sought from `start` in growing steps.

    Values up to `even` count as 0, those below -30 as -30. RuntimeError if the function does not
    cross 0 within a long way of the start.
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - 0.1 s, for these searches only

    @cache
    def cut(x: float) -> float:
        value = function(x)
        return 0.0 if abs(value) <= even else max(value, _FLOOR)

    low = high = start
    for _ in range(_BRACKETS):
        if cut(low) <= 0.0 <= cut(high):
            return brentq(cut, low, high, xtol=_CLOSE, rtol=1e-14)
        low, high = (high, high + step) if cut(high) < 0.0 else (low - step, low)
        step *= _GROWTH
    message = f"calibration: no crossing near {start!r}"
    raise RuntimeError(message)


class EqualVarianceSearch:
    """One family (shape, scale) -> noise and one budget for sensitivity 1, delta > 0."""

    def __init__(self, make: Callable[[float, float], Noise], budget: Budget) -> None:
        self.make, self.budget = make, budget
        self.log_delta = math.log(budget.delta)
        self.loose = self.inaccurate = self.unbounded = 0
        self.maximum_inaccurate = _MAX_INACCURATE
        self.together = budget.dimension > 1  # whether estimates for many shapes are worth a try
        self._line = math.nan  # of the last ones

    def excess(self, noise: Noise, d: float, rtol: float = _RTOL) -> float:
        """Log delta - log(budget's delta) of `noise` for sensitivity d.

        With several coordinates it is that of an upper bound that certification will find.
        """
        epsilon, dimension = self.budget.epsilon, self.budget.dimension
        if dimension == 1:
            log_delta = float(log_privacy_profile(noise, d, epsilon)) + _SCALAR_SLACK
            return log_delta - self.log_delta
        ratio = d / noise.mean_abs()
        if not _NARROWEST < ratio < _WIDEST:  # beyond the range of the accounts
            return _FLOOR if ratio < 1.0 else -self.log_delta
        low = half_line_log_delta(noise, d, epsilon, dimension) - self.log_delta
        if low > _DECISIVE:
            return low
        composed_low = composed_lower_bound(noise, d, epsilon, dimension) - self.log_delta

        @cache
        def composed_high() -> float:
            return composed_log_delta(noise, d, epsilon, dimension) - self.log_delta

        unbounded = self.unbounded >= _MAX_UNBOUNDED
        if composed_low < -_DECISIVE or self.loose >= _MAX_LOOSE or unbounded:
            loose = self.loose >= _MAX_LOOSE and composed_high() - low < _UNDECIDED
            if composed_high() < -_DECISIVE or loose or unbounded:
                return composed_high()
        profile = vector_profile(noise, d, epsilon, copies=dimension, rtol=rtol)
        upper, middle = float(profile.log_upper), float(profile.log_estimate)
        gap = upper - float(profile.log_lower)
        self.loose += not gap <= _LOOSE
        self.unbounded += not gap < math.inf
        self.inaccurate += not gap <= 3.0 * rtol
        # The estimate is smoother than the bound.
        found = middle + _SLACK if upper - middle <= max(rtol, _SLACK) else upper
        found -= self.log_delta
        return found if found <= composed_low else min(found, composed_high())

    def excess_at_variance(self, shape: float, variance: float, rtol: float = _RTOL) -> float:
        """Log delta - target of the noise of this shape and variance.

        Once the search has come to its end nothing improves any more.
        """
        if self.inaccurate > self.maximum_inaccurate:
            return 1.0
        noise = self.make(shape, 1.0)
        return self.excess(noise, math.sqrt(noise.var() / variance), rtol)

    def _estimates(self, noises: list[Noise], d: Array) -> Array:
        """The same as `excess` without bounds, for noises and their sensitivities; NaN if none."""
        found = np.full(len(noises), math.nan)
        if self.together and all(noise.pieces() for noise in noises):
            units = [noise.scaled(1.0 / x) for noise, x in zip(noises, d.tolist(), strict=True)]
            ratio = np.array([noise.mean_abs() for noise in units])
            if np.all((ratio > 1.0 / _WIDEST) & (ratio < 1.0 / _NARROWEST)):
                losses = [coordinate_loss(noise) for noise in units]
                found, self._line = log_deltas(
                    losses, self.budget.dimension, self.budget.epsilon, self._line
                )
                self.together = not np.isnan(found).all()
        return found + (_SLACK - self.log_delta)

    def _estimates_at_variance(self, shapes: Array, variance: float) -> Array:
        """Estimates for the noise of these shapes and this variance."""
        noises = [self.make(shape, 1.0) for shape in shapes.tolist()]
        return self._estimates(noises, np.sqrt([noise.var() / variance for noise in noises]))

    def variance_at(self, shape: float, variance: float, change: float = 0.01) -> float:
        """Variance that the budget needs at a shape, near `variance`."""
        noise = self.make(shape, 1.0)
        log_d = 0.5 * math.log(noise.var() / variance)
        found = self._estimated_crossing(noise, log_d, change)
        if found is not None and abs(self.excess(noise, math.exp(found))) > _AGREE:
            self.together, found = False, None  # the account has the last word
        if found is None:
            found = increasing_root(lambda x: self.excess(noise, math.exp(x)), log_d, change)
        return noise.var() * math.exp(-2.0 * found)

    def _estimated_crossing(self, noise: Noise, start: float, step: float) -> float | None:
        """Where estimates of `excess` cross 0, in log d at `start` or above; None if not seen."""

        def values(x: Array) -> Array:
            return self._estimates([noise] * x.size, np.exp(x))

        x = start + step * _STEPS
        y = values(x)
        k = int(np.count_nonzero(y < 0.0))
        if not 0 < k < x.size or not np.isfinite(y[k - 1 : k + 1]).all():
            return None
        width = x[k] - x[k - 1]
        middle = x[k] - y[k] * width / (y[k] - y[k - 1])
        y = values(middle + width * _NEARBY)
        if not y[0] < 0.0 < y[-1]:
            return None
        return float(middle + width * np.polyfit(y, _NEARBY, 3)[-1])

    def minimum(self, known: list[KnownNoise], grid: Array) -> KnownNoise:
        """Noise of minimum variance, from known noise and shapes to scan."""
        best = min(known, key=lambda item: (item.variance, item.limit))
        scan = np.full(len(grid), -np.inf)
        located = math.nan
        for _ in range(_SCANS):
            before = best
            for ends in self._promising_intervals(best, grid, scan):
                if ends[0] < located < ends[1]:
                    continue
                best, close = self._refined(best, ends)
                located = best.shape if close else math.nan
            if best.variance >= before.variance:
                break
        return best

    def _promising_intervals(
        self, best: KnownNoise, grid: Array, scan: Array
    ) -> list[tuple[float, float]]:
        """Intervals of shapes where noise of the variance of the best may keep the budget.

        `scan` holds the values of `excess_at_variance` at a larger variance, or -inf, and is
        brought up to date. With less variance they only rise: what was too large stays as it was.
        """
        variance, shape = best.variance, best.shape
        places = np.flatnonzero(scan < _PROMISING)
        scan[places] = self._estimates_at_variance(grid[places], variance)
        last = -np.inf
        for place in places[np.isnan(scan[places])]:
            # Beyond a barrier, farther from the best shape, nothing is left to find.
            over = last > _BARRIER and grid[place] > shape
            scan[place] = np.inf if over else self.excess_at_variance(grid[place], variance, _ROUGH)
            last = scan[place]
        beside = np.concatenate([[np.inf], scan, [np.inf]])
        minima = np.flatnonzero((scan <= beside[:-2]) & (scan < beside[2:]) & (scan < _PROMISING))
        minima = minima[np.argsort(scan[minima])][:_DESCENTS]
        low, high = np.maximum(minima - 1, 0), np.minimum(minima + 1, len(grid) - 1)
        return list(zip(grid[low].tolist(), grid[high].tolist(), strict=True))

    def _refined(self, best: KnownNoise, ends: tuple[float, float]) -> tuple[KnownNoise, bool]:
        """Noise of less variance with a shape between `ends`, or `best` if there is none.

        And whether its shape is the one of minimum variance there, or next to it.
        """
        bounds = math.log(ends[0]), math.log(ends[1])
        width = bounds[1] - bounds[0]
        scalar = self.budget.dimension == 1
        gain, last = (_SCALAR_GAIN, _SCALAR_LAST) if scalar else (_GAIN, _LAST)
        near = not ends[0] < best.shape < ends[1]  # otherwise there is less to gain
        for _ in range(_ROUNDS):
            close = (_SHAPE_NEAR if near else _SHAPE_CLOSE) * width
            place, value, exact = self._least(bounds, best.variance, close)
            near = near and not exact
            small = value > -last
            if value <= -gain:
                shape = math.exp(place)
                step = 0.05 * min(1.0, -value)
                best = KnownNoise(self.variance_at(shape, best.variance, step), shape, limit=False)
                if near and min(place - bounds[0], bounds[1] - place) < _AT_END * width:
                    return best, False  # the next scan moves the interval
            if small and not near:
                return best, bool(value <= -gain or ends[0] < best.shape < ends[1])
            near = near and not small
        return best, False

    def _least(
        self, bounds: tuple[float, float], variance: float, close: float
    ) -> tuple[float, float, bool]:
        """The log shape between bounds at which noise of this variance is most private, and f.

        And whether f is known to be the least by estimates, however close was asked for.
        """
        x = np.linspace(*bounds, _POINTS)
        for _ in range(_DIVISIONS):
            y = self._estimates_at_variance(np.exp(x), variance)
            if np.isnan(y).any():
                break
            k = min(max(int(np.argmin(y)), 1), _POINTS - 2)
            step, bends = x[1] - x[0], np.diff(y, 2)[max(k - 2, 0) : k + 1]
            slope, bend = 0.5 * (y[k + 1] - y[k - 1]), y[k + 1] - 2.0 * y[k] + y[k - 1]
            # The vertex of a parabola, which is as far off as the bend is uneven.
            even = bool(bends.min() > 0.0 and abs(slope) <= bend)
            uneven = bends.max() / bends.min() - 1.0 if even else math.inf
            exact = even and bool(bend * uneven**2 <= _LITTLE)
            if exact or step * uneven <= close:
                least = y[k] - 0.5 * slope**2 / bend
                return float(x[k] - step * slope / bend), float(least), exact
            if step <= close:
                k = int(np.argmin(y))
                return float(x[k]), float(y[k]), False
            x = np.linspace(x[k - 1], x[k + 1], _POINTS)
        from scipy.optimize import minimize_scalar  # noqa: PLC0415 - 0.1 s

        found = minimize_scalar(
            lambda x: self.excess_at_variance(math.exp(x), variance),
            bounds=bounds,
            method="bounded",
            options={"xatol": close},
        )
        return float(found.x), float(found.fun), False
