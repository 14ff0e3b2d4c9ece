"""Paths of one-dimensional noise: densities, losses, profiles and minimum variances.

Gaussian noise goes by Arb (balle-wang-2018, and the calibrations of the other papers), the five
cases of Table I of flipped-huber-2023 by quadrature and a search.
"""

from __future__ import annotations

import math
from functools import cache

import mpmath as mp
import numpy as np
from scipy import optimize, special

from dpnoise_papers.grids import values
from dpnoise_papers.verify.oracles import densities
from dpnoise_papers.verify.oracles.gaussian import gaussian_sigma
from dpnoise_papers.verify.oracles.minima import minimum
from dpnoise_papers.verify.oracles.printed import table_1_delta
from dpnoise_papers.verify.paths.common import (
    Answer,
    Path,
    Paths,
    Problem,
    Row,
    found,
    hint,
    minimum_variance,
)

_FLAT = 1e-5  # a minimum is flat: where it is, is known to the root of what it is
# The search behind a table ends so much above a minimum at a jump of the tail; and parameters in a
# box stand in tables with six digits, which at an edge of the box count for so much.
_WIDE = 2e-5
_DIGITS = 400
_ERROR = 1e-9  # errors below it are rounding
_TABLE = "flipped-huber-2023/table-1.csv"
_NEAR = 1e-9  # a border between two cases, met to rounding


def _variance(row: Row) -> Answer:
    """Minimum variance of a mechanism for one budget."""
    settings = row.settings[0]
    method = "exact" if row["method"] == "infimum" else row["method"]
    place = row.number("epsilon"), settings.delta, settings.sensitivity
    box = settings.box if method == "box" else None
    value = minimum_variance(row["mechanism"], method, Problem(*place), box, hint(row))
    return Answer(value, rtol=_WIDE) if box else Answer(value)


def _gain_step(other: str) -> Path:
    """Path of the gain over another mechanism less that at the next smaller epsilon."""

    def gain(row: Row, epsilon: float) -> float:
        settings = row.settings[0]
        box = settings.box if row["method"] == "box" else None
        place = Problem(epsilon, settings.delta, settings.sensitivity)
        own = minimum_variance("flipped-huber", row["method"], place, box)
        if other == "gaussian":
            return minimum_variance(other, "exact", place) / own
        return minimum_variance(other, row["method"], place, box) / own

    def compute(row: Row) -> Answer:
        settings = row.settings[0]
        grid = np.union1d(values(settings.epsilons), settings.also)
        here = max(int(np.argmin(np.abs(grid - row.number("epsilon")))), 1)
        low, high = (gain(row, float(epsilon)) for epsilon in grid[here - 1 : here + 1])
        return Answer(high - low, atol=2.0 * _WIDE * (high + low))

    return Path(compute, _SEARCH)


def _ratio(row: Row) -> Answer:
    """Minimum variances of flipped Huber noise and another mechanism, in decibels."""
    settings = row.settings[0]
    place = row.number("epsilon"), row.number("delta"), settings.sensitivity
    ours, theirs = (
        minimum_variance(name, "exact", Problem(*place))
        for name in ("flipped-huber", settings.against)
    )
    # a difference of logarithms: the class of both variances, in decibels
    return Answer(10.0 * math.log10(ours / theirs), atol=10.0 * 2.0 * 8.4e-7 / math.log(10.0))


def _flipped(row: Row) -> densities.Density:
    """Flipped Huber density with gamma = 1."""
    return densities.flipped_huber(row.number("ratio"), 1.0)


def _normalised_information(row: Row) -> float:
    """Variance times Fisher information."""
    ends = {"gaussian": densities.gaussian(1.0), "laplace": densities.laplace(1.0)}
    noise = ends[row["mechanism"]] if row["mechanism"] in ends else _flipped(row)
    return noise.variance * noise.fisher_information


def _loss(row: Row) -> Answer:
    """Centred loss from the definition of the density."""
    noise = densities.flipped_huber(row.number("alpha"), row.number("gamma"))
    t, d = row.number("t"), row.number("d")
    # The difference of two exponents cancels where the loss is 0.
    return Answer(float(noise.loss(t - 0.5 * d, d)), atol=1e-9)


def _bound(row: Row) -> Answer:
    """Smallest affine function of slope d / gamma^2 above the centred loss, by search."""
    noise = densities.flipped_huber(row.number("alpha"), row.number("gamma"))
    d, slope = row.number("d"), row.number("d") / row.number("gamma") ** 2
    edge = row.number("alpha") + d

    def below(t: float) -> float:
        return slope * t - float(noise.loss(t - 0.5 * d, d))

    grid = np.linspace(-edge, edge, 401)
    k = int(np.argmin([below(t) for t in grid]))
    ends = grid[max(k - 1, 0)], grid[min(k + 1, 400)]
    # ends: a recomputation: a minimum that is missed shows as a disagreement
    best = optimize.minimize_scalar(below, bounds=ends, method="bounded", options={"xatol": 1e-12})
    height = -min(float(best.fun), below(0.5 * d))
    return Answer(slope * row.number("t") + height, atol=1e-9)


@cache
def _at_variance(family: str, scale: float, variance: float) -> densities.Density:
    """Noise of a scale whose variance, by quadrature, is the one asked for."""
    if family == "gaussian":
        return densities.gaussian(math.sqrt(variance))
    build = {"flipped-huber": densities.flipped_huber,
             "offset-symmetric-gaussian": densities.offset_symmetric_gaussian}[family]  # fmt: skip
    shape = optimize.brentq(
        lambda x: build(x * scale, scale).variance - variance, 1e-9, 1e3, xtol=1e-15, rtol=1e-14
    )
    return build(shape * scale, scale)


def _delta(row: Row) -> float:
    """Privacy profile by quadrature."""
    settings = row.settings[0]
    noise = _at_variance(row["mechanism"], settings.scale, settings.variance)
    return noise.delta(settings.sensitivity, row.number("epsilon"))


def _identified(row: Row, over: float = 1.0) -> Answer:
    """Probability, over a number, of an answer that only one of two neighbours can give."""
    best = found("truncated-laplace", Problem(row.number("epsilon"), row.number("delta")))
    noise = densities.truncated_laplace(best.scale, best.shape * best.scale)
    return Answer(noise.tail(noise.bound - 1.0) / over, rtol=_FLAT)


def _sufficient_over_exact(row: Row) -> Answer:
    """Minimum variance under P(loss >= epsilon) <= delta over that under the exact condition."""
    name, epsilon, delta = row["mechanism"], row.number("epsilon"), row.number("delta")
    exact = minimum_variance(name, "exact", Problem(epsilon, delta))
    if name == "laplace":  # the limit at which the loss reaches epsilon
        return Answer(densities.laplace(1.0 / epsilon).variance / exact)
    best = minimum(name, lambda noise: noise.loss_tail(1.0, epsilon), delta)
    return Answer(best.variance / exact, rtol=_WIDE)


def _huber_mass(row: Row) -> float:
    """Mass of the density of the slides, piece by piece."""
    alpha = row.number("alpha")
    phi = math.exp(-0.5 * alpha**2) / math.sqrt(2.0 * math.pi)
    tau = 1.0 / (1.0 + alpha / (2.0 * (phi - alpha * 0.5 * special.erfc(alpha / math.sqrt(2.0)))))
    factor = 1.0 if row["reading"] == "printed" else 1.0 / math.sqrt(2.0 * math.pi)

    def density(t: np.ndarray) -> np.ndarray:
        centre = np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)
        return (1.0 - tau) * np.where(
            t <= alpha, centre, factor * np.exp(alpha * (0.5 * alpha - t))
        )

    t, weights = densities.panels([0.0, alpha, alpha + 40.0 / alpha])
    return 2.0 * float(weights @ density(t))


_SEARCH = "search over all parameters, profiles by quadrature"
_INFORMATION = {"nfi": Path(_normalised_information, "quadrature")}


def _noise(row: Row) -> densities.Density:
    """Noise of a row."""
    return densities.flipped_huber(row.number("alpha"), row.number("gamma"))


def _relative_error(row: Row) -> Answer:
    """Distance of the printed profile from quadrature, relative."""
    exact = _noise(row).delta(row.number("sensitivity"), row.number("epsilon"))
    place = (row.number(name) for name in ("alpha", "gamma", "sensitivity", "epsilon"))
    with mp.workdps(_DIGITS):
        printed = float(table_1_delta(row["case"], *place))
    return Answer(abs(exact / printed - 1.0), atol=_ERROR)


def _crossing(row: Row) -> float:
    """Where the loss is epsilon, by a root search on the density."""
    found = _noise(row).crossing(row.number("sensitivity"), row.number("epsilon"))
    return math.nan if found is None else found


def _printed_points(row: Row) -> tuple[float, float]:
    """Points t1 and t2 that Table I prints for a case."""
    a, g, d, e = (row.number(n) for n in ("alpha", "gamma", "sensitivity", "epsilon"))
    case = row["case"].rpartition("-")[2]
    if case in ("i", "v"):
        return g * g * e / d - d / 2, g * g * e / d + d / 2
    if case == "ii":
        return g * g * e / (2 * a) - d / 2, g * g * e / (2 * a) + d / 2
    if case == "iii":
        s = math.sqrt(2 * (g * g * e + a * d))
        return -a + s - d, s - a
    s = math.sqrt(max(2 * (g * g * e - a * d), 0.0))
    return a + s - d, s + a


def _loss_error(row: Row) -> Answer:
    """Distance of the loss at the printed points from epsilon, relative."""
    noise, d, e = _noise(row), row.number("sensitivity"), row.number("epsilon")
    first, second = _printed_points(row)
    worst = max(abs(float(noise.loss(t, d)) - e) for t in (first, second - d))
    return Answer(worst / e, atol=1e-6)  # doubles lose digits between large and small points


def _inside(place: int) -> Path:
    """Path of whether a point lies in its printed interval."""
    top = math.inf

    def compute(row: Row) -> Answer:
        a = row.number("alpha")
        intervals = {"i": ((-top, -a), (a, top)), "ii": ((-a, 0.0), (0.0, a)),
                     "iii": ((-a, 0.0), (a, top)), "iv": ((0.0, a), (a, top)),
                     "v": ((a, top), (a, top))}  # fmt: skip
        case, d = row["case"].rpartition("-")[2], row.number("sensitivity")
        t = _crossing(row) + d * place if "-" not in row["case"] else _printed_points(row)[place]
        low, high = intervals[case][place]
        slack = _NEAR * (abs(t) + d)
        return Answer(float(low - slack <= t <= high + slack))

    return Path(compute, "a root search on the loss")


def _classical(row: Row) -> float:
    """Standard deviation of the classical formula."""
    sensitivity, delta = row.settings[0].sensitivity, row.number("delta")
    return sensitivity * math.sqrt(2.0 * math.log(1.25 / delta)) / row.number("epsilon")


def _analytic(row: Row) -> float:
    """Minimum standard deviation."""
    place = row.number("epsilon"), row.number("delta"), row.settings[0].sensitivity
    return gaussian_sigma(*place)


def _map_classical(row: Row) -> float:
    """Standard deviation of a heat map by the classical formula."""
    root = math.sqrt(2.0 * math.log(1.25 / row.number("delta")))
    return row.number("sensitivity") * root / row.number("epsilon")


def _map_analytic(row: Row) -> float:
    """Minimum standard deviation of a heat map."""
    return gaussian_sigma(row.number("epsilon"), row.number("delta"), row.number("sensitivity"))


_GAIN = Path(lambda row: (_classical(row) / _analytic(row)) ** 2, "Arb")
_MAP_GAIN = Path(lambda row: (_map_classical(row) / _map_analytic(row)) ** 2, "Arb")

PATHS: Paths = {
    "flipped-huber-2023/figure-2.csv": _INFORMATION,
    "flipped-huber-2023/figure-3a.csv": {
        "variance": Path(_variance, _SEARCH),
        "gain_step": _gain_step("gaussian"),
        "gain_step_osgt": _gain_step("offset-symmetric-gaussian"),
    },
    "flipped-huber-slides/variances.csv": {"variance": Path(_variance, _SEARCH)},
    "flipped-huber-2023/figure-3b.csv": {"ratio_db": Path(_ratio, _SEARCH)},
    "flipped-huber-2023/figure-3c.csv": {"ratio_db": Path(_ratio, _SEARCH)},
    "flipped-huber-2023/figure-5.csv": {
        "loss": Path(_loss, "the density's definition"),
        "bound": Path(_bound, "search over t"),
    },
    "flipped-huber-2023/figure-6.csv": {"delta": Path(_delta, "quadrature")},
    "flipped-huber-2023/identification.csv": {
        "probability": Path(_identified, _SEARCH),
        "over_delta": Path(lambda row: _identified(row, row.number("delta")), _SEARCH),
    },
    "flipped-huber-2023/remark-1.csv": {"ratio": Path(_sufficient_over_exact, _SEARCH)},
    "flipped-huber-slides/huber-mass.csv": {"mass": Path(_huber_mass, "quadrature")},
    _TABLE: {
        "relative_error": Path(_relative_error, "quadrature against (13) in decimals"),
        "loss_error": Path(_loss_error, "the density's definition"),
        "t1_in_interval": _inside(0),
        "t2_in_interval": _inside(1),
    },
    "balle-wang-2018/figure-1b.csv": {"gain": _GAIN},
    "balle-wang-2018/map-noise.csv": {"gain": _MAP_GAIN},
}
