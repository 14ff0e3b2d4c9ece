"""Histogram noise optimised for composition: the public `calibrate_histogram`.

For a number K of releases there is independent noise better than Laplace and Gaussian noise, with a
density of no simple form (Gilani et al., ICML 2025). It is searched for cell by cell
(`dpnoise.calibration.histogram.search`), certified by `vector_profile`, and held against the
histograms of other families.

A cell of such a histogram holds the mass that the family's density has there. Which cell a noise
value falls into is a post-processing of it, and a shift by the sensitivity moves cells to cells, so
that the histogram is at least as private as the noise. In its place a value is anywhere in its
cell: the variance grows by about a sixth of the square of a cell, 1e-5 of it.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize

from dpnoise._validation import Problems, is_integer
from dpnoise.calibration.calibrate import calibrate
from dpnoise.calibration.histogram.search import (
    STDS,
    CertifiedHistogram,
    Target,
    gaussian_epsilon,
    searched_by_epsilon,
    searched_by_std,
)
from dpnoise.noise.stepwise import Histogram, Staircase
from dpnoise.privacy.odometer.ledger import Ledger, stated
from dpnoise.privacy.vector import vector_profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise.noise.base import Noise

_MOST_COPIES = 200
_DELTAS = 1e-20, 0.1
_MOST_EPSILON = 50.0


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

    def spending(self) -> Ledger:
        """What the K releases cost a `Budget`, at the sensitivity that was asked for."""
        share = self.noise, self.noise.sensitivity
        return Ledger({share: self.dimension}, stated=stated(self.epsilon, self.delta))


def _attempted(search: Callable[[], CertifiedHistogram]) -> CertifiedHistogram | RuntimeError:
    """What a search finds, or why it finds nothing."""
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            return search()
    except (ArithmeticError, ValueError, RuntimeError) as error:
        return RuntimeError(f"histogram calibration: nothing was found ({error})")


def _by_epsilon(epsilon: float, copies: int, delta: float) -> CertifiedHistogram:
    """Noise of the least variance, for sensitivity 1, the histograms of other families included."""
    found = _attempted(lambda: searched_by_epsilon(epsilon, copies, delta))
    rival = rival_by_epsilon(epsilon, copies, delta)
    if isinstance(found, RuntimeError):
        if rival is None:
            raise found
        return rival
    return rival if rival is not None and rival.noise.var() < found.noise.var() else found


def _by_std(std: float, copies: int, delta: float) -> CertifiedHistogram:
    """Noise of the least epsilon, for sensitivity 1, the histograms of other families included."""
    smooth = gaussian_epsilon(Target(copies, math.log(delta)), std)
    if smooth == 0.0:
        given = f"standard deviation {std:g} keeps delta = {delta:g} at epsilon = 0"
        message = f"histogram calibration: nothing to be found, as Gaussian noise of {given}"
        raise RuntimeError(message)
    found = _attempted(lambda: searched_by_std(std, copies, delta))
    if isinstance(found, RuntimeError):
        rival = rival_by_std(std, smooth, copies, delta)
        if rival is None:
            raise found
        return rival
    rival = rival_by_std(std, found.epsilon, copies, delta)
    return rival if rival is not None and rival.epsilon < found.epsilon else found


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
    data sets, by either relation, move each of the K coordinates or releases by at most the
    sensitivity.

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
        whose noise is outside this range the search may find nothing, so that another family's
        noise is returned.
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
    search starts from Laplace and from Gaussian noise and lowers the composed delta itself. Next to
    pure noise (few releases, a tiny delta) it may end above other families; then the histogram of
    the best of them is returned: no independent noise of `calibrate` has a variance that is less by
    more than 1e-4 (tested). It takes 1 to 20 s.

    For an `epsilon` this is a case of `best`: `best(LInf(sensitivity, of=dimension),
    epsilon=epsilon, delta=delta, family="histogram")` finds the same noise.

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
        problems.number("std / sensitivity", std / sensitivity, low=STDS[0], high=STDS[1])
    problems.raise_if_any()
    if std is not None:
        found = _by_std(float(std) / float(sensitivity), int(dimension), float(delta))
    else:
        assert epsilon is not None  # noqa: S101  (exactly one is None)
        found = _by_epsilon(float(epsilon), int(dimension), float(delta))
    noise = found.noise.scaled(float(sensitivity)) if sensitivity != 1.0 else found.noise
    variance, copies = noise.var(), int(dimension)
    return HistogramCalibration(noise, found.epsilon, found.delta, variance, copies)


FAMILIES = (
    "gaussian",
    "laplace",
    "flipped-huber",
    "offset-symmetric-gaussian",
    "huber",
    "truncated-laplace",
    "staircase",
)
_CELLS, _MOST_CELLS = 128.0, 4096  # to the standard deviation, to the unit
_REACH = 20.0  # standard deviations up to which cells are listed
_LIGHTEST = 1e-280  # mass of a listed cell
_LESS = 0.0, 1e-6, 1e-5, 1e-4  # relative, by which noise is enlarged until it is certified
_MARGIN = 1e-4  # of the variance, for cells and enlargement
_HALVINGS = 20


def as_histogram(noise: Noise) -> Histogram:
    """The masses of symmetric unimodal noise in cells of 1/n, for sensitivity 1."""
    std = noise.std()
    n = min(math.ceil(_CELLS / std), _MOST_CELLS)
    reach = noise.bound if noise.bound < math.inf else _REACH * std
    ends = (np.arange(max(math.ceil(reach * n), n) + n + 1) - 0.5) / n
    tails = noise.sf(ends)
    masses = np.minimum.accumulate(np.maximum(tails[:-1] - tails[1:], 0.0))
    if noise.bound < math.inf:
        return Histogram(1.0, n, tuple(np.where(masses < _LIGHTEST, 0.0, masses).tolist()), 0.0)
    masses = masses[masses >= _LIGHTEST]
    fall = min(float(masses[-1] / masses[-1 - n]), float(masses[-1] / masses[-n]))
    return Histogram(1.0, n, tuple(masses.tolist()), math.nextafter(fall, 0.0))


def _enlarged(noise: Noise, step: float) -> Noise:
    """More private noise; steps of a staircase keep their width, as its loss is their height."""
    if isinstance(noise, Staircase):
        return replace(noise, epsilon=noise.epsilon * (1.0 - step))
    return noise.scaled(1.0 + step)


def _certified(
    noise: Noise, epsilon: float, copies: int, delta: float
) -> CertifiedHistogram | None:
    """A family's noise as a histogram, enlarged until it is certified; None if it is not."""
    for step in _LESS:
        with suppress(ValueError):
            found = as_histogram(_enlarged(noise, step))
            upper = float(vector_profile(found, 1.0, epsilon, copies=copies).upper)
            if upper <= delta:
                return CertifiedHistogram(found, epsilon, upper)
    return None


def _smallest(
    names: tuple[str, ...], epsilon: float, copies: int, delta: float
) -> tuple[Noise, str]:
    """Noise of minimum variance among families, and which; RuntimeError if there is none."""
    found = []
    for name in names:
        with suppress(RuntimeError, ValueError):
            one = calibrate(name, epsilon=epsilon, delta=delta, dimension=copies)
            found.append((one.variance, name, one.noise))
    if not found:
        raise RuntimeError("histogram calibration: no family keeps the budget")
    _, name, noise = min(found, key=lambda one: one[:2])
    return noise, name


def rival_by_epsilon(epsilon: float, copies: int, delta: float) -> CertifiedHistogram | None:
    """The family of minimum variance for an epsilon, as a histogram."""
    return _certified(_smallest(FAMILIES, epsilon, copies, delta)[0], epsilon, copies, delta)


def rival_by_std(
    std: float, epsilon: float, copies: int, delta: float
) -> CertifiedHistogram | None:
    """A family's noise of a standard deviation with an epsilon below a given one, if there is any.

    Of the family of minimum variance at the given epsilon.
    """
    bar = std * std * (1.0 - _MARGIN)
    noise, name = _smallest(FAMILIES, epsilon, copies, delta)
    if noise.var() >= bar:
        return None

    @cache
    def smallest(log_epsilon: float) -> Noise:
        return _smallest((name,), math.exp(log_epsilon), copies, delta)[0]

    def excess(log_epsilon: float) -> float:
        return math.log(smallest(log_epsilon).var() / bar)

    high = low = math.log(epsilon)
    # ends: without a bracket what the search found stays
    for _ in range(_HALVINGS):
        low -= math.log(2.0)
        if excess(low) > 0.0:
            break
    else:
        return None
    below = float(optimize.brentq(excess, low, high, xtol=1e-6))
    found = _certified(smallest(below), math.exp(below), copies, delta)
    return found if found is not None and found.noise.var() <= std * std else None
