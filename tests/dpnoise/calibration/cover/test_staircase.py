"""Staircases: one is more private than all of an interval of gammas and a variance."""

import math

import numpy as np
import pytest

from dpnoise import Staircase, vector_profile
from dpnoise.calibration.cover.staircase import StaircaseShapes, _distance


def test_total_variation_is_the_mass_within_half_a_step():
    for epsilon in (1e-3, 0.4, 3.0, 40.0):
        for gamma in (1e-3, 0.2, 0.5, 0.8, 1.0 - 1e-12):
            noise = Staircase(epsilon, 1.0, gamma)
            tau = 1.0 - 2.0 * float(noise.sf(0.5))
            assert _distance(epsilon, gamma) == pytest.approx(tau, rel=1e-12)
            assert vector_profile(noise, 1.0, 0.0).estimate == pytest.approx(tau, rel=1e-9)
    assert _distance(2.0, 0.0) == pytest.approx(_distance(2.0, 1.0), rel=1e-15)


def test_distance_and_variance_are_monotone_in_epsilon():
    epsilons = np.geomspace(1e-3, 50.0, 60).tolist()
    for gamma in (1e-6, 0.1, 0.5, 0.7, 0.999):
        assert np.all(np.diff([_distance(e, gamma) for e in epsilons]) >= 0.0)
        assert np.all(np.diff([Staircase(e, 1.0, gamma).var() for e in epsilons]) <= 0.0)


@pytest.mark.parametrize("copies", [1, 4])
def test_one_noise_is_more_private_than_all_members(copies):
    rng, shapes = np.random.default_rng(8), StaircaseShapes()
    epsilon = np.array([0.0, 0.05, 0.5, 2.0])
    for _ in range(30):
        low, high = np.sort(rng.uniform(0.0, 1.0, 2)).tolist()
        low = 0.0 if rng.random() < 0.2 else low
        variance = float(np.exp(rng.uniform(-3.0, 6.0)))
        noise = shapes.dominating(low, high, variance)
        lower = vector_profile(noise, 1.0, epsilon, copies=copies).log_lower
        for gamma in rng.uniform(low, high, 4).tolist():
            member = shapes.member(gamma, variance * float(rng.uniform(0.3, 1.0)))
            upper = vector_profile(member, 1.0, epsilon, copies=copies).log_upper
            assert np.all(lower <= upper), (low, high, gamma, variance)


def test_members_have_the_variance_that_is_asked_for():
    shapes = StaircaseShapes()
    for gamma in (0.01, 0.4, 0.9):
        for variance in (0.4, 3.0, 1e4):
            assert shapes.member(gamma, variance).var() == pytest.approx(variance, rel=1e-9)
    assert math.isclose(shapes.shape(0.3), 0.3)


def test_variances_beyond_all_staircases():
    shapes = StaircaseShapes()
    assert shapes.dominating(0.5, 0.6, 1e-9).epsilon == pytest.approx(700.0, rel=1e-6)
    assert shapes.dominating(0.5, 0.6, 1e250).epsilon < 1e-99


@pytest.mark.parametrize("gamma", [0.0625, 0.25])
def test_a_member_whose_variance_hardly_depends_on_epsilon_is_covered(gamma):
    shapes = StaircaseShapes()
    for epsilon in (25.0, 30.0, 33.0, 36.0, 40.0):
        variance = Staircase(epsilon, 1.0, gamma).var()
        assert shapes.dominating(gamma, 1.25 * gamma, variance).epsilon < epsilon
