"""Cheap bounds on the delta of different noise by coordinate.

As `dpnoise.calibration.delta_bounds`, with shares of epsilon that follow the greatest losses: where
Laplace centres use up epsilon, and delta is too small for the inversion of transforms, basic
composition certifies scales, and the event that all noise exceeds some quantile refutes them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.privacy.vector import vector_profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise.noise import Noise

    Shares = Sequence[tuple[Noise, float, int]]

_LEVELS = np.concatenate([[0.0], np.geomspace(0.03, 30.0, 13)])  # in units of E|T|
_ROUNDING = 1e-12
_MOST_GROUPS = 32  # beyond, composition has little to offer


def event_log_delta(shares: Shares, epsilon: float) -> float:
    """Return a lower bound on log delta, up to rounding.

    Parameters
    ----------
    shares : sequence of (noise, sensitivity, copies)
        The coordinates.
    epsilon : float
        Non-negative.

    Returns
    -------
    float
        The largest log(P(A) - e^epsilon Q(A)) over events A that all noise exceeds the same
        multiple of its mean size.
    """
    inside, outside = np.zeros(_LEVELS.size), np.full(_LEVELS.size, epsilon)
    for noise, size, copies in shares:
        t = noise.mean_abs() * _LEVELS
        inside += copies * noise.logsf(t)
        outside += copies * noise.logsf(t + size)
    with np.errstate(invalid="ignore"):  # infinity less itself, beyond a support
        gap = inside - outside - _ROUNDING * (1.0 + np.abs(inside) + np.abs(outside))
    seen = gap > 0.0
    if not seen.any():
        return -math.inf
    return float(np.max(inside[seen] + np.log(-np.expm1(-gap[seen]))))


def shared_log_delta(shares: Shares, epsilon: float) -> float:
    """Return an upper bound on log delta by basic composition, rounding included.

    Parameters
    ----------
    shares : sequence of (noise, sensitivity, copies)
        The coordinates.
    epsilon : float
        Non-negative; each coordinate gets a part of it that is proportional to its loss at the
        mean size of its noise.
    """
    if len(shares) > _MOST_GROUPS:
        return 0.0
    loss = [
        float(noise.logpdf(0.5 * noise.mean_abs()) - noise.logpdf(0.5 * noise.mean_abs() + size))
        for noise, size, _ in shares
    ]
    copies = [count for _, _, count in shares]
    total = math.fsum(n * x for n, x in zip(copies, loss, strict=True))
    if not 0.0 < total < math.inf:
        return 0.0
    parts = [epsilon * (x / total) for x in loss]
    while sum(n * Fraction(x) for n, x in zip(copies, parts, strict=True)) > Fraction(epsilon):
        parts = [math.nextafter(x, 0.0) for x in parts]
    terms = []
    for (noise, size, count), part in zip(shares, parts, strict=True):
        try:
            one = float(vector_profile(noise, size, part).log_upper)
        except ValueError:  # beyond the range of the profile
            return 0.0
        terms.append(one + math.log(count))
    bound = float(np.logaddexp.reduce(terms))
    return min(bound + 2.0**-48 * (1.0 + abs(bound)), 0.0) if bound > -math.inf else bound
