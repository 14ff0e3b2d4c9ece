"""Floors from projections: against the covariance of noise that meets all of them."""

import math

import numpy as np
import pytest

from dpnoise import L1, L2, AtMost, Box, LInf, Product
from dpnoise.optimality.projection import Projection, best_moments, moments_size
from dpnoise.optimality.scalar_floor import StaircaseVariance

SETS = [
    LInf(1.5, 4),
    Box([1.0, 0.3, 2.0]),
    L1(2.0, 3),
    L2(2.0, 5),
    AtMost(2, of=7, each=0.5),
    Product(L2(1.0, 2), LInf(0.4, 3)),
]


def differences(ball, count, rng):
    """Return differences with random signs: extreme points and points on the boundary."""
    signs = 2.0 * rng.integers(0, 2, (count, ball.dimension)) - 1.0
    inner = ball.sample(count, rng)
    inner /= ball.norm(inner)[:, None]
    return np.concatenate([signs * ball.extreme_point, inner])


@pytest.mark.parametrize("ball", SETS, ids=repr)
def test_moments_of_mixtures_of_differences_have_size_at_most_1(ball):
    rng = np.random.default_rng(3)
    points = differences(ball, 30, rng)
    for _ in range(20):
        share = rng.dirichlet(np.ones(len(points)) * 0.2)
        assert moments_size(ball, share @ points**2) <= 1.0 + 1e-12


@pytest.mark.parametrize("ball", SETS, ids=repr)
def test_size_is_a_gauge(ball):
    rng = np.random.default_rng(4)
    m, other = rng.exponential(size=(2, ball.dimension))
    size = moments_size(ball, m)
    assert math.isclose(moments_size(ball, 3.0 * m), 3.0 * size, rel_tol=1e-12)
    assert moments_size(ball, m + other) <= size + moments_size(ball, other) + 1e-12


@pytest.mark.parametrize("ball", SETS, ids=repr)
def test_best_moments_are_a_mixture_and_not_beaten(ball):
    rng = np.random.default_rng(5)
    points = differences(ball, 30, rng)
    for _ in range(10):
        w = rng.exponential(size=ball.dimension)
        best = best_moments(ball, w)
        assert moments_size(ball, best) <= 1.0 + 1e-12
        value = np.sum(np.sqrt(w * best))
        for _ in range(30):
            m = rng.dirichlet(np.ones(len(points)) * 0.2) @ points**2
            assert np.sum(np.sqrt(w * m)) <= value * (1 + 1e-12)


@pytest.mark.parametrize("ball", SETS, ids=repr)
def test_a_covariance_that_meets_every_projection_has_this_sum(ball):
    """No more can be had from projections: sigma_i^2 in proportion to sqrt(m_i / w_i)."""
    rng = np.random.default_rng(6)
    w = rng.exponential(size=ball.dimension)
    scalar = StaircaseVariance()
    V1 = scalar.bound(1.0, 0.0)
    m = best_moments(ball, w)
    bound = Projection(m, scalar).bound(ball, 1.0, 0.0, w)
    variance = V1 * np.sqrt(m / w) * np.sum(np.sqrt(w * m))
    assert math.isclose(float(w @ variance), bound, rel_tol=1e-9)
    d = differences(ball, 200, rng)
    assert np.max(np.sum(d**2 / variance, axis=1)) <= (1 + 1e-9) / V1
    for a in rng.normal(size=(50, ball.dimension)):
        assert float(a**2 @ variance) >= float(ball.support(a)) ** 2 * V1 * (1 - 1e-9)


def test_moments_where_nothing_moves_prove_nothing():
    ball = Box([1.0, 0.0])
    assert moments_size(ball, np.array([1.0, 1.0])) == math.inf
    for m in ([1.0, 1.0], [0.0, 0.0]):
        test = Projection(np.array(m), StaircaseVariance())
        assert test.bound(ball, 1.0, 0.0, np.ones(2)) == 0.0
