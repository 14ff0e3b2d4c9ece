"""Trend filtering: closed forms, certificates, degrees of freedom, penalties, and refusals.

Penalty by SURE: the minimum over what was tried, and near the true optimum.
"""

import numpy as np
import pytest

from city_maps import street_graph
from dpnoise.denoise import trend_filtering
from dpnoise.denoise.graph import Graph
from dpnoise.denoise.trend_filtering import (
    Trend,
    choose_by_sure,
    difference_operator,
    trend_filter,
)
from dpnoise.denoise.trend_solver import Optimum

CITY = street_graph(12, 8, np.random.default_rng(0)).graph
TOWN = street_graph(7, 6, np.random.default_rng(0)).graph
PAIR = Graph(2, [(0, 1)])
rng = np.random.default_rng(5)
NOISE = rng.normal(size=CITY.nodes)
orders = pytest.mark.parametrize("order", [0, 1, 2])


@pytest.mark.parametrize("penalty", [0.0, 0.25, 1.0, 1.5, 7.0])
def test_two_nodes_in_closed_form(penalty):
    """Order 0 on an edge: the two move towards each other by lambda until they meet."""
    fit = trend_filter(PAIR, [4.0, 1.0], penalty)
    half = max(1.5 - penalty, 0.0)
    assert fit.fitted == pytest.approx([2.5 + half, 2.5 - half], rel=1e-14)
    assert fit.degrees_of_freedom == (2 if half > 0 else 1)
    assert fit.objective == pytest.approx((1.5 - half) ** 2 + penalty * 2 * half)


@orders
def test_the_operators_are_those_of_the_paper(order):
    b = rng.normal(size=CITY.nodes)
    D1 = CITY.incidence.toarray()
    expected = [D1, D1.T @ D1, D1 @ D1.T @ D1][order] @ b
    assert difference_operator(CITY, order) @ b == pytest.approx(expected)


@orders
@pytest.mark.parametrize("fraction", [1e-5, 1e-3, 0.03, 0.3, 0.999, 1.001, 50.0])
def test_first_order_conditions_hold(order, fraction):
    """D'u = y - b, |u| <= lambda, and u = lambda sign(D b) where D b is not zero."""
    penalty = fraction * Trend(CITY, NOISE, order).flat
    fit = trend_filter(CITY, NOISE, penalty, order=order)
    D = difference_operator(CITY, order)
    assert np.max(np.abs(NOISE - D.T @ fit.dual - fit.fitted)) < 1e-9
    assert np.max(np.abs(fit.dual)) <= penalty
    change = D @ fit.fitted
    moves = np.abs(change) > 1e-9
    assert fit.dual[moves] == pytest.approx(penalty * np.sign(change[moves]), rel=1e-12)
    assert fit.gap < 1e-12
    assert fit.settled
    assert fit.error_bound < 1e-5
    assert np.mean(fit.fitted) == pytest.approx(np.mean(NOISE), rel=1e-9)


@orders
@pytest.mark.parametrize("fraction", [0.01, 0.3, 1.1])
def test_degrees_of_freedom_are_the_divergence_and_the_nullity(order, fraction):
    """Tibshirani & Taylor 2012, Theorem 3: at almost all y the trace of db/dy."""
    noise = NOISE[: TOWN.nodes]
    penalty = fraction * Trend(TOWN, noise, order).flat
    fit = trend_filter(TOWN, noise, penalty, order=order)
    D = difference_operator(TOWN, order).toarray()
    still = np.abs(D @ fit.fitted) < 1e-9
    nullity = TOWN.nodes - np.linalg.matrix_rank(D[still]) if np.any(still) else TOWN.nodes
    assert fit.degrees_of_freedom == nullity
    step, trace = 1e-7, 0.0
    for i in range(TOWN.nodes):
        y = noise.copy()
        y[i] += step
        trace += (trend_filter(TOWN, y, penalty, order=order).fitted[i] - fit.fitted[i]) / step
    assert trace == pytest.approx(fit.degrees_of_freedom, abs=1e-3)


@orders
def test_sure_is_unbiased(order):
    """Four standard errors: a false alarm once in 16,000."""
    truth = np.where(np.arange(CITY.nodes) < CITY.nodes // 3, 3.0, 0.0)
    stream, excess, sigma = np.random.default_rng(6), [], 0.8
    for _ in range(120 if order == 0 else 80):
        noise = sigma * stream.normal(size=truth.size)
        y = truth + noise
        fit = trend_filter(CITY, y, {0: 0.8, 1: 0.4, 2: 0.2}[order], order=order)
        chance = np.sum(noise**2) - truth.size * sigma**2  # of mean 0
        excess.append(fit.sure(sigma) - np.sum((fit.fitted - truth) ** 2) - chance)
    assert abs(np.mean(excess)) < 4 * np.std(excess) / np.sqrt(len(excess))


@orders
def test_constant_data_stay_as_they_are(order):
    fit = trend_filter(CITY, np.full(CITY.nodes, 7.0), 2.0, order=order)
    assert np.all(fit.fitted == 7.0)
    assert (fit.degrees_of_freedom, fit.gap, fit.error_bound) == (1, 0.0, 0.0)


def test_a_solution_that_cannot_be_certified_is_refused(monkeypatch):
    def stopped_early(graph, order, difference, y, penalty, program):  # noqa: PLR0917
        del graph, order, penalty, program
        rows = difference.shape[0]
        return Optimum(y, np.zeros(rows), np.ones(rows, dtype=bool), settled=True)

    monkeypatch.setattr(trend_filtering, "solve", stopped_early)
    with pytest.raises(ArithmeticError, match=r"dual gap .* exceeds 1e-08 at order=1, penalty=0.5"):
        trend_filter(CITY, NOISE, 0.5, order=1)


@pytest.mark.parametrize(
    ("y", "penalty", "order", "words"),
    [
        ([1.0, 2.0, 3.0], -1.0, 3, ["one number for each of 2 nodes", "penalty", "-1.0", "order"]),
        ([1.0, np.nan], np.inf, 1.0, ["y:", "nan", "penalty", "inf", "order", "1.0"]),
        ([[1.0, 2.0]], 1.0, 0, ["shape (2,)", "(1, 2)"]),
        ([1.0, 1e200], 1.0, True, ["y:", "1e+200", "order"]),
        (3.0, 1.0, 0, ["got shape ()"]),
    ],
)
def test_every_problem_is_named(y, penalty, order, words):
    with pytest.raises(ValueError, match="trend filtering:") as caught:
        trend_filter(PAIR, y, penalty, order=order)
    for word in words:
        assert word in str(caught.value)
    with pytest.raises(ValueError, match="order: expected 0, 1 or 2, got 7"):
        difference_operator(PAIR, 7)


@orders
def test_the_solution_is_the_mean_from_the_flat_penalty_on(order):
    flat = Trend(CITY, NOISE, order).flat
    beyond = trend_filter(CITY, NOISE, flat, order=order)
    assert beyond.degrees_of_freedom == 1
    assert beyond.fitted == pytest.approx(np.full(CITY.nodes, np.mean(NOISE)))
    none = trend_filter(CITY, NOISE, 0.0, order=order)
    assert np.array_equal(none.fitted, (NOISE - np.mean(NOISE)) + np.mean(NOISE))
    assert none.degrees_of_freedom == CITY.nodes


LARGE, PLACES = street_graph(40, 12, np.random.default_rng(0))
TRUTH = np.where(PLACES[:, 1] > np.median(PLACES[:, 1]), 6.0, 0.0) + (PLACES[:, 0] > 1500) * 4.0


@orders
def test_the_choice_is_near_the_best_penalty_in_hindsight(order):
    y = TRUTH + 2.0 * np.random.default_rng(1).normal(size=TRUTH.size)
    choice = choose_by_sure(LARGE, y, 2.0, order=order)
    trend = Trend(LARGE, y, order)
    losses = [np.sum((trend.fit(p).fitted - TRUTH) ** 2) for p in choice.penalties.tolist()]
    loss = np.sum((choice.fit.fitted - TRUTH) ** 2)
    assert loss < 1.3 * min(losses)
    assert loss < 0.4 * np.sum((y - TRUTH) ** 2)
    assert choice.fit.sure(2.0) == np.min(choice.sure)
    assert np.all(np.diff(choice.penalties) > 0)
    assert choice.fit.penalty in choice.penalties
    assert choice.sure.shape == choice.degrees_of_freedom.shape == choice.penalties.shape


def test_refusals_of_a_choice():
    with pytest.raises(ValueError, match=r"y: .*order: .*got 3; sigma: .*-1"):
        choose_by_sure(LARGE, TRUTH[1:], -1.0, order=3)
