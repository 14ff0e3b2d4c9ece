"""Paths of Gaussian noise by Arb: balle-wang-2018, and the calibrations of the other papers."""

from __future__ import annotations

import math

from dpnoise_papers.verify import gaussian
from dpnoise_papers.verify.model import Answer, Path, Paths, Row

_LOGARITHM = 1e-7  # of a ratio of two deltas, of which one rests on a sigma of ten digits


def _classical(row: Row) -> float:
    """Standard deviation of the classical formula."""
    sensitivity, delta = row.settings[0].sensitivity, row.number("delta")
    return sensitivity * math.sqrt(2.0 * math.log(1.25 / delta)) / row.number("epsilon")


def _analytic(row: Row) -> float:
    """Minimum standard deviation."""
    place = row.number("epsilon"), row.number("delta"), row.settings[0].sensitivity
    return gaussian.sigma(*place)


def _map_classical(row: Row) -> float:
    """Standard deviation of a heat map by the classical formula."""
    root = math.sqrt(2.0 * math.log(1.25 / row.number("delta")))
    return row.number("sensitivity") * root / row.number("epsilon")


def _map_analytic(row: Row) -> float:
    """Minimum standard deviation of a heat map."""
    return gaussian.sigma(row.number("epsilon"), row.number("delta"), row.number("sensitivity"))


def _map_sigma(row: Row) -> float:
    """Standard deviation of a heat map, by the classical formula or minimum."""
    return _map_classical(row) if row["method"] == "classical" else _map_analytic(row)


def _log_ratio(row: Row) -> Answer:
    """Decimal logarithm of the true delta of the published sigma over the delta asked for."""
    true = gaussian.log_delta(1.0 / row.number("published"), row.number("epsilon"))
    # near the root the ten digits of the published sigma decide, at slope mu^2 log delta
    slope = 1.0 + abs(true)
    value = (true - math.log(row.number("delta"))) / math.log(10.0)
    return Answer(value, atol=_LOGARITHM * slope)


def _share(row: Row) -> Answer:
    """Share of the grid on which the published sigma misses delta, counted by Arb."""
    table = row.tables["balle-wang-2018/algorithm-1.csv"]
    part = table[(table["stop"] == row["stop"]) & (table["outcome"] != "none")]
    part = part[part["delta"] >= row.number("least_delta") * (1.0 - 1e-9)]
    excess = math.log(row.number("excess"))
    above = sum(
        gaussian.log_delta(1.0 / float(one.published), float(one.epsilon)) - math.log(one.delta)
        > excess
        for one in part.itertuples()
    )
    return Answer(above / len(part), atol=1.5 / len(part))  # one pair may be a tie


def _repaired(row: Row) -> Answer:
    """Distance of the exact mu_0 from Arb's, relative: what the repaired algorithm is judged by."""
    mu = 1.0 / gaussian.sigma(row.number("epsilon"), row.number("delta"))
    return Answer(row.number("mu_0") / mu - 1.0, atol=1e-9)


_BOTH = {
    "classical": Path(_classical, "the formula"),
    "analytic": Path(_analytic, "Arb"),
    "gain": Path(lambda row: (_classical(row) / _analytic(row)) ** 2, "Arb"),
    "theorem_2": Path(lambda row: row.settings[0].sensitivity / (2.0 * row.number("delta")),
                      "the formula"),
}  # fmt: skip
_SIGMA = {"sigma": Path(_map_sigma, "Arb")}
_MAPS = {
    "classical": Path(_map_classical, "the formula"),
    "analytic": Path(_map_analytic, "Arb"),
    "gain": Path(lambda row: (_map_classical(row) / _map_analytic(row)) ** 2, "Arb"),
}
PATHS: Paths = {
    "balle-wang-2018/figure-1a.csv": _BOTH,
    "balle-wang-2018/figure-1b.csv": _BOTH,
    "balle-wang-2018/figure-3a.csv": _BOTH,
    "balle-wang-2018/map-noise.csv": _MAPS,
    "balle-wang-2018/figure-2.csv": _SIGMA,
    "balle-wang-2018/figure-5.csv": _SIGMA,
    "balle-wang-2018/algorithm-1.csv": {"log10_ratio": Path(_log_ratio, "Arb")},
    "balle-wang-2018/algorithm-1-sizes.csv": {"share": Path(_share, "a count by Arb")},
    "inid-2024/algorithm-1.csv": {"repaired_error": Path(_repaired, "Arb")},
}
