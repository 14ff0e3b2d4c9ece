"""Releases on Poisson samples, or known by a privacy loss distribution.

Where a record is added or removed, and the transforms of all other losses are known, the bounds of
`dpnoise.privacy.sampled` count them. Else, and where these are wide, dp_accounting does: every
release, sampled or not, becomes a privacy loss distribution rounded to the pessimistic side
(Doroshenko et al., "Connect the dots", PoPETs 2022), and these are composed. dp_accounting does not
bound its floating-point rounding: here it counts as a relative 1e-6 of delta, which is tested and
not proved.
"""

from __future__ import annotations

import importlib.util
import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dpnoise._extras import imports_of
from dpnoise.privacy.coordinates import equal_groups
from dpnoise.privacy.lattice.discrete import ListedLoss
from dpnoise.privacy.loss_distribution import loss_distribution
from dpnoise.privacy.odometer.ledger import Given, Ledger, Sampled, pure_share
from dpnoise.privacy.sampled.composition import ADDED, REMOVED, Composition, Step
from dpnoise.privacy.vector import is_invertible, loss_transform
from dpnoise.sensitivity.relation import ADD_REMOVE

if TYPE_CHECKING:
    from dpnoise._validation import Problems
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise

_INTERVAL = 1e-4  # of losses
_ROUNDING = 1e-6
_WIDE = 0.1  # gap of log delta from which on dp_accounting is asked as well


def composition_of(ledger: Ledger) -> Composition | None:
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


def sampled_epsilon(ledger: Ledger, delta: float) -> float | None:
    """An upper bound on the epsilon of a ledger at delta > 0; None if only delta can be asked for.

    The probability of failure is part of delta.
    """
    composition = composition_of(ledger)
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


def sampled_delta(ledger: Ledger, epsilon: float, aim: float | None = None) -> float:
    """An upper bound on the delta of a ledger with sampled releases.

    It may be looser where it is far below `aim`, if that is given.

    Where dp_accounting counts, a ModuleNotFoundError is raised without it, a ValueError if the
    losses of other noise in the ledger reach too far.
    """
    composition = composition_of(ledger)
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
