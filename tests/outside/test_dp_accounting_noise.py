"""dp_accounting: the least noise for so many queries, by its privacy loss distributions."""

import math

from dpnoise import calibrate, gaussian_sigma
from outside_values import check, rows


def _parameter(row):
    count, size = int(row["queries"]), row["sensitivity"]
    budget = {"epsilon": row["epsilon"], "delta": row["delta"]}
    if row["family"] == "gaussian":
        return float(gaussian_sigma(**budget, sensitivity=size * math.sqrt(count)))
    beta = calibrate(row["family"], **budget, sensitivity=size, dimension=count).noise.beta
    return beta if row["family"] == "laplace" else 1.0 / beta


def test_every_value():
    for row in rows("dp_accounting_noise.csv"):
        check(row, _parameter(row))
