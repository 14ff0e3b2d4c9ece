"""Renyi divergences and concentrated bounds of a ledger: views, and what filters count with.

The Renyi divergence of order s > 1 of a dominating pair is log M(s - 1) / (s - 1), with M(c) =
E exp(c loss), the transform of `privacy.inversion`; it adds up over releases (Mironov, "Renyi
differential privacy", CSF 2017).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise.noise.exact import as_double_above
from dpnoise.noise.stepwise import Staircase
from dpnoise.privacy.inversion.loss import IntegerStep, canonical
from dpnoise.privacy.lattice.discrete import integer_loss
from dpnoise.privacy.lattice.listed import ListedLoss
from dpnoise.privacy.odometer.ledger import Ledger, largest_loss
from dpnoise.privacy.vector import loss_transform
from dpnoise.privacy.zcdp import ZCDP, epsilon_from_zcdp

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise

_USABLE = 1e-3  # relative error of a transform
_ROUNDING = 2.0**-46
_LISTED = 1e-11  # of the logarithm of a sum over listed losses


def _listed_moments(noise: ListedLoss, c: Array) -> Array:
    """Upper bounds for a pair with listed losses."""
    if noise.discrete.log_infinite > -math.inf:
        return np.full(c.shape, math.inf)
    terms = noise.discrete.log_masses + c[:, None] * noise.discrete.values
    found = special.logsumexp(terms, axis=1) + _LISTED * (1.0 + c * noise.discrete.largest)
    return np.minimum(np.maximum(found, 0.0), c * as_double_above(noise.largest_loss(1.0)))


def log_moments(noise: Noise | IntegerNoise | ListedLoss, size: float, c: Array) -> Array:
    """Upper bounds on log E exp(c loss) of one coordinate, for c > 0 of shape (n,)."""
    if isinstance(noise, ListedLoss):
        return _listed_moments(noise, c)
    exact = noise.zcdp_pair(Fraction(size))
    if exact is not None and exact[0] == 0:  # Gaussian loss: c (c + 1) eta
        return c * (c + 1.0) * as_double_above(exact[1]) * (1.0 + _ROUNDING)
    ((narrow, size),) = Ledger({(noise, size): 1}).narrow
    loss, (_, scaled) = as_double_above(largest_loss(narrow, size)), canonical(narrow, size)
    if isinstance(scaled, IntegerStep):  # discrete Laplace noise
        listed = integer_loss(scaled.noise, size)
        terms = listed.log_masses + c[:, None] * listed.values
        return special.logsumexp(terms, axis=1) + _ROUNDING * (1.0 + c * loss)
    if scaled.pieces() is None and not isinstance(scaled, Staircase):
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


def renyi_divergences(ledger: Ledger, orders: Array) -> Array:
    """Upper bounds on the divergences of everything, at orders > 1 of shape (n,)."""
    if ledger.failure or ledger.sampled:
        return np.full(orders.shape, math.inf)
    c = orders - 1.0
    total = np.zeros(orders.shape)
    for (noise, size), count in ledger.shares.items():
        total += count * log_moments(noise, size, c) / c
    return total * (1.0 + _ROUNDING)


def concentrated(ledger: Ledger, delta: float) -> ZCDP:
    """A concentrated bound of everything; infinite where none is known.

    A release that is epsilon-DP counts as (epsilon, 0) or as (0, epsilon^2 / 2) (Bun & Steinke,
    Proposition 3.3), whichever of the two choices for all makes epsilon at `delta` smaller.
    """
    if ledger.failure or ledger.sampled:
        return ZCDP(math.inf, math.inf)
    exact = [Fraction(0), Fraction(0)]
    linear, square = Fraction(0), Fraction(0)
    for (noise, size), count in ledger.shares.items():
        loss, pair = largest_loss(noise, size), noise.zcdp_pair(Fraction(size))
        if loss < math.inf:
            linear += count * Fraction(loss)
            square += count * Fraction(loss) ** 2 / 2
        elif pair is None:
            return ZCDP(math.inf, math.inf)
        else:
            exact = [part + count * more for part, more in zip(exact, pair, strict=True)]
    found = [
        ZCDP(as_double_above(exact[0] + xi), as_double_above(exact[1] + eta))
        for xi, eta in ((linear, Fraction(0)), (Fraction(0), square))
    ]
    if delta == 0.0:
        return found[0]
    return min(found, key=lambda pair: float(epsilon_from_zcdp(pair.xi, pair.eta, delta)))
