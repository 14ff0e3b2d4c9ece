"""The minimum variance in a box against finer and finer grids, and what must hold beside them."""

import math

import numpy as np
import pytest

from dpnoise import calibrate
from dpnoise.calibration.published import theorem_8_delta
from dpnoise.noise import flipped_huber_variance
from dpnoise.privacy.profile import privacy_profile
from dpnoise.privacy.vector import vector_profile
from dpnoise_papers.flipped_huber_2023.tables.search_box import inside, minimum_in_box

BOX = ((0.02, 150.0), (0.02, 50.0))
BUDGET = {"epsilon": 0.3, "delta": 1e-6}


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_no_grid_in_the_box_is_better_and_fine_ones_come_near(epsilon):
    found = minimum_in_box("offset-symmetric-gaussian", BOX, epsilon=epsilon, delta=1e-6)
    grids = [
        calibrate("offset-symmetric-gaussian", epsilon=epsilon, delta=1e-6, method="grid",
                  resolution=(300, count)).variance
        for count in (500, 5000)
    ]  # fmt: skip
    assert found.variance <= min(grids)
    assert grids[1] / found.variance < 1.005
    assert found.noise.theta == 150.0  # the edge of the box
    assert privacy_profile(found.noise, 1.0, epsilon) <= found.delta <= 1e-6


def test_an_optimum_inside_the_box_is_the_unrestricted_one():
    free = calibrate("flipped-huber", **BUDGET)
    assert inside(free.noise, BOX)
    assert not inside(free.noise, ((0.02, 10.0), (0.02, 50.0)))
    found = minimum_in_box("flipped-huber", BOX, **BUDGET)
    assert 1.0 - 1e-12 <= found.variance / free.variance < 1.0 + 1e-5


def test_theorem_8_in_the_box_against_all_pairs_of_a_grid():
    budget = {"epsilon": 1.0, "delta": 1e-8, "dimension": 3}
    found = minimum_in_box("flipped-huber", BOX, method="sufficient-box", **budget)
    alpha, gamma = np.linspace(*BOX[0], 301)[:, None], np.linspace(*BOX[1], 2001)
    private = theorem_8_delta(alpha, gamma, 1.0, 1.0, 3) <= 1e-8
    grid = np.where(private, flipped_huber_variance(alpha, gamma), np.inf).min()
    assert found.variance <= grid < 1.01 * found.variance
    place = found.noise.alpha, found.noise.gamma
    assert theorem_8_delta(*place, 1.0, 1.0, 3) == found.delta <= 1e-8


def test_several_dimensions_are_certified_and_not_below_the_unrestricted_optimum():
    budget = {"epsilon": 0.3, "delta": 1e-8, "dimension": 3}
    for family in ("flipped-huber", "offset-symmetric-gaussian"):
        found = minimum_in_box(family, BOX, **budget)
        assert inside(found.noise, BOX)
        assert vector_profile(found.noise, 1.0, 0.3, copies=3).upper <= found.delta <= 1e-8
        assert found.variance >= calibrate(family, **budget).infimum * (1 - 1e-6)


def test_a_box_without_private_noise():
    found = minimum_in_box("flipped-huber", BOX, epsilon=0.1, delta=1e-8, dimension=20)
    assert found.noise is None
    assert found.told == "none in the box"
    assert math.isnan(found.variance)
