"""Scales of noise on the integers for the coordinates of a query.

Proportions are those of continuous noise, from the closed forms or the search for it. Without delta
these scales hold for discrete Laplace noise as they are, since it has the same largest loss, and
with delta all are multiplied by one factor, close to 1, at which the exact account of the discrete
noise is seen to keep the budget.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems
from dpnoise.calibration.integers import CLOSE, smallest_scale
from dpnoise.noise.integers import MIN_BETA, DiscreteGaussian, DiscreteLaplace
from dpnoise.privacy.scalar.shift import WHOLE, whole_shift
from dpnoise.privacy.vector import VectorProfile, profile_of_shares

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.privacy.coordinates import Shares

INTEGERS: dict[str, type[DiscreteGaussian | DiscreteLaplace]] = {
    "discrete-gaussian": DiscreteGaussian,
    "discrete-laplace": DiscreteLaplace,
}
_MOST_DIFFERENT = 64  # of a search
_FACTORS = 0.1, 100.0  # over the scales of continuous noise


def check_integers(sensitivities: ArrayLike, noise: str) -> None:
    """Refuse sensitivities that are no integers; what else may be wrong is left to others."""
    sizes = np.asarray(sensitivities)
    if sizes.dtype.kind not in "iuf":
        return
    bad = sizes[~whole_shift(sizes.astype(float)) & np.isfinite(sizes)].ravel()
    problems = Problems("allocation")
    problems.require(not bad.size, f"sensitivities with {noise}", WHOLE, bad[:3].tolist())
    problems.raise_if_any()


def integer_scales(
    noise: str, lambdas: Array, scales: Array, budget: tuple[float, float], compositions: int
) -> Array:
    """The scales of discrete noise from those of continuous noise; 0 stays 0.

    `budget` is (epsilon, delta). A ValueError is raised if there are too many different
    coordinates or scales are out of range, a RuntimeError if no factor keeps the budget.
    """
    kind, (epsilon, delta) = INTEGERS[noise], budget
    some = lambdas > 0.0
    if not some.any():
        return scales
    if delta == 0.0:
        scales = np.where(some, np.maximum(scales, MIN_BETA), 0.0)
        kind(float(scales.max()))  # refuses what is out of range
        return scales
    pairs, counts = np.unique(np.stack([lambdas[some], scales[some]]), axis=1, return_counts=True)
    problems = Problems("allocation of noise on the integers")
    expected = f"at most {_MOST_DIFFERENT}"
    name = "different pairs of sensitivity and scale"
    problems.require(len(counts) <= _MOST_DIFFERENT, name, expected, len(counts))
    problems.raise_if_any()

    def profile(factor: float) -> VectorProfile:
        shares: Shares = {}
        for (size, scale), count in zip(pairs.T, counts, strict=True):
            one: IntegerNoise = kind(float(factor * scale))
            shares[one, float(size)] = int(count) * compositions
        return profile_of_shares(shares, np.asarray(epsilon))

    factor = smallest_scale(profile, _FACTORS, 1.0, delta, CLOSE[1])
    if math.isinf(factor):
        raise RuntimeError(f"allocation: no scales of {noise} noise were found for {budget!r}")
    return factor * scales
