"""Histograms of other families, and that the search is not worse than any of them."""

import math

import pytest

from dpnoise import (
    FlippedHuber,
    Gaussian,
    Laplace,
    Staircase,
    TruncatedLaplace,
    calibrate,
    calibrate_histogram,
    privacy_profile,
)
from dpnoise.calibration.histogram.families import as_histogram, rival_by_std


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
