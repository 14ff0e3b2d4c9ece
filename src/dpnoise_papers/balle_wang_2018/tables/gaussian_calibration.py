"""The analytic Gaussian mechanism beside the classical one and Algorithm 1 as published.

Balle & Wang (ICML 2018), Section 5.1 and appendix B: the left two panels of Figure 1 and the
left panel of Figure 3 compare standard deviations as epsilon -> 0 and the gain, the classical
variance over the analytic one. The paper says that near epsilon = 1 the gain is "1.4 or
more"; here the delta at which that begins to hold is solved for. Beyond the paper, the
privacy that Algorithm 1 really gives is mapped over epsilon and delta.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scipy  # its optimize, 0.2 s, loads where it is used

from dpnoise.calibration.gaussian import MINIMUM_DELTA, classical_gaussian_sigma, gaussian_sigma
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise_papers.balle_wang_2018.as_printed import STOPS, algorithm_1
from dpnoise_papers.grids import values

if TYPE_CHECKING:
    from dpnoise_papers.balle_wang_2018.settings import (
        Algorithm1,
        Algorithm1Sizes,
        GainByDelta,
        GainByEpsilon,
        GainCrossings,
    )


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


def gain_crossings(settings: GainCrossings) -> pd.DataFrame:
    """Delta at which the gain in variance reaches a value.

    Columns epsilon, gain and delta: the gain grows with delta, so it is below `gain` below `delta`.
    Beyond both ends, delta is 0 if the gain is already larger at delta = 1e-300, and 1 if it is
    smaller at delta = 0.5.
    """
    ends = math.log(MINIMUM_DELTA) + 1e-9, math.log(0.5)

    def excess(log_delta: float, e: float, gain: float) -> float:
        """Return how far the gain at a delta is above the one wanted, in logarithms."""
        delta = math.exp(log_delta)
        classical = classical_gaussian_sigma(e, delta, allow_large_epsilon=True)
        return 2.0 * math.log(classical / gaussian_sigma(e, delta)) - math.log(gain)

    rows = []
    for e in settings.epsilons:
        for gain in settings.gains:
            low, high = (excess(end, e, gain) for end in ends)
            if low >= 0.0 or high <= 0.0:
                delta = 0.0 if low >= 0.0 else 1.0
            else:
                root = scipy.optimize.brentq(excess, *ends, args=(e, gain), xtol=1e-12, rtol=1e-14)
                delta = math.exp(root)
            rows.append((e, gain, delta))
    return pd.DataFrame(rows, columns=["epsilon", "gain", "delta"])


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
