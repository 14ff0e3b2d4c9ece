"""Tables on disk: whole or not at all, the same bytes every time, and what was written."""

import errno
import math
import os
import resource
import signal
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpnoise_papers.result_files import read_table, write_table, write_text

TABLE = pd.DataFrame(
    {"name": ["a, b", 'quoted "c"', "none"], "count": [1, 2, 3], "value": [0.1, 1 / 3, 2e-300]}
)


def interrupt(*_):
    raise KeyboardInterrupt


def test_the_text_is_utf8_with_plain_line_ends(tmp_path):
    path = tmp_path / "deep" / "er" / "page.md"
    write_text("± 1\n\r\nε\n", path)
    assert path.read_bytes() == "± 1\n\r\nε\n".encode()
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002, 0o000])
def test_a_file_has_the_mode_that_the_umask_leaves(tmp_path, umask):
    before = os.umask(umask)
    try:
        write_text("1\n", tmp_path / "page.md")
        write_text("2\n", tmp_path / "page.md")
    finally:
        os.umask(before)
    assert (tmp_path / "page.md").stat().st_mode & 0o777 == 0o666 & ~umask


def test_writing_replaces_what_was_there(tmp_path):
    path = tmp_path / "page.md"
    write_text("long old text\n", path)
    write_text("new\n", str(path))
    assert path.read_text(encoding="utf-8") == "new\n"


@pytest.mark.parametrize("old", [{"page.md": "old"}, {}], ids=["replacing", "new"])
@pytest.mark.parametrize(
    ("patched", "text", "error"),
    [
        ("glob", "half a\udc80", UnicodeEncodeError),  # fails while it is written, unpatched
        ("replace", "new", KeyboardInterrupt),  # killed before the renaming
    ],
)
def test_a_write_that_fails_leaves_what_was_there(tmp_path, old, patched, text, error):
    for name, content in old.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, patched, interrupt)
        with pytest.raises(error):
            write_text(text, tmp_path / "page.md")
    assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == old


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    path = tmp_path / "page.md"
    ended = subprocess.Popen(["true"])
    ended.wait()
    for process in (ended.pid, os.getpid()):
        (tmp_path / f".page.md.{process}.x_1y").write_text("half", encoding="utf-8")
    (tmp_path / f".other.md.{ended.pid}.x_1y").write_text("half", encoding="utf-8")
    write_text("whole\n", path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"page.md", f".page.md.{os.getpid()}.x_1y", f".other.md.{ended.pid}.x_1y"}


def test_a_full_disk_is_reported_with_the_file_and_leaves_the_old(tmp_path):
    path = tmp_path / "page.md"
    write_text("old\n", path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with pytest.raises(OSError, match=r"page\.md") as caught:
            write_text("new\n" * 99, path)
    finally:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.errno == errno.EFBIG
    assert {one.name: one.read_text("utf-8") for one in tmp_path.iterdir()} == {"page.md": "old\n"}


def test_a_failing_rename_is_reported(tmp_path):
    (tmp_path / "page.md").mkdir()
    with pytest.raises(OSError, match=r"page\.md"):
        write_text("new", tmp_path / "page.md")
    assert [p.name for p in tmp_path.iterdir()] == ["page.md"]


def test_the_number_format_is_fixed(tmp_path):
    path = tmp_path / "table.csv"
    row = {"i": 7, "f": 1.0, "third": 1 / 3, "tiny": 1e-300, "inf": math.inf, "nan": math.nan,
           "big": 1234567890123.0, "text": "x"}  # fmt: skip
    write_table(pd.DataFrame([row]), path)
    assert path.read_bytes().decode() == (
        "i,f,third,tiny,inf,nan,big,text\n"
        "7,1,0.3333333333,1e-300,inf,,1.23456789e+12,x\n"
    )  # fmt: skip


def test_text_and_integers_come_back_unchanged(tmp_path):
    path = tmp_path / "table.csv"
    write_table(TABLE.sample(frac=1, random_state=1), path)  # the index is not written
    back = read_table(path).sort_values("count", ignore_index=True)
    pd.testing.assert_frame_equal(back, TABLE, rtol=1e-9, check_dtype=True)
    assert list(back["name"]) == list(TABLE["name"])  # a penalty called 'none' is no gap


@settings(max_examples=50)
@given(st.lists(st.floats(1e-290, 1e290) | st.floats(-1e290, -1e-290) | st.just(0.0), min_size=1))
def test_floats_keep_ten_digits_and_a_second_trip_changes_nothing(tmp_path_factory, values):
    first = tmp_path_factory.getbasetemp() / "first.csv"
    second = first.with_name("second.csv")
    write_table(pd.DataFrame({"x": values}), first)
    back = read_table(first)
    assert np.allclose(back["x"].to_numpy(dtype=float), values, rtol=1e-9, atol=0.0)
    write_table(back.astype(float), second)
    assert second.read_bytes() == first.read_bytes()


def test_the_same_table_is_the_same_bytes(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path in paths:
        write_table(TABLE.copy(), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_table_without_rows_keeps_its_columns(tmp_path):
    path = tmp_path / "empty.csv"
    write_table(TABLE.iloc[:0], path)
    back = read_table(path)
    assert list(back.columns) == list(TABLE.columns)
    assert len(back) == 0


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n1,2,3\n", b"a\n\xff\n"])
def test_a_file_that_is_no_table_is_named_with_what_to_do(tmp_path, content):
    path = tmp_path / "table-1.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"table-1\.csv: expected a table.*delete the file and"):
        read_table(path)
