"""Cost of each mechanism beside the minimum cost of any additive noise, in one dimension.

`dpnoise.optimality.bounds` brackets the minimum variance, or E|T|, of any noise that is
(epsilon, delta)-DP for a real query of sensitivity 1. Here every mechanism stands beside these
bounds: value / upper is how many times the limit it costs at least, value / lower at most.
The question is beyond flipped-huber-2023, whose Figure 3 compares mechanisms with each other.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from dpnoise.calibration.calibrate import calibrate
from dpnoise.noise import Staircase, staircase_gamma
from dpnoise.optimality.bounds import minimum_cost
from dpnoise_papers.grids import describe
from dpnoise_papers.progress import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise.noise import Noise
    from dpnoise_papers.flipped_huber_2023.settings import Limit

CLOSE = 0.01
_COSTS = {"variance": "Variance", "mean-abs": "Mean absolute error"}
_OPENING = (
    "One dimension, sensitivity 1, replace-one neighbours. The bounds, and how far each mechanism "
    "is from them, are in `limit.csv`."
)
_ROUNDING = 1e-12  # of a cost in closed form


class _Bounds(NamedTuple):
    """Bounds on the limit, and lattice points per unit of the program behind the lower one."""

    lower: float
    upper: float
    cells: int


def limit(settings: Limit) -> pd.DataFrame:
    """Cost of each mechanism beside the limit of additive noise.

    Sorted by cost as given, delta, epsilon and mechanism as given. Columns cost, delta, epsilon,
    lower, upper, cells (of the program behind `lower`), mechanism, value, over_limit (value /
    lower, the most it can be), over_limit_least (value / upper), within (1 where over_limit is 1.01
    or less, else 0), noise and status: 'ok', 'infimum' where the family only approaches the value,
    or why it has none, with NaN for the numbers.
    """
    deltas, epsilons = sorted(settings.deltas), sorted(settings.epsilons)
    pairs = list(product(settings.costs, epsilons))
    limits = {pair: _limits(*pair, deltas, settings.gap) for pair in counted(pairs, "limits")}
    rows = []
    for cost, delta, epsilon in product(settings.costs, deltas, epsilons):
        bounds = limits[cost, epsilon][delta]
        here = (cost, delta, epsilon, *bounds)
        for mechanism in settings.mechanisms:
            noise, value, status = _mechanism(mechanism, epsilon, delta, cost)
            over_lower, over_upper = value / bounds.lower, value / bounds.upper
            told = "" if noise is None else describe(noise)
            close = int(over_lower <= 1.0 + CLOSE)
            rows.append((*here, mechanism, value, over_lower, over_upper, close, told, status))
    columns = ["cost", "delta", "epsilon", "lower", "upper", "cells", "mechanism", "value"]
    columns += ["over_limit", "over_limit_least", "within", "noise", "status"]
    return pd.DataFrame(rows, columns=columns)


def _limits(cost: str, epsilon: float, deltas: Sequence[float], gap: float) -> dict[float, _Bounds]:
    """Bounds for each of some rising deltas.

    The limit falls as delta rises. So the bound below it for one delta holds for every smaller one,
    and what the best noise with delta = 0, a staircase, costs is a bound above it for every delta.
    """
    pure = _cost(_staircase(epsilon, cost), cost) * (1.0 + _ROUNDING)
    found: dict[float, _Bounds] = {}
    known = _Bounds(0.0, math.inf, 0)
    for delta in reversed(deltas):
        if pure > (1.0 + gap) * known.lower:
            new = minimum_cost(epsilon, delta, cost=cost, gap=gap)
            lower, cells = max((new.lower, new.cells), (known.lower, known.cells))
            known = _Bounds(lower, min(new.upper, pure), cells)
        else:
            known = known._replace(upper=pure)
        found[delta] = known
    return found


def _staircase(epsilon: float, cost: str) -> Staircase:
    """The best noise with delta = 0."""
    return Staircase(epsilon, 1.0, float(staircase_gamma(epsilon, 2 if cost == "variance" else 1)))


def _mechanism(
    mechanism: str, epsilon: float, delta: float, cost: str
) -> tuple[Noise | None, float, str]:
    """Noise of a family, its cost and how it was had."""
    if mechanism == "staircase":
        steps = _staircase(epsilon, cost)
        return steps, _cost(steps, cost), "ok"
    noise, status = _calibrated(mechanism, epsilon, delta)
    return noise, np.nan if noise is None else _cost(noise, cost), status


@cache  # one calibration serves both costs
def _calibrated(mechanism: str, epsilon: float, delta: float) -> tuple[Noise | None, str]:
    """Noise of a family and 'ok' or 'infimum', or None and why there is none."""
    try:
        found = calibrate(mechanism, epsilon=epsilon, delta=delta)
    except ValueError as refusal:
        return None, str(refusal)
    return found.noise, "ok" if found.attained else "infimum"


def _cost(noise: Noise, cost: str) -> float:
    """Variance or mean absolute error of a noise."""
    return noise.var() if cost == "variance" else noise.mean_abs()


def within(table: pd.DataFrame) -> pd.DataFrame:
    """Intervals of epsilon in which each mechanism is certainly within 1 % of the limit.

    One row per cost, delta, mechanism and unbroken run of the table's epsilons: columns cost,
    delta, mechanism, epsilon_from, epsilon_to and points (how many epsilons), sorted by these. A
    mechanism that is nowhere within 1 % has no row.

    Parameters
    ----------
    table : DataFrame
        As `limit` returns it.
    """
    rows = []
    for key, part in table.groupby(["cost", "delta", "mechanism"], sort=True):
        part = part.sort_values("epsilon")  # noqa: PLW2901 - the same part, in order
        close = part["within"].to_numpy() == 1
        run = np.cumsum(np.diff(close, prepend=False))
        for _, points in part[close].groupby(run[close]):
            ends = points["epsilon"].min(), points["epsilon"].max()
            rows.append((*key, *ends, len(points)))
    columns = ["cost", "delta", "mechanism", "epsilon_from", "epsilon_to", "points"]
    return pd.DataFrame(rows, columns=columns)


def limit_page(table: pd.DataFrame, runs: pd.DataFrame) -> str:
    """Markdown page with one sentence per cost and delta.

    The sentences speak of the table's epsilons and of what is certain: a mechanism counts if its
    cost is at most 1 % above the *lower* bound on the limit.

    Parameters
    ----------
    table, runs : DataFrame
        As `limit` and `within` return them.
    """
    lines = ["# Within 1 % of the least that any additive noise needs", "", _OPENING]
    for cost, title in _COSTS.items():
        here = table[table["cost"] == cost]
        if here.empty:
            continue
        gap = float((here["upper"] / here["lower"] - 1.0).max())
        lines += ["", f"## {title} (the limit is known to {gap:.1%})", ""]
        for delta in sorted(set(here["delta"])):
            part = runs[(runs["cost"] == cost) & (runs["delta"] == delta)]
            found = [
                f"- delta = {delta:g}: {_run(*ends)}."
                for ends in part[["mechanism", "epsilon_from", "epsilon_to"]].itertuples(
                    index=False
                )
            ]
            lines += found or [f"- delta = {delta:g}: none of them."]
    return "\n".join(lines) + "\n"


def _run(mechanism: str, low: float, high: float) -> str:
    """One run of epsilons as words."""
    where = f"from {low:g} to {high:g}" if high > low else f"at {low:g}"
    return f"{mechanism.replace('-', ' ')} for epsilon {where}"
