"""Staircase noise of minimum variance for a positive delta.

With steps as wide as the sensitivity each coordinate has the losses -e, 0 and e, e the epsilon of
the staircase. A share epsilon / K for each coordinate makes the noise (epsilon, 0)-DP and leaves
delta unused; in many coordinates, where losses cancel, a far larger e keeps (epsilon, delta). At a
fixed gamma delta rises with e and the variance falls, so that the budget determines e. What is left
is the variance as a function of gamma: it is scanned, and its two least local minima are refined.

Why: let b = exp(-e), q = gamma + b (1 - gamma), and tau the total variation distance of a shift by
the width of a step, tau = (1 - b) min(1/2, gamma + b (1/2 - gamma)) / q. One coordinate has
delta(eps) = tau (1 - e^(eps - e))_+ / (1 - b), which rises with e and tau. tau rises with e, as
1 - b and (1 - b) / q fall with b and b / q rises. The step and the place within it, which are
independent, fall stochastically as e rises, and so does the variance.

Staircase noise on the integers with a fall at r has the losses of the continuous staircase with
gamma = (r - 1/2) / sensitivity, and its variance less 1/12 (`dpnoise.noise.integers`).
So the same search serves: every r is tried up to a sensitivity of 32, beyond that those next to the
minima and the two ends.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.calibration.budget import Calibration, certified
from dpnoise.calibration.scalar import staircase as pure_staircase
from dpnoise.noise.integers import MIN_EPSILON, DiscreteStaircase
from dpnoise.noise.stepwise import MAX_EPSILON, Staircase
from dpnoise.privacy.accounts import equal_share

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise.calibration.budget import Target

_FLOOR = -30.0  # of log delta less its target
_NEAREST = 1e-13  # of e / share - 1, where the search starts
_ROUGH, _FINE = 1e-5, 1e-12  # errors of log (e - share)
_CLOSE = 1e-5  # error of log gamma, where the variance is flat
_LOG_ODDS = np.linspace(-30.0, 15.0, 31)  # of gamma
_FOLLOWED, _POINTS = 2, 200
_BACK, _STEPS = 1e-13, 30  # relative steps of e towards the private side, each twice the last
_FEW = 32  # sensitivities up to which every r of integer noise is tried


class _StaircaseSearch:
    """One budget for sensitivity 1."""

    def __init__(self, budget: Target) -> None:
        self.budget, self.target = budget, math.log(budget.delta)
        self.share = equal_share(budget.epsilon, budget.dimension)
        self.ends = math.log(_NEAREST * self.share), math.log(MAX_EPSILON - self.share)

    def epsilon(self, gamma: float, error: float) -> float:
        """The epsilon of a staircase that spends delta, about."""
        from scipy.optimize import brentq  # noqa: PLC0415 - 0.1 s, for searches only

        @cache
        def excess(x: float) -> float:
            noise = Staircase(min(self.share + math.exp(x), MAX_EPSILON), 1.0, gamma)
            delta, _ = certified(noise, self.budget)
            return max(math.log(delta) - self.target, _FLOOR) if delta > 0.0 else _FLOOR

        low, high = self.ends
        if excess(high) <= 0.0:
            return MAX_EPSILON
        if excess(low) >= 0.0:  # next to the share the bounds on a small delta are far apart
            steps = np.linspace(low, high, _POINTS)[::-1].tolist()
            low = next((x for x in steps if excess(x) < 0.0), math.nan)
            if math.isnan(low):
                return self.share
        return self.share + math.exp(brentq(excess, low, high, xtol=error, rtol=1e-15))

    def log_variance(self, log_gamma: float, error: float = _ROUGH) -> float:
        """The logarithm of the variance that the budget needs."""
        gamma = math.exp(log_gamma)
        return math.log(Staircase(self.epsilon(gamma, error), 1.0, gamma).var())

    def minima(self) -> list[tuple[float, float]]:
        """Local minima of the variance, the least two of a scan and refined: values and gammas."""
        from scipy.optimize import minimize_scalar  # noqa: PLC0415

        odds = np.exp(_LOG_ODDS)
        grid = np.log(odds / (1.0 + odds))
        values = np.array([self.log_variance(x) for x in grid.tolist()])
        beside = np.concatenate([[np.inf], values, [np.inf]])
        places = np.flatnonzero((values <= beside[:-2]) & (values <= beside[2:]))
        minima = places[np.argsort(values[places])][:_FOLLOWED].tolist()
        found = [(float(values[k]), math.exp(grid[k])) for k in minima]
        for k in minima:
            ends = float(grid[max(k - 1, 0)]), float(grid[min(k + 1, len(grid) - 1)])
            # ends: any gamma will do, and is certified after
            near = minimize_scalar(
                lambda x: self.log_variance(x, _FINE),
                bounds=ends,
                method="bounded",
                options={"xatol": _CLOSE},
            )
            found.append((float(near.fun), math.exp(near.x)))
        return found

    def certified(
        self, make: Callable[[float], Staircase | DiscreteStaircase], gamma: float, budget: Target
    ) -> Calibration | None:
        """Noise of a gamma that spends delta, made from its epsilon; None if none was certified."""
        epsilon, step = self.epsilon(gamma, _FINE), _BACK
        # ends: certified, or noise with delta = 0
        for _ in range(_STEPS):
            noise = make(epsilon * (1.0 - step))
            delta, account = certified(noise, budget)
            if noise.epsilon <= self.share or delta <= budget.delta:
                break
            step *= 2.0
        if delta > budget.delta:
            return None
        variance = noise.var()
        return Calibration(noise, delta, variance, "exact", True, variance, (account,))


def staircase_optimum(budget: Target) -> Calibration:
    """Staircase noise of minimum variance, with delta used where that gains anything.

    Certified; (epsilon, 0)-DP noise where none of less variance is.
    """
    pure, search = pure_staircase(budget), _StaircaseSearch(budget.unit)
    gamma = min(search.minima())[1]
    size = budget.sensitivity
    found = search.certified(lambda e: Staircase(e, size, gamma), gamma, budget)
    return found if found is not None and found.variance < pure.variance else pure


def discrete_staircase_optimum(budget: Target, pure: Calibration) -> Calibration:
    """Staircase noise on the integers of minimum variance, or what needs no delta if that has less.

    Certified.
    """
    search, size = _StaircaseSearch(budget.unit), int(budget.sensitivity)
    variances = {}
    for r in range(1, size + 1) if size <= _FEW else _near(search, size):
        epsilon = max(search.epsilon(_gamma(r, size), _FINE), MIN_EPSILON)
        variances[r] = DiscreteStaircase(epsilon, size, r).var()
    r = min(variances, key=lambda r: variances[r])
    found = search.certified(lambda e: DiscreteStaircase(e, size, r), _gamma(r, size), budget)
    return found if found is not None and found.variance < pure.variance else pure


def _gamma(r: int, size: int) -> float:
    """The gamma of continuous noise with the losses of integer noise."""
    return float(Fraction(2 * r - 1, 2 * size))


def _near(search: _StaircaseSearch, size: int) -> list[int]:
    """Where integer noise may fall: next to the minima of the continuous search, and the ends."""
    middles = [math.floor(gamma * size + 0.5) for _, gamma in search.minima()]
    near = {min(max(r + k, 1), size) for r in middles for k in (-1, 0, 1, 2)}
    return sorted({1, size, *near})
