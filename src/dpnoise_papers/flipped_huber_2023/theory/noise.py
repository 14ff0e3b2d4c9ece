"""Flipped Huber noise for the checks of the theory: random parameters, and tails by quadrature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.checks import REACH, column, integrate
from dpnoise_papers.flipped_huber_2023 import as_printed as printed

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpnoise._types import Array


def draw_shape(rng: Generator, n: int) -> dict[str, Array]:
    """Random pairs alpha, gamma with alpha / gamma from 0.01 to 6, in log scale."""
    gamma = np.exp(rng.uniform(np.log(0.2), np.log(5.0), n))
    return {"alpha": gamma * np.exp(rng.uniform(np.log(0.01), np.log(6.0), n)), "gamma": gamma}


def draw_scalar(rng: Generator, n: int) -> dict[str, Array]:
    """Random shapes with a sensitivity and an epsilon that together reach all five cases."""
    drawn = draw_shape(rng, n)
    alpha, gamma = drawn["alpha"], drawn["gamma"]
    # Half of the sensitivities compare with alpha, half with gamma.
    unit = np.where(rng.random(n) < 0.5, alpha, gamma)
    sensitivity = unit * np.exp(rng.uniform(np.log(0.1), np.log(5.0), n))
    sensitivity = np.minimum(sensitivity, 6 * gamma)
    last = (sensitivity + 2 * alpha) * sensitivity / (2 * gamma**2)
    return drawn | {"sensitivity": sensitivity, "epsilon": last * rng.uniform(0, 1.4, n)}


def kinks(alpha: Array, gamma: Array, *points: Array) -> Array:
    """Edges for an integral against the density: its kinks, its ends and more points between."""
    end = alpha + REACH * gamma
    rows = [np.clip(p, -end, end) for p in (-end, -alpha, np.zeros_like(alpha), alpha, end)]
    rows += [np.clip(p, -end, end) for p in points]
    return np.stack(rows, axis=1)


def weight(t: Array, alpha: Array, gamma: Array) -> Array:
    """Density but for its factor, exp(-rho_alpha(t) / gamma^2)."""
    return np.exp(-printed.loss_function(t, alpha) / gamma**2)


def mass(alpha: Array, gamma: Array) -> Array:
    """Integral of `weight` by quadrature."""
    a, g = column(alpha), column(gamma)
    return integrate(lambda t: weight(t, a, g), kinks(alpha, gamma))


def tail(x: Array, alpha: Array, gamma: Array) -> Array:
    """P(T > x) of flipped Huber noise, a sum of positive terms where x >= 0."""
    w, b, size = printed.omega(alpha, gamma), alpha / gamma, np.abs(x)
    rim = printed.ROOT_2PI * printed.upper_tail(np.maximum(size / gamma, b))
    inside = np.minimum(size, alpha) / gamma
    centre = np.exp(b * (b / 2 - inside)) * -np.expm1(-b * (b - inside)) / b
    upper = (rim + centre) / w
    return np.where(x < 0, 1 - upper, upper)


def two_fold_tail(level: Array, one: Array, two: Array, alpha: Array, gamma: Array) -> Array:
    """P(one T_1 + two T_2 > level) of flipped Huber noise, by quadrature."""
    middle = level * one / (one * one + two * two)  # where T_1 is most likely to be then
    end = alpha + np.abs(middle) + REACH * gamma
    places = [(level - two * edge) / one for edge in (-alpha, 0 * alpha, alpha)]
    places += [middle - REACH / 2 * gamma, middle, middle + REACH / 2 * gamma]
    edges = [-end, -alpha, 0 * end, alpha, end, *(np.clip(p, -end, end) for p in places)]
    a, g, x, c, e = (column(v) for v in (alpha, gamma, level, one, two))
    integral = integrate(
        lambda t: weight(t, a, g) * tail((x - c * t) / e, a, g), np.stack(edges, axis=1)
    )
    return integral / mass(alpha, gamma)
