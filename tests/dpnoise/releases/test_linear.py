"""Releases of workloads: the noise of the answers, agreement with a table, budgets, refusals."""

import numpy as np
import pytest
from scipy import stats

from dpnoise import (
    L2,
    Budget,
    BudgetExceededError,
    Counts,
    DiscreteGaussian,
    DiscreteLaplace,
    Workload,
    best,
    compare,
    release,
)
from dpnoise.mechanisms.integers import IntegerVector
from dpnoise.mechanisms.summed import SummedNoise
from dpnoise.releases import release as module
from dpnoise.releases import sums

ADDED = {"relation": "add-remove"}
RNG = np.random.default_rng(8)
BUDGET = {"epsilon": 1.0, "delta": 1e-5}
TABLES = Workload.marginals((2, 3, 2), 2, **ADDED)
WEEKS = Workload.prefix_sums(6, **ADDED)


def whitened(noise, errors):
    """Errors of answers as standard normal numbers, by their covariance; and its rank."""
    axes = np.array(noise.inner.ball.axes)
    W = noise.workload.W.toarray()
    covariance = noise.inner.sigma**2 * W @ axes.T @ axes @ W.T
    values, vectors = np.linalg.eigh(covariance)
    some = values > 1e-9 * values[-1]
    z = errors @ vectors[:, some] / np.sqrt(values[some])
    rest = errors @ vectors[:, ~some]
    assert np.max(np.abs(rest), initial=0.0) < 1e-6 * np.sqrt(values[-1])
    return z


@pytest.mark.parametrize("given", [WEEKS, TABLES])
@pytest.mark.parametrize("by_table", [True, False])
def test_errors_have_the_covariance_that_is_certified(given, by_table):
    """800 releases: whitened errors are standard normal and uncorrelated (5 standard errors)."""
    found = best(given, family="correlated-gaussian", **BUDGET)
    x = RNG.integers(0, 90, given.W.shape[1])
    exact = given.W @ x
    draws = 800
    if by_table:
        errors = np.array([release.workload(x, found).value - exact for _ in range(draws)])
    else:
        errors = release(np.tile(exact, (draws, 1)), found.noise) - exact
    z = whitened(found.noise, errors)
    assert stats.kstest(z.ravel(), "norm").pvalue > 1e-4
    products = z.T @ z / draws
    assert np.max(np.abs(products - np.eye(len(products)))) < 5 * np.sqrt(2 / draws)
    assert np.allclose(errors.var(axis=0), found.variances, rtol=5 * np.sqrt(2 / draws))


def test_sums_of_cells_have_the_variance_stated():
    """Staircase noise of cells, summed: variances within 5 standard errors of the fourth moment."""
    found = best(WEEKS, epsilon=1.0, family="cells")
    x = np.arange(6)
    errors = release(np.tile(WEEKS.W @ x, (4000, 1)), found.noise) - WEEKS.W @ x
    error = np.std(errors**2, axis=0) / np.sqrt(4000)
    assert np.all(np.abs(np.mean(errors**2, axis=0) - found.variances) < 5 * error)
    assert np.all(np.mean(np.abs(errors) <= found.half_widths, axis=0) > 0.93)


@pytest.mark.parametrize("family", ["correlated-gaussian", "cells", "gaussian"])
def test_answers_are_those_to_the_table(family):
    """Least squares by `lstsq`; without negative entries by the conditions of optimality."""
    for given in (WEEKS, TABLES):
        W, x = given.W.toarray(), RNG.integers(0, 3, given.W.shape[1])
        found = best(given, family=family, **BUDGET)
        released = release.workload(x, found)
        assert np.allclose(W @ released.cells, released.value, atol=1e-6)
        shortest = np.linalg.lstsq(W, released.value, rcond=None)[0]
        assert np.allclose(shortest, released.cells, atol=1e-6)
        fitted = release.workload(x, found, non_negative=True)
        assert np.min(fitted.cells) >= 0.0
        assert np.allclose(W @ fitted.cells, fitted.value)


def test_a_table_without_negative_entries_is_the_nearest_one():
    """Of fixed noise: no feasible direction lowers |W z - y|^2."""
    W = WEEKS.W.toarray()
    y = np.array([3.0, -1.0, 4.0, 2.0, -5.0, 1.0])
    z = module._fitted(WEEKS.gram, W.T @ y, non_negative=True)
    slope = W.T @ (W @ z - y)
    assert np.all(slope >= -1e-9)
    assert np.allclose(slope * z, 0.0, atol=1e-9)


def test_sums_beyond_doubles_are_exact_and_clipped(monkeypatch):
    """The path for noise of 2^52 steps and more agrees with rational sums, clipped."""
    noise = best(WEEKS, family="cells", epsilon=1.0).noise
    step = sums._summed_step(noise)
    cells = np.array([[1.0, 2.0**52, 3.0, -(2.0**52), 2.0**60, -(2.0**60)]]) * step
    ordinary = sums.prepared

    def huge(problems, values, inner, grid):
        if inner is noise.inner:
            return lambda _: cells
        return ordinary(problems, values, inner, grid)

    monkeypatch.setattr(sums, "prepared", huge)
    draw = sums._summed(sums.Problems("test"), np.zeros((1, 6)), noise, None, rounds=False)
    exact = np.cumsum([int(x) for x in (cells[0] / step).tolist()])
    assert np.array_equal(draw(None)[0] / step, np.clip(exact, -(2**53), 2**53).astype(float))


def test_a_release_is_charged_once_and_bad_ones_not_at_all():
    """The budget, its relation, and refusals that leave it as it was."""
    found = best(TABLES, family="correlated-gaussian", **BUDGET)
    budget = Budget(1.05, 1e-4, relation="add-remove")
    x = np.arange(12)
    for wrong in (
        lambda: release.workload(x[:5], found, budget=budget),
        lambda: release.workload([np.nan] * 12, found, budget=budget),
        lambda: release.workload(x * 2.0**60, found, budget=budget),
        lambda: release.workload(x, found, non_negative=1, budget=budget),
        lambda: release.workload(x, best(L2(1.0, of=12, **ADDED), epsilon=1.0), budget=budget),
        lambda: release.workload(x, found, budget=Budget(1.0, relation="replace-one")),
        lambda: release(TABLES.W @ x + 0.3, found, budget=budget),
        lambda: release(TABLES.W @ x, found, grid=1.0, budget=budget),
    ):
        with pytest.raises(ValueError, match="expected"):
            wrong()
    released = release.workload(x, found, budget=budget, label="tables")
    assert released.promise == found.promise
    assert released.label == "tables"
    statement = " ".join(released.statement().split())
    assert f"e to the power of epsilon = {found.epsilon:g}." in statement
    assert f"{len(released.value)} numbers named 'tables' (noise: {found.name}, " in statement
    with pytest.raises(BudgetExceededError):
        release.workload(x, found, budget=budget)


def test_answers_of_fractions_need_the_table():
    """W with entries that are not whole: W x alone is refused, the table is taken."""
    given = Workload([[0.3, 0.0], [0.1, 0.7]], **ADDED)
    found = best(given, family="correlated-gaussian", **BUDGET)
    with pytest.raises(ValueError, match=r"release\.workload"):
        release([1.0, 2.0], found)
    assert release.workload([1, 2], found).value.shape == (2,)


def test_every_row_of_a_comparison_can_be_released():
    """And its interval holds most answers."""
    x = RNG.integers(0, 30, 6)
    for row in compare(WEEKS, exhaustive=False, **BUDGET):
        released = release.workload(x, row)
        low, high = released.interval(0.999999)
        assert np.all((low <= WEEKS.W @ x) & (WEEKS.W @ x <= high))


@pytest.mark.parametrize(
    ("people", "epsilon", "delta", "kind"),
    [({}, 1.0, 0.0, DiscreteLaplace), ({"at_most": 4}, 0.5, 1e-3, DiscreteGaussian)],
)
def test_whole_answers_are_sums_of_cells_with_discrete_noise(people, epsilon, delta, kind):
    """Steps between prefix sums have the probabilities of the noise of a cell (chi squared)."""
    given = Workload.prefix_sums(6, **people, **ADDED)
    found = best(given, epsilon=epsilon, delta=delta, integer=True, family="cells")
    (noise,) = set(found.noise.inner.noises)
    assert found.name == "discrete cells, summed"
    assert isinstance(noise, kind)
    assert np.allclose(found.variances, noise.var() * np.arange(1, 7))
    if delta:  # four cells change by 1 at once: the loss is linear in the sum of their noise
        k = np.arange(-400, 401)
        one = np.exp(noise.logpmf(k))
        four = np.convolve(np.convolve(one, one), np.convolve(one, one))
        loss = (2.0 * np.arange(-1600, 1601) + 4.0) / (2.0 * noise.sigma**2)
        exact = np.sum(four * np.maximum(-np.expm1(epsilon - loss), 0.0))
        assert exact == pytest.approx(found.delta, rel=1e-9)
        assert 0.99 * delta < found.delta <= delta
    else:
        assert (
            noise == best(Counts(1, of=6, **ADDED), epsilon=epsilon, integer=True).noise.noises[0]
        )
    x = np.arange(6)
    released = release.workload(x, found)
    assert released.value.dtype == np.int64
    assert np.allclose(np.diff(released.value, prepend=0), released.cells)
    drawn = release(np.tile(given.W @ x, (4000, 1)), found.noise)
    assert drawn.dtype == np.int64
    cells = np.diff(drawn - given.W @ x, prepend=0, axis=1).ravel()
    most = int(noise.isf(0.01))
    k = np.arange(-most, most + 1)
    seen = np.array([np.sum(cells == i) for i in k])
    expected = np.exp(noise.logpmf(k)) * cells.size
    rest = cells.size - np.array([seen.sum(), expected.sum()])
    assert stats.chisquare([*seen, rest[0]], [*expected, rest[1]]).pvalue > 1e-4


def test_whole_answers_of_the_best_gaussian_noise_are_rounded():
    """Rounding is post-processing, which a budget charges like the noise before it."""
    found = best(WEEKS, family="correlated-gaussian", integer=True, **BUDGET)
    real = best(WEEKS, family="correlated-gaussian", **BUDGET)
    assert found.noise.real == real.noise
    assert np.allclose(found.variances, real.variances + 1.0 / 12.0)
    x = np.arange(6)
    released = release.workload(x, found)
    assert released.value.dtype == np.int64
    assert released.interval()[0].dtype == np.int64
    budget = Budget(1.05, 1e-5, relation="add-remove")
    budget.spend(found)
    assert budget.remaining() == pytest.approx(0.05, abs=1e-6)


def test_noise_on_the_integers_makes_whole_answers_of_whole_numbers_alone():
    """Half a count of noise on the integers is no integer."""
    cells = IntegerVector((DiscreteLaplace(2.0),) * 2)
    half, whole = (SummedNoise(Workload([[x, 1.0]], **ADDED), cells) for x in (0.5, 3.0))
    assert (half.whole, whole.whole) == (False, True)
    assert half.rvs(9, 1).dtype == float
    assert np.any(half.rvs(9, 1) % 1.0)


def test_whole_answers_need_a_matrix_of_whole_numbers():
    with pytest.raises(ValueError, match=r"entries of W: expected whole numbers .* got fractions"):
        best(Workload([[0.5, 1.0]], **ADDED), epsilon=1.0, integer=True)


def test_the_floor_of_whole_answers_lies_below_noise_that_hides_one_change_alone():
    """Answers that change by 5 and never by less: 5 times discrete Laplace noise has less than
    any noise that hides 1, 2, ..., 5."""
    found = compare(Workload([[5.0]], **ADDED), epsilon=1.0, integer=True)
    alone = 25.0 * DiscreteLaplace(1.0).var()
    assert found["discrete cells, summed"].variance == pytest.approx(alone)
    drawn = found["discrete cells, summed"].noise.rvs(9, 1)
    assert drawn.dtype == np.int64
    assert np.all(drawn % 5 == 0)
    assert alone < best(L2(5.0, of=1, **ADDED), epsilon=1.0, integer=True).variance
    assert 0.99 * alone < found.floor <= alone * (1.0 + 1e-12)


@pytest.mark.parametrize("integer", [False, True])
def test_gaussian_noise_for_several_releases_is_stretched(integer):
    """n releases are one of sqrt(n) times the set."""
    found = best(WEEKS, family="correlated-gaussian", integer=integer, times=9, **BUDGET)
    one = best(WEEKS, family="correlated-gaussian", **BUDGET)
    assert np.allclose(found.variances, 9.0 * one.variances + integer / 12.0, rtol=1e-6)
    assert found.delta <= BUDGET["delta"]


@pytest.mark.parametrize("level", [0.5, 0.95, 0.9995, 1.0 - 1e-7])
def test_ends_of_whole_answers_are_rounded_outwards(level):
    """A half-width between two whole numbers was cut off, below what the level asks for."""
    found = best(Workload([[1]], relation="add-remove"), epsilon=0.2, integer=True, family="cells")
    exact = found.noise.inner.noises[0]
    (high,) = found.interval(level)[1]
    assert high == found.noise.half_width(level)[0]
    assert 2.0 * exact.sf(high) <= (1.0 - level) * 1.02
    assert 2.0 * exact.sf(high - 3) >= 1.0 - level


@pytest.mark.parametrize("W", [[[5]], [[5, 1]], [[3, 1, 1]]])
@pytest.mark.parametrize("budget", [(1.0, 0.0), (10.0, 0.0), (2.0, 1e-6), (8.0, 1e-6)])
def test_ends_beyond_all_draws_hold_for_noise_with_gaps(W, budget):
    """Multiples of 5, and noise that is mostly 0: a sample says too little of what is far out."""
    epsilon, delta = budget
    found = best(Workload(W, **ADDED), epsilon=epsilon, delta=delta, integer=True, family="cells")
    masses = np.ones(1)
    for entry, noise in zip(W[0], found.noise.inner.noises, strict=True):
        spread = np.zeros(800 * entry + 1)
        spread[::entry] = np.exp(noise.logpmf(np.arange(-400, 401)))
        masses = np.convolve(masses, spread)
    size = np.abs(np.arange(masses.size) - masses.size // 2)
    for level in (0.999, 0.9999, 1.0 - 1e-6, 1.0 - 1e-8):
        (high,) = found.interval(level)[1]
        assert masses[size > high].sum() <= 1.0 - level
        assert masses[size > 0.5 * high - 6].sum() >= 1.0 - level
