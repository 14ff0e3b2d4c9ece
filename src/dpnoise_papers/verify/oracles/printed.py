"""What flipped-huber-2023 prints of its profile, with the digits of mpmath: Table I, Theorem 8."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import mpmath as mp
from scipy import special

if TYPE_CHECKING:
    from dpnoise_papers.verify.oracles.densities import Density
    from dpnoise_papers.verify.oracles.minima import Spent

Number: TypeAlias = Any  # of any type that mpmath takes, or a number of mpmath
_REFUSED = 1.0  # delta where a condition says nothing


def table_1_ranges(alpha: Number, d: Number) -> dict[str, tuple[Number, Number]]:
    """Ranges of 2 gamma^2 epsilon that Table I prints for its cases."""
    over = max(d - alpha, 0) ** 2 + 2 * alpha * d
    return {
        "i": (0, (d - 2 * alpha) * d),
        "ii": (0, 2 * min(2 * alpha - d, d) * alpha),
        "iii": (max(2 * alpha, d) ** 2 - 2 * alpha * d, over),
        "iv": (over, (d + 2 * alpha) * d),
        "v": ((d + 2 * alpha) * d, math.inf),
    }


def table_1_delta(case: str, alpha: Number, gamma: Number, d: Number, epsilon: Number) -> Number:
    """Profile (13) of one case."""
    a, g, d, e = map(mp.mpf, (alpha, gamma, d, epsilon))
    root = mp.sqrt(2 * mp.pi)
    omega = 2 * (root * mp.ncdf(-a / g) + 2 * g / a * mp.sinh(a * a / g**2 / 2))
    rim = g / (a * omega) * mp.exp(a * a / g**2 / 2)
    normal, shift, half = root / omega, g * e / d, d / (2 * g)
    gauss = normal * (mp.ncdf(half - shift) - mp.exp(e) * mp.ncdf(-half - shift))
    if case == "i":
        return 1 - normal + gauss
    if case == "ii":
        middle = 1 + mp.exp(e) - 2 * mp.exp(e / 2 - a * d / (2 * g**2))
        return (1 - mp.exp(e)) / 2 + rim * middle
    if case == "v":
        return gauss
    sign = 1 if case == "iii" else -1
    s = mp.sqrt(2 * (g**2 * e + sign * a * d))
    inner = rim * (1 - mp.exp(a / g**2 * (-a + sign * (s - d))))
    return mp.mpf(1) / 2 + sign * inner - mp.exp(e) * normal * mp.ncdf(-(s - sign * a) / g)


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
