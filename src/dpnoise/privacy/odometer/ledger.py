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
from dpnoise.noise.exact import as_double_above
from dpnoise.noise.exponential_power import Gaussian
from dpnoise.noise.integers import DiscreteStaircase
from dpnoise.noise.stepwise import MAX_EPSILON, MIN_EPSILON, Staircase

if TYPE_CHECKING:
    from dpnoise._validation import Problems
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.privacy.coordinates import Shares

_MOST_TIMES = 10**8
# What stands for a release that may cost less.
LAPLACE = "Laplace noise of one number"
RESPONSE = "randomized response with the largest loss"
BOX = "noise for the box around the set"
CONCENTRATED = "noise with the largest concentrated bound of the set"
CERTIFIED = "randomized response with the certified epsilon and delta"
_SMALLEST, _MOST = 1e-3, 1e6  # of sigma / sensitivity of releases of Poisson samples


class Sampled(NamedTuple):
    """A Gaussian release of a Poisson sample: noise multiplier and chance of each record."""

    multiplier: float
    rate: float


@dataclass(frozen=True, eq=False)
class Given:
    """A release whose privacy loss distribution is known in the form of dp_accounting."""

    distribution: Any


class Stated(NamedTuple):
    """A guarantee (epsilon, delta) in exact numbers; epsilon may be infinite."""

    epsilon: Fraction | float
    delta: Fraction


def stated(epsilon: float, delta: float) -> Stated:
    """A guarantee given by doubles."""
    return Stated(Fraction(epsilon), Fraction(delta))


@dataclass(frozen=True)
class Ledger:
    """Everything released so far.

    `shares` are coordinates, noise and sensitivity, with how many there are; `sampled` are releases
    of Poisson samples, and those given by their privacy loss distribution, with their number;
    `failure` is the sum of the probabilities with which a release may break what is said of it;
    `relation` is that of all, None before the first. `stated` is an (epsilon, delta) that was
    proved of the whole in another way, None where there is nothing but the rest. `counted_as` says
    of one release what stands for it where that may cost more than its own loss.
    """

    shares: Shares = field(default_factory=dict)
    failure: Fraction = Fraction(0)
    sampled: dict[Sampled | Given, int] = field(default_factory=dict)
    relation: str | None = None
    stated: Stated | None = None
    counted_as: str = field(default="", compare=False)

    def plus(self, other: Ledger, times: int) -> Ledger:
        """The ledger with `times` releases of another one, which has the same relation."""
        first, second = self.basic, other.basic
        return Ledger(
            _sum(self.shares, other.shares, times),
            self.failure + times * other.failure,
            _sum(self.sampled, other.sampled, times),
            other.relation,
            Stated(first.epsilon + times * second.epsilon, first.delta + times * second.delta),
        )

    @property
    def basic(self) -> Stated:
        """An (epsilon, delta) by basic composition; epsilon is infinite where none is known."""
        return self.stated or Stated(self.pure, self.failure)

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


def guaranteed(epsilon: float, delta: float) -> Ledger:
    """One release of which only (epsilon, delta)-DP is known."""
    if epsilon > MAX_EPSILON:
        return Ledger(failure=Fraction(1), stated=stated(epsilon, delta))
    shares: Shares = {pure_share(epsilon): 1} if epsilon > 0.0 else {}
    return Ledger(shares, Fraction(delta), stated=stated(epsilon, delta), counted_as=CERTIFIED)


def read_sampled(problems: Problems, noise: object, sensitivity: object, rate: object) -> Ledger:
    """One release of Gaussian noise on a Poisson sample."""
    good = problems.number("sampling", rate, low=0.0, high=1.0, open_low=True)
    known = isinstance(noise, Gaussian)
    problems.require(known, "noise", "Gaussian noise beside sampling", noise)
    size = problems.number("sensitivity", sensitivity, low=0.0, open_low=True)
    if not (good and size and isinstance(noise, Gaussian)):
        return Ledger()
    multiplier = math.nextafter(noise.sigma / float(sensitivity), 0.0)  # type: ignore[arg-type]
    problems.number("sigma / sensitivity", multiplier, low=_SMALLEST, high=_MOST)
    return Ledger(sampled={Sampled(multiplier, float(rate)): 1})  # type: ignore[arg-type]


def read_sampled_values(
    problems: Problems, name: str, multiplier: object, rate: object
) -> Sampled | None:
    """A release of a Poisson sample by its two numbers, checked."""
    good = problems.number(f"{name}.rate", rate, low=0.0, high=1.0, open_low=True)
    if problems.number(f"{name}.multiplier", multiplier, low=_SMALLEST, high=_MOST) and good:
        return Sampled(float(multiplier), float(rate))  # type: ignore[arg-type]  # numbers
    return None
