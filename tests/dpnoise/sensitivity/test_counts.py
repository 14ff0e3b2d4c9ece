"""Counts: norm, volume, moments and samples against vertices, linear programs and fractions."""

import math
import pickle
import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, Delaunay

from dpnoise import (
    L1,
    L2,
    AtMost,
    Box,
    Budget,
    Counts,
    FlippedHuber,
    Gaussian,
    Laplace,
    LInf,
    Product,
    audit_noise,
    best,
    calibrate_joint,
    certify,
    compare,
    release,
    verify,
)
from dpnoise.optimality.certificates import unconditional
from dpnoise.sensitivity.differences import volume_moments
from for_all import for_all
from refusals import names_every_problem

PAGE = (Path(__file__).parents[3] / "docs" / "sensitivity.md").read_text(encoding="utf-8")
ADDED, REPLACED = "add-remove", "replace-one"
SMALL = [(m, K) for K in (1, 2, 3, 4) for m in range(1, K + 1)]
both = for_all("relation", [ADDED, REPLACED])
small = for_all(("m", "K"), SMALL)


def persons(m, K, exactly=False):
    """All vectors of zeros and ones with at most (or exactly) m ones."""
    found = np.array(list(product([0.0, 1.0], repeat=K)))
    total = np.sum(found, axis=1)
    return found[total == m if exactly else total <= m]


def differences(m, K, relation, exactly=False):
    """The differences between neighbouring data sets that have the set as their convex hull."""
    some = persons(m, K, exactly)
    if relation == ADDED:
        return np.vstack([some, -some])
    return np.unique((some[:, None] - some[None]).reshape(-1, K), axis=0)


def test_the_page_shows_the_variances():
    rows = re.findall(r"^\| (\d+), (\d+) \|" + r" ([\d.]+) \|" * 4 + "$", PAGE, re.MULTILINE)
    assert len(rows) == 6
    for K, m, *shown in [[int(row[0]), int(row[1]), *map(float, row[2:])] for row in rows]:
        sets = [
            Counts(m, of=K, relation=ADDED),
            AtMost(m, of=K),
            Counts(m, of=K, relation=REPLACED),
            AtMost(min(2 * m, K), of=K),
        ]
        found = [(K + 1) * (K + 2) * ball.mean_square[0] for ball in sets]
        assert shown == pytest.approx(found, abs=0.00501)


# --- norm and support ---------------------------------------------------------------------------


def least_multiple(x, points):
    """The least t with x in t times the convex hull of points, one of which may be 0."""
    one = np.ones((1, len(points)))
    found = linprog(one[0], A_eq=points.T, b_eq=x, bounds=(0.0, None))
    return found.fun if found.status == 0 else math.inf


@both
@small
def test_norm_and_support_by_the_extreme_points(m, K, relation):
    """The norm by all facets."""
    given = Counts(m, of=K, each=0.7, whole=False, relation=relation)
    points = 0.7 * differences(m, K, relation)
    x = np.random.default_rng(1).normal(size=(100, K))
    x = np.vstack([x, points[-1], np.ones(K), -np.ones(K), np.zeros(K)])
    facets = ConvexHull(points).equations if K > 1 else np.array([[1.0, -0.7], [-1.0, -0.7]])
    exact = np.max(x @ facets[:, :-1].T / -facets[:, -1], axis=1)
    assert given.norm(x) == pytest.approx(exact, rel=1e-9, abs=1e-12)
    assert given.support(x) == pytest.approx(np.max(x @ points.T, axis=1), rel=1e-12, abs=1e-12)
    assert given.l1 == pytest.approx(np.max(np.sum(np.abs(points), axis=1)))
    assert given.l2 == pytest.approx(np.max(np.linalg.norm(points, axis=1)))
    assert any(np.allclose(given.extreme_point, point) for point in points)
    assert np.linalg.norm(given.extreme_point) == pytest.approx(given.l2)


@for_all(("m", "K"), [(1, 2), (1, 4), (2, 4), (3, 4), (2, 5)])
def test_norm_and_support_where_everybody_is_in_exactly_m_counts(m, K):
    given = Counts(m, of=K, each=0.7, whole=False, exactly=True, relation=REPLACED)
    points = 0.7 * differences(m, K, REPLACED, exactly=True)
    rng = np.random.default_rng(2)
    for a in rng.normal(size=(12, K)):
        assert given.support(a) == pytest.approx(np.max(points @ a), rel=1e-12)
        x = a - np.mean(a)
        x -= np.mean(x)
        assert given.norm(x) == pytest.approx(least_multiple(x, points), rel=1e-9)
        assert given.norm(a) == math.inf
    assert given.l1 == pytest.approx(np.max(np.sum(np.abs(points), axis=1)))
    assert given.norm(given.extreme_point) == pytest.approx(1.0)


@for_all("K", [1, 2, 5, 40])
def test_sets_that_are_balls(K):
    x = np.random.default_rng(3).normal(size=(20, K))
    pairs = [
        (Counts(1, of=K, each=2.0, relation=ADDED), L1(2.0, K)),
        (Counts(K, of=K, each=2.0, relation=REPLACED), LInf(2.0, K)),
    ]
    for given, other in pairs:
        assert np.allclose(given.norm(x), other.norm(x), rtol=1e-14)
        assert np.allclose(given.support(x), other.support(x), rtol=1e-13)
        assert (given.log_volume, given.mean_square[0]) == (other.log_volume, other.mean_square[0])
        assert (given.mean_abs[0], given.facet_share) == (other.mean_abs[0], 0.5)
        # The general integers say the same.
        moments = volume_moments(given.m, K, added=given.relation == ADDED)
        if K > 1:
            log_volume = K * math.log(2.0) + math.log(moments.total) - math.lgamma(K + 1)
            assert log_volume == pytest.approx(other.log_volume, rel=1e-12, abs=1e-12)
        square = Fraction(2 * moments.square, (K + 1) * (K + 2) * moments.total)
        assert 4.0 * float(square) == pytest.approx(other.mean_square[0], rel=1e-14)


@both
@small
def test_hull_and_core_with_all_signs(m, K, relation):
    """'At most m' holds all signs of the differences and no more; the core lies in the set."""
    given = Counts(m, of=K, each=1.5, whole=False, relation=relation)
    points = 1.5 * differences(m, K, relation)
    signs = np.array(list(product([-1.0, 1.0], repeat=K)))
    every = (signs[:, None] * points[None]).reshape(-1, K)
    hull = AtMost(given.moved, K, 1.5)
    assert np.max(hull.norm(every)) <= 1.0 + 1e-14
    a = np.random.default_rng(4).normal(size=(20, K))
    assert np.allclose(hull.support(a), np.max(a @ every.T, axis=1), rtol=1e-12)
    core = unconditional(given)
    inner = core.sample(300, random_state=5)
    assert np.max(given.norm(inner / core.norm(inner)[:, None])) <= 1.0 + 1e-12


# --- volume and moments -------------------------------------------------------------------------


def cut(m, j):
    """Volume of the cut cube and E u_1, E u_1^2 over it, by sums with alternating signs."""
    if j <= m:
        return Fraction(1), Fraction(1, 2), Fraction(1, 3)
    whole, first, square = AtMost(m, j).irwin_hall
    return Fraction(whole, math.factorial(j)), first, square


@for_all(("m", "K"), [(1, 4), (2, 5), (3, 5), (5, 5), (9, 9), (4, 11)])
def test_moments_are_the_sums_over_the_signs(m, K):
    """In fractions: orthants with j positive entries are joins or products of two cut cubes."""
    add, rep = (volume_moments(m, K, added=added) for added in (True, False))
    sums = np.zeros((2, 3), dtype=object)
    for j in range(K + 1):
        (V, first, square), other = (cut(m, j) if j else (Fraction(1), 0, 0)), Fraction(1)
        other = cut(m, K - j)[0] if j < K else other
        ways, mine = math.comb(K, j), math.comb(K - 1, j - 1) if j else 0
        join = Fraction(math.factorial(j) * math.factorial(K - j), math.factorial(K))
        # E s^n over the join: s is the first of a Dirichlet vector (j + 1, K - j).
        s1 = Fraction(j + 1, K + 1)
        s2 = s1 * Fraction(j + 2, K + 2)
        sums[0] += [ways * join * V * other, mine * join * V * other * s1 * first, 0]
        sums[0, 2] += mine * join * V * other * s2 * square
        sums[1] += [ways * V * other, mine * V * other * first, mine * V * other * square]
    for moments, (volume, first, square) in zip((add, rep), sums, strict=True):
        assert Fraction(2 * moments.first, (K + 1) * moments.total) == 2 * first / volume
        second = Fraction(2 * moments.square, (K + 1) * (K + 2) * moments.total)
        assert second == 2 * square / volume
    assert math.exp(Counts(m, of=K, relation=ADDED).log_volume) == pytest.approx(float(sums[0, 0]))
    volume = math.exp(Counts(m, of=K, relation=REPLACED).log_volume)
    assert volume == pytest.approx(float(sums[1, 0]))


@both
@for_all(("m", "K"), [(m, K) for K in (2, 3, 4) for m in range(1, K + 1)])
def test_volume_and_second_moments_of_the_polytope(m, K, relation):
    """Over the simplices of a triangulation, of which the moments are known."""
    points = differences(m, K, relation)
    given = Counts(m, of=K, relation=relation)
    assert math.exp(given.log_volume) == pytest.approx(ConvexHull(points).volume, rel=1e-10)
    corners = points[Delaunay(points).simplices]
    volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / math.factorial(K)
    total = np.sum(corners, axis=1)
    squares = (np.sum(corners**2, axis=1) + total**2) / ((K + 1) * (K + 2))
    found = volumes @ squares / np.sum(volumes)
    assert given.mean_square == pytest.approx(found, rel=1e-10)


@for_all(("m", "K"), [(2, 3), (2, 4), (3, 4)])
def test_share_of_the_facets_of_an_extreme_point(m, K):
    """By the triangles of all facets: those that the extreme point e_1, or a corner, lies in."""
    for relation, point in ((ADDED, np.eye(K)[0]), (REPLACED, None)):
        given = Counts(m, of=K, relation=relation)
        corner = given.extreme_point if point is None else point
        hull = ConvexHull(differences(m, K, relation))
        share = 0.0
        for simplex, equation in zip(hull.simplices, hull.equations, strict=True):
            if abs(equation[:-1] @ corner + equation[-1]) < 1e-9:
                share += abs(np.linalg.det(hull.points[simplex])) / math.factorial(K)
        share /= hull.volume
        assert 0.0 < given.facet_share <= share * (1 + 1e-12)
        if relation == ADDED:
            assert given.facet_share == pytest.approx(share)


def test_a_thousand_counts():
    """Limits: a person in all counts, and one in so many that no sum is ever reached."""
    K = 1000
    every = Counts(K, of=K, relation=ADDED)
    share = Fraction(K + 3, 6 * (K + 1))
    assert every.mean_square[0] == pytest.approx(float(share), rel=1e-14)
    half = Counts(K // 2, of=K, relation=REPLACED)
    assert half.mean_square[0] == pytest.approx(1 / 3, rel=1e-9)
    assert half.log_volume == pytest.approx(K * math.log(2.0), rel=1e-12)
    some = Counts(200, of=K, relation=ADDED)
    x = some.sample(400, random_state=6)
    assert stats.kstest(some.norm(x) ** K, "uniform").pvalue > 1e-4
    squares = np.mean(x**2, axis=1)
    error = 5.0 * np.std(squares) / math.sqrt(400)
    assert abs(np.mean(squares) - some.mean_square[0]) < error
    many = Counts(10**6, of=10**6, each=2.0, relation=ADDED)
    assert many.mean_abs[0] == pytest.approx(2.0 / 3.0, rel=1e-5)


# --- samples ------------------------------------------------------------------------------------


@both
@for_all(("m", "K", "size"), [(1, 3, 10**5), (2, 3, 10**5), (3, 3, 10**5), (2, 7, 4 * 10**5)])
def test_uniform_points_are_those_of_the_cube_that_lie_in_the_set(m, K, size, relation):
    """Against points of the surrounding cube that are kept if they lie in the set."""
    given = Counts(m, of=K, relation=relation)
    cube = np.random.default_rng(7).uniform(-1.0, 1.0, (size, K))
    kept = cube[given.norm(cube) <= 1.0]
    x = given.sample(20_000, random_state=8)
    for way in (np.eye(K)[0], np.ones(K), np.arange(K) - 1.0, -np.eye(K)[-1]):
        assert stats.ks_2samp(x @ way, kept @ way).pvalue > 1e-4
    product_of_two = [np.mean(one[:, 0] * one[:, 1]) for one in (x, kept)]
    assert product_of_two[0] == pytest.approx(product_of_two[1], abs=0.02)


# --- relations ----------------------------------------------------------------------------------


def test_the_relation_is_part_of_the_set():
    added, replaced = (Counts(2, of=4, relation=name) for name in (ADDED, REPLACED))
    exact = Counts(1, of=4, exactly=True, relation=REPLACED)
    for given in (added, replaced, exact):
        assert eval(repr(given)) == given  # noqa: S307  (printed as the call that makes it)
        assert pickle.loads(pickle.dumps(given)) == given  # noqa: S301  (made here)
        assert given.body == given
        assert given.stating(given.relation) == given.stating(None) == given
        assert Product(given, L2(1.0), relation=given.relation).body.relation == given.relation
        other = REPLACED if given.relation == ADDED else ADDED
        for one in (given, Product(given, L2(1.0), relation=given.relation)):
            with pytest.raises(ValueError, match="relation: expected"):
                one.stating(other)
    assert added.promise(1.0, 0.0) == (
        "one person more or less, in at most 2 of 4 counts, each by at most 1: epsilon = 1, "
        "delta = 0"
    )
    assert "both in exactly 1 of 4 counts" in exact.words
    assert "both in at most 2 of 4 counts" in replaced.words


def test_products_state_the_relation_of_their_blocks():
    both_blocks = Product(Counts(2, of=3, relation=ADDED), L2(1.0, of=2), relation=ADDED)
    assert eval(repr(both_blocks)) == both_blocks  # noqa: S307
    assert both_blocks.norm([1.0, -1.0, 0.0, 1.0, 0.0]) == 2.0
    assert both_blocks.support([1.0, -1.0, 1.0, 1.0, 0.0]) == 3.0
    with pytest.raises(ValueError, match="relation"):
        Product(Counts(2, of=3, relation=ADDED), Counts(2, of=3, relation=REPLACED))


@for_all(("m", "K"), [(1, 3), (2, 3), (2, 4), (3, 4)])
def test_fewer_counts_of_a_set(m, K):
    for relation, exactly in ((ADDED, False), (REPLACED, False), (REPLACED, True)):
        given = Counts(m, of=K, exactly=exactly, relation=relation)
        points = differences(m, K, relation, exactly)
        for count in range(1, K + 1):
            inner = given.restricted(range(count))
            assert (inner.of, inner.relation) == (count, relation)
            assert np.max(inner.norm(points[:, :count])) <= 1.0
            assert np.max(inner.norm(points[:, ::-1][:, :count])) <= 1.0


test_bad_input_names_every_problem = names_every_problem(
    [
        (lambda: Counts(3, of=12), ["relation", "'add-remove'", "'replace-one'", "got None"]),
        (lambda: Counts(0, of=0, relation="both"), ["m", "got 0", "of", "relation", "'both'"]),
        (lambda: Counts(1.0, of=True, relation=ADDED), ["m", "got 1.0", "of", "got True"]),
        (lambda: Counts(3, of=4, relation=np.array([1, 2])), ["relation"]),
        (
            lambda: Counts(5, of=3, each=0.0, whole=False),
            ["m: expected an integer from 1 to 3", "got 5", "each", "got 0.0", "relation"],
        ),
        (lambda: Counts(2, of=4, exactly=1, relation=REPLACED), ["exactly", "True or False"]),
        (
            lambda: Counts(1, of=4, each=-1, exactly=True, relation=ADDED),
            ["exactly=True", "'replace-one'", "each", "got -1", "Counts(m, of=K"],
        ),
        (lambda: Counts(4, of=4, exactly=True, relation=REPLACED), ["1 to 3", "do not change"]),
        (lambda: Counts(3, of=10**4, relation=ADDED), ["at most 2000 counts", "10000"]),
    ]
)


# --- everybody in exactly m counts ---------------------------------------------------------------


def test_noise_that_needs_a_volume_is_refused_for_a_plane():
    histogram = Counts(1, of=4, exactly=True, relation=REPLACED)
    ask = [
        lambda: calibrate_joint("k-norm", histogram, epsilon=1.0),
        lambda: calibrate_joint("truncated-k-norm", histogram, epsilon=1.0, delta=1e-6),
        lambda: histogram.log_volume,
        lambda: histogram.mean_square,
        lambda: histogram.mean_abs,
        lambda: histogram.sample(3),
    ]
    for one in ask:
        with pytest.raises(ValueError, match=r"Counts\(1, of=3, relation='replace-one'\)"):
            one()


def test_independent_noise_for_a_histogram_and_the_way_around():
    """All counts but one have the differences of the smaller set, which determine the last."""
    histogram = Counts(1, of=4, exactly=True, relation=REPLACED)
    found = best(histogram, epsilon=1.0, family="laplace", integer=False)
    assert found.name == "Laplace"
    assert found.noise.scales == pytest.approx(np.full(4, 2.0))
    assert isinstance(found.noise.unit, Laplace)
    assert "plane" in best(histogram, epsilon=1.0, exhaustive=True).left_out["K-norm"]
    assert release([5.0, 1.0, 2.0, 0.0], found.noise).shape == (4,)
    fewer = Counts(1, of=3, relation=REPLACED)
    kept = differences(1, 4, REPLACED, exactly=True)[:, :3]
    outside = differences(1, 3, REPLACED)
    assert {tuple(x) for x in kept} == {tuple(x) for x in outside}
    better = best(fewer, epsilon=1.0)
    # The last count has the same variance: all permutations leave the plane's set as it is.
    covariance = np.cov(better.noise.rvs(200_000, 9).T)
    assert np.sum(covariance) == pytest.approx(better.variances[0], rel=0.02)
    assert better.variance < found.variance


# --- all of the package --------------------------------------------------------------------------

PRODUCT = Product(Counts(2, of=3, relation=ADDED), Box([1.0, 0.2], relation=ADDED), relation=ADDED)


@pytest.mark.parametrize(
    ("ball", "delta"),
    [
        (Counts(2, of=3, relation=ADDED), 0.0),
        (Counts(2, of=3, relation=ADDED), 1e-3),
        (Counts(2, of=5, relation=REPLACED), 0.0),
        pytest.param(
            Counts(1, of=4, exactly=True, relation=REPLACED), 1e-3, marks=pytest.mark.slow
        ),
        (PRODUCT, 0.0),
    ],
    ids=str,
)
def test_every_mechanism_is_certified_and_drawn(ball, delta):
    """Also by the checker where it covers the noise, and above the floor; audits find nothing."""
    for row in compare(ball, epsilon=1.0, delta=delta, exhaustive=delta == 0.0):
        certificate = certify(row)
        assert certificate.upper <= delta
        assert verify(certificate).independent or delta > 0.0
        assert row.promise == certificate.promise or row.delta != float(certificate.upper)
        assert 0.0 < row.floor <= row.variance
        assert release(np.zeros((2, ball.dimension)), row.noise).shape == (2, ball.dimension)
        if getattr(row.noise, "ball", None) == ball.body:
            assert not audit_noise(row.noise, ball, size=20_000).contradicted


@for_all("noise", [Laplace(2.0), Gaussian(2.0), FlippedHuber(2.0, 2.5)])
def test_independent_noise_is_as_private_as_for_any_signs(noise):
    for ball, other in (
        (Counts(3, of=6, relation=ADDED), AtMost(3, of=6, relation=ADDED)),
        (Counts(2, of=6, relation=REPLACED), AtMost(4, of=6, relation=REPLACED)),
        (Counts(4, of=6, relation=REPLACED), AtMost(6, of=6, relation=REPLACED)),
        (Counts(4, of=6, exactly=True, relation=REPLACED), AtMost(4, of=6, relation=REPLACED)),
    ):
        found, same = certify(noise, ball, 1.0), certify(noise, other, 1.0)
        assert (found.lower, found.upper) == (same.lower, same.upper)
        assert found.certified_by == same.certified_by


def test_a_budget_is_charged_for_counts():
    """Joint noise as its own; independent noise by those m counts where it hides least."""
    ball = Counts(3, of=5, relation=ADDED)
    budget = Budget(3.0, relation=ADDED)
    budget.spend(best(ball, epsilon=1.0).noise, ball)
    assert budget.epsilon_of(0.0) == pytest.approx(1.0, rel=1e-9)
    for given in (
        Counts(4, of=4, relation=ADDED),
        Counts(2, of=4, relation=REPLACED),
        LInf(1.0, of=4, relation=ADDED),
    ):
        budget = Budget(3.0, relation=given.relation)
        budget.spend([Laplace(4.0)] * 4, given)
        assert budget.epsilon_of(0.0) == pytest.approx(1.0, rel=1e-9)
    for betas, epsilon in ((4.0, 4.0, 4.0, 4.0, 4.0), 0.75), ((8.0, 2.0, 4.0, 2.0, 8.0), 1.25):
        budget = Budget(3.0, relation=ADDED)
        budget.spend([Laplace(beta) for beta in betas], ball)
        assert budget.epsilon_of(0.0) == pytest.approx(epsilon, rel=1e-9)
    with pytest.raises(ValueError, match="equal length"):
        Budget(3.0, relation=ADDED).spend([Laplace(4.0)] * 4, ball)


def test_noise_that_is_too_small_is_found_out():
    """K-norm noise for add/remove does not hide a replacement; draws of less noise are seen."""
    ball = Counts(3, of=5, relation=ADDED)
    noise = best(ball, epsilon=1.0).noise
    assert certify(noise, Counts(3, of=5, relation=REPLACED), 1.0).upper > 0.3
    assert not audit_noise(noise, ball, epsilon=1.0, size=100_000).contradicted
    small = noise.scaled(0.7)
    found = audit_noise(noise, ball, sampler=small.rvs, size=200_000)
    assert found.contradicted
