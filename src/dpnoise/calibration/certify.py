"""Noise that leaves calibration is checked here, and enlarged until the check passes.

The searches of this room solve equations in floating point, some of them by formulas of
their own. What they propose counts only once the two-sided profile of `dpnoise.privacy` says
that an upper bound on its delta is within the budget. Larger noise is more private: dividing
a query by c > 1 is a shorter shift, and for each family here the longest shift is the worst.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from dpnoise.calibration.budget import Calibration
from dpnoise.noise import Huber, Laplace, Staircase, Subbotin
from dpnoise.privacy import vector_profile

if TYPE_CHECKING:
    from dpnoise.calibration.budget import Budget
    from dpnoise.noise import Noise

_FIRST_STEP = 2.0**-46
_STEPS = 40  # doubling from the first step


def greatest_loss(noise: Noise, sensitivity: float) -> Fraction | float:
    """Return a bound on the privacy loss of one coordinate, in exact arithmetic.

    For log-concave noise the loss grows along the line to sensitivity times the slope of the
    far tail of -log density. Staircase noise is epsilon-private up to its own sensitivity.
    """
    match noise:
        case Laplace(beta=beta) | Subbotin(p=1.0, scale=beta):
            return Fraction(sensitivity) / Fraction(beta)
        case Huber(alpha=alpha, scale=scale):
            return Fraction(sensitivity) * Fraction(alpha) / Fraction(scale)
        case Staircase(epsilon=epsilon, sensitivity=width) if sensitivity <= width:
            return Fraction(epsilon)
    return math.inf


def certified_delta(noise: Noise, budget: Budget) -> float:
    """Return an upper bound on the delta that `noise` achieves at the budget's epsilon."""
    if budget.dimension * greatest_loss(noise, budget.sensitivity) <= Fraction(budget.epsilon):
        return 0.0
    profile = vector_profile(noise, budget.sensitivity, budget.epsilon, copies=budget.dimension)
    return float(profile.upper)


def settle(
    noise: Noise, budget: Budget, *, method: str = "exact", infimum: float | None = None
) -> Calibration:
    """Return `noise`, enlarged as little as it takes to be certified.

    Parameters
    ----------
    noise : Noise
        On the private side of the budget up to rounding.
    budget : Budget
        The budget.
    method : str
        How the noise was found.
    infimum : float, optional
        The variance of the limit, where the least variance is not attained.

    Raises
    ------
    RuntimeError
        If no such noise is found nearby.
    """
    step, proposed = _FIRST_STEP, noise
    for _ in range(_STEPS):
        delta = certified_delta(noise, budget)
        if delta <= budget.delta:
            variance, attained = noise.var(), infimum is None
            least = variance if attained else infimum
            return Calibration(noise, delta, variance, method, attained, least)
        noise, step = proposed.scaled(1.0 + step), 2.0 * step
    message = f"calibration: {proposed!r} could not be verified for {budget!r}"
    raise RuntimeError(message)
