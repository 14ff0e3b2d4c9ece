"""Spanning trees of a graph: uniformly random or breadth-first.

The wavelets of Sharpnack, Singh & Krishnamurthy (AISTATS 2013) live on a spanning tree. A signal
that changes across few edges of the graph changes across few edges of the tree, and in expectation
across fewer of a uniform tree: an edge belongs to it with probability equal to the edge's
effective resistance.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from dpnoise._validation import Problems, is_integer
from dpnoise.denoise.graph import Graph


def uniform_spanning_tree(graph: Graph, rng: np.random.Generator) -> Graph:
    """Uniformly random spanning tree, by Wilson's algorithm.

    From each node not yet in the tree a random walk runs until it meets the tree; the path without
    its loops joins the tree.

    Parameters
    ----------
    graph : Graph
    rng : numpy.random.Generator
        Draws the root and the walks.

    Returns
    -------
    Graph

    References
    ----------
    Wilson, "Generating random spanning trees more quickly than the cover time", STOC 1996.

    Examples
    --------
    >>> import numpy as np
    >>> square = Graph(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> len(uniform_spanning_tree(square, np.random.default_rng(1)).edges)
    3
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
    # only the root, where every walk ends, has no next node
    return Graph(graph.nodes, [(i, j) for i, j in enumerate(onward) if j >= 0])


def breadth_first_tree(graph: Graph, root: int = 0) -> Graph:
    """Tree of shortest paths from a root, by breadth-first search.

    Parameters
    ----------
    graph : Graph
    root : int
        A node.

    Returns
    -------
    Graph

    Raises
    ------
    ValueError
        If `root` is not a node.

    Examples
    --------
    >>> square = Graph(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> breadth_first_tree(square, root=0).edges.tolist()
    [[0, 1], [0, 3], [1, 2]]
    """
    problems = Problems("breadth-first tree")
    good = is_integer(root) and 0 <= root < graph.nodes
    problems.require(good, "root", f"a node from 0 to {graph.nodes - 1}", root)
    problems.raise_if_any()
    low, high = graph.edges.T
    matrix = sparse.csr_array((np.ones(len(low)), (low, high)), shape=(graph.nodes, graph.nodes))
    _, parents = csgraph.breadth_first_order(matrix, int(root), directed=False)
    others = np.flatnonzero(parents >= 0)
    return Graph(graph.nodes, np.column_stack([parents[others], others]))
