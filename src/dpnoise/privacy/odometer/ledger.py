"""Releases of one data set, each as the pair of distributions that dominates it.

A release is a number of coordinates with independent noise (`privacy.coordinates`), of which some
may fail with a small probability. What is only known to be epsilon-private counts as randomized
response, which dominates it (Kairouz, Oh & Viswanath, "The composition theorem for differential
privacy", ICML 2015): the loss is epsilon or -epsilon. Staircase noise with gamma = 1/2 and steps
as wide as the sensitivity has this loss.

Noise of dependent coordinates says itself by which noise of one number, or pure epsilon, it is
dominated: K-norm noise by Laplace noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from dpnoise._validation import is_integer
from dpnoise.noise.discrete_staircase import DiscreteStaircase
from dpnoise.noise.gaussian import Gaussian
from dpnoise.noise.rational import as_double_above
from dpnoise.noise.staircase import MAX_EPSILON, MIN_EPSILON, Staircase
from dpnoise.privacy.coordinates import read_shares
from dpnoise.sensitivity.base import Sensitivity

if TYPE_CHECKING:
    from dpnoise._validation import Problems
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.privacy.coordinates import Shares

_MOST_TIMES = 10**8


class Sampled(NamedTuple):
    """A Gaussian release of a Poisson sample: noise multiplier and chance of each record."""

    multiplier: float
    rate: float


@dataclass(frozen=True, eq=False)
class Given:
    """A release whose privacy loss distribution is known in the form of dp_accounting."""

    distribution: Any


@dataclass(frozen=True)
class Ledger:
    """Everything released so far.

    `shares` are coordinates, noise and sensitivity, with how many there are; `sampled` are releases
    of Poisson samples, and those given by their privacy loss distribution, with their number;
    `failure` is the sum of the probabilities with which a release may break what is said of it;
    `relation` is that of all, None before the first.
    """

    shares: Shares = field(default_factory=dict)
    failure: Fraction = Fraction(0)
    sampled: dict[Sampled | Given, int] = field(default_factory=dict)
    relation: str | None = None

    def plus(self, other: Ledger, times: int) -> Ledger:
        """The ledger with `times` releases of another one, which has the same relation."""
        return Ledger(
            _sum(self.shares, other.shares, times),
            self.failure + times * other.failure,
            _sum(self.sampled, other.sampled, times),
            other.relation,
        )

    @property
    def pure(self) -> Fraction | float:
        """An upper bound on the privacy loss of everything together, without rounding."""
        if self.sampled:
            return math.inf
        losses = [(largest_loss(*share), count) for share, count in self.shares.items()]
        if any(loss == math.inf for loss, _ in losses):
            return math.inf
        return sum((count * Fraction(loss) for loss, count in losses), Fraction(0))

    @property
    def countable(self) -> Shares:
        """The shares as the account of several coordinates takes them.

        Of staircase noise narrower than its sensitivity that account knows nothing; it counts as
        randomized response.
        """
        return self.shares if sum(self.shares.values()) < 2 else self.narrow

    @property
    def narrow(self) -> Shares:
        """The shares with randomized response for each staircase narrower than its sensitivity."""
        result: Shares = {}
        for (noise, size), count in self.shares.items():
            stairs = noise if isinstance(noise, Staircase | DiscreteStaircase) else None
            wide = stairs is not None and size > stairs.sensitivity
            share = pure_share(largest_loss(noise, size)) if wide else (noise, size)
            result[share] = result.get(share, 0) + count
        return result


def _sum(first: dict[Any, int], second: dict[Any, int], times: int) -> dict[Any, int]:
    result = dict(first)
    for key, count in second.items():
        result[key] = result.get(key, 0) + times * count
    return result


def largest_loss(noise: Noise | IntegerNoise, size: float | Fraction) -> Fraction | float:
    """An upper bound on the loss of one coordinate, also of staircases narrower than its size."""
    if isinstance(noise, Staircase):
        return Fraction(noise.epsilon) * math.ceil(Fraction(size) / Fraction(noise.sensitivity))
    return noise.largest_loss(size)


def pure_share(epsilon: Fraction | float) -> tuple[Noise, float]:
    """Noise and sensitivity whose loss is epsilon or -epsilon, rounded up."""
    return Staircase(max(as_double_above(epsilon), MIN_EPSILON), 1.0, 0.5), 1.0


def pure_release(problems: Problems, epsilon: Fraction | float, delta: float = 0.0) -> Ledger:
    """One release that is (epsilon, delta)-private, and no more is known."""
    if not problems.number("epsilon of the release", epsilon, low=0.0, high=MAX_EPSILON):
        return Ledger()
    failure = Fraction(as_double_above(delta))
    return Ledger({pure_share(epsilon): 1} if epsilon > 0 else {}, failure)


def read_times(problems: Problems, times: object) -> int:
    """How often, checked."""
    if is_integer(times) and 1 <= times <= _MOST_TIMES:
        return int(times)
    problems.add(f"times: expected a whole number from 1 to {_MOST_TIMES}, got {times!r}")
    return 1


def is_own_set(noise: Any, sensitivity: Sensitivity) -> bool:  # noqa: ANN401
    """Whether joint noise has the norm of a set, whatever its relation."""
    return sensitivity.geometry == getattr(noise, "ball", None)


def _numbers_of(sensitivity: Any) -> Any:  # noqa: ANN401
    """The largest changes of a set that is a box, as independent noise is accounted for.

    To that noise, symmetric about 0, a set is as its hull with all signs.
    """
    if not isinstance(sensitivity, Sensitivity):
        return sensitivity
    hull = sensitivity.unconditional_hull
    if hull.norm(hull.box) > 1.0:
        return sensitivity
    sides = sensitivity.box.tolist()
    return sides if len(sides) > 1 else sides[0]


def read_release(problems: Problems, noise: Any, sensitivity: Any) -> Ledger:  # noqa: ANN401
    """One release of a number, or of a vector with independent or joint noise."""
    if isinstance(noise, type) or not hasattr(noise, "dominating"):
        return Ledger(read_shares(problems, noise, _numbers_of(sensitivity), 1))
    if isinstance(sensitivity, Sensitivity) and is_own_set(noise, sensitivity):
        sensitivity = 1.0
    if not problems.number("sensitivity", sensitivity, low=0.0) or sensitivity == 0:
        return Ledger()
    found = noise.dominating(float(sensitivity))
    if isinstance(found, Fraction):
        return pure_release(problems, found)
    expected = "K-norm or staircase noise (else `spend_dp` with its epsilon and delta)"
    problems.require(found is not None, "noise", expected, noise)
    return Ledger(read_shares(problems, found[0], found[1], 1)) if found else Ledger()


def read_sampled(problems: Problems, noise: object, sensitivity: object, rate: object) -> Ledger:
    """One release of Gaussian noise on a Poisson sample."""
    good = problems.number("sampling", rate, low=0.0, high=1.0, open_low=True)
    known = isinstance(noise, Gaussian)
    problems.require(known, "noise", "Gaussian noise beside sampling", noise)
    size = problems.number("sensitivity", sensitivity, low=0.0, open_low=True)
    if not (good and size and isinstance(noise, Gaussian)):
        return Ledger()
    multiplier = math.nextafter(noise.sigma / float(sensitivity), 0.0)  # type: ignore[arg-type]
    problems.number("sigma / sensitivity", multiplier, low=1e-3, high=1e6)
    return Ledger(sampled={Sampled(multiplier, float(rate)): 1})  # type: ignore[arg-type]
