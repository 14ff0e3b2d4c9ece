"""Wavelets of a spanning tree, in which signals that are constant on parts of it are sparse.

Sharpnack, Singh & Krishnamurthy, "Detecting activations over graphs using spanning tree wavelet
bases" (AISTATS 2013). The spanning tree is uniformly random or breadth-first. A signal that changes
across few edges of the graph changes across few edges of the tree, and in expectation across fewer
of a uniform tree: an edge belongs to it with probability equal to the edge's effective resistance.

FindBalance: a node whose removal leaves subtrees of at most half the nodes each. FormWavelets: the
balancing node joins the smallest subtree; the subtrees are merged in pairs, round by round, and
each merger of A and B makes one wavelet, constant on A and on B; then the same within each subtree.
A tree of n nodes is halved about log2 n times, and an edge takes part in at most log2 of the degree
mergers each time, so that a signal that changes across few edges of the tree has few coefficients
that are not zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from dpnoise._validation import Problems, is_integer
from dpnoise.denoise.graph import Graph, node_values
from dpnoise.denoise.shrinkage import soft_threshold, universal_threshold

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array


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
        # ends: a random walk, almost surely finite
        while not inside[i]:
            if not draws:
                draws = rng.random(4 * graph.nodes).tolist()
            first = starts[i]
            onward[i] = heads[first + int(draws.pop() * (starts[i + 1] - first))]
            i = onward[i]
        i = node
        # ends: a random walk, almost surely finite
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


@dataclass(frozen=True, eq=False)
class WaveletBasis:
    """Orthonormal wavelet basis of a spanning tree.

    Parameters
    ----------
    tree : Graph
        A tree: one edge less than nodes, such as `uniform_spanning_tree` and `breadth_first_tree`
        make them.

    Attributes
    ----------
    matrix : scipy.sparse.csr_array, shape (n, n)
        Orthonormal; the first row is constant, each other row a wavelet.

    Raises
    ------
    ValueError
        If the graph is not a tree; from the methods, if signals do not fit it or sigma is not > 0.

    References
    ----------
    Sharpnack, Singh & Krishnamurthy, AISTATS 2013.

    Examples
    --------
    >>> from dpnoise.denoise.graph import Graph
    >>> basis = WaveletBasis(Graph(4, [(0, 1), (1, 2), (2, 3)]))
    >>> basis.denoise([5.2, 4.8, 1.1, 0.9], sigma=0.5).round(2)
    array([4.58, 4.58, 1.42, 1.42])
    """

    tree: Graph
    matrix: sparse.csr_array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check that it is a tree, and form the wavelets."""
        problems = Problems("wavelet basis")
        n, m = self.tree.nodes, len(self.tree.edges)
        problems.require(m == n - 1, "tree", f"{n - 1} edges for {n} nodes", m)
        problems.raise_if_any()
        object.__setattr__(self, "matrix", _form_wavelets(self.tree))

    def transform(self, y: ArrayLike) -> Array:
        """Wavelet coefficients of signals, both of shape (..., n)."""
        return self._apply(self.matrix, y)

    def inverse(self, coefficients: ArrayLike) -> Array:
        """Signals with given wavelet coefficients, both of shape (..., n)."""
        return self._apply(self.matrix.T, coefficients)

    def denoise(self, y: ArrayLike, sigma: float) -> Array:
        """Signals with wavelet coefficients soft-thresholded at sigma sqrt(2 log n).

        `y`, shape (..., n), holds data with independent N(0, sigma^2) noise, sigma > 0. The first
        coefficient, the mean of the data, is kept as it is.
        """
        threshold = universal_threshold(sigma, self.tree.nodes)
        coefficients = self.transform(y)
        coefficients[..., 1:] = soft_threshold(coefficients[..., 1:], threshold)
        return self.inverse(coefficients)

    def _apply(self, matrix: sparse.csr_array | sparse.csc_array, y: ArrayLike) -> Array:
        """Matrix applied to each signal."""
        problems = Problems("wavelets")
        array = node_values(problems, self.tree.nodes, y)
        problems.raise_if_any()
        flat = array.reshape(-1, self.tree.nodes)
        return np.ascontiguousarray((matrix @ flat.T).T).reshape(array.shape)


def _form_wavelets(tree: Graph) -> sparse.csr_array:
    """Basis vectors as rows."""
    starts, heads = (array.tolist() for array in tree.neighbours)
    neighbours = [heads[a:b] for a, b in pairwise(starts)]
    n = tree.nodes
    part = [0] * n  # a number that the nodes of one subtree share
    columns, values = [np.arange(n)], [np.full(n, 1.0 / math.sqrt(n))]
    pending, fresh = [list(range(n))], 1
    # ends: fewer nodes each time
    while pending:
        subtrees = _balance(pending.pop(), neighbours, part)
        for subtree in subtrees:
            for i in subtree:
                part[i] = fresh
            fresh += 1
            if len(subtree) > 1:
                pending.append(subtree)
        # ends: fewer nodes each time
        while len(subtrees) > 1:
            merged = [a + b for a, b in zip(subtrees[::2], subtrees[1::2], strict=False)]
            for left, right in zip(subtrees[::2], subtrees[1::2], strict=False):
                a, b = len(left), len(right)
                columns.append(np.array(left + right))
                values.append(
                    np.repeat([math.sqrt(b / (a + b) / a), -math.sqrt(a / (a + b) / b)], [a, b])
                )
            subtrees = merged + subtrees[2 * len(merged) :]
    lengths = np.cumsum([0] + [len(c) for c in columns])
    matrix = sparse.csr_array(
        (np.concatenate(values), np.concatenate(columns), lengths), shape=(n, n)
    )
    matrix.sort_indices()
    return matrix


def _find_balance(start: int, neighbours: list[list[int]], part: list[int]) -> int:
    """Node of the subtree of `start` whose removal leaves parts of at most half its size."""
    mine, parent, order = part[start], {start: -1}, [start]
    for i in order:
        for j in neighbours[i]:
            if j != parent[i] and part[j] == mine:
                parent[j] = i
                order.append(j)
    size = dict.fromkeys(order, 1)
    # from the leaves up: the branches below the first node with at least half are all smaller
    for i in reversed(order):
        if 2 * size[i] >= len(order):
            return i
        size[parent[i]] += size[i]
    return start


def _balance(nodes: list[int], neighbours: list[list[int]], part: list[int]) -> list[list[int]]:
    """Subtrees that the removal of the balancing node leaves of one with at least two nodes.

    They come in order of size; the node joins the smallest.
    """
    own, centre = part[nodes[0]], _find_balance(nodes[0], neighbours, part)
    subtrees = []
    for root in neighbours[centre]:
        if part[root] == own:
            subtree = [root]
            came = {root: centre}
            for i in subtree:
                for j in neighbours[i]:
                    if j != came[i] and part[j] == own:
                        came[j] = i
                        subtree.append(j)
            subtrees.append(subtree)
    subtrees.sort(key=len)
    if len(subtrees) == 1:  # two nodes
        return [[centre], *subtrees]
    subtrees[0].append(centre)
    return subtrees
