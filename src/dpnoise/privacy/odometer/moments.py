"""Moments of privacy losses, which add up: Renyi divergences, and a quick bound on delta.

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
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

from dpnoise.noise.exact import as_double_above
from dpnoise.noise.integers import DiscreteLaplace
from dpnoise.privacy.inversion.loss import IntegerStep, canonical
from dpnoise.privacy.inversion.trapezoid import log_payoff
from dpnoise.privacy.lattice.discrete import ListedLoss, integer_loss
from dpnoise.privacy.odometer.ledger import Ledger, Sampled
from dpnoise.privacy.sampled.pairs import ADDED, GAUSSIAN, REMOVED, REPLACED, Kind, pair_of
from dpnoise.privacy.sampled.relations import loss_of
from dpnoise.privacy.vector import loss_transform
from dpnoise.sensitivity.relation import ADD_REMOVE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise

_USABLE = 1e-3  # relative error of a transform
_ROUNDING = 2.0**-46
_MOST_LISTED = 10_000  # losses at once
_LISTED = 1e-11  # of the logarithm of a sum over listed losses
_SIDES = (REMOVED, ADDED)  # where one record is replaced, both stand for the one pair

_TILTS = np.geomspace(0.03, 1e4, 56)  # of the quick bound
_UNIT = 2.0**-44  # of its sums
_NEAR = 38.0  # largest tilt of a sample, over its noise multiplier
_MOST = 2**61  # units: infinity
_SLACK = 1e-9  # of log delta: more than the rounding of the payoff
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
    if noise.listed:
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


def sampled_log_moments(part: Sampled, relation: str | None, c: Array) -> Array:
    """Upper bounds on log E exp(c loss) of a release of a sample, shape (2, n): both directions."""
    adds = (relation or ADD_REMOVE) == ADD_REMOVE
    found = []
    for side in _SIDES if adds else (REPLACED,):
        pair = pair_of(Kind(*part), side)
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
def _units_of_sample(part: Sampled, relation: str | None) -> NDArray[np.int64]:
    near = _NEAR * part.multiplier >= _TILTS  # larger ones take long
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
        return float(bounds.min()) + _SLACK


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
