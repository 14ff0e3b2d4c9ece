"""Radial tests: true bounds whatever the heights, near the best known noise where solved for."""

import math
from functools import lru_cache

import numpy as np
import pytest

from dpnoise import L1, L2, gaussian_sigma
from dpnoise.joint.calibrate import calibrate_joint
from dpnoise.optimality.radial_program import FAST, Effort, radial_test
from dpnoise.optimality.radial_test import (
    RadialTest,
    first_coordinate_cdf,
    intervals,
    lower_values,
    shell_heights,
)


@lru_cache
def upper(K, epsilon, delta):
    """Mean variance of the best joint noise of the package for the unit ball."""
    found = float(gaussian_sigma(epsilon, delta)) ** 2
    for family in ("norm-staircase", "generalised-gamma"):
        noise = calibrate_joint(family, epsilon=epsilon, delta=delta, sensitivity=L2(1.0, K))
        found = min(found, float(np.mean(noise.variance)))
    return found


@pytest.mark.parametrize("K", [2, 3, 4, 50])
def test_distribution_of_a_coordinate(K):
    t = np.linspace(-1, 1, 41)
    found = first_coordinate_cdf(K, t)
    if K == 2:
        assert np.allclose(found, 1 - np.arccos(t) / math.pi, atol=1e-12)
    if K == 3:
        assert np.allclose(found, (1 + t) / 2, atol=1e-12)
    assert np.allclose(found + found[::-1], 1.0, atol=1e-12)


@pytest.mark.parametrize("K", [2, 3, 20])
def test_values_on_intervals_are_below_the_integrals(K):
    rng = np.random.default_rng(K)
    epsilon, s, spacing, shells = 0.8, np.array([0.05, 0.3, 0.9]), 0.7, 5
    heights = rng.exponential(size=(9, 3))
    edges, y = shell_heights(spacing, heights, shells)
    low = lower_values(K, math.exp(epsilon), edges, y, s)
    ends = intervals(edges)
    # The angle by a midpoint rule in the coordinate's distribution.
    grid = np.linspace(-1, 1, 20001)
    cdf = first_coordinate_cdf(K, grid)
    t, mass = 0.5 * (grid[1:] + grid[:-1]), np.diff(cdf)
    padded = np.append(np.minimum(y, np.inf), np.zeros((1, 3)), axis=0)

    def psi(x, distance):
        shell = np.minimum(np.searchsorted(edges, x, side="right") - 1, len(y))
        return np.sum(padded[shell] * ((distance - x)[:, None] > s), axis=1)

    gaps = []
    for i in range(low.size):
        for r in ends[i] + (ends[i + 1] - ends[i]) * np.array([1e-6, 0.3, 0.7, 1 - 1e-6]):
            near, far = np.sqrt(r * r + 1 - 2 * r * t), np.sqrt(r * r + 1 + 2 * r * t)
            stay = mass @ psi(np.full(t.size, r), near)
            come = mass @ psi(far, np.full(t.size, r))
            exact = r * r + stay - math.exp(epsilon) * come
            gaps.append(exact - low[i])
    assert min(gaps) > -2e-2  # the rule's error at jumps
    assert np.median(gaps) < 1.0


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.5, 1e-2)])
@pytest.mark.parametrize("K", [2, 8])
def test_any_heights_prove_a_true_bound(K, epsilon, delta):
    top = upper(K, epsilon, delta)
    best = radial_test(K, epsilon, delta)
    rng = np.random.default_rng(2)
    ones = np.full(K, 1 / K)
    assert 0 < best.bound(L2(1.0, K), epsilon, delta, ones) <= top
    for scale in (0.3, 0.9, 1.1, 3.0):
        heights = scale * best.heights * rng.uniform(0.5, 1.5, best.heights.shape)
        changed = RadialTest(best.group, best.spacing, best.thresholds, heights, best.shells)
        assert changed.bound(L2(1.0, K), epsilon, delta, ones) <= top
    wide = RadialTest(1, 4.0, best.thresholds, best.heights, 1)
    assert wide.bound(L2(1.0, K), epsilon, delta, ones) <= top


@pytest.mark.parametrize(
    ("K", "epsilon", "delta", "ratio"),
    [(5, 1.0, 1e-6, 1.06), (10, 1.0, 1e-6, 1.05), (10, 1.0, 1e-2, 1.08)],
)
def test_bound_is_near_the_best_known_noise(K, epsilon, delta, ratio):
    found = radial_test(K, epsilon, delta).bound(L2(1.0, K), epsilon, delta, np.full(K, 1 / K))
    assert found <= upper(K, epsilon, delta) <= ratio * found


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


def test_small_epsilon_takes_groups_of_steps():
    test = radial_test(6, 1e-3, 1e-7)
    assert test.group == 100
    found = test.bound(L2(1.0, 6), 1e-3, 1e-7, np.full(6, 1 / 6))
    assert 0.5 * upper(6, 1e-3, 1e-7) <= found <= upper(6, 1e-3, 1e-7)


def test_more_effort_is_not_worse_by_much():
    coarse = radial_test(10, 1.0, 1e-6, Effort(24, 5, 8, 1))
    ones = np.full(10, 0.1)
    assert FAST.programs > 1
    better = radial_test(10, 1.0, 1e-6)
    budget = (L2(1.0, 10), 1.0, 1e-6, ones)
    assert coarse is None or coarse.bound(*budget) <= better.bound(*budget)


def pointwise(problem, r):
    """What `lower_values` of a problem bounds, at one radius."""
    K, growth, edges, y, s = problem
    shell = np.searchsorted(edges, r, side="right") - 1
    found = r * r
    below = first_coordinate_cdf(K, 0.5 * (edges**2 - 1.0) / r - 0.5 * r)
    for heights, t in zip(y.T, s, strict=True):
        if shell < len(y):
            found += heights[shell] * first_coordinate_cdf(K, (1 - t * t) / (2 * r) - t)
        if r > t:
            cut = first_coordinate_cdf(K, -t - (1 - t * t) / (2 * r))
            found -= growth * np.sum(np.diff(np.minimum(below, cut)) * heights)
    return found


@pytest.mark.parametrize("K", [2, 3, 20])
@pytest.mark.parametrize("width", [0.02, 0.1, 0.3])
def test_intervals_are_bounded_for_any_thresholds_and_widths_of_shells(K, width):
    """Also for thresholds far below the width of a shell, and for shells that end below 2."""
    rng = np.random.default_rng(K)
    for shells in (3, 8, 20) * 5:
        s = 10.0 ** rng.uniform(-3, -0.05, 2)
        edges = width * np.arange(shells + 1)
        y = rng.uniform(size=(shells, 2)) * rng.integers(0, 2, (shells, 2))
        growth, r = math.exp(rng.uniform(0, 3)), intervals(edges)
        problem = (K, growth, edges, y, s)
        for low, a, b in zip(lower_values(*problem), r[:-1], r[1:], strict=True):
            exact = [pointwise(problem, x) for x in np.linspace(a, b, 7)[1:-1]]
            assert low <= min(exact) + 1e-9 or low == -math.inf
