"""Hours of a city from made-up tables, and what is written when some are missing."""

import gzip
import json
from functools import partial

import numpy as np
import pytest
import yaml

from city_maps import LATITUDE, LONGITUDE, STEP, street_map
from dpnoise_papers.data.attempts import tried_with
from dpnoise_papers.data.city.counts import (
    ROADS,
    SAMPLES,
    TOTALS,
    city_contents,
    load_city,
    read_city,
)
from dpnoise_papers.data.dataset import DatasetUnavailable
from dpnoise_papers.data.prepared import prepare
from dpnoise_papers.data.registry import read_cities
from dpnoise_papers.data.tables import column_digests, fingerprint, read_table

NORTH, EAST = LATITUDE + 2 * STEP, LONGITUDE + STEP  # of a junction
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


@pytest.fixture
def places(tmp_path):
    """Write a mirror with the tables, and a registry that describes them."""
    registry = read_cities()
    tables = {}
    for name, lines in contents().items():
        entry = registry.tables[name]
        text = ("\n".join(lines) + "\n").encode()
        table = read_table(text, entry)
        tables[name] = entry.model_dump(exclude_defaults=True) | {
            "sources": [],
            "rows": len(table.values),
            "columns": column_digests(table),
            "fingerprint": fingerprint(table.columns, table.values),
        }
        path = tmp_path / "mirror" / entry.files[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    path = tmp_path / "cities.yaml"
    content = {"tables": tables, "sets": registry.model_dump(exclude_defaults=True)["sets"]}
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return {"registry": path, "mirror": tmp_path / "mirror", "cache": tmp_path / "cache",
            "offline": True}  # fmt: skip


def hide(places, name):
    (places["mirror"] / read_cities().tables[name].files[0]).unlink()


def prepare_city(npz, *, hours, tried_with=("request 0",), strict=False, **settings):
    get = partial(city_contents, hours, **settings)
    return prepare("manhattan", npz, get, tried_with=tried_with, strict=strict)


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


def test_there_and_back(places, tmp_path):
    npz = tmp_path / "out" / "manhattan.npz"
    settings = {"hours": [0, 8], **PLAIN, **places}
    status = prepare_city(npz, **settings)
    assert (status["status"], status["reason"]) == ("ok", "")
    city, direct = read_city(npz), load_city(**settings)
    assert city.hours == direct.hours
    for name in ("x", "y", "sections"):
        assert np.array_equal(getattr(city, name), getattr(direct, name))
    assert all(np.array_equal(city.counts[hour], direct.counts[hour]) for hour in (0, 8))
    first = npz.read_bytes()
    prepare_city(npz, **settings)
    assert npz.read_bytes() == first


def test_trips_that_cannot_be_had(places, tmp_path):
    hide(places, TOTALS)
    npz = tmp_path / "manhattan.npz"
    status = prepare_city(npz, hours=[0, 8], **PLAIN, **places)
    assert status["status"] == "missing"
    assert TOTALS in status["reason"]
    city = read_city(npz)
    assert city.counts == {}
    assert TOTALS in city.missing
    with pytest.raises(DatasetUnavailable, match=TOTALS):
        prepare_city(npz, hours=[0, 8], strict=True, **PLAIN, **places)
    # without any hour there is nothing to miss
    assert prepare_city(npz, hours=[], strict=True, **PLAIN, **places)["status"] == "ok"


def test_no_map_and_a_later_try(places, tmp_path):
    copy = places["mirror"] / read_cities().tables[ROADS].files[0]
    content = copy.read_bytes()
    hide(places, ROADS)
    npz = tmp_path / "manhattan.npz"
    again = {**places, "kind": "city"}
    tried = tried_with("manhattan", npz.with_suffix(".json"), **again)
    status = prepare_city(npz, hours=[0], tried_with=tried, **PLAIN, **places)
    assert status["status"] == "missing"
    assert read_city(npz) is None
    assert json.loads(npz.with_suffix(".json").read_text(encoding="utf-8")) == status
    for change in (False, True):  # in further processes
        tried_with.cache_clear()
        assert (tried_with("manhattan", npz.with_suffix(".json"), **again) != tried) == change
        copy.write_bytes(content)


def test_bad_settings_are_refused(places):
    with pytest.raises(ValueError, match=r"hours.*got 24.*hours.*got 1.5.*passengers_per_trip"):
        load_city([24, 1.5], **(PLAIN | {"passengers_per_trip": 0}), **places)
