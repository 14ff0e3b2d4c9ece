"""Minimum variance in one dimension, for families with a shape and a scale.

Flipped Huber noise (flipped-huber-2023, Section IV-A). At fixed alpha > sensitivity the profile
at epsilon has a kink where alpha sensitivity = gamma^2 epsilon: there the loss of the Laplace
centre is exactly epsilon, the centre costs no delta, and less noise would make all of it cost.
With b = alpha / gamma the profile on that curve is

    delta = (e^epsilon - 1) exp(-b^2) (1 - b m(b)) / (2 b Z),

which falls with b, and the variance is 2 (sensitivity / epsilon)^2 (1 - s) with

    s = exp(-b^2) [b^2 (1 - b m(b) / 2) + b m(b)] / (b Z),

always below that of (epsilon, 0)-DP Laplace noise. So one scalar root gives a candidate. It is
the optimum for most budgets, not for all: when epsilon is small and delta is not, a shape
nearer to the Gaussian is better, and when epsilon is large, the limit b -> infinity, Laplace
noise with beta = sensitivity / (epsilon - 2 log(1 - delta)). No proof of optimality is known to
us. Each candidate is therefore tested against the profiles of all other shapes at the same
variance, one vectorised evaluation, and where one of them is more private, and for the other
families from the start, the shape is searched.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.calibration.closed_forms import laplace_scale
from dpnoise.calibration.scalar_profiles import (
    flipped_huber_log_delta,
    offset_gaussian_log_delta,
    offset_gaussian_variance,
    truncated_laplace_log_delta,
    truncated_laplace_variance,
)
from dpnoise.calibration.scalar_search import Candidate, ShapeFamily, minimum_variance
from dpnoise.noise.exponential_power import TruncatedLaplace, mills_ratio
from dpnoise.noise.grafted import FlippedHuber, OffsetSymmetricGaussian, flipped_huber_variance
from dpnoise.privacy.gaussian import mills_slope

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.calibration.budget import Budget, Calibration
    from dpnoise.noise.base import Noise

_STEPS = 400  # down to shapes of 1e-300, by a factor of ten each
_BELOW = 1.0 - 2.0**-46  # rounding must not put the loss of a kink above epsilon
_LARGE = 50.0


def kink_shape(epsilon: Array, delta: Array) -> Array:
    """Shape b = alpha / gamma at which the Laplace centre has loss epsilon and delta is spent.

    Vectorised over budgets with positive epsilon and delta. With gamma = sensitivity b / epsilon
    it is flipped Huber noise of the given profile if alpha >= sensitivity, that is
    b^2 >= epsilon; a smaller b belongs to no such noise.
    """
    target = np.log(2.0 * delta) - epsilon - np.log(-np.expm1(-epsilon))
    # log delta is decreasing, nearly -b^2 - log b^2, and concave in b but for small b, where the
    # bounds keep Newton's method from leaving the domain.
    square = np.maximum(-target, 1.0)
    b = np.sqrt(np.maximum(epsilon, square - np.log(square)))
    for _ in range(_STEPS):
        mills, slope, rim = mills_ratio(b), mills_slope(b), np.exp(-b * b)
        weight = -np.expm1(-b * b) + rim * b * mills
        excess = np.log(slope / weight) - b * b - target
        steepness = -2.0 * b + (b * slope - mills) / slope - rim * (mills + b * slope) / weight
        step = excess / steepness
        b = np.maximum(b - step, 0.1 * b)
        if np.all(np.abs(step) <= 1e-9 * b):  # the error is its square
            return b
    raise RuntimeError(f"calibration: no flipped Huber kink within {_STEPS} steps")


def bound_shape(epsilon: float, delta: float) -> float:
    """Shape b = bound / beta of truncated Laplace noise with beta = sensitivity / epsilon.

    Geng, Ding, Guo & Kumar (AISTATS 2020): the loss is epsilon up to the bound and delta is the
    mass that a shift moves beyond it.
    """
    if epsilon > _LARGE:  # log((e^epsilon - 1) / (2 delta)) >> 1
        return epsilon - math.log(2.0 * delta)
    return math.log1p(math.expm1(epsilon) / (2.0 * delta))


def _flipped_huber_candidate(epsilon: float, delta: float) -> Candidate | None:
    if epsilon < 1e-100:  # b is about epsilon / delta, delta at least 1e-7: no such noise
        return None
    shape = float(kink_shape(np.asarray(epsilon), np.asarray(delta)))
    return Candidate(shape, _BELOW * epsilon / shape) if shape * shape >= epsilon else None


def _truncated_laplace_candidate(epsilon: float, delta: float) -> Candidate | None:
    shape = bound_shape(epsilon, delta) if epsilon > 0.0 else 0.0
    return Candidate(shape, _BELOW * epsilon) if shape >= epsilon > 0.0 else None


def _flipped_huber(epsilon: float, delta: float) -> ShapeFamily:
    # Beyond the last shape the tails hold less than delta 1e-19, even times e^epsilon.
    last = math.sqrt(epsilon - math.log(delta) + 45.0)
    return ShapeFamily(
        make=lambda b, scale: FlippedHuber(b * scale, scale),
        log_delta=flipped_huber_log_delta,
        variance=lambda b: flipped_huber_variance(b, 1.0),
        grid=np.append(0.0, np.geomspace(1e-4, last, 64)),
        limit=2.0 * laplace_scale(epsilon, delta) ** 2,
        near=1e-9,
        candidate=_flipped_huber_candidate(epsilon, delta),
    )


def _offset_gaussian(epsilon: float, delta: float) -> ShapeFamily:
    return ShapeFamily(
        make=lambda b, scale: OffsetSymmetricGaussian(b * scale, scale),
        log_delta=offset_gaussian_log_delta,
        variance=offset_gaussian_variance,
        grid=np.append(0.0, np.geomspace(1e-4, 1e7, 111)),
        limit=2.0 * laplace_scale(epsilon, delta) ** 2,
        near=1e-9,
    )


def _truncated_laplace(epsilon: float, delta: float) -> ShapeFamily:
    return ShapeFamily(
        make=lambda b, scale: TruncatedLaplace(scale, b * scale),
        log_delta=truncated_laplace_log_delta,
        variance=truncated_laplace_variance,
        grid=np.geomspace(1e-9, 2.0 * epsilon - math.log(delta) + 45.0, 128),
        limit=2.0 * laplace_scale(epsilon, delta) ** 2,
        near=1e-9,
        candidate=_truncated_laplace_candidate(epsilon, delta),
    )


_FAMILIES = {
    FlippedHuber: _flipped_huber,
    OffsetSymmetricGaussian: _offset_gaussian,
    TruncatedLaplace: _truncated_laplace,
}


def scalar_optimum(kind: type[Noise], budget: Budget) -> Calibration:
    """Noise of minimum variance for K = 1 and delta > 0, of a family in `_FAMILIES`."""
    return minimum_variance(_FAMILIES[kind](budget.epsilon, budget.tight.delta), budget)
