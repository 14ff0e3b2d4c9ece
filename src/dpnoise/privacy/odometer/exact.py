"""The exact account of releases whose privacy parameters are fixed in advance.

The pair of distributions that dominates a release, whatever its query, is known; so the product of
these pairs dominates all releases together, also where each query is chosen with the earlier
results at hand (Zhu, Dong & Wang, "Optimal accounting of differential privacy via characteristic
function", AISTATS 2022, Theorem 10). The profile of the product is that of a vector query.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize

from dpnoise.noise.exact import as_double_above
from dpnoise.privacy.odometer.sampled import sampled_delta, sampled_epsilon
from dpnoise.privacy.vector import profile_of_shares

if TYPE_CHECKING:
    from dpnoise.privacy.odometer.ledger import Ledger

_DOUBLINGS = 40  # of epsilon, from 1; beyond, it counts as infinite
_CLOSE = 1e-10  # relative, of epsilon
_CLIP = 700.0  # of log delta, for the search


class ExactAccount:
    """Upper bounds by the exact profile; the relation matters to releases of samples only."""

    adaptive = False

    def __init__(self, epsilon: float, delta: float) -> None:
        self.epsilon, self.delta = epsilon, delta

    def delta_of(self, ledger: Ledger, epsilon: float, aim: float | None = None) -> float:
        """An upper bound on the delta of everything at `epsilon`, by its profile.

        It may be looser where it is far below `aim`, if that is given.
        """
        if ledger.pure <= epsilon:
            found = 0.0
        elif ledger.sampled:
            found = sampled_delta(ledger, epsilon, aim)
        else:
            found = float(profile_of_shares(ledger.countable, np.asarray(epsilon)).upper)
        return as_double_above(min(ledger.failure + Fraction(found), Fraction(1)))

    def keeps(self, ledger: Ledger) -> bool:
        """Whether everything is within the budget, by basic composition or by its profile."""
        basic = ledger.basic
        if basic.epsilon <= self.epsilon and basic.delta <= self.delta:
            return True
        return self.delta_of(ledger, self.epsilon, self.delta) <= self.delta

    def epsilon_of(self, ledger: Ledger, delta: float) -> float:
        """An epsilon at which delta is seen not to be exceeded, close to the smallest one."""
        basic, found = ledger.basic, self._by_profile(ledger, delta)
        return min(found, as_double_above(basic.epsilon)) if basic.delta <= delta else found

    def _by_profile(self, ledger: Ledger, delta: float) -> float:
        if ledger.failure > delta:
            return math.inf
        bar, pure = math.log(delta) if delta > 0.0 else -math.inf, as_double_above(ledger.pure)
        if delta == 0.0 or pure == 0.0:
            return pure
        direct = sampled_epsilon(ledger, delta) if ledger.sampled else None
        if direct is not None:
            return direct
        private = pure

        def excess(epsilon: float) -> float:
            nonlocal private
            found = self.delta_of(ledger, epsilon)
            if found <= delta:
                private = min(private, epsilon)
            return min(max(math.log(found) - bar, -_CLIP), _CLIP) if found > 0.0 else -_CLIP

        if excess(0.0) <= 0.0:
            return 0.0
        low, high = 0.0, min(1.0, pure)
        for _ in range(_DOUBLINGS):
            if high >= pure or excess(high) <= 0.0:
                break
            low, high = high, min(2.0 * high, pure)
        else:
            return math.inf
        if high < pure or excess(high) <= 0.0:
            root = float(optimize.brentq(excess, low, high, xtol=_CLOSE * high, rtol=_CLOSE))
            excess(root * (1.0 + 2.0 * _CLOSE))
        return private

    def pure_left(self, ledger: Ledger) -> float:
        """Epsilon of a release without delta that still fits, by basic composition."""
        spent = self.epsilon_of(ledger, self.delta)
        return -as_double_above(Fraction(min(spent, 2.0 * self.epsilon)) - Fraction(self.epsilon))

    def refuse(self, ledger: Ledger) -> str:  # noqa: ARG002  (every release counts)
        """Why a release cannot be counted, or nothing."""
        return ""
