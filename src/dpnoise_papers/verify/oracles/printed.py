"""Theorem 8 of flipped-huber-2023 as printed, with the digits of mpmath."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import mpmath as mp
from scipy import special

if TYPE_CHECKING:
    from dpnoise_papers.verify.oracles.densities import Density
    from dpnoise_papers.verify.oracles.minima import Spent

_REFUSED = 1.0  # delta where a condition says nothing


def theorem_8_delta(epsilon: float, sensitivity: float, dimension: int) -> Spent:
    """Delta of Theorem 8 of flipped-huber-2023 as printed, in decimals, for all K at the corner."""

    def spent(noise: Density) -> float:
        alpha = noise.pieces[-1][0]
        gamma = noise.pieces[-1][3] ** -0.5
        return theorem_8(
            noise,
            (alpha, gamma),
            epsilon,
            dimension,
            (dimension * sensitivity, math.sqrt(dimension) * sensitivity, sensitivity),
        )

    return spent


def theorem_8(
    noise: Density, shape: tuple[float, float], epsilon: float, dimension: int,
    norms: tuple[float, float, float],
) -> float:  # fmt: skip
    """Delta of Theorem 8 for Delta_1, Delta_2 and Delta; 1 where it does not apply."""
    (alpha, gamma), (l1, l2, single) = shape, norms
    cost = dimension * (alpha**2 - max(alpha - single, 0.0) ** 2)
    if cost > 2.0 * gamma**2 * epsilon - l2**2:
        return _REFUSED
    # omega = kappa e^(alpha^2 / (2 gamma^2)) / gamma with kappa the integral of exp(-psi)
    log_omega = math.log(2.0 * noise.half / gamma) + 0.5 * (alpha / gamma) ** 2
    theta = -gamma * float(special.ndtri_exp(0.5 * math.log(math.pi / 2.0) - log_omega))
    centre = (l2**2 + cost) / (2.0 * gamma * l2)
    start = gamma * epsilon / l2
    with mp.workdps(60):
        far = mp.mpf(start) + centre + theta * l1 / (gamma * l2)
        return float(mp.ncdf(centre - mp.mpf(start)) - mp.exp(epsilon) * mp.ncdf(-far))
