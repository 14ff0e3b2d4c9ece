"""autodp: epsilon of Gaussian noise and the sigma that its calibrator finds for it.

Several releases are composed by Renyi divergences there: an upper bound.
"""

import math

from dpnoise import Gaussian, epsilon_at, gaussian_sigma
from outside_values import check, rows


def test_every_value():
    for row in rows("autodp.csv"):
        if row["quantity"] == "sigma":
            ours = gaussian_sigma(row["epsilon"], row["delta"])
        else:
            shift = math.sqrt(row["releases"])
            ours = epsilon_at(Gaussian(row["sigma"]), shift, row["delta"])
        check(row, float(ours))
