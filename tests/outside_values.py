"""Values of other people's tests, documents and programs: tests/outside/*.csv."""

import csv
import math
from pathlib import Path

from dpnoise import Budget, DiscreteLaplace, Gaussian, Laplace

FOLDER = Path(__file__).parent / "outside"
KINDS = {"printed", "formula", "run"}  # tests/outside/README.md
RELATIONS = {"equal", "upper", "lower", "refused"}
FAMILIES = {"gaussian": Gaussian, "laplace": Laplace, "discrete-laplace": DiscreteLaplace}


def rows(name):
    """The rows of a file, every number as a float; '' where a column does not apply."""
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return [{key: _read(text) for key, text in row.items()} for row in csv.DictReader(file)]


def _read(text):
    try:
        return float(text)
    except ValueError:
        return text


def bounds(row):
    """Between which numbers ours has to be: their tolerance, on the side that they leave open."""
    value = row["value"]
    slack = (row["atol"] or 0.0) + (row["rtol"] or 0.0) * abs(value)
    if row["relation"] == "upper":  # theirs is never below the exact value
        return value - slack, value
    if row["relation"] == "lower":
        return value, value + slack
    return value - slack, value + slack


def check(row, ours):
    """Assert that our value is within the tolerance of theirs."""
    low, high = bounds(row)
    assert low <= ours <= high, f"{row['source']}: theirs {row['value']!r}, ours {ours!r}: {row}"


def releases(text):
    """Number and noise of each part of '50 x gaussian 10 + 50 x laplace 5'."""
    parts = [part.split() for part in text.split(" + ")]
    return [(int(times), FAMILIES[family](float(scale))) for times, _, family, scale in parts]


def epsilon_of(text, delta):
    """Epsilon of releases by our Budget, each of sensitivity 1."""
    budget = Budget(1e4, delta, relation="add-remove")
    for times, noise in releases(text):
        budget.spend(noise, sensitivity=1.0, times=times)
    return budget.epsilon_of()


def is_complete(row):
    """Whether a row says what, from where, of which version and how close."""
    told = row["source"] and row["version"] and row["kind"] in KINDS
    close = any(isinstance(row[column], float) for column in ("atol", "rtol"))
    return bool(told and row["relation"] in RELATIONS and close and math.isfinite(row["value"]))
