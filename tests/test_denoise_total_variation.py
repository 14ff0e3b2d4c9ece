"""Total variation as a flow: exact on any graph, from any start."""

import numpy as np
import pytest
from scipy import optimize

from dpnoise.denoise.duality import relative_gap
from dpnoise.denoise.graph import Graph
from dpnoise.denoise.street_graph import street_graph
from dpnoise.denoise.total_variation import least_flow, total_variation
from dpnoise.denoise.trend_program import interior_point

CITY = street_graph(25, 12, np.random.default_rng(0)).graph


def random_graph(rng, nodes):
    chain = [(i, i + 1) for i in range(nodes - 1)]
    return Graph(nodes, [*chain, *rng.integers(nodes, size=(nodes, 2)).tolist()])


@pytest.mark.parametrize("seed", range(30))
def test_optimal_to_rounding_on_random_graphs_with_and_without_ties(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, int(rng.integers(2, 60)))
    y = rng.normal(size=graph.nodes)
    if seed % 2:
        y = np.round(2 * y)
    y -= np.mean(y)
    penalty = float(rng.choice([0.125, 0.5, 2.0, 1e3]))
    b, u = total_variation(graph, y, penalty)
    assert relative_gap(graph.incidence, y, penalty, b, u) < 1e-20
    across = graph.incidence @ b
    assert np.all(u[across != 0] == penalty * np.sign(across[across != 0]))


@pytest.mark.parametrize("penalty", [0.3, 3.0])
def test_agrees_with_bounded_least_squares_and_with_the_interior_point_method(penalty):
    """The dual is min |y - D'u| over a box, which scipy solves by active sets."""
    rng = np.random.default_rng(1)
    graph = random_graph(rng, 30)
    y = 3 * rng.normal(size=30)
    y -= np.mean(y)
    b, _ = total_variation(graph, y, penalty)
    D = graph.incidence
    oracle = optimize.lsq_linear(
        D.T.toarray(), y, bounds=(-penalty, penalty), method="bvls", tol=1e-15
    )
    assert b == pytest.approx(y - D.T @ oracle.x, abs=1e-7)
    assert b == pytest.approx(interior_point(D, y, penalty).fitted, abs=1e-4)


def test_the_start_does_not_matter():
    rng = np.random.default_rng(2)
    y = rng.normal(size=CITY.nodes)
    y -= np.mean(y)
    cold, _ = total_variation(CITY, y, 0.7)
    for start in (total_variation(CITY, y, 2.0)[1], rng.uniform(-9, 9, size=len(CITY.edges))):
        warm, u = total_variation(CITY, y, 0.7, start)
        assert warm == pytest.approx(cold, abs=1e-12)
        assert relative_gap(CITY.incidence, y, 0.7, warm, u) < 1e-20


@pytest.mark.parametrize("seed", range(5))
def test_least_flow_is_that_of_a_linear_program(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 25)
    supply = np.round(4 * rng.normal(size=25)) if seed == 0 else rng.normal(size=25)
    supply -= np.mean(supply)
    m = len(graph.edges)
    box = np.block([[np.eye(m), -np.ones((m, 1))], [-np.eye(m), -np.ones((m, 1))]])
    program = optimize.linprog(
        np.eye(m + 1)[m],
        A_ub=box,
        b_ub=np.zeros(2 * m),
        A_eq=np.hstack([graph.incidence.T.toarray(), np.zeros((25, 1))]),
        b_eq=supply,
        bounds=(None, None),
    )
    assert least_flow(graph, supply) == pytest.approx(program.fun, rel=1e-9)


def test_no_supply_needs_no_flow():
    b, u = total_variation(CITY, np.zeros(CITY.nodes), 1.0)
    assert not np.any(b)
    assert not np.any(u)
    assert least_flow(CITY, np.zeros(CITY.nodes)) == 0.0
