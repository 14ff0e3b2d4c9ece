"""Paths of Table I of flipped-huber-2023: its five cases against quadrature and a search."""

from __future__ import annotations

import math

import mpmath as mp

from dpnoise_papers.verify import densities
from dpnoise_papers.verify.model import Answer, Path, Paths, Row

_DIGITS = 400
_ERROR = 1e-9  # errors below it are rounding
_TABLE = "flipped-huber-2023/table-1.csv"
_NEAR = 1e-9  # a border between two cases, met to rounding


def _noise(row: Row) -> densities.Density:
    """Noise of a row."""
    return densities.flipped_huber(row.number("alpha"), row.number("gamma"))


def _printed_delta(row: Row, case: str) -> float:
    """Profile (13) of one case, in decimals."""
    with mp.workdps(_DIGITS):
        a, g, d, e = (mp.mpf(row.number(n)) for n in ("alpha", "gamma", "sensitivity", "epsilon"))
        root = mp.sqrt(2 * mp.pi)
        omega = 2 * (root * mp.ncdf(-a / g) + 2 * g / a * mp.sinh(a * a / g**2 / 2))
        rim = g / (a * omega) * mp.exp(a * a / g**2 / 2)
        normal, shift, half = root / omega, g * e / d, d / (2 * g)
        gauss = normal * (mp.ncdf(half - shift) - mp.exp(e) * mp.ncdf(-half - shift))
        if case == "i":
            return float(1 - normal + gauss)
        if case == "ii":
            middle = 1 + mp.exp(e) - 2 * mp.exp(e / 2 - a * d / (2 * g**2))
            return float((1 - mp.exp(e)) / 2 + rim * middle)
        if case == "v":
            return float(gauss)
        sign = 1 if case == "iii" else -1
        s = mp.sqrt(2 * (g**2 * e + sign * a * d))
        inner = rim * (1 - mp.exp(a / g**2 * (-a + sign * (s - d))))
        tail = mp.exp(e) * normal * mp.ncdf(-(s - sign * a) / g)
        return float(mp.mpf(1) / 2 + sign * inner - tail)


def _relative_error(row: Row) -> Answer:
    """Distance of the printed profile from quadrature, relative."""
    exact = _noise(row).delta(row.number("sensitivity"), row.number("epsilon"))
    return Answer(abs(exact / _printed_delta(row, row["case"]) - 1.0), atol=_ERROR)


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


def _ranges(row: Row) -> Answer:
    """Number of printed ranges that hold epsilon; a border is in doubles on either side of it."""
    a, g, d, e = (row.number(n) for n in ("alpha", "gamma", "sensitivity", "epsilon"))
    scaled = 2 * g * g * e
    edges = [
        (0.0, (d - 2 * a) * d),
        (0.0, 2 * min(2 * a - d, d) * a),
        (max(2 * a, d) ** 2 - 2 * a * d, max(d - a, 0.0) ** 2 + 2 * a * d),
        (max(d - a, 0.0) ** 2 + 2 * a * d, (d + 2 * a) * d),
        ((d + 2 * a) * d, math.inf),
    ]
    held = sum(low <= scaled < high for low, high in edges)
    tie = any(abs(scaled - end) <= _NEAR * scaled for pair in edges for end in pair)
    return Answer(float(held), atol=1.0 if tie else 0.0)


PATHS: Paths = {
    _TABLE: {
        "relative_error": Path(_relative_error, "quadrature against (13) in decimals"),
        "loss_error": Path(_loss_error, "the density's definition"),
        "t1_in_interval": _inside(0),
        "t2_in_interval": _inside(1),
        "ranges": Path(_ranges, "the printed ranges"),
    }
}
