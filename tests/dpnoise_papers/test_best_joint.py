"""Best joint noise beside a paper's: closed forms, and the floor below."""

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.best_joint import best_joint, with_ratios


@pytest.mark.parametrize("K", [5, 10, 20])
@pytest.mark.parametrize("delta", [0.0, 1e-8])
def test_it_is_k_norm_noise_in_the_norm_of_a_small_box(K, delta):
    found = best_joint((1.0,) * K, 1.0 / 2.0, delta)
    assert found.name == "K-norm"
    assert found.error == pytest.approx((K + 1) * (K + 2) / (3 * 0.25))
    assert found.delta == 0.0
    assert 0 < found.floor < found.error


def test_one_coordinate_has_the_scalar_staircase_and_no_gap():
    found = best_joint((1.0,), 1.0, 0.0)
    assert found.error == pytest.approx(found.floor, rel=1e-3)


def test_coordinates_that_cannot_change_get_no_noise():
    alone, among = best_joint((2.0,), 1.0, 0.0), best_joint((0.0, 0.0, 2.0, 0.0), 1.0, 0.0)
    assert 4 * among.error == pytest.approx(alone.error)
    assert 4 * among.floor == pytest.approx(alone.floor)


def test_independent_noise_is_never_taken():
    # In many dimensions, where the Gaussian is next to the best.
    found = best_joint((1.0,) * 100, 1.0, 1e-6)
    assert found.name == "K-norm of an ellipsoid"
    assert 0 < found.delta <= 1e-6


def test_ratios_are_of_the_errors():
    table = pd.DataFrame({"mse": [6.0], "joint_error": [2.0], "floor": [1.0]})
    ratios = with_ratios(table, "mse")[["over_joint", "joint_over_floor"]]
    assert np.array_equal(ratios, [[3.0, 2.0]])
