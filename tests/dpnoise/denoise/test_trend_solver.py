"""Trend filtering by an interior-point method, what polishing adds, and the dual gap.

The gap is equal to its definition, and a bound on the distance to the optimum.
"""

import numpy as np
import pytest
from scipy import optimize, sparse

from city_maps import street_graph
from dpnoise.denoise.graph import Graph
from dpnoise.denoise.trend_filtering import difference_operator
from dpnoise.denoise.trend_solver import (
    TrendProgram,
    certain_signs,
    interior_point,
    objective,
    polish,
    relative_gap,
    solve,
)

CITY = street_graph(20, 10, np.random.default_rng(0)).graph
rng = np.random.default_rng(1)
Y = rng.normal(size=CITY.nodes)
Y -= np.mean(Y)
orders = pytest.mark.parametrize("order", [0, 1, 2])
penalties = pytest.mark.parametrize("penalty", [1e-4, 0.05, 0.5, 5.0, 50.0])


@orders
@penalties
def test_the_interior_point_is_near_and_the_polished_one_is_there(order, penalty):
    D = difference_operator(CITY, order)
    rough = interior_point(D, Y, penalty)
    exact = polish(CITY, order, D, Y, penalty, rough)
    assert relative_gap(D, Y, penalty, rough.fitted, rough.dual) < 1e-6
    assert relative_gap(D, Y, penalty, exact.fitted, exact.dual) < 1e-13
    change = D @ exact.fitted
    assert np.all(np.abs(change[~exact.active]) < 1e-10)
    assert np.all(change[exact.active] * exact.dual[exact.active] > 0)
    assert np.all(np.abs(exact.dual[exact.active]) == penalty)
    assert exact.settled
    assert not rough.settled


@orders
@penalties
def test_signs_known_beforehand_are_those_of_the_optimum(order, penalty):
    D = difference_operator(CITY, order)
    known = certain_signs(D, Y, penalty)
    change = D @ solve(CITY, order, D, Y, penalty).fitted
    assert np.all(known[known != 0] * change[known != 0] > 0)
    share = np.mean(known != 0)
    assert share > 0.9 if penalty == 1e-4 else share == 0.0 if penalty == 50.0 else True


def test_a_difference_that_the_penalty_just_levels_has_no_certain_sign():
    D = Graph(2, [(0, 1)]).incidence
    assert certain_signs(D, np.array([-1.0, 1.0]), 1.0) == [0.0]  # 2 = 2 lambda: levelled
    (known,) = certain_signs(D, np.array([-1.0, 1.0]), 1.0 - 1e-6)
    assert known == np.sign(D @ [-1.0, 1.0])
    # what is known at one end of a path lets the next sign follow
    chain = Graph(3, [(0, 1), (1, 2)]).incidence
    y = np.array([0.0, 3.5, 100.0])
    first = np.abs(chain @ y) > 1.4 * (abs(chain) @ (abs(chain).T @ np.ones(2)))
    assert first.tolist() == [False, True]
    assert np.count_nonzero(certain_signs(chain, y - np.mean(y), 1.4)) == 2


@orders
def test_a_program_serves_any_data_and_penalty(order):
    D = difference_operator(CITY, order)
    program = TrendProgram(D)
    for data, penalty in [(Y, 0.5), (Y, 50.0), (1000.0 * Y[::-1], 5.0), (Y, 0.5), (Y, 1e-4)]:
        again = solve(CITY, order, D, data, penalty, program)
        once = solve(CITY, order, D, data, penalty)
        assert again.settled
        assert np.array_equal(again.active, once.active)
        assert again.fitted == pytest.approx(once.fitted, abs=1e-10 * np.max(np.abs(data)))


@orders
def test_polishing_mends_a_wrong_guess_of_the_active_rows(order):
    D = difference_operator(CITY, order)
    rough = interior_point(D, Y, 0.5)
    exact = polish(CITY, order, D, Y, 0.5, rough)
    guess = exact.active.copy()
    guess[np.random.default_rng(3).choice(np.flatnonzero(~guess), 4, replace=False)] = True
    guess[np.flatnonzero(exact.active)[:3]] = False
    repaired = polish(CITY, order, D, Y, 0.5, rough._replace(active=guess))
    assert repaired.settled
    assert np.array_equal(repaired.active, exact.active)
    assert repaired.fitted == pytest.approx(exact.fitted, abs=1e-10)


@orders
def test_agrees_with_bounded_least_squares(order):
    """The dual is min |y - D'u| over a box, which scipy solves by active sets."""
    town = street_graph(14, 8, np.random.default_rng(0)).graph
    D, y = difference_operator(town, order), Y[: town.nodes] - np.mean(Y[: town.nodes])
    exact = polish(town, order, D, y, 0.3, interior_point(D, y, 0.3))
    oracle = optimize.lsq_linear(D.T.toarray(), y, bounds=(-0.3, 0.3), method="bvls", tol=1e-14)
    assert exact.fitted == pytest.approx(y - D.T @ oracle.x, abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_total_variation_on_random_graphs_with_and_without_ties(seed):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 60))
    chain = [(i, i + 1) for i in range(nodes - 1)]
    graph = Graph(nodes, [*chain, *rng.integers(nodes, size=(nodes, 2)).tolist()])
    y = rng.normal(size=nodes)
    if seed % 2:
        y = np.round(2 * y)
    y -= np.mean(y)
    penalty = float(rng.choice([0.125, 0.5, 2.0]))
    D = graph.incidence
    exact = solve(graph, 0, D, y, penalty)
    assert relative_gap(D, y, penalty, exact.fitted, exact.dual) < 1e-12
    oracle = optimize.lsq_linear(
        D.T.toarray(), y, bounds=(-penalty, penalty), method="bvls", tol=1e-15
    )
    assert exact.fitted == pytest.approx(y - D.T @ oracle.x, abs=1e-6)


stream = np.random.default_rng(3)
CHAIN = sparse.csr_array(np.diff(np.eye(6), axis=0))


def test_the_sum_of_terms_is_primal_less_dual_value():
    for _ in range(20):
        y, b, penalty = stream.normal(size=6), stream.normal(size=6), stream.exponential()
        u = stream.uniform(-penalty, penalty, size=5)
        primal = 0.5 * np.sum((y - b) ** 2) + penalty * np.sum(np.abs(CHAIN @ b))
        dual = 0.5 * np.sum(y**2) - 0.5 * np.sum((y - CHAIN.T @ u) ** 2)
        assert objective(CHAIN, y, penalty, b) == pytest.approx(primal, rel=1e-13)
        assert relative_gap(CHAIN, y, penalty, b, u) == pytest.approx((primal - dual) / primal)


def test_an_infeasible_dual_certifies_nothing():
    y = stream.normal(size=6)
    assert relative_gap(CHAIN, y, 1.0, y, np.full(5, 1.1)) == np.inf
    assert relative_gap(CHAIN, y, 1.0, y, np.full(5, np.nan)) == np.inf
    assert relative_gap(CHAIN, y, 1.0, np.full(6, np.nan), np.zeros(5)) == np.inf


def test_nothing_left_to_gain_is_no_gap():
    assert relative_gap(CHAIN, np.zeros(6), 1.0, np.zeros(6), np.zeros(5)) == 0.0
