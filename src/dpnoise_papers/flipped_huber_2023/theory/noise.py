"""Flipped Huber noise for the checks of the theory: random parameters, and tails by quadrature."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise_papers.checks import REACH, column, integrate
from dpnoise_papers.flipped_huber_2023 import as_printed as printed

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpnoise._types import Array


def draw_shape(rng: Generator, n: int) -> dict[str, Array]:
    """Random pairs alpha, gamma with alpha / gamma from 0.01 to 6, in log scale."""
    gamma = np.exp(rng.uniform(np.log(0.2), np.log(5.0), n))
    return {"alpha": gamma * np.exp(rng.uniform(np.log(0.01), np.log(6.0), n)), "gamma": gamma}


def draw_wide(rng: Generator, n: int) -> dict[str, Array]:
    """Random pairs alpha, gamma with alpha / gamma from 0.003 to 30, in log scale.

    As far as the formulas of the density can be evaluated as they are printed.
    """
    gamma = np.exp(rng.uniform(np.log(0.2), np.log(5.0), n))
    return {"alpha": gamma * np.exp(rng.uniform(np.log(0.003), np.log(30.0), n)), "gamma": gamma}


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
    """Edges for an integral against the density: its kinks, its ends and more points between.

    The density falls from 0 as that of Laplace noise of scale gamma^2 / alpha, some multiples of
    which are edges where they lie before the transition.
    """
    end = alpha + REACH * gamma
    rows = [np.clip(p, -end, end) for p in (-end, -alpha, np.zeros_like(alpha), alpha, end)]
    for scales in (2.0, 8.0, 36.0):
        inner = np.minimum(scales * gamma**2 / np.maximum(alpha, 1e-300), alpha)
        rows += [-inner, inner]
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


def many_fold_tail(level: Array, d: Array, alpha: Array, gamma: Array) -> Array:
    """P(d_1 T_1 + ... + d_K T_K > level) of flipped Huber noise, by inverting its transform.

    `d`, shape (K, trials), may have zeros, but four entries of a trial or more are of one size.
    The integral of exp(-s level) M(s) / (2 pi i s) runs along the line with real part c, near the
    point where it is least, so that all terms are of the size of the result. M is a power of
    1 / abs(s) far out, where the integral is cut off.
    """
    norm = np.linalg.norm(d, axis=0)
    c = np.maximum(level / (gamma * norm), 0.5) / (gamma * norm)
    unit = np.maximum(alpha / gamma, 1.0) / (gamma * d.max(axis=0))
    edges = unit[:, None] * np.concatenate([[0.0], np.geomspace(0.25, 60.0, 40)])
    base = _log_transform(c[None, :] + 0j, d, alpha, gamma)[0].real

    def integrand(u: Array) -> Array:
        s = c[:, None, None] + 1j * u
        flat = s.reshape(len(c), -1).T
        power = _log_transform(flat, d, alpha, gamma).T.reshape(s.shape) - column(base)
        return (np.exp(power - 1j * u * column(level)) / s).real

    total = integrate(integrand, edges, parts=6)
    return total * np.exp(base - c * level) / math.pi


def _log_transform(s: Array, d: Array, alpha: Array, gamma: Array) -> Array:
    """Sum over i of log E exp(s d_i T), s of shape (nodes, trials)."""
    normaliser = mass(alpha, gamma)
    total = np.zeros_like(s)
    for size in d:
        inside = s * size
        both = sum(_half_transform(sign * inside, alpha, gamma) for sign in (-1, 1))
        with np.errstate(divide="ignore"):  # far out on the line it is 0
            total += np.log(both / normaliser)
    return total


def _half_transform(s: Array, alpha: Array, gamma: Array) -> Array:
    """Integral of exp(s t) `weight`(t) over t > 0."""
    rate = alpha / gamma**2 - s
    centre = -np.expm1(-rate * alpha) / rate
    z = (alpha / gamma - gamma * s) / math.sqrt(2)
    rim = gamma * math.sqrt(math.pi / 2) * special.wofz(1j * z)
    return centre + rim * np.exp(-((alpha / gamma) ** 2) + alpha * s)
