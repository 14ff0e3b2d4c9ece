"""The commands between Snakemake's plugin and SLURM, on answers and scripts of each test's own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpnoise_papers.cluster import client
from dpnoise_papers.cluster.client import ASKED, VARIABLE, Folder, Said, look, submit

LOOK = ["--noheader", "--format=%i|%T", "--states=all", "--name", "a-run"]
SUBMISSION = ["--parsable", "--job-name", "a-run", "--comment", "rule_x", "--wrap=true"]
DOWN = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "run"))
    monkeypatch.setenv(ASKED, "squeue")
    monkeypatch.setattr(client, "_APART", 0.0)
    found = Folder(tmp_path / "run")
    found.bin.mkdir(parents=True)
    return found


@pytest.fixture
def answers(monkeypatch):
    """Let SLURM answer each question with the next of some answers; the last one stays."""
    asked = []

    def install(*said):
        queue = list(said)

        def ask(*command, seconds, script=""):
            asked.append((command, script))
            assert seconds <= 120
            return queue.pop(0) if len(queue) > 1 else queue[0]

        monkeypatch.setattr(client, "ask", ask)
        return asked

    return install


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set; `waited` is what was slept."""
    now = {"time": 1000.0}
    monkeypatch.setattr(client.time, "time", lambda: now["time"])
    return now


def told(folder):
    return folder.told.read_text().splitlines() if folder.told.exists() else []


@pytest.mark.parametrize("said", [Said(1, "", DOWN), Said(None, "", "no answer within 20 s")])
def test_a_look_that_fails_shows_nothing_and_is_told_once(folder, answers, clock, said):
    answers(said, said, Said(0, "7|RUNNING\n", ""))
    folder.add("7")
    assert look(LOOK, folder) == look(LOOK, folder) == ""
    assert len(told(folder)) == 1
    assert said.errors in told(folder)[0]
    clock["time"] += 25
    assert look(LOOK, folder) == "7|RUNNING\n"
    assert told(folder)[1] == "SLURM: squeue answers again after 25 s"


def test_what_the_queue_shows_is_handed_on(folder, answers):
    answers(Said(0, "7|RUNNING\n8|CANCELLED by 1000\n\n9|COMPLETED|more\n", ""))
    assert look(LOOK, folder) == "7|RUNNING\n8|CANCELLED\n9|COMPLETED\n"


def test_a_job_that_the_queue_forgot_is_failed_only_after_a_while(folder, answers, clock):
    folder.add("7")
    folder.add("8")
    answers(Said(0, "7|RUNNING\n8|COMPLETED\n", ""), Said(0, "", ""))
    look(LOOK, folder)
    assert look(LOOK, folder) == "8|COMPLETED\n"  # its end was seen
    clock["time"] += client.LOST_AFTER - 1
    assert look(LOOK, folder) == "8|COMPLETED\n"
    clock["time"] += 1
    assert look(LOOK, folder) == "7|FAILED\n8|COMPLETED\n"
    assert look(LOOK, folder) == "7|FAILED\n8|COMPLETED\n"
    assert told(folder) == [
        "SLURM: job 7 ended unseen, and squeue has forgotten it: taken as failed"
    ]


def test_a_silent_queue_makes_no_job_fail(folder, answers, clock):
    folder.add("7")
    answers(Said(0, "", ""), Said(1, "", DOWN), Said(0, "7|RUNNING\n", ""), Said(0, "", ""))
    look(LOOK, folder)  # missed for the first time
    clock["time"] += 1000
    assert look(LOOK, folder) == ""
    assert look(LOOK, folder) == "7|RUNNING\n"
    assert look(LOOK, folder) == ""  # missed anew


def test_accounting_may_show_a_job_late(folder, answers, clock, monkeypatch):
    monkeypatch.setenv(ASKED, "sacct")
    folder.add("7")
    answers(Said(0, "", ""))
    look(LOOK, folder)
    clock["time"] += 1000
    assert look(LOOK, folder) == ""


def test_a_job_submitted_during_a_look_is_not_missed(folder, monkeypatch):
    def ask(*_, **__):
        folder.add("7")
        return Said(0, "", "")

    monkeypatch.setattr(client, "ask", ask)
    look(LOOK, folder)
    assert folder.seen().missed == {}


def test_a_submission_is_remembered(folder, answers):
    asked = answers(Said(0, "12\n", ""))
    assert submit(SUBMISSION, folder, "a script") == Said(0, "12\n", "")
    assert (folder.submitted, folder.run) == (["12"], "a-run")
    assert asked == [(("sbatch", *SUBMISSION), "a script")]
    assert told(folder) == []


def test_a_job_of_another_cluster_is_not_missed_in_the_queue(folder, answers):
    answers(Said(0, "12;other\n", ""))
    assert submit(SUBMISSION, folder).output == "12;other\n"
    assert folder.submitted == []


def test_a_refusal_is_told_and_not_tried_again(folder, answers):
    refusal = Said(1, "", "sbatch: error: Batch job submission failed: Invalid qos specification\n")
    asked = answers(refusal)
    assert submit(SUBMISSION, folder) == refusal
    assert len(asked) == 1
    assert told(folder) == [f"SLURM: sbatch refuses rule_x: {refusal.errors.strip()}"]


@pytest.mark.parametrize(
    "errors",
    [
        "sbatch: error: Unable to contact slurm controller (connect failure)",
        "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
        "sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received",
    ],
)
def test_a_submission_to_a_silent_controller_is_tried_again(folder, answers, errors):
    silent = Said(1, "", errors)
    asked = answers(silent, Said(1, "", DOWN), silent, Said(0, "", ""), Said(0, "12\n", ""))
    assert submit(SUBMISSION, folder).code == 0
    assert [command[0] for command, _ in asked] == ["sbatch", "squeue"] * 2 + ["sbatch"]
    assert len(told(folder)) == 1
    assert "tried again for 10 minutes" in told(folder)[0]


def test_a_submission_is_not_made_twice(folder, answers):
    folder.add("11")
    queue = "11|rule_x\n13|rule_y\n12|rule_x\n"
    asked = answers(Said(None, "", "no answer within 120 s"), Said(0, queue, ""))
    assert submit(SUBMISSION, folder).output == "12\n"
    assert len(asked) == 2
    assert folder.submitted == ["11", "12"]


def test_trials_have_an_end(folder, answers, monkeypatch):
    monkeypatch.setattr(client, "PATIENCE", 0.0)
    answers(Said(1, "", DOWN))
    assert submit(SUBMISSION, folder).errors == DOWN
    assert told(folder) == [f"SLURM: sbatch refuses rule_x: {DOWN}"]


def test_nothing_is_submitted_after_the_end(folder, answers):
    asked = answers(Said(0, "12\n", ""))
    folder.end()
    assert submit(SUBMISSION, folder).code == 1
    assert asked == []


def test_a_job_submitted_at_the_end_is_cancelled(folder, monkeypatch):
    asked = []

    def ask(*command, **_):
        asked.append(command)
        folder.end()
        return Said(0, "12\n", "")

    monkeypatch.setattr(client, "ask", ask)
    submit(SUBMISSION, folder)
    assert asked[-1] == ("scancel", "12")


@pytest.fixture
def command(folder, tmp_path):
    """Run one of the commands as a process, past which scripts of some texts lie."""

    def command(name, *arguments, **scripts):
        real = tmp_path / "real"
        real.mkdir(exist_ok=True)
        for each, text in scripts.items():
            (real / each).write_text(f"#!/bin/sh\n{text}\n")
            (real / each).chmod(0o755)
        path = f"{folder.bin}:{real}:/usr/bin:/bin"
        sources = Path(client.__file__).parents[2]
        return subprocess.run(
            [sys.executable, "-m", "dpnoise_papers.cluster.client", name, *arguments],
            env=os.environ | {"PATH": path, "PYTHONPATH": str(sources)},
            input="", capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip

    return command


def test_jobs_get_the_path_of_the_user(command, folder):
    done = command("sbatch", *SUBMISSION, sbatch='echo "$PATH" > "$DPNOISE_SLURM/path"; echo 5')
    assert (done.returncode, done.stdout) == (0, "5\n")
    assert str(folder.bin) not in (folder.path / "path").read_text()
    assert folder.submitted == ["5"]


def test_where_accounting_is_missing_its_command_asks_the_queue(command):
    done = command("sacct", "-X", "--name", "a-run", squeue='echo "5|RUNNING"', sacct="exit 1")
    assert (done.returncode, done.stdout) == (0, "5|RUNNING\n")


def test_the_guess_of_an_account_is_answered_with_none(command):
    words = ["-nu", "me", "-o", "Account%256", "|", "tail", "-1"]
    done = command("sacct", *words, sacct="echo \"sacct: invalid option -- '1'\" >&2; exit 1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_other_questions_are_those_of_slurm(command):
    done = command("sacct", "-j", "5", "--format=Reason", sacct='echo "$*"; exit 3')
    assert (done.returncode, done.stdout) == (3, "-j 5 --format=Reason\n")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("plugin", "asked"), [("squeue", "sacct"), ("sacct", "squeue")])
def test_the_command_that_answers_here_is_asked_in_its_own_words(
    monkeypatch, capsys, plugin, asked
):
    seen = []
    monkeypatch.setenv(ASKED, asked)
    monkeypatch.setattr(client, "ask", lambda *words, **_: seen.append(words) or Said(0, "7|R", ""))
    assert client.main(plugin, ["--of-the-plugin", "--name", "a-run"]) == 0
    assert capsys.readouterr().out == "7|R\n"
    ((command, *words),) = seen
    assert command == asked
    assert words[-2:] == ["--name", "a-run"]
    assert "--of-the-plugin" not in words
    assert ("--parsable2" in words) == (asked == "sacct")
