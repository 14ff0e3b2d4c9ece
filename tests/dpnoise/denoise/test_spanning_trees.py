"""Spanning trees: that they are trees, and that the random one is uniform."""

import itertools

import numpy as np
import pytest
from scipy import stats

from dpnoise.denoise.graph import Graph
from dpnoise.denoise.spanning_trees import breadth_first_tree, uniform_spanning_tree
from dpnoise_papers.data.city.synthetic_streets import street_graph

CITY = street_graph(12, 8, np.random.default_rng(0)).graph


def test_a_uniform_tree_spans_with_edges_of_the_graph():
    tree = uniform_spanning_tree(CITY, np.random.default_rng(1))
    assert len(tree.edges) == CITY.nodes - 1  # connected, by Graph, so a tree
    assert {tuple(e) for e in tree.edges.tolist()} <= {tuple(e) for e in CITY.edges.tolist()}


def test_breadth_first_paths_are_shortest():
    tree = breadth_first_tree(CITY, root=5)
    assert len(tree.edges) == CITY.nodes - 1

    def distances(graph):
        distance = np.full(graph.nodes, -1)
        distance[5], front = 0, [5]
        for i in front:
            for j in graph.edges[(graph.edges == i).any(axis=1)].ravel().tolist():
                if distance[j] < 0:
                    distance[j] = distance[i] + 1
                    front.append(j)
        return distance

    assert np.array_equal(distances(tree), distances(CITY))


def test_each_spanning_tree_is_as_likely_as_any():
    """Chi-square over all trees of K4 without an edge; a false alarm once in 10,000."""
    graph = Graph(4, [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)])
    trees = []
    for chosen in itertools.combinations(graph.edges.tolist(), 3):
        try:
            trees.append(Graph(4, list(chosen)).edges.tolist())
        except ValueError:
            continue
    minor = graph.laplacian.toarray()[1:, 1:]
    assert len(trees) == round(np.linalg.det(minor)) == 8  # Kirchhoff
    rng = np.random.default_rng(2)
    counts = np.zeros(8)
    for _ in range(2000):
        counts[trees.index(uniform_spanning_tree(graph, rng).edges.tolist())] += 1
    assert stats.chisquare(counts).pvalue > 1e-4


def test_edges_belong_to_it_with_their_effective_resistance():
    """Four standard errors for the mean over all edges of a squared z-score, seeded."""
    rng = np.random.default_rng(3)
    inverse = np.linalg.pinv(CITY.laplacian.toarray())
    D = CITY.incidence.toarray()
    resistance = np.einsum("ei,ij,ej->e", D, inverse, D)
    draws = 300
    hits = np.zeros(len(D))
    where = {tuple(e): k for k, e in enumerate(CITY.edges.tolist())}
    for _ in range(draws):
        for e in uniform_spanning_tree(CITY, rng).edges.tolist():
            hits[where[tuple(e)]] += 1
    sure = resistance > 1 - 1e-9
    assert np.all(hits[sure] == draws)
    z = (hits - draws * resistance)[~sure]
    z /= np.sqrt(draws * resistance * (1 - resistance))[~sure]
    assert abs(np.mean(z**2) - 1) < 4 * np.sqrt(2 / len(z))


@pytest.mark.parametrize("root", [-1, CITY.nodes, 0.5])
def test_a_root_must_be_a_node(root):
    with pytest.raises(ValueError, match=r"root: expected a node"):
        breadth_first_tree(CITY, root=root)
