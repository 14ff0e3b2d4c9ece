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
from dpnoise_papers.verify.paths.common import (
    CLASS,
    Answer,
    NoPathError,
    Path,
    Paths,
    Row,
    box_error,
    minimum_moment,
    split_error,
)

if TYPE_CHECKING:
    from dpnoise._types import Array

_DECIBELS = 10.0 * 2.0 * CLASS / math.log(10.0)
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
    total = float(np.sum(size**power))
    if scheme == "optimal":
        return variance * minimum_cost(size, power=2.0, loss=power, budget=limit)
    if scheme == "iid":  # one scale s with sum (lambda / s)^power = budget
        return variance * dimension * (total / limit) ** (2.0 / power)
    # the same share of the budget for each: scales proportional to lambda
    return variance * (dimension / limit) ** (2.0 / power) * float(np.sum(size**2))


def _error(row: Row, scheme: str = "") -> float:
    """Mean squared error of a row, or of another scheme at its place."""
    norm = getattr(row.settings[0], "norm", None)
    query = row["profile"], int(row["dimension"]), None if norm is None else int(norm)
    budget = row.number("epsilon"), row.number("delta")
    return squared_error(row["noise"], scheme or row["scheme"], query, budget)


def _decibels(ratio: float) -> Answer:
    """Ratio of variances in decibels."""
    return Answer(10.0 * math.log10(ratio), atol=_DECIBELS)


def _gini(row: Row) -> float:
    """Gini coefficient from all pairs."""
    size = sensitivities(row["profile"], int(row["dimension"]))
    pairs = np.abs(size[:, None] - size[None, :])
    return float(pairs.sum() / (2.0 * size.size * size.sum()))


def _laplace_over_gaussian(row: Row, dimension: int) -> float:
    """Error of optimal Laplace over that of optimal Gaussian noise."""
    place = (row["profile"], dimension, None), (row.number("epsilon"), row.number("delta"))
    return squared_error("laplace", "optimal", *place) / squared_error(
        "gaussian", "optimal", *place
    )


def _ratio_db(row: Row) -> Answer:
    """Ratio at the largest dimension, in decibels."""
    return _decibels(_laplace_over_gaussian(row, row.settings[0].largest_dimension))


def _over_iid(row: Row, noise: str) -> float:
    """Error of optimal over that of i.i.d. noise, at any budget."""
    count, share = int(row["dimension"]), row.number("share")
    first = np.arange(count)
    if row["profile"] == "block":
        size = np.where(first < max(1, round(share * count)), 1.0, 0.0)
    elif row["profile"] == "outlier":
        size = np.where(first < 1, 1.0, share)
    else:
        size = sensitivities(row["profile"], count)
    power = 2.0 if noise == "gaussian" else 1.0
    best = minimum_cost(size, power=2.0, loss=power, budget=1.0)
    return best / (count * float(np.sum(size**power)) ** (2.0 / power))


def _over_claim(noise: str) -> Path:
    """Path of the ratio of errors over nu^2."""
    return Path(
        lambda row: _over_iid(row, noise) / row.number("nu") ** 2, "a convex program by search"
    )


def _absolute_error(row: Row) -> float:
    """Mean l1 error of two coordinates."""
    lambdas, epsilon = np.array(row.settings[0].sensitivities), row.number("epsilon")
    total, name = float(lambdas.sum()), row["mechanism"]
    found = {
        # the l1 norm of a point of the l1 ball of radius R is R itself
        "staircase": lambda: total * minimum_moment(epsilon, 1, ball=2),
        "laplace-iid": lambda: 2.0 * total / epsilon,
        "laplace-spr": lambda: 2.0 * total / epsilon,
        "laplace-optimal": lambda: minimum_cost(lambdas, power=1.0, loss=1.0, budget=epsilon),
        "box-staircase": lambda: box_error(lambdas, epsilon),
        "staircase-optimal": lambda: split_error(lambdas, epsilon),
        "lower-bound": lambda: total * minimum_moment(epsilon, 1),
        # uniform in a box of radius R with E R = 3 / epsilon
        "box-norm": lambda: 0.5 * total * 3.0 / epsilon,
    }
    if name not in found:
        raise NoPathError("another mechanism")
    return found[name]()


_CONVEX = "a convex program by search, Arb"
_CURVES = {
    "mse": Path(_error, _CONVEX),
    "mse_db": Path(lambda row: _decibels(_error(row)), _CONVEX),
    "gain": Path(lambda row: _error(row, "iid") / _error(row), _CONVEX),
    "gain_db": Path(lambda row: _decibels(_error(row, "iid") / _error(row)), _CONVEX),
}
_ABSOLUTE = {"mae": Path(_absolute_error, "sums over steps, searches over gamma and shares")}


def _kept(row: Row) -> Answer:
    """Epsilon that stated DP-PCA noise keeps for a sample added, entries clipped as printed.

    For i.i.d. Gaussian noise the l2 sensitivity of the upper triangle is 1.
    """
    features = 100
    entries = features * (features + 1) / 2.0
    on, off = row.number("diagonal"), row.number("off_diagonal")
    single = 1.0 / math.sqrt(entries), 1.0 / math.sqrt(2.0 * entries)
    counts = features, features * (features - 1) / 2.0
    if row["reading"] != "stated" or (row["noise"], row["scheme"]) == ("laplace", "iid"):
        raise NoPathError("another reading than the stated one")
    if row["noise"] == "laplace":
        scales = on / math.sqrt(2.0), off / math.sqrt(2.0)
        value = sum(n * one / b for n, one, b in zip(counts, single, scales, strict=True))
        return Answer(value, rtol=1e-6)
    if row["scheme"] == "iid":
        mu = 1.0 / on
    else:
        ratios = single[0] / on, single[1] / off
        mu = math.sqrt(sum(n * ratio**2 for n, ratio in zip(counts, ratios, strict=True)))
    return Answer(gaussian_epsilon_at(mu, row.number("delta")), rtol=1e-6)


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


PATHS: Paths = {
    **{
        f"inid-2024/{figure}.csv": _CURVES
        for figure in ("figure-1a", "figure-1b", "figure-3a", "figure-3b", "figure-4")
    },
    "inid-2024/figure-2.csv": {"gini": Path(_gini, "all pairs")},
    "inid-2024/laplace-or-gaussian.csv": {
        "ratio_db": Path(_ratio_db, _CONVEX),
    },
    "inid-2024/theorem-7.csv": {
        "gaussian_over_claim": _over_claim("gaussian"),
        "laplace_over_claim": _over_claim("laplace"),
    },
    "inid-2024/table-2.csv": _ABSOLUTE,
    "inid-2024/table-2-curves.csv": _ABSOLUTE,
    "inid-2024/table-3.csv": {"epsilon_add_remove": Path(_kept, "Arb, and a sum for Laplace")},
}
