"""Snakemake and its plugin for SLURM on a toy of the commands; tests/slurm has a real SLURM."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slurm_toys import install

SOURCES = Path(__file__).parents[3] / "src"
SNAKEFILE = """\
import sys
sys.path.insert(0, {sources!r})
from dpnoise_papers.cluster.session import begin
from snakemake.logging import logger
import dpnoise_papers.cluster.session as session
session.GRACE, session._ONE = 12.0, 4.0

rule made:
    output: "made"
    {resources}
    shell: {shell!r}

onstart:
    if hasattr(workflow.executor_settings, "status_command"):
        begin(".snakemake", "squeue", logger.warning, workflow.persistence.unlock)
"""
AFTER_A_LOOK = (
    "until [ -e $TOY/looks ]; do sleep 0.1; done; sleep 1; rm $TOY/silent; touch {output}"
)
FAIL_AFTER = 150


@pytest.fixture
def start(tmp_path):
    """Start a run of one job through the toy, and end it with the test."""
    variables = install(tmp_path / "toy")
    (tmp_path / "toy/then-silent").touch()
    running = []

    def start(shell, *arguments, resources=""):
        text = SNAKEFILE.format(sources=str(SOURCES), shell=shell, resources=resources)
        (tmp_path / "Snakefile").write_text(text)
        profile = ["--executor", "slurm", "--jobs", "2", "--slurm-status-command", "squeue"]
        soon = ["--slurm-init-seconds-before-status-checks", "1", "--retries", "0"]
        run = subprocess.Popen(
            [sys.executable, "-m", "snakemake", *profile, *soon, "--default-resources", "mem_mb=9",
             "runtime=1", *arguments],
            cwd=tmp_path, env=os.environ | variables | {"PYTHONPATH": str(SOURCES)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        running.append(run)
        return run

    yield start
    for run in running:
        run.kill()
        run.communicate()
    (tmp_path / "toy/silent").unlink(missing_ok=True)
    subprocess.run([tmp_path / "toy/bin/scancel"], env=os.environ | variables, check=True)


def said(run):
    """What a run says until it ends; one that does not end fails the test."""
    try:
        return run.communicate(timeout=FAIL_AFTER)[0]
    except subprocess.TimeoutExpired:
        run.kill()
        return pytest.fail(f"the run hangs:\n{run.communicate()[0][-3000:]}")


def until(condition):
    for _ in range(FAIL_AFTER * 5):
        if condition():
            return
        time.sleep(0.2)
    pytest.fail(f"not within {FAIL_AFTER} s")


def test_a_queue_that_fails_for_a_while_is_waited_for(start, tmp_path):
    run = start(AFTER_A_LOOK)
    output = said(run)
    assert run.returncode == 0, output
    assert "squeue does not tell states of jobs (slurm error: Unable to contact" in output
    assert "squeue answers again after" in output
    assert "invalid option" not in output
    assert not list((tmp_path / ".snakemake").glob("slurm.*"))


def test_a_signal_ends_a_run_while_the_queue_fails(start, tmp_path):
    run = start("sleep 600")
    until((tmp_path / "toy/looks").exists)
    began = time.monotonic()
    run.send_signal(signal.SIGTERM)
    time.sleep(2)
    (tmp_path / "toy/silent").unlink()
    output = said(run)
    assert run.returncode == 1, output
    assert time.monotonic() - began < 30
    assert "--name" in (tmp_path / "toy/cancelled").read_text()
    assert not list((tmp_path / ".snakemake/locks").glob("*"))
    assert "could not be cancelled" not in output


def test_jobs_that_cannot_be_cancelled_are_told_and_the_run_ends(start, tmp_path):
    (tmp_path / "toy/then-silent").write_text("commands hang")
    run = start("sleep 600")
    until((tmp_path / "toy/looks").exists)
    run.send_signal(signal.SIGINT)
    output = said(run)
    assert run.returncode == 1, output
    assert "could not be cancelled (no answer within 4 s)" in output
    assert "when it answers, scancel --name" in output
    assert not list((tmp_path / ".snakemake/locks").glob("*"))


def test_the_reason_of_sbatch_reaches_the_user(start):
    run = start("touch {output}", resources="resources: constraint='nosuch'")
    output = said(run)
    assert run.returncode == 1
    assert "sbatch refuses rule_made: sbatch: error: Batch job submission failed: Invalid" in output
