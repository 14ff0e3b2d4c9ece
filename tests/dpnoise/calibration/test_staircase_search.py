"""Staircase noise with delta used: certified, and not to be beaten by other staircases."""

import numpy as np
import pytest

from dpnoise import DiscreteStaircase, Staircase, calibrate, vector_profile
from dpnoise.calibration import staircase_search
from dpnoise.privacy.lattice.bounds import lattice_bounds
from for_all import thinned


@pytest.mark.parametrize(
    ("epsilon", "delta", "dimension"),
    thinned([(1.0, 1e-6, 1), (1.0, 1e-6, 100), (1.0, 1e-6, 20), (3.0, 0.3, 1), (10.0, 1e-3, 3)]),
)
def test_certified_and_better_than_a_share_of_epsilon_each(epsilon, delta, dimension):
    budget = {"epsilon": epsilon, "dimension": dimension, "sensitivity": 2.0}
    found = calibrate("staircase", delta=delta, **budget)
    assert isinstance(found.noise, Staircase)
    assert found.noise.sensitivity == 2.0
    assert found.delta <= delta
    assert found.certified_by[1:] == ("lattice",)
    bounds = lattice_bounds([(found.noise, 2.0, dimension)], epsilon)
    assert np.exp(bounds.log_lower) <= delta
    assert found.variance < calibrate("staircase", **budget).variance
    rng = np.random.default_rng(dimension)
    for _ in range(15):  # a search elsewhere
        e = found.noise.epsilon * float(rng.uniform(0.99, 1.5))
        other = Staircase(e, 2.0, float(rng.uniform(1e-3, 0.999)))
        private = vector_profile(other, 2.0, epsilon, copies=dimension).upper <= delta
        assert other.var() >= found.variance * (1.0 - 1e-7) or not private, other


@pytest.mark.slow
def test_a_delta_that_the_account_resolves_only_beyond_the_share():
    found = calibrate("staircase", epsilon=0.2, delta=1.7e-12, dimension=50)
    pure = calibrate("staircase", epsilon=0.2, dimension=50)
    assert found.delta <= 1.7e-12
    assert found.variance < 0.7 * pure.variance


def test_a_delta_too_small_to_be_used_leaves_the_pure_staircase(monkeypatch):
    monkeypatch.setattr(staircase_search, "_POINTS", 20)
    pure = calibrate("staircase", epsilon=1.0)
    found = calibrate("staircase", epsilon=1.0, delta=1e-250)
    assert found.variance <= pure.variance
    assert found.variance == pytest.approx(pure.variance, rel=1e-6)
    budget = {"epsilon": 1.0, "sensitivity": 10_000, "dimension": 4}
    pure = calibrate("discrete-staircase", **budget)
    assert calibrate("discrete-staircase", delta=1e-250, **budget).variance <= pure.variance


@pytest.mark.parametrize(
    ("epsilon", "delta", "size", "dimension"),
    thinned(
        [
            (1.0, 1e-6, 7, 1),
            (3.0, 0.1, 50, 9),
            (1.0, 1e-6, 7, 20),
            (3.0, 0.1, 7, 1),
            (10.0, 1e-3, 5, 3),
        ]
    ),
)
def test_no_fall_of_integer_noise_is_better(epsilon, delta, size, dimension):
    budget = {"epsilon": epsilon, "dimension": dimension, "sensitivity": size}
    found = calibrate("discrete-staircase", delta=delta, **budget)
    pure = calibrate("discrete-staircase", **budget)
    smooth = calibrate("staircase", delta=delta, **budget)
    assert found.delta <= delta
    assert 0.9 * delta < vector_profile(found.noise, size, epsilon, copies=dimension).lower
    assert smooth.variance - 1.0 / 12.0 <= found.variance * (1.0 + 1e-9)
    assert found.variance < pure.variance
    for r in range(1, size + 1):
        for less in (1.0 + 1e-6, 1.1):
            other = DiscreteStaircase(less * found.noise.epsilon, size, r)
            if other.var() < found.variance * (1.0 - 1e-7):
                assert vector_profile(other, size, epsilon, copies=dimension).lower > delta
