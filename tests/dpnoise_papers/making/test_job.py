"""A job records what it made, and fails if its code or an input changes while it runs."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpnoise_papers import code_inputs
from dpnoise_papers.making.job import job
from dpnoise_papers.making.records import MARK, file_digest, read_record

SAID = "def f(x):\n    return x + 1\n"


class Params(SimpleNamespace):
    def get(self, name, default=None):
        return getattr(self, name, default)


@pytest.fixture
def started(tmp_path, monkeypatch):
    """What Snakemake gives to a script of which the sources are planned."""
    monkeypatch.chdir(tmp_path)
    Path(".snakemake").mkdir()
    monkeypatch.setattr(code_inputs, "_planned", {})
    Path("script.py").write_text(SAID)
    Path("in.csv").write_text("x\n1\n")
    code = code_inputs.code_digest("script.py")
    code_inputs.plan_sources()
    yield SimpleNamespace(
        input=["in.csv", "results/.made/item.mark"],
        output=["out.csv"],
        log=["job.log"],
        params=Params(code=code, told="told", record="results/.made/item.json"),
    )
    for kept in (code_inputs._digests, code_inputs._known):
        kept.cache_clear()
    code_inputs._new.clear()


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
