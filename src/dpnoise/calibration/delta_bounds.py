"""Cheap bounds on the delta of a vector query, from the tail and the profile of one coordinate.

They decide at once what is far from a budget, and hold where delta is too small for the inversion
of transforms to see it.

**Above**: by basic composition. Noise that is (epsilon / K, delta_1)-DP on each of K coordinates
is (epsilon, K delta_1)-DP on all (Dwork & Roth 2014, Theorem 3.16, for independent mechanisms).
Close to pure Laplace noise little is lost.

**Below**: by one event. For every t the K noise values all exceed t with probability SF(t)^K, and
SF(t + d)^K beside the neighbour, so that delta >= SF(t)^K - e^epsilon SF(t + d)^K. And delta is
at least the probability that some value leaves the support of the neighbour's.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.privacy.vector import vector_profile

if TYPE_CHECKING:
    from dpnoise.noise import Noise

# Where half-lines start, in units of E|T|; and in units of the shift.
_STARTS = np.concatenate([[0.0], np.geomspace(0.01, 100.0, 25)])
_ROUNDING = 1e-12
_SHIFTS = np.array([-0.5, -0.25, 0.5, 1.0])


def share_of(epsilon: float, dimension: int) -> float:
    """Return epsilon / dimension, rounded down."""
    share = epsilon / dimension
    return math.nextafter(share, 0.0) if dimension * Fraction(share) > Fraction(epsilon) else share


def composed_log_delta(noise: Noise, shift: float, epsilon: float, dimension: int) -> float:
    """Return an upper bound on log delta by basic composition, rounding included.

    Parameters
    ----------
    noise : Noise
        Of each coordinate.
    shift : float
        The sensitivity of each coordinate.
    epsilon : float
        Non-negative.
    dimension : int
        The number of coordinates.
    """
    try:
        one = float(vector_profile(noise, shift, share_of(epsilon, dimension)).log_upper)
    except ValueError:  # beyond the range of the profile
        return 0.0
    if one == -math.inf:
        return one
    return min((one + math.log(dimension)) + 2.0**-50 * (1.0 + abs(one)), 0.0)


def half_line_log_delta(noise: Noise, shift: float, epsilon: float, dimension: int) -> float:
    """Return a lower bound on log delta, up to rounding.

    Parameters
    ----------
    noise, shift, epsilon, dimension
        As for `composed_log_delta`.
    """
    t = np.concatenate([noise.mean_abs() * _STARTS, shift * _SHIFTS])
    inside = dimension * noise.logsf(t)
    with np.errstate(invalid="ignore"):  # infinity less itself, beyond the support
        outside = epsilon + dimension * noise.logsf(t + shift)
        gap = inside - outside - _ROUNDING * (1.0 + np.abs(inside) + np.abs(outside))
    seen = gap > 0.0
    best = -math.inf
    if seen.any():
        best = float(np.max(inside[seen] + np.log(-np.expm1(-gap[seen]))))
    if noise.bound < math.inf:
        leaves = float(noise.logsf(max(noise.bound - shift, -noise.bound)))
        if leaves > -math.inf:
            survives = dimension * math.log1p(-min(math.exp(leaves), 1.0 - 2.0**-53))
            if survives > -1e-9:
                best = max(best, leaves + math.log(dimension) - 1e-9)
            else:
                best = max(best, math.log(-math.expm1(survives)))
    return min(best, 0.0)
