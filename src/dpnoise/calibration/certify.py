"""Certified bounds on the delta of noise, and the enlargement of noise until they fit its budget.

The searches of this subpackage solve equations in floating point, some of them by formulas of
their own. What they propose counts only once the two-sided profile of `dpnoise.privacy` says
that an upper bound on its delta is within the budget, and a second account
(`dpnoise.privacy.second`) does not contradict it. Larger noise is more private: dividing
a query by c > 1 is a shorter shift, and for each family here the longest shift is the worst.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.calibration.budget import Calibration
from dpnoise.noise.integers import IntegerNoise
from dpnoise.privacy.accounts import COMPOSED, SCALAR, VECTOR
from dpnoise.privacy.composition import (
    composed_log_delta,
    composed_lower_bound,
    half_line_log_delta,
)
from dpnoise.privacy.integer_sets import PURE
from dpnoise.privacy.second import require_agreement, second_account
from dpnoise.privacy.vector import VectorProfile, vector_profile

if TYPE_CHECKING:
    from dpnoise.calibration.budget import Budget
    from dpnoise.noise.base import Noise

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
    # ends: raises at the largest enlargement
    while (below := excess(high)) > 0.0:
        low, above = high, below
        high = 8.0 * high if budget.dimension == 1 else max(8.0 * high, _GUESS)
        if high > _LAST:
            message = f"calibration: {noise!r} could not be verified for {budget!r}"
            raise RuntimeError(message)
    best = high, delta, account
    # ends: the first noise that was verified is kept
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


def cross_checked(found: Calibration, budget: Budget) -> Calibration:
    """A calibration with its budget and a second account that does not contradict it.

    RuntimeError if the second account contradicts the first.
    """
    (first,) = found.certified_by
    shares = [(found.noise, budget.sensitivity, budget.dimension)]
    second = second_account(shares, budget.epsilon, pure=first == PURE)
    require_agreement(f"calibration: {found.noise!r} for {budget!r}", first, found.delta, second)
    names = (first,) if second is None else (first, second.name)
    return replace(found, certified_by=names, budget=budget)
