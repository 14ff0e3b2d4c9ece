"""The pipeline through a real SLURM of two nodes without accounting, as docs/cluster.md says."""

import os
import re
import subprocess
import sys
import time

import pytest

from dpnoise_papers.review.run import compare
from pipeline_copy import copy_into

# An experiment, compiled code, a data set, cheap and long tables, figures and a page.
TARGETS = [
    "quick/results/flipped-huber-2023/table-3/diabetes.csv",
    "quick/results/flipped-huber-2023/gain.csv",
    "quick/figures/flipped-huber-2023/gain.svg",
    "quick/results/inid-2024/table-2.md",
    "quick/figures/inid-2024/figure-1a.svg",
]
MOST_SUBMISSIONS = 15  # of a whole run
FAIL_AFTER = 420  # seconds after which a run of the tests counts as hanging
LOCAL = ["--cores", "2"]
SUBMITTED = ["--profile", "profiles/slurm", "--cores", "1"]


def start(folder, environment, *arguments):
    command = [sys.executable, "-m", "snakemake", *arguments, "--configfile", "config.quick.yaml"]
    own = {"PYTHONPATH": str(folder / "src"), "DPNOISE_DATA_MIRROR": ""}
    return subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | own | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def said(run, seconds=FAIL_AFTER):
    """What a run says until it ends; one that does not end is killed and fails the test."""
    try:
        return run.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        run.kill()
        pytest.fail(f"the run hangs:\n{run.communicate()[0][-3000:]}")


def submitted(output):
    return re.findall(r"has been submitted with SLURM jobid (\d+)", output)


def running(cluster, node=None):
    """Ids of the jobs that run now, on any or on one node."""
    where = [f"--nodelist={node}"] if node else []
    return cluster.ask("squeue", "--noheader", "--states=R", "--format=%i", *where).split()


def until(condition, seconds=120):
    for _ in range(seconds * 5):
        if found := condition():
            return found
        time.sleep(0.2)
    return pytest.fail(f"not within {seconds} s")


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """Folder of a run without the cluster."""
    folder = copy_into(tmp_path_factory.mktemp("local"))
    run = start(folder, {}, *TARGETS, *LOCAL)
    output = said(run)
    assert run.returncode == 0, output
    return folder


def assert_same(folder, local):
    """Check what a submitted run made against the run without a cluster, byte by byte."""
    for kind in ("results", "figures"):
        found = compare(local / "quick" / kind, folder / "quick" / kind)
        assert not found.differing
        assert found.same


def test_a_whole_run_is_a_few_submissions(copy):
    """Planned alone: groups are static, whatever is missing."""
    run = start(copy, {"PATH": f"{fake_slurm(copy)}:{os.environ['PATH']}"}, *SUBMITTED, "--dry-run")
    output = said(run)
    assert run.returncode == 0, output
    groups = re.findall(r"Group job (\w+) \(jobs in", output)
    assert set(groups) == {"experiments", "tables", "collected"}
    assert len(groups) <= MOST_SUBMISSIONS


def fake_slurm(folder):
    """Folder of commands that do nothing: a dry run asks for them."""
    commands = folder / "commands"
    commands.mkdir()
    for name in ("sbatch", "squeue", "sacct", "scancel", "scontrol"):
        (commands / name).write_text("#!/bin/sh\n")
        (commands / name).chmod(0o755)
    return commands


def test_an_outage_of_squeue_and_a_cancelled_job_are_survived_with_the_same_bytes(
    cluster, copy, local
):
    run = start(copy, cluster.environment, *TARGETS, *SUBMITTED)
    cancelled = until(lambda: running(cluster))[0]
    cluster.ask("scancel", cancelled)  # submitted again as a whole
    until(lambda: [job for job in running(cluster) if job != cancelled])
    cluster.stop_controller()
    try:
        time.sleep(25)
    finally:
        cluster.start_controller()
    output = said(run)
    assert run.returncode == 0, output
    assert len(submitted(output)) == len(set(submitted(output))) <= MOST_SUBMISSIONS
    assert_same(copy, local)


def test_a_run_that_is_stopped_cancels_its_jobs_and_goes_on_later(cluster, copy, local):
    run = start(copy, cluster.environment, *TARGETS, *SUBMITTED)
    until(lambda: running(cluster))
    run.terminate()
    said(run, 200)
    assert run.returncode != 0
    until(lambda: not running(cluster))
    run = start(copy, cluster.environment, *TARGETS, *SUBMITTED)
    output = said(run)
    assert run.returncode == 0, output
    assert_same(copy, local)


def test_a_failing_job_is_noticed_with_its_error(cluster, copy):
    module = copy / "src/dpnoise_papers/flipped_huber_2023/variances.py"
    module.write_text(module.read_text() + "\nraise RuntimeError('broken on purpose')\n")
    run = start(copy, cluster.environment, TARGETS[1], *SUBMITTED, "--retries", "0")
    output = said(run)
    assert run.returncode == 1, output
    assert "broken on purpose" in output
