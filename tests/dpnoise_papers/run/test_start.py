import logging
import os
import signal
import threading
from importlib import metadata
from pathlib import Path

import pytest

from dpnoise_papers.run.start import (
    NearestTargets,
    end_on_sigterm,
    hand_on,
    lock_notice,
    nearest,
    refusal,
    refusal_of_environment,
    stray_files,
    warning,
)

ROOT = Path(__file__).parents[3]
PROJECT = """
[project]
name = "toy"
dependencies = ["numpy>=1"]
[project.optional-dependencies]
papers = ["toy[more]", "pandas>=99", 'nothing-of-that-name; python_version < "3"']
more = ["toy[papers]", "no-such-package>=2"]
other = ["never-asked-for"]
"""
NAMES = [
    "flipped_huber_2023", "verdicts", "results/verdicts.md", "results/verdicts.csv",
    "figures/a-paper/figure-2.svg", "figures/a-paper/figure-2.pdf", "figures/b/figure-2.svg",
]  # fmt: skip


@pytest.fixture
def project(tmp_path):
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    return tmp_path / "pyproject.toml"


def test_this_environment_lacks_nothing():
    assert refusal_of_environment(ROOT / "pyproject.toml") == ""


def test_everything_missing_is_named_at_once_with_the_command(project):
    words = refusal_of_environment(project)
    found = metadata.version("pandas")
    assert f"lacks no-such-package>=2, pandas>=99 (found {found}): `python -m pip" in words
    assert str(project.parent) in words
    assert "nothing-of-that-name" not in words
    assert "never-asked-for" not in words


@pytest.mark.parametrize(
    ("before", "after"),
    [("", "/a"), ("/a", "/a"), ("/a:/b", "/a:/b"), ("/b", "/a:/b"), ("/b:/a", "/a:/b:/a")],
)
def test_a_folder_is_put_first_once(monkeypatch, before, after):
    monkeypatch.setattr(os, "pathsep", ":")
    monkeypatch.setenv("PYTHONPATH", before)
    hand_on("/a")
    assert os.environ["PYTHONPATH"] == after
    hand_on("/a")
    assert os.environ["PYTHONPATH"] == after


def test_names_are_compared_as_package_indices_do(project):
    project.write_text(PROJECT.replace("no-such-package>=2", "Scikit_Learn").replace(">=99", ""))
    assert refusal_of_environment(project) == ""


def test_a_folder_that_cannot_be_written_is_refused_with_its_name(tmp_path, monkeypatch):
    assert refusal(tmp_path) == ""
    closed = {tmp_path / ".snakemake"}
    monkeypatch.setattr(os, "access", lambda path, _mode: path not in closed)
    assert refusal(tmp_path) == ""
    (tmp_path / ".snakemake").mkdir()
    assert refusal(tmp_path).startswith(f"{tmp_path}/.snakemake cannot be written")
    closed.add(tmp_path)
    (tmp_path / ".snakemake").rmdir()
    assert refusal(tmp_path).startswith(f"{tmp_path} cannot be written")


def test_a_lock_is_told_with_the_command_that_removes_it(tmp_path):
    assert lock_notice(tmp_path) == ""
    (tmp_path / ".snakemake" / "locks").mkdir(parents=True)
    assert lock_notice(tmp_path) == ""
    (tmp_path / ".snakemake" / "locks" / "0.input.lock").touch()
    assert "`snakemake --unlock`" in lock_notice(tmp_path)


def test_a_signal_to_end_waits_for_the_lock_that_the_interrupted_code_holds():
    before, lock, ended = signal.getsignal(signal.SIGTERM), threading.Lock(), threading.Event()

    def end(*_):
        with lock:
            ended.set()

    try:
        signal.signal(signal.SIGTERM, end)
        end_on_sigterm()
        with lock:
            os.kill(os.getpid(), signal.SIGTERM)
            assert not ended.wait(0.1)
        assert ended.wait(60.0)
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("flipped_huber_2032", "flipped_huber_2023"),
        ("Flipped-Huber-2023", "flipped_huber_2023"),
        ("results/verdict.md", "results/verdicts.md"),
        ("results/verdict.csv", "results/verdicts.csv"),
        ("Figure 2", "figures/a-paper/figure-2.svg"),
        ("figures/a-paper/figure2.svg", "figures/a-paper/figure-2.svg"),
    ],
)
def test_nearest_comes_first(given, found):
    assert nearest(given, NAMES)[0] == found


def test_formats_of_one_figure_are_named_once():
    assert nearest("figure-2", NAMES) == ["figures/a-paper/figure-2.svg", "figures/b/figure-2.svg"]


def test_nothing_alike_is_no_suggestion():
    assert nearest("xyz", NAMES) == []
    assert answers("xyz") == ["no rule makes 'xyz'"]


def answers(target):
    """What is told beside Snakemake's message on a target."""
    from snakemake.exceptions import MissingRuleException

    lines = []
    message = f"MissingRuleException:\n{MissingRuleException(target)}"
    NearestTargets(NAMES, lines.append).handle(logging.makeLogRecord({"msg": message}))
    return lines


def test_snakemakes_message_on_a_target_is_answered_with_the_nearest():
    (told,) = answers("figure 2")
    assert told == f"no rule makes 'figure 2'; the nearest: {NAMES[4]}, {NAMES[6]}"


def test_other_messages_are_let_pass():
    lines = []
    NearestTargets(NAMES, lines.append).handle(logging.makeLogRecord({"msg": "No rule at all"}))
    assert not lines


def test_what_no_rule_makes_is_found_at_any_depth_hidden_files_included(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "deep/er/b.csv", ".a.csv.x7"):
        path = tmp_path / "results" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    found = stray_files(["results", "figures"], {"results/a.csv"})
    assert found == ["results/.a.csv.x7", "results/deep/er/b.csv"]


def test_the_warning_counts_all_and_names_the_first():
    assert warning([]) == ""
    assert "1 file(s) among the results that no rule makes: a. They" in warning(["a"])
    assert "a, b, c, d, e and 2 more. " in warning(list("abcdefg"))
