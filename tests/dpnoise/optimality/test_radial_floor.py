"""Least variance for the l2 ball: the staircase in one dimension, the 2-D staircase, and LPs."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from dpnoise import L1, L2
from dpnoise.noise import Staircase, staircase_gamma
from dpnoise.optimality.radial_floor import RadialStaircase, radial_certificate, staircase_minimum


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 4.0, 30.0])
def test_one_dimension_is_the_staircase_of_geng_and_viswanath(epsilon):
    best = Staircase(epsilon, 1.0, float(staircase_gamma(epsilon))).var()
    low, upper, gamma = staircase_minimum(1, epsilon)
    assert low <= best <= upper
    assert upper <= low * (1 + 1e-9)
    assert math.isclose(gamma, float(staircase_gamma(epsilon)), rel_tol=1e-3)


@pytest.mark.parametrize("K", [2, 3, 10, 100, 1000])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_minimum_is_enclosed_and_below_exponential_noise(K, epsilon):
    low, upper, gamma = staircase_minimum(K, epsilon)
    assert 0 < low <= upper <= low * (1 + 3e-4)
    assert low < (K + 1) / epsilon**2
    assert 0 <= gamma <= 1


def test_small_epsilon_approaches_exponential_noise():
    for K in (1, 2, 5, 50):
        low = staircase_minimum(K, 0.1)[0]
        assert math.isclose(low * 1e-2, K + 1, rel_tol=1e-3 if K == 1 else 1e-4)


@pytest.mark.parametrize("K", [1, 2, 4])
@pytest.mark.parametrize("epsilon", [0.7, 2.5])
def test_no_radial_density_on_a_grid_is_better(K, epsilon):
    # Densities constant on n cells per unit, free otherwise: the best of all, by a linear program.
    n, units = 6, math.ceil((K + 16) / epsilon)
    edges = np.arange(n * units + 1) / n
    mass = np.diff(edges**K)
    square = np.diff(edges ** (K + 2)) / (K + 2)
    rows = []
    # Cells k apart hold points 1 apart if k <= n.
    for i in range(mass.size):
        for j in range(max(i - n, 0), min(i + n + 1, mass.size)):
            row = np.zeros(mass.size)
            row[i] += 1.0
            row[j] -= math.exp(epsilon)
            rows.append(row)
    matrix = csr_array(np.array(rows))
    found = linprog(square, A_ub=matrix, b_ub=np.zeros(len(rows)), A_eq=[mass], b_eq=[1.0])
    assert found.status == 0
    low, _, _ = staircase_minimum(K, epsilon)
    assert low <= found.fun * (1 + 2e-4)  # the grid ends somewhere
    assert found.fun <= 1.02 * low


def test_groups_of_steps_lose_little_and_never_gain():
    for K, epsilon, group in ((1, 3e-4, 3), (2, 0.006, 3), (3, 0.03, 3), (12, 0.15, 2)):
        assert radial_certificate(K, epsilon).group == group
        ones = np.ones(K)
        alone = RadialStaircase(1).bound(L2(1.0, K), epsilon, 0.0, ones)
        grouped = radial_certificate(K, epsilon).bound(L2(1.0, K), epsilon, 0.0, ones)
        assert 0.999_99 * alone <= grouped <= alone * (1 + 1e-9)


def test_certificate_claims_nothing_beyond_its_theorem():
    ones = np.ones(3)
    assert RadialStaircase().bound(L2(1.0, 3), 1.0, 0.0, ones) > 0
    assert RadialStaircase().bound(L2(1.0, 3), 1.0, 1e-9, ones) == 0
    assert RadialStaircase().bound(L1(1.0, 3), 1.0, 0.0, ones) == 0
    assert RadialStaircase().bound(L2(1.0, 3), 1.0, 0.0, np.arange(1.0, 4.0)) == 0
