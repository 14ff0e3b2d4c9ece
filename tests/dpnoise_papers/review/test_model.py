import pandas as pd
import pytest

from dpnoise_papers.review.model import read_provenance, stamp

RECORD = {
    "revision": "0123456789abcdef0123456789abcdef01234567",
    "modified": True,
    "date": "2026-01-02T03:04:05+00:00",
    "machine": {"system": "Linux", "cpu": "some CPU", "cores": 2, "python": "3.11.2"},
    "seed": 7,
    "settings_changed": [{"setting": "a.b", "paper": [1, 2], "run": None}],
    "data": {"boston": {"status": "ok", "fingerprint": "f00"}},
    "packages": {"numpy": "2.0"},
}


def test_a_run_says_what_it_was():
    found = stamp(RECORD, 1, None)
    facts = dict(found.facts)
    assert facts["revision"] == "0123456789ab with uncommitted changes"
    assert facts["date"] == "2026-01-02 03:04:05+00:00"
    assert facts["machine"] == "some CPU, 2 cores, Linux"
    assert facts["seed"] == "7"
    assert found.settings == [("a.b", "[1, 2]", "null")]
    assert found.data == [("boston", "ok", "f00")]


def test_what_is_missing_is_said_and_the_reason_stands_for_a_fingerprint():
    table = pd.DataFrame(
        {"name": ["x"], "status": ["missing"], "fingerprint": [None], "reason": ["no network"]}
    )
    found = stamp({}, 5, table)
    assert dict(found.facts) == {
        "revision": "not recorded", "date": "not recorded", "machine": "not recorded",
        "Python": "not recorded", "seed": "5",
    }  # fmt: skip
    assert found.settings is None
    assert found.data == [("x", "missing", "no network")]


def test_a_broken_record_is_refused_with_the_remedy(tmp_path):
    assert read_provenance(tmp_path / "none.json") == {}
    path = tmp_path / "provenance.json"
    for content in ('{"revision":', "[1]"):
        path.write_text(content)
        with pytest.raises(ValueError, match=r"provenance\.json: expected"):
            read_provenance(path)
