"""Mean absolute error and half-width of each coordinate of vector noise.

Half-widths of joint noise are estimated from a sample with a fixed seed, `DRAWS` values for each
kind of coordinate: to about 0.5 %. All else has closed forms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise.joint.base import JointNoise
from dpnoise.mechanisms.integer_noise import IntegerVector, RoundedNoise
from dpnoise.mechanisms.parts import coordinate_kinds
from dpnoise.mechanisms.vector_noise import BlockNoise, IndependentNoise

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.mechanisms.vector_noise import VectorNoise

DRAWS = 2**18
_SEED = 20231
_MOST_ENTRIES = 2**23  # of one sample


def _half_width(noise: JointNoise, level: float) -> Array:
    """The quantile of |X_i| at a level."""
    sigma = np.sqrt(noise.var())
    kinds = np.where(sigma > 0.0, coordinate_kinds(noise.ball), -1)
    width = np.zeros(sigma.size)
    fewest = min(int(np.sum(kinds == kind)) for kind in set(kinds.tolist()) - {-1})
    rows = min(-(-DRAWS // fewest), max(_MOST_ENTRIES // noise.dimension, 2**8))
    x = np.abs(noise.rvs(rows, _SEED))
    for kind in set(kinds.tolist()) - {-1}:
        some = np.flatnonzero(kinds == kind)
        ratio = x[:, some] / sigma[some]
        width[some] = sigma[some] * float(np.quantile(ratio, level))
    return width


def marginals(noise: VectorNoise, level: float = 0.95) -> tuple[Array, Array]:
    """E|X_i| and the h_i with P(|X_i| <= h_i) = level, each of shape (K,).

    Of rounded noise E|X_i| is that before rounding, which rounding lowers a little (a sum of a
    convex tail at midpoints is below its integral).
    """
    if isinstance(noise, IndependentNoise):
        return noise.mean_abs(), noise.half_width(level)
    if isinstance(noise, JointNoise):
        return noise.mean_abs(), _half_width(noise, level)
    if isinstance(noise, BlockNoise):
        mean = np.zeros(noise.dimension)
        width = np.zeros(noise.dimension)
        for indices, part in noise.blocks:
            mean[indices], width[indices] = marginals(part, level)
        return mean, width
    if isinstance(noise, IntegerVector):
        return noise.mean_abs(), noise.half_width(level)
    if isinstance(noise, RoundedNoise):  # |Z| <= k + 1/2 rounds to at most k
        mean, width = marginals(noise.real, level)
        return mean, np.maximum(np.ceil(width - 0.5), 0.0)
    message = f"marginals: expected noise of vectors, got {noise!r}"
    raise TypeError(message)
