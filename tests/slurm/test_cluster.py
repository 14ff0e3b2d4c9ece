"""The pipeline through a real SLURM of two nodes without accounting, as docs/cluster.md says."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpnoise_papers.cluster.submissions import MOST_SUBMISSIONS, group_names, submissions
from dpnoise_papers.config import load
from dpnoise_papers.item import papers
from dpnoise_papers.run.outcome import compare

ROOT = Path(__file__).resolve().parents[2]
TABLES = ["flipped-huber-2023/figure-1", "balle-wang-2018/gain-crossings", "inid-2024/table-1"]
TARGETS = [f"quick/results/{table}.csv" for table in TABLES]
VARIED = [  # a sweep in parts, compiled code, a data set, drawings, pages, several papers
    "quick/results/flipped-huber-2023/table-3/diabetes-chosen.csv",
    "quick/results/flipped-huber-2023/table-3-ablation/diabetes.csv",
    "quick/results/flipped-huber-2023/theory.csv",
    "quick/figures/flipped-huber-2023/figure-1.svg",
    "quick/figures/flipped-huber-slides/densities-20d.pdf",
    "quick/figures/balle-wang-2018/figure-1a.svg",
    "quick/results/balle-wang-2018/gain-crossings.csv",
    "quick/figures/inid-2024/figure-1a.png",
    "quick/results/inid-2024/table-2.md",
]
FAIL_AFTER = 420  # seconds after which a run of the tests counts as hanging
LOCAL = ["--cores", "2"]
SUBMITTED = ["--profile", "profiles/slurm", "--cores", "1"]
DIFFERS = ("provenance*",)  # says on which machine and when


def start(folder, environment, *arguments, mirror=""):
    command = [sys.executable, "-m", "snakemake", *arguments, "--configfile", "config.quick.yaml"]
    own = {"PYTHONPATH": str(folder / "src"), "DPNOISE_DATA_MIRROR": mirror}
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


def assert_same_as_local(folder, other):
    """Check the tables of a submitted run against a run without a cluster, byte by byte."""
    run = start(other, {}, *TARGETS, *LOCAL)
    output = said(run)
    assert run.returncode == 0, output
    found = compare(other / "quick/results", folder / "quick/results")
    assert not found.differing
    assert len(found.same) >= len(TARGETS)


def test_the_chosen_tables_are_made_by_different_submissions():
    config = load("config.yaml", "config.quick.yaml")
    names = group_names(submissions(config, papers(), {}))
    rules = [f"{table}-table".replace("-", "_").replace("/", "_") for table in TABLES]
    assert len({names[rule][""] for rule in rules}) > 1


def test_a_cancelled_job_is_submitted_again(cluster, copy, other):
    run = start(copy, cluster.environment, *TARGETS, *SUBMITTED)
    cancelled = until(lambda: running(cluster))[0]
    cluster.ask("scancel", cancelled)
    output = said(run)
    assert run.returncode == 0, output
    groups = re.findall("Group job (batch-[0-9]+)", output)
    assert len(groups) == len(set(groups)) + 1
    assert len(submitted(output)) == len(groups)
    assert "sacct does not answer" in output
    assert_same_as_local(copy, other)


def test_the_death_of_a_node_is_survived(cluster, copy, other):
    run = start(copy, cluster.environment, *TARGETS, *SUBMITTED)
    until(lambda: running(cluster, "n1"))
    cluster.kill("n1")
    try:
        output = said(run)
        assert run.returncode == 0, output
        states = cluster.ask("sinfo", "--noheader", "--Node", "--partition=main", "--format=%N %t")
        assert "n1 down" in states
        assert_same_as_local(copy, other)
    finally:
        cluster.revive("n1")
        cluster.wait_until_ready()


def test_a_run_that_is_stopped_cancels_its_jobs_and_goes_on_later(cluster, copy):
    run = start(copy, cluster.environment, TARGETS[0], *SUBMITTED)
    until(lambda: running(cluster))
    run.terminate()
    said(run, 120)
    assert run.returncode != 0
    until(lambda: not running(cluster))
    run = start(copy, cluster.environment, TARGETS[0], *SUBMITTED)
    output = said(run)
    assert run.returncode == 0, output


def test_a_controller_that_is_down_for_a_while_is_waited_for(cluster, copy, other):
    run = start(copy, cluster.environment, *TARGETS, *SUBMITTED)
    until(lambda: running(cluster))
    cluster.stop_controller()
    try:
        time.sleep(25)
    finally:
        cluster.start_controller()
    output = said(run)
    assert run.returncode == 0, output
    assert "squeue does not tell states of jobs" in output
    assert "squeue answers again after" in output
    assert "invalid option" not in output
    assert_same_as_local(copy, other)


def test_sigterm_ends_a_run_while_the_controller_is_down(cluster, copy):
    run = start(copy, cluster.environment, TARGETS[0], *SUBMITTED)
    until(lambda: running(cluster))
    cluster.stop_controller()
    try:
        time.sleep(12)  # a look or two
        run.terminate()
        output = said(run, 60)
    finally:
        cluster.start_controller()
    assert run.returncode == 1, output
    assert not list((copy / ".snakemake/locks").glob("*"))
    remedy = re.search(r"when it answers, (scancel --name \S+)", output)
    assert remedy, output
    until(lambda: running(cluster) is not None and cluster.ask(*remedy[1].split()) == "")
    until(lambda: not running(cluster))


def test_a_failing_job_is_noticed(cluster, copy):
    module = copy / "src/dpnoise_papers/flipped_huber_2023/tables/privacy.py"
    module.write_text(module.read_text() + "\nraise RuntimeError('broken on purpose')\n")
    run = start(copy, cluster.environment, TARGETS[0], *SUBMITTED, "--retries", "0")
    output = said(run)
    assert run.returncode == 1, output
    assert "broken on purpose" in output


def test_logs_that_cannot_be_kept_are_refused_before_anything_is_submitted(cluster, copy):
    (copy / ".snakemake").mkdir()
    (copy / ".snakemake/slurm_logs").write_text("a file where the plugin wants a folder")
    run = start(copy, cluster.environment, TARGETS[0], *SUBMITTED, "--retries", "0")
    output = said(run, 120)
    assert run.returncode == 1, output
    assert "no folder for the logs of jobs at .snakemake/slurm_logs: File exists" in output
    assert not submitted(output)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--default-resources", "slurm_partition=mian"], "the nearest is 'main'"),
        (["--cores", "64", "--set-threads", "RULE=64"], "give --cores"),
        (["--default-resources", "slurm_partition=short"], "one with a longer limit"),
        (["--default-resources", "constraint=nosuch"], "Invalid feature specification"),
        (["--slurm-reservation", "nosuch"], "Requested reservation is invalid"),
    ],
)
def test_what_the_cluster_cannot_run_is_refused_before_anything_is_submitted(
    cluster, copy, options, told
):
    words = [word.replace("RULE", "flipped_huber_2023_figure_1_table") for word in options]
    run = start(copy, cluster.environment, TARGETS[0], *SUBMITTED, *words)
    output = said(run, 120)
    assert run.returncode == 1
    assert told in output
    assert not submitted(output)
    assert "Traceback" not in output


def test_a_submitted_run_gives_the_same_bytes_in_few_submissions(
    cluster, copy, other, record_property
):
    whole = os.environ["DPNOISE_SLURM"] == "whole"
    targets = [] if whole else VARIED
    mirror = os.environ.get("DPNOISE_DATA_MIRROR", "")
    run = start(copy, cluster.environment, *targets, *SUBMITTED, mirror=mirror)
    output = said(run, 3000 if whole else 900)
    assert run.returncode == 0, output[-5000:]
    reference = ROOT / "quick"
    # A whole run is compared with one that has no optional tables either, which verdicts count.
    if whole or not (reference / "results/verdicts.csv").is_file():  # no `make quick` before
        local = start(other, {}, *targets, *LOCAL, mirror=mirror)
        told = said(local, 3000 if whole else 900)
        assert local.returncode == 0, told[-5000:]
        reference = other / "quick"
    for folder in ("results", "figures"):
        found = compare(reference / folder, copy / "quick" / folder, DIFFERS)
        differing = {name: how for name, how in found.differing.items() if how != ["missing"]}
        assert not differing
        assert found.same
        assert not whole or found.differing == {}
    count = len(submitted(output))
    assert 1 < count <= MOST_SUBMISSIONS + 1
    record_property("submissions", count)
