"""Paths of independent noise in K coordinates: minimum variances and profiles by a lattice."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.verify.oracles.densities import flipped_huber, panels
from dpnoise_papers.verify.oracles.gaussian import gaussian_sigma
from dpnoise_papers.verify.oracles.minima import SIMPLE
from dpnoise_papers.verify.paths.common import (
    CLASS,
    Answer,
    Path,
    Paths,
    Problem,
    Row,
    decibels,
    hint,
    minimum_variance,
    profile,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array

_SEARCHES = {"unrestricted": ("exact", "sufficient"), "box": ("box", "sufficient-box")}
_PANELS = ("flipped-huber-2023/figure-4a.csv", "flipped-huber-2023/figure-4b.csv")
# The search of a box at a resolution of 1e-7, over alphas, ends within this of its minimum; and
# minima in narrow dips are found from shapes that stand in tables with six digits.
_BOX = 1e-5
_ROUNDED = 1e-4  # of a delta at parameters of six digits
_ALPHA = 2e-3  # the minimum is flat: alpha is known to the root of what its variance is
_DB = 1e-4  # decibels: the factor of the table is known to 2e-6, by two accounts


def _variance(row: Row) -> Answer:
    """Minimum variance per coordinate of a mechanism for one budget."""
    method = "exact" if row.method == "infimum" else row.method
    budget = Problem(row.epsilon, row.delta, 1.0, int(row.dimension))
    box = row.settings.box if method.endswith("box") else None
    value = minimum_variance(row.mechanism, method, budget, box, hint(row))
    # Where a limit is not attained, the noise that stands for it is a little above.
    near = not int(row.attained) and row.method != "infimum"
    searched = box or near or row.mechanism not in SIMPLE
    return Answer(value, rtol=_BOX if searched else CLASS)


def _measures(row: Row, end: str) -> tuple[float, float, float]:
    """Gain in decibels, gap and excess of the dimension 'from' or 'to'."""
    budget = Problem(row.epsilon, row.delta, 1.0, int(getattr(row, f"dimension_{end}")))
    box = ((0.02, 150.0), (0.02, 50.0)) if row.search == "box" else None
    best, sufficient = (
        minimum_variance("flipped-huber", one, budget, box, _shape_in_tables(row, budget, one))
        for one in _SEARCHES[row.search]
    )
    gauss = minimum_variance("gaussian", "exact", budget)
    return 10.0 * math.log10(gauss / best), sufficient - best, (sufficient - best) / best


def _shape_in_tables(row: Row, budget: Problem, method: str) -> float | None:
    """Shape that the tables of Figure 4 claim for flipped Huber noise by a method."""
    for table in (row.tables[name] for name in _PANELS if name in row.tables):
        same = (table["dimension"] == budget.dimension) & (table["method"] == method)
        same &= (table["mechanism"] == "flipped-huber") & np.isclose(table["epsilon"], row.epsilon)
        for other in table[same & np.isclose(table["delta"], row.delta, atol=0.0)].itertuples():
            return hint(other)
    return None


def _between(place: int, sign: float) -> Path:
    """Path of a difference of the measures of two dimensions."""

    def compute(row: Row) -> Answer:
        one, two = _measures(row, "from")[place], _measures(row, "to")[place]
        return Answer(sign * (two - one), atol=_BOX * (abs(one) + abs(two) + 600.0 * place))

    return compute


def _excess(*ends: str) -> Path:
    """Path of the excess of one dimension, or the larger of two."""
    return lambda row: Answer(max(_measures(row, end)[2] for end in ends), atol=2.0 * _BOX)


def _gain(name: str) -> Callable[[Row], Answer]:
    """Path of a variance of the table on dimensions."""

    def compute(row: Row) -> Answer:
        budget = Problem(row.epsilon, row.delta, 1.0, int(row.dimension))
        shape = row.alpha / row.gamma if row.alpha > 0.0 else None
        value = minimum_variance(name, "exact", budget, None, shape)
        return Answer(value, rtol=CLASS if name in SIMPLE else _BOX)

    return compute


def _transition(row: Row) -> Answer:
    """Alpha of the noise of minimum variance: the row's must reach it, privately."""
    best = _gain("flipped-huber")(row)
    noise = flipped_huber(row.alpha, row.gamma)
    one = row.dimension == 1
    delta = noise.delta(1.0, row.epsilon) if one else profile(
        [(noise, 1.0, int(row.dimension))], row.epsilon
    )  # fmt: skip
    close = abs(noise.variance / best.value - 1.0) <= 1e-6 and delta <= row.delta * (1 + 1e-5)
    return Answer(row.alpha if close else -1.0, rtol=_ALPHA)  # no alpha is below 0


def _laplace_share(row: Row) -> Answer:
    """Mass of the Laplace centre at the row's alpha and gamma, by the integrals of (8)."""
    b = row.alpha / row.gamma
    centre = -math.expm1(-b * b) / b if b else 0.0
    rim = math.exp(-b * b / 2.0) * math.sqrt(math.pi / 2.0) * math.erfc(b / math.sqrt(2.0))
    return Answer(centre / (centre + rim), rtol=_ROUNDED, atol=1e-12)


def _printed_off(row: Row) -> Answer:
    """How far Algorithm 2 as printed is off the exact delta, relative to it.

    As printed every delta from K = 2 on is one integral of the one-dimensional profile, which is
    interpolated between grid points and reflected below 0.
    """
    settings, epsilon = row.settings, row.epsilon
    noise = flipped_huber(row.alpha, row.gamma)
    nu = np.linspace(0.0, settings.grid_factor * epsilon, settings.grid_points)
    known = np.array([noise.delta(1.0, one) for one in nu])

    def interpolated(x: Array) -> Array:
        size = np.interp(np.abs(x), nu, known, right=0.0)
        return np.where(x < 0.0, 1.0 - np.exp(x) + np.exp(x) * size, size)

    end = noise.reach(0.0)
    t, weights = panels([*np.linspace(-end, end, 400)])
    density = np.exp(-noise.psi(t)) / (2.0 * noise.half)
    delta = float(weights @ (density * interpolated(epsilon - noise.loss(t, 1.0))))
    exact = profile([(noise, 1.0, int(row.dimension))], epsilon)
    return Answer(abs(delta / exact - 1.0), rtol=1e-3)  # the table has a trapezoidal rule in t


def _pure_over_gaussian(row: Row) -> Answer:
    """Optimal Laplace over optimal Gaussian noise, delta = 0 for the first, in decibels."""
    i = np.arange(1.0, int(row.dimension) + 1.0)
    size = {"uniform": np.ones_like(i), "linear": i, "quadratic": i * i,
            "exponential": np.exp(i - i[-1])}[row.profile]  # fmt: skip
    # 2 sum beta^2 least under sum lambda / beta = epsilon: 4 beta = price lambda / beta^2
    scales = np.cbrt(size) * float(np.sum(np.cbrt(size) ** 2)) / row.epsilon
    sigma = gaussian_sigma(row.epsilon, row.delta)
    return decibels(2.0 * float(scales @ scales) / (sigma * float(size.sum())) ** 2, _DB)


_VARIANCES: dict[str, Path] = {"variance": _variance, "searched": _variance}
PATHS: Paths = {
    **dict.fromkeys((*_PANELS, "flipped-huber-2023/table-2.csv"), _VARIANCES),
    "flipped-huber-slides/curves-kd.csv": _VARIANCES,
    "flipped-huber-2023/figure-4-dimensions.csv": {
        "gain_lost_db": _between(0, -1.0),
        "gap_grown": _between(1, 1.0),
        "excess_from": _excess("from"),
        "excess_to": _excess("to"),
        "searched_excess": _excess("from", "to"),
    },
    "flipped-huber-2023/gain.csv": {
        "flipped_huber": _gain("flipped-huber"),
        "gaussian": _gain("gaussian"),
        "alpha": _transition,
        "laplace_share": _laplace_share,
        "laplace_pure": lambda row: 2.0 * (row.dimension / row.epsilon) ** 2,
    },
    "flipped-huber-2023/algorithm-2.csv": {"printed_off": _printed_off},
    "inid-2024/corollary-6.csv": {"over_gaussian_pure_db": _pure_over_gaussian},
}
