"""Releases of Gaussian noise on Poisson samples, by dp_accounting's privacy loss distributions.

Every release, sampled or not, becomes a privacy loss distribution rounded to the pessimistic side
(Doroshenko et al., "Connect the dots", PoPETs 2022), and these are composed. What is known by its
pure epsilon counts as randomized response. dp_accounting does not bound its floating-point
rounding: here it counts as a relative 1e-6 of delta, which is tested and not proved.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dpnoise._extras import imports_of
from dpnoise.noise.discrete_gaussian import DiscreteGaussian
from dpnoise.noise.gaussian import Gaussian
from dpnoise.noise.laplace import Laplace
from dpnoise.noise.rational import as_double_above
from dpnoise.privacy.odometer.ledger import Sampled, largest_loss

if TYPE_CHECKING:
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.privacy.odometer.ledger import Ledger

_INTERVAL = 1e-4  # of losses
_ROUNDING = 1e-6


def sampled_delta(ledger: Ledger, epsilon: float, relation: str) -> float:
    """An upper bound on the delta of a ledger with sampled releases.

    A ModuleNotFoundError is raised without dp_accounting, a ValueError if other noise in the ledger
    is neither Gaussian nor Laplace and has no bound on its loss.
    """
    parts = [*ledger.sampled.items(), *ledger.shares.items()]
    total = None
    for part, count in parts:
        one = _composed(part, count, relation)
        total = one if total is None else total.compose(one)
    assert total is not None  # noqa: S101  (there is a sampled release)
    found = float(total.get_delta_for_epsilon(epsilon))
    return min(found * (1.0 + _ROUNDING), 1.0)


@lru_cache(maxsize=32)
def _composed(part: Sampled | tuple[Noise | IntegerNoise, float], count: int, relation: str) -> Any:  # noqa: ANN401
    """The privacy loss distribution of `count` equal releases."""
    with imports_of("accounting"):
        from dp_accounting.pld import common  # noqa: PLC0415
        from dp_accounting.pld import privacy_loss_distribution as pld  # noqa: PLC0415
        from dp_accounting.privacy_accountant import NeighboringRelation  # noqa: PLC0415
    if isinstance(part, Sampled):
        replace = relation == "replace-one"
        neighbours = (
            NeighboringRelation.REPLACE_ONE if replace else NeighboringRelation.ADD_OR_REMOVE_ONE
        )
        one = pld.from_gaussian_mechanism(
            part.multiplier,
            value_discretization_interval=_INTERVAL,
            sampling_prob=part.rate,
            neighboring_relation=neighbours,
        )
        return one.self_compose(count)
    noise, size = part
    loss = largest_loss(noise, size)
    if isinstance(noise, Gaussian):
        scale = math.nextafter(noise.sigma / size, 0.0)
        one = pld.from_gaussian_mechanism(scale, value_discretization_interval=_INTERVAL)
    elif isinstance(noise, Laplace):
        scale = math.nextafter(noise.beta / size, 0.0)
        one = pld.from_laplace_mechanism(scale, value_discretization_interval=_INTERVAL)
    elif isinstance(noise, DiscreteGaussian):
        one = pld.from_discrete_gaussian_mechanism(
            noise.sigma, int(size), value_discretization_interval=_INTERVAL
        )
    elif loss < math.inf:
        known = common.DifferentialPrivacyParameters(as_double_above(loss), 0.0)
        one = pld.from_privacy_parameters(known, value_discretization_interval=_INTERVAL)
    else:
        message = (
            "budget: noise beside a sampled release: expected Gaussian, Laplace, DiscreteGaussian"
            f" or noise with a bounded privacy loss, got {noise!r}"
        )
        raise ValueError(message)
    return one.self_compose(count)
