"""Floors of cubes: transport, products of tests, and the table of docs/floor.md."""

import math
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad

from dpnoise import L2, LInf, best
from dpnoise.noise import KNorm
from dpnoise.optimality.cube import (
    CubeTransport,
    ProductTest,
    Weight,
    _product_lam,
    first_weight,
    highest,
    largest_lam,
    product_test,
)
from dpnoise.optimality.cube import cube_transport as search
from dpnoise.optimality.floor import floor

cube_transport = cache(search)  # several tests look at one that was found


def moved(y, kappa, lam):
    """Integral of rho over [0, y]."""
    inner = min(y, math.sqrt(lam))
    return quad(lambda u: 1 - math.exp(-kappa * (lam - u * u)), 0, inner)[0]


@pytest.mark.parametrize(("kappa", "size"), [(1e-3, 3.0), (0.02, 12.0), (5.0, 1.5), (40.0, 8.0)])
def test_moves_are_at_most_one(kappa, size):
    lam = float(largest_lam(np.array([kappa]), size)[0])
    assert 1 - 1e-6 < moved(size, kappa, lam) <= 1


@pytest.mark.parametrize("K", [1, 2, 6])
@pytest.mark.parametrize(("kappa", "sigma"), [(0.01, 0.0), (0.05, 1.5), (0.7, 3.0)])
def test_bound_on_cells_is_above_the_condition(K, kappa, sigma):
    rng = np.random.default_rng(K)
    value, epsilon, ends = 5.0, 0.6, (3.25, 3.5)
    before = Weight(30.0, 0.8, 2.0)
    k, s = np.array([kappa]), np.array([sigma])
    top = highest(K, value, epsilon, before, kappa=k, sigma=s, ends=ends)[0, 0]
    lam = float(largest_lam(np.array([kappa]), ends[1])[0])
    middle, gaps = sum(ends) / 2, []
    for R in (*ends, 3.3, 3.4):
        line = np.interp(R, ends, top)
        for _ in range(25):
            y = rng.uniform(0, R, K - 1) ** rng.choice([0.5, 1, 2])
            y = np.minimum(y, R)
            origin = np.array([v - moved(v, kappa, lam) for v in y])
            z, z0 = (np.mean(y**2), np.mean(origin**2)) if K > 1 else (0.0, 0.0)
            w = max(before.m - before.sigma * z0 - before.beta * (R - middle), 0.0)
            w *= math.exp(-kappa * float(np.sum(np.maximum(lam - y**2, 0.0))))
            exact = K * value - R * R - np.sum(y**2) + math.exp(epsilon) * w + sigma * z
            gaps.append(line - exact)
    assert min(gaps) > 0
    if K == 1 and sigma == 0.0:
        assert max(gaps) < 0.1


def test_first_weight_pays_for_the_centre():
    weight = first_weight(4, 3.0, 0.25, 0.5)
    for R in np.linspace(0.25, 0.5, 9):
        for z in (0.0, R * R):
            w = weight.m - weight.sigma * z - weight.beta * (R - 0.375)
            assert w >= 4 * 3.0 - R * R - 3 * z - 1e-12


@pytest.mark.parametrize(("K", "epsilon", "ratio"), [(4, 0.3, 1.09), (5, 1.0, 1.17)])
def test_bound_is_near_k_norm_noise_and_verified(K, epsilon, ratio):
    top = (K + 1) * (K + 2) / 3 / epsilon**2
    found = cube_transport(K, epsilon)
    proved = found.bound(LInf(2.0, K), epsilon, 0.0, np.full(K, 1 / K))
    assert 4 * top / ratio < proved < 4 * top


def test_a_greater_claim_or_other_links_prove_nothing():
    found = cube_transport(5, 1.0)
    problem = (LInf(1.0, 5), 1.0, 0.0, np.ones(5))
    assert found.bound(*problem) > 0
    assert replace(found, value=1.01 * found.value).bound(*problem) == 0.0
    assert replace(found, chains=()).bound(*problem) == 0.0
    shorter = tuple(links[:-1] for links in found.chains)
    assert replace(found, chains=shorter).bound(*problem) == 0.0
    negative = tuple(tuple((-k, s) for k, s in links) for links in found.chains)
    assert replace(found, chains=negative).bound(*problem) == 0.0
    assert found.bound(LInf(1.0, 5), 1.05, 0.0, np.ones(5)) == 0.0
    assert found.bound(LInf(1.0, 5), 1.0, 1e-9, np.ones(5)) == 0.0
    assert found.bound(LInf(1.0, 5), 1.0, 0.0, np.arange(1.0, 6.0)) == 0.0
    assert found.bound(L2(1.0, 5), 1.0, 0.0, np.ones(5)) == 0.0


def test_random_links_never_prove_more_than_k_norm_noise():
    rng = np.random.default_rng(9)
    top = (3 + 1) * (3 + 2) / 3
    for _ in range(30):
        links = tuple((float(k), 0.0) for k in rng.exponential(0.3, 12))
        claim = CubeTransport(1, top, (links, links))
        assert claim.bound(LInf(1.0, 3), 1.0, 0.0, np.full(3, 1 / 3)) == 0.0


def test_floor_uses_it_where_it_is_best(monkeypatch):
    """For small epsilon it proves more than the ball of equal volume, which is all of 'fast'."""
    monkeypatch.setattr("dpnoise.optimality.floor.cube_transport", cube_transport)
    found = floor([1.0] * 4, epsilon=0.3, method="program")
    fast = floor([1.0] * 4, epsilon=0.3)
    assert "transport" in found.method
    assert "ball" in fast.method
    assert found.value > 1.03 * fast.value
    assert found.verify() >= found.value


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
    lam = float(_product_lam(np.array([kappa]))[0])
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
    lam = float(_product_lam(np.array([kappa]))[0])
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
        for kappa in np.geomspace(1e-9, 10, 20):
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


PAGE = (Path(__file__).parents[3] / "docs" / "floor.md").read_text(encoding="utf-8")
EPSILONS = [float(x) for x in re.findall(r"\| epsilon = ([\d.]+) ", PAGE)]
ROWS = re.findall(r"^\| (1e-\d) \| (\d+) \| ((?:[\d.]+ \| )+[\d.]+) \|$", PAGE, re.MULTILINE)


def test_the_table_is_whole():
    assert len(EPSILONS) == 7
    assert len(ROWS) == 18


@pytest.mark.parametrize(
    ("row", "column"),
    [(1, 0), (2, 2), (5, 6), (6, 5), (9, 4), (10, 6), (12, 3), (13, 1)],
)
def test_the_ratio_is_as_printed(row, column):
    """In eight cells, with every K, every epsilon and every delta."""
    delta, K, cells = ROWS[row]
    printed = [float(cell) for cell in cells.split(" | ")]
    assert len(printed) == len(EPSILONS)
    cube, epsilon = LInf(1.0, of=int(K)), EPSILONS[column]
    found = best(cube, epsilon=epsilon, delta=float(delta)).variance
    found /= floor(cube, epsilon=epsilon, delta=float(delta)).value
    assert 1.0 <= found < 1.01 * printed[column] + 0.005  # the floor may have risen since


@pytest.mark.parametrize(("K", "goal"), [(5, 1.5), (10, 2.5)])
def test_the_goal_without_delta_is_met_for_all_epsilon(K, goal):
    for epsilon in (1e-3, 0.1, 1.0, 3.0, 10.0, 40.0):
        cube = LInf(1.0, of=K)
        noise = best(cube, epsilon=epsilon).variance
        assert noise < goal * floor(cube, epsilon=epsilon).value
