"""Minimum variance of each mechanism in K coordinates, by search over quadrature or a lattice."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import mpmath
from scipy import special

from dpnoise_papers.verify import densities, gaussian, lattice, stairs
from dpnoise_papers.verify.minima import minimum, minimum_in_box, scalar_delta

if TYPE_CHECKING:
    from dpnoise_papers.verify.densities import Density
    from dpnoise_papers.verify.minima import Minimum, Spent
    from dpnoise_papers.verify.model import Row

Box = tuple[tuple[float, float], tuple[float, float]]
TWO_PARAMETERS = ("flipped-huber", "offset-symmetric-gaussian")
_COARSE, _FINE = 2**10, 2**13
_REFUSED = 1.0
_PARAMETER = re.compile(r"(\w+)=([^,]+)")


class Budget(NamedTuple):
    """Privacy budget, the sensitivity of each coordinate and their number."""

    epsilon: float
    delta: float
    sensitivity: float = 1.0
    dimension: int = 1


def hint(row: Row) -> float | None:
    """Shape (alpha / gamma, theta / rho) of the noise that a row names."""
    told = _PARAMETER.findall(row["noise"]) if isinstance(row["noise"], str) else []
    if row["mechanism"] not in TWO_PARAMETERS or len(told) != 2:
        return None
    first, second = (float(value) for _, value in told)
    return first / second if first > 0.0 else None


def vector_delta(epsilon: float, sensitivity: float, dimension: int, points: int) -> Spent:
    """Delta of K coordinates whose neighbours all differ by the sensitivity."""
    if dimension == 1:
        return scalar_delta(epsilon, sensitivity)
    return lambda noise: lattice.profile([(noise, sensitivity, dimension)], epsilon, points)


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
    with mpmath.workdps(60):
        far = mpmath.mpf(start) + centre + theta * l1 / (gamma * l2)
        return float(
            mpmath.ncdf(centre - mpmath.mpf(start)) - mpmath.exp(epsilon) * mpmath.ncdf(-far)
        )


@cache
def found(mechanism: str, budget: Budget, hint: float | None = None) -> Minimum:
    """Noise of minimum variance of a family under the exact privacy profile."""
    fine, coarse = (_account("exact", budget, points) for points in (_FINE, _COARSE))
    return minimum(mechanism, fine, budget.delta, coarse=coarse, hint=hint)


@cache
def minimum_variance(
    mechanism: str,
    method: str,
    budget: Budget,
    box: Box | None = None,
    hint: float | None = None,
) -> float:
    """Minimum variance per coordinate of a mechanism by a method of the result tables.

    `hint` is the shape (alpha / gamma, theta / rho) that a result claims.
    """
    epsilon, delta, sensitivity, dimension = budget
    pure = densities.laplace(dimension * sensitivity / epsilon).variance
    if mechanism == "staircase":
        value = stairs.minimum_variance(epsilon, sensitivity, dimension)
    elif mechanism == "gaussian":
        value = gaussian.sigma(epsilon, delta, sensitivity * math.sqrt(dimension)) ** 2
    elif method == "pure":
        value = pure
    elif mechanism in {"laplace", "truncated-laplace"}:
        value = found(mechanism, budget).variance
    elif box is not None:
        fine, coarse = (_account(method, budget, points) for points in (_FINE, _COARSE))
        value = minimum_in_box(mechanism, fine, delta, box, coarse=coarse, hint=hint)
    else:  # the ends of both families are Gaussian and Laplace noise
        ends = [minimum_variance("gaussian", "exact", budget)]
        if method == "sufficient":
            spent = theorem_8_delta(epsilon, sensitivity, dimension)
            ends += [pure, minimum(mechanism, spent, delta, hint=hint).variance]
        else:
            ends += [found("laplace", budget).variance, found(mechanism, budget, hint).variance]
        value = min(ends)
    return value


def _account(method: str, budget: Budget, points: int) -> Spent:
    """Delta of noise by the condition behind a method."""
    epsilon, _, sensitivity, dimension = budget
    if method.startswith("sufficient"):
        return theorem_8_delta(epsilon, sensitivity, dimension)
    return vector_delta(epsilon, sensitivity, dimension, points)
