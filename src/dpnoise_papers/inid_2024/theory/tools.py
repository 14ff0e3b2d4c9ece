"""What the checks of inid-2024 share: random sensitivities, errors of optimal over i.i.d. noise.

The ratios are those of Table I with Delta_p = ||lambda||_p, where all coordinates may change at
once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.checks import Outcome

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpnoise._types import Array


ROUNDING = 1e-12
MOST = 64  # coordinates
# What stands for a constant in O(.): no proof of the paper hides a greater one than 2.
CONSTANT = 10.0


def geometric(rng: Generator, low: float, high: float, n: int) -> Array:
    """Return n numbers, uniform in log scale."""
    return np.exp(rng.uniform(math.log(low), math.log(high), n))


def draw_sensitivities(rng: Generator, dimension: int) -> Array:
    """Return random sensitivities from nearly equal to very unequal, shape (dimension,)."""
    return np.exp(geometric(rng, 0.05, 2.0, 1)[0] * rng.standard_normal(dimension))


def budgets(rng: Generator, n: int) -> dict[str, Array]:
    """Return n pairs epsilon, delta."""
    return {"epsilon": geometric(rng, 1e-2, 10, n), "delta": geometric(rng, 1e-12, 0.3, n)}


def draw(rng: Generator, n: int, most: int = MOST) -> tuple[Array, Array]:
    """Return n random profiles, shape (n, most), with zeros from K on, and their K."""
    count = np.floor(np.exp(rng.uniform(math.log(2), math.log(most + 1), n)))
    spread = np.exp(rng.uniform(math.log(0.05), math.log(3.0), n))
    profiles = np.exp(spread[:, None] * rng.standard_normal((n, most)))
    return np.where(np.arange(most) < count[:, None], profiles, 0.0), count


def gaussian_ratio(profiles: Array, count: Array) -> Array:
    """Return the error of optimal over that of i.i.d. Gaussian noise, decoupled."""
    return profiles.sum(axis=1) ** 2 / (count * (profiles**2).sum(axis=1))


def laplace_ratio(profiles: Array, count: Array) -> Array:
    """Return the same for Laplace noise."""
    return (np.cbrt(profiles) ** 2).sum(axis=1) ** 3 / (count * profiles.sum(axis=1) ** 2)


def absolute_ratio(profiles: Array, count: Array) -> Array:
    """Return the same for the mean absolute error of Laplace noise."""
    return np.sqrt(profiles).sum(axis=1) ** 2 / (count * profiles.sum(axis=1))


def evenness(profiles: Array, count: Array) -> Array:
    """Return nu, the mean sensitivity over the largest."""
    return profiles.sum(axis=1) / (count * profiles.max(axis=1))


def profile_outcome(
    margin: Array, profiles: Array, count: Array, tolerance: float = ROUNDING
) -> Outcome:
    """Return an outcome whose parameters are K and nu."""
    return Outcome(margin, tolerance, {"K": count, "nu": evenness(profiles, count)})
