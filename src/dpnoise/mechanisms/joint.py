"""Mechanisms with joint noise: in the norm of the set, or in that of an ellipsoid around it.

**Correlated Gaussian noise**, in the least ellipsoid around each part of the set. Noise of
covariance sigma^2 M keeps a budget with mu = 1 / sigma if the ellipsoid of M holds the set. The
trace of M is the mean square error, so that the ellipsoid with the least sum of squared axes is the
best one (docs/joint-noise.md, section 10). Over a product of sets the best covariance has a block
for each factor, as -d is a difference with d; the factors share mu^2 as independent coordinates do.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.joint.calibrate import calibrate_joint, pure_scale, staircase
from dpnoise.joint.correlated import CorrelatedGaussian
from dpnoise.joint.noise import RadialNoise, check_steps
from dpnoise.joint.uncovered import Uncovered
from dpnoise.mechanisms.independent import gaussian, gaussian_scales
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise
from dpnoise.mechanisms.request import Found
from dpnoise.noise.exponential_power import Gaussian
from dpnoise.sensitivity.ellipsoid import enclosing_ellipsoid

if TYPE_CHECKING:
    from dpnoise._types import IntArray
    from dpnoise.mechanisms.noise import RealVectorNoise
    from dpnoise.mechanisms.request import Request
    from dpnoise.sensitivity.base import Sensitivity

_LITTLE = 0.999e-4  # relative gain in variance that is not worth a delta
_SMALL_SHARE, _MANY = 3e-6, 60  # delta over epsilon, and coordinates
_SHARE = 0.4  # of the Gaussian's variance: with less, K-norm noise is not beaten by an ellipsoid's


def k_norm_noise(ball: Sensitivity, epsilon: float) -> RadialNoise:
    """K-norm noise that is epsilon-DP for a set."""
    return RadialNoise(ball, pure_scale(epsilon))


def k_norm(request: Request) -> Found | None:
    """K-norm noise with delta = 0."""
    if request.epsilon == 0.0:
        return None
    return Found(k_norm_noise(request.sensitivity, request.epsilon), 0.0)


def hardly_gains(K: int, epsilon: float) -> bool:
    """Whether the staircase in a norm has less than 1e-4 of variance below K-norm noise.

    By a rule that fits what was seen for K from 1 to 1000 (tests/dpnoise/mechanisms/test_joint.py).
    """
    return K >= 5 and epsilon <= min((K + 1.0) / 6.0, 1.2 * math.sqrt(K))


def norm_staircase(request: Request) -> Found | None:
    """Staircase noise in the norm of the set, with delta = 0."""
    if request.epsilon == 0.0:
        return None
    problems = Problems("staircase noise in the norm")
    check_steps(problems, request.sensitivity.active_dimension, request.epsilon)
    problems.raise_if_any()
    return Found(staircase(request.sensitivity, request.epsilon, request.order), 0.0)


def in_norm(family: str, request: Request) -> Found | None:
    """Noise of a family that spends delta, in the norm of the set."""
    if request.delta == 0.0:
        return None
    return _calibrated(family, request.sensitivity, request)


def staircase_hardly_gains(request: Request) -> bool:
    """Whether the search for a staircase is not worth its time."""
    return hardly_gains(request.sensitivity.active_dimension, request.epsilon)


def in_ellipsoid(family: str, request: Request) -> Found | None:
    """Noise of a family that spends delta, in the norm of an ellipsoid around the set."""
    if (
        request.delta == 0.0
        or request.sensitivity.is_round
        or request.sensitivity.active_dimension == 1
    ):
        return None
    ball = request.sensitivity.smallest_ellipsoid
    if ball is None or ball.flat:
        return _calibrated(family, enclosing_ellipsoid(request.sensitivity), request)
    return _calibrated(family, ball, request)


def _calibrated(family: str, ball: Sensitivity, request: Request) -> Found:
    """Joint noise calibrated for a set."""
    found = calibrate_joint(family, ball, epsilon=request.epsilon, delta=request.delta)
    return Found(found.noise, found.delta)


def two_parameters_hardly_gain(request: Request) -> bool:
    """Whether a search in two parameters gains less than 1 % of the variance, or takes seconds.

    By a rule that fits what was seen (tests/dpnoise/mechanisms/test_default.py).
    """
    many = request.sensitivity.active_dimension > _MANY
    return request.delta > 0.0 and (many or request.delta < _SMALL_SHARE * request.epsilon)


def truncation_hardly_gains(request: Request) -> bool:
    """Whether a bound on K-norm noise gains little: also where caps cost delta, as in an l2 norm.

    There generalised gamma noise is better.
    """
    solid = not request.sensitivity.flat
    round_set = solid and Uncovered(request.sensitivity).caps
    return two_parameters_hardly_gain(request) or (request.delta > 0.0 and bool(round_set))


def ellipsoid_hardly_gains(request: Request) -> bool:
    """Whether neither an ellipsoid nor a search in two parameters for it is worth its time."""
    return is_unlikely(request) or two_parameters_hardly_gain(request)


def delta_hardly_gains(request: Request) -> bool:
    """Whether delta takes less than 1e-4 off the variance of K-norm noise, by a bound.

    For polytopes delta >= 1 - exp(share (epsilon - 1 / scale)), docs/joint-noise.md.
    """
    if request.delta == 0.0 or request.sensitivity.flat:
        return False
    uncovered = Uncovered(request.sensitivity)
    if uncovered.caps:
        return False
    most = -math.log1p(-request.delta) / min(uncovered.polytopes, default=0.5)
    return 2.0 * most < _LITTLE * request.epsilon


def is_unlikely(request: Request) -> bool:
    """Whether noise without delta is so good that an ellipsoid's has hardly a chance."""
    normal = correlated_gaussian(request) or gaussian(request)
    if normal is None or request.epsilon == 0.0 or request.sensitivity.flat:
        return False
    K = request.sensitivity.active_dimension
    square = (K + 1.0) * (K + 2.0) * request.sensitivity.mean_square / request.epsilon**2
    return request.mean(square) < _SHARE * request.mean(np.asarray(normal.noise.var()))


def correlated_gaussian(request: Request) -> Found | None:
    """Gaussian noise in the least ellipsoids; None where these have the axes of the coordinates."""
    if request.delta == 0.0:
        return None
    parts = request.parts
    found = {first: ball.smallest_ellipsoid for first, ball in parts.blocks.items()}
    smallest = {first: ball for first, ball in found.items() if ball is not None}
    if not smallest:
        return None
    l2 = dict(zip(parts.first.tolist(), parts.l2.tolist(), strict=True))
    shape = parts.shape.copy()
    for first, ball in smallest.items():
        shape[first : first + ball.dimension] = np.sqrt(ball.diagonal) / l2[first]
    unit = float(gaussian_sigma(request.epsilon, request.delta))
    scales = gaussian_scales(request, request.scale_weights * shape**request.power, unit)
    blocks: list[tuple[IntArray, RealVectorNoise]] = []
    rest = request.sensitivity.active.copy()
    for first, ball in smallest.items():
        at = np.arange(first, first + ball.dimension)
        blocks.append((at, CorrelatedGaussian(ball, float(scales[first]) / l2[first])))
        rest[at] = False
    if len(blocks) == 1 and blocks[0][0].size == request.dimension:
        return Found(blocks[0][1], request.delta)
    at = np.flatnonzero(rest)
    if at.size:
        blocks.append((at, IndependentNoise(Gaussian(1.0), scales[at] * parts.shape[at])))
    return Found(BlockNoise(tuple(blocks), request.dimension), request.delta)
