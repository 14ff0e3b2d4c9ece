"""The rows behind a claim."""

from __future__ import annotations

import pandas as pd
import pytest

from claim_toys import NUMBER, ORDERING, replace, two
from dpnoise_papers.claims.judge import bands
from dpnoise_papers.claims.model import Condition
from dpnoise_papers.review.model import MOST, evidence, read_provenance, stamp

RECORD = {
    "revision": "0123456789abcdef0123456789abcdef01234567",
    "modified": True,
    "date": "2026-01-02T03:04:05+00:00",
    "machine": {"system": "Linux", "cpu": "some CPU", "cores": 2, "python": "3.11.2"},
    "seed": 7,
    "settings_changed": [{"setting": "a.b", "paper": [1, 2], "run": None}],
    "packages": {"numpy": "2.0"},
}


def test_a_run_says_what_it_was():
    row = {"name": ["boston"], "status": ["ok"], "fingerprint": ["f00"], "reason": [None]}
    found = stamp(RECORD, 1, pd.DataFrame(row))
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
    assert stamp({}, 5, None).data == []
    assert found.data == [("x", "missing", "no network")]


def test_a_broken_record_is_refused_with_the_remedy(tmp_path):
    assert read_provenance(tmp_path / "none.json") == {}
    path = tmp_path / "provenance.json"
    for content in ('{"revision":', "[1]"):
        path.write_text(content)
        with pytest.raises(ValueError, match=r"provenance\.json: expected"):
            read_provenance(path)


def rows_behind(claim, table, **options):
    tables = {claim.result: table}
    return evidence(claim, tables, bands([claim], tables).get(claim.id), **options)


def test_a_number_shows_its_row_with_its_error_and_line():
    found = rows_behind(NUMBER, two(0.0391, 0.5, 0.01, 0.02))
    assert found.columns == ["mechanism", "x", "x_se"]
    assert found.rows == [["a", "0.0391", "0.01"]]
    assert (found.lines, found.deciding, found.omitted) == ([2], {2}, 0)


def test_an_ordering_shows_both_sides():
    found = rows_behind(ORDERING, two(0.5, 0.6))
    assert found.rows == [["a", "0.5"], ["b", "0.6"]]
    assert found.deciding == {2, 3}


@pytest.mark.parametrize("reduce", ["all", "max"])
def test_of_many_rows_the_one_that_decides_comes_first(reduce):
    table = pd.DataFrame({"mechanism": "a", "x": [0.1 * k for k in range(20)]})
    claim = replace(NUMBER, printed="0.75", relation="<=", reduce=reduce)
    found = rows_behind(claim, table)
    assert found.lines[0] == 21
    assert found.deciding == {21}
    assert len(found.rows) == MOST
    assert found.omitted == 20 - MOST


def test_paired_sides_bring_the_row_that_belongs_to_the_deciding_one():
    table = pd.DataFrame({"mechanism": ["a"] * 9 + ["b"] * 9, "epsilon": [*range(9)] * 2,
                          "x": [1.0] * 18})  # fmt: skip
    table.loc[7, "x"] = 3.0
    claim = replace(ORDERING, pair=("epsilon",), reduce="all")
    found = rows_behind(claim, table)
    assert found.deciding == {7 + 2, 16 + 2}
    assert "epsilon" in found.columns


def test_a_misprint_in_words_shows_the_corrected_rows():
    claim = replace(
        NUMBER, corrected_statement="of b", corrected_select=(Condition("mechanism", "=", "b"),)
    )
    assert rows_behind(claim, two(0.5, 0.0391)).rows[0][0] == "a"
    assert rows_behind(claim, two(0.5, 0.0391), misprint=True).rows[0][0] == "b"


def test_without_a_table_or_a_row_there_is_nothing_to_show():
    assert evidence(NUMBER, {}, None) is None
    none = two(1.0, 2.0).assign(mechanism="c")
    assert evidence(NUMBER, {NUMBER.result: none}, None) is None
