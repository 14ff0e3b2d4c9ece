"""Floors from volume: the ball as large as the set, the rearrangement, what is refused."""

import itertools
import math
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from dpnoise import L1, L2, AtMost, Box, LInf, Product, best, gaussian_sigma
from dpnoise.optimality.closed_forms import radial_certificate, staircase_minimum
from dpnoise.optimality.floor import floor
from dpnoise.optimality.rearrangement import (
    Rearrangement,
    ball_radius,
    projected_cubes,
    projected_radius,
    rearrangements,
)
from for_all import thinned


def falling(p):
    """Masses at -n, ..., n in falling order at 0, 1, -1, 2, -2, ..."""
    n = p.size // 2
    places = [n] + [n + sign * k for k in range(1, n + 1) for sign in (1, -1)]
    found = np.empty_like(p)
    found[places] = np.sort(p)[::-1]
    return found


def cost(p, epsilon, d):
    """Least delta of noise with these masses for a shift by d."""
    wide = np.pad(p, abs(d))
    return np.sum(np.maximum(wide - math.exp(epsilon) * np.roll(wide, d), 0.0))


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 2.0])
def test_rearranged_noise_is_as_private_on_average_and_each_shift_costs_more_than_shorter_ones(
    epsilon,
):
    rng = np.random.default_rng(4)
    for reach in (1, 3, 8):
        p = rng.exponential(size=41) ** rng.choice([0.3, 1, 4]) * (rng.random(41) < 0.8)
        p[-2:] = p[:2] = 0.0
        p /= p.sum()
        tidy = falling(p)
        shifts = range(-reach, reach + 1)
        before = sum(cost(p, epsilon, d) for d in shifts)
        after = [cost(tidy, epsilon, d) for d in shifts]
        assert sum(after) <= before + 1e-12
        right = after[reach:]
        assert all(a <= b + 1e-12 for a, b in pairwise(right))
        x = np.arange(-20, 21)
        assert tidy @ x**2 <= p @ x**2 + 1e-12


@pytest.mark.parametrize(
    ("sensitivity", "weights", "radius"),
    [
        (L2(0.7, 5), np.ones(5), 0.7),
        (L2(0.7, 5), np.full(5, 4.0), 1.4),
        (Box([1.0, 0.3]), np.ones(2), math.sqrt(1.2 / math.pi)),
        (Box([1.0, 0.0, 0.3]), np.array([1.0, 2.0]), math.sqrt(1.2 * math.sqrt(2.0) / math.pi)),
        (L1(2.0, 3), np.ones(3), 2.0 / math.pi ** (1 / 3)),
        (AtMost(1, of=3, each=2.0), np.ones(3), 2.0 / math.pi ** (1 / 3)),
        (Product(LInf(1.0, 2), L1(1.0, 1)), np.ones(3), (6.0 / math.pi) ** (1 / 3)),
    ],
    ids=repr,
)
def test_ball_is_as_large_as_the_stretched_set(sensitivity, weights, radius):
    found = ball_radius(sensitivity, weights)
    assert math.isclose(found, radius, rel_tol=1e-9)
    assert found <= radius


@pytest.mark.parametrize("K", [2, 5, 30])
def test_without_delta_the_staircase_of_a_cube_is_above_it_by_a_ratio_of_second_moments(K):
    radius = ball_radius(LInf(1.0, K), np.ones(K))
    ratio = (K + 2) / 3 / radius**2
    for epsilon in (0.05, 1.0, 4.0, 20.0):
        # The radius in the norm of both staircases has one distribution.
        staircase = (K + 2) / 3 * staircase_minimum(K, epsilon)[1]
        (found,) = rearrangements(LInf(1.0, K), epsilon, 0.0, np.full(K, 1 / K), known=0.0)
        value = found.bound(LInf(1.0, K), epsilon, 0.0, np.full(K, 1 / K))
        assert ratio * (1 - 1e-9) <= staircase / value <= ratio * (1 + 1e-5 * max(1.0, epsilon**2))
        assert ratio < math.pi * math.e / 6


def test_never_above_known_noise_for_random_sets_weights_and_budgets():
    rng = np.random.default_rng(15)
    used = 0
    for _ in range(24):
        K = int(rng.integers(2, 9))
        sides = rng.uniform(0.1, 2.0, K) * (rng.random(K) < 0.9)
        sides[0] = 1.0
        sensitivity = [
            Box(sides),
            LInf(1.5, K),
            L1(0.7, K),
            Product(LInf(0.5, K), L2(1.0, 2)),
        ][rng.integers(4)]
        epsilon = 10 ** rng.choice([-1.5, -0.5, 0.5, 1.0])
        delta = rng.choice([0.0, 1e-9, 1e-3, 0.1])
        weights = rng.exponential(size=sensitivity.dimension)
        active = sensitivity.box > 0
        k = np.count_nonzero(active)
        k_norm = (k + 1) * (k + 2) / epsilon**2 * (weights @ sensitivity.mean_square)
        for found in rearrangements(sensitivity, epsilon, delta, weights, known=0.0):
            value = found.bound(sensitivity, epsilon, delta, weights)
            used += value > 0
            assert value <= k_norm
            if delta > 0:
                sigma = gaussian_sigma(epsilon, delta, sensitivity.l2)
                assert value <= sigma**2 * np.sum(weights[active])
    assert used > 20


@pytest.mark.parametrize(("K", "k"), [(3, 2), (5, 2), (5, 3), (6, 4)])
def test_images_of_cubes_are_as_large_on_average_as_claimed(K, k):
    """The volume of the image A [-1, 1]^K is 2^k times the sum of all |det| of k columns of A."""
    rng = np.random.default_rng(K * 10 + k)
    columns = list(itertools.combinations(range(K), k))
    A = rng.standard_normal((2500, k, K))
    rows = np.linalg.qr(A.transpose(0, 2, 1))[0].transpose(0, 2, 1)
    units = A / np.linalg.norm(A, axis=1, keepdims=True)
    minors = [np.linalg.det(np.stack([rows, units])[..., list(some)]) for some in columns]
    sums = 2.0**k * np.sum(np.abs(minors), axis=0)
    ball = math.pi ** (k / 2) / math.gamma(k / 2 + 1)
    radii = (np.mean(sums, axis=1) / ball) ** (1.0 / k) * [1.0, math.sqrt(k / K)]
    assert float(projected_radius(K, np.array(k))) == pytest.approx(max(radii), rel=0.01)


def test_no_projected_bound_holds_for_another_set_or_unequal_weights():
    certificate = projected_cubes(10, 1.0, 0.0)[0]
    cube, ones = LInf(1.0, 10), np.ones(10)
    assert certificate.bound(cube, 1.0, 0.0, ones) > 0.0
    assert certificate.bound(cube, 1.0, 1e-6, ones) == 0.0  # no delta is spared for shifts
    assert certificate.bound(cube, 1.0, 0.0, np.arange(1.0, 11.0)) == 0.0
    assert certificate.bound(L2(1.0, 10), 1.0, 0.0, ones) == 0.0
    assert replace(certificate, size=11).bound(cube, 1.0, 0.0, ones) == 0.0
    double = certificate.bound(LInf(2.0, 10), 1.0, 0.0, ones)
    assert double == pytest.approx(4.0 * certificate.bound(cube, 1.0, 0.0, ones), rel=1e-12)


def test_a_changed_certificate_proves_no_more():
    cube, weights = LInf(1.0, 4), np.ones(4)
    (found,) = rearrangements(cube, 1.0, 1e-6, weights, known=0.0)
    problem = (cube, 1.0, 1e-6, weights)
    value = found.bound(*problem)
    assert 0.0 < value < 4 * best(cube, epsilon=1.0, delta=1e-6).variance
    for kept in (1.0, 1.5, 0.0, -1.0, math.nan):
        assert replace(found, kept=kept).bound(*problem) == 0.0
    assert replace(found, kept=1.0 - 1e-7).bound(*problem) == 0.0  # it would pay 10 delta > 1
    assert replace(found, kept=1.0 - 1e-4).bound(*problem) < value
    for size in (3, 5, 0):
        assert replace(found, size=size).bound(*problem) <= value
    assert replace(found, part=radial_certificate(4, 1.0)).bound(*problem) == 0.0
    assert found.bound(cube, 1.2, 1e-6, weights) < value
    assert found.bound(cube, 1.0, 2e-6, weights) < value
    assert found.bound(cube, 1.0, 1e-6, np.array([1.0, 1.0, 1.0, 0.0])) == 0.0
    pure = Rearrangement(4, 1.0, radial_certificate(4, 1.0))
    assert pure.bound(cube, 1.0, 0.0, weights) > value
    assert pure.bound(Product(L2(1.0, 2), L2(1.0, 2)), 1.0, 0.0, np.zeros(4)) == 0.0


PAGE = (Path(__file__).parents[3] / "docs" / "floor.md").read_text(encoding="utf-8")
EPSILONS = [float(x) for x in re.findall(r"\| epsilon = ([\d.]+) ", PAGE)]
ROWS = re.findall(r"^\| (1e-\d) \| (\d+) \| ((?:[\d.]+ \| )+[\d.]+) \|$", PAGE, re.MULTILINE)


def test_the_table_is_whole():
    assert len(EPSILONS) == 7
    assert len(ROWS) == 18


@pytest.mark.parametrize(
    ("row", "column"),
    thinned([(1, 0), (2, 2), (5, 6), (6, 5), (9, 4), (10, 6), (12, 3), (13, 1)]),
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
