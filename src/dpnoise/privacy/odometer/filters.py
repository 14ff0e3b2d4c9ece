"""Accounts that also hold where the privacy parameters are chosen adaptively.

Noise, sensitivity and number of releases may depend on earlier results as long as a sum of costs
stays below a limit fixed in advance. Proofs are in docs/budget.md.

- Gaussian: mu^2 adds up. Gaussian noise has mu = sensitivity / sigma, and an epsilon-private
  release is dominated by the mu with Phi(mu / 2) = e^epsilon / (1 + e^epsilon). Smith & Thakurta,
  "Fully adaptive composition for Gaussian differential privacy" (2022).
- Renyi: divergences of one order add up. Feldman & Zrnic, "Individual privacy accounting via a
  Renyi filter" (NeurIPS 2021); Whitehouse, Ramdas, Rogers & Wu, "Fully-adaptive composition in
  differential privacy" (ICML 2023).
- Without delta, pure epsilons add up (Rogers, Roth, Ullman & Vadhan, NeurIPS 2016).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise.noise.exact import as_double_above
from dpnoise.noise.exponential_power import Gaussian
from dpnoise.privacy.odometer.ledger import Ledger, largest_loss
from dpnoise.privacy.odometer.renyi import renyi_divergences
from dpnoise.privacy.profile import epsilon_at, log_privacy_profile

if TYPE_CHECKING:
    from dpnoise.noise.base import Noise
    from dpnoise.noise.integers import IntegerNoise

_ROUNDING = 1e-12  # relative, of sums and of the normal quantile
_SMALL_LOSS = 1.0  # below, of a loss or of mu, what exceeds 1 / 2 is what counts
_LOG_ERROR = 1e-11  # of a log delta
_ORDERS = 1.0 + np.geomspace(1e-3, 1e6, 2000)
_MINIMUM_MU, _MAXIMUM_MU = 1e-90, 1e40  # of Gaussian profiles; a smaller one counts as this
_HALVINGS = 60  # of mu of what is left


class _Filter(ABC):
    """What both filters share."""

    adaptive = True

    def __init__(self, epsilon: float, delta: float) -> None:
        self.epsilon, self.delta = epsilon, delta

    @abstractmethod
    def epsilon_of(self, ledger: Ledger, delta: float) -> float:
        """An epsilon for the cost of everything at a delta."""

    def keeps(self, ledger: Ledger) -> bool:
        """Whether everything is within the budget."""
        return self.epsilon_of(ledger, self.delta) <= self.epsilon

    def refuse(self, ledger: Ledger) -> str:
        """Why a release cannot be counted, or nothing."""
        if ledger.failure or ledger.sampled:
            return "a release without its own delta, and no sampled one, for a filter"
        return ""


def gaussian_mu(noise: Noise | IntegerNoise, size: float) -> float:
    """The smallest known mu for which a coordinate is mu-Gaussian differentially private."""
    if isinstance(noise, Gaussian):
        return size / noise.sigma * (1.0 + _ROUNDING)
    loss = as_double_above(largest_loss(noise, size))
    if loss == math.inf:
        return math.inf
    if loss < _SMALL_LOSS:  # 1 / (1 + e^loss) would round to 1 / 2
        mu = 2.0 * math.sqrt(2.0) * float(special.erfinv(math.tanh(0.5 * loss)))
    else:
        mu = -2.0 * float(special.ndtri_exp(special.log_expit(-loss)))
    return mu * (1.0 + _ROUNDING)


def _total_mu(ledger: Ledger) -> float:
    squares = (count * gaussian_mu(*share) ** 2 for share, count in ledger.shares.items())
    return math.sqrt(math.fsum(squares)) * (1.0 + _ROUNDING)


class GaussianFilter(_Filter):
    """A limit on the sum of mu^2."""

    def epsilon_of(self, ledger: Ledger, delta: float) -> float:
        """The epsilon of Gaussian noise with this mu."""
        mu = _total_mu(ledger)
        if mu == 0.0 or delta == 0.0:
            return 0.0 if mu == 0.0 else math.inf
        if mu > _MAXIMUM_MU:
            return math.inf
        return float(epsilon_at(Gaussian(1.0), max(mu, _MINIMUM_MU), delta))

    def refuse(self, ledger: Ledger) -> str:
        """Why a release cannot be counted, or nothing."""
        if math.isinf(_total_mu(ledger)):
            return "Gaussian noise or noise with a bounded privacy loss for the Gaussian filter"
        return super().refuse(ledger)

    def pure_left(self, ledger: Ledger) -> float:
        """Epsilon of a release without delta that still fits."""
        spent, low, high = _total_mu(ledger), 0.0, 100.0
        for _ in range(_HALVINGS):  # from the private side: an early end leaves less
            middle = 0.5 * (low + high)
            size = max(math.hypot(spent, middle) * (1.0 + 4.0 * _ROUNDING), _MINIMUM_MU)
            log_delta = float(log_privacy_profile(Gaussian(1.0), size, self.epsilon))
            fits = log_delta <= math.log(self.delta) - _LOG_ERROR
            low, high = (middle, high) if fits else (low, middle)
        if low < _SMALL_LOSS:
            return 2.0 * math.atanh(math.erf(low / math.sqrt(8.0))) * (1.0 - _ROUNDING)
        return float(special.log_ndtr(0.5 * low) - special.log_ndtr(-0.5 * low))


def _conversion(order: float, delta: float) -> float:
    """What epsilon exceeds the divergence of an order by, at most.

    Canonne, Kamath & Steinke (NeurIPS 2020), Proposition 12.
    """
    rest = math.log1p(-1.0 / order) - (math.log(delta) + math.log(order)) / (order - 1.0)
    return rest + _ROUNDING * (1.0 + abs(rest))


class RenyiFilter(_Filter):
    """A limit on the sum of divergences of one order, the best one for Gaussian noise."""

    def __init__(self, epsilon: float, delta: float) -> None:
        super().__init__(epsilon, delta)
        limits = [(epsilon - _conversion(order, delta)) / order for order in map(float, _ORDERS)]
        self.order = float(_ORDERS[int(np.argmax(limits))])

    def _cost(self, ledger: Ledger) -> float:
        return float(renyi_divergences(ledger, np.array([self.order]))[0])

    def epsilon_of(self, ledger: Ledger, delta: float) -> float:
        """The epsilon of the sum of divergences."""
        cost = self._cost(ledger)
        if cost == 0.0 or delta == 0.0:
            return 0.0 if cost == 0.0 else math.inf
        found = max(cost + _conversion(self.order, delta), 0.0)
        return min(found, as_double_above(ledger.pure))

    def refuse(self, ledger: Ledger) -> str:
        """Why a release cannot be counted, or nothing."""
        if math.isinf(self._cost(ledger)) and not super().refuse(ledger):
            return "noise whose Renyi divergence is known for the Renyi filter"
        return super().refuse(ledger)

    def pure_left(self, ledger: Ledger) -> float:
        """Epsilon of a release without delta that still fits: at most this divergence."""
        rest = self.epsilon - _conversion(self.order, self.delta) - self._cost(ledger)
        rest = max(rest * (1.0 - 1e-9), 0.0)
        return max(rest, math.sqrt(2.0 * rest / self.order)) * (1.0 - _ROUNDING)
