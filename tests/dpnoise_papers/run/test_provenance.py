"""Provenance of a run: every file with what it is made from, settings, revision, digests."""

import hashlib
import subprocess
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpnoise import __version__
from dpnoise_papers.config import load, settings_digest
from dpnoise_papers.item import Figure, Item, Page, Paper, Table, papers
from dpnoise_papers.making import FOLDER, Record, file_digest, record_path, write_record
from dpnoise_papers.run.provenance import (
    files_made,
    origins,
    revision,
    run_stamp,
)
from dpnoise_papers.settings import Section
from dpnoise_papers.steps import target, targets


class Sweep(Section):
    tasks: dict[str, float]
    trials: int


CONFIG = SimpleNamespace(inid_2024=SimpleNamespace(sweep=Sweep(tasks={"b": 1, "a": 2}, trials=5)))
RUNS = Item(
    id="runs",
    table=Table(
        function="toy.runs",
        settings=("sweep",),
        data=("{part}",),
        parts="sweep.tasks",
        for_each=True,
        makes=("runs/{part}",),
    ),
)
SUMMARY = Item(
    id="summary",
    caption="All runs.",
    table=Table(function="toy.summary", settings=(), reads=("runs/{part}",), parts="sweep.tasks"),
    figure=Figure(function="toy.draw"),
    page=Page(function="toy.write"),
)
TOY = Paper(id="inid-2024", items=(RUNS, SUMMARY))


def test_one_part_of_a_sweep_has_its_own_settings_and_data_only():
    made = origins(CONFIG, [TOY])["<results>/inid-2024/runs/a.csv"]
    assert made.item == "inid-2024/runs"
    assert made.settings == {"inid_2024.sweep a": {"tasks": {"a": 2}, "trials": 5}}
    assert made.data == ["a"]


def test_what_lies_before_a_table_counts_for_all_that_is_made_of_it():
    found = origins(CONFIG, [TOY])
    for path in (
        "<results>/inid-2024/summary.csv",
        "<figures>/inid-2024/summary.pdf",
        "<results>/inid-2024/summary.md",
    ):
        assert found[path].item == "inid-2024/summary"
        assert found[path].data == ["a", "b"]
        assert set(found[path].settings) == {"inid_2024.sweep a", "inid_2024.sweep b"}


def test_every_file_of_every_paper_has_an_origin():
    paper, listed = load("config.yaml"), papers()
    made = [
        path
        for one in listed
        for goal in ("", *targets(listed))
        for path in target(paper, one, goal)
    ]
    ids = tuple(one.id for one in listed)
    assert set(origins(paper, listed)) == {path for path in made if any(one in path for one in ids)}


def test_digests_of_settings_do_not_depend_on_the_order_of_keys():
    assert settings_digest({"a": 1, "b": 2}) == settings_digest({"b": 2, "a": 1})
    assert settings_digest({"a": 1}) != settings_digest({"a": 1.5})


@pytest.fixture
def checkout(tmp_path):
    def git(*arguments):
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        command = ["git", "-C", str(tmp_path), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("a = 1\n")
    (tmp_path / "README.md").write_text("one\n")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    revision.cache_clear()
    yield tmp_path, git("rev-parse", "HEAD")
    revision.cache_clear()


@pytest.mark.parametrize(
    ("file", "modified"), [("src/a.py", True), ("src/new.py", True), ("README.md", False)]
)
def test_a_checkout_is_modified_by_its_sources_only(checkout, file, modified):
    folder, commit = checkout
    assert revision(str(folder)) == (commit, False)
    revision.cache_clear()
    (folder / file).write_text("other\n")
    assert revision(str(folder)) == (commit, modified)


def test_a_copy_inside_another_checkout_has_a_version_and_no_commit(checkout):
    folder, _ = checkout
    (folder / "copy").mkdir()
    assert revision(str(folder / "copy")) == (__version__, False)


ABOUT = [{"item": "paper/a"}, {"item": "paper/b"}]


@pytest.fixture
def made(tmp_path):
    """Two files, the second made from the first, with the records of their jobs."""
    paths = [str(tmp_path / name) for name in ("a.csv", "b.svg")]
    for path, content in zip(paths, (b"x\n1\n", b"<svg/>"), strict=True):
        Path(path).write_bytes(content)
    first, second = ({path: file_digest(path)} for path in paths)
    write_record(Record("t", "c", {}, first), record_path(tmp_path, "a-table"))
    write_record(Record("t", "c", first, second), record_path(tmp_path, "b-figure"))

    def files():
        return files_made(paths, ABOUT, ["a-table", "b-figure"], tmp_path / FOLDER)

    return files, tmp_path


def test_files_have_the_digest_of_their_bytes_and_the_record_of_their_job(made):
    files, folder = made
    found = files()
    expected = hashlib.sha256(b"x\n1\n").hexdigest()
    path = str(folder / "a.csv")
    assert found["files"][path] == {"sha256": expected, "item": "paper/a", "job": "a-table"}
    assert found["jobs"]["b-figure"]["inputs"] == {path: expected}


@pytest.mark.parametrize("name", ["a.csv", "b.svg"])
def test_a_file_that_changed_after_its_job_is_not_stamped_anew(made, name):
    files, folder = made
    (folder / name).write_text("x\n9\n")
    with pytest.raises(ValueError, match=rf"while the run went on: .*{name} is not what its job"):
        files()


def test_a_figure_of_another_table_than_the_one_there_is_named(made):
    files, folder = made
    (folder / "a.csv").write_text("x\n9\n")
    outputs = {str(folder / "a.csv"): file_digest(folder / "a.csv")}
    write_record(Record("t", "c", {}, outputs), record_path(folder, "a-table"))
    with pytest.raises(ValueError, match=r"b-figure was made from another .*a\.csv"):
        files()


def test_a_file_without_a_record_is_named(made):
    files, folder = made
    Path(record_path(folder, "a-table")).unlink()
    with pytest.raises(ValueError, match=r"a\.csv is not what its job wrote"):
        files()


def test_the_stamp_names_machine_and_packages():
    stamp = run_stamp()
    assert stamp["packages"]["numpy"] == version("numpy")
    assert "pytest" not in stamp["packages"]
    assert set(stamp["machine"]) == {"system", "cpu", "cores", "python"}
    assert stamp["date"].endswith("+00:00")
