"""The graph: its matrices, what it merges and what it refuses."""

import pickle
from copy import copy

import numpy as np
import pytest

from dpnoise.denoise.graph import Graph

SQUARE = [(0, 1), (2, 1), (2, 3), (3, 0)]


def test_loops_and_parallels_are_dropped_and_counted():
    graph = Graph(4, [*SQUARE, (1, 0), (0, 1), (2, 2)])
    assert (graph.loops, graph.parallels) == (1, 2)
    assert graph.edges.tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]
    assert not graph.edges.flags.writeable


def test_incidence_and_laplacian_follow_their_definitions():
    rng = np.random.default_rng(1)
    chain = [(i, i + 1) for i in range(9)]
    graph = Graph(10, [*chain, *rng.integers(10, size=(8, 2)).tolist()])
    b = rng.normal(size=10)
    low, high = graph.edges.T
    assert np.array_equal(graph.incidence @ b, b[high] - b[low])
    assert graph.laplacian @ b == pytest.approx(graph.incidence.T @ (graph.incidence @ b))
    degrees = np.bincount(graph.edges.ravel())
    assert np.array_equal(graph.laplacian.diagonal(), degrees)


def test_neighbours_list_every_edge_from_both_ends():
    graph = Graph(4, SQUARE)
    starts, heads = graph.neighbours
    seen = [(i, j) for i in range(4) for j in heads[starts[i] : starts[i + 1]]]
    assert seen == sorted([(i, j) for i, j in graph.edges] + [(j, i) for i, j in graph.edges])


def test_the_laplacian_is_factorised_once_and_a_graph_can_be_copied_all_the_same():
    graph = Graph(4, SQUARE)
    factors = graph.grounded
    assert graph.grounded is factors
    supply = np.array([1.0, -2.0, 0.5])
    assert graph.laplacian[1:, 1:] @ factors.solve(supply) == pytest.approx(supply)
    for again in (pickle.loads(pickle.dumps(graph)), copy(graph)):  # noqa: S301 - our own bytes
        assert np.array_equal(again.edges, graph.edges)
        assert again.grounded.solve(supply) == pytest.approx(factors.solve(supply))


def test_components_of_a_part_of_the_edges():
    graph = Graph(4, SQUARE)
    count, label = graph.components(np.array([True, False, False, True]))
    assert count == 2
    assert label[0] == label[1] != label[2] == label[3]


@pytest.mark.parametrize(
    ("nodes", "edges", "words"),
    [
        (4, [(0, 1), (2, 3)], ["connected", "2 components", "of 2 nodes"]),
        (3, [(0, 1)], ["connected", "of 1 nodes"]),
        (3, [], ["at least one"]),
        (3, [(0, 3), (-1, 1)], ["0 to 2", "[3, -1]"]),
        (1, [(0, 0)], ["nodes", "1"]),
        (2.5, [(0, 1)], ["nodes", "2.5"]),
        (np.nan, [], ["nodes", "nan", "at least one"]),
        (3, [(0, 1, 2)], ["shape (m, 2)", "(1, 3)"]),
        (3, [(0, 1), (2,)], ["shape (m, 2)"]),
        (3, [(0.0, 1.0)], ["whole numbers", "float64"]),
        (3, [(0, 0), (1, 1), (2, 2)], ["connected", "3 components"]),
    ],
)
def test_every_problem_is_named(nodes, edges, words):
    with pytest.raises(ValueError, match="graph:") as caught:
        Graph(nodes, edges)
    for word in words:
        assert word in str(caught.value)
