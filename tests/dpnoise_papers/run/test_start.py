import logging
import os
import signal
import threading
from importlib import metadata
from pathlib import Path

import pytest

from dpnoise_papers.run.start import (
    NearestTargets,
    TimeLeft,
    end_on_sigterm,
    event_of,
    hand_on,
    in_words,
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


class Run:
    """A run on a clock that is set by hand: jobs 1, 2, ... of one rule, by the seconds of each."""

    def __init__(self, *seconds, cores=2, more=0):
        self.now, self.lines = 100.0, []
        known = {("rule", str(number)): one for number, one in enumerate(seconds, 1)}
        self.left = TimeLeft(known, cores, self.lines.append, lambda: self.now)
        stats = {"rule": len(seconds), "drawing": more, "total": len(seconds) + more}
        self.hear(event="run_info", stats={rule: count for rule, count in stats.items() if count})

    def finish(self, number, at, rule="rule"):
        self.now = 100.0 + at
        wildcards = {"part": str(number)} if rule == "rule" else None
        self.hear(event="job_info", jobid=number, rule_name=rule, wildcards=wildcards)
        self.hear(event="job_finished", job_id=number)
        self.hear(event="progress", done=1, total=2)

    def hear(self, **extra):
        self.left.handle(logging.makeLogRecord({"msg": "text", **extra}))


def test_on_a_machine_as_measured_the_rest_takes_its_share():
    run = Run(100.0, 400.0, 700.0)
    run.left.begin()
    assert run.lines == ["3 jobs, about 12 min on 2 cores"]  # the longest job
    run.finish(3, 350.0)
    assert run.left.seconds_left() == pytest.approx(400.0)
    assert run.lines[1:] == ["about 7 min left"]


def test_a_slow_machine_takes_longer_and_a_fast_one_less():
    slow, fast = (Run(*[100.0] * 10) for _ in range(2))
    for number in range(1, 6):
        slow.finish(number, 100.0 * number)
        fast.finish(number, 25.0 * number)
    assert 450.0 < slow.left.seconds_left() < 500.0
    assert 125.0 < fast.left.seconds_left() < 160.0


def test_the_longest_job_bounds_the_rest():
    assert Run(600.0, 3.0, cores=64).left.seconds_left() == 600.0


def test_jobs_that_are_not_measured_take_three_seconds():
    run = Run(10.0, more=10)
    assert run.left.seconds_left() == pytest.approx((10.0 + 10 * 3.0) / 2)
    run.finish(7, 1.5, rule="drawing")
    assert run.left.seconds_left() == pytest.approx((10.0 + 9 * 3.0) / 2)


def test_lines_come_at_most_every_ten_seconds_and_none_after_the_end():
    run = Run(*[30.0] * 4)
    for number, at in enumerate((1.0, 5.0, 12.0, 40.0), 1):
        run.finish(number, at)
    assert len(run.lines) == 2


def test_other_events_and_unknown_jobs_are_let_pass():
    run = Run(60.0)
    run.hear()
    run.hear(event=None)
    run.hear(event="job_finished", job_id=9)
    run.finish(7, 1.0, rule="other")
    assert len(run.lines) == 1
    assert run.left.seconds_left() > 0


def test_snakemake_names_its_events_so():
    from snakemake_interface_logger_plugins.common import LogEvent

    events = (LogEvent.RUN_INFO, LogEvent.JOB_INFO, LogEvent.JOB_FINISHED, LogEvent.PROGRESS)
    named = [event_of(logging.makeLogRecord({"event": event})) for event in events]
    assert named == ["run_info", "job_info", "job_finished", "progress"]
    assert event_of(logging.makeLogRecord({"event": LogEvent.GROUP_INFO})) == "group_info"
    assert event_of(logging.makeLogRecord({})) == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "about 5 s"), (54.0, "about 50 s"), (56.0, "about 1 min"), (3599.0, "about 1 h 0 min")],
)
def test_words(seconds, text):
    assert in_words(seconds) == text
