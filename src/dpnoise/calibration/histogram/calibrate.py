"""Histogram noise optimised for composition: the public `calibrate_histogram`.

For a number K of releases there is independent noise better than Laplace and Gaussian noise, with a
density of no simple form (Gilani et al., ICML 2025). It is searched for cell by cell
(`dpnoise.calibration.histogram.grids`), certified by `vector_profile`, and held against the
histograms of other families (`dpnoise.calibration.histogram.families`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise.calibration.histogram.families import rival_by_epsilon, rival_by_std
from dpnoise.calibration.histogram.grids import (
    STDS,
    gaussian_epsilon,
    searched_by_epsilon,
    searched_by_std,
)
from dpnoise.calibration.histogram.search import Target
from dpnoise.privacy.odometer.ledger import Ledger, stated

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise.calibration.histogram.grids import Found
    from dpnoise.noise.stepwise import Histogram

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


def _attempted(search: Callable[[], Found]) -> Found | RuntimeError:
    """What a search finds, or why it finds nothing."""
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            return search()
    except (ArithmeticError, ValueError, RuntimeError) as error:
        return RuntimeError(f"histogram calibration: nothing was found ({error})")


def _by_epsilon(epsilon: float, copies: int, delta: float) -> Found:
    """Noise of the least variance, for sensitivity 1, the histograms of other families included."""
    found = _attempted(lambda: searched_by_epsilon(epsilon, copies, delta))
    rival = rival_by_epsilon(epsilon, copies, delta)
    if isinstance(found, RuntimeError):
        if rival is None:
            raise found
        return rival
    return rival if rival is not None and rival.noise.var() < found.noise.var() else found


def _by_std(std: float, copies: int, delta: float) -> Found:
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
