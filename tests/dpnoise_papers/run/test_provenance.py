"""Provenance of a run: every file with its digest, item and settings; commit and machine."""

import hashlib
import json
import os
import subprocess
from importlib.metadata import version

import pytest

from dpnoise import __version__
from dpnoise_papers.run.provenance import as_json, differing, revision, stamp


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


TOLD = {"a.csv": ["paper/a", "0123456789abcdef"], "b.svg": ["paper/b", "fedcba9876543210"]}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Two files with the logs of their jobs, and provenance.json."""
    monkeypatch.chdir(tmp_path)
    lines = []
    for path, content in (("a.csv", b"x\n1\n"), ("b.svg", b"<svg/>")):
        (tmp_path / path).write_bytes(content)
        lines.append(f"made {hashlib.sha256(content).hexdigest()} {TOLD[path][1]} {path}\n")
    (tmp_path / "logs/paper").mkdir(parents=True)
    (tmp_path / "logs/paper/all.log").write_text("some words\n" + "".join(lines))
    (tmp_path / "data/prepared").mkdir(parents=True)
    status = {"name": "boston", "status": "ok", "fingerprint": "12", "shape": [1, 2]}
    (tmp_path / "data/prepared/boston.json").write_text(json.dumps(status))

    def write():
        text = as_json(["b.svg", "a.csv"], TOLD, {"seed": 7}, logs="logs")
        (tmp_path / "provenance.json").write_text(text)
        return json.loads(text)

    return write, tmp_path


def test_files_have_the_digest_that_their_jobs_noted(made):
    write, folder = made
    (folder / "a.csv").write_text("x\n9\n")  # edited after its job
    found = write()
    digest = hashlib.sha256(b"x\n1\n").hexdigest()
    assert found["files"]["a.csv"] == {
        "sha256": digest, "item": "paper/a", "settings": "0123456789abcdef",
    }  # fmt: skip
    assert list(found["files"]) == ["a.csv", "b.svg"]
    assert (found["seed"], found["data"]) == (7, {"boston": {"status": "ok", "fingerprint": "12"}})
    assert differing(folder, TOLD) == ["a.csv is not what its job wrote"]


def test_a_file_that_is_gone_or_of_other_settings_is_named(made):
    write, folder = made
    write()
    assert differing(folder, TOLD) == []
    other = TOLD | {"b.svg": ["paper/b", "0" * 16]}
    assert differing(folder, other) == ["b.svg was made with other settings"]
    (folder / "a.csv").unlink()
    assert differing(folder, TOLD) == ["a.csv is missing"]
    (folder / "provenance.json").write_text("{")
    assert differing(folder, TOLD) == [f"{folder / 'provenance.json'} cannot be read"]


def test_a_file_without_a_line_in_the_logs_has_the_digest_that_it_has(made):
    write, folder = made
    (folder / "logs/paper/all.log").unlink()
    found = write()
    assert found["files"]["b.svg"]["sha256"] == hashlib.sha256(b"<svg/>").hexdigest()
    assert differing(folder, TOLD) == []


def test_the_newest_log_of_a_file_counts(made):
    """A job of an older version left its log, which says other bytes of the same file."""
    write, folder = made
    before = write()["files"]
    for name in ("aaa", "zzz"):
        log = folder / f"logs/{name}.log"
        log.write_text(f"made {'0' * 64} {'1' * 16} a.csv\n")
        os.utime(log, (1.0, 1.0))
    assert write()["files"] == before


def test_the_stamp_names_machine_and_packages():
    found = stamp()
    assert found["packages"]["numpy"] == version("numpy")
    assert "pytest" not in found["packages"]
    assert set(found["machine"]) == {"system", "cpu", "cores", "python"}
    assert found["date"].endswith("+00:00")
