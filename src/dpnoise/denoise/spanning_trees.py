"""Spanning trees of a graph: uniform at random, or by breadth.

The wavelets of Sharpnack, Singh & Krishnamurthy (AISTATS 2013) live on a spanning tree. A signal
that changes across few edges of the graph changes across few edges of the tree, and across fewer
in expectation where the tree is uniform: each edge then belongs to it with its effective
resistance as probability.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from dpnoise._validation import Problems
from dpnoise.denoise.graph import Graph


def uniform_spanning_tree(graph: Graph, rng: np.random.Generator) -> Graph:
    """Return a spanning tree, each with the same probability.

    Wilson's algorithm (STOC 1996): from each node not yet in the tree walk at random until the
    tree is met, and join the path without its loops.

    Parameters
    ----------
    graph : Graph
    rng : numpy.random.Generator
        Draws the root and the walks.
    """
    starts, heads = (array.tolist() for array in graph.neighbours)
    inside, onward = [False] * graph.nodes, [-1] * graph.nodes
    inside[int(rng.integers(graph.nodes))] = True
    draws: list[float] = []
    for node in range(graph.nodes):
        i = node
        while not inside[i]:
            if not draws:
                draws = rng.random(4 * graph.nodes).tolist()
            first = starts[i]
            onward[i] = heads[first + int(draws.pop() * (starts[i + 1] - first))]
            i = onward[i]
        i = node
        while not inside[i]:
            inside[i] = True
            i = onward[i]
    # only the root, where every walk ends, has no way on
    return Graph(graph.nodes, [(i, j) for i, j in enumerate(onward) if j >= 0])


def breadth_first_tree(graph: Graph, root: int = 0) -> Graph:
    """Return the tree of shortest paths from `root` that a breadth-first search finds.

    Raises
    ------
    ValueError
        If `root` is not a node.
    """
    problems = Problems("breadth-first tree")
    good = isinstance(root, int | np.integer) and not isinstance(root, bool)
    good = good and 0 <= root < graph.nodes
    problems.require(good, "root", f"a node from 0 to {graph.nodes - 1}", root)
    problems.raise_if_any()
    low, high = graph.edges.T
    matrix = sparse.csr_array((np.ones(len(low)), (low, high)), shape=(graph.nodes, graph.nodes))
    _, parents = csgraph.breadth_first_order(matrix, int(root), directed=False)
    others = np.flatnonzero(parents >= 0)
    return Graph(graph.nodes, np.column_stack([parents[others], others]))
