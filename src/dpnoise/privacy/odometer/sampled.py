"""Releases that dp_accounting counts: on Poisson samples, or known by a privacy loss distribution.

Every release, sampled or not, becomes a privacy loss distribution rounded to the pessimistic side
(Doroshenko et al., "Connect the dots", PoPETs 2022), and these are composed. dp_accounting does not
bound its floating-point rounding: here it counts as a relative 1e-6 of delta, which is tested and
not proved.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dpnoise._extras import imports_of
from dpnoise.privacy.lattice.listed import ListedLoss
from dpnoise.privacy.loss_distribution import loss_distribution
from dpnoise.privacy.odometer.ledger import Given, Ledger, Sampled, pure_share
from dpnoise.sensitivity.relation import ADD_REMOVE

if TYPE_CHECKING:
    from dpnoise._validation import Problems
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise

_INTERVAL = 1e-4  # of losses
_ROUNDING = 1e-6


def sampled_delta(ledger: Ledger, epsilon: float) -> float:
    """An upper bound on the delta of a ledger with sampled releases.

    A ModuleNotFoundError is raised without dp_accounting, a ValueError if the losses of other noise
    in the ledger reach too far.
    """
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
