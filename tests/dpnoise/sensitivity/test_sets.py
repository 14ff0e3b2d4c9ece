"""Sensitivity sets: norm, support function, volume and uniform samples against each other."""

import math

import numpy as np
import pytest
from scipy import stats

from dpnoise import L1, L2, AtMost, Box, Counts, Ellipsoid, LInf, Product
from dpnoise.sensitivity.ellipsoid import enclosing_ellipsoid
from for_all import for_all
from refusals import names_every_problem

SETS = [
    Box([1.0, 0.25, 3.0]),
    L1(2.0, of=4),
    L2(0.5, of=3),
    LInf(1.5, of=2),
    AtMost(2, of=5, each=1.5),
    AtMost(4, of=5),
    AtMost(1, of=3),
    Ellipsoid([1.0, 3.0, 0.5]),
    Counts(2, of=5, each=1.5, whole=False, relation="add-remove"),
    Counts(4, of=4, relation="add-remove"),
    Counts(2, of=6, relation="replace-one"),
    Counts(3, of=4, each=0.5, whole=False, relation="replace-one"),
    Product(
        Counts(2, of=3, relation="add-remove"),
        L1(2.0, of=2, relation="add-remove"),
        relation="add-remove",
    ),
    Product(AtMost(2, of=4, each=2.0), L2(3.0, of=2), Box([0.1])),
]
DRAWS = 20_000
every = for_all("given", SETS)


@every
def test_uniform_points_have_the_norm_and_moments_of_the_set(given):
    """P(norm <= t) = t^K for any convex body; 5 standard errors (fixed seed)."""
    points = given.sample((DRAWS // 10, 10), random_state=4)
    assert points.shape == (DRAWS // 10, 10, given.dimension)
    norm = given.norm(points).ravel()
    assert stats.kstest(norm**given.dimension, "uniform").pvalue > 1e-4
    squares = points.reshape(-1, given.dimension) ** 2
    error = np.std(squares, axis=0) / math.sqrt(DRAWS)
    assert np.all(np.abs(np.mean(squares, axis=0) - given.mean_square) < 5 * error)
    sizes = np.sqrt(squares)
    error = np.std(sizes, axis=0) / math.sqrt(DRAWS)
    assert np.all(np.abs(np.mean(sizes, axis=0) - given.mean_abs) < 5 * error)


@every
def test_volume_is_the_share_of_the_box(given):
    """Uniform points of the surrounding box; 5 standard errors (fixed seed)."""
    rng = np.random.default_rng(5)
    points = rng.uniform(-1.0, 1.0, (100_000, given.dimension)) * given.box
    share = math.exp(given.log_volume) / np.prod(2.0 * given.box)
    assert abs(np.mean(given.norm(points) <= 1.0) - share) < 5 * math.sqrt(share / 100_000)


@every
def test_support_function_is_the_dual_norm(given):
    """a'x <= support(a) norm(x); the largest norms are those of extreme points."""
    rng = np.random.default_rng(6)
    a, x = rng.normal(size=(2, 200, given.dimension))
    assert np.all(np.abs(np.sum(a * x, axis=-1)) <= given.support(a) * given.norm(x) * (1 + 1e-12))
    corner = given.extreme_point
    assert math.isclose(given.norm(corner), 1.0, rel_tol=1e-15)
    assert np.all(np.abs(corner) <= given.box)
    hull = AtMost(given.moved, given.of, given.each) if isinstance(given, Counts) else given
    assert math.isclose(hull.support(np.ones(given.dimension)), given.l1, rel_tol=1e-14)
    # On the boundary, no point is longer than l2, and the farthest of many is close to it.
    points = given.sample(4000, random_state=3)
    ends = points / given.norm(points)[:, None]
    assert 0.6 * given.l2 < np.max(np.linalg.norm(ends, axis=-1)) <= given.l2 * (1 + 1e-12)
    assert given.support(corner) >= np.sum(corner**2) * (1 - 1e-14)
    assert np.linalg.norm(corner) <= given.l2 * (1 + 1e-15)
    # Best images of a sparse point lie on the axes.
    axes = np.eye(given.dimension)
    assert np.allclose(given.support(axes), given.box, rtol=1e-15)


@for_all("K", [1, 2, 3, 10, 500])
def test_at_most_one_and_all_coordinates_are_the_l1_and_the_l_infinity_ball(K):
    x = np.random.default_rng(8).normal(size=(20, K))
    for given, other in ((AtMost(1, K, 2.0), L1(2.0, K)), (AtMost(K, K, 2.0), LInf(2.0, K))):
        assert np.allclose(given.norm(x), other.norm(x), rtol=1e-14)
        assert np.allclose(given.support(x), other.support(x), rtol=1e-13)
        assert given.log_volume == other.log_volume
        volume, first, square = given.irwin_hall  # the general formulas too
        log_volume = K * math.log(4.0) + math.log(volume) - math.lgamma(K + 1)
        assert math.isclose(log_volume, other.log_volume, rel_tol=1e-12, abs_tol=1e-9)
        assert math.isclose(2.0 * first, other.mean_abs[0], rel_tol=1e-14)
        assert math.isclose(4.0 * square, other.mean_square[0], rel_tol=1e-14)


@for_all(("m", "of"), [(1, 3), (3, 3), (2, 5), (6, 9)])
def test_share_of_the_box_in_at_most_m_coordinates(m, of):
    """The norm of a uniform point is that of its largest entry; 5 standard errors."""
    given = AtMost(m, of=of, each=2.0)
    points = np.abs(given.sample(20_000, random_state=1))
    share = np.mean(np.max(points, axis=-1) >= np.sum(points, axis=-1) / m)
    assert abs(share - given.box_share) <= 5 * math.sqrt(0.25 / 20_000)


def test_the_norm_of_unequal_boxes_and_zeros():
    given = Box([2.0, 0.0, 1.0])
    assert np.array_equal(given.norm([[2.0, 0.0, -3.0], [0, 0, 0]]), [3.0, 0.0])
    assert given.norm([0.0, 1e-300, 0.0]) == math.inf
    assert np.array_equal(given.active, [True, False, True])
    assert given.active_dimension == 2
    assert math.isclose(given.log_volume, math.log(8.0))
    assert np.all(given.sample(10, random_state=0)[:, 1] == 0.0)
    assert given.support([1.0, math.inf, 1.0]) == 3.0


@for_all("given", SETS)
def test_enclosing_ellipsoid_contains_the_set_and_no_smaller_one_does(given):
    ellipsoid = enclosing_ellipsoid(given)
    points = given.sample(2000, random_state=3)
    ends = np.vstack([points / given.norm(points)[:, None], given.extreme_point])
    if isinstance(given, Product):
        ends = ends[-1:]
    assert np.max(ellipsoid.norm(ends)) <= 1.0
    corner = ellipsoid.norm(given.extreme_point)
    assert corner > 1.0 - 1e-12
    # Nearby axes that still contain the extreme point have a larger sum of squares.
    size = np.sum(np.square(ellipsoid.axes))
    if isinstance(given, Box | LInf):
        for way in np.random.default_rng(2).normal(size=(50, given.dimension)):
            other = Ellipsoid(ellipsoid.box * np.exp(0.1 * way))
            fitted = other.scaled(float(other.norm(given.extreme_point)))
            assert np.sum(np.square(fitted.axes)) > size * (1 - 1e-12)


@every
def test_scaling(given):
    twice = given.scaled(2.0)
    x = np.random.default_rng(9).normal(size=(5, given.dimension))
    assert type(twice) is type(given)
    assert np.allclose(2.0 * twice.norm(x), given.norm(x), rtol=1e-15)
    shift = given.dimension * math.log(2.0)
    assert math.isclose(twice.log_volume, given.log_volume + shift, abs_tol=1e-12)
    assert (twice.l1, twice.l2) == pytest.approx((2 * given.l1, 2 * given.l2), rel=1e-15)
    assert eval(repr(given)) == given  # noqa: S307  (printed as the call that makes it)


@for_all("given", SETS[:-1])
def test_extreme_sizes(given):
    for factor in (1e-98, 1e98):
        far = given.scaled(factor)
        assert math.isclose(far.norm(factor * given.extreme_point), 1.0, rel_tol=1e-14)
        assert math.isclose(far.l2, factor * given.l2, rel_tol=1e-14)
        assert np.allclose(far.mean_square, factor**2 * given.mean_square, rtol=1e-14)
    assert given.norm(np.full(given.dimension, math.inf)) == math.inf
    assert given.norm(np.full(given.dimension, 1e200)) < math.inf


test_bad_input_names_every_problem = names_every_problem(
    [
        (lambda: Box([0.0, 0.0]), ["at least one above 0"]),
        (lambda: Box([]), ["shape of lambdas", "(0,)"]),
        (lambda: Ellipsoid([[1.0, 2.0]]), ["shape of axes", "(1, 2)"]),
        (lambda: L2(math.inf, of=1.5), ["radius", "inf", "of", "1.5"]),
        (lambda: LInf("1", of=True), ["radius", "'1'", "of", "True"]),
        (lambda: AtMost(0, of=0, each=0), ["m", "got 0", "of", "each"]),
        (lambda: L2(1.0, of=2).support("a"), ["a", "'a'"]),
        (lambda: L2(1.0, of=2).sample(-1), ["size", "-1"]),
        (lambda: Box([1.0, -1.0, math.nan]), ["lambdas", "-1.0", "nan"]),
        (lambda: Box([[1.0], [1.0, 2.0]]), ["lambdas", "finite numbers"]),
        (lambda: Box([1.0, 1e-200]), ["0 or at least 1e-100", "1e-200"]),
        (lambda: Ellipsoid([0.0, -1.0]), ["axes", "-1.0"]),
        (lambda: L1(0.0, of=0), ["radius", "got 0.0", "of", "got 0"]),
        (lambda: AtMost(5, of=3, each=-1), ["m", "from 1 to 3", "got 5", "each", "got -1"]),
        (lambda: AtMost(2, of=10**6), ["of", "5000", "1000000"]),
        (Product, ["blocks", "at least one"]),
        (lambda: Product(L2(1.0), 3.0, "x"), ["blocks[1]", "3.0", "blocks[2]", "'x'"]),
        (lambda: L2(1.0).scaled(0.0), ["factor", "got 0.0"]),
        (lambda: L2(1.0, of=2).norm([1.0]), ["shape of x", "length 2", "(1,)"]),
    ]
)
