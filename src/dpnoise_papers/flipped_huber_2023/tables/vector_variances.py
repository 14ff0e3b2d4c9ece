"""Minimum variance of each mechanism in K dimensions (flipped-huber-2023, Section V-B).

Figure 4 (K = 3 and 5), Table II (K = 20) and the slides' K-dimensional curves are one
experiment: independent noise per coordinate, neighbouring answers differ by at most
`sensitivity` = 1 in each, so that Delta_2 = sqrt K and Delta_1 = K. The paper has the grid
search and the sufficient condition of Theorem 8 for flipped Huber noise; the minimum
through the two-sided K-fold profile is what it leaves out (for flipped Huber noise proved to be one
to 0.1 %, docs/variance-bound.md; for the others best found). Inside the box that the paper
searches both come out larger.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise.calibration.calibrate import calibrate
from dpnoise.noise import FlippedHuber
from dpnoise_papers.flipped_huber_2023.tables.minimum_variances import (
    UNRESTRICTED,
    minimum_variances,
)
from dpnoise_papers.progress import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpnoise_papers.flipped_huber_2023.settings import Gain, VectorVariances

COLUMNS = [
    "dimension", "delta", "epsilon", "mechanism", "method", "variance", "gain_db", "noise",
    "delta_bound", "attained",
]  # fmt: skip
_BUDGET = ["dimension", "delta", "epsilon"]


def vector_variances(settings: VectorVariances) -> pd.DataFrame:
    """Minimum variance per coordinate for each mechanism and budget.

    Columns dimension, delta, epsilon, mechanism, method, variance, gain_db (decibels below the
    exact Gaussian's variance), noise, delta_bound (certified) and attained. Where the minimum is a
    limit that no member of the family attains, a second row of method 'infimum' has it, without
    noise. Where no noise of the box is private, its variance is NaN. `searched` is the variance
    again, with searched_least and searched_greatest: the range over both search spaces, all
    parameters and the paper's box (which the paper states for one dimension only), where both are
    asked for.
    """
    budgets = list(product(settings.dimensions, settings.deltas, settings.epsilons))
    rows = [row for budget in counted(budgets, "budgets") for row in _rows(settings, *budget)]
    return _over_search_spaces(pd.DataFrame(rows, columns=COLUMNS))


def _over_search_spaces(table: pd.DataFrame) -> pd.DataFrame:
    """Table with the range of the variance over the box and all parameters."""
    condition = table["method"].replace(UNRESTRICTED)
    same = table.groupby([*(table[name] for name in _BUDGET), table["mechanism"], condition])
    table["searched"] = table["variance"]
    table["searched_least"] = same["variance"].transform("min")
    table["searched_greatest"] = same["variance"].transform("max")
    return table


def _rows(
    settings: VectorVariances, dimension: int, delta: float, epsilon: float
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of one budget."""
    gaussian = calibrate("gaussian", epsilon=epsilon, delta=delta, dimension=dimension).variance
    for mechanism, method, variance, *told in minimum_variances(
        settings.mechanisms, settings.box, epsilon=epsilon, delta=delta, dimension=dimension
    ):
        gain = 10.0 * math.log10(gaussian / variance)
        yield dimension, delta, epsilon, mechanism, method, variance, gain, *told


def gain_by_dimension(settings: Gain) -> pd.DataFrame:
    """Gain of flipped Huber noise over the better of Gaussian and Laplace.

    Columns dimension, epsilon, delta, flipped_huber, gaussian, laplace (variances), gain_db
    (decibels below the better of the two), better (which), laplace_share (the probability of the
    Laplace centre), alpha, gamma (of the noise, sensitivity 1), attained, and two columns for what
    Section VI-C says of many compositions: alpha_step (alpha less that of the next smaller
    dimension and the same budget; NaN for the smallest) and laplace_by_information (the Laplace
    variance over that of the Laplace noise with the Fisher information of the Gaussian noise, which
    is twice the Gaussian's: the limit that the central limit theorem gives).
    """
    rows = []
    cases = list(product(settings.budgets, settings.dimensions))
    for (epsilon, delta), dimension in counted(cases, "calibrations"):
        found, gaussian, laplace = (
            calibrate(name, epsilon=epsilon, delta=delta, dimension=dimension)
            for name in ("flipped-huber", "gaussian", "laplace")
        )
        variance = found.variance if found.attained else found.infimum
        both = {"gaussian": gaussian.variance, "laplace": laplace.variance}
        better = min(both, key=both.__getitem__)
        share = found.noise.centre_mass() if isinstance(found.noise, FlippedHuber) else np.nan
        gain = 10.0 * math.log10(both[better] / variance)
        shape = [getattr(found.noise, name, np.nan) for name in ("alpha", "gamma")]
        rows.append((dimension, epsilon, delta, variance, *both.values(), gain, better, share,
                     *shape, int(found.attained)))  # fmt: skip
    columns = ["dimension", "epsilon", "delta", "flipped_huber", "gaussian", "laplace", "gain_db",
               "better", "laplace_share", "alpha", "gamma", "attained"]  # fmt: skip
    return with_limits(pd.DataFrame(rows, columns=columns))


def with_limits(table: pd.DataFrame) -> pd.DataFrame:
    """The same rows with the columns alpha_step and laplace_by_information."""
    ordered = table.sort_values("dimension", kind="stable")
    steps = ordered.groupby(["epsilon", "delta"])["alpha"].diff()
    share = table["laplace"] / (2.0 * table["gaussian"])
    return table.assign(alpha_step=steps, laplace_by_information=share)
