"""Paths of errors of noise by coordinate: convex programs, and shells in two dimensions."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.verify import gaussian, stairs
from dpnoise_papers.verify.allocation import minimum_cost
from dpnoise_papers.verify.model import CLASS, Answer, NoPathError, Path, Paths, Row

if TYPE_CHECKING:
    from dpnoise._types import Array

_DECIBELS = 10.0 * 2.0 * CLASS / math.log(10.0)


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
        limit, power, variance = gaussian.sigma(epsilon, delta) ** -2.0, 2.0, 1.0
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


def _crossover(row: Row) -> Answer:
    """The dimension of a row, if Laplace noise is worse there and at none below."""
    first = row.number("crossover")
    if math.isnan(first):
        return Answer(math.nan)
    worse = [_laplace_over_gaussian(row, k) > 1.0 for k in range(1, min(int(first), 400) + 1)]
    return Answer(first if worse[-1] and not any(worse[:-1]) else math.nan)


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
        "staircase": lambda: total * stairs.minimum_moment(epsilon, 1, ball=2),
        "laplace-iid": lambda: 2.0 * total / epsilon,
        "laplace-spr": lambda: 2.0 * total / epsilon,
        "laplace-optimal": lambda: minimum_cost(lambdas, power=1.0, loss=1.0, budget=epsilon),
        "box-staircase": lambda: stairs.box_error(lambdas, epsilon),
        "staircase-optimal": lambda: stairs.split_error(lambdas, epsilon),
        "lower-bound": lambda: total * stairs.minimum_moment(epsilon, 1),
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
PATHS: Paths = {
    **{
        f"inid-2024/{figure}.csv": _CURVES
        for figure in ("figure-1a", "figure-1b", "figure-3a", "figure-3b", "figure-4")
    },
    "inid-2024/figure-2.csv": {"gini": Path(_gini, "all pairs")},
    "inid-2024/laplace-or-gaussian.csv": {
        "crossover": Path(_crossover, _CONVEX),
        "ratio_db": Path(_ratio_db, _CONVEX),
    },
    "inid-2024/theorem-7.csv": {
        "gaussian_over_claim": _over_claim("gaussian"),
        "laplace_over_claim": _over_claim("laplace"),
        "gaussian": Path(lambda row: _over_iid(row, "gaussian"), "a convex program by search"),
        "laplace": Path(lambda row: _over_iid(row, "laplace"), "a convex program by search"),
    },
    "inid-2024/table-2.csv": _ABSOLUTE,
    "inid-2024/table-2-curves.csv": _ABSOLUTE,
}
