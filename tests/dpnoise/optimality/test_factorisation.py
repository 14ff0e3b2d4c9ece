"""Least Gaussian noise for workloads: closed forms, another minimiser, and certified bounds."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from dpnoise import L2, DiscreteLaplace, Workload, compare
from dpnoise.optimality.factorisation import (
    MixtureProjection,
    factorisation_of,
    factorise,
    noise_axes,
)
from dpnoise.optimality.floor import floor
from dpnoise.optimality.scalar_floor import scalar_certificate, whole_certificate
from for_all import for_all

ADDED, MOVED = {"relation": "add-remove"}, {"relation": "replace-one"}
RNG = np.random.default_rng(5)
TALL = RNG.standard_normal((7, 4))
FLAT = RNG.integers(0, 3, (3, 6)).astype(float) + np.eye(3, 6)
CASES = [
    Workload.prefix_sums(8, **ADDED),
    Workload.ranges(6, **ADDED),
    Workload.marginals((2, 3, 2), 2, **ADDED),
    Workload(TALL, **ADDED),
    Workload(FLAT, **ADDED),
    Workload(TALL, at_most=2, **ADDED),
    Workload.prefix_sums(6, **MOVED),
    Workload(TALL, exactly=True, **MOVED),
    Workload(FLAT, at_most=2, exactly=True, **MOVED),
]
every = for_all("given", CASES)


def found_of(given, weights=None):
    """The factorisation with given weights, ones by default."""
    return factorisation_of(given, np.ones(given.dimension) if weights is None else weights)


def total(given, covariance, weights=1.0):
    """The weighted trace of W C W', by a product of dense matrices."""
    W = given.W.toarray()
    return float(np.sum(weights * np.diagonal(W @ covariance @ W.T)))


@every
def test_the_noise_has_the_total_and_hides_every_difference(given):
    """Trace as stated, largest Mahalanobis norm at most 1, bounds that meet."""
    weights = RNG.uniform(0.2, 3.0, given.dimension)
    for w in (np.ones(given.dimension), weights):
        found = found_of(given, w)
        assert found.lower <= found.upper <= (1 + 1e-6) * found.lower
        assert total(given, found.covariance, w) == pytest.approx(found.upper, rel=1e-6)
        changes = given.changes.toarray()
        squares = np.sum(changes * np.linalg.solve(found.covariance, changes), axis=0)
        assert np.max(squares) == pytest.approx(1.0, abs=1e-6)
        axes = noise_axes(found)
        size = float(axes.largest_norm_of(given.cells)) ** 2
        assert size == pytest.approx(np.max(squares), rel=1e-6)


def test_a_minimiser_of_the_primal_finds_the_same_total():
    """Prefix sums of 5 cells and random W: strategies with columns of length 1, by L-BFGS."""
    for given in (Workload.prefix_sums(5, **ADDED), Workload(TALL, **ADDED)):
        W, n = given.W.toarray(), given.W.shape[1]

        def cost(a, W=W, n=n):
            A = a.reshape(n, n)
            A = A / np.linalg.norm(A, axis=0)
            return np.sum((W @ np.linalg.inv(A)) ** 2)

        tries = [np.eye(n).ravel() + 0.2 * RNG.standard_normal(n * n) for _ in range(4)]
        options = {"maxiter": 3000, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-9}
        best = min(minimize(cost, a, method="L-BFGS-B", options=options).fun for a in tries)
        assert best == pytest.approx(found_of(given).upper, rel=1e-5)


def test_closed_forms():
    """Two prefix sums: (3 + sqrt 5) / 2. Perpendicular columns: sum |w_j|^2. One-way tables."""
    assert found_of(Workload.prefix_sums(2, **ADDED)).upper == pytest.approx(
        (3 + math.sqrt(5)) / 2, rel=1e-8
    )
    assert found_of(Workload.prefix_sums(1, **ADDED)).upper == pytest.approx(1.0, rel=1e-8)
    sizes = np.array([1.0, 2.0, 0.25, 7.0])
    found = found_of(Workload(np.diag(sizes), **ADDED))
    # Shares p_j cost sum |w_j| sqrt(p_j), at most (sum |w_j|^2)^(1/2).
    assert found.upper == pytest.approx(np.sum(sizes**2), rel=1e-8)
    assert np.allclose(found.shares, sizes**2 / np.sum(sizes**2))
    # All cells alike: p is uniform, and the answer is the sum of singular values.
    tables = Workload.marginals((3, 4), (0, 1), **ADDED)
    values = np.linalg.svd(tables.W.toarray(), compute_uv=False)
    assert found_of(tables).upper == pytest.approx(np.sum(values) ** 2 / 12, rel=1e-6)


@pytest.mark.parametrize("n", [2, 4, 8, 64, 256])
def test_prefix_sums_lie_between_published_factorisations(n):
    """Between the nuclear norm and the square root (Henzinger, Upadhyay & Upadhyay 2023)."""
    found = found_of(Workload.prefix_sums(n, **ADDED))
    assert found.gap <= 1e-6
    singular = 0.5 / np.sin((2 * np.arange(1, n + 1) - 1) * np.pi / (4 * n + 2))
    assert np.sum(singular) ** 2 / n <= found.upper
    root = np.cumprod(np.r_[1.0, (2 * np.arange(1, n) - 1) / (2 * np.arange(1, n))])
    squares = np.sum(root**2)
    rows = np.sum(np.cumsum(root**2))
    assert found.lower <= squares * rows
    assert found.upper / n <= (1 + math.log(n) / math.pi) ** 2


@every
def test_any_shares_prove_less_than_the_noise_has(given):
    """Weak duality of certificates: random shares, and those found, against the upper bound."""
    w, whole = np.ones(given.dimension), whole_certificate(1, 1.0, 1e-6)
    V1, upper = whole.bound(1.0, 1e-6), found_of(given).upper
    best = MixtureProjection(found_of(given).shares, whole).bound(given, 1.0, 1e-6, w)
    assert (1 - 1e-6) * upper * V1 <= best <= upper * V1
    for _ in range(5):
        shares = RNG.exponential(size=given.changes.shape[1])
        assert MixtureProjection(shares, whole).bound(given, 1.0, 1e-6, w) <= best * (1 + 1e-6)
        assert (
            MixtureProjection(3.0 * best * shares, whole).bound(given, 1.0, 1e-6, w) <= upper * V1
        )


def test_the_certificate_refuses_what_it_is_not_for():
    """Other sets, other numbers of shares, negative ones, and the V1 of all shifts."""
    given = CASES[0]
    w, whole = np.ones(8), whole_certificate(1, 1.0, 0.0)
    good = np.full(8, 0.125)
    assert MixtureProjection(good, whole).bound(given, 1.0, 0.0, w) > 0.0
    for shares in (np.full(7, 1 / 7), -good, 0.0 * good, np.nan * good):
        assert MixtureProjection(shares, whole).bound(given, 1.0, 0.0, w) == 0.0
    assert MixtureProjection(good, whole).bound(L2(1.0, of=8), 1.0, 0.0, w) == 0.0
    assert MixtureProjection(good, scalar_certificate(1.0, 0.0)).bound(given, 1.0, 0.0, w) == 0.0


def test_one_question_about_one_cell_needs_discrete_laplace_noise():
    """The V1 of a single shift is attained; that of all shifts up to 1 would be above it."""
    value = floor(Workload([[1.0]], **ADDED), epsilon=1.0).value
    attained = DiscreteLaplace(1.0).var()
    assert value == pytest.approx(attained, rel=1e-8)
    assert value <= attained
    assert scalar_certificate(1.0, 0.0).bound(1.0, 0.0) > 1.04 * attained


@for_all("given", [CASES[0], CASES[2], CASES[5], CASES[6]])
def test_no_mechanism_is_below_the_floor(given):
    """Budgets with and without delta, equal and unequal weights."""
    for epsilon, delta in ((0.3, 0.0), (1.0, 1e-6), (4.0, 1e-3)):
        for weights in (None, RNG.uniform(0.1, 1.0, given.dimension)):
            asked = {"epsilon": epsilon, "delta": delta, "weights": weights}
            table = compare(given, exhaustive=False, **asked)
            proved = floor(given, epsilon=epsilon, delta=delta, weights=weights)
            assert proved.verify() >= proved.value > 0.0
            assert all(row.variance >= table.floor * (1 - 1e-9) for row in table)


def test_bad_matrices_are_named():
    """Not symmetric, indefinite, of another shape, not numbers."""
    for bad in ([[1.0, 2.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]], [[0.0]], [[math.nan]], [1.0]):
        with pytest.raises(ValueError, match="gram"):
            factorise(bad)
    with pytest.raises(ValueError, match="changes"):
        factorise(np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match="gap"):
        factorise(np.eye(2), gap=0.0)


def test_differences_that_no_question_sees_do_not_matter():
    """Two cells that count in the same questions are as one."""
    twice = Workload([[1.0, 1.0, 0.0], [0.0, 0.0, 2.0]], exactly=True, **MOVED)
    once = Workload([[1.0, 0.0], [0.0, 2.0]], exactly=True, **MOVED)
    assert found_of(twice).upper == pytest.approx(found_of(once).upper, rel=1e-6)
