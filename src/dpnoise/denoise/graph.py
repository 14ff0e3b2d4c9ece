"""An undirected graph with its incidence matrix, on which signals are denoised.

Streets meet more than once and lead back to where they began, so loops and parallel edges
are accepted: they are merged, and counted. What cannot be denoised is refused: a graph that
is empty or falls into several parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from dpnoise._validation import Problems
from dpnoise.noise._arrays import floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]

_MOST_NODES = 2**31 - 1  # the compiled parts count in 32 bits
LARGEST = 1e100  # of a datum, so that its square has a double


@dataclass(frozen=True, eq=False)
class Graph:
    """A connected graph without weights.

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
    """

    nodes: int
    edges: ArrayLike = field(repr=False)
    loops: int = field(init=False)
    parallels: int = field(init=False)

    def __post_init__(self) -> None:
        """Check the edges, and store each once."""
        problems = Problems("graph")
        good_nodes = problems.number("nodes", self.nodes, low=2, high=_MOST_NODES)
        good_nodes = good_nodes and problems.require(
            self.nodes == int(self.nodes), "nodes", "a whole number", self.nodes
        )
        edges = _pairs(problems, self.edges)
        if good_nodes and edges.size:
            outside = edges[(edges < 0) | (edges >= self.nodes)]
            expected = f"node numbers from 0 to {int(self.nodes) - 1}"
            problems.require(not outside.size, "edges", expected, outside[:3].tolist())
        problems.raise_if_any()
        ends = np.sort(edges, axis=1)
        proper = ends[ends[:, 0] < ends[:, 1]]
        unique = np.unique(proper, axis=0)
        unique.setflags(write=False)
        object.__setattr__(self, "nodes", int(self.nodes))
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

    def components(self, kept: NDArray[np.bool_] | None = None) -> tuple[int, Integers]:
        """Return the number of connected components, and that of each node.

        Parameters
        ----------
        kept : numpy.ndarray of bool, shape (m,), optional
            Which edges remain; all by default.
        """
        low, high = self.edges.T if kept is None else self.edges[kept].T
        matrix = sparse.coo_array((np.ones(len(low)), (low, high)), shape=(self.nodes, self.nodes))
        count, label = csgraph.connected_components(matrix, directed=False)
        return int(count), label

    @cached_property
    def incidence(self) -> sparse.csr_array:
        """The first difference D_1, shape (m, n): (D_1 b)_e = b_high - b_low."""
        m = len(self.edges)
        values = np.tile([-1.0, 1.0], m)
        starts = np.arange(0, 2 * m + 1, 2)
        return sparse.csr_array((values, self.edges.ravel(), starts), shape=(m, self.nodes))

    @cached_property
    def laplacian(self) -> sparse.csr_array:
        """D_1' D_1, shape (n, n): degrees on the diagonal, -1 for each edge."""
        return sparse.csr_array(self.incidence.T @ self.incidence)

    @cached_property
    def neighbours(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Where the neighbours of each node start, and the neighbours of all nodes.

        Those of node i are `heads[starts[i] : starts[i + 1]]`, in increasing order.
        """
        low, high = self.edges.T
        tails = np.concatenate([high, low])
        heads = np.concatenate([low, high])
        order = np.lexsort((heads, tails))
        degrees = np.bincount(tails, minlength=self.nodes)
        starts = np.concatenate([[0], np.cumsum(degrees)])
        return tuple(a.astype(np.int32) for a in (starts, heads[order]))


def node_values(problems: Problems, nodes: int, y: ArrayLike) -> NDArray[np.float64]:
    """Return the data `y`, one number for each node on the last axis, or record a problem."""
    array = floats(problems, "y", y, low=-LARGEST, high=LARGEST)
    fits = array.ndim > 0 and array.shape[-1] == nodes
    if not fits:
        problems.add(f"y: expected one number for each of {nodes} nodes, got shape {array.shape}")
    return array


def _pairs(problems: Problems, edges: ArrayLike) -> Integers:
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
