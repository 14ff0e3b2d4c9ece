"""The account of a `Budget`: upper bounds on what all releases together cost.

The pair of distributions that dominates a release,
whatever its query, is known; so the product of these pairs dominates all releases together, also
where each query is chosen with the earlier results at hand (Zhu, Dong & Wang, "Optimal accounting
of differential privacy via characteristic function", AISTATS 2022, Theorem 10). The profile of the
product is that of a vector query.

Releases on samples: where the transforms of all other
losses are known, the bounds of `dpnoise.privacy.sampled` for the relation of the ledger count them.
Else Chernoff's inequality does, by the moments of everything.

**Moments of privacy losses, which add up: Renyi divergences, and a quick bound on delta.**
With M(c) = E exp(c loss), the Renyi divergence of order c + 1 of a dominating pair is log M(c) / c
(Mironov, "Renyi differential privacy", CSF 2017), and delta at epsilon is at most
M(c) exp(-c epsilon) max_x (1 - e^-x) e^(-c x) for every c > 0 (Chernoff's inequality).

**A quick bound.** `Moments` keeps log M at some tilts c, rounded up to whole multiples of 2^-44 for
each kind of release, in each direction of the relation. Sums of whole numbers do not depend on
their order, so that a sum that is extended release by release is the sum that is made at once.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import optimize, special

from dpnoise._validation import MINIMUM_DELTA
from dpnoise.noise.exact import as_double_above
from dpnoise.noise.integers import DiscreteLaplace
from dpnoise.noise.stepwise import MAX_EPSILON
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.privacy.inversion.loss import IntegerStep, canonical
from dpnoise.privacy.inversion.trapezoid import log_payoff
from dpnoise.privacy.lattice.discrete import ListedLoss, integer_loss
from dpnoise.privacy.odometer.ledger import Ledger, pure_share
from dpnoise.privacy.sampled.mechanism import bounds_of, composition_of, epsilons_of
from dpnoise.privacy.sampled.pairs import ADDED, GAUSSIAN, REMOVED, REPLACED, Kind, pair_of
from dpnoise.privacy.sampled.relations import loss_of
from dpnoise.privacy.vector import (
    equal_groups,
    is_invertible,
    loss_transform,
    profile_of_shares,
    searched_profile,
)
from dpnoise.sensitivity.relation import ADD_REMOVE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.privacy.sampled.composition import Composition
    from dpnoise.privacy.sampled.relations import PairComposition
    from dpnoise.privacy.vector import Shares

    _Parts = tuple[
        tuple[tuple[Kind, int], ...],
        tuple[tuple[tuple[Noise | IntegerNoise, float], int], ...],
        str,
    ]

_USABLE = 1e-3  # relative error of a transform
_ROUNDING = 2.0**-46
_MOST_LISTED = 10_000  # losses at once
_LISTED = 1e-11  # of the logarithm of a sum over listed losses
_SIDES = (REMOVED, ADDED)  # where one record is replaced, both stand for the one pair

_TILTS = np.geomspace(0.03, 1e4, 56)  # of the quick bound
_UNIT = 2.0**-44  # of its sums
_NEAR = 38.0  # largest tilt of a sample, over its noise multiplier
_MOST = 2**61  # units: infinity
_PAYOFF_SLACK = 1e-9  # of log delta: more than the rounding of the payoff
_KINDS = 1 << 14  # of releases whose moments are kept


def _listed_moments(noise: ListedLoss, c: Array) -> Array:
    """Upper bounds for a pair with listed losses."""
    if noise.discrete.log_infinite > -math.inf:
        return np.full(c.shape, math.inf)
    terms = noise.discrete.log_masses + c[:, None] * noise.discrete.values
    found = special.logsumexp(terms, axis=1) + _LISTED * (1.0 + c * noise.discrete.largest)
    return np.minimum(np.maximum(found, 0.0), c * as_double_above(noise.largest_loss(1.0)))


def _integer_moments(noise: Any, size: float, c: Array) -> Array:  # noqa: ANN401
    """Upper bounds for noise on the integers, infinite where it has too many losses.

    Discrete Laplace noise has two atoms, and a geometric sum between them.
    """
    if not isinstance(noise, DiscreteLaplace):
        if size > _MOST_LISTED:
            return np.full(c.shape, math.inf)
        listed = integer_loss(noise, size)
        high = special.logsumexp(listed.log_masses + c[:, None] * listed.values, axis=1)
        return high + _ROUNDING * (1.0 + c * np.max(listed.values))
    beta = noise.beta
    loss, norm = size / beta, math.log1p(math.exp(-1.0 / beta))
    terms = [c * loss, -(c + 1.0) * loss]
    if size > 1.0:
        rate = (2.0 * c + 1.0) / beta
        inner = np.log(-np.expm1(-rate * (size - 1.0))) - np.log(-np.expm1(-rate))
        terms.append(c * loss + math.log(-math.expm1(-1.0 / beta)) - rate + inner)
    sizes = 8.0 + (c + 1.0) * loss + abs(math.log(-math.expm1(-1.0 / beta)))
    return special.logsumexp(terms, axis=0) - norm + _ROUNDING * sizes


def log_moments(noise: Noise | IntegerNoise | ListedLoss, size: float, c: Array) -> Array:
    """Upper bounds on log E exp(c loss) of one coordinate, for c > 0 of shape (n,)."""
    if isinstance(noise, ListedLoss):
        return _listed_moments(noise, c)
    exact = noise.zcdp_pair(Fraction(size))
    if exact is not None and exact[0] == 0:  # Gaussian loss: c (c + 1) eta
        return c * (c + 1.0) * as_double_above(exact[1]) * (1.0 + _ROUNDING)
    ((narrow, size),) = Ledger({(noise, size): 1}).narrow
    loss, (_, scaled) = as_double_above(narrow.largest_loss(size)), canonical(narrow, size)
    if isinstance(scaled, IntegerStep):
        return np.minimum(_integer_moments(scaled.noise, size, c), c * loss)
    if not scaled.has_closed_loss:
        return c * loss
    transform = loss_transform([(scaled, 1)])
    if transform.infinite > 0.0:
        return np.full(c.shape, math.inf)
    peak = transform.peaks(c)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        values = transform.values(c.astype(complex), peak)
        sums = (values.atoms + values.continuous).real
        error = values.error / sums
        found = (peak + np.log(sums) + 2.0 * error).sum(axis=0)
        found += _ROUNDING * np.abs(peak).sum(axis=0)
        good = np.all((sums > 0.0) & (error < _USABLE), axis=0)
    return np.where(good, np.minimum(np.maximum(found, 0.0), c * loss), c * loss)


def sampled_log_moments(part: Kind, relation: str | None, c: Array) -> Array:
    """Upper bounds on log E exp(c loss) of a release of a sample, shape (2, n): both directions."""
    adds = (relation or ADD_REMOVE) == ADD_REMOVE
    found = []
    for side in _SIDES if adds else (REPLACED,):
        pair = pair_of(part, side)
        if pair.noise == GAUSSIAN and pair.rate == 1.0:
            found.append(0.5 * c * (c + 1.0) * pair.shift**2)
            continue
        values, error = loss_of(pair, -math.inf, 1.0).log_real(c)
        found.append(np.where(error < _USABLE, values + error, math.inf))
    high = np.array(found) * (1.0 + _ROUNDING)
    return np.broadcast_to(np.where(np.isnan(high), math.inf, np.maximum(high, 0.0)), (2, c.size))


def renyi_divergences(ledger: Ledger, orders: Array) -> Array:
    """Upper bounds on the divergences of everything, at orders > 1 of shape (n,)."""
    if ledger.failure:
        return np.full(orders.shape, math.inf)
    c = orders - 1.0
    total = np.zeros((2, orders.size))
    for (noise, size), count in ledger.shares.items():
        total += count * log_moments(noise, size, c)
    for part, count in ledger.sampled.items():
        total += count * sampled_log_moments(part, ledger.relation, c)
    return total.max(axis=0) / c * (1.0 + _ROUNDING)


def _in_units(log_m: Array) -> NDArray[np.int64]:
    """Upper bounds on log M in whole units, of two directions."""
    units = np.ceil(np.minimum(log_m / _UNIT, float(_MOST)))
    return np.broadcast_to(units.astype(np.int64), (2, _TILTS.size))


@lru_cache(maxsize=_KINDS)
def _units_of_share(noise: Noise | IntegerNoise, size: float) -> NDArray[np.int64]:
    return _in_units(log_moments(noise, size, _TILTS))


@lru_cache(maxsize=_KINDS)
def _units_of_sample(part: Kind, relation: str | None) -> NDArray[np.int64]:
    near = _NEAR * part.sigma >= _TILTS  # larger ones take long
    found = np.full((2, _TILTS.size), math.inf)
    found[:, near] = sampled_log_moments(part, relation, _TILTS[near])
    return _in_units(found)


def _times(units: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """So many of them; whole numbers beyond the largest one count as infinite."""
    return np.where(units > _MOST // count, _MOST, units * count)


class Moments(NamedTuple):
    """Upper bounds on log M of everything in whole units, shape (2, n)."""

    units: NDArray[np.int64]

    def with_release(self, one: Ledger, times: int) -> Moments:
        """The moments of everything with so many further releases."""
        return Moments(np.minimum(self.units + _times(moments_of(one).units, times), _MOST))

    def log_delta(self, epsilon: float) -> float:
        """An upper bound on log delta at `epsilon`, without failures."""
        high = self.units.max(axis=0)
        log_m = np.where(high < _MOST, high * (_UNIT * (1.0 + _ROUNDING)), math.inf)
        bounds = log_m - _TILTS * epsilon * (1.0 - 1e-12) + log_payoff(_TILTS)
        return float(bounds.min()) + _PAYOFF_SLACK


def moments_of(ledger: Ledger) -> Moments:
    """The moments of everything, from those of each kind of release, kept with the ledger."""
    if ledger.moments is None:
        ledger.__dict__["moments"] = _sum_of(ledger)
    assert ledger.moments is not None  # noqa: S101  (or summed)
    return ledger.moments


def _sum_of(ledger: Ledger) -> Moments:
    """The moments of everything, made at once."""
    total = np.zeros((2, _TILTS.size), dtype=np.int64)
    for share, count in ledger.shares.items():
        total = np.minimum(total + _times(_units_of_share(*share), count), _MOST)
    for part, count in ledger.sampled.items():
        units = _units_of_sample(part, ledger.relation)
        total = np.minimum(total + _times(units, count), _MOST)
    return Moments(total)


_DOUBLINGS = 40  # of epsilon, from 1; beyond, it counts as infinite
_CLOSE = 1e-10  # relative, of epsilon
_CLIP = 700.0  # of log delta, for the search
_LOG_ROUNDING = 1e-12  # of a difference of delta and failures, relative
_AIM = 1e-11  # relative, of a delta and a mu that are aimed at
_ENOUGH_FOR_AIM = 1.0  # gap of log delta that is tried first


class ExactAccount:
    """Upper bounds by the exact profile; the relation matters to releases of samples only."""

    def __init__(self, epsilon: float, delta: float) -> None:
        self.epsilon, self.delta = epsilon, delta

    def __getstate__(self) -> dict[str, Any]:
        """What is known, in a dict of its own: other threads may add to it meanwhile."""
        return self.__dict__.copy()

    def delta_of(self, ledger: Ledger, epsilon: float, aim: float | None = None) -> float:
        """An upper bound on the delta of everything at `epsilon`, by its profile.

        It may be looser where it is far below `aim`. Samples are counted by moments alone unless
        `aim` is given.
        """
        if ledger.pure <= epsilon:
            found = 0.0
        elif ledger.sampled and aim is not None:
            found = _sampled_delta(ledger, epsilon, aim)
        elif ledger.sampled:
            found = _delta_by_moments(ledger, epsilon)
        else:
            found = float(profile_of_shares(ledger.countable, np.asarray(epsilon)).upper)
        return as_double_above(min(ledger.failure + Fraction(found), Fraction(1)))

    def keeps(self, ledger: Ledger) -> bool:
        """Whether everything is within the budget, by a quick bound or by its profile."""
        if self.keeps_quickly(ledger):
            return True
        if self.delta == 0.0 and ledger.sampled:  # no bound of those is 0
            return False
        return self.delta_of(ledger, self.epsilon, self.delta) <= self.delta

    def keeps_quickly(self, ledger: Ledger) -> bool:
        """Whether a sum that is known at once shows that everything is within the budget.

        By basic composition, by mu^2 for Gaussian noise alone, and by moments for everything.
        """
        basic = ledger.basic
        if basic.epsilon <= self.epsilon and basic.delta <= self.delta:
            return True
        rest = self.delta - as_double_above(ledger.failure)
        if rest <= 0.0:
            return not ledger.failure and ledger.pure <= self.epsilon
        if ledger.all_gaussian:
            return ledger.square <= self._most_square
        return moments_of(ledger).log_delta(self.epsilon) <= math.log(rest) - _LOG_ROUNDING

    def keeps_more(self, ledger: Ledger, one: Ledger, number: int) -> bool:
        """Whether so many more releases fit; seen quickly where the ledger itself is."""
        more = ledger.plus(one, number)
        return self.keeps_quickly(more) if self.keeps_quickly(ledger) else self.keeps(more)

    @cached_property
    def _most_square(self) -> Fraction:
        """A mu^2 of Gaussian noise that is within the budget, close to the largest one."""
        delta = max(self.delta * (1.0 - _AIM), MINIMUM_DELTA)  # where that of mu is the larger one
        sigma = float(gaussian_sigma(self.epsilon, delta))
        return Fraction((1.0 - _AIM) / sigma) ** 2

    def epsilon_of(self, ledger: Ledger, delta: float) -> float:
        """An epsilon at which delta is seen not to be exceeded, close to the smallest one."""
        basic, found = ledger.basic, self._by_profile(ledger, delta)
        return min(found, as_double_above(basic.epsilon)) if basic.delta <= delta else found

    def _by_profile(self, ledger: Ledger, delta: float) -> float:
        if ledger.failure > delta:
            return math.inf
        pure = as_double_above(ledger.pure)
        if delta == 0.0 or pure == 0.0:
            return pure
        direct = _sampled_epsilon(ledger, delta) if ledger.sampled else None
        if direct is not None:
            return direct
        return self._searched(ledger, delta, pure)

    def _searched(self, ledger: Ledger, delta: float, pure: float) -> float:
        """The same by a search for an epsilon of at most `pure`."""
        near = None if ledger.sampled else searched_profile(ledger.countable)
        private, bar = pure, math.log(delta)

        def excess(epsilon: float) -> float:
            nonlocal private
            if near is None or ledger.pure <= epsilon:
                found = self.delta_of(ledger, epsilon)
            else:
                found = as_double_above(ledger.failure + Fraction(near(epsilon)))
            if found <= delta:
                private = min(private, epsilon)
            return min(max(math.log(found) - bar, -_CLIP), _CLIP) if found > 0.0 else -_CLIP

        if excess(0.0) <= 0.0:
            return 0.0
        low, high = 0.0, min(1.0, pure)
        # ends: no epsilon is promised
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


def _parts_of(ledger: Ledger) -> _Parts | None:
    """Samples, other noise and relation, as our own account takes them; None where it does not."""
    shares: Shares = {}
    for (noise, size), count in ledger.narrow.items():
        listed = noise.listed  # which its largest loss dominates
        if listed and not noise.largest_loss(size) <= MAX_EPSILON:
            return None
        share = pure_share(noise.largest_loss(size)) if listed else (noise, size)
        shares[share] = shares.get(share, 0) + count
    if not is_invertible(equal_groups(shares)):
        return None
    return tuple(ledger.sampled.items()), tuple(shares.items()), ledger.relation or ADD_REMOVE


def _composition(parts: _Parts) -> Composition | PairComposition:
    """The releases in our own account, made anew for each question.

    It remembers what it was asked, for one thread; an answer must not depend on earlier questions.
    """
    sampled, shares, relation = parts
    other = loss_transform(equal_groups(dict(shares))) if shares else None
    return composition_of(dict(sampled), relation, other)


@lru_cache(maxsize=64)
def _own_epsilon(parts: _Parts, log_delta: float) -> float:
    """An upper bound on epsilon by our own account, infinite where it finds none."""
    return epsilons_of(_composition(parts), log_delta, upper=True)[1]


def _sampled_epsilon(ledger: Ledger, delta: float) -> float | None:
    """An upper bound on the epsilon of a ledger at delta > 0; None if moments are to be asked.

    The probability of failure is part of delta.
    """
    parts = _parts_of(ledger)
    rest = Fraction(delta) - ledger.failure
    if parts is None:
        return None
    return _own_epsilon(parts, math.log(rest) - 1e-13) if rest > 0 else math.inf


def _sampled_delta(ledger: Ledger, epsilon: float, aim: float) -> float:
    """An upper bound on the delta of a ledger with sampled releases; looser if far below `aim`."""
    parts = _parts_of(ledger)
    if parts is None:
        return _delta_by_moments(ledger, epsilon)
    guess = math.log(aim) if aim else None
    log_delta, lowest = math.inf, -math.inf
    if guess is not None:
        rough = _composition(parts)
        rough.close = _ENOUGH_FOR_AIM
        lowest, _, log_delta = bounds_of(rough, epsilon, guess, upper=True)
    if guess is None or not (log_delta < guess or lowest > guess):
        _, _, log_delta = bounds_of(_composition(parts), epsilon, guess, upper=True)
    return _above(log_delta)


def _delta_by_moments(ledger: Ledger, epsilon: float) -> float:
    """An upper bound on the delta of a ledger of any releases, by Chernoff's inequality.

    A ValueError is raised for noise of which no moment is known.
    """
    for noise, size in ledger.shares:
        if log_moments(noise, size, np.ones(1))[0] == math.inf:
            message = (
                f"budget: noise: expected noise with known moments beside samples, got {noise!r}"
            )
            raise ValueError(message)
    return _above(moments_of(ledger).log_delta(epsilon))


def _above(log_delta: float) -> float:
    """A delta that is at least the one of this logarithm."""
    return min(math.exp(min(log_delta, 0.0)) * (1.0 + 1e-12) + 5e-324, 1.0)
