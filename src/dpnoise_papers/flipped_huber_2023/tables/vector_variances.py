"""The least variance of each mechanism in K dimensions (flipped-huber-2023, Section V-B).

Figure 4 (K = 3 and 5), Table II (K = 20) and the slides' K-dimensional curves are one
experiment: independent noise per coordinate, neighbouring answers differ by at most
`sensitivity` = 1 in each, so that Delta_2 = sqrt K and Delta_1 = K. The paper has the grid
search and the sufficient condition of Theorem 8 for flipped Huber noise; the exact optimum
through the two-sided K-fold profile is what it leaves out. Inside the box that the paper
searches both come out larger.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise._validation import Problems
from dpnoise.calibration.calibrate import calibrate
from dpnoise.noise import FlippedHuber
from dpnoise_papers.flipped_huber_2023.tables.search_box import (
    METHODS,
    UNRESTRICTED,
    inside,
    least_in_box,
)
from dpnoise_papers.grids import describe, require_count

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMNS = (
    "dimension", "delta", "epsilon", "mechanism", "method", "variance", "gain_db", "noise",
    "delta_bound", "attained",
)  # fmt: skip
_BUDGET = ["dimension", "delta", "epsilon"]


def vector_variances(
    *,
    dimensions: Sequence[int],
    deltas: Sequence[float],
    epsilons: Sequence[float],
    mechanisms: Sequence[Sequence[str]],
) -> pd.DataFrame:
    """Return the least variance per coordinate for each mechanism and budget.

    Parameters
    ----------
    dimensions, deltas, epsilons : sequence
        All combinations are computed.
    mechanisms : sequence of (mechanism, method)
        Families by their kebab names with a method of `dpnoise.calibrate` or, for the paper's
        box, of `dpnoise_papers.flipped_huber_2023.tables.search_box`; ("laplace", "pure") is (epsilon, 0)-DP Laplace
        noise.

    Returns
    -------
    DataFrame
        Columns dimension, delta, epsilon, mechanism, method, variance, gain_db (decibels below
        the exact Gaussian's variance), noise, delta_bound (certified) and attained. Where the least
        variance is a limit that no member of the family attains, a second row of method
        'infimum' has it, without noise. Where no noise of the box is private, its variance is
        NaN. `searched` is the variance again, with searched_least and searched_greatest: the
        range over both search spaces, all parameters and the paper's box (which the paper
        states for one dimension only), where both are asked for.

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("variances in K dimensions")
    for name, values in (("deltas", deltas), ("epsilons", epsilons)):
        for place, value in enumerate(values):
            problems.number(f"{name}[{place}]", value, low=0.0, open_low=True)
    for place, value in enumerate(dimensions):
        require_count(problems, f"dimensions[{place}]", value, 1)
    problems.raise_if_any()
    rows = [
        row
        for dimension in dimensions
        for delta in deltas
        for epsilon in epsilons
        for row in _rows(dimension, delta, epsilon, mechanisms)
    ]
    return _over_search_spaces(pd.DataFrame(rows, columns=COLUMNS))


def _over_search_spaces(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the range of the variance over the box and all parameters."""
    condition = table["method"].replace(UNRESTRICTED)
    same = table.groupby([*(table[name] for name in _BUDGET), table["mechanism"], condition])
    table["searched"] = table["variance"]
    for end, reduce in (("least", "min"), ("greatest", "max")):
        table[f"searched_{end}"] = same["variance"].transform(reduce)
    return table


def _rows(
    dimension: int, delta: float, epsilon: float, mechanisms: Sequence[Sequence[str]]
) -> list[tuple]:
    budget = {"epsilon": epsilon, "delta": delta, "dimension": dimension}
    gaussian = calibrate("gaussian", **budget).variance
    calibrated = cache(lambda *which: calibrate(which[0], **budget, method=which[1]))
    rows = []
    for mechanism, method in mechanisms:
        if method == "pure":
            found = calibrate(mechanism, **(budget | {"delta": 0.0}))
        else:
            found = calibrated(mechanism, UNRESTRICTED.get(method, method))
        least = [(method, found.variance, describe(found.noise), found.delta, int(found.attained))]
        if method in METHODS and not (found.attained and inside(found.noise)):
            boxed = least_in_box(mechanism, method=method, **budget)
            told = describe(boxed.noise) if boxed.noise else "none in the box"
            least = [(method, boxed.variance, told, boxed.delta, int(boxed.noise is not None))]
        elif method == "exact" and not found.attained:
            least.append(("infimum", found.infimum, "", np.nan, 0))
        for how, variance, *told in least:
            gain = 10.0 * math.log10(gaussian / variance)
            rows.append((dimension, delta, epsilon, mechanism, how, variance, gain, *told))
    return rows


def gain_by_dimension(
    *, dimensions: Sequence[int], budgets: Sequence[Sequence[float]]
) -> pd.DataFrame:
    """Return what flipped Huber noise gains over the better of Gaussian and Laplace.

    Parameters
    ----------
    dimensions : sequence of int
        The numbers of coordinates K.
    budgets : sequence of (epsilon, delta)
        One curve each.

    Returns
    -------
    DataFrame
        Columns dimension, epsilon, delta, flipped_huber, gaussian, laplace (variances),
        gain_db (decibels below the better of the two), better (which), laplace_share (the
        probability of the Laplace centre), alpha, gamma (of the noise, sensitivity 1) and
        attained.
    """
    rows = []
    for epsilon, delta in budgets:
        for dimension in dimensions:
            budget = {"epsilon": epsilon, "delta": delta, "dimension": int(dimension)}
            found = calibrate("flipped-huber", **budget)
            both = {name: calibrate(name, **budget).variance for name in ("gaussian", "laplace")}
            variance = found.variance if found.attained else found.infimum
            better = min(both, key=both.get)
            share = found.noise.centre_mass() if isinstance(found.noise, FlippedHuber) else np.nan
            gain = 10.0 * math.log10(both[better] / variance)
            shape = [getattr(found.noise, name, np.nan) for name in ("alpha", "gamma")]
            rows.append((int(dimension), epsilon, delta, variance, both["gaussian"],
                         both["laplace"], gain, better, share, *shape,
                         int(found.attained)))  # fmt: skip
    columns = ["dimension", "epsilon", "delta", "flipped_huber", "gaussian", "laplace", "gain_db",
               "better", "laplace_share", "alpha", "gamma", "attained"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)
