"""Cheap bounds on the delta of independent noise: composition above, one event below.

From the tail and the profile of each coordinate. They decide at once what is far from a budget, and
hold where delta is too small for the inversion of transforms to see it.

**Above**: by basic composition. Noise that is (epsilon_i, delta_i)-DP on coordinate i is
(sum epsilon_i, sum delta_i)-DP on all (Dwork & Roth 2014, Theorem 3.16, for independent
mechanisms). Close to pure Laplace noise little is lost.

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
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise

    Shares = Sequence[tuple[Noise, float, int]]  # noise, sensitivity, copies

# Where half-lines start, in units of E|T|; and in units of the shift.
_STARTS = np.concatenate([[0.0], np.geomspace(0.01, 100.0, 25)])
_SHIFTS = np.array([-0.5, -0.25, 0.5, 1.0])
_LEVELS = np.concatenate([[0.0], np.geomspace(0.03, 30.0, 13)])  # for different noise, of E|T|
_RELATIVE_ROUNDING = 1e-12
_MAX_GROUPS = 32  # beyond, composition of different noise has little to offer


def equal_share(epsilon: float, dimension: int) -> float:
    """Share of epsilon, rounded down: all coordinates together spend at most epsilon."""
    share = epsilon / dimension
    return math.nextafter(share, 0.0) if dimension * Fraction(share) > Fraction(epsilon) else share


def _log_upper(noise: Noise | IntegerNoise, shift: float, epsilon: float) -> float | None:
    """Upper bound on log delta of one coordinate, None beyond the profile's range."""
    try:
        return float(vector_profile(noise, shift, epsilon).log_upper)
    except ValueError:
        return None


def composed_log_delta(
    noise: Noise | IntegerNoise, shift: float, epsilon: float, dimension: int
) -> float:
    """Upper bound on log delta by basic composition, rounding included.

    0 beyond the range of the profile.
    """
    one = _log_upper(noise, shift, equal_share(epsilon, dimension))
    if one is None:
        return 0.0
    if one == -math.inf:
        return one
    return min((one + math.log(dimension)) + 2.0**-50 * (1.0 + abs(one)), 0.0)


def composed_lower_bound(noise: Noise, shift: float, epsilon: float, dimension: int) -> float:
    """Lower bound on `composed_log_delta`, up to rounding, that takes a tenth of its time."""
    one = half_line_log_delta(noise, shift, equal_share(epsilon, dimension), 1)
    return min(one + math.log(dimension), 0.0)


def shared_log_delta(shares: Shares, epsilon: float) -> float:
    """Upper bound on log delta by basic composition of different noise, rounding included.

    Each coordinate gets a part of epsilon that is proportional to its loss at the mean size of its
    noise. The bound is 0 where composition does not help.
    """
    if len(shares) > _MAX_GROUPS:
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
    # ends: a few doubles down
    while sum(n * Fraction(x) for n, x in zip(copies, parts, strict=True)) > Fraction(epsilon):
        parts = [math.nextafter(x, 0.0) for x in parts]
    terms = []
    for (noise, size, count), part in zip(shares, parts, strict=True):
        one = _log_upper(noise, size, part)
        if one is None:
            return 0.0
        terms.append(one + math.log(count))
    bound = float(np.logaddexp.reduce(terms))
    return min(bound + 2.0**-48 * (1.0 + abs(bound)), 0.0) if bound > -math.inf else bound


def _log_maximum_difference(inside: Array, outside: Array) -> float:
    """Log max(e^inside - e^outside) where rounding leaves it positive, else -inf."""
    with np.errstate(invalid="ignore"):  # infinity less itself, beyond a support
        gap = inside - outside - _RELATIVE_ROUNDING * (1.0 + np.abs(inside) + np.abs(outside))
    seen = gap > 0.0
    if not seen.any():
        return -math.inf
    return float(np.max(inside[seen] + np.log(-np.expm1(-gap[seen]))))


def half_line_log_delta(noise: Noise, shift: float, epsilon: float, dimension: int) -> float:
    """Lower bound on log delta, up to rounding.

    The largest log(P(A) - e^epsilon Q(A)) over events A that all noise exceeds t, and that some
    noise leaves the support of its neighbour's.
    """
    t = np.concatenate([noise.mean_abs() * _STARTS, shift * _SHIFTS])
    inside = dimension * noise.logsf(t)
    best = _log_maximum_difference(inside, epsilon + dimension * noise.logsf(t + shift))
    if noise.bound < math.inf:
        leaves = float(noise.logsf(max(noise.bound - shift, -noise.bound)))
        if leaves > -math.inf:
            survives = dimension * math.log1p(-min(math.exp(leaves), 1.0 - 2.0**-53))
            if survives > -1e-9:
                best = max(best, leaves + math.log(dimension) - 1e-9)
            else:
                best = max(best, math.log(-math.expm1(survives)))
    return min(best, 0.0)


def event_log_delta(shares: Shares, epsilon: float) -> float:
    """Lower bound on log delta of different noise, up to rounding.

    The largest log(P(A) - e^epsilon Q(A)) over events A that all noise exceeds the same multiple
    of its mean size.
    """
    inside, outside = np.zeros(_LEVELS.size), np.full(_LEVELS.size, epsilon)
    for noise, size, copies in shares:
        t = noise.mean_abs() * _LEVELS
        inside += copies * noise.logsf(t)
        outside += copies * noise.logsf(t + size)
    return _log_maximum_difference(inside, outside)
