"""Minimum variance in K dimensions, and of families without a vectorised profile.

Flipped Huber noise in K dimensions (flipped-huber-2023, Section IV-B; Algorithm 2 there is a
grid search). The profile has a kink where the largest loss of the Laplace centres together,
K sensitivity alpha / gamma^2, is epsilon: beyond it they cost delta with probability about
2^-K. Along that curve one scalar root spends delta, a candidate, always below the variance of
(epsilon, 0)-DP Laplace noise. The other landmarks are the Gaussian, a member, and Laplace noise
for (epsilon, delta), a limit; from the best of the three the shapes between are searched.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.calibration import closed_forms
from dpnoise.calibration.certify import certified_calibration
from dpnoise.calibration.equal_variance import EqualVarianceSearch, KnownNoise, increasing_root
from dpnoise.calibration.scalar import bound_shape, kink_shape
from dpnoise.noise.exponential_power import Subbotin, TruncatedLaplace
from dpnoise.noise.grafted import FlippedHuber, Huber, OffsetSymmetricGaussian

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array
    from dpnoise.calibration.budget import Budget, Calibration
    from dpnoise.noise.base import Noise

# Rounding must not put the largest loss of a kink above epsilon.
_BELOW = 1.0 - 1e-12
_ROUGH, _FINE = 1e-5, 3e-8  # errors of log delta on the kink
_FIRST, _AWAY = 1e-4, 5e-3  # an error for log delta further than this from that of the budget
_FAR = 9.0  # bound of the logarithm of a shape
_NO_GAIN = 1e-9  # of variance, relative: not worth a search for the kink
_SENSITIVE = 1e-4  # a gain above it depends on the last digits of the kink
_EQUAL = 1e-3  # of log variance: noise on the kink as large as what is known
_WIDER = 1.0 + 1e-10  # against rounding of a shape in closed form
_MORE_WITHOUT_KINK = 4
_BESIDE_KINK = 0.9, 0.98, 1.02, 1.1


class _VectorFamily(NamedTuple):
    """A family by shape and scale; a Laplace part of its noise has scale / shape for its scale."""

    make: Callable[[float, float], Noise]  # (shape, scale) -> noise
    grid: Array  # increasing shapes to scan
    laplace: float  # a shape that stands for this limit
    gaussian: float | None = None
    members: tuple[bool, bool] = (False, True)  # whether the family attains these limits
    kink: float | None = None  # where to look for the kink of an inner Laplace part
    composed: float | None = None  # on the kink, with (epsilon / K, delta / K)-DP coordinates
    close: bool = False  # whether the kink is sought near `composed`, if there is such a shape


def _flipped_huber(budget: Budget) -> _VectorFamily:
    depth = budget.epsilon / budget.dimension - math.log(budget.delta)
    last = math.sqrt(depth + 3.0)
    share, part = budget.epsilon / budget.dimension, budget.delta / budget.dimension
    shape = float(kink_shape(np.asarray(share), np.asarray(part))) if share > 0.0 else 0.0
    return _VectorFamily(
        make=lambda b, scale: FlippedHuber(b * scale, scale),
        grid=np.concatenate([np.geomspace(1e-3, 0.02, 4), np.geomspace(0.03, last, 16)]),
        # There the tails of all coordinates hold less than 1e-9 delta.
        laplace=math.sqrt(depth + math.log(budget.dimension) + 25.0),
        gaussian=0.0,
        kink=0.5 * math.sqrt(depth),
        composed=shape * _WIDER if shape * shape > share else None,
        close=True,
    )


def _offset_gaussian(budget: Budget) -> _VectorFamily:  # noqa: ARG001
    return _VectorFamily(
        make=lambda b, scale: OffsetSymmetricGaussian(b * scale, scale),
        grid=np.geomspace(1e-3, 1e6, 40),
        laplace=1e7,
        gaussian=0.0,
    )


def _truncated_laplace(budget: Budget) -> _VectorFamily:
    share = budget.epsilon / budget.dimension
    part = budget.delta / budget.dimension
    last = share - math.log(part) + 5.0
    return _VectorFamily(
        make=lambda r, scale: TruncatedLaplace(scale / r, scale),
        grid=np.geomspace(1e-3, last, 24),
        laplace=last + 25.0,
        kink=last - 5.0,
        composed=bound_shape(share, part) * _WIDER if share > 0.0 else None,
    )


def _huber(budget: Budget) -> _VectorFamily:  # noqa: ARG001
    return _VectorFamily(
        make=Huber,
        grid=np.geomspace(0.01, 30.0, 20),
        laplace=1e-5,
        gaussian=60.0,
        members=(False, False),
    )


def _subbotin(budget: Budget) -> _VectorFamily:  # noqa: ARG001
    # The unit scale / shape of the Laplace noise at p = 1 holds for shape 1 only.
    return _VectorFamily(
        make=Subbotin,
        grid=1.0 + np.geomspace(1e-9, 999.0, 48),
        laplace=1.0,
        gaussian=2.0,
        members=(True, True),
    )


_FAMILIES = {
    FlippedHuber: _flipped_huber,
    OffsetSymmetricGaussian: _offset_gaussian,
    TruncatedLaplace: _truncated_laplace,
    Huber: _huber,
    Subbotin: _subbotin,
}


def _kink(
    search: EqualVarianceSearch, start: float, step: float, error: float
) -> KnownNoise | None:
    """Noise whose Laplace part has the largest loss epsilon, if any.

    The search starts at a shape, with a step of its logarithm; `error` is that of log delta.
    """
    share = _BELOW * search.budget.epsilon / search.budget.dimension
    if share == 0.0:
        return None

    def excess(log_shape: float) -> float:  # delta falls with the shape
        shape = math.exp(min(max(-log_shape, -_FAR), _FAR))
        noise = search.make(shape, 1.0)
        found = search.excess(noise, share / shape, _FIRST)
        if abs(found) < _AWAY:
            found = search.excess(noise, share / shape, error)
        return found + error  # on the private side

    try:
        shape = math.exp(-increasing_root(excess, -math.log(start), step, 0.1 * error))
    except RuntimeError:
        return None
    return _on_kink(search, shape)


def _beats(search: EqualVarianceSearch, variance: float, start: float) -> bool:
    """Whether noise on the kink may keep the budget with less than a variance.

    Its variance rises with the shape, which is sought from `start`, and its delta falls.
    """

    def rise(log_shape: float) -> float:
        shape = math.exp(min(max(log_shape, -_FAR), _FAR))
        return math.log(_on_kink(search, shape).variance / variance)

    try:
        shape = math.exp(increasing_root(rise, math.log(start), 0.5, _EQUAL))
    except RuntimeError:  # all of it has less
        return True
    share = _BELOW * search.budget.epsilon / search.budget.dimension
    return search.excess(search.make(shape, 1.0), share / shape, _FIRST) < _AWAY


def _on_kink(search: EqualVarianceSearch, shape: float) -> KnownNoise:
    """Noise of a shape whose Laplace parts have the largest loss epsilon together."""
    share = _BELOW * search.budget.epsilon / search.budget.dimension
    return KnownNoise(search.make(shape, 1.0).var() / (share / shape) ** 2, shape, limit=False)


def _noise_on_kink(
    family: _VectorFamily, search: EqualVarianceSearch, limits: list[KnownNoise]
) -> tuple[KnownNoise | None, KnownNoise | None]:
    """Noise on the kink by basic composition, and by the exact account, if any beats the limits."""
    budget, composed, start, step, gain = search.budget, None, family.kink, 0.15, 1.0
    if start is None:
        return None, None
    if family.composed is not None and budget.dimension > 1 and budget.allows_pure:
        composed = _on_kink(search, family.composed)
        # Basic composition overstates delta there by a factor of about 2^K.
        pure = 2.0 * (budget.dimension / budget.epsilon) ** 2
        gain = (1.0 - composed.variance / pure) * 2.0 ** min(budget.dimension, 99)
        if family.close:
            start, step = family.composed, 0.5 / family.composed**2
    known = min(one.variance for one in [*limits, composed] if one)
    if gain <= _NO_GAIN or (budget.allows_pure and not _beats(search, known, start)):
        return composed, None
    return composed, _kink(search, start, step, _FINE if gain > _SENSITIVE else _ROUGH)


def vector_optimum(kind: type[Noise], budget: Budget) -> Calibration:
    """Noise of minimum variance for delta > 0, of a family in `_FAMILIES`.

    Certified, and never larger than a limit of the family by more than certification costs;
    RuntimeError where no noise could be certified.
    """
    family = _FAMILIES[kind](budget)
    search = EqualVarianceSearch(family.make, budget.unit)
    if family.kink is None:  # there such values take less time
        search.maximum_inaccurate *= _MORE_WITHOUT_KINK
    laplace = closed_forms.laplace(budget.unit).variance
    limits = [KnownNoise(laplace, family.laplace, not family.members[0])]
    if family.gaussian is not None:
        gaussian = closed_forms.gaussian(budget.unit).variance
        limits.append(KnownNoise(gaussian, family.gaussian, not family.members[1]))
    composed, kink = _noise_on_kink(family, search, limits)
    known = [*limits, *(one for one in (composed, kink) if one)]
    grid = family.grid
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
    family: _VectorFamily, one: KnownNoise, variance: float, budget: Budget
) -> Calibration:
    """Certified noise of a shape, of about this variance for sensitivity 1."""
    scale = math.sqrt(variance / family.make(one.shape, 1.0).var())
    infimum = one.variance * budget.sensitivity**2 if one.limit else None
    noise = family.make(one.shape, scale * budget.sensitivity)
    return certified_calibration(noise, budget, infimum=infimum)
