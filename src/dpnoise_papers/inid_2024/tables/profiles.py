"""Section V of inid-2024: mean squared errors for profiles of sensitivities.

Muthukrishnan & Kalyani (2024), Figures 1 to 4 and Section V: a query of K coordinates with
sensitivities lambda_i that are equal, grow like i, i^2 or e^i, or are all 0 but one, scaled to
||lambda||_2 = 1 or ||lambda||_1 = 1, and coordinates that may all change at once (so that Delta_p
is ||lambda||_p). Beyond the paper: the dimensions from which the Laplace mechanism loses to the
Gaussian, at any budget.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise.allocation.allocate import allocate
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise_papers.grids import values

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise_papers.inid_2024.settings import Dispersion, Errors, LaplaceOrGaussian

SCHEMES = ("iid", "spr", "optimal")
EDGES = ("uniform", "one-hot")  # the paper calls these edge cases, the others profiles
_VARIANCE = {"gaussian": 1.0, "laplace": 2.0}  # over the squared scale


def profile(name: str, dimension: int, norm: float | None = None) -> Array:
    """Sensitivities of one profile: i, i^2 and e^i for i = 1, ..., K in the paper.

    Increasing, with ||lambda||_p = 1 for p = `norm`, or a maximum of 1 where that is None;
    exponentials may underflow to 0 in dimensions above 700.
    """
    i = np.arange(1.0, dimension + 1.0)
    shapes = {
        "uniform": lambda: np.ones(dimension),
        "linear": lambda: i / dimension,
        "quadratic": lambda: (i / dimension) ** 2,
        "exponential": lambda: np.exp(i - dimension),
        "one-hot": lambda: (i == dimension).astype(float),
    }
    shape = shapes[name]()
    return shape if norm is None else shape / np.linalg.norm(shape, norm)


def decibels(ratio: float | Array) -> Array:
    """Ratio of variances in decibels, 10 log10 of it."""
    return 10.0 * np.log10(ratio)


def mean_squared_error(
    sensitivities: Array, noise: str, scheme: str, epsilon: float, delta: float
) -> float:
    """Mean squared l2 norm of the noise of one query.

    Identical noise goes to every coordinate, also to one that no neighbour changes. Laplace noise
    is epsilon-DP whatever delta is.
    """
    pure = noise == "laplace"
    scales = allocate(
        sensitivities, noise=noise, scheme=scheme, epsilon=epsilon, delta=0.0 if pure else delta
    )
    if scheme == "iid":
        return _VARIANCE[noise] * len(scales) * float(scales.max()) ** 2
    return _VARIANCE[noise] * float(scales @ scales)


def case(name: str) -> str:
    """Kind of a profile: 'edge' if the paper calls it an edge case, else 'profile'."""
    return "edge" if name in EDGES else "profile"


def error_curves(settings: Errors) -> pd.DataFrame:
    """Mean squared errors against epsilon and the dimension (Figures 1, 3 and 4).

    A one-hot profile has K coordinates, one of which is sensitive: noise on all of them for
    i.i.d. noise, on one for the others.

    Columns noise, scheme, profile, dimension, epsilon, delta (0 for pure noise), mse, mse_db
    (decibels), gain (the error of i.i.d. noise of the same kind over this one), gain_db, from_iid
    (how far mse is from the error of i.i.d. noise, relative to it) and case (as of `case`).
    """
    delta = settings.delta or 0.0
    rows = []
    for noise, scheme in settings.mechanisms:
        for name in settings.profiles:
            for dimension in settings.dimensions:
                sensitivities = profile(name, dimension, settings.norm)
                for epsilon in values(settings.epsilons).tolist():
                    mse = mean_squared_error(sensitivities, noise, scheme, epsilon, delta)
                    gain = mean_squared_error(sensitivities, noise, "iid", epsilon, delta) / mse
                    shown = delta if noise == "gaussian" else 0.0
                    rows.append((noise, scheme, name, dimension, epsilon, shown, mse, gain))
    columns = ["noise", "scheme", "profile", "dimension", "epsilon", "delta", "mse", "gain"]
    table = pd.DataFrame(rows, columns=columns)
    table.insert(7, "mse_db", decibels(table["mse"].to_numpy()))
    gains = table["gain"].to_numpy()
    return table.assign(
        gain_db=decibels(gains),
        from_iid=np.abs(1.0 / gains - 1.0),
        case=table["profile"].map(case),
    )


def gini(sensitivities: Array) -> float:
    """Gini coefficient, sum_ij |lambda_i - lambda_j| / (2 K ||lambda||_1)."""
    ordered = np.sort(sensitivities)
    count = len(ordered)
    weights = 2.0 * np.arange(1, count + 1) - count - 1.0
    return float(weights @ ordered / (count * ordered.sum()))


def dispersion(settings: Dispersion) -> pd.DataFrame:
    """Dispersion of the sensitivities of each profile (Figure 2).

    Columns profile, dimension, gini, and nu (the mean sensitivity over the largest, the measure of
    Theorem 7).
    """
    rows = []
    for name in settings.profiles:
        for dimension in settings.dimensions:
            sensitivities = profile(name, dimension)
            rows.append((name, dimension, gini(sensitivities), sensitivities.mean()))
    return pd.DataFrame(rows, columns=["profile", "dimension", "gini", "nu"])


def laplace_against_gaussian(settings: LaplaceOrGaussian) -> pd.DataFrame:
    """Dimension from which Laplace noise has the greater error.

    Columns profile, epsilon, delta, crossover (the least K at which the optimal Laplace noise has
    the greater mean squared error; NaN where there is none up to the largest dimension),
    ratio_db (its error over the Gaussian's at the largest dimension, in decibels) and case (as of
    `case`).
    """
    epsilon = values(settings.epsilons)
    rows = []
    for name in settings.profiles:
        shape = _laplace_over_gaussian(name, settings.largest_dimension)
        for delta in settings.deltas:
            unit = 2.0 / (epsilon * gaussian_sigma(epsilon, delta)) ** 2
            for e, factor in zip(epsilon, unit, strict=True):
                beyond = np.flatnonzero(shape * factor > 1.0)
                first = beyond[0] + 1.0 if beyond.size else math.nan
                rows.append((name, float(e), delta, first, decibels(shape[-1] * factor)))
    columns = ["profile", "epsilon", "delta", "crossover", "ratio_db"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(case=table["profile"].map(case))


def _laplace_over_gaussian(name: str, largest: int) -> Array:
    """(sum lambda^(2/3))^3 / (sum lambda)^2 for K = 1, ..., largest."""
    if name == "one-hot":
        return np.ones(largest)
    i = np.arange(1.0, largest + 1.0)
    # Every profile but the exponential is the start of one sequence; that one is its end.
    sequence = {
        "uniform": np.ones(largest),
        "linear": i,
        "quadratic": i * i,
        "exponential": np.exp(1.0 - i),
    }[name]
    return np.cumsum(np.cbrt(sequence) ** 2) ** 3 / np.cumsum(sequence) ** 2
