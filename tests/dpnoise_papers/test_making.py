"""Records, digests of code and the steps' reading and writing."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from dpnoise_papers import making
from dpnoise_papers.making import (
    MARK,
    PROVENANCE,
    UNFINISHED,
    Record,
    code_inputs,
    file_digest,
    file_digests,
    find_record,
    job,
    kept_records,
    logged,
    read_record,
    read_statuses,
    read_tables,
    record_path,
    resolve,
    write_record,
)
from dpnoise_papers.result_files import write_table

ROOT = Path(__file__).parents[2]
TABLE = str(ROOT / "workflow" / "scripts" / "table.py")
DENSITIES = "dpnoise_papers.flipped_huber_2023.tables.privacy.densities"


@pytest.fixture
def names():
    return lambda *functions: set(code_inputs(TABLE, *functions))


def test_whatever_an_import_loads_is_among_the_inputs(names):
    module = DENSITIES.rpartition(".")[0]
    code = (
        f"import sys, {module}; from pathlib import Path;"
        "print(*(m.__file__ for n, m in sys.modules.items()"
        " if n.startswith('dpnoise') and Path(m.__file__).stat().st_size))"
    )
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    # How a package finds its public names, and its version, change no result.
    no_result = ("__init__.py", "_version.py")
    loaded = {Path(file) for file in loaded if not file.endswith(no_result)}
    assert loaded <= {ROOT / name for name in names(DENSITIES)}


def test_unrelated_modules_are_not_among_the_inputs(names):
    found = names(DENSITIES)
    assert "src/dpnoise/noise/grafted.py" in found
    assert "src/dpnoise_papers/making.py" in found
    assert not any("learn" in name or "inid_2024" in name or "/data/" in name for name in found)


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Return what the digest of a script is when it holds a text."""
    script = tmp_path / "script.py"
    monkeypatch.setattr(making, "CACHE", str(tmp_path / "digests.json"))

    def digest(text):
        script.write_text(text, encoding="utf-8")
        making._digests.cache_clear()
        return making.code_digest(str(script))

    yield digest
    making._digests.cache_clear()
    making._known.cache_clear()
    making._new.clear()


SAID_BY_CODE = "def f(x):\n    return x + 1\n"


@pytest.mark.parametrize(
    "same",
    [
        SAID_BY_CODE + "# a comment\n",
        '"""Words."""\n\n\n' + SAID_BY_CODE,
        'def f(x):\n    """Words."""\n    return (x  # one more\n        + 1)\n',
    ],
)
def test_comments_docstrings_and_layout_leave_the_digest_as_it_is(module, same):
    assert module(same) == module(SAID_BY_CODE)


@pytest.mark.parametrize(
    "other",
    [SAID_BY_CODE.replace("1", "1.0"), SAID_BY_CODE.replace("x", "y"), SAID_BY_CODE + "f(2)\n"],
)
def test_whatever_the_code_says_is_in_its_digest(module, other):
    assert module(other) != module(SAID_BY_CODE)


def test_a_folder_with_compiled_modules_only_is_no_package(tmp_path, monkeypatch):
    """An older commit's package leaves one beside the module that took its name."""
    (tmp_path / "toy" / "once" / "__pycache__").mkdir(parents=True)
    (tmp_path / "toy" / "once.py").touch()
    (tmp_path / "toy" / "__init__.py").touch()
    monkeypatch.setattr(making, "SOURCE", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert making._path.__wrapped__("toy.once") == "toy/once.py"
    assert making._path.__wrapped__("toy") == "toy/__init__.py"


def test_a_digest_depends_on_every_module_behind_the_functions(monkeypatch):
    before = making.code_digest(TABLE, DENSITIES)
    told = making._digests
    for name in code_inputs(TABLE, DENSITIES):
        changed = lambda path, name=name: ("", "") if path == name else told(path)  # noqa: E731
        with monkeypatch.context() as patch:
            patch.setattr(making, "_digests", changed)
            assert making.code_digest(TABLE, DENSITIES) != before


def test_digests_are_remembered_by_content(module, tmp_path):
    first = module(SAID_BY_CODE)
    making.remember_digests()
    making._known.cache_clear()
    assert hashlib.sha256(SAID_BY_CODE.encode()).hexdigest() in making._known()
    assert module(SAID_BY_CODE) == first
    (tmp_path / "digests.json").write_text("{broken", encoding="utf-8")
    making._known.cache_clear()
    assert module(SAID_BY_CODE) == first


def test_paths_are_relative_sorted_and_exist():
    found = code_inputs(TABLE, DENSITIES)
    assert found == sorted(found)
    assert all((ROOT / name).is_file() and not Path(name).is_absolute() for name in found)


def test_an_unknown_module_is_refused(names):
    with pytest.raises(ValueError, match=r"no module dpnoise_papers\.nothing"):
        names("dpnoise_papers.nothing.at_all")


SAID = "def f(x):\n    return x + 1\n"
RECORD = Record("told", "code", {"in.csv": "1"}, {"out.csv": "2"})


class Params(SimpleNamespace):
    def get(self, name, default=None):
        return getattr(self, name, default)


@pytest.fixture
def started(tmp_path, monkeypatch):
    """What Snakemake gives to a script of which the sources are planned."""
    monkeypatch.chdir(tmp_path)
    Path(".snakemake").mkdir()
    monkeypatch.setattr(making, "_planned", {})
    Path("script.py").write_text(SAID)
    Path("in.csv").write_text("x\n1\n")
    code = making.code_digest("script.py")
    making.plan_sources()
    yield SimpleNamespace(
        input=["in.csv", "results/.made/item.mark"],
        output=["out.csv"],
        log=["job.log"],
        params=Params(code=code, told="told", record="results/.made/item.json"),
    )
    for kept in (making._digests, making._known):
        kept.cache_clear()
    making._new.clear()


def run(snakemake, *during):
    with job(snakemake) as log:
        log.append("made")
        Path("out.csv").write_text("y\n2\n")
        for change in during:
            change()


def test_a_job_records_what_it_was_told_read_and_wrote(started):
    run(started)
    record = read_record("results/.made/item.json")
    assert (record.told, record.code) == ("told", started.params.code)
    assert record.inputs == {
        "in.csv": file_digest("in.csv"),
        "results/.made/item.mark": MARK,
    }
    assert record.outputs == {"out.csv": file_digest("out.csv")}
    assert Path("job.log").read_text() == "made\n"


def edit():
    Path("script.py").write_text(SAID.replace("1", "2"))


def put_back():
    Path("script.py").write_text(SAID)


def other_input():
    Path("in.csv").write_text("x\n9\n")


@pytest.mark.parametrize(
    ("during", "said"),
    [
        ([edit], r"code of this job changed while the run went on: script\.py \(not what it was"),
        ([edit, put_back], r"script\.py \(edited and put back while this job ran"),
        ([Path("script.py").unlink], r"script\.py \(not what it was"),
        ([other_input], r"an input of this job changed while the run went on: in\.csv"),
    ],
)
def test_code_and_inputs_that_change_while_a_job_runs_end_it(started, during, said):
    with pytest.raises(SystemExit, match=said):
        run(started, *during)
    assert not Path("results").exists()
    assert "SystemExit" in Path("job.log").read_text()


def test_a_put_back_module_with_its_old_date_is_found_too(started):
    before = Path("script.py").stat()
    dates = (before.st_atime_ns, before.st_mtime_ns)
    with pytest.raises(SystemExit, match="edited and put back"):
        run(started, edit, put_back, lambda: os.utime("script.py", ns=dates))


def test_code_that_changed_before_a_job_begins_ends_it_before_anything_is_made(started):
    edit()
    with pytest.raises(SystemExit, match=r"script\.py \(not what it was when the run was planned"):
        run(started)
    assert not Path("out.csv").exists()


def test_comments_may_change(started):
    run(started, lambda: Path("script.py").write_text("# a comment\n" + SAID))
    assert read_record("results/.made/item.json")


def test_a_job_that_was_not_planned_does_not_run(started):
    started.params.code = "0" * 64
    with pytest.raises(SystemExit, match="not known which sources"):
        run(started)


def test_a_job_that_fails_leaves_no_record(started):
    with pytest.raises(ValueError, match="broken"), job(started):
        raise ValueError("broken")
    assert not Path("results").exists()


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
