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

from dpnoise._validation import Problems
from dpnoise.allocation.allocate import allocate
from dpnoise.calibration.gaussian import MINIMUM_DELTA, gaussian_sigma
from dpnoise_papers.grids import geometric, require_count, require_grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpnoise._types import Array

    Profiles = Sequence[str]

PROFILES = ("uniform", "linear", "quadratic", "exponential", "one-hot")
SCHEMES = ("iid", "spr", "optimal")
_VARIANCE = {"gaussian": 1.0, "laplace": 2.0}  # over the squared scale
_LARGEST = 10**6  # coordinates


def profile(name: str, dimension: int, norm: float | None = None) -> Array:
    """Return the sensitivities of one profile, shape (dimension,).

    Parameters
    ----------
    name : str
        One of `PROFILES`; i, i^2 and e^i for i = 1, ..., K in the paper.
    dimension : int
        The number K of coordinates, positive.
    norm : float, optional
        The p >= 1 for which ||lambda||_p is to be 1; otherwise the largest is.

    Returns
    -------
    numpy.ndarray
        Increasing; exponentials may underflow to 0 in dimensions above 700.
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
    """Return 10 log10 of a ratio of variances."""
    return 10.0 * np.log10(ratio)


def _check_profiles(problems: Problems, profiles: Profiles) -> None:
    good = len(profiles) > 0 and all(name in PROFILES for name in profiles)
    problems.require(good, "profiles", f"some of {', '.join(PROFILES)}", profiles)


def _check_numbers(
    problems: Problems, name: str, values: Sequence[float], low: float, high: float, *, shut: bool
) -> None:
    problems.require(len(values) > 0, name, "at least one number", values)
    for place, value in enumerate(values):
        problems.number(
            f"{name}[{place}]", value, low=low, high=high, open_low=not shut, open_high=not shut
        )


def _check_dimensions(problems: Problems, dimensions: Sequence[int]) -> None:
    problems.require(len(dimensions) > 0, "dimensions", "at least one number", dimensions)
    for place, value in enumerate(dimensions):
        require_count(problems, f"dimensions[{place}]", value, 1)


def mean_squared_error(
    sensitivities: Array, noise: str, scheme: str, epsilon: float, delta: float
) -> float:
    """Return the expected squared l2 norm of the noise.

    Identical noise goes to every coordinate, also to one that no neighbour changes.
    """
    pure = noise == "laplace"
    scales = allocate(
        sensitivities, noise=noise, scheme=scheme, epsilon=epsilon, delta=0.0 if pure else delta
    )
    if scheme == "iid":
        return _VARIANCE[noise] * len(scales) * float(scales.max()) ** 2
    return _VARIANCE[noise] * float(scales @ scales)


def error_curves(
    *,
    mechanisms: Sequence[Sequence[str]],
    profiles: Profiles,
    dimensions: Sequence[int],
    epsilons: Sequence[float] | Mapping[str, float],
    delta: float,
    norm: int,
) -> pd.DataFrame:
    """Return mean squared errors (Figures 1, 3 and 4).

    Parameters
    ----------
    mechanisms : sequence of (noise, scheme)
        noise is 'gaussian' ((epsilon, delta)-DP) or 'laplace' (epsilon-DP), scheme one of
        `SCHEMES`.
    profiles : sequence of str
        Some of `PROFILES`. A one-hot profile has K coordinates, one of which is sensitive: noise
        on all of them for i.i.d. noise, on one for the others.
    dimensions : sequence of int
        Numbers K of coordinates, positive.
    epsilons : sequence of float or mapping
        Positive: a list or {low, high, count}, a geometric grid.
    delta : float
        In (0, 1).
    norm : int
        1 or 2: which norm of the profile is 1.

    Returns
    -------
    DataFrame
        Columns noise, scheme, profile, dimension, epsilon, delta (0 for pure noise), mse, mse_db
        (decibels), gain (the error of i.i.d. noise of the same kind over this one) and gain_db.

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("mean squared errors of sensitivity profiles")
    for place, mechanism in enumerate(mechanisms):
        good = len(mechanism) == 2 and mechanism[0] in _VARIANCE and mechanism[1] in SCHEMES
        expected = f"[noise, scheme] with {', '.join(_VARIANCE)} and {', '.join(SCHEMES)}"
        problems.require(good, f"mechanisms[{place}]", expected, mechanism)
    problems.require(len(mechanisms) > 0, "mechanisms", "at least one", mechanisms)
    _check_profiles(problems, profiles)
    _check_dimensions(problems, dimensions)
    if isinstance(epsilons, dict):
        require_grid(problems, "epsilons", epsilons)
    else:
        _check_numbers(problems, "epsilons", epsilons, 0.0, math.inf, shut=False)
    problems.number("delta", delta, low=MINIMUM_DELTA, high=1.0, open_high=True)
    problems.require(norm in (1, 2), "norm", "1 or 2", norm)
    problems.raise_if_any()
    budgets = geometric(epsilons) if isinstance(epsilons, dict) else epsilons
    rows = []
    for noise, scheme in mechanisms:
        for name in profiles:
            for dimension in dimensions:
                sensitivities = profile(name, dimension, norm)
                for epsilon in map(float, budgets):
                    budget = {"noise": noise, "epsilon": epsilon, "delta": delta}
                    mse = mean_squared_error(sensitivities, scheme=scheme, **budget)
                    gain = mean_squared_error(sensitivities, scheme="iid", **budget) / mse
                    shown = delta if noise == "gaussian" else 0.0
                    rows.append((noise, scheme, name, dimension, epsilon, shown, mse, gain))
    columns = ["noise", "scheme", "profile", "dimension", "epsilon", "delta", "mse", "gain"]
    table = pd.DataFrame(rows, columns=columns)
    table.insert(7, "mse_db", decibels(table["mse"]))
    return table.assign(gain_db=decibels(table["gain"]))


def gini(sensitivities: Array) -> float:
    """Return the Gini coefficient, sum_ij |lambda_i - lambda_j| / (2 K ||lambda||_1)."""
    ordered = np.sort(sensitivities)
    count = len(ordered)
    weights = 2.0 * np.arange(1, count + 1) - count - 1.0
    return float(weights @ ordered / (count * ordered.sum()))


def dispersion(*, profiles: Profiles, dimensions: Sequence[int]) -> pd.DataFrame:
    """Return how unequal the profiles are (Figure 2).

    Parameters
    ----------
    profiles : sequence of str
        Some of `PROFILES`.
    dimensions : sequence of int
        Numbers K of coordinates, positive.

    Returns
    -------
    DataFrame
        Columns profile, dimension, gini, and nu (the mean sensitivity over the largest, the
        measure of Theorem 7).

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("dispersion of sensitivity profiles")
    _check_profiles(problems, profiles)
    _check_dimensions(problems, dimensions)
    problems.raise_if_any()
    rows = []
    for name in profiles:
        for dimension in dimensions:
            sensitivities = profile(name, dimension)
            rows.append((name, dimension, gini(sensitivities), sensitivities.mean()))
    return pd.DataFrame(rows, columns=["profile", "dimension", "gini", "nu"])


def laplace_against_gaussian(
    *,
    profiles: Profiles,
    epsilons: Sequence[float] | Mapping[str, float],
    deltas: Sequence[float],
    most: int,
) -> pd.DataFrame:
    """Return from which dimension on Laplace noise has the greater error.

    Parameters
    ----------
    profiles : sequence of str
        Some of `PROFILES`.
    epsilons : sequence of float or mapping
        Positive: a list or {low, high, count}, a geometric grid.
    deltas : sequence of float
        In (0, 1), of the Gaussian; the Laplace mechanism is epsilon-DP.
    most : int
        The largest dimension to look at, at least 1.

    Returns
    -------
    DataFrame
        Columns profile, epsilon, delta, crossover (the least K at which the optimal Laplace noise
        has the greater mean squared error; NaN where there is none up to `most`) and ratio_db
        (its error over the Gaussian's at `most`, in decibels).

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("Laplace against Gaussian noise")
    _check_profiles(problems, profiles)
    if isinstance(epsilons, dict):
        require_grid(problems, "epsilons", epsilons)
    else:
        _check_numbers(problems, "epsilons", epsilons, 0.0, math.inf, shut=False)
    _check_numbers(problems, "deltas", deltas, 0.0, 1.0, shut=False)
    require_count(problems, "most", most, 1)
    problems.require(most <= _LARGEST, "most", f"at most {_LARGEST}", most)
    problems.raise_if_any()
    epsilon = np.asarray(geometric(epsilons) if isinstance(epsilons, dict) else epsilons, float)
    rows = []
    for name in profiles:
        shape = _laplace_over_gaussian(name, most)
        for delta in deltas:
            unit = 2.0 / (epsilon * gaussian_sigma(epsilon, delta)) ** 2
            for e, factor in zip(epsilon, unit, strict=True):
                beyond = np.flatnonzero(shape * factor > 1.0)
                first = beyond[0] + 1.0 if beyond.size else math.nan
                rows.append((name, float(e), delta, first, decibels(shape[-1] * factor)))
    columns = ["profile", "epsilon", "delta", "crossover", "ratio_db"]
    return pd.DataFrame(rows, columns=columns)


def _laplace_over_gaussian(name: str, most: int) -> Array:
    """Return (sum lambda^(2/3))^3 / (sum lambda)^2 for K = 1, ..., most."""
    if name == "one-hot":
        return np.ones(most)
    i = np.arange(1.0, most + 1.0)
    # Every profile but the exponential is the start of one sequence; that one is its end.
    sequence = {
        "uniform": np.ones(most),
        "linear": i,
        "quadratic": i * i,
        "exponential": np.exp(1.0 - i),
    }[name]
    return np.cumsum(np.cbrt(sequence) ** 2) ** 3 / np.cumsum(sequence) ** 2
