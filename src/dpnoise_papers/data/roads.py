"""The junctions of a city and the road sections between them, from a map of short segments.

Balle & Wang (ICML 2018, Section 5.3) release counts at the junctions of Manhattan. A street map
has many more nodes, which only give a road its shape. The graph of junctions is what remains of

1. the segments without direction, repetition and segments of a node to itself,
2. their largest connected component,
3. its 2-core: dead ends, removed until none is left, are no part of the network,
4. after each chain of nodes of degree 2 has become one section.

Two junctions may be joined by several sections, and a section may lead back to where it began;
both are kept here, and merged by `dpnoise.denoise.Graph`, which counts them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from dpnoise._validation import Problems

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array

    Integers = NDArray[np.int64]


EARTH_RADIUS = 6_371_008.8  # metres, the mean radius of the WGS84 ellipsoid


@dataclass(frozen=True, eq=False)
class RoadGraph:
    """Junctions and sections, with what was found on the way.

    `latitude` and `longitude` of the n junctions are in degrees, `node` are their ascending numbers
    in the map that the graph was made of. `sections`, shape (m, 2), hold the two junctions of each
    section, the lower number first, in lexicographic order; `length` is in metres along the
    section, `segments` how many segments of the map make it up. `component` and `core` count nodes
    and segments of the largest component, and of its 2-core.
    """

    latitude: Array
    longitude: Array
    node: Integers
    sections: Integers
    length: Array
    segments: Integers
    component: tuple[int, int]
    core: tuple[int, int]


def split_map(values: Array) -> tuple[Array, Array, Integers]:
    """Latitude, longitude (n,) and segments (m, 2) of a map that is written as one table.

    Its 1 + n + m rows of 3 hold the numbers of nodes n and segments m; latitude and longitude of
    each node; from, to and weight of each segment. NaN where a line is shorter. Weights are not
    used. ValueError if the rows are not as many as the first one says, or ends of segments are not
    whole numbers.
    """
    values = np.asarray(values, dtype=float)
    problems = Problems("road map")
    if problems.require(values.ndim == 2 and values.shape[1:] == (3,) and len(values) > 1,
                        "rows", "a first row with two counts, then nodes and segments",
                        values.shape):  # fmt: skip
        nodes, arcs = values[0, :2]
        expected = f"1 + {nodes:g} + {arcs:g} as the first row says"
        problems.require(len(values) == 1 + nodes + arcs, "rows", expected, len(values))
    problems.raise_if_any()
    n = int(nodes)
    ends = values[1 + n :, :2]
    whole = np.isfinite(ends) & (ends == np.round(ends))
    problems.require(bool(np.all(whole)), "segments", "whole node numbers", ends[~whole][:3])
    problems.raise_if_any()
    return values[1 : 1 + n, 0], values[1 : 1 + n, 1], ends.astype(np.int64)


def junction_graph(latitude: ArrayLike, longitude: ArrayLike, segments: ArrayLike) -> RoadGraph:
    """Junctions of a street map and the sections between them.

    Coordinates of the nodes of the map are in degrees, shape (n,); segments, shape (m, 2), are
    straight pieces of road between two nodes, in any order and direction, once or more. ValueError
    if coordinates are malformed, segments name no node, or no junction remains.
    """
    latitude, longitude = np.asarray(latitude, float), np.asarray(longitude, float)
    segments = np.asarray(segments)
    problems = Problems("road map")
    for name, degrees, most in (("latitude", latitude, 90.0), ("longitude", longitude, 180.0)):
        bad = degrees[~(np.abs(degrees) <= most)]
        problems.require(not bad.size, name, f"degrees in [-{most:g}, {most:g}]", bad[:3].tolist())
    n = len(latitude)
    problems.require(latitude.shape == longitude.shape == (n,), "coordinates",
                     "two sequences of one length", (latitude.shape, longitude.shape))  # fmt: skip
    if problems.require(
        segments.ndim == 2 and segments.shape[1] == 2 and segments.dtype.kind in "iu" and n > 0,
        "segments", "pairs of node numbers, and nodes", f"{segments.dtype} of {segments.shape}",
    ):  # fmt: skip
        outside = segments[(segments < 0) | (segments >= n)]
        expected = f"node numbers from 0 to {n - 1}"
        problems.require(not outside.size, "segments", expected, outside[:3].tolist())
    problems.raise_if_any()

    edges = np.unique(np.sort(segments[segments[:, 0] != segments[:, 1]], axis=1), axis=0)
    edges = largest_component(n, edges)
    component = (len(np.unique(edges)), len(edges))
    edges = two_core(n, edges)
    core = (len(np.unique(edges)), len(edges))
    node, ends, section = _contract(n, edges)
    problems.require(node.size > 0, "segments", "a map with junctions", f"{core[1]} in its core")
    problems.raise_if_any()
    metres = great_circle(latitude, longitude, edges)
    length = np.bincount(section, weights=metres).astype(float)
    segment_count = np.bincount(section)
    order = np.lexsort((length, ends[:, 1], ends[:, 0]))
    return RoadGraph(
        latitude[node], longitude[node], node, ends[order], length[order], segment_count[order],
        component, core,
    )  # fmt: skip


def great_circle(latitude: Array, longitude: Array, pairs: Integers) -> Array:
    """Metres between pairs (m, 2) of nodes at n places in degrees, by the haversine formula on a
    sphere.
    """
    phi, lam = np.radians(latitude)[pairs], np.radians(longitude)[pairs]
    half = np.sin(np.diff(phi, axis=1)[:, 0] / 2) ** 2
    half += np.prod(np.cos(phi), axis=1) * np.sin(np.diff(lam, axis=1)[:, 0] / 2) ** 2
    return 2.0 * EARTH_RADIUS * np.arcsin(np.sqrt(half))


def local_metres(
    latitude: ArrayLike, longitude: ArrayLike, origin: tuple[float, float]
) -> tuple[Array, Array]:
    """Metres east and north of an origin (latitude, longitude), of places in degrees, shape (n,).

    The plane touches the sphere at the origin's latitude; over the 22 km of Manhattan distances
    between neighbouring junctions are right to 0.2 %.
    """
    unit = np.radians(EARTH_RADIUS)
    east = unit * np.cos(np.radians(origin[0])) * (np.asarray(longitude, float) - origin[1])
    return east, unit * (np.asarray(latitude, float) - origin[0])


def largest_component(n: int, edges: Integers) -> Integers:
    """Edges, shape (k, 2), of the largest connected component of n nodes."""
    if not len(edges):
        return edges
    ones = np.ones(len(edges))
    matrix = sparse.coo_array((ones, edges.T), shape=(n, n))
    _, label = csgraph.connected_components(matrix, directed=False)
    return edges[label[edges[:, 0]] == np.argmax(np.bincount(label))]


def two_core(n: int, edges: Integers) -> Integers:
    """Edges, shape (k, 2), left of n nodes when none ends at a node that has no other."""
    # ends: fewer edges each time
    while True:
        degree = np.bincount(edges.ravel(), minlength=n)
        kept = np.all(degree[edges] > 1, axis=1)
        if np.all(kept):
            return edges
        edges = edges[kept]


def _contract(n: int, edges: Integers) -> tuple[Integers, Integers, Integers]:
    """Nodes that are junctions, the ends of each section, and each edge's section."""
    degree = np.bincount(edges.ravel(), minlength=n)
    node = np.flatnonzero(degree > 2)
    m = len(edges)
    if not node.size:
        return node, np.empty((0, 2), np.int64), np.zeros(m, np.int64)
    # Two edges that meet in a node of degree 2 belong to one section.
    passed = np.flatnonzero(degree[edges.ravel()] == 2)
    by_node = passed[np.argsort(edges.ravel()[passed], kind="stable")] // 2
    links = (np.ones(len(by_node) // 2), (by_node[::2], by_node[1::2]))
    _, section = csgraph.connected_components(sparse.coo_array(links, shape=(m, m)), directed=False)
    # Each section has two ends in junctions, perhaps in the same one.
    ending = np.flatnonzero(degree[edges.ravel()] > 2)
    number = np.searchsorted(node, edges.ravel()[ending])
    order = np.lexsort((number, section[ending // 2]))
    return node, number[order].reshape(-1, 2), section.astype(np.int64)
