"""Histogram noise optimised for composition: the public `calibrate_histogram`.

For a number K of releases there is independent noise better than Laplace and Gaussian noise, with a
density of no simple form (Gilani et al., ICML 2025). It is searched for by
`dpnoise.calibration.histogram.search`, cell by cell, and certified by `vector_profile`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import optimize

from dpnoise._validation import Problems, is_integer
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.calibration.histogram.cells import Cells, sorted_masses
from dpnoise.calibration.histogram.search import Descent, Target, descend
from dpnoise.noise.histogram import Histogram
from dpnoise.noise.staircase import staircase_gamma
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.vector import vector_profile

if TYPE_CHECKING:
    from dpnoise._types import Array

_MOST_COPIES = 200
_STDS = 0.5, 30.0  # of the noise in units of the sensitivity
_DELTAS = 1e-20, 0.1
_MOST_EPSILON = 50.0
_REACH = 16.0  # standard deviations up to which cells are listed
_CELLS, _MOST_CELLS = 16.0, 64  # to the standard deviation, to the unit
_COARSER = 4
_NEWTON, _ROUNDS = 3, 8  # steps towards a variance, and of certification
_CLOSE = 1e-6  # relative distance to the epsilon asked for with which the search ends
_MARGIN = 2e-5  # of log delta, for sorting the masses
_STEP, _FASTER = 1e-4, 3.0  # relative, by which the variance grows where that is not enough
_SLOPE = 1e-4  # relative step of epsilon
_BELOW = 1.0 - 1e-13  # for the rounding of a loss


@dataclass(frozen=True)
class HistogramCalibration:
    """Histogram noise found for K releases.

    Attributes
    ----------
    noise : Histogram
        The noise of each release, independently.
    epsilon, delta : float
        K releases are (epsilon, delta)-DP: certified by `vector_profile`.
    variance : float
        The variance of the noise.
    dimension : int
        The number K.
    """

    noise: Histogram
    epsilon: float
    delta: float
    variance: float
    dimension: int


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
        smooth = _gaussian_epsilon(self.target, std)
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


def _stairs(share: float) -> Histogram:
    """Staircase noise of about the least variance, in cells, with no loss above a share."""
    fall, gamma = math.exp(-share * _BELOW), float(staircase_gamma(share))
    high = max(round(gamma * _MOST_CELLS - 0.5), 0) + 1
    return Histogram(1.0, _MOST_CELLS, (1.0,) * high + (fall,) * _MOST_CELLS, fall)


def _better(
    found: HistogramCalibration, share: float, copies: int, most: float
) -> HistogramCalibration:
    """Staircase noise of a pure share for each release, if it beats what was found."""
    stairs, epsilon = _stairs(share), share * copies
    upper = float(vector_profile(stairs, 1.0, epsilon, copies=copies).upper)
    private = upper == 0.0 and stairs.var() <= most
    if private and (epsilon, stairs.var()) < (found.epsilon, found.variance):
        return HistogramCalibration(stairs, epsilon, 0.0, stairs.var(), copies)
    return found


def _gaussian_epsilon(target: Target, std: float) -> float:
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


def _by_std(std: float, copies: int, delta: float) -> HistogramCalibration:
    """Noise of a standard deviation, in units of the sensitivity, with the least epsilon."""
    coarse = _Search.on(std, 1.0 / _COARSER, Target(copies, math.log(delta)))
    search, found = _fine(coarse, coarse.best(std), std)
    noise = search.noise(found)
    epsilon, reached = _minimum_epsilon(noise, copies, delta, found.epsilon)
    searched = HistogramCalibration(noise, epsilon, reached, noise.var(), copies)
    share = optimize.brentq(
        lambda share: _stairs(share).var() / (std * std) - 1.0, 1e-2 / std, 10.0 + 10.0 / std
    )
    return _better(searched, float(share) * (1.0 + _CLOSE), copies, std * std)


def _closer(search: _Search, found: Descent, std: float, epsilon: float) -> tuple[Descent, float]:
    """A variance with a least epsilon next to a given one, by Newton's method."""
    for _ in range(_NEWTON):
        change = (epsilon - found.epsilon) / found.by_variance / (std * std)
        if abs(change) < _CLOSE:
            break
        std *= math.sqrt(min(max(1.0 + change, 0.5), 2.0))
        found = search.from_start(found.psi, std, epsilon)
    return found, std


def _by_epsilon(epsilon: float, copies: int, delta: float) -> HistogramCalibration:
    """Noise of the least variance, for sensitivity 1."""
    target = Target(copies, math.log(delta) - _MARGIN)
    smooth = math.sqrt(copies) * float(gaussian_sigma(epsilon, delta))
    std = min(max(min(smooth, math.sqrt(2.0) * copies / epsilon), _STDS[0]), _STDS[1])
    coarse = _Search.on(std, 1.0 / _COARSER, target)
    found, std = _closer(coarse, coarse.best(std), std, epsilon)
    search, found = _fine(coarse, found, std)
    found, std = _closer(search, found, std, epsilon)
    for k in range(_ROUNDS):
        noise = search.noise(found)
        reached = float(vector_profile(noise, 1.0, epsilon, copies=copies).upper)
        if reached <= delta:
            searched = HistogramCalibration(noise, epsilon, reached, noise.var(), copies)
            return _better(searched, epsilon / copies, copies, math.inf)
        std *= 1.0 + _STEP * _FASTER**k
        found = search.from_start(found.psi, std, epsilon)
    raise RuntimeError("histogram calibration: what was found could not be certified")


def calibrate_histogram(
    *,
    delta: float,
    dimension: int,
    epsilon: float | None = None,
    std: float | None = None,
    sensitivity: float = 1.0,
) -> HistogramCalibration:
    """Independent histogram noise optimised for K releases, of least variance or least epsilon.

    Either `epsilon` is given, for the least variance, or `std`, for the least epsilon. Neighbouring
    data sets (replace-one) move each of the K coordinates or releases by at most the sensitivity.

    Parameters
    ----------
    delta : float
        From 1e-20 to 0.1.
    dimension : int
        The number K of coordinates or releases, from 2 to 200. For one coordinate see
        `dpnoise.optimality.bounds.minimum_cost`, whose noise is optimal among all.
    epsilon : float, optional
        Positive, at most 50.
    std : float, optional
        The standard deviation of the noise, from 0.5 to 30 times the sensitivity. For an epsilon
        whose noise is outside this range there is an error.
    sensitivity : float
        Positive; the unit of the standard deviation.

    Returns
    -------
    HistogramCalibration
        With attributes noise, epsilon, delta (certified), variance and dimension.

    Raises
    ------
    ValueError
        If an argument is out of range, or not exactly one of `epsilon` and `std` is given; the
        message names every problem.
    RuntimeError
        If no noise was found and certified.

    Notes
    -----
    Proved: (epsilon, delta) of the noise returned. Not proved: that no other noise is better. The
    search starts from Laplace and from Gaussian noise and lowers the composed delta itself. Tested:
    with K = 10 and 20 and delta = 1e-6 it needs less variance than Gaussian, Laplace and flipped
    Huber noise. Next to pure noise (few releases, a tiny delta) it finds noise slightly worse than
    theirs, or returns staircase noise. It takes 1 to 10 s.

    References
    ----------
    Gilani, Gomez, Asoodeh, Calmon, Kosut & Sankar, "Optimizing Noise Distributions for Differential
    Privacy", ICML 2025, who minimise a Renyi divergence instead.

    Examples
    --------
    >>> from dpnoise import calibrate_histogram
    >>> found = calibrate_histogram(std=5.0, delta=1e-6, dimension=10)
    >>> round(found.epsilon, 2), found.delta <= 1e-6
    (2.66, True)
    """
    problems = Problems("histogram calibration")
    problems.number("delta", delta, low=_DELTAS[0], high=_DELTAS[1])
    whole = is_integer(dimension) and 2 <= dimension <= _MOST_COPIES
    problems.require(whole, "dimension", f"a whole number from 2 to {_MOST_COPIES}", dimension)
    good = problems.number("sensitivity", sensitivity, low=1e-100, high=1e100)
    one = (epsilon is None) != (std is None)
    problems.require(one, "epsilon, std", "exactly one of them", (epsilon, std))
    if epsilon is not None:
        problems.number("epsilon", epsilon, low=0.0, high=_MOST_EPSILON, open_low=True)
    if std is not None and problems.number("std", std, low=0.0, open_low=True) and good:
        problems.number("std / sensitivity", std / sensitivity, low=_STDS[0], high=_STDS[1])
    problems.raise_if_any()
    try:
        if std is not None:
            found = _by_std(float(std) / float(sensitivity), int(dimension), float(delta))
        else:
            assert epsilon is not None  # noqa: S101  (exactly one is None)
            found = _by_epsilon(float(epsilon), int(dimension), float(delta))
    except ArithmeticError as error:
        raise RuntimeError(f"histogram calibration: nothing was found ({error})") from error
    noise = found.noise.scaled(float(sensitivity)) if sensitivity != 1.0 else found.noise
    return HistogramCalibration(noise, found.epsilon, found.delta, noise.var(), found.dimension)
