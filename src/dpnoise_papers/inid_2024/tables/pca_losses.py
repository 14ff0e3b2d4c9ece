"""Privacy loss of samples of norm 1 under the noise of DP-PCA, for Table III of inid-2024.

The release is the upper triangle of sum x x'. Each function bounds what neighbouring data sets can
lose, for independent noise with one scale on the diagonal and one off it.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.learn.pca import maximum_loss
from dpnoise.noise.exponential_power import Laplace
from dpnoise.privacy.vector import profile_of_shares

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.privacy.vector import VectorProfile

SPARSE = (3, 5, 8, 12, 16, 20, 30, 50)  # how many features a flat sample has, beside all


def printed_sensitivities(features: int) -> tuple[float, float]:
    """Sensitivities as the paper sets them: 1/sqrt K on the diagonal, 1/sqrt(2 K) off it."""
    entries = features * (features + 1) // 2
    return 1.0 / math.sqrt(entries), 1.0 / math.sqrt(2.0 * entries)


def _norm(noise: str, counts: tuple[float, float], ratios: tuple[float, float]) -> float:
    """Norm, l2 or l1, of so many diagonal and off-diagonal entries of these sizes."""
    if noise == "gaussian":
        return math.sqrt(counts[0] * ratios[0] ** 2 + counts[1] * ratios[1] ** 2)
    return counts[0] * ratios[0] + counts[1] * ratios[1]


def replaced_halves(features: int) -> tuple[int, int, float]:
    """Entries that differ on and off the diagonal, and by how much, for one exchange.

    Two samples that are constant on either half of the features, at 45 degrees to the halves, make
    all |D_ij| = sqrt 2 / M (M even, else of one feature fewer), the flattest that a replaced sample
    can: see dpnoise.learn.pca.
    """
    even = features - features % 2
    return even, even * (even - 1) // 2, math.sqrt(2.0) / even


def row_loss(
    features: int, scales: tuple[float, float], noise: str, relation: str
) -> tuple[float, float]:
    """Bounds of the greatest privacy loss of samples of norm 1: one reached, one not exceeded.

    They are l2 norms in units of sigma for Gaussian noise, epsilon for Laplace noise; `scales` are
    those on the diagonal and off it.
    """
    bound = maximum_loss(features, *scales, noise=noise, neighbouring=relation)
    if noise == "gaussian" or relation == "add-remove":
        return bound, bound
    on, off, size = replaced_halves(features)
    return _norm(noise, (on, off), (size / scales[0], size / scales[1])), bound


def clipped_loss(
    features: int, scales: tuple[float, float], noise: str, relation: str
) -> tuple[float, float]:
    """Bounds as of `row_loss` when entries are clipped at the printed sensitivities.

    Adding a sample moves every entry by at most that, which the bound takes to be reached.
    Replacing one moves an entry off the diagonal by up to twice that; flat samples that differ in
    sign on half of the features do so in a quarter of the matrix.
    """
    sizes = printed_sensitivities(features)
    ratios = sizes[0] / scales[0], sizes[1] / scales[1]
    counts = features, 0.5 * features * (features - 1)
    added = _norm(noise, counts, ratios)
    flat = min(1.0 / features, sizes[1]) / scales[1]
    if relation == "add-remove":
        diagonal = min(1.0 / features, sizes[0]) / scales[0]
        return _norm(noise, counts, (diagonal, flat)), added
    half = features // 2
    crossed = _norm(noise, (0.0, half * (features - half)), (0.0, 2.0 * flat))
    return crossed, _norm(noise, counts, (ratios[0], 2.0 * ratios[1]))


def laplace_profile(
    entries: Iterable[tuple[int, float, float]], epsilon: float, rtol: float = 1e-7
) -> VectorProfile:
    """Privacy profile of Laplace noise by group of entries: how many, their size, their beta."""
    shares: Counter[tuple[Noise | IntegerNoise, float]] = Counter()
    for count, size, scale in entries:
        shares[Laplace(scale), size] += count
    return profile_of_shares(+shares, np.asarray(epsilon, dtype=float), rtol)


@lru_cache(maxsize=256)
def sparse_delta(
    features: int, diagonal: float, off_diagonal: float, *, epsilon: float
) -> tuple[int, float]:
    """Worst k of the flat samples with k non-zero features, and its delta, for Laplace noise.

    A lower bound of the delta that adding the sample needs: 1/k in k entries of the diagonal and k
    (k - 1)/2 entries off it, under noise of these parameters beta.
    """
    found = []
    for k in sorted({min(k, features) for k in (*SPARSE, features)}):
        entries = (k, 1.0 / k, diagonal), (k * (k - 1) // 2, 1.0 / k, off_diagonal)
        found.append((k, float(laplace_profile(entries, epsilon).lower)))
    return max(found, key=lambda pair: pair[1])


def replaced_delta(features: int, diagonal: float, off_diagonal: float, *, epsilon: float) -> float:
    """Lower bound of the delta that `replaced_halves` needs, for Laplace noise."""
    on, off, size = replaced_halves(features)
    entries = (on, size, diagonal), (off, size, off_diagonal)
    return float(laplace_profile(entries, epsilon).lower)
