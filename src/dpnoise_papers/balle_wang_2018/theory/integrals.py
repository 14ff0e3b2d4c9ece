"""Probabilities of Gaussian noise as integrals of its density, for the checks of theory.

Nothing here uses the normal distribution function or `dpnoise.privacy.gaussian`, which the
statements and their calibrations do: so each side of a check is computed by itself. The integrals
are relative ones, right in probabilities of 1e-300 as in those of 1/2.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.checks import REACH, column, integrate

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array

_DECAYS = 40.0  # e-folds after which an exponential tail is cut off
_PARTS = 12
_STEPS = 80  # of a bisection
_HALF_LOG = 0.5 * math.log(2 * math.pi)


def log_tail(x: Array) -> Array:
    """Logarithm of the probability of a unit normal below x, by quadrature."""
    return _log_below(x, np.ones_like)


def log_profile(mu: Array, epsilon: Array) -> Array:
    """Logarithm of the integral of [p - e^epsilon p']_+ for unit normals mu apart.

    With t = c - s, c being where p = e^epsilon p', the integrand is p(t) (1 - e^(-mu s)), s > 0.
    """
    return _log_below(mu / 2 - epsilon / mu, lambda s: -np.expm1(-column(mu) * s))


def _log_below(x: Array, weight: Callable[[Array], Array]) -> Array:
    """Logarithm of the integral of phi(x - s) weight(s) over s > 0."""
    peak = np.maximum(x, 0.0)
    reach = np.where(x < 0, np.minimum(REACH, _DECAYS / np.maximum(-x, 1e-9)), REACH)
    start = np.maximum(peak - REACH, 0.0)
    edges = np.stack([start, peak, peak + reach], axis=1)
    at, top = column(x), column(peak)

    def integrand(s: Array) -> Array:
        return np.exp(at * s - 0.5 * s * s - 0.5 * top * top) * weight(s)

    inside = np.log(integrate(integrand, edges, parts=_PARTS))
    return np.asarray(inside - 0.5 * x * x + 0.5 * peak * peak - _HALF_LOG)


def where_loss_is(level: Array, distance: Array, sigma: Array) -> Array:
    """Noise t at which the privacy loss is `level`, by bisection of the logarithms of densities.

    The answers are 0 and `distance`, and the noisy answer is t: the loss falls with t.
    """
    away = np.abs(level) * sigma**2 / distance + distance
    low, high = -2 * away, 2 * away
    # ends: halves to the last digit
    for _ in range(_STEPS):
        t = 0.5 * (low + high)
        loss = 0.5 * ((t - distance) / sigma) ** 2 - 0.5 * (t / sigma) ** 2
        low, high = np.where(loss > level, t, low), np.where(loss > level, high, t)
    return 0.5 * (low + high)


def log_loss_moment(s: Array, apart: Array, sigma: Array) -> Array:
    """Logarithm of E exp(s L), L being the privacy loss of Gaussian noise at two answers.

    `apart`, shape (n, d), is their difference in each coordinate; the coordinates' densities p and
    p' give the integrals of p^(1 + s) p'^(-s), of which this is the sum of logarithms.
    """
    n, d = apart.shape
    shift = (apart / sigma[:, None]).reshape(-1)
    power = np.repeat(s, d)
    centre = -power * shift  # of p^(1 + s) p'^(-s), p at 0 and p' at the shift
    edges = np.stack([centre - REACH, centre, centre + REACH], axis=1)
    a, b = column(power), column(shift)
    # The integrals can be too large or small for a double: they are taken over that at the centre.
    top = 0.5 * (power * (centre - shift) ** 2 - (1 + power) * centre**2)

    def integrand(t: Array) -> Array:
        log_ratio = 0.5 * (a * (t - b) ** 2 - (1 + a) * t * t)
        return np.exp(log_ratio - column(top))

    total = np.log(integrate(integrand, edges, parts=_PARTS)) + top - _HALF_LOG
    return np.asarray(total.reshape(n, d).sum(axis=1))
