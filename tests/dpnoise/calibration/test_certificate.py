"""The global certificate of `calibrate`, and better noise that it meets."""

from dataclasses import replace

import pytest

from dpnoise import FlippedHuber, Gaussian, Staircase, calibrate, vector_profile
from dpnoise.calibration.budget import Budget
from dpnoise.calibration.certificate import certified_optimum, shapes_of
from dpnoise.noise import FAMILIES, INTEGER_FAMILIES


def test_the_share_that_may_be_too_much():
    for family in FAMILIES:
        dimension = 1 if family == "subbotin" else 4
        found = calibrate(
            family, epsilon=0.5, delta=1e-5, dimension=dimension, certificate="global"
        )
        assert 0.0 < found.optimal_within < 1.001e-3, family
        assert calibrate(family, epsilon=0.5, delta=1e-5).optimal_within is None


def test_a_planted_optimum_is_replaced():
    budget = Budget(1.0, 1e-5, 2.0, 4)
    found = calibrate(FlippedHuber, epsilon=1.0, delta=1e-5, sensitivity=2.0, dimension=4)
    noise = FlippedHuber(
        0.0, 2.0 * calibrate(Gaussian, epsilon=1.0, delta=1e-5, dimension=4).noise.sigma
    )
    assert noise.var() > 1.1 * found.variance
    planted = replace(found, noise=noise, variance=noise.var(), infimum=noise.var())
    better = certified_optimum(FlippedHuber, budget, planted)
    assert found.variance * (1.0 - 1e-9) <= better.variance < 1.003 * found.variance
    assert better.optimal_within < 3e-3
    assert vector_profile(better.noise, 2.0, 1.0, copies=4).upper <= 1e-5


def test_a_planted_staircase_is_replaced():
    budget = Budget(1.0, 1e-5, 1.0, 30)
    planted = calibrate(Staircase, epsilon=1.0, dimension=30)
    better = certified_optimum(Staircase, budget, planted)
    found = calibrate(Staircase, epsilon=1.0, delta=1e-5, dimension=30)
    assert better.variance < 1.003 * found.variance < 0.7 * planted.variance


def test_which_families_are_covered():
    assert all(shapes_of(kind) is not None for kind in FAMILIES.values())
    assert all(shapes_of(kind) is None for kind in INTEGER_FAMILIES.values())


def test_requests_that_cannot_be_met():
    with pytest.raises(ValueError, match=r"certificate: .*'exact' with a certificate"):
        calibrate("flipped-huber", epsilon=1.0, delta=1e-6, certificate="local", method="grid")
    with pytest.raises(ValueError, match=r"family: .*ordered"):
        calibrate("discrete-gaussian", epsilon=1.0, delta=1e-6, certificate="global")
    with pytest.raises(ValueError, match="delta: expected more than 0 for a global certificate"):
        calibrate("laplace", epsilon=1.0, certificate="global")
