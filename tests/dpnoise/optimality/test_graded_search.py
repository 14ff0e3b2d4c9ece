"""Search for graded tests: within about 1 % of staircase noise in few dimensions."""

import numpy as np
import pytest

from dpnoise import L2, gaussian_sigma
from dpnoise.optimality.floor import floor
from dpnoise.optimality.graded_search import graded_test
from dpnoise.optimality.radial_floor import staircase_minimum


def found(K, epsilon, delta):
    """Return the bound on the mean variance for the unit ball."""
    test = graded_test(K, epsilon, delta)
    return test.bound(L2(1.0, K), epsilon, delta, np.full(K, 1 / K))


@pytest.mark.parametrize(
    ("K", "epsilon", "ratio"), [(2, 1.0, 1.0065), (3, 1.0, 1.0115), (2, 0.1, 1.02)]
)
def test_bound_is_near_the_staircase_for_small_delta(K, epsilon, ratio):
    noise = staircase_minimum(K, epsilon)[1]
    assert noise / ratio <= found(K, epsilon, 1e-6) <= noise


def test_bound_is_above_any_chain_of_spheres():
    # What tests that are 0 or W reach as delta falls, at K = 2 and epsilon = 1.
    gamma, k = np.linspace(0.0, 1.0, 1001)[:, None], np.arange(80)
    chain = np.exp(-k) * (gamma + k)
    best = np.min(np.sum(chain * (gamma + k) ** 2, axis=1) / np.sum(chain, axis=1)) / 2.0
    assert 2.87 < best < 2.88
    assert found(2, 1.0, 1e-6) > 1.02 * best


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("budget", [(0.01, 1e-3), (1.0, 1e-3), (2.0, 0.3), (0.3, 0.6)])
def test_something_is_found_for_every_budget_and_never_above_known_noise(K, budget):
    noise = min(float(gaussian_sigma(*budget)) ** 2, staircase_minimum(K, budget[0])[1])
    assert 0.6 * noise <= found(K, *budget) <= noise


def test_floor_uses_it_and_verifies():
    bound = floor(L2(2.0, of=2), epsilon=1.0, delta=1e-2, method="program")
    assert bound.method == "graded radial test"
    assert bound.verify() >= bound.value * (1.0 - 1e-9)
    assert bound.value > 1.03 * floor(L2(2.0, of=2), epsilon=1.0, delta=1e-2).value


def test_large_delta_as_in_the_docs():
    assert 1.05 < found(2, 1.0, 0.1) < 1.0617  # of a step density, by the primal program
