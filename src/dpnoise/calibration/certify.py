"""Certified bounds on the delta of noise, and the enlargement of noise until they fit its budget.

The searches of this subpackage solve equations in floating point, some of them by formulas of
their own. What they propose counts only once the two-sided profile of `dpnoise.privacy` says
that an upper bound on its delta is within the budget. Larger noise is more private: dividing
a query by c > 1 is a shorter shift, and for each family here the longest shift is the worst.

Cheap bounds for a vector query, from the tail and the profile of each coordinate, decide at once
what is far from a budget, and hold where delta is too small for the inversion of transforms to see
it.

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

from dpnoise.calibration.budget import Calibration
from dpnoise.noise.integers import IntegerNoise
from dpnoise.privacy.vector import VectorProfile, vector_profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise.calibration.budget import Budget
    from dpnoise.noise.base import Noise

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


# Names of accounts.
PURE, SCALAR, VECTOR = "greatest loss", "scalar profile", "vector profile"
COMPOSED = "basic composition"

_ROUNDING = 1e-9  # of a logarithm of delta
# Relative enlargements to try: against rounding at a kink, and against looser bounds.
_FIRST, _GUESS, _LAST = 2.0**-46, 1e-9, 0.1
# An enlargement above the first and a log delta below the budget's by more are improved on.
_WORTH, _SLACK, _IMPROVEMENTS = 1e-10, 1e-6, 4
# A log delta below the budget's by more than the first is spent, with a slope seen over the second.
_UNUSED, _PROBE, _MAX_UNUSED, _CAREFUL = 1e-8, 1e-6, 1e-3, 0.95


def certified(noise: Noise | IntegerNoise, budget: Budget) -> tuple[float, str]:
    """Upper bound on the delta of `noise` at the budget's epsilon, and by which account.

    Basic composition is asked first: where it is good enough, next to pure Laplace noise, the
    inversion of transforms may see nothing.
    """
    epsilon, unit, dimension = budget.epsilon, budget.sensitivity, budget.dimension
    if dimension * noise.largest_loss(unit) <= Fraction(epsilon):
        return 0.0, PURE
    if dimension > 1 and noise.log_concave and _may_compose(noise, budget):
        bound = np.asarray(composed_log_delta(noise, unit, epsilon, dimension))
        upper = float(VectorProfile(bound, bound, bound).upper)
        if upper <= budget.delta:
            return upper, COMPOSED
    try:
        profile = vector_profile(noise, unit, epsilon, copies=dimension)
    except ValueError:  # noise too wide or too narrow for its range
        return 1.0, SCALAR if dimension == 1 else VECTOR
    return float(profile.upper), SCALAR if dimension == 1 else VECTOR


def _may_compose(noise: Noise | IntegerNoise, budget: Budget) -> bool:
    """Whether basic composition may keep delta: it cannot where its lower bound is above it."""
    if isinstance(noise, IntegerNoise) or budget.delta == 0.0:
        return True
    lower = composed_lower_bound(noise, budget.sensitivity, budget.epsilon, budget.dimension)
    return lower <= math.log(budget.delta) + _ROUNDING


def certified_delta(noise: Noise, budget: Budget) -> float:
    """Upper bound on the delta that `noise` achieves at the budget's epsilon."""
    return certified(noise, budget)[0]


def delta_to_compare(noise: Noise, budget: Budget) -> float:
    """`certified_delta`, or a lower bound on delta where that is above the positive budget's.

    In several coordinates the lower bound takes far less time, and settles that the budget is not
    kept.
    """
    unit, epsilon, dimension = budget.sensitivity, budget.epsilon, budget.dimension
    lower = half_line_log_delta(noise, unit, epsilon, dimension)
    if lower > math.log(budget.delta) + _ROUNDING:
        return math.exp(lower)
    return certified_delta(noise, budget)


def certified_calibration(
    noise: Noise, budget: Budget, *, method: str = "exact", infimum: float | None = None
) -> Calibration:
    """Noise on the private side up to rounding, enlarged as little as it takes to be certified.

    `infimum` is the variance of the limit, where the minimum variance is not attained;
    RuntimeError where no certified noise is found nearby.
    """
    delta, account = certified(noise, budget)
    if delta > budget.delta:
        noise, delta, account = _enlarged(noise, budget, delta)
    elif budget.dimension > 1 and account == VECTOR:
        noise, delta, account = _reduced(noise, budget, delta)
    variance = noise.var()
    limit = variance if infimum is None else min(infimum, variance)
    return Calibration(noise, delta, variance, method, infimum is None, limit, (account,))


def _reduced(noise: Noise, budget: Budget, delta: float) -> tuple[Noise, float, str]:
    """Noise that is smaller by what it leaves unused of delta, if that is certified."""
    unused = math.log(budget.delta / delta) if delta > 0.0 else math.inf
    if _UNUSED < unused < _MAX_UNUSED:
        probe = certified_delta(noise.scaled(1.0 - _PROBE), budget)
        slope = math.log(probe / delta) / _PROBE
        if slope > 0.0 and unused < _MAX_UNUSED * slope:
            less = noise.scaled(1.0 - _CAREFUL * unused / slope)
            found, account = certified(less, budget)
            if found <= budget.delta:
                return less, found, account
    return noise, delta, VECTOR


def _enlarged(noise: Noise, budget: Budget, delta: float) -> tuple[Noise, float, str]:
    """Noise that is larger by little and certified, its delta, and by which account."""
    account = ""

    def excess(step: float) -> float:
        nonlocal delta, account
        delta, account = certified(noise.scaled(1.0 + step), budget)
        if budget.delta == 0.0:
            return math.inf if delta > 0.0 else 0.0
        return math.log(delta / budget.delta) if delta > 0.0 else -math.inf

    low, above = 0.0, math.log(delta / budget.delta) if budget.delta > 0.0 else math.inf
    high = _FIRST
    while (below := excess(high)) > 0.0:
        low, above = high, below
        high = 8.0 * high if budget.dimension == 1 else max(8.0 * high, _GUESS)
        if high > _LAST:
            message = f"calibration: {noise!r} could not be verified for {budget!r}"
            raise RuntimeError(message)
    best = high, delta, account
    for _ in range(_IMPROVEMENTS):
        if high < _WORTH or below > -_SLACK:
            break
        middle = low + (high - low) * max(above / (above - max(below, -above)), 0.05)
        value = excess(middle)
        if value > 0.0:
            low, above = middle, value
        else:
            high, below, best = middle, value, (middle, delta, account)
    return noise.scaled(1.0 + best[0]), *best[1:]
