"""What the workflow scripts share: functions by name, tables by part, logs that hold errors."""

import gc
import json
from contextlib import suppress

import pandas as pd
import pytest

from dpnoise_papers.call import UNFINISHED, logged, read_statuses, read_tables, resolve
from dpnoise_papers.result_files import write_table


def test_a_function_is_found_by_its_full_name():
    assert resolve("dpnoise_papers.result_files.write_table") is write_table
    with pytest.raises(AttributeError, match="nothing"):
        resolve("dpnoise_papers.result_files.nothing")


def test_tables_of_parts_arrive_as_one_dictionary(tmp_path):
    paths = [str(tmp_path / f"{name}.csv") for name in "abc"]
    for place, path in enumerate(paths):
        write_table(pd.DataFrame({"x": [place]}), path)
    first, parts = read_tables(paths, [[], ["p", "q"]])
    assert first["x"].tolist() == [0]
    assert {part: table["x"].item() for part, table in parts.items()} == {"p": 1, "q": 2}


def test_statuses_are_read_by_name(tmp_path):
    path = tmp_path / "airfoil.json"
    path.write_text(json.dumps({"status": "missing"}), encoding="utf-8")
    assert read_statuses([str(path)]) == {"airfoil": {"status": "missing"}}


def test_a_step_that_is_killed_leaves_a_log(tmp_path):
    path = tmp_path / "logs" / "step.log"
    with logged(str(path)) as log:
        assert path.read_text(encoding="utf-8") == UNFINISHED
        log.append("made")
    assert path.read_text(encoding="utf-8") == "made\n"


def test_the_log_of_a_failed_step_holds_its_error(tmp_path):
    path = tmp_path / "logs" / "step.log"
    with pytest.raises(ValueError, match="broken"), logged(str(path)) as log:  # noqa: PT012
        log.append("started")
        raise ValueError("broken")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("started\nTraceback")
    assert text.endswith("ValueError: broken\n")


@pytest.mark.parametrize("collects", [True, False])
@pytest.mark.parametrize("name", ["json.dumps", "json.nothing", "no_such_module.nothing"])
def test_loading_leaves_the_garbage_collector_as_it_was(name, collects):
    before = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        with suppress(AttributeError, ModuleNotFoundError):
            resolve(name)
        assert gc.isenabled() is collects
    finally:
        (gc.enable if before else gc.disable)()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"status": "so-so"}', b"{}", b"\xff"])
def test_a_garbled_status_is_named_with_what_to_do(tmp_path, content):
    path = tmp_path / "airfoil.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"airfoil\.json: .*; delete it and .*airfoil\.npz and"):
        read_statuses([str(path)])
