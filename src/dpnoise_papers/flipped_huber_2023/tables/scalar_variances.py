"""The least variance of each mechanism in one dimension (flipped-huber-2023, Section V-A).

Figure 3a and the slide 'variances' compare mechanisms at one delta, Figures 3b and 3c give the
ratio of flipped Huber noise to another mechanism over epsilon and delta, and the slides'
'illustrative values' are the (alpha, gamma) behind the flipped Huber curve. The paper
searches a grid inside a box and does not print its resolution; here the least variance inside
that box stands beside the unrestricted one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise._validation import Problems
from dpnoise.calibration.calibrate import calibrate
from dpnoise_papers.flipped_huber_2023.tables.search_box import (
    BOX,
    METHODS,
    UNRESTRICTED,
    inside,
    least_in_box,
)
from dpnoise_papers.grids import describe, geometric, require_grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_BUDGET = {"low": 0.0, "open_low": True}


def scalar_variances(
    *,
    delta: float,
    sensitivity: float,
    epsilons: Mapping[str, float],
    also: Sequence[float],
    mechanisms: Sequence[Sequence[str]],
    box: Sequence[Sequence[float]] = BOX,
) -> pd.DataFrame:
    """Return the least variance of each mechanism against epsilon (Figure 3a).

    Parameters
    ----------
    delta : float
        The budget's delta, positive; the staircase leaves it unused.
    sensitivity : float
        Largest difference between neighbouring answers.
    epsilons : mapping
        {low, high, count}: a geometric grid.
    also : sequence of float
        Further epsilons, such as those of printed numbers.
    mechanisms : sequence of (mechanism, method)
        Families by kebab name, each with a method of `dpnoise.calibrate` ("exact" is
        unrestricted) or of `dpnoise_papers.flipped_huber_2023.tables.search_box`.
    box : ((float, float), (float, float)), optional
        What the method "box" searches; the paper's by default.

    Returns
    -------
    DataFrame
        Columns epsilon, mechanism, method, variance, noise, delta_bound (certified) and
        attained. Where the least variance is a limit that no member of the family attains, a
        second row of method 'infimum' has it, without noise.

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("scalar variances")
    problems.number("delta", delta, high=1.0, open_high=True, **_BUDGET)
    problems.number("sensitivity", sensitivity, **_BUDGET)
    require_grid(problems, "epsilons", epsilons)
    for place, value in enumerate(also):
        problems.number(f"also[{place}]", value, **_BUDGET)
    problems.require(len(mechanisms) > 0, "mechanisms", "at least one", mechanisms)
    problems.raise_if_any()
    rows = []
    for epsilon in np.union1d(geometric(epsilons), np.asarray(also, dtype=float)):
        budget = {"epsilon": float(epsilon), "delta": delta, "sensitivity": sensitivity}
        for mechanism, method in mechanisms:
            found = calibrate(mechanism, method=UNRESTRICTED.get(method, method), **budget)
            if method in METHODS and not (found.attained and inside(found.noise, box)):
                least = least_in_box(mechanism, method=method, box=box, **budget)
                told = describe(least.noise) if least.noise else "none in the box"
                rows.append((epsilon, mechanism, method, least.variance, told, least.delta,
                             int(least.noise is not None)))  # fmt: skip
                continue
            told = describe(found.noise)
            rows.append((epsilon, mechanism, method, found.variance, told, found.delta,
                         int(found.attained)))  # fmt: skip
            if method == "exact" and not found.attained:
                rows.append((epsilon, mechanism, "infimum", found.infimum, "", np.nan, 0))
    columns = ["epsilon", "mechanism", "method", "variance", "noise", "delta_bound", "attained"]
    return pd.DataFrame(rows, columns=columns)


def variance_ratio(
    *, against: str, sensitivity: float, epsilons: Mapping[str, float], deltas: Mapping[str, float]
) -> pd.DataFrame:
    """Return the variance of flipped Huber noise over that of another mechanism (Figures 3b, 3c).

    Parameters
    ----------
    against : str
        Kebab name, in the paper 'laplace', which uses delta, or 'staircase', which does not.
    sensitivity : float
        Largest difference between neighbouring answers.
    epsilons, deltas : mapping
        {low, high, count}: geometric grids.

    Returns
    -------
    DataFrame
        Columns epsilon, delta, flipped_huber, one named after `against` (variances) and
        ratio_db. Where flipped Huber noise has no least variance, its infimum is used.

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("variance ratio")
    problems.number("sensitivity", sensitivity, **_BUDGET)
    require_grid(problems, "epsilons", epsilons)
    require_grid(problems, "deltas", deltas, high=1.0)
    problems.raise_if_any()
    rows = []
    for epsilon in geometric(epsilons):
        for delta in geometric(deltas):
            budget = {"epsilon": float(epsilon), "delta": float(delta), "sensitivity": sensitivity}
            ours = calibrate("flipped-huber", **budget).infimum
            theirs = calibrate(against, **budget).infimum
            rows.append((epsilon, delta, ours, theirs, 10.0 * math.log10(ours / theirs)))
    columns = ["epsilon", "delta", "flipped_huber", against.replace("-", "_"), "ratio_db"]
    return pd.DataFrame(rows, columns=columns)


def illustrative_values(
    *,
    delta: float,
    sensitivity: float,
    epsilons: Sequence[float],
    box: Sequence[Sequence[float]] | None = None,
    resolution: Sequence[int] | None = None,
) -> pd.DataFrame:
    """Return the best (alpha, gamma) at some epsilons (slides, 'illustrative values').

    Parameters
    ----------
    delta : float
        The budget's delta, positive.
    sensitivity : float
        Largest difference between neighbouring answers.
    epsilons : sequence of float
        One row each.
    box, resolution : sequence, optional
        The paper's grid, as `dpnoise.calibrate` takes it; its defaults if left out.

    Returns
    -------
    DataFrame
        Columns epsilon, alpha, gamma, variance_grid (the paper's grid search), alpha_exact,
        gamma_exact, variance_exact (the exact optimum) and delta_bound (the latter's).

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("illustrative values")
    problems.number("delta", delta, high=1.0, open_high=True, **_BUDGET)
    problems.number("sensitivity", sensitivity, **_BUDGET)
    for place, value in enumerate(epsilons):
        problems.number(f"epsilons[{place}]", value, **_BUDGET)
    problems.raise_if_any()
    rows = []
    for epsilon in epsilons:
        budget = {"epsilon": epsilon, "delta": delta, "sensitivity": sensitivity}
        grid = budget | {"method": "grid", "box": box, "resolution": resolution}
        row = {"epsilon": float(epsilon)}
        for method, ending, asked in (("grid", "", grid), ("exact", "_exact", budget)):
            found = calibrate("flipped-huber", **asked)
            row |= {f"alpha{ending}": found.noise.alpha, f"gamma{ending}": found.noise.gamma}
            row[f"variance_{method}"] = found.variance
        rows.append(row | {"delta_bound": found.delta})
    return pd.DataFrame(rows)
