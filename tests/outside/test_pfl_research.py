"""apple/pfl-research: sigma of the analytic Gaussian mechanism on the grid of its test."""

import pytest

from dpnoise import Gaussian, gaussian_sigma, privacy_profile
from outside_values import check, rows

SENSITIVITIES = [1e-5, 4e-3, 0.1, 1.0, 2.0, 27.0, 34000.0]  # theirs


def test_every_value():
    for row in rows("pfl_research.csv"):
        epsilon, delta = row["epsilon"] / row["steps"], row["delta"] / row["steps"]
        check(row, float(gaussian_sigma(epsilon, delta)))
        for size in SENSITIVITIES:  # their own test: delta of their sigma within 0.2 %
            theirs = Gaussian(row["value"] * size)
            assert privacy_profile(theirs, size, epsilon) == pytest.approx(delta, rel=2e-3)
            sigma = gaussian_sigma(epsilon, delta, size)
            assert privacy_profile(Gaussian(sigma), size, epsilon) <= delta
