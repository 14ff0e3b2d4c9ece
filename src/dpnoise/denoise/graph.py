"""Connected undirected graph, with the matrices on which signals are denoised.

Loops and parallel edges, which maps of streets have, are accepted, counted and dropped. A graph
without edges or with several connected components is refused: no denoiser here is defined on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph, linalg

from dpnoise._validation import Problems, floats
from dpnoise.denoise.shrinkage import LARGEST

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array

_MAXIMUM_NODES = 2**31 - 1  # the compiled parts count in 32 bits


@dataclass(frozen=True, eq=False, init=False)
class Graph:
    """Connected undirected graph without weights, loops or parallel edges.

    Parameters
    ----------
    nodes : int
        How many nodes there are, at least 2; they are numbered from 0.
    edges : array_like of int, shape (m, 2)
        The two ends of each edge, in either order.

    Attributes
    ----------
    edges : numpy.ndarray of int, shape (m, 2)
        Each edge once, the lower end first, in lexicographic order.
    loops : int
        Edges given from a node to itself; they are dropped.
    parallels : int
        Edges given again, in either direction; they are dropped too.

    Raises
    ------
    ValueError
        If there are fewer than two nodes, no edges, node numbers out of range, or more than
        one connected component.

    Examples
    --------
    >>> Graph(3, [(0, 1), (1, 2), (2, 1), (2, 2)])
    Graph(nodes=3, loops=1, parallels=1)
    """

    nodes: int
    edges: NDArray[np.int64] = field(repr=False)
    loops: int
    parallels: int

    def __init__(self, nodes: int, edges: ArrayLike) -> None:
        problems = Problems("graph")
        good_nodes = problems.number("nodes", nodes, low=2, high=_MAXIMUM_NODES)
        good_nodes = good_nodes and problems.require(
            nodes == int(nodes), "nodes", "a whole number", nodes
        )
        pairs = _pairs(problems, edges)
        if good_nodes and pairs.size:
            outside = pairs[(pairs < 0) | (pairs >= nodes)]
            expected = f"node numbers from 0 to {int(nodes) - 1}"
            problems.require(not outside.size, "edges", expected, outside[:3].tolist())
        problems.raise_if_any()
        ends = np.sort(pairs, axis=1)
        proper = ends[ends[:, 0] < ends[:, 1]]
        unique = np.unique(proper, axis=0)
        unique.setflags(write=False)
        object.__setattr__(self, "nodes", int(nodes))
        object.__setattr__(self, "edges", unique)
        object.__setattr__(self, "loops", len(ends) - len(proper))
        object.__setattr__(self, "parallels", len(proper) - len(unique))
        parts, label = self.components()
        smallest = int(np.min(np.bincount(label)))
        problems.require(
            parts == 1,
            "edges",
            "a connected graph",
            f"{parts} components, the smallest of {smallest} nodes",
        )
        problems.raise_if_any()

    def components(self, kept: NDArray[np.bool_] | None = None) -> tuple[int, NDArray[np.int32]]:
        """Number of connected components, and the number of each node's component, shape (n,).

        They are those of the graph, or of the graph with only the edges `kept`, shape (m,).
        """
        low, high = self.edges.T if kept is None else self.edges[kept].T
        matrix = sparse.coo_array((np.ones(len(low)), (low, high)), shape=(self.nodes, self.nodes))
        count, label = csgraph.connected_components(matrix, directed=False)
        return int(count), label

    @cached_property
    def incidence(self) -> sparse.csr_array:
        """Incidence matrix D_1, shape (m, n): (D_1 b)_e = b_high - b_low."""
        m = len(self.edges)
        values = np.tile([-1.0, 1.0], m)
        starts = np.arange(0, 2 * m + 1, 2)
        return sparse.csr_array((values, self.edges.ravel(), starts), shape=(m, self.nodes))

    @cached_property
    def laplacian(self) -> sparse.csr_array:
        """Laplacian D_1' D_1, shape (n, n): degrees on the diagonal, -1 for each edge."""
        return sparse.csr_array(self.incidence.T @ self.incidence)

    @cached_property
    def grounded(self) -> linalg.SuperLU:
        """Factors of the Laplacian without node 0, which is regular; they cannot be pickled."""
        return linalg.splu(sparse.csc_array(self.laplacian[1:, 1:]))

    def __getstate__(self) -> dict[str, object]:
        """What is copied and pickled: all but the factors, which are found again."""
        return {name: value for name, value in vars(self).items() if name != "grounded"}

    @cached_property
    def neighbours(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Adjacency lists: where the list of each node starts, and all lists in one array.

        The neighbours of node i are `heads[starts[i] : starts[i + 1]]`, in increasing order.
        """
        low, high = self.edges.T
        tails = np.concatenate([high, low])
        heads = np.concatenate([low, high])
        order = np.lexsort((heads, tails))
        degrees = np.bincount(tails, minlength=self.nodes)
        starts = np.concatenate([[0], np.cumsum(degrees)])
        return starts.astype(np.int32), heads[order].astype(np.int32)


def _pairs(problems: Problems, edges: ArrayLike) -> NDArray[np.int64]:
    """Return the edges as integers, shape (m, 2), or none of them and a problem."""
    try:
        array = np.asarray(edges)
    except ValueError:  # ragged nesting
        array = np.asarray(np.nan)
    if array.size == 0:
        problems.add(f"edges: expected at least one, got {edges!r}")
    elif array.ndim != 2 or array.shape[1] != 2:
        problems.add(f"edges: expected pairs, shape (m, 2), got shape {array.shape}")
    elif array.dtype.kind not in "iu":
        problems.add(f"edges: expected whole numbers, got {array.dtype}")
    else:
        return array.astype(np.int64)
    return np.empty((0, 2), dtype=np.int64)


def node_values(problems: Problems, nodes: int, y: ArrayLike) -> Array:
    """Signals on a graph: one number for each node along the last axis."""
    array = floats(problems, "y", y, low=-LARGEST, high=LARGEST)
    fits = array.ndim > 0 and array.shape[-1] == nodes
    if not fits:
        problems.add(f"y: expected one number for each of {nodes} nodes, got shape {array.shape}")
    return array


def node_signal(problems: Problems, nodes: int, y: ArrayLike) -> Array:
    """One signal on a graph, shape (nodes,)."""
    array = node_values(problems, nodes, y)
    if array.ndim > 1:
        problems.add(f"y: expected shape ({nodes},), got {array.shape}")
    return array
