"""Hours of a city from made-up tables, and what is written when some are missing.

Counts of trips at junctions: mass, limits and the sensitivity that they promise.
"""

import gzip
import itertools
import lzma
import math
from functools import partial

import numpy as np
import pytest
import yaml

from city_maps import LATITUDE, LONGITUDE, STEP, street_map
from dpnoise_papers.data.city import (
    EVENTS,
    HOURS,
    ROADS,
    SAMPLES,
    TOTALS,
    Spreading,
    city_contents,
    count_events,
    first_events,
    l2_sensitivity,
    load_city,
    read_city,
    well_formed,
    write_counts,
)
from dpnoise_papers.data.registry import read_cities
from dpnoise_papers.data.sets import DatasetUnavailable, prepare
from dpnoise_papers.data.tables import column_digests, fingerprint, read_table


@pytest.fixture
def plane():
    rng = np.random.default_rng(11)
    return rng.uniform(0, 1000, 80), rng.uniform(0, 1000, 80)


def counted(plane, x, y, cab, time=None, *, events_per_cab=5, bandwidth=80.0, reach=200.0):
    spreading = Spreading(*plane, reach=reach, bandwidth=bandwidth)
    time = np.arange(len(x)) if time is None else time
    return count_events(spreading, (x, y), malformed=np.zeros(len(x), bool), cab=cab, time=time,
                        events_per_cab=events_per_cab)  # fmt: skip


def test_first_events_of_each_cab():
    cab = np.array([7, 3, 7, 7, 3, 7, 9])
    time = np.array([5, 1, 1, 3, 0, 3, 2])
    assert first_events(cab, time, 2).tolist() == [False, True, True, True, True, False, True]
    assert first_events(cab, time, 9).all()
    assert first_events([], [], 1).tolist() == []
    rng = np.random.default_rng(5)
    cab, time = rng.integers(40, size=600), rng.integers(50, size=600)
    kept = first_events(cab, time, 5)
    for one in range(40):
        mine = np.flatnonzero(cab == one)
        expected = mine[np.argsort(time[mine], kind="stable")][:5]
        assert np.array_equal(np.flatnonzero(kept & (cab == one)), np.sort(expected))


@pytest.mark.parametrize("bandwidth", [0.0, 1e-3, 80.0, 1e5])
def test_each_event_counts_once(plane, bandwidth):
    rng = np.random.default_rng(2)
    x, y = rng.uniform(-400, 1400, (2, 500))
    counts, tally = counted(plane, x, y, np.arange(500), bandwidth=bandwidth)
    assert np.all(counts >= 0)
    assert np.sum(counts) == pytest.approx(tally.kept, rel=1e-12)
    nearest = np.min(np.hypot(x[:, None] - plane[0], y[:, None] - plane[1]), axis=1)
    assert tally.kept == np.sum(nearest <= 200)
    assert tally.outside == np.sum(nearest > 200)
    assert tally.events == 500


def test_kernel_weights_and_nearest_junction(plane):
    rng = np.random.default_rng(4)
    x, y = rng.uniform(0, 1000, (2, 1))
    distance = np.hypot(x - plane[0], y - plane[1])
    weight = np.exp(-(distance**2) / (2 * 60.0**2)) * (distance <= 180)
    counts, _ = counted(plane, x, y, [1], bandwidth=60.0, reach=1e3)
    assert np.allclose(counts, weight / np.sum(weight), rtol=1e-12, atol=0)
    alone, _ = counted(plane, x, y, [1], bandwidth=0.0, reach=1e3)
    assert alone.tolist() == (distance == np.min(distance)).tolist()
    # at a junction itself, and far beyond the kernel, the nearest one still has it
    far, _ = counted(plane, [-5e3], [-5e3], [1], bandwidth=1.0, reach=1e5)
    assert np.max(far) == 1


@pytest.mark.parametrize("bandwidth", [0.0, 80.0])
def test_sensitivity_holds_for_any_cab(plane, bandwidth):
    """Adding a cab moves the counts by at most 5, replacing one by at most 5 sqrt 2."""
    rng = np.random.default_rng(8)
    others = rng.uniform(0, 1000, (2, 300))
    cabs = [rng.uniform(0, 1000, (2, int(rng.integers(1, 20)))) for _ in range(12)]
    # the worst that can be: everything at one junction, all of another cab at another
    cabs += [np.repeat([[axis[k]] for axis in plane], 9, axis=1) for k in (0, 1)]

    def counts(cab):
        x, y = np.concatenate([others, cab], axis=1)
        owner = np.concatenate([np.arange(300) // 3, np.full(cab.shape[1], 999)])
        return counted(plane, x, y, owner, bandwidth=bandwidth)[0]

    without = counts(np.empty((2, 0)))
    released = [counts(cab) for cab in cabs]
    added = [np.linalg.norm(one - without) for one in released]
    replaced = [np.linalg.norm(a - b) for a, b in itertools.combinations(released, 2)]
    assert max(added) <= l2_sensitivity(5) * (1 + 1e-12)
    assert max(replaced) <= l2_sensitivity(5, replace=True) * (1 + 1e-12)
    if bandwidth == 0.0:  # both are attained
        assert max(added) == pytest.approx(5)
        assert max(replaced) == pytest.approx(5 * math.sqrt(2))
        assert max(replaced) > l2_sensitivity(5)


def test_every_event_is_accounted_for(plane):
    x = np.concatenate([np.full(7, plane[0][0]), [9e5, np.nan, 10.0]])
    y = np.concatenate([np.full(7, plane[1][0]), [9e5, 5.0, 10.0]])
    malformed = np.arange(10) >= 8
    spreading = Spreading(*plane, reach=50.0, bandwidth=0.0)
    counts, tally = count_events(spreading, (x, y), malformed=malformed, cab=np.zeros(10),
                                 time=np.arange(10)[::-1], events_per_cab=5)  # fmt: skip
    assert vars(tally) == {"events": 10, "malformed": 2, "outside": 1, "beyond_limit": 2, "kept": 5}
    assert counts[0] == 5


def test_positions_that_are_none():
    latitude = [40.7, 0.0, np.nan, 404.0, 40.7, 0.0]
    longitude = [-74.0, 0.0, -74.0, -74.0, np.inf, -74.0]
    assert well_formed(latitude, longitude).tolist() == [True, False, False, False, False, True]


NORTH, EAST = LATITUDE + 2 * STEP, LONGITUDE + STEP  # of a junction
COUNTED = ("events_per_cab", "bandwidth", "reach")
PLAIN = {"events_per_cab": 5, "bandwidth": 0.0, "reach": 50.0, "passengers_per_trip": 2.0}


def contents():
    latitude, longitude, segments = street_map()
    roads = [f"{len(latitude)} {len(segments)}"]
    roads += [f"{a!r} {b!r}" for a, b in zip(latitude.tolist(), longitude.tolist(), strict=True)]
    roads += [f"{a} {b} 1.5" for a, b in segments.tolist()]
    here, there = f"{EAST},{NORTH}", f"{EAST},{NORTH + STEP}"
    sampled = ["itv_2011_05,,," + f"{here},{there},8,{day}" for day in (1, 5, 6, 7)]
    sampled += [f"itv_2011_05,,,{here},0,0,0,2", f"asl_fare_2009_2015,,,-73.5,40.1,{there},0,3"]
    sampled += [f"asl_traffic,,,{here},{there},9,1"]
    totals = [f"2014-09-24 {h:02}:{m:02}:00,{10 * h + 100}" for h in range(24) for m in (0, 30)]
    return {ROADS: roads, SAMPLES: sampled, TOTALS: totals}


def described(entry, table):
    """Return what a registry says of a table that stands in the place of the real one."""
    return entry.model_dump(exclude_defaults=True) | {
        "sources": [],
        "rows": len(table.values),
        "columns": column_digests(table),
        "fingerprint": fingerprint(table.columns, table.values),
    }


def ship(places):
    """Make the tables of counts of the trips, describe them, and take the trips away."""
    registry = places["registry"]
    made = write_counts(registry.parent / "shipped", **places)
    content = yaml.safe_load(registry.read_text(encoding="utf-8"))
    for path in made:
        name = path.name.partition(".")[0]
        entry = read_cities(registry).tables[name]
        content["tables"][name] = described(entry, read_table(path.read_bytes(), entry))
    registry.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    hide(places, SAMPLES)


@pytest.fixture
def places(tmp_path):
    """Write a mirror with the tables, and a registry that describes them."""
    registry = read_cities()
    tables = {}
    for name, lines in contents().items():
        entry = registry.tables[name]
        text = ("\n".join(lines) + "\n").encode()
        tables[name] = described(entry, read_table(text, entry))
        path = tmp_path / "mirror" / entry.files[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    # The tables of counts have still to be made: nothing fits their entries.
    for name in (EVENTS, HOURS):
        tables[name] = registry.tables[name].model_dump(exclude_defaults=True)
        tables[name]["sources"] = []
    path = tmp_path / "cities.yaml"
    sets = registry.model_dump(exclude_defaults=True)["sets"]
    sets["manhattan"]["counted_with"] = {k: v for k, v in PLAIN.items() if k in COUNTED}
    content = {"tables": tables, "sets": sets}
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return {"registry": path, "mirror": tmp_path / "mirror", "cache": tmp_path / "cache",
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


def test_shipped_counts_give_the_same_bytes_as_the_trips_they_were_made_of(places):
    of_trips = load_city(range(24), **PLAIN, **places)
    assert of_trips.sources == ["mirror"]
    ship(places)
    city = load_city(range(24), **PLAIN, **places)
    assert city.sources == ["mirror", "shipped"]
    assert set(city.counts) == {0, 8, 9}
    assert city.missing == of_trips.missing
    assert city.missing.startswith("no sampled trip begins in hour 1; no sampled trip")
    same(city, of_trips)
    assert city.x.tobytes() == of_trips.x.tobytes()
    # a scale of one's own needs no trip
    double = load_city([8], **PLAIN | {"passengers_per_trip": 1.0}, **places)
    assert np.array_equal(double.counts[8], 2.0 * city.counts[8])


@pytest.mark.parametrize("change", [{"bandwidth": 30.0}, {"reach": 60.0}, {"events_per_cab": 1}])
def test_other_settings_need_the_trips(places, change):
    of_trips = load_city([8], **PLAIN | change, **places)
    assert of_trips.hours[8].tally.kept == (2 if "events_per_cab" in change else 4)
    ship(places)
    city = load_city([8], **PLAIN | change, **places)
    assert city.counts == {}
    name, value = next(iter(change.items()))
    for words in (f"hold for {COUNTED[0]} 5", f"{name} {value!r}", "trips are needed", SAMPLES):
        assert words in city.missing


def test_damaged_counts_are_refused_and_trips_replace_them(places):
    of_trips = load_city([8], **PLAIN, **places)
    content = (places["mirror"] / read_cities().tables[SAMPLES].files[0]).read_bytes()
    ship(places)
    path = places["registry"].parent / "shipped" / f"{EVENTS}.csv.xz"
    path.write_bytes(path.read_bytes()[:-30])
    city = load_city([8], **PLAIN, **places)
    assert city.counts == {}
    assert city.refused[0].startswith(f"shipped, {EVENTS}.csv.xz: not a readable compressed file")
    (places["mirror"] / read_cities().tables[SAMPLES].files[0]).write_bytes(content)
    again = load_city([8], **PLAIN, **places)
    same(again, of_trips)
    assert again.refused == city.refused


def test_counts_of_other_junctions_are_refused(places):
    ship(places)
    registry = places["registry"]
    path = registry.parent / "shipped" / f"{EVENTS}.csv.xz"
    head, first, *rows = lzma.decompress(path.read_bytes()).decode().splitlines()
    first = ",".join(["77777", *first.split(",")[1:]])
    path.write_bytes(lzma.compress("\n".join([head, first, *rows]).encode()))
    content = yaml.safe_load(registry.read_text(encoding="utf-8"))
    entry = read_cities(registry).tables[EVENTS]
    content["tables"][EVENTS] = described(entry, read_table(path.read_bytes(), entry))
    registry.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    with pytest.raises(DatasetUnavailable, match=f"{EVENTS}: not the junctions of {ROADS}"):
        load_city([8], **PLAIN, **places)


def test_counts_are_not_made_without_trips(places, tmp_path):
    hide(places, SAMPLES)
    with pytest.raises(DatasetUnavailable, match=SAMPLES):
        write_counts(tmp_path / "out", **places)
    assert not (tmp_path / "out").exists()


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
