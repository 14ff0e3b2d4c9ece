"""Floors in closed form: radial staircases, and one step outwards."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import linprog
from scipy.sparse import csr_array

from dpnoise import L1, L2, LInf
from dpnoise.noise import Staircase, staircase_gamma
from dpnoise.optimality.closed_forms import (
    INTERVAL,
    OneStep,
    RadialStaircase,
    best_step,
    one_step,
    radial_certificate,
    staircase_minimum,
    steps,
)
from dpnoise.optimality.floor import floor


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


@pytest.mark.parametrize(("epsilon", "delta"), [(4.0, 1e-3), (9.0, 0.2)])
def test_every_point_pays_and_every_event_is_counted(epsilon, delta):
    """On the line, by quadrature: t^2 >= s^2 - psi(t) + e^epsilon g(t) int psi, and the cost."""
    s = float(np.max(steps(INTERVAL, epsilon)))
    value = float(one_step(INTERVAL, epsilon, delta, np.array([s]))[0])
    while value == 0.0:
        s *= 0.99
        value = float(one_step(INTERVAL, epsilon, delta, np.array([s]))[0])

    def psi(t):
        return max(s * s - t * t, 0.0)

    size = 2 * quad(lambda t: t * t - s * s, s, 1.0 - s)[0]

    def g(t):
        return (t * t - s * s) / size if s <= abs(t) <= 1.0 - s else 0.0

    mass = quad(psi, -s, s)[0]
    for t in np.linspace(0.0, 1.2, 200):
        # All shifts d in [-1, 1]: x + d reaches all of the support of g from |x| <= s.
        ends = [(s - t, 1 - s - t), (s - 1 - t, -s - t)]
        total = sum(
            quad(lambda d, t=t: g(t + d), max(low, -1.0), min(top, 1.0))[0] for low, top in ends
        )
        assert t > s or abs(total - 1.0) < 1e-9
        assert t * t >= s * s - psi(t) + math.exp(epsilon) * g(t) * mass - 1e-12

    def highest(d):
        x = np.linspace(-s, s, 101)
        return max(psi(v) * g(v + d) for v in x)

    d = np.linspace(-1.0, 1.0, 401)
    paid = delta * np.trapezoid([highest(v) for v in d], d)
    assert value <= s * s - paid


@pytest.mark.parametrize("K", [1, 2, 5])
def test_for_large_epsilon_it_is_the_variance_of_the_best_noise_for_a_ball(K):
    ball, epsilon = L2(1.0, K), 30.0 + 15.0 * K
    value = best_step(ball, epsilon, 1e-9).bound(ball, epsilon, 1e-9, np.full(K, 1 / K))
    assert value <= staircase_minimum(K, epsilon)[1] <= 1.005 * value


def test_what_is_not_a_step_proves_nothing():
    cube, weights = LInf(1.0, 2), np.ones(2)
    found = best_step(cube, 10.0, 1e-6)
    problem = (cube, 10.0, 1e-6, weights)
    value = found.bound(*problem)
    assert value > 0.0
    for share in (1.01 * found.share, 0.51, 3.0, 0.0, -found.share, math.nan, math.inf):
        assert OneStep(share).bound(*problem) == 0.0
    assert OneStep(0.5 * found.share).bound(*problem) < value
    assert found.bound(cube, 9.9, 1e-6, weights) >= value
    assert found.bound(cube, 10.5, 1e-6, weights) == 0.0
    assert found.bound(cube, 10.0, 1e-3, weights) < value
    assert found.bound(cube, 10.0, 1.0 - 1e-9, weights) == 0.0
    assert found.bound(cube, 10.0, 1e-6, np.array([1.0, 2.0])) == 0.0
    assert found.bound(L1(1.0, 2), 10.0, 1e-6, weights) == 0.0


@pytest.mark.parametrize("sensitivity", [LInf(1.0, 3), L2(1.0, 2)], ids=repr)
@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_the_largest_epsilon_has_a_floor(sensitivity, delta):
    found = floor(sensitivity, epsilon=700.0, delta=delta)
    K = sensitivity.dimension
    top = sensitivity.log_volume + math.log(float(np.sum(sensitivity.mean_square)))
    ball = math.lgamma(K / 2 + 1) - K / 2 * math.log(math.pi)
    exact = 2 / (K + 2) * (top + ball + math.log((K + 2) / 2) - 700.0)
    assert math.isclose(math.log(K * found.value), exact, rel_tol=1e-5)
    assert found.verify() >= found.value
