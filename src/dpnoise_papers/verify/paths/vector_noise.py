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
    hint,
    minimum_variance,
    profile,
)

if TYPE_CHECKING:
    from dpnoise._types import Array

_SEARCHES = {"unrestricted": ("exact", "sufficient"), "box": ("box", "sufficient-box")}
# The search of a box at a resolution of 1e-7, over alphas, ends within this of its minimum; and
# minima in narrow dips are found from shapes that stand in tables with six digits.
_BOX = 1e-5
_ROUNDED = 1e-4  # of a delta at parameters of six digits
_ALPHA = 2e-3  # the minimum is flat: alpha is known to the root of what its variance is


def _variance(row: Row) -> Answer:
    """Minimum variance per coordinate of a mechanism for one budget."""
    method = "exact" if row["method"] == "infimum" else row["method"]
    place = row.number("epsilon"), row.number("delta"), 1.0, int(row["dimension"])
    box = row.settings[0].box if method.endswith("box") else None
    value = minimum_variance(row["mechanism"], method, Problem(*place), box, hint(row))
    # Where a limit is not attained, the noise that stands for it is a little above.
    near = not int(row["attained"]) and row["method"] != "infimum"
    searched = box or near or row["mechanism"] not in SIMPLE
    return Answer(value, rtol=_BOX if searched else CLASS)


def _measures(row: Row, end: str) -> tuple[float, float, float]:
    """Gain in decibels, gap and excess of the dimension 'from' or 'to'."""
    place = row.number("epsilon"), row.number("delta"), 1.0, int(row[f"dimension_{end}"])
    methods = _SEARCHES[row["search"]]
    box = ((0.02, 150.0), (0.02, 50.0)) if row["search"] == "box" else None
    best, sufficient = (
        minimum_variance(
            "flipped-huber", method, Problem(*place), box, _shape_in_tables(row, place, method)
        )
        for method in methods
    )
    gauss = minimum_variance("gaussian", "exact", Problem(*place))
    return 10.0 * math.log10(gauss / best), sufficient - best, (sufficient - best) / best


def _shape_in_tables(row: Row, place: tuple[float, ...], method: str) -> float | None:
    """Shape that the tables of Figure 4 claim for flipped Huber noise by a method."""
    for table in row.tables.values():
        same = (table["dimension"] == place[3]) & (table["method"] == method)
        same &= (table["mechanism"] == "flipped-huber") & np.isclose(table["epsilon"], place[0])
        for _, other in table[same & np.isclose(table["delta"], place[1], atol=0.0)].iterrows():
            return hint(Row(other.to_dict()))
    return None


def _between(place: int, sign: float) -> Path:
    """Path of a difference of the measures of two dimensions."""

    def compute(row: Row) -> Answer:
        one, two = _measures(row, "from")[place], _measures(row, "to")[place]
        return Answer(sign * (two - one), atol=_BOX * (abs(one) + abs(two) + 600.0 * place))

    return Path(compute, "search over all parameters, profiles by a lattice of losses")


def _excess(end: str) -> Path:
    """Path of the excess of one dimension."""
    return Path(
        lambda row: Answer(_measures(row, end)[2], atol=2.0 * _BOX),
        "search over all parameters, profiles by a lattice of losses",
    )


def _searched_excess(row: Row) -> Answer:
    """The larger excess of the two dimensions."""
    return Answer(max(_measures(row, end)[2] for end in ("from", "to")), atol=2.0 * _BOX)


def _gain(column: str) -> Path:
    """Path of a variance of the table on dimensions."""

    def compute(row: Row) -> Answer:
        place = row.number("epsilon"), row.number("delta"), 1.0, int(row["dimension"])
        shape = row.number("alpha") / row.number("gamma") if row.number("alpha") > 0.0 else None
        name = column.replace("_", "-")
        value = minimum_variance(name, "exact", Problem(*place), None, shape)
        return Answer(value, rtol=CLASS if name in SIMPLE else _BOX)

    return Path(compute, "search over all parameters, profiles by a lattice of losses")


def _transition(row: Row) -> Answer:
    """Alpha of the noise of minimum variance: the row's must reach it, privately."""
    best = _gain("flipped_huber").answer(row).value
    gamma = row.number("gamma")
    noise = flipped_huber(row.number("alpha"), gamma)
    place = noise, 1.0, int(row["dimension"])
    delta = (
        noise.delta(1.0, row.number("epsilon"))
        if place[2] == 1
        else profile([place], row.number("epsilon"))
    )
    close = abs(noise.variance / best - 1.0) <= 1e-6 and delta <= row.number("delta") * (1 + 1e-5)
    return Answer(row.number("alpha") if close else math.nan, rtol=_ALPHA)


def _laplace_share(row: Row) -> Answer:
    """Mass of the Laplace centre at the row's alpha and gamma, by the integrals of (8)."""
    b = row.number("alpha") / row.number("gamma")
    if b == 0.0:
        return Answer(0.0, atol=1e-12)
    centre = -math.expm1(-b * b) / b
    rim = math.exp(-b * b / 2.0) * math.sqrt(math.pi / 2.0) * math.erfc(b / math.sqrt(2.0))
    return Answer(centre / (centre + rim), rtol=_ROUNDED)


def _printed_off(row: Row) -> Answer:
    """How far Algorithm 2 as printed is off the exact delta, relative to it.

    As printed every delta from K = 2 on is one integral of the one-dimensional profile, which is
    interpolated between grid points and reflected below 0.
    """
    settings = row.settings[0]
    noise = flipped_huber(row.number("alpha"), row.number("gamma"))
    epsilon, dimension = row.number("epsilon"), int(row["dimension"])
    nu = np.linspace(0.0, settings.grid_factor * epsilon, settings.grid_points)
    known = np.array([noise.delta(1.0, one) for one in nu])

    def interpolated(x: Array) -> Array:
        size = np.interp(np.abs(x), nu, known, right=0.0)
        return np.where(x < 0.0, 1.0 - np.exp(x) + np.exp(x) * size, size)

    end = noise.reach(0.0)
    t, weights = panels([*np.linspace(-end, end, 400)])
    density = np.exp(-noise.psi(t)) / (2.0 * noise.half)
    delta = float(weights @ (density * interpolated(epsilon - noise.loss(t, 1.0))))
    exact = profile([(noise, 1.0, dimension)], epsilon)
    return Answer(abs(delta / exact - 1.0), rtol=1e-3)  # the table has a trapezoidal rule in t


def _laplace_noise(row: Row) -> tuple[Array, Array]:
    """Sensitivities of norm 1 and, by a search, the scales of optimal epsilon-DP Laplace noise."""
    i = np.arange(1.0, int(row["dimension"]) + 1.0)
    size = {"uniform": np.ones_like(i), "linear": i, "quadratic": i * i,
            "exponential": np.exp(i - i[-1])}[row["profile"]]  # fmt: skip
    size = size / size.sum()
    # 2 sum beta^2 least under sum lambda / beta = epsilon: 4 beta = price lambda / beta^2
    scales = np.cbrt(size)
    return size, scales * float(np.sum(size / scales)) / row.number("epsilon")


def _pure_over_gaussian(row: Row) -> float:
    """Error of optimal Laplace over that of optimal Gaussian noise, delta = 0 for the first."""
    size, scales = _laplace_noise(row)
    sigma = gaussian_sigma(row.number("epsilon"), row.number("delta"))
    return 2.0 * float(scales @ scales) / (sigma * float(size.sum())) ** 2


_LATTICE = "search over all parameters, profiles by a lattice of losses"
_VARIANCES = {"variance": Path(_variance, _LATTICE), "searched": Path(_variance, _LATTICE)}
_DB = 1e-4  # decibels: the factor of the table is known to 2e-6, by two accounts
PATHS: Paths = {
    "flipped-huber-2023/figure-4a.csv": _VARIANCES,
    "flipped-huber-2023/figure-4b.csv": _VARIANCES,
    "flipped-huber-2023/table-2.csv": _VARIANCES,
    "flipped-huber-slides/curves-kd.csv": _VARIANCES,
    "flipped-huber-2023/figure-4-dimensions.csv": {
        "gain_lost_db": _between(0, -1.0),
        "gap_grown": _between(1, 1.0),
        "excess_from": _excess("from"),
        "excess_to": _excess("to"),
        "searched_excess": Path(_searched_excess, _LATTICE),
    },
    "flipped-huber-2023/gain.csv": {
        "flipped_huber": _gain("flipped_huber"),
        "gaussian": _gain("gaussian"),
        "alpha": Path(_transition, _LATTICE),
        "laplace_share": Path(_laplace_share, "the integrals of the density"),
        "laplace_pure": Path(
            lambda row: 2.0 * (row.number("dimension") / row.number("epsilon")) ** 2, "the formula"
        ),
    },
    "flipped-huber-2023/algorithm-2.csv": {
        "printed_off": Path(_printed_off, "quadrature and a lattice of losses")
    },
    "inid-2024/corollary-6.csv": {
        "over_gaussian_pure_db": Path(
            lambda row: Answer(10.0 * math.log10(_pure_over_gaussian(row)), atol=_DB), "Arb"
        ),
    },
}
