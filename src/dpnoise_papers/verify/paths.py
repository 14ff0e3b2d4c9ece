"""Independent paths by result table and column: each recomputes a cell of a printed claim.

One-dimensional noise goes by quadrature and a search, Gaussian noise by Arb, noise in K coordinates
by a lattice of losses.

Noise by coordinate (inid-2024) is a convex program, without the closed forms of the paper: minimise
sum cost(s_i) under sum loss(s_i) <= budget, with cost s^p and loss (lambda_i / s)^q (q = 2 for
Gaussian noise, 1 for Laplace noise). For each price of the loss every coordinate is minimised by
itself, by golden sections over its logarithm, and the price is a root. Coordinates that no
neighbour changes get no noise.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import optimize

from dpnoise_papers.verify.lattice import Problem, found, minimum_moment, minimum_variance
from dpnoise_papers.verify.oracles import densities
from dpnoise_papers.verify.oracles.densities import BOXED, SIMPLE, minimum
from dpnoise_papers.verify.oracles.gaussian import gaussian_sigma

if TYPE_CHECKING:
    from dpnoise._types import Array

# Another vector width of the processor changes cells by at most this (relative), but for a few that
# are found with less accuracy (docs/cluster.md).
CLASS = 8.4e-7
DIGITS = 1e-9  # tables carry ten


class Answer(NamedTuple):
    """Value of a cell by an independent path, and how exact that path is.

    A cell agrees within a relative `rtol` of the value, or an absolute `atol`.
    """

    value: float
    rtol: float = CLASS
    atol: float = 0.0

    def agrees(self, cell: float) -> bool:
        """Whether a cell of a table says the same."""
        allowed = max((self.rtol + DIGITS) * abs(self.value), self.atol)
        return cell == self.value or abs(cell - self.value) <= allowed


# Cells of a row of a result table by column, with the first section of its settings as `settings`;
# and what recomputes a column. A bare number is held to `CLASS`.
Row = SimpleNamespace
Path = Callable[[Row], Answer | float]
Paths = dict[str, dict[str, Path]]

_FLAT = 1e-5  # a minimum is flat: where it is, is known to the root of what it is
# The search behind a table ends so much above a minimum at a jump of the tail; and parameters in a
# box stand in tables with six digits, which at an edge of the box count for so much.
_WIDE = 2e-5
# The search of a box at a resolution of 1e-7, over alphas, ends within this of its minimum in K
# coordinates; and minima in narrow dips are found from shapes that stand in tables with six digits.
_BOX = 1e-5
_ROUNDED = 1e-4  # of a mass at parameters of six digits
_DB = 1e-4  # decibels: a factor over dimensions is known to 2e-6, by two accounts
_VALUE = re.compile(r"=([^,]+)")
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
_SECTIONS = 70
_BROAD = 40.0  # logarithm of a scale, to both sides


def decibels(ratio: float, atol: float = 20.0 * CLASS / math.log(10.0)) -> Answer:
    """Ratio of two variances in decibels; by default the class of both."""
    return Answer(10.0 * math.log10(ratio), atol=atol)


def _hint(row: Row) -> float | None:
    """Shape (alpha / gamma, theta / rho) of the noise that a row names."""
    told = [float(value) for value in _VALUE.findall(str(row.noise))]
    return told[0] / told[1] if row.mechanism in BOXED and len(told) == 2 and told[0] > 0 else None


def _variance(row: Row) -> Answer:
    """Minimum variance per coordinate of a mechanism for one budget."""
    settings, method = row.settings, "exact" if row.method == "infimum" else row.method
    box = settings.box if method.endswith("box") else None
    if not hasattr(row, "dimension"):
        budget = Problem(row.epsilon, settings.delta, settings.sensitivity)
        value = minimum_variance(row.mechanism, method, budget, box, _hint(row))
        return Answer(value, rtol=_WIDE if box else CLASS)
    budget = Problem(row.epsilon, row.delta, 1.0, int(row.dimension))
    value = minimum_variance(row.mechanism, method, budget, box, _hint(row))
    # Where a limit is not attained, the noise that stands for it is a little above.
    near = not int(row.attained) and row.method != "infimum"
    return Answer(value, rtol=_BOX if box or near or row.mechanism not in SIMPLE else CLASS)


def _ratio(row: Row) -> Answer:
    """Minimum variances of flipped Huber noise and another mechanism, in decibels."""
    budget = Problem(row.epsilon, row.delta, row.settings.sensitivity)
    ours = minimum_variance("flipped-huber", "exact", budget)
    return decibels(ours / minimum_variance(row.settings.against, "exact", budget))


def _normalised_information(row: Row) -> float:
    """Variance times Fisher information."""
    ends = {"gaussian": densities.gaussian(1.0), "laplace": densities.laplace(1.0)}
    noise = ends.get(row.mechanism) or densities.flipped_huber(row.ratio, 1.0)
    return noise.variance * noise.fisher_information


def _noise(row: Row) -> densities.Density:
    """Flipped Huber noise of a row."""
    return densities.flipped_huber(row.alpha, row.gamma)


def _loss(row: Row) -> Answer:
    """Centred loss from the definition of the density."""
    # The difference of two exponents cancels where the loss is 0.
    return Answer(float(_noise(row).loss(row.t - 0.5 * row.d, row.d)), atol=1e-9)


def _bound(row: Row) -> Answer:
    """Smallest affine function of slope d / gamma^2 above the centred loss, by search."""
    noise, d, slope = _noise(row), row.d, row.d / row.gamma**2
    edge = row.alpha + d

    def below(t: float) -> float:
        return slope * t - float(noise.loss(t - 0.5 * d, d))

    grid = np.linspace(-edge, edge, 401)
    k = int(np.argmin([below(t) for t in grid]))
    ends = grid[max(k - 1, 0)], grid[min(k + 1, 400)]
    # ends: a recomputation: a minimum that is missed shows as a disagreement
    best = optimize.minimize_scalar(below, bounds=ends, method="bounded", options={"xatol": 1e-12})
    return Answer(slope * row.t - min(float(best.fun), below(0.5 * d)), atol=1e-9)


@cache
def _at_variance(family: str, scale: float, variance: float) -> densities.Density:
    """Noise of a scale whose variance, by quadrature, is the one asked for."""
    if family == "gaussian":
        return densities.gaussian(math.sqrt(variance))
    build = BOXED[family]
    shape = optimize.brentq(
        lambda x: build(x * scale, scale).variance - variance, 1e-9, 1e3, xtol=1e-15, rtol=1e-14
    )
    return build(shape * scale, scale)


def _delta(row: Row) -> float:
    """Privacy profile by quadrature."""
    noise = _at_variance(row.mechanism, row.settings.scale, row.settings.variance)
    return noise.delta(row.settings.sensitivity, row.epsilon)


def _identified(row: Row) -> Answer:
    """Probability of an answer that only one of two neighbours can give."""
    best = found("truncated-laplace", Problem(row.epsilon, row.delta))
    noise = densities.truncated_laplace(best.scale, best.shape * best.scale)
    return Answer(noise.tail(noise.bound - 1.0), rtol=_FLAT)


def _sufficient_over_exact(row: Row) -> Answer | float:
    """Minimum variance under P(loss >= epsilon) <= delta over that under the exact condition."""
    exact = minimum_variance(row.mechanism, "exact", Problem(row.epsilon, row.delta))
    if row.mechanism == "laplace":  # the limit at which the loss reaches epsilon
        return densities.laplace(1.0 / row.epsilon).variance / exact
    best = minimum(row.mechanism, lambda noise: noise.loss_tail(1.0, row.epsilon), row.delta)
    return Answer(best.variance / exact, rtol=_WIDE)


def _over_classical(row: Row) -> float:
    """Variance of the classical formula over the minimum variance, at any sensitivity."""
    classical = math.sqrt(2.0 * math.log(1.25 / row.delta)) / row.epsilon
    return (classical / gaussian_sigma(row.epsilon, row.delta)) ** 2


def _by_dimension(name: str) -> Path:
    """Path of a variance of the table on dimensions."""

    def compute(row: Row) -> Answer:
        budget = Problem(row.epsilon, row.delta, 1.0, int(row.dimension))
        shape = row.alpha / row.gamma if row.alpha > 0.0 else None
        value = minimum_variance(name, "exact", budget, None, shape)
        return Answer(value, rtol=CLASS if name in SIMPLE else _BOX)

    return compute


def _laplace_share(row: Row) -> Answer:
    """Mass of the Laplace centre at the row's alpha and gamma, by the integrals of (8)."""
    b = row.alpha / row.gamma
    centre = -math.expm1(-b * b) / b if b else 0.0
    rim = math.exp(-b * b / 2.0) * math.sqrt(math.pi / 2.0) * math.erfc(b / math.sqrt(2.0))
    return Answer(centre / (centre + rim), rtol=_ROUNDED, atol=1e-12)


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
    """Error of optimal pure Laplace over that of optimal Gaussian noise, in decibels."""
    stated = hasattr(row, "dimension")  # else it is the largest
    dimension = int(row.dimension if stated else row.settings.largest_dimension)
    place = (row.profile, dimension, None), (row.epsilon, row.delta)
    both = [squared_error(noise, "optimal", *place) for noise in ("laplace", "gaussian")]
    return decibels(both[0] / both[1], *([_DB] if stated else []))


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
    if row.mechanism == "staircase":
        # the l1 norm of a point of the l1 ball of radius R is R itself
        return total * minimum_moment(row.epsilon, 1, ball=2)
    if row.mechanism == "laplace-optimal":
        return minimum_cost(lambdas, power=1.0, loss=1.0, budget=row.epsilon)
    return 2.0 * total / row.epsilon if row.mechanism == "laplace-iid" else math.nan


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
_VARIANCES: dict[str, Path] = {"variance": _variance, "searched": _variance}
_IN_COORDINATES: Paths = {
    **{
        f"flipped-huber-2023/{name}.csv": _VARIANCES
        for name in ("figure-4a", "figure-4b", "table-2")
    },
    "flipped-huber-slides/curves-kd.csv": _VARIANCES,
    "flipped-huber-2023/gain.csv": {
        "flipped_huber": _by_dimension("flipped-huber"),
        "gaussian": _by_dimension("gaussian"),
        "laplace_share": _laplace_share,
        "laplace_pure": lambda row: 2.0 * (row.dimension / row.epsilon) ** 2,
    },
}
SLOW = frozenset(_IN_COORDINATES)  # seconds a cell
# By the result table, as in the claims, and its column.
PATHS: Paths = {
    "flipped-huber-2023/figure-2.csv": {"nfi": _normalised_information},
    "flipped-huber-2023/figure-3a.csv": {"variance": _variance},
    "flipped-huber-slides/variances.csv": {"variance": _variance},
    "flipped-huber-2023/figure-3b.csv": {"ratio_db": _ratio},
    "flipped-huber-2023/figure-3c.csv": {"ratio_db": _ratio},
    "flipped-huber-2023/figure-5.csv": {"loss": _loss, "bound": _bound},
    "flipped-huber-2023/figure-6.csv": {"delta": _delta},
    "flipped-huber-2023/identification.csv": {"probability": _identified},
    "flipped-huber-2023/remark-1.csv": {"ratio": _sufficient_over_exact},
    "balle-wang-2018/figure-1b.csv": {"gain": _over_classical},
    "balle-wang-2018/map-noise.csv": {"gain": _over_classical},
    **{f"inid-2024/figure-{end}.csv": _CURVES for end in ("1a", "1b", "3a", "3b", "4")},
    "inid-2024/figure-2.csv": {"gini": _gini},
    "inid-2024/laplace-or-gaussian.csv": {"ratio_db": _laplace_over_gaussian},
    "inid-2024/corollary-6.csv": {"over_gaussian_pure_db": _laplace_over_gaussian},
    "inid-2024/theorem-7.csv": {
        "gaussian_over_claim": _over_claim(2.0),
        "laplace_over_claim": _over_claim(1.0),
    },
    "inid-2024/table-2.csv": {"mae": _absolute_error},
    "inid-2024/table-2-curves.csv": {"mae": _absolute_error},
    **_IN_COORDINATES,
}
