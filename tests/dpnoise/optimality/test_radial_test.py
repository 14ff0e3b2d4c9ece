"""Radial tests: bounds on cells, proofs by any caps, and what the search finds."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from flint import arb, ctx

from dpnoise import L1, L2, gaussian_sigma
from dpnoise.joint.calibrate import Search
from dpnoise.optimality.closed_forms import staircase_minimum
from dpnoise.optimality.radial_test import (
    FAST,
    RadialTest,
    distance,
    lower_values,
    radial_test,
    rises,
    rounding,
    sphere_cdf,
)


def upper(K, epsilon, delta):
    """Mean variance of Gaussian or K-norm noise for the unit ball."""
    return min(float(gaussian_sigma(epsilon, delta)) ** 2, (K + 1.0) / epsilon**2)


@pytest.mark.parametrize("K", [2, 3, 4, 50])
def test_distribution_of_a_coordinate(K):
    x = np.linspace(0, 2, 41)
    found = sphere_cdf(K, x)
    if K == 2:
        assert np.allclose(found, np.arccos(1 - x) / math.pi, atol=1e-12)
    if K == 3:
        assert np.allclose(found, x / 2, atol=1e-12)
    assert np.allclose(found + found[::-1], 1.0, atol=1e-12)


def random_test(rng, cells):
    """Return a test with random caps whose boundary moves outwards."""
    spacing = rng.uniform(0.05, 0.4)
    size = math.ceil(rng.uniform(1.5, 6.0) / spacing)
    while True:
        caps = np.clip(rng.uniform(0.0, 1.0) + np.cumsum(rng.normal(0, 0.05, size)), 0.0, 1.5)
        if rises(spacing, caps):
            return RadialTest(1, rng.exponential() * 20.0, spacing, caps, cells)


@cache
def sphere(K, steps=20_001):
    """Return masses and middles of cells of X = 1 + U_1."""
    edges = np.linspace(0.0, 2.0, steps)
    return np.diff(sphere_cdf(K, edges)), 0.5 * (edges[1:] + edges[:-1])


def left_side(test, K, growth, r):
    """Return r^2 + E psi(r U) - e^epsilon E psi(r U + d), by a sum over the angle."""
    mass, x = sphere(K)
    nodes = test.spacing * np.arange(len(test.caps))
    size = np.sqrt((r - 1.0) ** 2 + 2.0 * r * x)  # |r U + d|
    inside = size <= test.end
    come = inside & (r > distance(size, np.interp(size, nodes, test.caps)))
    stay = mass @ (x < np.interp(r, nodes, test.caps)) if r <= test.end else 0.0
    return r * r + test.height * (stay - growth * (mass @ come))


@pytest.mark.parametrize("K", [2, 3, 20])
def test_cells_are_bounded_from_below(K):
    rng = np.random.default_rng(K)
    for _ in range(3):
        test, growth = random_test(rng, 20), math.exp(rng.uniform(0.05, 3.0))
        a, low = lower_values(K, growth, test)
        width = test.spacing / test.cells
        error = 2e-3 * test.height * growth  # of the sum over the angle
        for i in rng.integers(0, a.size, 10):
            exact = [left_side(test, K, growth, a[i] + width * t) for t in (1e-6, 0.5, 1 - 1e-6)]
            assert low[i] <= min(exact) + error


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.5, 1e-2)])
@pytest.mark.parametrize("K", [2, 8])
def test_any_caps_prove_a_true_bound(K, epsilon, delta):
    top = upper(K, epsilon, delta)
    best = radial_test(K, epsilon, delta)
    rng = np.random.default_rng(2)
    ones = np.full(K, 1 / K)
    assert 0 < best.bound(L2(1.0, K), epsilon, delta, ones) <= top
    for scale in (0.3, 0.9, 0.99, 1.01, 1.1, 3.0):
        smooth = 1.0 + 0.02 * np.sin(rng.uniform(0, 3) * np.arange(best.caps.size) * best.spacing)
        changed = replace(best, caps=best.caps * smooth, height=scale * best.height)
        assert changed.bound(L2(1.0, K), epsilon, delta, ones) <= top
        changed = replace(best, caps=scale * best.caps, cells=3)
        assert changed.bound(L2(1.0, K), epsilon, delta, ones) <= top


def test_a_boundary_that_moves_inwards_is_refused():
    best = radial_test(8, 1.0, 1e-6)
    # For a jump of the caps from 0 to 1 within one node g falls from 2 to sqrt(3).
    assert not rises(0.01, np.repeat([0.0, 1.0], 101))
    jump = np.where(np.arange(best.caps.size) > best.caps.size // 2, 1.0, 0.0)
    negative = np.where(np.arange(best.caps.size) == 3, -1e-3, best.caps)
    ball = (L2(1.0, 8), 1.0, 1e-6, np.ones(8))
    for caps in (jump, negative, best.caps + 2.0):
        assert replace(best, caps=caps).bound(*ball) == 0.0
    assert replace(best, height=-1.0).bound(*ball) == 0.0
    assert replace(best, caps=best.caps[:2]).bound(*ball) == 0.0


def test_certificate_scales_and_applies_to_equal_weights_and_balls_only():
    test = radial_test(4, 1.0, 1e-5)
    once = test.bound(L2(1.0, 4), 1.0, 1e-5, np.ones(4))
    assert math.isclose(test.bound(L2(3.0, 4), 1.0, 1e-5, 2 * np.ones(4)), 18 * once, rel_tol=1e-9)
    assert test.bound(L2(1.0, 4), 1.0, 1e-5, np.arange(1.0, 5.0)) == 0.0
    assert test.bound(L1(1.0, 4), 1.0, 1e-5, np.ones(4)) == 0.0
    assert test.bound(L2(1.0, 1), 1.0, 1e-5, np.ones(1)) == 0.0
    # A looser budget is not proved by the same test to the same bound.
    assert test.bound(L2(1.0, 4), 1.2, 1e-5, np.ones(4)) < once
    assert test.bound(L2(1.0, 4), 1.0, 1e-2, np.ones(4)) < once


@pytest.mark.parametrize("K", [2, 5, 100, 3000, 100_000])
def test_rounding_covers_the_error_of_the_distribution(K):
    rng, b = np.random.default_rng(K), arb(K - 1) / 2
    around = 1.0 + rng.uniform(-6, 6, 8) / math.sqrt(K)
    for x in (10.0 ** rng.uniform(-3, 0, 6)).tolist() + np.clip(around, 0.01, 1.99).tolist():
        with ctx.workprec(3000):
            exact = (arb(x) / 2).beta_lower(b, b, True)  # regularised
            error = abs(float(arb(float(sphere_cdf(K, np.array(x)))) - exact))
            # Ten times less, for the error of the argument.
            assert error <= 0.1 * rounding(K) * float(exact) + 1e-300


def found(K, epsilon, delta, effort=FAST):
    """Return the bound on the mean variance for the unit ball."""
    test = radial_test(K, epsilon, delta, effort)
    return test.bound(L2(1.0, K), epsilon, delta, np.full(K, 1 / K))


@cache
def gamma(K, epsilon, delta):
    """Return the mean variance of generalised gamma noise, the best of some powers."""
    search = Search(L2(1.0, K), epsilon, delta)
    powers = np.linspace(1.0, 1.12, 13)
    return min(search.scales(p)(search.scale(p)).var()[0] for p in powers.tolist())


@pytest.mark.parametrize(
    ("K", "epsilon", "delta", "ratio"),
    [
        (5, 1.0, 1e-6, 1.02),
        (100, 1.0, 1e-6, 1.03),
        (30, 1.0, 0.1, 1.01),
    ],
)
def test_bound_is_near_generalised_gamma_noise(K, epsilon, delta, ratio):
    noise = float(gaussian_sigma(epsilon, delta)) ** 2
    if delta < 0.1:  # or it is as good
        noise = min(gamma(K, epsilon, delta), noise)
    assert noise / ratio <= found(K, epsilon, delta) <= noise


@pytest.mark.parametrize(
    ("K", "budget"),
    [
        (2, (0.1, 1e-4)),
        (2, (6.0, 1e-3)),
        (7, (0.4, 1e-9)),
        (7, (2.0, 0.2)),
        (40, (0.4, 1e-9)),
        (40, (6.0, 1e-3)),
    ],
)
def test_something_is_found_for_every_budget_and_never_above_known_noise(K, budget):
    normal = float(gaussian_sigma(*budget)) ** 2
    noise = min(normal, staircase_minimum(K, budget[0])[1])
    assert 0.3 * noise <= found(K, *budget) <= noise
