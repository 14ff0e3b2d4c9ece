"""Gaussian noise with correlated coordinates, in the least ellipsoid around each part of the set.

Noise of covariance sigma^2 M keeps a budget with mu = 1 / sigma if the ellipsoid of M holds the
set. The trace of M is the mean square error, so that the ellipsoid with the least sum of squared
axes is the best one (docs/joint-noise.md, section 10). Over a product of sets the best covariance
has a block for each factor, as -d is a difference with d; the factors share mu^2 as independent
coordinates do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.joint.correlated import CorrelatedGaussian
from dpnoise.mechanisms.independent import gaussian_scales
from dpnoise.mechanisms.method import Found
from dpnoise.mechanisms.vector_noise import BlockNoise, IndependentNoise
from dpnoise.noise.exponential_power import Gaussian

if TYPE_CHECKING:
    from dpnoise._types import IntArray
    from dpnoise.mechanisms.request import Request
    from dpnoise.mechanisms.vector_noise import RealVectorNoise


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
