"""What the checks of inid-2024 share: random sensitivities, ratios of errors, delta of densities.

The ratios are those of Table I with Delta_p = ||lambda||_p, where all coordinates may change at
once. `gaussian_delta` is from densities, without the closed form. With L the privacy loss, the log
of the ratio of the densities, delta = E (1 - exp(epsilon - L))_+ is (2 pi i)^(-1) times the
integral of exp(-epsilon s) E exp(s L) / (s (s + 1)) along a line Re s = c > 0. The loss of
independent coordinates is a sum, so that E exp(s L) is a product, each factor of which is a sum
over a grid here. Nothing says that a sum of Gaussian losses is Gaussian, which is what Lemmas 1
and 3 of inid-2024 rest on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.checks import Outcome, log_uniform

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpnoise._types import Array

ROUNDING = 1e-12
STRICT = 1e-13  # what a strict inequality has to exceed, relative
MAXIMUM_DIMENSION = 64
# What stands for a constant in O(.): no proof of the paper hides a greater one than 2.
CONSTANT = 10.0
# Trapezoidal sums: of the noise, in standard deviations, and along the line, in 1/mu.
_REACH, _STEP = 10.0, 0.25
_HEIGHT, _POINTS = 10.0, 121
ACCURACY = 1e-9  # relative, for delta from 1e-12 on


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
    count = np.floor(log_uniform(rng, 2, MAXIMUM_DIMENSION + 1, n))
    spread = log_uniform(rng, 0.05, 3.0, n)
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


def gaussian_delta(ratios: Array, epsilon: float, counts: Array | None = None) -> float:
    """Delta at epsilon of Gaussian noise on coordinates that move by `ratios` standard deviations.

    `counts` says how many coordinates have each ratio, 1 unless given. Relative error below
    `ACCURACY` for 1e-12 <= delta; smaller ones are found to be small.
    """
    m = np.abs(np.asarray(ratios, dtype=float))
    copies = np.ones(len(m)) if counts is None else np.asarray(counts, dtype=float)
    size = math.sqrt(float(copies @ m**2))
    # Near the saddle point, off the pole at 0; beyond 12/mu delta is below 1e-31.
    line = max(min(epsilon / size**2 - 0.5, 12.0 / size), 1.0 / size)
    y = np.linspace(0.0, _HEIGHT / size, _POINTS)
    s = line + 1j * y
    product = np.ones(_POINTS, dtype=complex)
    for ratio, count in zip(m[m > 0.0], copies[m > 0.0], strict=True):
        t = np.arange(-_REACH, _REACH + _STEP / 2, _STEP) + line * ratio
        loss = 0.5 * ((t + ratio) ** 2 - t**2)
        density = np.exp(-0.5 * t**2) / math.sqrt(2.0 * math.pi)
        product *= (_STEP * np.exp(s[:, None] * loss) @ density) ** count
    values = (product * np.exp(-epsilon * s) / (s * (s + 1.0))).real
    weights = np.full(_POINTS, y[1])
    weights[0] *= 0.5
    return float(weights @ values) / math.pi
