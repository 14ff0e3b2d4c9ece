"""The exact account of releases whose privacy parameters are fixed in advance.

The pair of distributions that dominates a release, whatever its query, is known; so the product of
these pairs dominates all releases together, also where each query is chosen with the earlier
results at hand (Zhu, Dong & Wang, "Optimal accounting of differential privacy via characteristic
function", AISTATS 2022, Theorem 10). The profile of the product is that of a vector query.

**Releases on Poisson samples, or known by a privacy loss distribution.** Where a record is added or
removed, and the transforms of all other losses are known, the bounds of `dpnoise.privacy.sampled`
count them. Else, and where these are wide, dp_accounting does: every release, sampled or not,
becomes a privacy loss distribution rounded to the pessimistic side (Doroshenko et al., "Connect the
dots", PoPETs 2022), and these are composed. dp_accounting does not bound its floating-point
rounding: here it counts as a relative 1e-6 of delta, which is tested and not proved.
"""

from __future__ import annotations

import importlib.util
import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize

from dpnoise._extras import imports_of
from dpnoise.noise.rational import as_double_above
from dpnoise.privacy.coordinates import equal_groups
from dpnoise.privacy.lattice.discrete import ListedLoss
from dpnoise.privacy.loss_distribution import loss_distribution
from dpnoise.privacy.odometer.ledger import Given, Ledger, Sampled, pure_share
from dpnoise.privacy.sampled.composition import ADDED, REMOVED, Composition, Step
from dpnoise.privacy.vector import is_invertible, loss_transform, profile_of_shares
from dpnoise.sensitivity.relation import ADD_REMOVE

if TYPE_CHECKING:
    from dpnoise._validation import Problems
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise


_DOUBLINGS = 40  # of epsilon, from 1; beyond, it counts as infinite
_CLOSE = 1e-10  # relative, of epsilon
_CLIP = 700.0  # of log delta, for the search
_INTERVAL = 1e-4  # of losses
_ROUNDING = 1e-6
_WIDE = 0.1  # gap of log delta from which on dp_accounting is asked as well


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
            found = _sampled_delta(ledger, epsilon, aim)
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
        direct = _sampled_epsilon(ledger, delta) if ledger.sampled else None
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


def _composition_of(ledger: Ledger) -> Composition | None:
    """The releases as our own account takes them, or None where it does not."""
    if ledger.relation != ADD_REMOVE or not all(isinstance(p, Sampled) for p in ledger.sampled):
        return None
    return _composition(tuple(ledger.sampled.items()), tuple(ledger.narrow.items()))


@lru_cache(maxsize=16)
def _composition(
    sampled: tuple[tuple[Sampled, int], ...],
    shares: tuple[tuple[tuple[Noise | IntegerNoise, float], int], ...],
) -> Composition | None:
    groups = equal_groups(dict(shares))
    if not is_invertible(groups):
        return None
    steps = {Step(part.multiplier, part.rate): count for part, count in sampled}
    return Composition(steps, loss_transform(groups) if groups else None)


def _sampled_epsilon(ledger: Ledger, delta: float) -> float | None:
    """An upper bound on the epsilon of a ledger at delta > 0; None if only delta can be asked for.

    The probability of failure is part of delta.
    """
    composition = _composition_of(ledger)
    rest = Fraction(delta) - ledger.failure
    if composition is None:
        return None
    if rest <= 0:
        return math.inf
    log_rest = math.log(rest) - 1e-13
    found = max(composition.epsilon(log_rest, side)[1] for side in (REMOVED, ADDED))
    if found < math.inf or not _has_peer():
        return found
    composition.wide = True  # where our bounds say nothing dp_accounting may
    return None


def _has_peer() -> bool:
    return importlib.util.find_spec("dp_accounting") is not None


def _sampled_delta(ledger: Ledger, epsilon: float, aim: float | None = None) -> float:
    """An upper bound on the delta of a ledger with sampled releases.

    It may be looser where it is far below `aim`, if that is given.

    Where dp_accounting counts, a ModuleNotFoundError is raised without it, a ValueError if the
    losses of other noise in the ledger reach too far.
    """
    composition = _composition_of(ledger)
    if composition is not None and not composition.wide:
        guess = math.log(aim) if aim else None
        both = [composition.log_delta(epsilon, side, guess) for side in (REMOVED, ADDED)]
        log_delta = max(one.upper for one in both)
        lowest = max(one.lower for one in both)
        if log_delta - lowest < _WIDE or log_delta < (guess or -math.inf) or not _has_peer():
            return min(math.exp(log_delta) * (1.0 + 1e-12) + 5e-324, 1.0)
    parts = [*ledger.sampled.items(), *ledger.shares.items()]
    total = None
    for part, count in parts:
        one = _composed(part, count, ledger.relation)
        total = one if total is None else total.compose(one)
    assert total is not None  # noqa: S101  (there is a sampled release)
    found = float(total.get_delta_for_epsilon(epsilon))
    return min(found * (1.0 + _ROUNDING), 1.0)


def read_distribution(problems: Problems, distribution: Any) -> Ledger:  # noqa: ANN401
    """One release whose privacy loss distribution is known."""
    with imports_of("accounting"):
        from dp_accounting.pld import privacy_loss_distribution as pld  # noqa: PLC0415
    expected = f"a pessimistic PrivacyLossDistribution on multiples of {_INTERVAL}"
    if isinstance(distribution, pld.PrivacyLossDistribution):
        try:
            pld.identity(value_discretization_interval=_INTERVAL).compose(distribution)
        except ValueError as error:
            problems.add(f"distribution: expected {expected}: {error}")
    else:
        problems.require(False, "distribution", expected, distribution)
    return Ledger(sampled={Given(distribution): 1})


@lru_cache(maxsize=32)
def _composed(
    part: Sampled | Given | tuple[Noise | IntegerNoise, float], count: int, relation: str | None
) -> Any:  # noqa: ANN401
    """The privacy loss distribution of `count` equal releases."""
    with imports_of("accounting"):
        from dp_accounting.pld import privacy_loss_distribution as pld  # noqa: PLC0415
        from dp_accounting.privacy_accountant import NeighboringRelation  # noqa: PLC0415
    if isinstance(part, Given):
        one = part.distribution
    elif isinstance(part, Sampled):
        adds = relation == ADD_REMOVE
        neighbours = (
            NeighboringRelation.ADD_OR_REMOVE_ONE if adds else NeighboringRelation.REPLACE_ONE
        )
        one = pld.from_gaussian_mechanism(
            part.multiplier,
            value_discretization_interval=_INTERVAL,
            sampling_prob=part.rate,
            neighboring_relation=neighbours,
        )
    elif isinstance(part[0], ListedLoss):
        one = loss_distribution(*pure_share(part[0].largest_loss(1.0)), interval=_INTERVAL)
    else:
        one = loss_distribution(*part, interval=_INTERVAL)
    return one.self_compose(count)
