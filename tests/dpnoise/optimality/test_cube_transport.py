"""Transport bounds for the cube: the condition on cells, the end of chains, the reach."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

from dpnoise import L2, LInf
from dpnoise.optimality.cube_search import cube_transport
from dpnoise.optimality.cube_transport import (
    CubeTransport,
    Weight,
    first_weight,
    highest,
    largest_lam,
)
from dpnoise.optimality.floor import floor


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


@pytest.mark.parametrize(
    ("K", "epsilon", "ratio"), [(3, 0.5, 1.09), (5, 1.0, 1.17), (8, 1.0, 1.22)]
)
def test_bound_is_near_k_norm_noise_and_verified(K, epsilon, ratio):
    top = (K + 1) * (K + 2) / 3 / epsilon**2
    found = cube_transport(K, epsilon)
    proved = found.bound(LInf(2.0, K), epsilon, 0.0, np.full(K, 1 / K))
    assert 4 * top / ratio < proved < 4 * top


def test_a_greater_claim_or_other_links_prove_nothing():
    found = cube_transport(4, 1.0)
    problem = (LInf(1.0, 4), 1.0, 0.0, np.ones(4))
    assert found.bound(*problem) > 0
    assert replace(found, value=1.01 * found.value).bound(*problem) == 0.0
    assert replace(found, chains=()).bound(*problem) == 0.0
    shorter = tuple(links[:-1] for links in found.chains)
    assert replace(found, chains=shorter).bound(*problem) == 0.0
    negative = tuple(tuple((-k, s) for k, s in links) for links in found.chains)
    assert replace(found, chains=negative).bound(*problem) == 0.0
    assert found.bound(LInf(1.0, 4), 1.05, 0.0, np.ones(4)) == 0.0
    assert found.bound(LInf(1.0, 4), 1.0, 1e-9, np.ones(4)) == 0.0
    assert found.bound(LInf(1.0, 4), 1.0, 0.0, np.arange(1.0, 5.0)) == 0.0
    assert found.bound(L2(1.0, 4), 1.0, 0.0, np.ones(4)) == 0.0


def test_random_links_never_prove_more_than_k_norm_noise():
    rng = np.random.default_rng(9)
    top = (3 + 1) * (3 + 2) / 3
    for _ in range(30):
        links = tuple((float(k), 0.0) for k in rng.exponential(0.3, 12))
        claim = CubeTransport(1, top, (links, links))
        assert claim.bound(LInf(1.0, 3), 1.0, 0.0, np.full(3, 1 / 3)) == 0.0


def test_floor_uses_it_where_it_is_best():
    """For small epsilon it proves more than the ball of equal volume, which is all of 'fast'."""
    found = floor([1.0] * 5, epsilon=0.3, method="program")
    fast = floor([1.0] * 5, epsilon=0.3)
    assert "transport" in found.method
    assert "ball" in fast.method
    assert found.value > 1.03 * fast.value
    assert found.verify() >= found.value
