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
STRICT = 1e-13  # what a strict inequality has to exceed, relative
MAXIMUM_DIMENSION = 64
# What stands for a constant in O(.): no proof of the paper hides a greater one than 2.
CONSTANT = 10.0


def log_uniform(rng: Generator, low: float, high: float, n: int) -> Array:
    """Random numbers, uniform in log scale, shape (n,)."""
    return np.exp(rng.uniform(math.log(low), math.log(high), n))


def draw_sensitivities(rng: Generator, dimension: int) -> Array:
    """Random sensitivities from nearly equal to very unequal, shape (dimension,)."""
    return np.exp(log_uniform(rng, 0.05, 2.0, 1)[0] * rng.standard_normal(dimension))


def budgets(rng: Generator, n: int) -> dict[str, Array]:
    """Random pairs of epsilon and delta."""
    return {"epsilon": log_uniform(rng, 1e-2, 10, n), "delta": log_uniform(rng, 1e-12, 0.3, n)}


def draw(rng: Generator, n: int) -> tuple[Array, Array]:
    """Random profiles of sensitivities and their dimensions K, shapes (n, 64) and (n,).

    Profiles hold zeros from K on, for this and the functions below.
    """
    count = np.floor(np.exp(rng.uniform(math.log(2), math.log(MAXIMUM_DIMENSION + 1), n)))
    spread = np.exp(rng.uniform(math.log(0.05), math.log(3.0), n))
    profiles = np.exp(spread[:, None] * rng.standard_normal((n, MAXIMUM_DIMENSION)))
    return np.where(np.arange(MAXIMUM_DIMENSION) < count[:, None], profiles, 0.0), count


def printed_scales(
    noise: str, scheme: str, profiles: Array, count: Array, unit: Array | float = 1.0
) -> Array:
    """Scales of Table I as printed, sigma or beta, of each coordinate, shape (n, 64).

    `unit` is 1/mu_0 or 1/epsilon, of shape (n,); Delta_p = ||lambda||_p.
    """
    used, each = np.arange(profiles.shape[1]) < count[:, None], count[:, None]
    gaussian = noise == "gaussian"
    if scheme == "iid":
        p = 2 if gaussian else 1
        scales = used * np.linalg.norm(profiles, p, axis=1)[:, None]
    elif scheme == "spr":
        scales = (np.sqrt(each) if gaussian else each) * profiles
    elif gaussian:
        scales = np.sqrt(profiles.sum(axis=1)[:, None]) * np.sqrt(profiles)
    else:
        scales = (np.cbrt(profiles) ** 2).sum(axis=1)[:, None] * np.cbrt(profiles)
    return np.broadcast_to(unit, count.shape)[:, None] * scales


def mean_squared_errors(
    noise: str, scheme: str, profiles: Array, count: Array, unit: Array | float = 1.0
) -> Array:
    """Sum of the variances of noise with the scales of Table I, shape (n,)."""
    scales = printed_scales(noise, scheme, profiles, count, unit)
    return (1.0 if noise == "gaussian" else 2.0) * (scales**2).sum(axis=1)


def gaussian_ratio(profiles: Array, count: Array) -> Array:
    """Mean squared error of optimal over that of i.i.d. Gaussian noise, decoupled."""
    return profiles.sum(axis=1) ** 2 / (count * (profiles**2).sum(axis=1))


def laplace_ratio(profiles: Array, count: Array) -> Array:
    """Mean squared error of optimal over that of i.i.d. Laplace noise, decoupled."""
    return (np.cbrt(profiles) ** 2).sum(axis=1) ** 3 / (count * profiles.sum(axis=1) ** 2)


def absolute_ratio(profiles: Array, count: Array) -> Array:
    """Mean absolute error of optimal over that of i.i.d. Laplace noise, decoupled."""
    return np.sqrt(profiles).sum(axis=1) ** 2 / (count * profiles.sum(axis=1))


def evenness(profiles: Array, count: Array) -> Array:
    """Evenness nu of sensitivities, their mean over the largest."""
    return profiles.sum(axis=1) / (count * profiles.max(axis=1))


def clearly(slack: Array) -> Array:
    """Slack of a strict inequality: -1 where rounding could explain it."""
    return np.where(slack > STRICT, slack, -1.0)


def profile_outcome(
    margin: Array, profiles: Array, count: Array, tolerance: float = ROUNDING
) -> Outcome:
    """Outcome of a check, with K and nu as its parameters."""
    return Outcome(margin, tolerance, {"K": count, "nu": evenness(profiles, count)})
