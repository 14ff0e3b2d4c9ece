"""Search for radial tests: near the best known noise, in few and in many dimensions."""

import numpy as np
import pytest

from dpnoise import L2, gaussian_sigma
from dpnoise.joint.calibrate import calibrate_joint
from dpnoise.optimality.radial_floor import staircase_minimum
from dpnoise.optimality.radial_search import FAST, FINE, radial_test


def found(K, epsilon, delta, effort=FAST):
    """Return the bound on the mean variance for the unit ball."""
    test = radial_test(K, epsilon, delta, effort)
    return test.bound(L2(1.0, K), epsilon, delta, np.full(K, 1 / K))


def gamma(K, epsilon, delta):
    """Return the mean variance of generalised gamma noise."""
    ball = L2(1.0, K)
    return calibrate_joint("generalised-gamma", ball, epsilon=epsilon, delta=delta).variance


@pytest.mark.parametrize(
    ("K", "epsilon", "delta", "ratio"),
    [
        (5, 1.0, 1e-6, 1.02),
        (10, 1.0, 1e-6, 1.02),
        (10, 3.0, 1e-6, 1.01),
        (100, 1.0, 1e-6, 1.03),
        (10, 1.0, 1e-2, 1.02),
        (30, 1.0, 0.1, 1.01),
        (5, 0.3, 1e-3, 1.06),
    ],
)
def test_bound_is_near_generalised_gamma_noise(K, epsilon, delta, ratio):
    noise = min(gamma(K, epsilon, delta), float(gaussian_sigma(epsilon, delta)) ** 2)
    assert noise / ratio <= found(K, epsilon, delta) <= noise


@pytest.mark.parametrize(("K", "ratio"), [(2, 1.045), (3, 1.02), (5, 1.007), (10, 1.004)])
def test_more_effort_is_within_a_per_cent_from_five_dimensions_on(K, ratio):
    noise = min(gamma(K, 1.0, 1e-6), staircase_minimum(K, 1.0)[1])
    assert noise / ratio <= found(K, 1.0, 1e-6, FINE) <= noise


def test_bound_tends_to_the_floor_without_delta():
    low = staircase_minimum(5, 1.0)[0]
    values = [found(5, 1.0, delta) for delta in (1e-3, 1e-6, 1e-13)]
    assert values[0] < values[1] < values[2] < low * 1.0001
    assert values[2] > 0.98 * low


def test_small_epsilon_takes_groups_of_steps():
    test = radial_test(6, 1e-3, 1e-7)
    assert test.group == 100
    assert 0.7 * gamma(6, 1e-3, 1e-7) <= found(6, 1e-3, 1e-7) <= gamma(6, 1e-3, 1e-7)


@pytest.mark.parametrize("K", [2, 7, 40])
@pytest.mark.parametrize("budget", [(0.1, 1e-4), (0.4, 1e-9), (6.0, 1e-3), (2.0, 0.2)])
def test_something_is_found_for_every_budget_and_never_above_known_noise(K, budget):
    normal = float(gaussian_sigma(*budget)) ** 2
    noise = min(normal, staircase_minimum(K, budget[0])[1])
    assert 0.3 * noise <= found(K, *budget) <= noise
