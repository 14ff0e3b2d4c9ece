"""Mean absolute error, half-width, largest error and norm of vector noise.

Half-widths of joint noise are estimated from a sample with a fixed seed, `DRAWS` values for each
kind of coordinate: to about 0.5 %. So are largest errors of blocks, of noise on the integers and
in the norms of other sets than boxes, l1 and l2 balls, ellipsoids and 'at most m counts', and
norms of noise that was made for another norm. All else has closed forms, or is one integral.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise.joint.correlated import CorrelatedGaussian
from dpnoise.joint.noise import JointNoise
from dpnoise.mechanisms.integer_noise import IntegerVector, RoundedNoise
from dpnoise.mechanisms.parts import coordinate_kinds
from dpnoise.mechanisms.vector_noise import BlockNoise, IndependentNoise
from dpnoise.sensitivity.base import Sensitivity

if TYPE_CHECKING:
    from collections.abc import Callable

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


def _rows(noise: VectorNoise | Sensitivity, entry: Callable[[Array], Array]) -> float:
    """The mean of a number of each vector, from a sample: of noise, or uniform in a set."""
    K = noise.dimension
    rows = min(DRAWS, max(_MOST_ENTRIES // K, 2**8))
    draw = noise.sample if isinstance(noise, Sensitivity) else noise.rvs
    total = 0.0
    step = max(1, _MOST_ENTRIES // K)
    for first in range(0, rows, step):
        some = min(step, rows - first)
        total += float(np.sum(entry(np.asarray(draw(some, _SEED + first), dtype=float))))
    return total / rows


def mean_largest(noise: VectorNoise, weights: Array) -> float:
    """E max w_i |X_i|."""
    known = getattr(noise, "mean_largest", None)
    exact = known(weights) if known else None
    if exact is not None:
        return float(exact)

    def largest(x: Array) -> Array:
        return np.asarray(np.max(weights * np.abs(x), axis=-1))

    if isinstance(noise, JointNoise):  # one factor for all noise in the same norm
        return noise.layer_moment(1) * _rows(noise.ball, largest)
    return _rows(noise, largest)


def mean_norm(noise: VectorNoise, ball: Sensitivity) -> float:
    """The mean of the norm whose unit ball is the set; exact for noise in that norm."""
    if isinstance(noise, JointNoise) and noise.ball == ball.geometry:
        return noise.mean_norm()
    norm = ball.plain.coordinate_norm
    if norm and norm[0] == "largest":
        return mean_largest(noise, norm[1])
    if norm:
        return float(np.sum(norm[1] * marginals(noise)[0]))
    if isinstance(noise, JointNoise):
        return noise.layer_moment(1) * _rows(noise.ball, ball.norm)
    return _rows(noise, ball.norm)


def marginals(noise: VectorNoise, level: float = 0.95) -> tuple[Array, Array]:
    """E|X_i| and the h_i with P(|X_i| <= h_i) = level, each of shape (K,).

    Of rounded noise E|X_i| is that before rounding, which rounding lowers a little (a sum of a
    convex tail at midpoints is below its integral).
    """
    if isinstance(noise, IndependentNoise | CorrelatedGaussian):
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
