"""Search for the chains of `dpnoise.optimality.cube_transport`, link by link.

At each link kappa and sigma are those for which w exceeds half of what is left to be paid,
(K V - |x|^2)_+ / 2, by the least. The largest V for which all chains end is found by bisection.
What is proved is decided by the certificate.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.optimality.cube_transport import (
    CubeTransport,
    first_weight,
    highest,
    next_weight,
)

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.optimality.cube_transport import Weight

_STEP = 0.3  # of group times epsilon, wanted; more for K > 9: chains have some 4 K / step links
_LARGEST_STEP = 2.0
_MOST_LINKS = 120
_INTERVALS = 6
_BISECTIONS = 12
_SHARES = np.linspace(0.0, 0.6, 7)  # of sigma in K - 1
_FACTORS = np.geomspace(0.2, 12.0, 16)  # of kappa times w


def cube_transport(dimension: int, epsilon: float) -> CubeTransport | None:
    """Certificate for the unit cube at delta = 0, or None where nothing is found."""
    group = max(1, math.floor(max(_STEP, dimension / 30.0) / epsilon))
    wide = group * epsilon
    if wide > _LARGEST_STEP:
        return None
    low, high = 0.0, (dimension + 1) * (dimension + 2) / 3.0 / wide**2  # K-norm noise
    best = None
    for _ in range(_BISECTIONS):
        value = 0.5 * (low + high)
        chains = _chains(dimension, value, wide)
        if chains is None:
            high = value
        else:
            low, best = value, CubeTransport(group, value, chains)
    return best


def _chains(
    K: int, value: float, epsilon: float
) -> tuple[tuple[tuple[float, float], ...], ...] | None:
    """Links of all chains, or None where one does not end."""
    ends = np.linspace(0.0, 1.0, _INTERVALS + 1).tolist()
    found = []
    for a, b in zip(ends[-2::-1], ends[:0:-1], strict=True):  # the hardest first
        links = _chain(K, value, epsilon, a, b)
        if links is None:
            return None
        found.append(tuple(links))
    return tuple(reversed(found))


def _chain(
    K: int, value: float, epsilon: float, a: float, b: float
) -> list[tuple[float, float]] | None:
    """Kappa and sigma of each link, or None if w does not fall to 0."""
    weight: Weight = first_weight(K, value, a, b)
    sigma = (K - 1.0) * _SHARES
    links: list[tuple[float, float]] = []
    for before in range(_MOST_LINKS):
        n = before + 1
        middle = n + 0.5 * (a + b)
        kappa = _FACTORS / max(weight.m - 0.3 * weight.sigma * middle**2, 1e-3 * K * value)
        top = highest(K, value, epsilon, weight, kappa=kappa, sigma=sigma, ends=(n + a, n + b))
        done = np.nonzero(np.all(top[:, 0] <= 0.0, axis=1))[0]
        if done.size:
            return [*links, (float(kappa[done[0]]), 0.0)]
        i, j = _cheapest(K, value, top, sigma, middle)
        links.append((float(kappa[i]), float(sigma[j])))
        weight = next_weight(top[i, j], float(sigma[j]), b - a)
        if weight.m > 50.0 * (K / epsilon) ** 3:
            return None
    return None


def _cheapest(K: int, value: float, top: Array, sigma: Array, R: float) -> tuple[int, int]:
    """Indices of the kappa and sigma that leave the least to be paid."""
    z = np.linspace(0.0, R * R, 9)
    w = np.maximum(np.mean(top, axis=2)[..., None] - sigma[:, None] * z, 0.0)
    left = np.maximum(K * value - R * R - (K - 1) * z, 0.0)
    i, j = np.unravel_index(np.argmin(np.max(w - 0.5 * left, axis=2)), top.shape[:2])
    return int(i), int(j)
