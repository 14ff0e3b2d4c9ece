"""google-research k_norm: volumes, uniform draws and ellipsoids of the balls of Joseph & Yu.

Their 'count' ball is `Counts` with add/remove, their 'sum' ball `AtMost`. There is no set for
votes: their ellipsoid is checked as an ellipsoid around all permutations of 0, ..., d - 1.
"""

import itertools
import math

import numpy as np

from dpnoise import AtMost, Counts, Ellipsoid
from outside_values import check, rows

DRAWS = 40_000


def _set(row):
    m, K = int(row["k"]), int(row["d"])
    return Counts(m, of=K, relation="add-remove") if row["set"] == "count" else AtMost(m, of=K)


def _vote_ratio(d):
    """Mean squares of the least ellipsoid of its form around the votes, over those of the ball."""
    votes = np.array(list(itertools.permutations(range(d))), dtype=float)
    along, beyond = (d - 1) ** 2 * d / 4, d * (d * d - 1) / 12  # squares along 1, and across
    root = math.sqrt(along) + math.sqrt((d - 1) * beyond)
    first, others = root * math.sqrt(along), root * math.sqrt(beyond / (d - 1))
    ball = Ellipsoid.of_matrix((first - others) / d * np.ones((d, d)) + others * np.eye(d))
    assert np.allclose(ball.norm(votes), 1.0, rtol=1e-12)
    radius = np.linalg.norm(votes[0])
    return float(np.sum(ball.mean_square)) / (radius**2 * d / (d + 2))


def _ellipse_ratio(row):
    if row["set"] == "vote":
        return _vote_ratio(int(row["d"]))
    K = int(row["d"])
    ball = row["k"] * K / (K + 2)  # of radius sqrt(k)
    return float(np.sum(_set(row).smallest_ellipsoid.mean_square)) / ball


def _share(row):
    draws = _set(row).sample(DRAWS, np.random.default_rng(31))
    if row["quantity"] == "positive coordinates":
        return float(np.mean(np.sum(draws > 0.0, axis=1) == row["j"]))
    return float(np.mean(np.sum(np.abs(draws), axis=1) <= row["j"]))


OURS = {
    "ellipse over ball": _ellipse_ratio,
    "volume": lambda row: math.exp(_set(row).log_volume),
    "positive coordinates": _share,
    "l1 norm at most": _share,
}


def test_every_value():
    for row in rows("k_norm.csv"):
        check(row, OURS[row["quantity"]](row))
