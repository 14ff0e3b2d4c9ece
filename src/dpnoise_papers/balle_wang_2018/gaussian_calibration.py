"""The analytic Gaussian mechanism beside the classical one and Algorithm 1 as published.

Balle & Wang (ICML 2018), Section 5.1 and appendix B: the left two panels of Figure 1 and the
left panel of Figure 3 compare standard deviations as epsilon -> 0 and the gain, the classical
variance over the analytic one. Beyond the paper, the privacy that Algorithm 1 really gives is
mapped over epsilon and delta.

Algorithm 1 as published is there to be measured, not to be used: `dpnoise.gaussian_sigma` is what
to use. It writes sigma = alpha sensitivity / sqrt(2 epsilon) and searches v >= 0 with B+(v) = delta
where alpha <= 1, else u >= 0 with B-(u) = delta, where

    B+(v) = Phi(sqrt(epsilon v)) - e^epsilon Phi(-sqrt(epsilon (v + 2))),
    B-(u) = Phi(-sqrt(epsilon u)) - e^epsilon Phi(-sqrt(epsilon (u + 2))),

with Phi(t) = (1 + erf(t / sqrt 2)) / 2. The bracket is the first power of two beyond the root,
the search is by bisection. Where it stops has two versions:

    "argument"   v* and u* are known to 1e-12, as Section 5.1 says;
    "delta"      B is within 1e-12 of delta, on either side, as in the authors' published script.

In both the last middle may be on the side that is not private, and 1 + erf is absolute: far out
nothing is left of a small delta.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import special

from dpnoise.privacy.gaussian import (
    classical_gaussian_sigma,
    gaussian_log_delta,
    gaussian_sigma,
)
from dpnoise_papers.settings import values

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array
    from dpnoise_papers.balle_wang_2018.settings import (
        Algorithm1,
        Algorithm1Sizes,
        GainByDelta,
        GainByEpsilon,
    )

TOLERANCE = 1e-12  # Section 5.1
STOPS = ("argument", "delta")
# Doubles have few more powers of two to try, and no more middles before two are neighbours.
_DOUBLINGS = 1000
_MIDDLES = 1100


def classical_against_analytic(settings: GainByEpsilon | GainByDelta) -> pd.DataFrame:
    """Both standard deviations and the gain in variance (Figures 1 and 3, left).

    Columns epsilon, delta, classical and analytic (standard deviations), gain (classical variance
    over analytic variance), and two standard deviations at epsilon = 0: at_zero (the analytic one)
    and theorem_2 (sensitivity / (2 delta)).
    """
    epsilon, delta = values(settings.epsilons), values(settings.deltas)
    sensitivity = settings.sensitivity
    epsilon, delta = (x.ravel() for x in np.meshgrid(epsilon, delta))
    classical = classical_gaussian_sigma(epsilon, delta, sensitivity, allow_large_epsilon=True)
    analytic = gaussian_sigma(epsilon, delta, sensitivity)
    return pd.DataFrame(
        {
            "epsilon": epsilon,
            "delta": delta,
            "classical": classical,
            "analytic": analytic,
            "gain": (classical / analytic) ** 2,
            "at_zero": gaussian_sigma(0.0, delta, sensitivity),
            "theorem_2": sensitivity / (2.0 * delta),
        }
    ).sort_values(["delta", "epsilon"], ignore_index=True)


def published_algorithm(settings: Algorithm1) -> pd.DataFrame:
    """Privacy of Algorithm 1 as published, over epsilon and delta.

    Columns stop ('argument': v* and u* are known to the tolerance, as Section 5.1 says; 'delta':
    the delta is, as in the authors' script), epsilon, delta, published and exact (standard
    deviations at sensitivity 1), relative_error (published / exact - 1; below 0 there is too little
    noise), log10_ratio (of the delta that the published sigma really has to the delta asked for;
    above 0 it is not private, and 1e-12 of the delta counts as none) and outcome: 'private',
    'unsafe' or 'none' where the algorithm overflows or never ends.
    """
    epsilon, delta = values(settings.epsilons), values(settings.deltas)
    epsilon, delta = (x.ravel() for x in np.meshgrid(epsilon, delta))
    exact = gaussian_sigma(epsilon, delta)
    tables = []
    for stop in STOPS:
        published = algorithm_1(epsilon, delta, tolerance=settings.tolerance, stop=stop)
        ran = np.isfinite(published)
        excess = np.full(epsilon.shape, np.nan)
        excess[ran] = gaussian_log_delta(1.0 / published[ran], epsilon[ran]) - np.log(delta[ran])
        outcome = np.where(excess > 1e-12, "unsafe", "private")
        columns = {
            "stop": stop,
            "epsilon": epsilon,
            "delta": delta,
            "published": published,
            "exact": exact,
            "relative_error": published / exact - 1.0,
            "log10_ratio": excess / math.log(10.0),
            "outcome": np.where(ran, outcome, "none"),
        }
        tables.append(pd.DataFrame(columns).sort_values(["delta", "epsilon"]))
    return pd.concat(tables, ignore_index=True)


def published_algorithm_sizes(settings: Algorithm1, sizes: Algorithm1Sizes) -> pd.DataFrame:
    """Share of the grid on which Algorithm 1 as published misses delta, by how much.

    One row per stop, minimum delta and excess: points (pairs of the grid for which the algorithm
    ends), above (those whose true delta is more than `excess` times the delta asked for), share
    (above over points), and over those the minimum and the maximum epsilon and the maximum delta
    (empty where there are none).
    """
    table = published_algorithm(settings)
    table = table[table["outcome"] != "none"]
    rows = []
    for stop in STOPS:
        for minimum in sizes.minimum_deltas:
            part = table[(table["stop"] == stop) & (table["delta"] >= minimum)]
            for excess in sizes.excesses:
                above = part[part["log10_ratio"] > math.log10(excess)]
                ends = (above["epsilon"].min(), above["epsilon"].max(), above["delta"].max())
                share = len(above) / len(part) if len(part) else math.nan
                rows.append((stop, minimum, excess, len(part), len(above), share, *ends))
    columns = ["stop", "least_delta", "excess", "points", "above", "share",
               "least_epsilon", "greatest_epsilon", "greatest_delta"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def _phi(t: Array) -> Array:
    """Return Phi(t) as the paper writes it; nothing is left of it far below 0."""
    return 0.5 * (1.0 + special.erf(t / math.sqrt(2.0)))


def _b_plus(v: Array, epsilon: Array) -> Array:
    """Delta of alpha = sqrt(1 + v/2) - sqrt(v/2), B+(v) in the paper."""
    return _phi(np.sqrt(epsilon * v)) - np.exp(epsilon) * _phi(-np.sqrt(epsilon * (v + 2.0)))


def _b_minus(u: Array, epsilon: Array) -> Array:
    """Delta of alpha = sqrt(1 + u/2) + sqrt(u/2), B-(u) in the paper."""
    return _phi(-np.sqrt(epsilon * u)) - np.exp(epsilon) * _phi(-np.sqrt(epsilon * (u + 2.0)))


def bisected(
    epsilon: Array,
    delta: Array,
    plus: NDArray[np.bool_],
    tolerance: float = TOLERANCE,
    stop: str = "argument",
) -> Array:
    """v* where `plus`, else u*, of each pair; NaN where the published search would never end."""

    def excess(x: Array, which: NDArray[np.intp]) -> Array:
        e = epsilon[which]
        return np.where(plus[which], _b_plus(x, e), _b_minus(x, e)) - delta[which]

    found = np.full(epsilon.shape, np.nan)
    low, high = np.zeros_like(epsilon), np.ones_like(epsilon)
    left = np.arange(epsilon.size)
    # ends: NaN: what is printed is judged, not used
    for _ in range(_DOUBLINGS):
        over = excess(high[left], left)
        beyond = np.where(plus[left], over > 0.0, over <= 0.0)
        left = left[~beyond]
        if left.size == 0:
            break
        low[left], high[left] = high[left], 2.0 * high[left]
    searching = np.setdiff1d(np.arange(epsilon.size), left)
    # ends: NaN: what is printed is judged, not used
    for _ in range(_MIDDLES):
        middle = 0.5 * (low[searching] + high[searching])
        over = excess(middle, searching)
        if stop == "delta":
            close = np.abs(over) <= tolerance
        else:  # or no double is left between the two ends
            ends = low[searching], high[searching]
            close = (ends[1] - ends[0] <= tolerance) | (middle == ends[0]) | (middle == ends[1])
        found[searching[close]] = middle[close]
        # Both searches go down from where delta is passed: B+ rises and B- falls.
        down = np.where(plus[searching], over > 0.0, over <= 0.0)
        high[searching] = np.where(down, middle, high[searching])
        low[searching] = np.where(down, low[searching], middle)
        searching = searching[~close]
        if searching.size == 0:
            break
    return found


def algorithm_1(
    epsilon: ArrayLike,
    delta: ArrayLike,
    *,
    tolerance: float = TOLERANCE,
    stop: str = "argument",
) -> Array:
    """Standard deviation of Algorithm 1 in double precision, private or not.

    For epsilon >= 0, delta in (0, 1), which broadcast, at sensitivity 1; `stop` is one
    of `STOPS`, and `tolerance` is in units of v and u, or of delta. NaN where the algorithm gives
    no sigma: at epsilon = 0 it never ends, from about 709.8 on e^epsilon overflows, and where
    rounding keeps B away from delta no bracket, and with stop = "delta" no middle, is ever found.
    """
    epsilon, delta = np.broadcast_arrays(np.asarray(epsilon, float), np.asarray(delta, float))
    sigma = np.full(epsilon.shape, np.nan).ravel()
    usable = np.flatnonzero((epsilon > 0.0) & (epsilon < math.log(np.finfo(float).max)))
    e, d = epsilon.ravel()[usable], delta.ravel()[usable]
    plus = d >= _b_plus(np.zeros_like(e), e)
    half = 0.5 * bisected(e, d, plus, tolerance, stop)
    alpha = np.sqrt(1.0 + half) + np.where(plus, -1.0, 1.0) * np.sqrt(half)
    sigma[usable] = alpha / np.sqrt(2.0 * e)
    return sigma.reshape(epsilon.shape)[()]
