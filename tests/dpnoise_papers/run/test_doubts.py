"""Results in doubt: other bytes, unknown origin, other settings, code or inputs."""

import json
import os
import time
from pathlib import Path

import pytest

from dpnoise_papers.config import load
from dpnoise_papers.item import papers
from dpnoise_papers.making import (
    MARK,
    Record,
    file_digests,
    read_record,
    record_path,
    write_record,
)
from dpnoise_papers.run.doubts import (
    Making,
    Records,
    kept_in,
    makings,
    mark_path,
    refusal_of_doubts,
    told_digest,
    words_on,
)
from dpnoise_papers.steps import target

TABLE = Making("p/a-table", ("results/p/a.csv",), ("published/p.csv",), "told", "code")
FIGURE = Making("p/a-figure", ("figures/p/a.svg", "figures/p/a.pdf"), TABLE.outputs, "told", "code")
MADE = (TABLE, FIGURE)


@pytest.fixture(autouse=True)
def _run(tmp_path, monkeypatch):
    """A run that is as it was made."""
    monkeypatch.chdir(tmp_path)
    for path in (*TABLE.inputs, *TABLE.outputs, *FIGURE.outputs):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(f"x,y\n1,7070\n{path},2\n")
    for one in MADE:
        record = Record(one.told, one.code, file_digests(one.inputs), file_digests(one.outputs))
        write_record(record, record_path("results", one.stem))


def doubts(*made):
    found = Records("results").doubts(made or MADE)
    return {stem: (one.kind, one.files, one.why) for stem, one in found.items()}


def test_nothing_is_in_doubt_in_a_run_as_it_was_made():
    assert doubts() == {}
    assert words_on([]) == refusal_of_doubts([]) == ""


def edit_keeping_size_and_date(path):
    before = path.stat()
    path.write_text(path.read_text().replace("7070", "9070"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size


@pytest.mark.parametrize(
    "edit",
    [
        edit_keeping_size_and_date,
        lambda path: path.write_text(path.read_text()[: path.stat().st_size // 2]),
        lambda path: path.write_text(""),
        lambda path: path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n")),
    ],
)
@pytest.mark.parametrize("name", [*TABLE.outputs, *FIGURE.outputs])
def test_an_edited_file_is_named_and_refused_under_strict(edit, name):
    edit(Path(name))
    found = Records("results").doubts(MADE)
    (one,) = found.values()
    assert (one.kind, one.files) == ("altered", (name,))
    said = f"1 result(s) are not what was made (other bytes than were made): {name}\n"
    assert words_on(found.values()).startswith(said)
    assert f"strict: 1 result(s) are not what a job made: {name}. Delete them" in refusal_of_doubts(
        found.values()
    )


def test_a_file_that_is_put_where_none_was_made_is_of_unknown_origin():
    Path(record_path("results", TABLE.stem)).unlink()
    assert doubts(TABLE) == {TABLE.stem: ("unrecorded", TABLE.outputs, "no record of their making")}
    assert refusal_of_doubts(Records("results").doubts(MADE).values())


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"told": "new"}, "settings"),
        ({"code": "new"}, "code"),
        ({"told": "new", "code": "new"}, "settings; code"),
        ({"inputs": ()}, "inputs (published/p.csv)"),
        ({"inputs": ("published/p.csv", "published/q.csv")}, "inputs (published/q.csv)"),
    ],
)
def test_what_would_be_made_otherwise_now_is_outdated_and_no_reason_to_refuse(other, why):
    now = TABLE._replace(**other)
    assert doubts(now) == {TABLE.stem: ("outdated", TABLE.outputs, why)}
    assert refusal_of_doubts(Records("results").doubts([now]).values()) == ""


def test_an_input_with_other_bytes_makes_a_file_outdated():
    Path("published/p.csv").write_text("other\n")
    assert doubts() == {TABLE.stem: ("outdated", TABLE.outputs, "inputs (published/p.csv)")}


def test_a_figure_of_a_table_that_was_edited_and_put_back_is_outdated():
    edited = Record("told", "code", {TABLE.outputs[0]: "of the edited table"},
                    file_digests(FIGURE.outputs))  # fmt: skip
    write_record(edited, record_path("results", FIGURE.stem))
    why = f"inputs ({TABLE.outputs[0]})"
    assert doubts() == {FIGURE.stem: ("outdated", FIGURE.outputs, why)}


def test_files_that_are_not_there_are_not_in_doubt():
    for path in (*TABLE.outputs, *FIGURE.outputs):
        Path(path).unlink()
    assert doubts() == {}


def test_provenance_serves_where_the_records_are_gone():
    jobs = {one.stem: read_record(record_path("results", one.stem))._asdict() for one in MADE}
    Path("results/provenance.json").write_text(json.dumps({"jobs": jobs}))
    for one in MADE:
        Path(record_path("results", one.stem)).unlink()
    assert doubts() == {}
    assert set(doubts(TABLE._replace(told="new"))) == {TABLE.stem}
    Records("results").restore()
    assert read_record(record_path("results", TABLE.stem))._asdict() == jobs[TABLE.stem]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"jobs": 3}', '{"jobs": {"a": {}}}', "\x00"])
def test_a_garbled_provenance_holds_no_records(content):
    Path("results/provenance.json").write_text(content)
    assert doubts() == {}
    Records("results").restore()
    Path(record_path("results", TABLE.stem)).write_text("garbled")
    assert doubts(TABLE)[TABLE.stem][0] == "unrecorded"


def test_a_mark_is_newer_than_the_files_exactly_while_they_are_in_doubt():
    def mark():
        records = Records("results")
        records.mark(MADE, records.doubts(MADE))

    table, path = Path(TABLE.outputs[0]), Path(mark_path("results", TABLE.stem))
    mark()
    assert not path.exists()
    before = table.read_text()
    table.write_text("other\n")
    ahead = time.time_ns() + 10**12  # a date in the future
    os.utime(table, ns=(ahead, ahead))
    mark()
    first = path.read_text()
    assert path.stat().st_mtime_ns > table.stat().st_mtime_ns
    mark()
    assert path.read_text() != first  # Snakemake compares its content too
    assert str(path) in kept_in("results")
    table.write_text(before)
    mark()  # put back before a run: as if nothing had been
    assert not path.exists()
    with_mark = {**file_digests(TABLE.inputs), str(path): MARK}
    record = Record("told", "code", with_mark, file_digests(TABLE.outputs))
    write_record(record, record_path("results", TABLE.stem))
    mark()  # made again, with the mark as an input
    assert doubts() == {}
    assert path.stat().st_mtime_ns < table.stat().st_mtime_ns
    assert not Path(mark_path("results", FIGURE.stem)).exists()


def test_many_files_are_counted_and_some_named():
    many = [Making(f"p/{k}", (f"results/p/{k}.csv",), (), "", "") for k in range(9)]
    for one in many:
        Path(one.outputs[0]).write_text("x\n")
    said = words_on(Records("results").doubts(many).values())
    assert said.startswith("9 result(s) are of unknown origin")
    assert "results/p/4.csv and 4 more" in said


def test_every_file_of_the_papers_has_one_making(monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[3])
    config, listed = load("config.yaml"), papers()
    places = {"results": "results", "figures": "figures", "logs": "logs"}
    made = [one for _, _, one in makings(config, listed, places, lambda step: step.rule)]
    assert len({one.stem for one in made}) == len(made)
    outputs = [path for one in made for path in one.outputs]
    assert len(set(outputs)) == len(outputs)
    wanted = {
        path.replace("<results>", "results").replace("<figures>", "figures")
        for paper in listed
        for path in target(config, paper)
    }
    assert wanted <= set(outputs)
    assert not any("{" in path or "<" in path for one in made for path in (*one.inputs, one.stem))


def test_the_digest_of_what_a_job_is_told_has_no_order():
    assert told_digest({"a": 1, "b": [1.5]}) == told_digest({"b": [1.5], "a": 1})
    assert told_digest({"a": 1}) != told_digest({"a": 2})
