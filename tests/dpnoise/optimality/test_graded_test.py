"""Graded radial tests: means over spheres, bounds on cells, and what the search finds."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from flint import arb, ctx

from dpnoise import L1, L2, gaussian_sigma
from dpnoise.optimality.closed_forms import staircase_minimum
from dpnoise.optimality.floor import floor
from dpnoise.optimality.graded_test import GradedTest, _Cells, _moments, gains, incoming, staying
from dpnoise.optimality.graded_test import graded_test as search
from dpnoise.optimality.radial_test import rounding, sphere_cdf

graded_test = cache(search)  # several tests look at one that was found


def random_test(rng, per_unit=4):
    """Return a test with random values."""
    offsets = np.sort(rng.uniform(0.0, 1.0 - 1e-3, 3))
    values = rng.exponential(size=(rng.integers(4, 9), 3))
    values[:, 0] *= rng.integers(0, 2)
    return GradedTest(1, per_unit, offsets, values, 0.0)


def psi(test, norm, distance):
    """Return the test at points of given norms and distances from d, by its definition."""
    squares = (np.arange(len(test.values) + 1) / test.per_unit) ** 2
    total = np.zeros(np.broadcast(norm, distance).shape)
    for k, offset in enumerate(test.offsets):
        nodes = np.append(test.values[:, k], 0.0)
        total += np.interp(norm**2, squares, nodes) * (distance > norm + offset)
    return total


@cache
def sphere(K, steps=20_001):
    """Return masses and middles of cells of X = 1 + U_1."""
    edges = 1.0 - np.cos(np.linspace(0.0, math.pi, steps))
    return np.diff(sphere_cdf(K, edges)), 0.5 * (edges[1:] + edges[:-1])


def left_side(test, K, growth, r):
    """Return r^2 + E psi(r U) - e^epsilon E psi(r U + d), by a sum over the angle."""
    mass, x = sphere(K)
    away = np.sqrt((r + 1.0) ** 2 - 2.0 * r * x)  # |r U - d|
    norm = np.sqrt((r - 1.0) ** 2 + 2.0 * r * x)  # |r U + d|
    stay = mass @ psi(test, np.full(x.size, r), away)
    return r * r + stay - growth * (mass @ psi(test, norm, np.full(x.size, r)))


@pytest.mark.parametrize("K", [2, 3, 20])
def test_cells_are_bounded_from_below(K):
    rng = np.random.default_rng(K)
    for _ in range(2):
        test, growth = random_test(rng), math.exp(rng.uniform(0.05, 3.0))
        a, gain = gains(test, K, growth, -math.inf)
        width = a[1]
        error = 5e-4 * test.height * growth  # of the sum over the angle
        for i in rng.integers(0, a.size, 10):
            exact = [left_side(test, K, growth, a[i] + width * t) for t in (1e-6, 0.5, 1 - 1e-6)]
            assert a[i] ** 2 + gain[i] <= min(exact) + error


@pytest.mark.parametrize("K", [2, 3, 20])
def test_bounds_tend_to_the_integral_as_cells_are_divided(K):
    rng = np.random.default_rng(K + 1)
    test, growth, width = random_test(rng), 2.0, 2.0**-16  # the finest
    a = width * rng.integers(0.1 / width, (test.end + 1.0) / width, 10)
    for r, gain in zip(a, _Cells(test, K, growth).gains(a, width), strict=True):
        exact = left_side(test, K, growth, r)
        assert abs(r * r + gain - exact) <= 4e-3 * test.height * growth


def test_cells_cover_all_radii_where_psi_counts():
    test = random_test(np.random.default_rng(5))
    a, gain = gains(test, 2, 2.0, -math.inf)
    a, gain = gains(test, 2, 2.0, float(np.median(a * a + gain)))
    order = np.argsort(a)
    a, gain = a[order], gain[order]
    steps = np.diff(np.append(a, test.end + 1.0))
    assert a[0] == 0.0
    # No gap: each cell ends where the next begins, and its width is 4^-n of the widest.
    assert np.all(np.isin(steps, 4.0 ** -np.arange(6.0) / (16 * test.per_unit)))
    assert np.ptp(steps) > 0.0
    cells = _Cells(test, 2, 2.0)
    for width in np.unique(steps):
        at = np.nonzero(steps == width)[0][:100]
        assert np.allclose(gain[at], cells.gains(a[at], width), rtol=1e-12, atol=1e-12)


STEPS = 1.0617  # at K = 2, epsilon = 1, delta = 0.1 of a step density, by the primal program


@pytest.mark.parametrize(("K", "delta"), [(3, 1e-6), (2, 0.1)])
def test_any_values_prove_a_true_bound(K, delta):
    top = min(staircase_minimum(K, 1.0)[1], STEPS if (K, delta) == (2, 0.1) else math.inf)
    best = graded_test(K, 1.0, delta)
    ball = (L2(1.0, K), 1.0, delta, np.full(K, 1 / K))
    rng = np.random.default_rng(2)
    coarse = replace(best, level=-1e9)  # no cell is divided
    for scale in (0.3, 1.01):
        noisy = scale * best.values * rng.uniform(0.98, 1.02, best.values.shape)
        assert replace(coarse, values=scale * best.values).bound(*ball) <= top
        assert replace(coarse, values=noisy).bound(*ball) <= top
        moved = replace(coarse, offsets=best.offsets * min(scale, 1.0))
        assert moved.bound(*ball) <= top


def test_a_level_that_is_claimed_but_not_reached_proves_nothing_more(monkeypatch):
    monkeypatch.setattr("dpnoise.optimality.graded_test._DIVISIONS", 1)
    best, ball = graded_test(3, 2.0, 0.3), (L2(1.0, 3), 2.0, 0.3, np.full(3, 1 / 3))
    assert replace(best, level=1.1 * best.level).bound(*ball) <= best.bound(*ball) * 1.02


def test_unsound_tests_are_refused():
    test = graded_test(2, 1.0, 0.1)
    ball = (L2(1.0, 2), 1.0, 0.1, np.ones(2))
    assert test.bound(*ball) > 0.0
    o, f = test.offsets, test.values
    negative, missing = f.copy(), f.copy()
    negative[2, 1], missing[2, 1] = -1e-9, math.nan
    for wrong in (
        {"values": negative},
        {"values": missing},
        {"values": f[:, :-1]},
        {"values": f[:0]},
        {"offsets": o[::-1]},
        {"offsets": o + 0.5},
        {"offsets": o - 0.1},
        {"per_unit": 3},
        {"level": math.nan},
    ):
        assert replace(test, **wrong).bound(*ball) == 0.0


def test_certificate_scales_and_applies_to_equal_weights_and_balls_only():
    test = replace(graded_test(2, 1.0, 0.1), level=-1e9)  # no cell is divided
    once = test.bound(L2(1.0, 2), 1.0, 0.1, np.ones(2))
    assert math.isclose(test.bound(L2(3.0, 2), 1.0, 0.1, 2 * np.ones(2)), 18 * once, rel_tol=1e-9)
    assert test.bound(L2(1.0, 2), 1.0, 0.1, np.arange(1.0, 3.0)) == 0.0
    assert test.bound(L1(1.0, 2), 1.0, 0.1, np.ones(2)) == 0.0
    assert test.bound(L2(1.0, 1), 1.0, 0.1, np.ones(1)) == 0.0
    # A looser budget is not proved by the same test to the same bound.
    assert test.bound(L2(1.0, 2), 1.2, 0.1, np.ones(2)) < once
    assert test.bound(L2(1.0, 2), 1.0, 0.2, np.ones(2)) < once


@pytest.mark.parametrize("K", [2, 3, 12])
@pytest.mark.parametrize("R", [0.3, 0.75, 1.0, 1.25, 2.6875, 7.5])
def test_weights_give_the_mean_of_piecewise_linear_functions(K, R):
    rng, per, offsets = np.random.default_rng(3), 4, np.array([0.0, 0.3, 0.75, 0.99])
    nodes = rng.exponential(size=60)
    weights, first, error = incoming(K, np.array([R]), per, offsets)
    found = weights[0] @ nodes[first[0] + np.arange(per + 3)]
    mass, x = sphere(K, 200_001)
    rho = np.sqrt((R - 1.0) ** 2 + 2.0 * R * x)
    values = np.interp(rho**2, (np.arange(60) / per) ** 2, nodes)
    exact = [mass @ (values * (rho < R - o)) for o in offsets]
    assert np.allclose(found, exact, atol=2e-5)
    assert np.min(weights) >= -np.max(error)
    stay = staying(K, np.array([R]), offsets)[0]
    distance = np.sqrt((R + 1.0) ** 2 - 2.0 * R * x)
    assert np.allclose(stay, [mass @ (distance > R + o) for o in offsets], atol=2e-5)


@pytest.mark.parametrize("K", [2, 3, 10])
def test_moments_are_within_the_rounding_allowed(K):
    half = arb(K - 1) / 2
    for x in (1e-9, 1e-3, 0.2, 1.0, 1.7):
        with ctx.workprec(500):
            exact = [(arb(x) / 2).beta_lower(half + more, half, True) for more in (0, 1)]
            found = [float(value) for value in _moments(K, np.array(x))]
            for number, value in zip(found, exact, strict=True):
                assert abs(float(arb(number) - value)) <= 0.1 * rounding(K) * float(value)


def test_share_that_stays_falls_with_the_radius():
    R = np.linspace(0.01, 20.0, 2000)
    stay = staying(2, R, np.array([0.0, 0.5, 0.999]))
    assert np.all(np.diff(stay, axis=0) <= 1e-15)
    assert np.all(stay[R < 0.0005] == 1.0)


def found(K, epsilon, delta):
    """Return the bound on the mean variance for the unit ball."""
    return graded_test(K, epsilon, delta).bound(L2(1.0, K), epsilon, delta, np.full(K, 1 / K))


@pytest.mark.slow
@pytest.mark.parametrize(("K", "ratio"), [(2, 1.0065), (3, 1.0115)])
def test_bound_is_near_the_staircase_for_small_delta(K, ratio):
    noise = staircase_minimum(K, 1.0)[1]
    assert noise / ratio <= found(K, 1.0, 1e-6) <= noise


def test_bound_is_above_any_chain_of_spheres():
    # What tests that are 0 or W reach as delta falls, at K = 2 and epsilon = 1.
    gamma, k = np.linspace(0.0, 1.0, 1001)[:, None], np.arange(80)
    chain = np.exp(-k) * (gamma + k)
    best = np.min(np.sum(chain * (gamma + k) ** 2, axis=1) / np.sum(chain, axis=1)) / 2.0
    assert 2.87 < best < 2.88
    assert found(2, 1.0, 1e-6) > 1.02 * best


@pytest.mark.parametrize(
    ("K", "budget"),
    [(2, (0.01, 1e-3)), (3, (2.0, 0.3)), (2, (0.3, 0.6))],
)
def test_something_is_found_for_every_budget_and_never_above_known_noise(K, budget):
    noise = min(float(gaussian_sigma(*budget)) ** 2, staircase_minimum(K, budget[0])[1])
    assert 0.6 * noise <= found(K, *budget) <= noise


def test_floor_uses_it_and_verifies():
    bound = floor(L2(2.0, of=2), epsilon=1.0, delta=0.1, method="program")
    assert bound.method == "graded radial test"
    assert bound.verify() >= bound.value * (1.0 - 1e-9)
    assert bound.value > 1.03 * floor(L2(2.0, of=2), epsilon=1.0, delta=0.1).value


def test_large_delta_as_in_the_docs():
    assert 1.05 < found(2, 1.0, 0.1) < STEPS
