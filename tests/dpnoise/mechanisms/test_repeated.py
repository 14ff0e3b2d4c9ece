"""Noise for several releases together: the account of all of them, closed forms and plans."""

import math

import numpy as np
import pytest
from scipy import stats

from dpnoise import (
    L2,
    AtMost,
    Budget,
    BudgetExceededError,
    Counts,
    Laplace,
    Product,
    best,
    compare,
    gaussian_sigma,
)
from for_all import for_all

VISITS = Counts(3, of=12, relation="add-remove")
SETS = [VISITS, AtMost(2, of=5, each=3.0, relation="replace-one"), [1.0, 0.5]]


@for_all("sensitivity", SETS)
@for_all(("delta", "times"), [(0.0, 52), (1e-6, 2), (1e-6, 52)])
def test_all_releases_fit_the_budget_and_no_other(sensitivity, delta, times):
    stated = {"relation": "add-remove"} if isinstance(sensitivity, list) else {}
    found = best(sensitivity, epsilon=1.0, delta=delta, times=times, **stated)
    budget = Budget(1.0, delta)
    for _ in range(times):
        budget.spend(found)
    with pytest.raises(BudgetExceededError):
        budget.spend(found)
    assert budget.epsilon_of() == pytest.approx(1.0, rel=2e-5)
    assert found.delta <= delta
    assert (found.epsilon, found.times) == (1.0, times)
    assert found.promise.count(f"released {times} times") == 1
    assert found.promise.count("at most") == best(sensitivity, epsilon=1.0, **stated).promise.count(
        "at most"
    )
    assert found.variance >= found.floor > 0.0
    apart = best(sensitivity, epsilon=1.0 / times, delta=delta / times, **stated)
    assert found.std <= apart.std * (1.0 + 1e-6)
    if times == 52 and delta:
        assert found.std < 0.5 * apart.std


def gaussian_delta(mu, epsilon):
    """Balle & Wang 2018, Theorem 8: delta of Gaussian noise of ratio mu."""
    ends = -epsilon / mu + 0.5 * mu, -epsilon / mu - 0.5 * mu
    return stats.norm.cdf(ends[0]) - math.exp(epsilon) * stats.norm.cdf(ends[1])


@for_all("times", [2, 7, 52, 365])
@for_all(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-9), (4.0, 0.01)])
def test_gaussian_noise_is_that_of_the_root_of_the_number(epsilon, delta, times):
    found = best(L2(2.0, of=3), epsilon=epsilon, delta=delta, times=times, family="gaussian")
    sigma = found.stds[0]
    assert sigma == pytest.approx(gaussian_sigma(epsilon, delta, 2.0 * math.sqrt(times)), rel=1e-8)
    together = gaussian_delta(math.sqrt(times) * 2.0 / sigma, epsilon)
    assert 0.999999 * delta <= together <= delta * (1.0 + 1e-8)


def test_the_floor_is_reached_where_one_release_reaches_its_own():
    """The mean of two answers has half the variance: n times the floor is no higher than truth."""
    one = best(1.0, epsilon=1.0)
    two = best(1.0, epsilon=1.0, times=2)
    assert two.floor == pytest.approx(2.0 * one.floor, rel=1e-12)
    assert best(1.0, epsilon=1.0, times=2, error="mean-abs").floor == pytest.approx(
        best(1.0, epsilon=1.0, error="mean-abs").floor
    )


def test_a_plan_fills_what_is_left():
    budget = Budget(1.0, 1e-6, relation="add-remove")
    fresh = best(VISITS, epsilon=1.0, delta=1e-6, times=52)
    assert budget.plan(VISITS, 52).std == pytest.approx(fresh.std, rel=1e-9)
    budget.spend(Laplace(4.0), 1.0)
    found = budget.plan(VISITS, times=52)
    assert len(budget.entries) == 1
    assert 0.75 <= found.epsilon < 1.0
    budget.spend(found, times=52)
    assert 1.0 - 1e-6 <= budget.epsilon_of() <= 1.0
    alone = Budget(found.epsilon, 1e-6, relation="add-remove")
    alone.spend(found, times=52)
    with pytest.raises((RuntimeError, BudgetExceededError)):
        budget.spend(budget.plan(VISITS, times=52), times=53)


@for_all(("delta", "times"), [(0.05, 1), (0.3, 1), (1e-3, 3), (1e-6, 2)])
def test_what_a_plan_promises_is_kept_without_what_its_budget_allows(delta, times):
    """Noise whose largest losses come to more than epsilon needs delta, and says so."""
    found = Budget(1.0, delta, relation="add-remove").plan(1.0, times, family="laplace")
    most = times / found.noise.spending_in(found.sensitivity).shares.popitem()[0][0].beta
    assert (found.delta == 0.0) == (most <= found.epsilon)
    if times == 1:  # in closed form
        needed = -math.expm1((found.epsilon - most) / 2.0)
        assert needed <= found.delta <= delta * (1.0 + 1e-12)
    for kept in (0.0, found.delta):
        budget = Budget(found.epsilon, kept, relation="add-remove")
        if most <= found.epsilon or kept:
            budget.spend(found, times=times)
        else:
            with pytest.raises(BudgetExceededError):
                budget.spend(found, times=times)


def test_a_pure_budget_has_a_plan():
    budget = Budget(1.0, relation="add-remove")
    budget.spend(Laplace(2.0), 1.0)
    found = budget.plan(1.0, 4, family="laplace")
    assert found.std == pytest.approx(math.sqrt(2.0) * 8.0)
    budget.spend(found, times=4)
    spent = Budget(1.0, relation="add-remove")
    spent.spend(Laplace(1.0), 1.0)
    with pytest.raises(RuntimeError, match="nothing found that keeps"):
        spent.plan(1.0, 4)


@for_all("times", [0, -1, 1.5, True, "52", 10**7, None, math.nan])
def test_times_is_a_whole_number(times):
    with pytest.raises(ValueError, match="times: expected a whole number from 1"):
        best(VISITS, epsilon=1.0, times=times)
    with pytest.raises(ValueError, match="times: expected a whole number from 1"):
        Budget(1.0).plan(VISITS, times)


def test_a_plan_is_for_the_relation_of_the_budget():
    with pytest.raises(ValueError, match="relation: expected one for"):
        Budget(1.0, relation="replace-one").plan(VISITS)
    assert Budget(1.0, relation="replace-one").plan([1.0, 0.5], 2).relation == "replace-one"


def test_products_count_equal_blocks():
    many = Product(*[VISITS] * 52, L2(1.0, of=2, relation="add-remove"))
    assert len(many.words) < 200
    assert "52 times (in at most 3 of 12 counts, each by at most 1) and (" in many.words
    assert eval(repr(many), {"Product": Product, "Counts": Counts, "L2": L2}) == many  # noqa: S307
    assert np.size(many.box) == 52 * 12 + 2


@for_all("sensitivity", SETS)
@for_all(("delta", "integer"), [(0.0, None), (1e-6, False)])
def test_the_table_has_every_mechanism_for_all_releases(sensitivity, delta, integer):
    stated = {"relation": "add-remove"} if isinstance(sensitivity, list) else {}
    asked = {"epsilon": 1.0, "delta": delta, "integer": integer, "times": 52, **stated}
    table = compare(sensitivity, exhaustive=False, **asked)
    found = best(sensitivity, **asked)
    assert table[0].error <= found.error <= table[0].error * 1.01
    errors = [row.error for row in table]
    assert errors == pytest.approx(sorted(errors), rel=1e-4)
    assert len({row.name for row in table}) == len(table) > 2
    assert table.promise == found.promise
    for row in table:
        assert row.delta <= delta
        budget = Budget(1.0, delta)
        budget.spend(row, times=52)
        with pytest.raises(BudgetExceededError):
            budget.spend(row)
        assert budget.epsilon_of() == pytest.approx(1.0, rel=2e-5)


def test_a_table_of_no_mechanism_is_refused_as_by_best():
    for ask in (best, compare):
        with pytest.raises(RuntimeError, match=r"nothing found .* for 3 releases"):
            ask(1.0, epsilon=1.0, family="gaussian", times=3)
