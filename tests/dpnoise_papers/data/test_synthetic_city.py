"""The city that experiments run on: what is real stays, and the rest is marked synthetic.

The made-up city: planar, connected, and like a city.
"""

import numpy as np
import pytest

from city_maps import town
from dpnoise.denoise.graph import Graph
from dpnoise_papers.data.synthetic_city import complete_city, street_graph


def test_it_is_the_same_for_the_same_seed_and_about_the_size_asked():
    first, again = (street_graph(60, 20, np.random.default_rng(4)) for _ in range(2))
    assert np.array_equal(first.graph.edges, again.graph.edges)
    assert np.array_equal(first.coordinates, again.coordinates)
    n = first.graph.nodes
    assert 0.85 * 1200 < n < 1200
    assert first.coordinates.shape == (n, 2)
    degree = np.bincount(first.graph.edges.ravel())
    assert np.min(degree) >= 2
    assert np.mean((degree == 3) | (degree == 4)) > 0.8
    assert (first.graph.loops, first.graph.parallels) == (0, 0)


@pytest.mark.parametrize("seed", range(3))
def test_no_two_sections_cross(seed):
    city = street_graph(14, 12, np.random.default_rng(seed))
    ends = city.coordinates[city.graph.edges]
    p, d = ends[:, 0], ends[:, 1] - ends[:, 0]

    def side(i, j):  # of both ends of section j seen along section i
        a, b = ends[j] - p[i]
        return [d[i, 0] * v[1] - d[i, 1] * v[0] for v in (a, b)]

    for i in range(len(ends)):
        for j in range(i):
            if not set(city.graph.edges[i]) & set(city.graph.edges[j]):
                ours, theirs = side(i, j), side(j, i)
                assert np.prod(ours) > 0 or np.prod(theirs) > 0


def test_the_park_has_no_streets():
    city = street_graph(40, 40, np.random.default_rng(1))
    middle = np.mean([city.coordinates.min(axis=0), city.coordinates.max(axis=0)], axis=0)
    nearest = np.min(np.abs(city.coordinates - middle) / [270.0, 80.0], axis=0)
    inside = np.all(np.abs(city.coordinates - middle) < np.array([270.0, 80.0]) * 4, axis=1)
    assert not np.any(inside)
    assert np.all(nearest < 1)


SYNTHETIC = {"seed": 5, "rows": 30, "columns": 8, "events": 4000, "events_per_cab": 5,
             "bandwidth": 80.0, "reach": 200.0}  # fmt: skip


def test_without_any_data():
    city = complete_city(None, [0, 12], **SYNTHETIC)
    graph = Graph(len(city.x), city.sections)  # connected, or it would be refused
    assert 200 <= graph.nodes <= 240
    assert "synthetic" in city.name
    for hour in (0, 12):
        assert city.hours[hour].source == "synthetic"
        assert city.hours[hour].tally.beyond_limit == 0
        assert np.sum(city.counts[hour]) == pytest.approx(4000)
    assert not np.array_equal(city.counts[0], city.counts[12])
    # hot spots: with 18 events everywhere the kernel would leave no more than 27 or so
    assert np.max(city.counts[0]) > 2 * np.mean(city.counts[0])
    assert city.missing


def test_the_seed_decides_and_other_hours_do_not():
    one, two = (complete_city(None, hours, **SYNTHETIC) for hours in ([12], [0, 12, 20]))
    assert np.array_equal(one.counts[12], two.counts[12])
    assert np.array_equal(one.sections, two.sections)
    other = complete_city(None, [12], **(SYNTHETIC | {"seed": 6}))
    assert not np.array_equal(one.x, other.x)


def test_what_is_there_is_kept():
    known = town(hours=(0,))
    city = complete_city(known, [0, 8], **SYNTHETIC)
    assert city.counts[0] is known.counts[0]
    assert city.name == known.name
    assert city.hours[8].source == "synthetic"
    assert city.counts[8].shape == known.x.shape
    assert set(known.counts) == {0}
