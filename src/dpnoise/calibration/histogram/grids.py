"""The search for histogram noise on grids of cells, for an epsilon or for a standard deviation.

Coarse cells first, then fine ones; what is found is certified by `vector_profile`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import optimize

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.calibration.histogram.cells import Cells, sorted_masses
from dpnoise.calibration.histogram.search import Descent, Target, descend
from dpnoise.noise.stepwise import Histogram
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.vector import vector_profile

if TYPE_CHECKING:
    from dpnoise._types import Array

STDS = 0.5, 30.0  # of the noise in units of the sensitivity
_REACH = 16.0  # standard deviations up to which cells are listed
_CELLS, _MOST_CELLS = 16.0, 64  # to the standard deviation, to the unit
_COARSER = 4
_NEWTON, _ROUNDS = 3, 8  # steps towards a variance, and of certification
_CLOSE = 1e-6  # relative distance to the epsilon asked for with which the search ends
_MARGIN = 2e-5  # of log delta, for sorting the masses
_STEP, _FASTER = 1e-4, 3.0  # relative, by which the variance grows where that is not enough
_SLOPE = 1e-4  # relative step of epsilon


class Found(NamedTuple):
    """Histogram noise with its certified epsilon and delta."""

    noise: Histogram
    epsilon: float
    delta: float


class _Search(NamedTuple):
    """A grid of cells, and what is searched for on it."""

    cells: Cells
    target: Target

    @classmethod
    def on(cls, std: float, finer: float, target: Target) -> _Search:
        """A grid for noise of about that standard deviation."""
        n = min(max(round(_CELLS / std * finer), 1), _MOST_CELLS)
        size = math.ceil(_REACH * std * n) + n
        return cls(Cells.of(n, size, math.exp(-math.sqrt(2.0) / std)), target)

    @property
    def places(self) -> Array:
        """The centres of the cells, in units of the sensitivity."""
        return np.arange(self.cells.weight.size) / self.cells.n

    def best(self, std: float) -> Descent:
        """The better of the searches from Laplace and Gaussian noise."""
        smooth = gaussian_epsilon(self.target, std)
        pure = math.sqrt(2.0) * self.target.copies / std
        x = self.places / std
        starts = [(0.5 * x * x, smooth), (math.sqrt(2.0) * x, min(smooth, 0.97 * pure))]
        found = [self.from_start(psi, std, epsilon) for psi, epsilon in starts]
        return min(found, key=lambda one: one.epsilon)

    def from_start(self, psi: Array, std: float, epsilon: float) -> Descent:
        """The search from given noise."""
        return descend(self.cells, psi, self.target, std * std, epsilon)

    def noise(self, found: Descent) -> Histogram:
        """What was found, as noise that falls with |t|."""
        masses, ratio = sorted_masses(self.cells, found.masses)
        return Histogram(1.0, self.cells.n, tuple(masses.tolist()), ratio)


def gaussian_epsilon(target: Target, std: float) -> float:
    """The epsilon of Gaussian noise."""
    mu = math.sqrt(target.copies) / std

    def excess(epsilon: float) -> float:
        return float(gaussian_log_delta(mu, np.asarray(epsilon))) - target.log_delta

    if excess(0.0) <= 0.0:
        return 0.0
    # The tail of the loss, which is Gaussian, at twice its standard deviations.
    high = mu * mu + 2.0 * mu * math.sqrt(-2.0 * target.log_delta) + 1.0
    return float(optimize.brentq(excess, 0.0, high, rtol=1e-9))


def _fine(coarse: _Search, found: Descent, std: float) -> tuple[_Search, Descent]:
    """The search on cells of full fineness, from what was found on coarse ones."""
    search = _Search.on(std, 1.0, coarse.target)
    if search.cells.n == coarse.cells.n and search.cells.weight.size == coarse.cells.weight.size:
        return search, found
    psi = np.interp(search.places, coarse.places, found.psi)
    return search, search.from_start(psi, std, found.epsilon)


def _minimum_epsilon(
    noise: Histogram, copies: int, delta: float, guess: float
) -> tuple[float, float]:
    """About the least epsilon whose certified delta is small enough, and that delta."""
    epsilon, best = guess, (math.inf, 0.0)
    for _ in range(_ROUNDS):
        pair = vector_profile(noise, 1.0, [epsilon, epsilon * (1.0 + _SLOPE)], copies=copies)
        upper = float(pair.upper[0])
        if upper <= delta and epsilon < best[0]:
            best = epsilon, upper
        if upper == 0.0:  # at the sum of the largest losses
            break
        excess = float(pair.log_upper[0]) - math.log(delta)
        if -_CLOSE < excess <= 0.0:
            break
        slope = float(pair.log_upper[1] - pair.log_upper[0]) / (epsilon * _SLOPE)
        epsilon += (excess + 0.5 * _CLOSE) / -slope
    if best[0] == math.inf:
        raise RuntimeError(f"histogram calibration: {noise!r} could not be certified")
    return best


def searched_by_std(std: float, copies: int, delta: float) -> Found:
    """What the search finds for a standard deviation, in units of the sensitivity."""
    coarse = _Search.on(std, 1.0 / _COARSER, Target(copies, math.log(delta)))
    search, found = _fine(coarse, coarse.best(std), std)
    noise = search.noise(found)
    epsilon, reached = _minimum_epsilon(noise, copies, delta, found.epsilon)
    return Found(noise, epsilon, reached)


def _closer(search: _Search, found: Descent, std: float, epsilon: float) -> tuple[Descent, float]:
    """A variance with a least epsilon next to a given one, by Newton's method."""
    for _ in range(_NEWTON):
        change = (epsilon - found.epsilon) / found.by_variance / (std * std)
        if abs(change) < _CLOSE:
            break
        std *= math.sqrt(min(max(1.0 + change, 0.5), 2.0))
        found = search.from_start(found.psi, std, epsilon)
    return found, std


def searched_by_epsilon(epsilon: float, copies: int, delta: float) -> Found:
    """What the search finds for an epsilon, for sensitivity 1."""
    target = Target(copies, math.log(delta) - _MARGIN)
    smooth = math.sqrt(copies) * float(gaussian_sigma(epsilon, delta))
    std = min(max(min(smooth, math.sqrt(2.0) * copies / epsilon), STDS[0]), STDS[1])
    coarse = _Search.on(std, 1.0 / _COARSER, target)
    found, std = _closer(coarse, coarse.best(std), std, epsilon)
    search, found = _fine(coarse, found, std)
    found, std = _closer(search, found, std, epsilon)
    for k in range(_ROUNDS):
        noise = search.noise(found)
        reached = float(vector_profile(noise, 1.0, epsilon, copies=copies).upper)
        if reached <= delta:
            return Found(noise, epsilon, reached)
        std *= 1.0 + _STEP * _FASTER**k
        found = search.from_start(found.psi, std, epsilon)
    raise RuntimeError("histogram calibration: what was found could not be certified")
