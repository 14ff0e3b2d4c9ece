"""Records of jobs: read as written, and nothing read from what is no record."""

import hashlib
import json

import pytest

from dpnoise_papers.making.records import (
    PROVENANCE,
    Record,
    file_digests,
    find_record,
    kept_records,
    read_record,
    record_path,
    write_record,
)

RECORD = Record("told", "code", {"in.csv": "1"}, {"out.csv": "2"})


def test_a_record_is_read_as_it_was_written(tmp_path):
    path = record_path(tmp_path, "paper/item-table")
    write_record(RECORD, path)
    assert read_record(path) == RECORD == find_record(tmp_path, "paper/item-table")


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", "3", '{"told": 1, "code": "", "inputs": {}, "outputs": {}}',
     '{"told": "", "code": "", "inputs": [], "outputs": {}}',
     '{"told": "", "code": "", "inputs": {"a": 1}, "outputs": {}}'],
)  # fmt: skip
def test_a_garbled_record_is_none(tmp_path, content):
    path = tmp_path / "record.json"
    path.write_text(content)
    assert read_record(path) is None
    (tmp_path / PROVENANCE).write_text(f'{{"jobs": {{"a": {content or "null"}}}}}')
    assert kept_records(tmp_path) == {}


def test_records_of_a_provenance_stay_in_their_folder(tmp_path):
    jobs = dict.fromkeys(["a", "../a", "/a", "b/../../a", ""], RECORD._asdict())
    (tmp_path / PROVENANCE).write_text(json.dumps({"jobs": jobs}))
    assert kept_records(tmp_path) == {"a": RECORD}
    assert find_record(tmp_path, "a") == RECORD
    write_record(RECORD._replace(told="new"), record_path(tmp_path, "a"))
    assert find_record(tmp_path, "a").told == "new"


def test_digests_are_of_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"\x00x")
    path = str(tmp_path / "a")
    assert file_digests([path]) == {path: hashlib.sha256(b"\x00x").hexdigest()}
