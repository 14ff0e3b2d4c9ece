"""Minimum variance in K dimensions, and of families without a vectorised profile.

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

Local minima of f that the grid does not resolve may be missed.

**A scale and nothing else.** At fixed epsilon delta falls with the scale: one root of log delta in
the logarithm of d = sensitivity / scale. Where the privacy loss is bounded, the root lies beyond
the largest d of (epsilon, 0)-DP noise, and is sought as an excess over it.

**Flipped Huber noise in K dimensions** (flipped-huber-2023, Section IV-B; Algorithm 2 there is a
grid search). The profile has a kink where the largest loss of the Laplace centres together,
K sensitivity alpha / gamma^2, is epsilon: beyond it they cost delta with probability about
2^-K. Along that curve one scalar root spends delta, a candidate, always below the variance of
(epsilon, 0)-DP Laplace noise. The other landmarks are the Gaussian, a member, and Laplace noise
for (epsilon, delta), a limit; from the best of the three the shapes between are searched.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.calibration import scalar
from dpnoise.calibration.budget import certified_calibration
from dpnoise.calibration.scalar import (
    UNIT_LAPLACE,
    laplace_scale,
    pure_optimum,
)
from dpnoise.noise.exponential_power import Subbotin, TruncatedLaplace
from dpnoise.noise.grafted import FlippedHuber, Huber, OffsetSymmetricGaussian
from dpnoise.privacy.accounts import (
    composed_log_delta,
    composed_lower_bound,
    half_line_log_delta,
)
from dpnoise.privacy.profile import log_privacy_profile
from dpnoise.privacy.vector import vector_profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array
    from dpnoise.calibration.budget import Calibration, Target
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
_BARRIER = 1.0  # of f, beyond which no shape is looked at one by one


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
    # ends: raises
    for _ in range(_BRACKETS):
        if cut(low) <= 0.0 <= cut(high):
            return brentq(cut, low, high, xtol=_CLOSE, rtol=1e-14)
        low, high = (high, high + step) if cut(high) < 0.0 else (low - step, low)
        step *= _GROWTH
    message = f"calibration: no crossing near {start!r}"
    raise RuntimeError(message)


class EqualVarianceSearch:
    """One family (shape, scale) -> noise and one budget for sensitivity 1, delta > 0."""

    def __init__(self, make: Callable[[float, float], Noise], budget: Target) -> None:
        self.make, self.budget = make, budget
        self.log_delta = math.log(budget.delta)
        self.loose = self.inaccurate = self.unbounded = 0
        self.maximum_inaccurate = _MAX_INACCURATE

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

    def variance_at(self, shape: float, variance: float, change: float = 0.01) -> float:
        """Variance that the budget needs at a shape, near `variance`."""
        noise = self.make(shape, 1.0)
        log_d = 0.5 * math.log(noise.var() / variance)
        found = increasing_root(lambda x: self.excess(noise, math.exp(x)), log_d, change)
        return noise.var() * math.exp(-2.0 * found)

    def minimum(self, known: list[KnownNoise], grid: Array) -> KnownNoise:
        """Noise of minimum variance, from known noise and shapes to scan."""
        best = min(known, key=lambda item: (item.variance, item.limit))
        scan = np.full(len(grid), -np.inf)
        located = math.nan
        # ends: fewer rounds give larger noise, certified all the same
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
        last = -np.inf
        for place in np.flatnonzero(scan < _PROMISING):
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
        from scipy.optimize import minimize_scalar  # noqa: PLC0415 - 0.1 s

        bounds = math.log(ends[0]), math.log(ends[1])
        width = bounds[1] - bounds[0]
        single = self.budget.dimension == 1
        gain, last = (_SCALAR_GAIN, _SCALAR_LAST) if single else (_GAIN, _LAST)
        near = not ends[0] < best.shape < ends[1]  # otherwise there is less to gain
        # ends: fewer rounds give larger noise, certified all the same
        for _ in range(_ROUNDS):
            close = (_SHAPE_NEAR if near else _SHAPE_CLOSE) * width
            # ends: a place to look; only what is solved for there is kept
            found = minimize_scalar(
                lambda x, variance=best.variance: self.excess_at_variance(math.exp(x), variance),
                bounds=bounds,
                method="bounded",
                options={"xatol": close},
            )
            place, value = float(found.x), float(found.fun)
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


# Noise whose delta is spent within the first, relative to the pure scale, is pure; then a bound of
# the logarithm of d.
_INVISIBLE, _LONGEST = 1e-14, 300.0


@lru_cache(maxsize=256)  # a limit of the searches for other families
def laplace(budget: Target) -> Calibration:
    """Laplace noise of minimum variance for delta > 0: in closed form for K = 1, else by a root."""
    variance = None
    if budget.dimension == 1:
        variance = 2.0 * laplace_scale(budget.epsilon, budget.tight.delta) ** 2
    return scale_optimum(UNIT_LAPLACE, budget, variance)


def scale_optimum(unit: Noise, budget: Target, variance: float | None = None) -> Calibration:
    """Noise of minimum variance for delta > 0, from `unit`, which has scale 1.

    `variance` is the minimum for sensitivity 1, where a closed form has it. (epsilon, 0)-DP noise,
    which keeps every delta, is returned where it is not larger.
    """
    if variance is None:
        variance = _minimum_variance(unit, budget)
    scale = math.sqrt(variance / unit.var())
    found = certified_calibration(unit.scaled(scale * budget.sensitivity), budget)
    if not budget.allows_pure or unit.largest_loss(1.0) == math.inf:
        return found
    pure = pure_optimum(unit, budget)
    return found if found.variance < pure.variance else pure


def _minimum_variance(unit: Noise, budget: Target) -> float:
    """Variance at the scale that spends delta, for sensitivity 1."""
    search = EqualVarianceSearch(lambda _, scale: unit.scaled(scale), budget.unit)
    pure = 0.0
    if budget.allows_pure:
        pure = budget.epsilon / budget.dimension / float(unit.largest_loss(1.0))
    # Just beyond the pure scale delta grows with a power of the excess.
    start = math.log(max(pure, 1e-3)) - 4.0

    def excess(x: float) -> float:
        return search.excess(unit, pure + math.exp(min(x, _LONGEST)))

    # Where delta is used up within the rounding of the pure scale, that is the answer.
    if pure > 0.0 and search.excess(unit, pure * (1.0 + _INVISIBLE)) > 0.0:
        return unit.var() / pure**2
    return unit.var() / (pure + math.exp(increasing_root(excess, start, 1.0))) ** 2


# Rounding must not put the largest loss of a kink above epsilon.
_BELOW = 1.0 - 1e-12
_KINK_STEP, _KINK_ERROR = 0.15, 3e-8  # of the logarithm of a shape, and of log delta
_FIRST, _AWAY = 1e-4, 5e-3  # an error for log delta further than this from that of the budget
_FAR = 9.0  # bound of the logarithm of a shape
_MORE_WITHOUT_KINK = 4
_BESIDE_KINK = 0.9, 0.98, 1.02, 1.1


class VectorFamily(NamedTuple):
    """A family by shape and scale; a Laplace part of its noise has scale / shape for its scale."""

    make: Callable[[float, float], Noise]  # (shape, scale) -> noise
    grid: Array  # increasing shapes to scan
    laplace: float  # a shape that stands for this limit
    gaussian: float | None = None
    members: tuple[bool, bool] = (False, True)  # whether the family attains these limits
    kink: float | None = None  # where to look for the kink of an inner Laplace part


def flipped_huber(budget: Target) -> VectorFamily:
    """Flipped Huber noise, with the shapes that a search tries."""
    depth = budget.epsilon / budget.dimension - math.log(budget.delta)
    last = math.sqrt(depth + 3.0)
    return VectorFamily(
        make=lambda b, scale: FlippedHuber(b * scale, scale),
        grid=np.concatenate([np.geomspace(1e-3, 0.02, 4), np.geomspace(0.03, last, 16)]),
        # There the tails of all coordinates hold less than 1e-9 delta.
        laplace=math.sqrt(depth + math.log(budget.dimension) + 25.0),
        gaussian=0.0,
        kink=0.5 * math.sqrt(depth),
    )


def offset_gaussian(budget: Target) -> VectorFamily:  # noqa: ARG001
    """Offset symmetric Gaussian noise, with the shapes that a search tries."""
    return VectorFamily(
        make=lambda b, scale: OffsetSymmetricGaussian(b * scale, scale),
        grid=np.geomspace(1e-3, 1e6, 40),
        laplace=1e7,
        gaussian=0.0,
    )


def truncated_laplace(budget: Target) -> VectorFamily:
    """Truncated Laplace noise, with the shapes that a search tries."""
    share = budget.epsilon / budget.dimension
    part = budget.delta / budget.dimension
    last = share - math.log(part) + 5.0
    return VectorFamily(
        make=lambda r, scale: TruncatedLaplace(scale / r, scale),
        grid=np.geomspace(1e-3, last, 24),
        laplace=last + 25.0,
        kink=last - 5.0,
    )


def huber(budget: Target) -> VectorFamily:  # noqa: ARG001
    """Huber noise, with the shapes that a search tries."""
    return VectorFamily(
        make=Huber,
        grid=np.geomspace(0.01, 30.0, 20),
        laplace=1e-5,
        gaussian=60.0,
        members=(False, False),
    )


def subbotin(budget: Target) -> VectorFamily:  # noqa: ARG001
    """Subbotin noise, with the shapes that a search tries."""
    # The unit scale / shape of the Laplace noise at p = 1 holds for shape 1 only.
    return VectorFamily(
        make=Subbotin,
        grid=1.0 + np.geomspace(1e-9, 999.0, 48),
        laplace=1.0,
        gaussian=2.0,
        members=(True, True),
    )


def _kink(search: EqualVarianceSearch, start: float) -> KnownNoise | None:
    """Noise whose Laplace parts have the largest loss epsilon together, sought from a shape."""
    share = _BELOW * search.budget.epsilon / search.budget.dimension
    if share == 0.0:
        return None

    def excess(log_shape: float) -> float:  # delta falls with the shape
        shape = math.exp(min(max(-log_shape, -_FAR), _FAR))
        noise = search.make(shape, 1.0)
        found = search.excess(noise, share / shape, _FIRST)
        if abs(found) < _AWAY:
            found = search.excess(noise, share / shape, _KINK_ERROR)
        return found + _KINK_ERROR  # on the private side

    try:
        shape = math.exp(-increasing_root(excess, -math.log(start), _KINK_STEP, 0.1 * _KINK_ERROR))
    except RuntimeError:
        return None
    return KnownNoise(search.make(shape, 1.0).var() / (share / shape) ** 2, shape, limit=False)


def vector_optimum(shapes: Callable[[Target], VectorFamily], budget: Target) -> Calibration:
    """Noise of minimum variance for delta > 0, of the family at a budget.

    Certified, and never larger than a limit of the family by more than certification costs;
    RuntimeError where no noise could be certified.
    """
    family = shapes(budget)
    search = EqualVarianceSearch(family.make, budget.unit)
    if family.kink is None:  # there such values take less time
        search.maximum_inaccurate *= _MORE_WITHOUT_KINK
    pure = laplace(budget.unit).variance
    limits = [KnownNoise(pure, family.laplace, not family.members[0])]
    if family.gaussian is not None:
        gaussian = scalar.gaussian(budget.unit).variance
        limits.append(KnownNoise(gaussian, family.gaussian, not family.members[1]))
    kink = None if family.kink is None else _kink(search, family.kink)
    known, grid = [*limits, *([kink] if kink else [])], family.grid
    if kink:
        grid = np.union1d(grid, kink.shape * np.array(_BESIDE_KINK))
    best = search.minimum(known, grid)
    limit = min(limits, key=lambda one: (one.variance, one.limit))
    found = None if best.limit else _certified_at_shape(family, best, best.variance, budget)
    if found is not None and found.variance <= limit.variance * budget.sensitivity**2:
        return found
    # What certification costs may be more than there is to gain.
    variance = search.variance_at(limit.shape, limit.variance, 1e-6)
    beside = _certified_at_shape(family, limit, variance, budget)
    return beside if found is None or beside.variance <= found.variance else found


def _certified_at_shape(
    family: VectorFamily, one: KnownNoise, variance: float, budget: Target
) -> Calibration:
    """Certified noise of a shape, of about this variance for sensitivity 1."""
    scale = math.sqrt(variance / family.make(one.shape, 1.0).var())
    infimum = one.variance * budget.sensitivity**2 if one.limit else None
    noise = family.make(one.shape, scale * budget.sensitivity)
    return certified_calibration(noise, budget, infimum=infimum)
