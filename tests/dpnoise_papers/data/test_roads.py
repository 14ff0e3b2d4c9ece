"""The recipe for road graphs: by hand on a small map, and against files derived of Manhattan's."""

import hashlib

import numpy as np
import pytest

from city_maps import LATITUDE, LONGITUDE, STEP, street_map
from dpnoise.denoise.graph import Graph
from dpnoise_papers.data.copies import obtain, places_of
from dpnoise_papers.data.registry import read_cities
from dpnoise_papers.data.roads import (
    EARTH_RADIUS,
    great_circle,
    junction_graph,
    local_metres,
    split_map,
)


def test_a_small_map_by_hand():
    roads = junction_graph(*street_map(5, 4))
    # Grid: 20 nodes, 31 edges; its four corners become bends; the dead end adds 2 and 2 before.
    assert roads.component == (22, 33)
    assert roads.core == (20, 31)
    assert roads.node.tolist() == [k for k in range(20) if k not in {0, 3, 16, 19}]
    assert len(roads.sections) == 31 - 4
    assert np.sum(roads.segments) == 31
    assert sorted(roads.segments)[-5:] == [1, 2, 2, 2, 2]
    bend = np.flatnonzero(np.all(roads.sections == [0, 2], axis=1))  # nodes 1 and 4, by way of 0
    step = np.radians(STEP) * EARTH_RADIUS
    expected = step * (1 + np.cos(np.radians(LATITUDE)))
    assert roads.length[bend] == pytest.approx([expected], rel=1e-6)
    assert Graph(len(roads.node), roads.sections).parallels == 0


def test_parallel_sections_and_loops_are_kept():
    # Two junctions joined by three roads of two segments, and a ring of three at one of them.
    roads = junction_graph(
        np.linspace(40, 41, 7),
        np.linspace(-74, -73, 7),
        [(0, 2), (2, 1), (0, 3), (3, 1), (0, 4), (4, 1), (1, 5), (5, 6), (6, 1)],
    )
    assert roads.node.tolist() == [0, 1]
    assert roads.sections.tolist() == [[0, 1], [0, 1], [0, 1], [1, 1]]
    assert roads.segments.tolist() == [2, 2, 2, 3]
    graph = Graph(2, roads.sections)
    assert (graph.loops, graph.parallels, len(graph.edges)) == (1, 2, 1)


@pytest.mark.parametrize("seed", range(5))
def test_contraction_keeps_cycles_and_degrees(seed):
    """A random map: sections have the cycles and the length of the core, and no bends."""
    rng = np.random.default_rng(seed)
    n = 60
    segments = rng.integers(n, size=(75, 2))
    latitude, longitude = 40 + rng.random(n), -74 + rng.random(n)
    roads = junction_graph(latitude, longitude, segments)
    degree = np.bincount(roads.sections.ravel(), minlength=len(roads.node))
    assert np.all(degree >= 3)
    assert len(roads.sections) - len(roads.node) == roads.core[1] - roads.core[0]
    assert np.sum(roads.segments) == roads.core[1]
    assert np.all(np.diff(roads.sections, axis=1) >= 0)
    # The order and direction of segments do not matter.
    again = junction_graph(latitude, longitude, rng.permutation(segments[:, ::-1]))
    assert np.array_equal(again.sections, roads.sections)
    assert np.allclose(again.length, roads.length, rtol=1e-12)


def test_distances():
    quarter = great_circle(np.array([0.0, 90.0]), np.array([12.0, 100.0]), np.array([[0, 1]]))
    assert quarter == pytest.approx([np.pi / 2 * EARTH_RADIUS], rel=1e-12)
    rng = np.random.default_rng(3)
    latitude = LATITUDE + rng.uniform(-0.1, 0.1, 400)
    longitude = LONGITUDE + rng.uniform(-0.05, 0.05, 400)
    latitude[1::2] = latitude[::2] + rng.uniform(-0.002, 0.002, 200)
    longitude[1::2] = longitude[::2] + rng.uniform(-0.002, 0.002, 200)
    pairs = np.arange(400).reshape(-1, 2)
    x, y = local_metres(latitude, longitude, (LATITUDE, LONGITUDE))
    plane = np.hypot(*(np.diff(axis[pairs], axis=1)[:, 0] for axis in (x, y)))
    assert np.allclose(plane, great_circle(latitude, longitude, pairs), rtol=2e-3)


def test_a_map_as_one_table():
    values = np.array([[3, 2, np.nan], [40, -74, np.nan], [41, -74, np.nan], [42, -73, np.nan],
                       [0, 1, 5.5], [2, 1, 1.2]])  # fmt: skip
    latitude, longitude, segments = split_map(values)
    assert latitude.tolist() == [40, 41, 42]
    assert longitude.tolist() == [-74, -74, -73]
    assert segments.tolist() == [[0, 1], [2, 1]]
    with pytest.raises(ValueError, match=r"rows: expected 1 \+ 3 \+ 2 as the first row says"):
        split_map(values[:-1])
    values[-1, 0] = 0.5
    with pytest.raises(ValueError, match="segments: expected whole node numbers"):
        split_map(values)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"latitude": [40, 95, np.nan]}, "latitude: expected degrees"),
        ({"longitude": [0, 0, 181]}, "longitude: expected degrees"),
        ({"longitude": [0, 0]}, "one length"),
        ({"segments": [(0, 3), (-1, 2)]}, "node numbers from 0 to 2"),
        ({"segments": [(0.5, 1.0)]}, "pairs of node numbers"),
        ({"segments": np.empty((0, 2), int)}, "a map with junctions"),
        ({"segments": [(0, 1), (1, 2)]}, "a map with junctions"),  # a tree
        ({"segments": [(0, 1), (1, 2), (2, 0)]}, "a map with junctions"),  # a ring
    ],
)
def test_bad_maps_are_refused(change, complaint):
    good = {"latitude": [40, 41, 42], "longitude": [-74, -73, -72], "segments": [(0, 1)]}
    with pytest.raises(ValueError, match=complaint):
        junction_graph(**(good | change))


def test_all_mistakes_are_named_at_once():
    with pytest.raises(ValueError, match=r"latitude.*longitude.*segments"):
        junction_graph([100.0], [200.0], [(0, 7)])


def digest(values, kind):
    return hashlib.sha256(np.ascontiguousarray(values, dtype=kind).tobytes()).hexdigest()[:16]


def test_manhattan_is_the_derived_graph():
    """By the counts of the derivation, and by digests of files that others derived of the map."""
    entry = read_cities().tables["manhattan-roads"]
    wanted = {"manhattan-roads": entry}
    table = obtain(wanted, places_of(cache="no cache", mirror="")).tables["manhattan-roads"]
    roads = junction_graph(*split_map(table.values))
    assert roads.component == (9474, 12670)
    assert roads.core == (8635, 11831)
    assert (len(roads.node), len(roads.sections)) == (3874, 7070)
    graph = Graph(3874, roads.sections)
    assert (graph.loops, graph.parallels, len(graph.edges)) == (4, 25, 7041)
    assert digest(roads.node, "<i8") == "d2924efc506f71d5"
    assert digest(np.bincount(roads.sections.ravel()), "<i8") == "db1704d3ff11577b"
    assert digest(np.column_stack([roads.latitude, roads.longitude]), "<f8") == "e4c4b0284381164b"
    order = np.lexsort((roads.length, *roads.sections.T[::-1]))
    assert digest(roads.sections[order], "<i8") == "ac4200cd66ab2390"
    assert digest(roads.segments[order], "<i8") == "e8c38d04c2a0948a"
    assert np.sum(roads.length) == pytest.approx(883163.6, abs=0.05 * 7070)
    assert np.max(roads.length) == pytest.approx(3446.5, abs=0.06)
