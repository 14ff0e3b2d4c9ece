"""The slides' best (alpha, gamma), exactly and on a grid."""

import numpy as np
import pytest

from dpnoise.noise import FlippedHuber
from dpnoise.privacy.profile import privacy_profile
from dpnoise_papers.flipped_huber_slides.settings import IllustrativeValues
from dpnoise_papers.flipped_huber_slides.tables.illustrative_values import illustrative_values

VALUES = {
    "delta": 1e-6, "sensitivity": 1.0, "epsilons": (0.5, 2.0),
    "box": ((0.02, 150.0), (0.02, 50.0)), "resolution": (1500, 500),
}  # fmt: skip


def test_a_finer_grid_comes_nearer_to_the_optimum():
    box = ((1.0, 30.0), (0.5, 8.0))
    found = [
        illustrative_values(IllustrativeValues(**VALUES | {"box": box, "resolution": (n, n)}))
        for n in (30, 300)
    ]
    coarse, fine = (table["variance_grid"] / table["variance_exact"] - 1 for table in found)
    assert np.all((fine >= 0) & (fine < coarse))


def test_illustrative_values_keep_the_budget():
    table = illustrative_values(IllustrativeValues(**VALUES))
    assert tuple(table["epsilon"]) == VALUES["epsilons"]
    for row in table.itertuples():
        exact = FlippedHuber(row.alpha_exact, row.gamma_exact)
        grid = FlippedHuber(row.alpha, row.gamma)
        assert exact.var() == pytest.approx(row.variance_exact, rel=1e-12)
        assert grid.var() == pytest.approx(row.variance_grid, rel=1e-12)
        assert row.variance_exact <= row.variance_grid
        for noise in (exact, grid):
            assert privacy_profile(noise, 1.0, row.epsilon) <= 1e-6
        assert privacy_profile(exact, 1.0, row.epsilon) <= row.delta_bound <= 1e-6
        assert row.delta_bound > 0.99e-6
