"""Certificates from projections, of blocks and of the heaviest coordinates."""

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import minimize

from dpnoise import L1, L2, AtMost, Box, Counts, Ellipsoid, LInf, Product
from dpnoise.joint.vectors import CorrelatedGaussian
from dpnoise.optimality.certificates import (
    Blocks,
    CountProjection,
    Layers,
    Projection,
    Subsets,
    count_projection,
    exchangeable,
    largest_moments,
    moments_size,
    unconditional,
)
from dpnoise.optimality.closed_forms import RadialStaircase
from dpnoise.optimality.scalar_floor import StaircaseVariance, WholeStaircase


def radial(K):
    return RadialStaircase().bound(L2(1.0, K), 1.0, 0.0, np.ones(K))


def test_layers_are_a_sum_over_the_levels_of_the_weights():
    weights = np.array([2.0, 7.0, 2.0, 2.0])
    layers = Layers((4, 1), (RadialStaircase(), RadialStaircase()))
    found = layers.bound(L2(1.0, 4), 1.0, 0.0, weights)
    assert math.isclose(found, 2 * radial(4) + 5 * radial(1), rel_tol=1e-9)
    fewer = Layers((4,), (RadialStaircase(),)).bound(L2(1.0, 4), 1.0, 0.0, weights)
    assert math.isclose(fewer, 2 * radial(4), rel_tol=1e-9)


@pytest.mark.parametrize("sizes", [(5,), (0,), (2, 2), (1,)])
def test_layers_that_do_not_fit_prove_nothing_or_less(sizes):
    layers = Layers(sizes, (RadialStaircase(),) * len(sizes))
    found = layers.bound(L2(1.0, 4), 1.0, 0.0, np.ones(4))
    assert found <= radial(4)
    assert layers.bound(Product(L2(1.0, 4)), 1.0, 0.0, np.ones(4)) == 0.0


def test_blocks_add_up():
    product = Product(L2(1.0, 2), L2(2.0, 3))
    parts = Blocks((RadialStaircase(), RadialStaircase()))
    found = parts.bound(product, 1.0, 0.0, np.ones(5))
    assert math.isclose(found, radial(2) + 4 * radial(3), rel_tol=1e-9)
    largest = replace(parts, error="max").bound(product, 1.0, 0.0, np.ones(5))
    assert math.isclose(largest, max(radial(2), 4 * radial(3)), rel_tol=1e-9)
    assert parts.bound(L2(1.0, 5), 1.0, 0.0, np.ones(5)) == 0.0
    assert Blocks((RadialStaircase(),)).bound(product, 1.0, 0.0, np.ones(5)) == 0.0


def test_a_box_becomes_a_cube_with_other_weights():
    cube, weights = exchangeable(Box([2.0, 0.0, 3.0]), np.array([1.0, 1.0, 5.0]))
    assert cube == LInf(1.0, 2)
    assert weights.tolist() == [4.0, 45.0]
    assert exchangeable(Product(L1(1.0, 2)), np.ones(2)) is None


def test_subsets_keep_the_kind():
    assert AtMost(3, of=9, each=2.0).restricted(range(2)) == AtMost(2, of=2, each=2.0)
    assert L1(2.0, 9).restricted(range(4)) == L1(2.0, 4)
    assert Box([1.0, 2.0, 3.0]).restricted([2, 0]) == Box([3.0, 1.0])


def test_cubes_of_subsets_need_equal_weights_and_the_right_size():
    class Constant:
        method = "constant"

        def bound(self, *_problem):
            return 3.0

    outer = AtMost(3, of=12)
    assert Subsets(LInf(1.0, 3), Constant()).bound(outer, 1.0, 0.0, np.ones(12)) == 12.0
    assert Subsets(LInf(1.0, 4), Constant()).bound(outer, 1.0, 0.0, np.ones(12)) == 0.0
    assert Subsets(LInf(1.1, 3), Constant()).bound(outer, 1.0, 0.0, np.ones(12)) == 0.0
    assert Subsets(LInf(1.0, 3), Constant()).bound(outer, 1.0, 0.0, np.arange(12.0)) == 0.0
    assert Subsets(LInf(1.0, 3), Constant()).bound(LInf(1.0, 12), 1.0, 0.0, np.ones(12)) == 12.0
    assert Subsets(LInf(1.0, 13), Constant()).bound(LInf(1.0, 12), 1.0, 0.0, np.ones(12)) == 0.0


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
def test_best_moments_are_a_mixture_and_not_beaten(ball):
    rng = np.random.default_rng(5)
    points = differences(ball, 30, rng)
    for _ in range(10):
        w = rng.exponential(size=ball.dimension)
        best = largest_moments(ball, w)
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
    m = largest_moments(ball, w)
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


COUNTS = [
    Counts(2, of=2, whole=False, relation="add-remove"),
    Counts(4, of=4, each=0.5, whole=False, relation="add-remove"),
    Counts(3, of=12, whole=False, relation="add-remove"),
    Counts(40, of=40, whole=False, relation="add-remove"),
    Counts(2, of=5, whole=False, relation="replace-one"),
    Counts(3, of=12, whole=False, relation="replace-one"),
    Counts(4, of=5, whole=False, relation="replace-one"),
    Counts(1, of=4, exactly=True, relation="replace-one"),
    Counts(3, of=5, each=2.0, exactly=True, relation="replace-one"),
]
SCALAR = StaircaseVariance()


def along(ball):
    """The bound for one number that serves a set: exact counts have no smaller differences."""
    return WholeStaircase(1) if ball.differences.full else SCALAR


def patterns(ball):
    """Every pattern of entries `each` and -`each` in the set."""
    every = [(up, down) for up in range(ball.of + 1) for down in range(ball.of + 1 - up)]
    return np.array([pair for pair in every if max(pair) and ball.differences.holds_pattern(*pair)])


@pytest.mark.parametrize("ball", [ball for ball in COUNTS if ball.of <= 5], ids=repr)
def test_the_matrix_of_a_mixture_over_all_places(ball):
    """tr(M^(1/2))^2 from the matrix itself."""
    K, w = ball.of, np.full(ball.of, 0.3)
    some = patterns(ball)
    for pair, shares in [(some[[0, -1]], (0.4, 0.6)), (some[[-1]], (2.0,))]:
        M = np.zeros((K, K))
        for (up, down), share in zip(pair.tolist(), shares, strict=True):
            d = np.repeat([1.0, -1.0, 0.0], [up, down, K - up - down]) * ball.each
            every = np.array(list(permutations(d)))
            assert np.max(ball.norm(every)) <= 1.0
            M += share / sum(shares) * every.T @ every / len(every)
        trace = np.sum(np.sqrt(np.maximum(np.linalg.eigvalsh(M), 0.0)))
        found = CountProjection(tuple(map(tuple, pair.tolist())), shares, along(ball))
        expected = 0.3 * trace**2 * along(ball).bound(1.0, 0.0)
        assert found.bound(ball, 1.0, 0.0, w) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("ball", COUNTS, ids=repr)
def test_the_best_covariance_has_the_bound(ball):
    """Sigma = p (I - J / K) + q J / K with d' Sigma^-1 d <= 1 / V1: no projection forbids it."""
    K = ball.of
    up, down = patterns(ball).T.astype(float)
    mean = (up - down) ** 2 / K  # the part of |d|^2 along the ones
    rest = up + down - mean

    def variance(log_ratio):
        """Mean variance of the smallest Sigma with q / p = exp(log_ratio), for V1 = 1."""
        ratio = math.exp(float(log_ratio[0]))
        return np.max(rest + mean / ratio) * (K - 1 + ratio) / K * ball.each**2

    starts = np.linspace(-12.0, 5.0, 40)
    found = [minimize(variance, [x], method="Nelder-Mead", tol=1e-12).fun for x in starts]
    bound = count_projection(ball, along(ball)).bound(ball, 1.0, 0.0, np.full(K, 1.0 / K))
    ratio = bound / along(ball).bound(1.0, 0.0) / min(found)
    assert 0.995 < ratio <= 1.0 + 1e-9


def test_certificates_of_other_counts_prove_nothing():
    ball, w = Counts(2, of=5, whole=False, relation="add-remove"), np.ones(5)
    good = CountProjection(((2, 0),), (1.0,), SCALAR)
    assert good.bound(ball, 1.0, 0.0, w) > 0.0
    assert good.bound(ball, 1.0, 0.0, np.arange(1.0, 6.0)) == 0.0
    assert good.bound(L2(1.0, of=5), 1.0, 0.0, w) == 0.0
    assert good.bound(Counts(1, of=5, whole=False, relation="add-remove"), 1.0, 0.0, w) == 0.0
    whole = Counts(2, of=5, relation="add-remove")  # has no smaller differences
    assert good.bound(whole, 1.0, 0.0, w) == 0.0
    assert replace(good, scalar=WholeStaircase(2)).bound(whole, 1.0, 0.0, w) == 0.0
    assert replace(good, scalar=WholeStaircase(1)).bound(whole, 1.0, 0.0, w) > 0.0
    for some, shares in [
        (((1, 1),), (1.0,)),
        (((3, 0),), (1.0,)),
        (((-1, 0),), (1.0,)),
        (((2, 0),), (0.0,)),
        (((2, 0),), (math.nan,)),
        (((2, 0), (1, 0)), (2.0, -1.0)),
        (((2, 0), (1, 0)), (1.0,)),
        ((), ()),
    ]:
        assert CountProjection(some, shares, SCALAR).bound(ball, 1.0, 0.0, w) == 0.0


@pytest.mark.parametrize("ball", COUNTS, ids=repr)
def test_unequal_weights_have_the_bound_of_a_set_with_all_signs(ball):
    """At least V1 w_i at one coordinate, at most what a covariance of the hull with signs has."""
    w = np.random.default_rng(8).exponential(size=ball.of)
    scalar = along(ball).bound(1.0, 0.0)
    inner, hull = unconditional(ball), AtMost(ball.moved, ball.of, ball.each)
    bound = Projection(largest_moments(inner, w), along(ball)).bound(ball, 1.0, 0.0, w)
    assert bound >= scalar * np.sum(w) * ball.each**2 * (1 - 1e-9)
    outer = largest_moments(hull, w)
    assert bound <= scalar * np.sum(np.sqrt(w * outer)) ** 2 * (1 + 1e-9)


@pytest.mark.parametrize("axes", [(1.0, 3.0), (0.5, 1.0, 0.25), (1.0, 0.0, 2.0)])
def test_an_ellipsoid_needs_the_sum_of_its_squared_axes(axes):
    """V1 sum w_i a_i^2, and Gaussian noise sigma_1^2 / V1 times that; turned, V1 sum w_i M_ii."""
    along, w = Ellipsoid(axes), np.arange(1.0, len(axes) + 1.0)
    v1 = SCALAR.bound(1.0, 0.0)
    bound = Projection(largest_moments(along, w), SCALAR).bound(along, 1.0, 0.0, w)
    assert bound == pytest.approx(v1 * float(np.sum(w * np.square(axes))), rel=1e-9)
    if min(axes) == 0.0:
        return
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(len(axes), len(axes))))[0]
    tilted = Ellipsoid(np.array(axes)[:, None] * turn)
    inner = unconditional(tilted)
    bound = Projection(largest_moments(inner, w), SCALAR).bound(tilted, 1.0, 0.0, w)
    assert bound == pytest.approx(v1 * float(np.sum(w * tilted.diagonal)), rel=1e-9)
    equal = np.ones(len(axes))
    same = Projection(largest_moments(unconditional(tilted), equal), SCALAR)
    least = float(np.sum(CorrelatedGaussian(tilted, 1.0).var()))
    assert same.bound(tilted, 1.0, 0.0, equal) == pytest.approx(v1 * least, rel=1e-9)
