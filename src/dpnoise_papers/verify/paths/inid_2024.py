"""Paths of inid-2024: errors of noise by coordinate, sampled steps, and neighbours of DP-PCA.

Noise by coordinate is a convex program, without the closed forms of the paper: minimise
sum cost(s_i) under sum loss(s_i) <= budget, with cost s^p and loss (lambda_i / s)^q (q = 2 for
Gaussian noise, 1 for Laplace noise). For each price of the loss every coordinate is minimised by
itself, by golden sections over its logarithm, and the price is a root. Coordinates that no
neighbour changes get no noise. Sampled steps and neighbours go by direct sums.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import fft, optimize, special

from dpnoise_papers.verify.oracles.densities import panels
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
_ORDERS = (*(k / 10 for k in range(20, 110)), *range(11, 65), 128, 256, 512, 1024)
_STEP = 2e-5  # of the lattice of losses of all steps
_WIDEST = 40.0  # loss of all steps
_PLD = 2e-4  # relative: the accountant of the table rounds losses up
_MULTIPLIER = (
    1e-4  # the accountant of the table is so much above the divergence at fractional orders
)
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


@cache
def _divergence(order: float, multiplier: float, rate: float) -> float:
    """Renyi divergence of a sampled Gaussian step, by quadrature, in the worse direction."""
    t, weights = panels(np.linspace(-12.0 * multiplier, order + 12.0 * multiplier + 1.0, 12))
    log_base = -0.5 * (t / multiplier) ** 2 - math.log(multiplier * math.sqrt(2.0 * math.pi))
    log_ratio = np.logaddexp(
        math.log1p(-rate), math.log(rate) + (2.0 * t - 1.0) / (2.0 * multiplier**2)
    )
    added = special.logsumexp(log_base + order * log_ratio, b=weights)
    return float(added) / (order - 1.0)


def renyi_epsilon(multiplier: float, delta: float, steps: int, rate: float) -> float:
    """Epsilon of all steps by Renyi divergences (Canonne, Kamath & Steinke 2020)."""
    found = [
        steps * _divergence(a, multiplier, rate)
        + math.log1p(-1.0 / a)
        - (math.log(delta) + math.log(a)) / (a - 1.0)
        for a in _ORDERS
    ]
    return min(found)


@cache
def renyi_multiplier(epsilon: float, delta: float, steps: int, rate: float) -> float:
    """Noise multiplier that spends epsilon by Renyi divergences."""
    found = optimize.brentq(
        lambda x: renyi_epsilon(math.exp(x), delta, steps, rate) - epsilon, -1.0, 3.0, xtol=1e-10
    )
    return math.exp(found)


def composed_epsilon(
    multiplier: float, delta: float, steps: int, rate: float, *, replaced: bool
) -> float:
    """Epsilon of all steps from the distribution of the sum of their losses, by FFT.

    A record that is sampled moves the answer by 1; where it is replaced, from -1 to 1. Both
    directions count. Losses go to two points of the lattice each, so that their mean is kept.
    """
    t, weights = panels(np.linspace(-12.0 * multiplier - 1.0, 12.0 * multiplier + 1.0, 400))

    def mixed(shift: float) -> np.ndarray:
        base = np.exp(-0.5 * (t / multiplier) ** 2)
        moved = np.exp(-0.5 * ((t - shift) / multiplier) ** 2)
        return ((1.0 - rate) * base + rate * moved) / (multiplier * math.sqrt(2.0 * math.pi))

    pair = (mixed(1.0), mixed(-1.0)) if replaced else (mixed(1.0), mixed(0.0))
    size = fft.next_fast_len(int(2.0 * _WIDEST / _STEP), real=True)
    found = []
    for p, q in (pair,) if replaced else (pair, pair[::-1]):
        loss = np.log(p) - np.log(q)
        place = np.floor(loss / _STEP)
        share = loss / _STEP - place
        mass = np.zeros(size)
        for offset, part in ((0, 1.0 - share), (1, share)):
            mass += np.bincount(
                (place + offset).astype(int) % size, weights * p * part, minlength=size
            )
        total = fft.irfft(fft.rfft(mass) ** steps, size)
        at = np.arange(size, dtype=float)
        at = np.where(at > size // 2, at - size, at) * _STEP

        def excess(epsilon: float, total: np.ndarray = total, at: np.ndarray = at) -> float:
            above = at > epsilon
            return float(-np.expm1(epsilon - at[above]) @ total[above]) - delta

        found.append(float(optimize.brentq(excess, 0.0, 0.9 * _WIDEST, xtol=1e-9)))
    return max(found)


def _account(*, replaced: bool) -> Path:
    """Path of an epsilon by composed losses."""

    def compute(row: Row) -> Answer:
        place = row.number("multiplier"), row.number("delta"), int(row["steps"]), row.number("rate")
        return Answer(composed_epsilon(*place, replaced=replaced), rtol=_PLD)

    return Path(compute, "FFT of the losses of a sampled step")


def pure_step(epsilon: float, steps: int, rate: float) -> float:
    """Loss of a step without sampling that spends epsilon with delta = 0, by a root search."""

    def spent(loss: float) -> float:
        # the largest log ratio of (1 - q) g(t) + q g(t - 1) to g(t), at t beyond 1
        return steps * math.log((1.0 - rate) + rate * math.exp(loss)) - epsilon

    return float(optimize.brentq(spent, 1e-12, 50.0, xtol=1e-15, rtol=1e-14))


def _sizes(settings: object) -> np.ndarray:
    """Parameters of each layer."""
    layers = settings.layers  # type: ignore[attr-defined]
    return np.concatenate([np.full(int(times), float(size)) for times, size in layers])


def _noise_over_most(row: Row) -> Answer:
    """Root mean square l2 norm of the noise of a batch over the largest clipped gradient."""
    settings = row.settings[0]
    steps, rate = int(settings.steps), float(settings.rate)
    sizes, batch = _sizes(settings), rate * settings.samples
    if row["noise"] == "laplace":
        budget, variance, loss = pure_step(row.number("epsilon"), steps, rate), 2.0, 1.0
        share = 1.0 / len(sizes)
    else:
        place = row.number("epsilon"), row.number("delta"), steps, rate
        budget, variance, loss = renyi_multiplier(*place) ** -2.0, 1.0, 2.0
        share = len(sizes) ** -0.5
    if row["scheme"] == "iid":
        total = float(sizes.sum()) * budget ** (-2.0 / loss)
    elif row["scheme"] == "optimal":  # a layer's scale s counts once for each of its parameters
        total = minimum_cost(share * np.sqrt(sizes), power=2.0, loss=loss, budget=budget)
    else:
        raise NoPathError("another scheme")
    return Answer(math.sqrt(variance * total) / batch, rtol=_MULTIPLIER)


def _printed_accuracy(row: Row) -> Answer:
    """Accuracy as the table of printed numbers has it."""
    scheme = "spr" if row["scheme"] == "spr-group" else row["scheme"]
    wanted = row["noise"], row.number("delta"), row.number("epsilon"), scheme
    for select, printed in row.given.items():
        told = dict(part.split("=") for part in select.split(";") if part.count("=") == 1)
        if set(told) == {"noise", "delta", "epsilon", "scheme"}:
            place = told["noise"], float(told["delta"]), float(told["epsilon"]), told["scheme"]
            if place == wanted:
                return Answer(float(printed))
    return Answer(math.nan)


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
    "inid-2024/table-4-accounting.csv": {
        "epsilon_pld": _account(replaced=False),
        "epsilon_replace_one": _account(replaced=True),
        "epsilon_upper": _account(replaced=False),
        "epsilon_replace_one_lower": _account(replaced=True),
    },
    "inid-2024/table-4.csv": {
        "noise_over_most": Path(_noise_over_most, "divergences by quadrature, a root search"),
        "printed_accuracy": Path(_printed_accuracy, "the printed numbers"),
    },
    "inid-2024/table-3.csv": {"epsilon_add_remove": Path(_kept, "Arb, and a sum for Laplace")},
}
