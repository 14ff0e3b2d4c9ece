"""A second account of allocated scales, by another method than the one that found them.

As in `dpnoise.calibration.cross_check`: Gaussian noise by half-lines of one Gaussian with
mu^2 = sum (lambda_i / sigma_i)^2, noise with a bounded loss and delta = 0 by the sum of the
largest losses, everything else by the lattice, for up to three different coordinates (some 20 ms
each).
Subbotin noise with several coordinates has one account only, since its first is the lattice.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.allocation.groups import tail_slope
from dpnoise.calibration.cross_check import (
    MAXIMUM_COORDINATES,
    Account,
    half_lines,
    lattice,
    pure_account,
)
from dpnoise.noise.exponential_power import Gaussian

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.noise.base import Noise

_MAX_SUMMED, _MAX_GROUPS = 10**6, 3
_ROUNDING = 1e-12


def second_account(
    noises: list[Noise],
    sensitivities: Array,
    scales: Array,
    budget: tuple[float, float],
    compositions: int,
) -> Account | None:
    """Bounds on log delta, or None where they are too dear.

    `noises` holds one for all coordinates or one each, `budget` epsilon and delta; sensitivities
    and scales, shape (K,), are positive.
    """
    epsilon, delta = budget
    if sensitivities.size > _MAX_SUMMED:
        return None
    ratios = sensitivities / scales
    sigmas = [noise.sigma for noise in noises if isinstance(noise, Gaussian)]
    if len(sigmas) == len(noises):
        mu = math.sqrt(compositions * float(np.sum((ratios / np.array(sigmas)) ** 2)))
        return half_lines(Gaussian(1.0), mu, epsilon) if math.isfinite(mu) and mu > 0.0 else None
    if delta == 0.0:
        slopes = np.array([tail_slope(noise) for noise in noises])
        total = compositions * float(np.sum(ratios * slopes))
        return pure_account(total * (1.0 - _ROUNDING), epsilon)
    return _by_lattice(noises, ratios, epsilon, compositions)


def _by_lattice(
    noises: list[Noise], ratios: Array, epsilon: float, compositions: int
) -> Account | None:
    """Bounds of the lattice for a few groups of equal coordinates."""
    if ratios.size * compositions > MAXIMUM_COORDINATES or (
        ratios.size * compositions > 1 and any(noise.pieces() is None for noise in noises)
    ):
        return None
    groups: dict[tuple[Noise, float], int] = {}
    every = noises if len(noises) > 1 else noises * ratios.size
    for noise, ratio in zip(every, ratios.tolist(), strict=True):
        groups[noise, ratio] = groups.get((noise, ratio), 0) + compositions
        if len(groups) > _MAX_GROUPS:
            return None
    if sum(groups.values()) == 1:
        ((noise, ratio),) = groups
        return half_lines(noise, ratio, epsilon)
    return lattice([(*key, count) for key, count in groups.items()], epsilon)
