"""OpenDP's l1 and l-infinity staircases: the same r, the same masses, the same epsilon.

Their scales i delta + r with r in [0, delta] are our (i + gamma) delta with gamma = r / delta; for
r = delta, which ours leaves out, gamma is the last double below 1. In several dimensions ours has
no staircase on the integers.
"""

import math

import numpy as np

from dpnoise import L1, Budget, DiscreteStaircase, LInf
from dpnoise.joint.noise import NormStaircase
from outside_values import check, rows

DRAWS = 40_000


def _ball(row, size):
    return (L1 if row["norm"] == "l1" else LInf)(size, of=int(row["d"]), relation="add-remove")


def _noise(row):
    gamma = min(row["r"] / row["delta"], math.nextafter(1.0, 0.0))
    return NormStaircase(_ball(row, row["delta"]), row["epsilon"], gamma)


def _mass(row):
    """Density that ends at a scale, times the volume within: the share of that scale."""
    noise, d = _noise(row), int(row["d"])
    scale = row["at"] * row["delta"] + row["r"]
    inner, outer = noise.pdf([[(scale + side) / (d if row["norm"] == "l1" else 1)] * d
                              for side in (-1e-6, 1e-6)])  # fmt: skip
    return (inner - outer) * math.exp(_ball(row, scale).log_volume)


def _marginal(row):
    draws = _noise(row).rvs(DRAWS, random_state=31)
    return float(np.mean(draws[:, 0] <= row["at"]))


def _spent(row):
    budget = Budget(10.0, relation="add-remove")
    budget.spend(_noise(row), _ball(row, row["at"]))
    return budget.epsilon_of()


def _integer_mass(row):
    noise = DiscreteStaircase(row["epsilon"], int(row["delta"]), int(row["r"]))
    return float(noise.pmf(row["at"]))


OURS = {
    "mass of scale": _mass,
    "marginal distribution": _marginal,
    "spent": _spent,
    "integer mass": _integer_mass,
}


def test_every_value():
    for row in rows("opendp_staircases.csv"):
        check(row, OURS[row["quantity"]](row))
