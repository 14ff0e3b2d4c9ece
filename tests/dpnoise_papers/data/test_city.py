"""Hours of a city from made-up tables, and what is written when some are missing; its map."""

from __future__ import annotations

import hashlib
import lzma
from functools import partial

import numpy as np
import pytest
import yaml

from city_maps import LATITUDE, LONGITUDE, STEP, street_map
from dpnoise.denoise.graph import Graph
from dpnoise_papers.data.city import (
    EARTH_RADIUS,
    EVENTS,
    HOURS,
    ROADS,
    TOTALS,
    city_contents,
    great_circle,
    junction_graph,
    l2_sensitivity,
    load_city,
    local_metres,
    read_city,
    split_map,
)
from dpnoise_papers.data.copies import obtain, places_of
from dpnoise_papers.data.registry import read_cities
from dpnoise_papers.data.sets import DatasetUnavailable, prepare
from dpnoise_papers.data.tables import column_digests, fingerprint, read_table

PLAIN = {"passengers_per_trip": 2.0}


def test_the_sensitivity_is_that_of_cabs_with_so_many_events():
    """Each event adds weights of sum 1; all on one junction, on others or spread, for two cabs."""
    rng = np.random.default_rng(1)
    spread = rng.dirichlet(np.full(6, 0.3), (300, 2, 5)).sum(axis=2)
    cabs = np.concatenate([spread, 5.0 * np.eye(6)[None, :2]])
    added, swapped = (np.linalg.norm(v, axis=-1).max() for v in (cabs, cabs[:, 0] - cabs[:, 1]))
    assert added == pytest.approx(l2_sensitivity(5))
    assert swapped == pytest.approx(l2_sensitivity(5, replace=True))


def contents():
    """Lines of all tables: trips begin at 0 h, 8 h and 9 h, at the nodes 9 and 13."""
    latitude, longitude, segments = street_map()
    roads = [f"{len(latitude)} {len(segments)}"]
    roads += [f"{a!r} {b!r}" for a, b in zip(latitude.tolist(), longitude.tolist(), strict=True)]
    roads += [f"{a} {b} 1.5" for a, b in segments.tolist()]
    hours = {hour: [0] * 6 for hour in range(24)}
    hours |= {0: [2, 4, 1, 1, 0, 2], 8: [2, 4, 0, 0, 0, 4], 9: [1, 2, 0, 0, 0, 2]}
    told = [",".join(map(str, [hour, *row])) for hour, row in hours.items()]
    head = "hour,trips,events,malformed,outside,beyond_limit,kept"
    events = ["junction," + ",".join(f"hour_{hour}" for hour in range(24))]
    for node in junction_graph(latitude, longitude, segments).node.tolist():
        half = {9: 0.5, 13: 0.5}.get(node, 0)
        events.append(",".join(map(str, [node, *(half * hours[hour][-1] for hour in range(24))])))
    totals = [f"2014-09-24 {h:02}:{m:02}:00,{10 * h + 100}" for h in range(24) for m in (0, 30)]
    return {ROADS: roads, EVENTS: events, HOURS: [head, *told], TOTALS: totals}


def described(entry, table):
    """Return what a registry says of a table that stands in the place of the real one."""
    return entry.model_dump(exclude_defaults=True) | {
        "sources": [],
        "rows": len(table.values),
        "columns": column_digests(table),
        "fingerprint": fingerprint(table.columns, table.values),
    }


@pytest.fixture
def places(tmp_path):
    """Write a mirror with the tables, and a registry that describes them."""
    return placed(tmp_path, contents())


def placed(folder, lines):
    registry, tables = read_cities(), {}
    for name, some in lines.items():
        entry = registry.tables[name]
        text = ("\n".join(some) + "\n").encode()
        tables[name] = described(entry, read_table(text, entry))
        path = folder / "mirror" / entry.files[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lzma.compress(text) if path.suffix == ".xz" else text)
    path = folder / "cities.yaml"
    content = {"tables": tables, "sets": registry.model_dump(exclude_defaults=True)["sets"]}
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return {"registry": path, "mirror": folder / "mirror", "cache": folder / "cache",
            "offline": True}  # fmt: skip


def hide(places, name):
    (places["mirror"] / read_cities().tables[name].files[0]).unlink()


def prepare_city(npz, *, hours, **settings):
    return prepare("manhattan", npz, partial(city_contents, hours, **settings))


def test_hours_are_scaled_to_their_totals(places):
    city = load_city([8, 0], **PLAIN, **places)
    assert len(city.x) == 16
    assert set(city.counts) == {0, 8}
    assert city.missing == ""
    night = city.hours[0]
    # (100 + 100) passengers are 100 trips; two were sampled on working days
    assert (night.source, night.scale) == ("scaled", 50.0)
    assert vars(night.tally) == {"events": 4, "malformed": 1, "outside": 1, "beyond_limit": 0,
                                 "kept": 2}  # fmt: skip
    # nodes 9 and 13 of the grid, which lost nodes 0 and 3 before them
    assert city.counts[0][[7, 11]].tolist() == [50, 50]
    assert np.sum(city.counts[0]) == 100
    morning = city.hours[8]
    # (180 + 180) passengers are 180 trips; two were sampled on working days
    assert (morning.source, morning.scale) == ("scaled", 90.0)
    assert city.counts[8][[7, 11]].tolist() == [180, 180]
    assert np.sum(city.counts[8]) == 360


def same(one, other):
    assert one.hours == other.hours
    assert set(one.counts) == set(other.counts)
    assert all(one.counts[hour].tobytes() == other.counts[hour].tobytes() for hour in one.counts)


def test_hours_without_a_trip_are_told_and_the_scale_is_a_setting(places):
    city = load_city(range(24), **PLAIN, **places)
    assert city.sources == ["mirror"]
    assert set(city.counts) == {0, 8, 9}
    assert city.missing.startswith("no sampled trip begins in hour 1; no sampled trip")
    double = load_city([8], passengers_per_trip=1.0, **places)
    assert np.array_equal(double.counts[8], 2.0 * city.counts[8])


def test_damaged_counts_are_refused(places):
    path = places["mirror"] / read_cities().tables[EVENTS].files[0]
    path.write_bytes(path.read_bytes()[:-30])
    city = load_city([8], **PLAIN, **places)
    assert city.counts == {}
    assert "not a readable compressed file" in city.refused[0]
    assert EVENTS in city.missing


def test_counts_of_other_junctions_are_refused(tmp_path):
    lines = contents()
    head, first, *rows = lines[EVENTS]
    lines[EVENTS] = [head, ",".join(["77777", *first.split(",")[1:]]), *rows]
    with pytest.raises(DatasetUnavailable, match=f"{EVENTS}: not the junctions of {ROADS}"):
        load_city([8], **PLAIN, **placed(tmp_path, lines))


def test_manhattan_is_shipped_for_every_hour():
    city = load_city(range(24), cache="no cache", mirror="", offline=True)
    assert (len(city.x), len(city.sections), city.sources) == (3874, 7070, ["shipped"])
    for hour, counts in city.counts.items():
        told = city.hours[hour]
        assert counts.shape == (3874,)
        assert np.all(counts >= 0)
        assert np.sum(counts) == pytest.approx(told.scale * told.tally.kept)
        tally = told.tally
        assert tally.events == tally.kept + tally.malformed + tally.outside + tally.beyond_limit
    # the totals of the day: passengers at 8 h, by 1.6 to a trip
    assert city.hours[8].scale * city.hours[8].tally.events == pytest.approx(2 * 36268 / 1.6)


def test_there_and_back(places, tmp_path):
    npz = tmp_path / "out" / "manhattan.npz"
    settings = {"hours": [0, 8], **PLAIN, **places}
    status = prepare_city(npz, **settings)
    assert (status["status"], status["reason"]) == ("ok", "")
    city, direct = read_city(npz), load_city(**settings)
    assert city.hours == direct.hours
    same(city, direct)
    for name in ("x", "y", "sections"):
        assert np.array_equal(getattr(city, name), getattr(direct, name))
    first = npz.read_bytes()
    prepare_city(npz, **settings)
    assert npz.read_bytes() == first


def test_trips_that_cannot_be_had(places, tmp_path):
    hide(places, TOTALS)
    npz = tmp_path / "manhattan.npz"
    with pytest.raises(DatasetUnavailable, match=TOTALS):
        prepare_city(npz, hours=[0, 8], **PLAIN, **places)
    assert not npz.exists()
    # without any hour there is nothing to miss
    assert prepare_city(npz, hours=[], **PLAIN, **places)["status"] == "ok"


def test_no_map(places, tmp_path):
    hide(places, ROADS)
    with pytest.raises(DatasetUnavailable, match=ROADS):
        prepare_city(tmp_path / "manhattan.npz", hours=[0], **PLAIN, **places)


def test_bad_settings_are_refused(places):
    with pytest.raises(ValueError, match=r"hours.*got 24.*hours.*got 1.5.*passengers_per_trip"):
        load_city([24, 1.5], **(PLAIN | {"passengers_per_trip": 0}), **places)


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
