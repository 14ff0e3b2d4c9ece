"""Product tests for the cube: the inequality itself, true bounds, and the limit of K-norm noise."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from dpnoise import L2, LInf
from dpnoise.noise import KNorm
from dpnoise.optimality.product_test import ProductTest, _largest_lam, product_test


def rho(y, kappa, lam):
    """P(moved) as in the proof: half the integral of rho0 over [y - 1, y + 1]."""

    def rho0(u):
        return 1 - math.exp(-kappa * max(lam - u * u, 0.0))

    edges = sorted(
        {y - 1, y + 1, *(e for e in (-math.sqrt(lam), math.sqrt(lam)) if abs(e - y) < 1)}
    )
    return 0.5 * sum(quad(rho0, a, b)[0] for a, b in pairwise(edges))


@pytest.mark.parametrize("kappa", [1e-4, 1e-2, 0.3])
def test_moves_are_bounded_as_claimed(kappa):
    lam = float(_largest_lam(np.array([kappa]))[0])
    total = quad(lambda u: 1 - math.exp(-kappa * (lam - u * u)), 0, math.sqrt(lam))[0]
    assert 1 - 1e-8 < total <= 1
    more = 1 + 2 * kappa / 3
    for y in np.linspace(0, math.sqrt(lam) + 2, 37):
        claimed = math.exp(-kappa * more * max((lam - 1) / more - y * y, 0.0))
        assert 1 - rho(y, kappa, lam) <= claimed * (1 + 1e-9)


@pytest.mark.parametrize("K", [2, 5])
def test_inequality_holds_for_k_norm_noise(K):
    epsilon = 0.4
    x = KNorm(math.inf, K, 1 / epsilon).rvs(40_000, random_state=7)
    kappa = 0.5 * (epsilon / K) ** 3
    lam = float(_largest_lam(np.array([kappa]))[0])
    grid = np.linspace(0, math.sqrt(lam) + 1.5, 200)
    moved = np.array([rho(y, kappa, lam) for y in grid])
    kept = np.prod(1 - np.interp(np.abs(x), grid, moved, right=0.0), axis=1)
    assert math.exp(-epsilon) <= np.mean(kept) + 5 * np.std(kept) / 200


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("K", [2, 5, 10, 100])
def test_any_kappa_and_group_prove_a_true_bound(K, epsilon):
    top = (K + 1) * (K + 2) / 3 / epsilon**2  # K-norm noise
    ones = np.full(K, 1 / K)
    for group in (1, 2, 7):
        for kappa in np.geomspace(1e-9, 10, 40):
            assert ProductTest(group, kappa).bound(LInf(1.0, K), epsilon, 0.0, ones) < top


def test_k_norm_noise_is_asymptotically_optimal():
    for epsilon, share in ((0.1, 0.85), (0.01, 0.95), (1e-3, 0.95)):
        K = 300
        found = product_test(K, epsilon, 0.0).bound(LInf(1.0, K), epsilon, 0.0, np.full(K, 1 / K))
        assert share * K**2 / 3 < found * epsilon**2 <= (K + 1) * (K + 2) / 3


def test_delta_costs_two_to_the_k():
    ones = np.full(10, 0.1)
    test = product_test(10, 0.3, 0.0)
    values = [test.bound(LInf(1.0, 10), 0.3, d, ones) for d in (0.0, 1e-9, 1e-6, 1e-4, 1e-3)]
    assert math.isclose(values[0], values[1], rel_tol=1e-4)
    assert values == sorted(values, reverse=True)
    assert values[-1] == 0.0
    assert product_test(40, 0.3, 1e-6) is None


def test_applies_to_cubes_with_equal_weights_and_scales():
    test = product_test(6, 0.2, 0.0)
    once = test.bound(LInf(1.0, 6), 0.2, 0.0, np.ones(6))
    assert math.isclose(test.bound(LInf(2.0, 6), 0.2, 0.0, np.ones(6)), 4 * once, rel_tol=1e-12)
    assert test.bound(L2(1.0, 6), 0.2, 0.0, np.ones(6)) == 0.0
    assert test.bound(LInf(1.0, 6), 0.2, 0.0, np.arange(1.0, 7.0)) == 0.0
    assert ProductTest(1, 0.0).bound(LInf(1.0, 6), 0.2, 0.0, np.ones(6)) == 0.0


@pytest.mark.parametrize("K", [1000, 1023, 1024, 10_000])
def test_the_smallest_delta_proves_nothing_where_there_are_more_patterns_of_signs(K):
    """Also where their number 2^K has no double: Gaussian noise is below what delta = 0 proves."""
    pure, approximate = product_test(K, 1.0, 0.0), product_test(K, 1.0, 5e-324)
    assert (approximate is None) == (K >= 1024)
    ball, weights = LInf(1.0, of=K), np.full(K, 1.0 / K)
    found = pure.bound(ball, 1.0, 5e-324, weights)
    assert found == 0.0 if K >= 1024 else found > 0.0
