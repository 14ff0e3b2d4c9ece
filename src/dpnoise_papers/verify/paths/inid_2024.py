"""Paths of inid-2024: errors of noise by coordinate, and neighbours of DP-PCA.

Noise by coordinate is a convex program, without the closed forms of the paper: minimise
sum cost(s_i) under sum loss(s_i) <= budget, with cost s^p and loss (lambda_i / s)^q (q = 2 for
Gaussian noise, 1 for Laplace noise). For each price of the loss every coordinate is minimised by
itself, by golden sections over its logarithm, and the price is a root. Coordinates that no
neighbour changes get no noise. Neighbours go by direct sums.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize

from dpnoise_papers.verify.oracles.gaussian import gaussian_epsilon_at, gaussian_sigma
from dpnoise_papers.verify.paths.common import Answer, Path, Paths, Row, decibels, minimum_moment

if TYPE_CHECKING:
    from dpnoise._types import Array

_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
_SECTIONS = 70
_BROAD = 40.0  # logarithm of a scale, to both sides


def sensitivities(name: str, dimension: int) -> Array:
    """Sensitivities of a profile, largest 1."""
    i = np.arange(1.0, dimension + 1.0)
    found: dict[str, Array] = {
        "uniform": np.ones(dimension),
        "linear": i / dimension,
        "quadratic": (i / dimension) ** 2,
        "exponential": np.exp(i - dimension),
        "one-hot": np.where(i == dimension, 1.0, 0.0),
    }
    return found[name]


@cache
def squared_error(
    noise: str, scheme: str, query: tuple[str, int, int | None], budget: tuple[float, float]
) -> float:
    """Mean squared error of noise by a scheme, for a query (profile, dimension, norm)."""
    (name, dimension, norm), (epsilon, delta) = query, budget
    size = sensitivities(name, dimension)
    if norm is not None:
        size = size / float(np.sum(size**norm)) ** (1.0 / norm)
    if noise == "gaussian":
        limit, power, variance = gaussian_sigma(epsilon, delta) ** -2.0, 2.0, 1.0
    else:
        limit, power, variance = epsilon, 1.0, 2.0
    if scheme == "optimal":
        return variance * minimum_cost(size, power=2.0, loss=power, budget=limit)
    if scheme == "iid":  # one scale s with sum (lambda / s)^power = budget
        return variance * dimension * (float(np.sum(size**power)) / limit) ** (2.0 / power)
    # the same share of the budget for each: scales proportional to lambda
    return variance * (dimension / limit) ** (2.0 / power) * float(np.sum(size**2))


def _error(row: Row, scheme: str = "") -> float:
    """Mean squared error of a row, or of another scheme at its place."""
    query = row.profile, int(row.dimension), int(row.settings.norm)
    return squared_error(row.noise, scheme or row.scheme, query, (row.epsilon, row.delta))


def _gini(row: Row) -> float:
    """Gini coefficient from all pairs."""
    size = sensitivities(row.profile, int(row.dimension))
    pairs = np.abs(size[:, None] - size[None, :])
    return float(pairs.sum() / (2.0 * size.size * size.sum()))


def _laplace_over_gaussian(row: Row) -> Answer:
    """Error of optimal Laplace over that of optimal Gaussian noise, at the largest dimension."""
    place = (row.profile, row.settings.largest_dimension, None), (row.epsilon, row.delta)
    both = [squared_error(noise, "optimal", *place) for noise in ("laplace", "gaussian")]
    return decibels(both[0] / both[1])


def _over_claim(power: float) -> Path:
    """Path of the error of optimal over that of i.i.d. noise, over nu^2, at any budget."""

    def compute(row: Row) -> float:
        count, share = int(row.dimension), row.share
        first = np.arange(count)
        if row.profile == "block":
            size = np.where(first < max(1, round(share * count)), 1.0, 0.0)
        elif row.profile == "outlier":
            size = np.where(first < 1, 1.0, share)
        else:
            size = sensitivities(row.profile, count)
        best = minimum_cost(size, power=2.0, loss=power, budget=1.0)
        return best / (count * float(np.sum(size**power)) ** (2.0 / power)) / row.nu**2

    return compute


def _absolute_error(row: Row) -> float:
    """Mean l1 error of two coordinates, by the mechanisms that Table II prints."""
    lambdas = np.array(row.settings.sensitivities)
    total = float(lambdas.sum())
    if (
        row.mechanism == "staircase"
    ):  # the l1 norm of a point of the l1 ball of radius R is R itself
        return total * minimum_moment(row.epsilon, 1, ball=2)
    if row.mechanism == "laplace-optimal":
        return minimum_cost(lambdas, power=1.0, loss=1.0, budget=row.epsilon)
    return 2.0 * total / row.epsilon if row.mechanism == "laplace-iid" else math.nan


def _kept(row: Row) -> Answer:
    """Epsilon that stated i.n.i.d. Gaussian noise of DP-PCA keeps for a sample added, clipped."""
    features = 100
    entries = features * (features + 1) / 2.0
    ratios = (
        1.0 / math.sqrt(entries) / row.diagonal,
        1.0 / math.sqrt(2.0 * entries) / row.off_diagonal,
    )
    mu = math.sqrt(features * ratios[0] ** 2 + features * (features - 1) / 2.0 * ratios[1] ** 2)
    return Answer(gaussian_epsilon_at(mu, row.delta), rtol=1e-6)


def minimum_cost(sensitivities: Array, *, power: float, loss: float, budget: float) -> float:
    """Minimum of sum s_i^power under sum (lambda_i / s_i)^loss <= budget."""
    own, copies = np.unique(sensitivities[sensitivities > 0.0], return_counts=True)
    unit = float(own.max())
    scaled = own / unit
    limit = math.log(budget)

    @cache
    def at(log_price: float) -> tuple[float, float]:
        """Logarithm of the loss and the cost at a price of the loss."""

        def total(x: Array) -> Array:
            return np.exp(power * x) + np.exp(log_price + loss * (np.log(scaled) - x))

        x = _minimised(total, len(scaled))
        spent = float(copies @ (scaled * np.exp(-x)) ** loss)
        return math.log(spent) - limit, float(copies @ np.exp(power * x))

    root = optimize.brentq(lambda price: at(price)[0], -120.0, 120.0, xtol=1e-13, rtol=1e-14)
    return at(root)[1] * unit**power


def _minimised(function: object, count: int) -> Array:
    """Minimum of each of `count` convex functions of one variable, by golden sections."""
    low, high = np.full(count, -2.0 * _BROAD), np.full(count, 2.0 * _BROAD)
    # ends: golden sections to below rounding; a miss shows as a disagreement
    for _ in range(_SECTIONS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        down = function(left) < function(right)  # type: ignore[operator]
        low, high = np.where(down, low, left), np.where(down, right, high)
    return 0.5 * (low + high)


_CURVES: dict[str, Path] = {
    "mse": _error,
    "mse_db": lambda row: decibels(_error(row)),
    "gain": lambda row: _error(row, "iid") / _error(row),
    "gain_db": lambda row: decibels(_error(row, "iid") / _error(row)),
}
PATHS: Paths = {
    **{f"inid-2024/figure-{end}.csv": _CURVES for end in ("1a", "1b", "3a", "3b", "4")},
    "inid-2024/figure-2.csv": {"gini": _gini},
    "inid-2024/laplace-or-gaussian.csv": {"ratio_db": _laplace_over_gaussian},
    "inid-2024/theorem-7.csv": {
        "gaussian_over_claim": _over_claim(2.0),
        "laplace_over_claim": _over_claim(1.0),
    },
    "inid-2024/table-2.csv": {"mae": _absolute_error},
    "inid-2024/table-2-curves.csv": {"mae": _absolute_error},
    "inid-2024/table-3.csv": {"epsilon_add_remove": _kept},
}
