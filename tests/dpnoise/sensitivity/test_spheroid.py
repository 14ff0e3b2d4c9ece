"""Ellipsoids with any axes: spheroids and tilted ones against their matrices."""

import math
import pickle
from copy import copy
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from dpnoise import L1, L2, AtMost, Box, Counts, Ellipsoid, LInf, Product
from dpnoise.joint.noise import RadialNoise
from dpnoise.sensitivity.ellipsoid import enclosing_ellipsoid
from dpnoise.sensitivity.spheroid import Spheroid
from for_all import for_all
from refusals import names_every_problem

ROUND = [
    Spheroid(2.0, 1.0, of=3),
    Spheroid(0.5, 1.5, of=4),
    Spheroid(1.0, 2.0, of=2),
    Ellipsoid([[1.0, 1.0], [0.5, -0.5]]),
    Ellipsoid([[2.0, 1.0, 0.0], [0.0, 1.0, -1.0], [0.5, 0.0, 0.7]]),
    Ellipsoid([[-3.0]]),
]
every = for_all("given", ROUND)
DRAWS = 20_000


@every
def test_norm_support_and_volume_are_those_of_the_matrix(given):
    K, M = given.dimension, given.covariance
    x = np.random.default_rng(1).normal(size=(50, K))
    norm = np.sqrt(np.einsum("ni,ij,nj->n", x, np.linalg.inv(M), x))
    assert given.norm(x) == pytest.approx(norm, rel=1e-12)
    support = np.sqrt(np.einsum("ni,ij,nj->n", x, M, x))
    assert given.support(x) == pytest.approx(support, rel=1e-12)
    volume = 0.5 * np.linalg.slogdet(M)[1] + L2(1.0, K).log_volume
    assert given.log_volume == pytest.approx(volume, abs=1e-12)
    assert given.box == pytest.approx(np.sqrt(np.diag(M)), rel=1e-12)
    assert np.all(given.box >= np.sqrt(np.diag(M)))
    assert given.l2 == pytest.approx(math.sqrt(np.linalg.eigvalsh(M)[-1]), rel=1e-10)
    signs = np.array(list(product((-1.0, 1.0), repeat=K)))
    assert given.l1 == pytest.approx(np.max(given.support(signs)), rel=1e-10)
    assert given.norm(np.full(K, math.inf)) == math.inf
    assert given.norm(np.zeros(K)) == 0.0


@every
def test_uniform_points(given):
    """P(norm <= t) = t^K for any convex body; 5 standard errors (fixed seed)."""
    points = given.sample(DRAWS, random_state=4)
    law = stats.kstest(given.norm(points) ** given.dimension, "uniform")
    assert law.pvalue > 1e-4
    second = points.T @ points / DRAWS
    matrix = given.covariance / (given.dimension + 2.0)
    assert np.all(np.abs(second - matrix) < 5.0 * given.l2**2 / math.sqrt(DRAWS))
    sizes = np.abs(points)
    error = np.std(sizes, axis=0) / math.sqrt(DRAWS)
    assert np.all(np.abs(np.mean(sizes, axis=0) - given.mean_abs) < 5 * error)
    assert given.mean_square == pytest.approx(np.diag(matrix), rel=1e-12)


@every
def test_power_sums_hold_every_difference(given):
    K = given.dimension
    rng = np.random.default_rng(3)
    points = given.sample(5000, 5)
    edge = points / given.norm(points)[:, None]
    for weights in ([Fraction(3)] * K, [Fraction(int(x), 8) for x in rng.integers(0, 30, K)]):
        w = np.array([float(x) for x in weights])
        for power in (1, 2):
            largest = float(given.largest_power_sum(weights, power))
            assert np.all(np.sum((w * np.abs(edge)) ** power, axis=1) <= largest * (1 + 1e-12))
    for power in (1, 2):
        one = float(given.largest_power_sum(Fraction(3), power))
        end = given.l1 if power == 1 else given.l2**2
        assert one == pytest.approx(3.0**power * end, rel=1e-10)
    corner = given.extreme_point
    assert given.norm(corner) == pytest.approx(1.0, rel=1e-12)
    assert given.norm(corner) <= 1.0
    assert np.linalg.norm(corner) == pytest.approx(given.l2, rel=1e-10)


@every
def test_what_is_made_of_it(given):
    stated = given.stating("add-remove")
    x = np.ones(given.dimension)
    twice = stated.scaled(2.0)
    assert type(twice) is type(given)
    assert twice.relation == "add-remove"
    assert 2.0 * twice.norm(x) == pytest.approx(given.norm(x), rel=1e-14)
    for one in (given, stated):
        assert eval(repr(one)) == one == copy(one) == pickle.loads(pickle.dumps(one))  # noqa: S301, S307
    assert stated.body == given
    assert stated.smallest_ellipsoid == given
    assert given.largest_norm_of(given) == given.largest_norm_of(stated) == 1
    around = enclosing_ellipsoid(given)
    points = given.sample(2000, 1)
    assert np.max(around.norm(points / given.norm(points)[:, None])) <= 1.0
    every_one = list(range(given.dimension))
    assert given.restricted(every_one) == given
    assert np.all(given.restricted(every_one[:1]).box == given.box[:1])


def test_an_ellipsoid_of_a_matrix_holds_the_one_that_is_stated():
    rng = np.random.default_rng(4)
    for K in (1, 2, 6, 40):
        root = rng.normal(size=(K, K))
        matrix = root @ root.T + 0.1 * np.eye(K)
        matrix = 0.5 * (matrix + matrix.T)
        given = Ellipsoid.of_matrix(matrix)
        assert given.covariance == pytest.approx(matrix, rel=1e-7, abs=1e-7)
        slack = np.linalg.eigvalsh(given.covariance - matrix)
        assert slack[0] > -1e-13 * slack[-1] - 1e-12 * np.max(np.abs(matrix))
        edge = np.linalg.cholesky(matrix) @ rng.normal(size=(K, 30))
        edge /= np.sqrt(np.sum(edge * np.linalg.solve(matrix, edge), axis=0))
        assert np.all(given.norm(edge.T) <= 1.0)


SETS = [
    L1(0.7, of=4),
    L2(1.3, of=4),
    LInf(0.9, of=4),
    Box([1.0, 0.0, 2.0, 0.3]),
    AtMost(2, of=4, each=0.5),
    Product(L2(1.0, of=2), LInf(2.0, of=2)),
    *(Counts(m, of=4, each=0.5, whole=False, relation="add-remove") for m in range(1, 5)),
    *(Counts(m, of=4, each=0.5, whole=False, relation="replace-one") for m in range(1, 5)),
    Counts(1, of=4, exactly=True, relation="replace-one"),
    Spheroid(1.0, 3.0, of=4),
    Spheroid(3.0, 1.0, of=4),
]


@for_all("ball", SETS)
def test_symmetric_forms_hold_every_difference(ball):
    rng = np.random.default_rng(5)
    tried = np.concatenate([rng.normal(size=(3000, 4)), ball.sample(10, 1) if not ball.flat else []
                            or rng.normal(size=(10, 4))])  # fmt: skip
    grid = np.array(list(product((-1.0, 0.0, 1.0), repeat=4)))
    tried = np.concatenate([tried, grid[np.any(grid != 0.0, axis=1)]]) * ball.box
    if ball.support(np.ones(4)) == 0.0:
        tried = tried - np.mean(tried, axis=1, keepdims=True)
    tried = tried[np.any(tried != 0.0, axis=1)]
    edge = tried / ball.norm(tried)[:, None]
    for a, b in ((1, 1), (1, 0), (2, Fraction(-1, 2)), (1, Fraction(-1, 10)), (1, 30)):
        found, exact = ball.largest_symmetric_form(Fraction(a), Fraction(b))
        values = a * np.sum(edge**2, axis=1) + float(b) * np.sum(edge, axis=1) ** 2
        assert np.max(values) <= float(found) * (1.0 + 1e-12)
        if exact:
            assert np.max(values) >= 0.97 * float(found)
    vertices = ball.vertices()
    if vertices is not None:
        assert ball.norm(vertices) == pytest.approx(1.0, rel=1e-14)
        a = rng.normal(size=(200, 4))
        assert np.max(np.abs(a @ vertices.T), axis=1) == pytest.approx(ball.support(a), rel=1e-12)


def test_least_spheroids_of_many_counts():
    """A million counts in milliseconds, and the largest form where no point is listed."""
    K = 10**6
    ball = Counts(K, of=K, relation="add-remove")
    least = ball.smallest_ellipsoid
    assert least.diagonal[0] == pytest.approx(((math.sqrt(K) + 1.0) / 2.0) ** 2, rel=1e-9)
    assert 1.0 - 1e-12 <= least.largest_norm_of(ball) <= 1
    assert ball.vertices() is None
    j = np.arange(1, K + 1, dtype=float)
    first = j**2 / K
    values = first / least.along**2 + (j - first) / least.across**2
    assert np.max(values) == pytest.approx(1.0, rel=1e-12)


test_bad_input_names_every_problem = names_every_problem(
    [
        (lambda: Spheroid(-1.0, 0.0, of=1), ["along", "-1.0", "across", "0.0", "of"]),
        (lambda: Ellipsoid([[1.0, 2.0], [2.0, 4.0]]), ["linearly independent", "Product"]),
        (lambda: Ellipsoid([[1.0, math.nan], [0.0, 1.0]]), ["finite numbers", "nan"]),
        (lambda: Ellipsoid([[1.0, 2.0, 3.0], [2.0, 4.0, 5.0]]), ["shape of axes", "(2, 3)"]),
        (lambda: Ellipsoid.of_matrix([[1.0, 2.0], [2.0, 1.0]]), ["positive definite"]),
        (lambda: Ellipsoid.of_matrix([[1.0, 0.5], [0.4, 1.0]]), ["symmetric"]),
        (lambda: Spheroid(0.0, 1.0, of=3).log_volume, ["volume"]),
        (lambda: RadialNoise(Spheroid(0.0, 1.0, of=3), 1.0), ["ball", "volume"]),
    ]
)
