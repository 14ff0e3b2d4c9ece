"""Trend filtering by an interior-point method, and what polishing adds."""

import numpy as np
import pytest
from scipy import optimize

from dpnoise.denoise.dual_gap import relative_gap
from dpnoise.denoise.graph import Graph
from dpnoise.denoise.trend_filtering import difference_operator
from dpnoise.denoise.trend_solver import interior_point, polish, solve
from dpnoise_papers.data.city.synthetic_streets import street_graph

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
    D = difference_operator(CITY, order)
    exact = polish(CITY, order, D, Y, 0.3, interior_point(D, Y, 0.3))
    oracle = optimize.lsq_linear(D.T.toarray(), Y, bounds=(-0.3, 0.3), method="bvls", tol=1e-14)
    assert exact.fitted == pytest.approx(Y - D.T @ oracle.x, abs=1e-6)


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
