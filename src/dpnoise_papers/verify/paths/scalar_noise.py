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

from dpnoise_papers.flipped_huber_2023.as_printed import (
    CASES,
    DECIMALS,
    intervals,
    points,
    profiles,
)
from dpnoise_papers.grids import values
from dpnoise_papers.verify.oracles import densities
from dpnoise_papers.verify.oracles.gaussian import gaussian_sigma
from dpnoise_papers.verify.oracles.minima import BOXED, minimum
from dpnoise_papers.verify.paths.common import (
    Answer,
    Path,
    Paths,
    Problem,
    Row,
    decibels,
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
_NEAR = 1e-9  # a border between two cases, met to rounding


def _variance(row: Row) -> Answer | float:
    """Minimum variance of a mechanism for one budget."""
    settings, method = row.settings, "exact" if row.method == "infimum" else row.method
    budget = Problem(row.epsilon, settings.delta, settings.sensitivity)
    box = settings.box if method == "box" else None
    value = minimum_variance(row.mechanism, method, budget, box, hint(row))
    return Answer(value, rtol=_WIDE) if box else value


def _gain_step(other: str) -> Path:
    """Path of the gain over another mechanism less that at the next smaller epsilon."""

    def compute(row: Row) -> Answer:
        settings = row.settings
        box = settings.box if row.method == "box" else None
        grid = np.union1d(values(settings.epsilons), settings.also)
        here = max(int(np.argmin(np.abs(grid - row.epsilon))), 1)
        gains = []
        for epsilon in grid[here - 1 : here + 1]:
            budget = Problem(float(epsilon), settings.delta, settings.sensitivity)
            own = minimum_variance("flipped-huber", row.method, budget, box)
            gains.append(minimum_variance(other, row.method, budget, box) / own)
        return Answer(gains[1] - gains[0], atol=2.0 * _WIDE * sum(gains))

    return compute


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


def _huber_mass(row: Row) -> float:
    """Mass of the density of the slides, piece by piece."""
    alpha, root = row.alpha, math.sqrt(2.0 * math.pi)
    phi = math.exp(-0.5 * alpha**2) / root
    tau = 1.0 / (1.0 + alpha / (2.0 * (phi - alpha * 0.5 * special.erfc(alpha / math.sqrt(2.0)))))
    factor = 1.0 if row.reading == "printed" else 1.0 / root
    t, weights = densities.panels([0.0, alpha, alpha + 40.0 / alpha])
    tail = factor * np.exp(alpha * (0.5 * alpha - t))
    return (
        2.0 * (1.0 - tau) * float(weights @ np.where(t <= alpha, np.exp(-t * t / 2) / root, tail))
    )


def _case(row: Row) -> int:
    """Place of a case of Table I, of a border the second of its two."""
    return CASES.index(row.case.rpartition("-")[2])


def _printed(row: Row) -> tuple[float, float, float]:
    """Profile (13) of a case, and the points t1 and t2 that Table I prints."""
    e, d, a, g = (mp.mpf(x) for x in (row.epsilon, row.sensitivity, row.alpha, row.gamma))
    with mp.workdps(_DIGITS):
        first, second = points(e, d, a, g, DECIMALS)[_case(row)]
        delta = profiles(e, d, a, g, DECIMALS)[_case(row)]
        return float(delta), float(first), float(second)


def _relative_error(row: Row) -> Answer:
    """Distance of the printed profile from quadrature, relative."""
    exact = _noise(row).delta(row.sensitivity, row.epsilon)
    return Answer(abs(exact / _printed(row)[0] - 1.0), atol=_ERROR)


def _loss_error(row: Row) -> Answer:
    """Distance of the loss at the printed points from epsilon, relative."""
    _, first, second = _printed(row)
    noise, d = _noise(row), row.sensitivity
    worst = max(abs(float(noise.loss(t, d)) - row.epsilon) for t in (first, second - d))
    return Answer(worst / row.epsilon, atol=1e-6)  # doubles lose digits at small and large points


def _inside(place: int) -> Path:
    """Path of whether a point lies in its printed interval, found by a root search on the loss."""

    def compute(row: Row) -> float:
        d, t = row.sensitivity, _printed(row)[1 + place]
        if "-" not in row.case:
            start = _noise(row).crossing(d, row.epsilon)
            t = math.nan if start is None else start + d * place
        low, high = intervals(row.alpha)[_case(row)][place]
        slack = _NEAR * (abs(t) + d)
        return float(low - slack <= t <= high + slack)

    return compute


def _gain(row: Row) -> float:
    """Variance of the classical formula over the minimum variance, at any sensitivity."""
    classical = math.sqrt(2.0 * math.log(1.25 / row.delta)) / row.epsilon
    return (classical / gaussian_sigma(row.epsilon, row.delta)) ** 2


PATHS: Paths = {
    "flipped-huber-2023/figure-2.csv": {"nfi": _normalised_information},
    "flipped-huber-2023/figure-3a.csv": {
        "variance": _variance,
        "gain_step": _gain_step("gaussian"),
        "gain_step_osgt": _gain_step("offset-symmetric-gaussian"),
    },
    "flipped-huber-slides/variances.csv": {"variance": _variance},
    "flipped-huber-2023/figure-3b.csv": {"ratio_db": _ratio},
    "flipped-huber-2023/figure-3c.csv": {"ratio_db": _ratio},
    "flipped-huber-2023/figure-5.csv": {"loss": _loss, "bound": _bound},
    "flipped-huber-2023/figure-6.csv": {"delta": _delta},
    "flipped-huber-2023/identification.csv": {"probability": _identified},
    "flipped-huber-2023/remark-1.csv": {"ratio": _sufficient_over_exact},
    "flipped-huber-slides/huber-mass.csv": {"mass": _huber_mass},
    "flipped-huber-2023/table-1.csv": {
        "relative_error": _relative_error,
        "loss_error": _loss_error,
        "t1_in_interval": _inside(0),
        "t2_in_interval": _inside(1),
    },
    "balle-wang-2018/figure-1b.csv": {"gain": _gain},
    "balle-wang-2018/map-noise.csv": {"gain": _gain},
}
