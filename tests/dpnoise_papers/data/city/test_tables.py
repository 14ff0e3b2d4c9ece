"""Reading, verifying and fetching the tables of city maps."""

import gzip
import math
import os
from pathlib import Path

import numpy as np
import pytest

from dpnoise_papers.data import fetch
from dpnoise_papers.data.city.tables import cities_registry, entries, read_records
from dpnoise_papers.data.fetch import NotFoundError
from dpnoise_papers.data.places import read_yaml
from dpnoise_papers.data.tables import RefusedError, column_digests, fingerprint

TEXT = b"""when,kind,value,rest
2014-09-23 23:59:59,a,1.5,
2014-09-24 00:00:00,b,-0.0,7
2014-09-24 23:59:59,a,2e3,
"""
ENTRY = {
    "files": ["town/trips.csv.gz"],
    "sources": [],
    "columns": dict.fromkeys(["when", "kind", "value", "rest"], ""),
    "times": ["when"],
    "labels": {"kind": {"a": 1, "b": 2}},
    "gaps": ["rest"],
}
START = 1411516800.0  # 24 September 2014, 00:00 UTC


def complete(entry=ENTRY, content=TEXT):
    table = read_records(content, entry)
    return entry | {
        "rows": len(table.values),
        "columns": column_digests(table),
        "fingerprint": fingerprint(table.columns, table.values),
    }


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("change", [bytes, lambda text: text.replace(b"\n", b"\r\n")])
def test_dates_words_and_gaps(pack, change):
    table = read_records(pack(change(TEXT)), ENTRY)
    expected = [[START - 1, 1, 1.5, math.nan], [START, 2, 0, 7], [START + 86399, 1, 2e3, math.nan]]
    assert np.array_equal(table.values, expected, equal_nan=True)


def test_one_day_of_many():
    table = read_records(TEXT, ENTRY | {"day": "2014-09-24"})
    assert table["when"].tolist() == [START, START + 86399]


def test_lines_of_different_length():
    entry = {"columns": {"first": "", "second": "", "third": ""}, "gaps": ["third"]}
    table = read_records(b"1 2\n40.5  -74\n0 1 5.5\n", entry)
    expected = [[1, 2, math.nan], [40.5, -74, math.nan], [0, 1, 5.5]]
    assert np.array_equal(table.values, expected, equal_nan=True)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b" \n", "empty"),
        (b"\x1f\x8b\x08garbage", "not a readable gzip"),
        (gzip.compress(TEXT)[:-9], "truncated"),
        (b"\x80\x81\x82", "binary"),
        (b"a\0b", "binary"),
        (b"<html>404</html>", "HTML"),
        (TEXT.replace(b"-0.0", b"zero"), "'value', row 2: got 'zero'"),
        (TEXT.replace(b"-0.0", b"inf"), "'value', row 2: got 'inf'"),
        (TEXT.replace(b"1.5", b""), "'value', row 1: got ''"),
        (TEXT.replace(b",b,", b",c,"), "'kind', row 2: got 'c'"),
        (TEXT.replace(b"-23 23", b"-31 23"), "'when', row 1"),
        (TEXT.replace(b"2e3,", b"2e3,1,1,1"), "not a table of 4 columns"),
    ],
)
def test_damage_is_named(content, complaint):
    with pytest.raises(RefusedError, match=complaint):
        read_records(content, ENTRY)


def test_cache_then_mirror_then_reasons(tmp_path):
    entry = complete()
    places = {
        "cache": tmp_path / "cache",
        "mirror": tmp_path / "mirror",
        "offline": True,
        "read": read_records,
    }
    with pytest.raises(NotFoundError, match="'trips' has no official address"):
        fetch.obtain("trips", entry, **places)
    for folder, name in (("mirror", "town/trips.csv.gz"), ("cache", "trips.csv")):
        path = tmp_path / folder / name
        path.parent.mkdir(parents=True)
        path.write_bytes(gzip.compress(TEXT) if name.endswith("gz") else TEXT)
        table, source = fetch.obtain("trips", entry, **places)
        assert source == folder
        assert fingerprint(table.columns, table.values) == entry["fingerprint"]
    # a damaged copy is passed over for the next place
    (tmp_path / "cache/trips.csv").write_bytes(TEXT.replace(b"1.5", b"1.6"))
    assert fetch.obtain("trips", entry, **places)[1] == "mirror"
    (tmp_path / "mirror/town/trips.csv.gz").unlink()
    with pytest.raises(NotFoundError, match=r"1 of 4 columns differ, first 'value'"):
        fetch.obtain("trips", entry, **places)


def test_official_source(tmp_path, monkeypatch):
    entry = complete() | {"sources": [{"url": "https://example.org/a/trips.csv"}]}
    host = ("example.org", 443)
    sent = tmp_path / "sent"
    sent.write_bytes(TEXT)
    monkeypatch.setattr(fetch, "_retrieve", lambda *_: sent)
    monkeypatch.setattr(fetch, "answering", lambda *_, **__: set())
    places = {"cache": tmp_path / "cache", "mirror": None, "read": read_records}
    with pytest.raises(NotFoundError, match=r"trips\.csv: the host does not answer"):
        fetch.obtain("trips", entry, **places, offline=False)
    monkeypatch.setattr(fetch, "answering", lambda *_, **__: {host})
    with pytest.raises(NotFoundError, match="not asked"):
        fetch.obtain("trips", entry, **places, offline=True)
    assert (
        fetch.obtain("trips", entry, **places, offline=False)[1]
        == "https://example.org/a/trips.csv"
    )
    assert fetch.obtain("trips", entry, **places, offline=True)[1] == "cache"
    (tmp_path / "cache/trips.csv").unlink()
    sent.write_bytes(TEXT[:-30])
    with pytest.raises(NotFoundError, match="truncated"):
        fetch.obtain("trips", entry, **places, offline=False)
    assert not list((tmp_path / "cache").iterdir())


def test_the_committed_registry_is_consistent():
    content = read_yaml(cities_registry())
    listed = [table for entry in content["sets"].values() for table in entry["tables"]]
    assert sorted(listed) == sorted(content["tables"])
    for entry in content["tables"].values():
        assert len(entry["fingerprint"]) == 64
        assert all(len(digest) == 12 for digest in entry["columns"].values())
        assert entry["rows"] > 0
        for key in ("times", "gaps", "labels"):
            assert set(entry.get(key, [])) <= set(entry["columns"])
    with pytest.raises(ValueError, match="expected one of manhattan, got 'gotham'"):
        entries("gotham")
    with pytest.raises(FileNotFoundError, match="no registry of city maps"):
        cities_registry("nowhere.yaml")


def test_every_copy_in_the_mirror_is_good():
    mirror = Path(os.environ.get("DPNOISE_DATA_MIRROR") or "no mirror")
    found = 0
    for name, entry in entries("manhattan").items():
        if any((mirror / file).is_file() for file in entry["files"]):
            places = {"cache": mirror / "no cache", "mirror": mirror, "offline": True}
            fetch.obtain(name, entry, **places, read=read_records)
            found += 1
    if not found:
        pytest.skip("DPNOISE_DATA_MIRROR has none of the tables")
