"""Spanning trees, of which the random one is uniform, and their wavelets.

Wavelets are orthonormal, sparse where they should be; refusals.
"""

import itertools

import numpy as np
import pytest
from scipy import stats

from city_maps import street_graph
from dpnoise.denoise.graph import Graph
from dpnoise.denoise.shrinkage import universal_threshold
from dpnoise.denoise.wavelets import WaveletBasis, breadth_first_tree, uniform_spanning_tree

SMALL = street_graph(12, 8, np.random.default_rng(0)).graph


def test_a_uniform_tree_spans_with_edges_of_the_graph():
    tree = uniform_spanning_tree(SMALL, np.random.default_rng(1))
    assert len(tree.edges) == SMALL.nodes - 1  # connected, by Graph, so a tree
    assert {tuple(e) for e in tree.edges.tolist()} <= {tuple(e) for e in SMALL.edges.tolist()}


def test_breadth_first_paths_are_shortest():
    tree = breadth_first_tree(SMALL, root=5)
    assert len(tree.edges) == SMALL.nodes - 1

    def distances(graph):
        distance = np.full(graph.nodes, -1)
        distance[5], front = 0, [5]
        for i in front:
            for j in graph.edges[(graph.edges == i).any(axis=1)].ravel().tolist():
                if distance[j] < 0:
                    distance[j] = distance[i] + 1
                    front.append(j)
        return distance

    assert np.array_equal(distances(tree), distances(SMALL))


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


@pytest.mark.parametrize("root", [-1, SMALL.nodes, 0.5])
def test_a_root_must_be_a_node(root):
    with pytest.raises(ValueError, match=r"root: expected a node"):
        breadth_first_tree(SMALL, root=root)


rng = np.random.default_rng(7)
CITY = street_graph(60, 20, np.random.default_rng(0)).graph
TREES = {
    "uniform": uniform_spanning_tree(CITY, rng),
    "breadth": breadth_first_tree(CITY),
    "pair": Graph(2, [(0, 1)]),
    "chain": Graph(100, [(i, i + 1) for i in range(99)]),
    "star": Graph(50, [(7, i) for i in range(50) if i != 7]),
    "broom": Graph(60, [(max(i - 1, 0) if i < 30 else 29, i) for i in range(1, 60)]),
}
BASES = {name: WaveletBasis(tree) for name, tree in TREES.items()}
bases = pytest.mark.parametrize("name", TREES)


@bases
def test_orthonormal_to_1e_12(name):
    basis = BASES[name]
    n = basis.tree.nodes
    product = (basis.matrix @ basis.matrix.T).toarray()
    assert np.max(np.abs(product - np.eye(n))) < 1e-12
    assert np.all(basis.matrix[[0]].toarray() == 1 / np.sqrt(n))


@bases
def test_parseval_and_inverse(name):
    basis = BASES[name]
    y = rng.normal(size=(2, 3, basis.tree.nodes))
    coefficients = basis.transform(y)
    assert np.sum(coefficients**2, axis=-1) == pytest.approx(np.sum(y**2, axis=-1), rel=1e-12)
    assert np.max(np.abs(basis.inverse(coefficients) - y)) < 1e-12


@bases
def test_each_wavelet_compares_the_means_of_two_connected_sets(name):
    basis = BASES[name]
    low, high = basis.tree.edges.T
    for k in range(1, basis.tree.nodes, 7):
        row = basis.matrix[[k]].toarray()[0]
        levels = np.unique(row[row != 0])
        assert levels.size == 2
        assert levels[0] < 0 < levels[1]
        assert abs(np.sum(row)) < 1e-12
    # the last round of mergers at the first node: its wavelet has the whole tree as support
    first = np.abs(basis.matrix).sign().sum(axis=1)[1:].max()
    assert first == basis.tree.nodes
    assert len(low) == len(high) == basis.tree.nodes - 1


@bases
@pytest.mark.parametrize("cuts", [1, 3])
def test_signals_constant_on_parts_of_the_tree_are_sparse(name, cuts):
    """At most (tree edges cut) x ceil(log2 n) x ceil(log2 of the degree) wavelets, and the mean."""
    basis = BASES[name]
    n, m = basis.tree.nodes, len(basis.tree.edges)
    degree = np.max(np.bincount(basis.tree.edges.ravel()))
    rounds = max(int(np.ceil(np.log2(degree))), 1)
    for _ in range(20):
        kept = np.ones(m, dtype=bool)
        kept[rng.choice(m, min(cuts, m), replace=False)] = False
        _, label = basis.tree.components(kept)
        y = rng.normal(size=n)[label]
        details = np.count_nonzero(np.abs(basis.transform(y)[1:]) > 1e-10)
        assert 1 <= details <= min(cuts, m) * np.ceil(np.log2(n)) * rounds


def test_denoising_thresholds_every_wavelet_but_not_the_mean():
    basis = BASES["uniform"]
    y = 5.0 + rng.normal(size=basis.tree.nodes)
    threshold = universal_threshold(1.0, basis.tree.nodes)
    before, after = basis.transform(y), basis.transform(basis.denoise(y, 1.0))
    assert after[0] == pytest.approx(before[0], rel=1e-12)
    expected = np.sign(before) * np.maximum(np.abs(before) - threshold, 0)
    assert after[1:] == pytest.approx(expected[1:], abs=1e-11)
    assert np.mean((basis.denoise(y, 1.0) - 5.0) ** 2) < 0.05  # of noise of variance 1


def test_refusals():
    with pytest.raises(ValueError, match=f"tree: expected {CITY.nodes - 1} edges"):
        WaveletBasis(CITY)
    basis = BASES["pair"]
    with pytest.raises(ValueError, match=r"one number for each of 2 nodes, got shape \(3,\)"):
        basis.transform([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"y: .*nan"):
        basis.inverse([1.0, np.nan])
    with pytest.raises(ValueError, match=r"sigma: .*-1"):
        basis.denoise([1.0, 2.0], -1.0)
