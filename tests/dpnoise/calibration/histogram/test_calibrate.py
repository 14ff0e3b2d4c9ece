"""Histogram noise for composition: certified, above the floor, not worse than other families."""

import math

import numpy as np
import pytest

from dpnoise import (
    Box,
    Budget,
    FlippedHuber,
    Gaussian,
    Laplace,
    Staircase,
    TruncatedLaplace,
    calibrate,
    calibrate_histogram,
    privacy_profile,
    vector_profile,
)
from dpnoise.calibration.histogram.calibrate import as_histogram, rival_by_std
from dpnoise.optimality.floor import floor


def test_the_variance_for_an_epsilon_is_the_inverse_and_scales():
    found = calibrate_histogram(epsilon=2.6634, delta=1e-6, dimension=10, sensitivity=3.0)
    assert found.variance == pytest.approx(9 * 25.0, rel=1e-3)
    assert vector_profile(found.noise, 3.0, 2.6634, copies=10).upper <= 1e-6
    assert found.epsilon == 2.6634
    charged = []
    for times in (1, 2):  # it fits its own budget, and twice that for two releases
        budget = Budget(2.6634 * times, 1e-6 * times, relation="add-remove")
        budget.spend(found, times=times)
        charged.append(budget.entries[0].one)
    assert charged[0] == charged[1]
    assert charged[0].shares


def test_better_than_simpler_noise_and_never_below_the_floor():
    dimension, epsilon, delta = 20, 6.0, 1e-6
    found = calibrate_histogram(epsilon=epsilon, delta=delta, dimension=dimension)
    for family in ("gaussian", "laplace", "flipped-huber"):
        other = calibrate(family, epsilon=epsilon, delta=delta, dimension=dimension)
        assert found.variance < other.variance * (1 + 1e-9)
    bound = floor(Box(np.ones(dimension)), epsilon=epsilon, delta=delta).value
    assert bound <= found.variance


def test_next_to_pure_noise_it_is_staircase_noise():
    found = calibrate_histogram(std=0.5, delta=1e-6, dimension=2)
    assert found.delta <= 1e-6
    assert found.epsilon < 2 * math.sqrt(2.0) / 0.5
    assert 0.4999 <= found.noise.std() <= 0.5
    assert found.epsilon >= 2 * float(found.noise.largest_loss(1.0)) * (1 - 1e-4)


def test_bad_input_is_refused_at_once():
    with pytest.raises(ValueError, match=r"delta.*dimension.*exactly one"):
        calibrate_histogram(delta=0.0, dimension=1)
    with pytest.raises(ValueError, match=r"std / sensitivity"):
        calibrate_histogram(std=5.0, delta=1e-6, dimension=2, sensitivity=0.1)
    with pytest.raises(ValueError, match=r"epsilon"):
        calibrate_histogram(epsilon=0.0, delta=1e-6, dimension=2)
    with pytest.raises(RuntimeError, match="nothing to be found"):
        calibrate_histogram(std=30.0, delta=0.1, dimension=2)


@pytest.mark.parametrize(
    "noise",
    [
        Gaussian(3.0),
        Laplace(0.7),
        FlippedHuber(1.0, 5.0),
        Staircase(1.3, 1.0, 0.29),
        TruncatedLaplace(1.0, 12.3),
    ],
    ids=repr,
)
def test_cells_cost_little_and_no_privacy(noise):
    found = as_histogram(noise)
    assert found.unimodal
    assert noise.var() < found.var() < noise.var() * (1.0 + 3e-5)
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        delta = float(privacy_profile(noise, 1.0, epsilon))
        rough = float(privacy_profile(found, 1.0, epsilon))
        assert rough <= delta * (1.0 + 1e-9) + 1e-14
        assert rough >= 0.98 * delta - 1e-3


def test_next_to_pure_noise_no_family_is_better():
    """Here the search alone ends 0.15 % above flipped Huber noise."""
    delta = 1e-3
    budget = {"epsilon": 1.0, "delta": delta, "dimension": 2}
    found = calibrate_histogram(**budget)
    assert found.delta <= delta
    for family in ("flipped-huber", "staircase"):
        assert found.variance <= calibrate(family, **budget).variance * (1.0 + 1e-4), family


def test_a_rival_for_a_standard_deviation_is_the_inverse_of_one_for_an_epsilon():
    rival = rival_by_std(2.0, 2.0 * math.sqrt(2.0) / 2.0, 2, 1e-3)
    assert 1.9995 <= rival.noise.std() <= 2.0
    other = calibrate("flipped-huber", epsilon=rival.epsilon, delta=1e-3, dimension=2)
    assert other.variance >= 4.0 * (1.0 - 2e-4)
    assert rival_by_std(2.0, 0.5 * rival.epsilon, 2, 1e-3) is None
