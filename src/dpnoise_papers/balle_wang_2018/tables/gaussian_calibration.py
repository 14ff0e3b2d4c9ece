"""The analytic Gaussian mechanism beside the classical one and Algorithm 1 as published.

Balle & Wang (ICML 2018), Section 5.1 and appendix B: the left two panels of Figure 1 and the
left panel of Figure 3 compare standard deviations as epsilon -> 0 and the gain, the classical
variance over the analytic one. The paper says that near epsilon = 1 the gain is "1.4 or
more"; here the delta at which that begins to hold is solved for. Beyond the paper, the
privacy that Algorithm 1 really gives is mapped over epsilon and delta.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import optimize

from dpnoise._validation import Problems
from dpnoise.calibration.classical import classical_gaussian_sigma
from dpnoise.calibration.gaussian import MINIMUM_DELTA, gaussian_sigma
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise_papers.balle_wang_2018.as_printed import STOPS, algorithm_1
from dpnoise_papers.grids import geometric, require_grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array

    Values = Sequence[float] | Mapping[str, float]

# Above it the classical sigma is a number that no theorem stands behind.
_CLASSICAL = 1.0


def _values(problems: Problems, name: str, spec: Values, high: float, *, closed: bool) -> Array:
    """Return a list, or a geometric grid {low, high, count}, of numbers above 0."""
    before = len(problems.found)
    if isinstance(spec, Mapping):
        require_grid(problems, name, spec)
        if len(problems.found) == before:
            problems.number(f"{name}: high", spec["high"], high=high, open_high=not closed)
    else:
        problems.require(len(spec) > 0, name, "at least one number", spec)
        for place, value in enumerate(spec):
            problems.number(
                f"{name}[{place}]", value, low=0.0, open_low=True, high=high, open_high=not closed
            )
    if len(problems.found) > before:
        return np.empty(0)
    return geometric(spec) if isinstance(spec, Mapping) else np.array(spec, dtype=float)


def classical_against_analytic(
    *, epsilons: Values, deltas: Values, sensitivity: float
) -> pd.DataFrame:
    """Return both standard deviations and the gain in variance (Figures 1 and 3, left).

    Parameters
    ----------
    epsilons, deltas : sequence of float or mapping
        A list or {low, high, count}, a geometric grid. Epsilon is at most 1: the classical
        mechanism is for epsilon < 1, and the end of that range is its limit.
    sensitivity : float
        The l2 sensitivity.

    Returns
    -------
    DataFrame
        Columns epsilon, delta, classical and analytic (standard deviations), gain (classical
        variance over analytic variance), and two standard deviations at epsilon = 0:
        at_zero (the analytic one) and theorem_2 (sensitivity / (2 delta)).

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("classical against analytic Gaussian mechanism")
    epsilon = _values(problems, "epsilons", epsilons, _CLASSICAL, closed=True)
    delta = _values(problems, "deltas", deltas, 1.0, closed=False)
    problems.number("sensitivity", sensitivity, low=0.0, open_low=True)
    problems.raise_if_any()
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


def gain_crossings(*, epsilons: Sequence[float], gains: Sequence[float]) -> pd.DataFrame:
    """Return the delta at which the gain in variance reaches a value.

    Parameters
    ----------
    epsilons : sequence of float
        In (0, 1].
    gains : sequence of float
        Classical variance over analytic variance, above 1.

    Returns
    -------
    DataFrame
        Columns epsilon, gain and delta: the gain grows with delta, so it is below `gain`
        below `delta`. Beyond both ends, delta is 0 if the gain is already larger at
        delta = 1e-300, and 1 if it is smaller at delta = 0.5.

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("crossings of the gain")
    epsilon = _values(problems, "epsilons", epsilons, _CLASSICAL, closed=True)
    for place, value in enumerate(gains):
        problems.number(f"gains[{place}]", value, low=1.0, open_low=True)
    problems.raise_if_any()
    ends = math.log(MINIMUM_DELTA) + 1e-9, math.log(0.5)

    def excess(log_delta: float, e: float, gain: float) -> float:
        delta = math.exp(log_delta)
        classical = classical_gaussian_sigma(e, delta, allow_large_epsilon=True)
        return 2.0 * math.log(classical / gaussian_sigma(e, delta)) - math.log(gain)

    rows = []
    for e in epsilon:
        for gain in gains:
            low, high = (excess(end, e, gain) for end in ends)
            if low >= 0.0 or high <= 0.0:
                delta = 0.0 if low >= 0.0 else 1.0
            else:
                root = optimize.brentq(excess, *ends, args=(e, gain), xtol=1e-12, rtol=1e-14)
                delta = math.exp(root)
            rows.append((float(e), float(gain), delta))
    return pd.DataFrame(rows, columns=["epsilon", "gain", "delta"])


def published_algorithm(*, epsilons: Values, deltas: Values, tolerance: float) -> pd.DataFrame:
    """Return how private Algorithm 1 as published really is, over epsilon and delta.

    Parameters
    ----------
    epsilons, deltas : sequence of float or mapping
        A list or {low, high, count}, a geometric grid.
    tolerance : float
        Where its bisection stops; 1e-12 in the paper.

    Returns
    -------
    DataFrame
        Columns stop ('argument': v* and u* are known to the tolerance, as Section 5.1 says;
        'delta': the delta is, as in the authors' script), epsilon, delta, published and exact
        (standard deviations at sensitivity 1), relative_error (published / exact - 1; below 0
        there is too little noise), log10_ratio (of the delta that the published sigma really
        has to the delta asked for; above 0 it is not private, and 1e-12 of the delta counts as
        none) and outcome: 'private', 'unsafe' or 'none' where the algorithm overflows or never
        ends.

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("Algorithm 1 as published")
    epsilon = _values(problems, "epsilons", epsilons, 1e12, closed=True)
    delta = _values(problems, "deltas", deltas, 1.0, closed=False)
    problems.number("tolerance", tolerance, low=0.0)
    problems.raise_if_any()
    epsilon, delta = (x.ravel() for x in np.meshgrid(epsilon, delta))
    exact = gaussian_sigma(epsilon, delta)
    tables = []
    for stop in STOPS:
        published = algorithm_1(epsilon, delta, tolerance=tolerance, stop=stop)
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


def published_algorithm_sizes(
    *,
    epsilons: Values,
    deltas: Values,
    tolerance: float,
    excesses: Sequence[float],
    least_deltas: Sequence[float],
) -> pd.DataFrame:
    """Return on which share of the grid Algorithm 1 as published misses delta by how much.

    Parameters
    ----------
    epsilons, deltas, tolerance
        As for `published_algorithm`.
    excesses : sequence of float
        Ratios of the true delta to the delta asked for, above 1.
    least_deltas : sequence of float
        Each restricts the grid to delta of at least this.

    Returns
    -------
    DataFrame
        One row per stop, least delta and excess: points (pairs of the grid for which the
        algorithm ends), above (those whose true delta is more than `excess` times the delta
        asked for), share (above over points), and over those the least and the greatest epsilon
        and the greatest delta (empty where there are none).

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("sizes of Algorithm 1's excess")
    for place, value in enumerate(excesses):
        problems.number(f"excesses[{place}]", value, low=1.0, open_low=True)
    for place, value in enumerate(least_deltas):
        problems.number(f"least_deltas[{place}]", value, low=0.0, high=1.0, open_high=True)
    problems.raise_if_any()
    table = published_algorithm(epsilons=epsilons, deltas=deltas, tolerance=tolerance)
    table = table[table["outcome"] != "none"]
    rows = []
    for stop in STOPS:
        for least in least_deltas:
            part = table[(table["stop"] == stop) & (table["delta"] >= least)]
            for excess in excesses:
                above = part[part["log10_ratio"] > math.log10(excess)]
                ends = (above["epsilon"].min(), above["epsilon"].max(), above["delta"].max())
                share = len(above) / len(part) if len(part) else math.nan
                rows.append((stop, least, excess, len(part), len(above), share, *ends))
    columns = ["stop", "least_delta", "excess", "points", "above", "share",
               "least_epsilon", "greatest_epsilon", "greatest_delta"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)
