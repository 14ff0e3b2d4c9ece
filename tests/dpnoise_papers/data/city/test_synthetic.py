"""The city that experiments run on: what is real stays, and the rest is marked synthetic."""

import numpy as np
import pytest

from city_maps import town
from dpnoise.denoise.graph import Graph
from dpnoise_papers.data.city.synthetic import complete_city

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
