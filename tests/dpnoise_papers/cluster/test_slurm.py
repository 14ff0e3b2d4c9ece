"""A run on SLURM: clusters made of shell scripts, and Snakemake with its plugin on a toy of them.

tests/slurm has a real SLURM.
"""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dpnoise_papers.cluster.slurm import (
    COMMANDS,
    ClusterError,
    JobRequest,
    check_logs,
    check_requests,
    status_command,
)
from slurm_toys import install

SINFO = (
    "main*|up|2-00:00:00|8|16000|(null)\nmain*|up|2-00:00:00|64+|250000+|(null)\n"
    "gpu|up|1:00:00|16|64000|gpu:a100:4(S:0-1)\nold|inact|infinite|4|8000|(null)\n"
)


@pytest.fixture
def says(tmp_path, monkeypatch):
    """Let commands print something, or fail where they have nothing to print."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def install(**printed):
        for command in COMMANDS:
            text = printed.get(command)
            (tmp_path / f"{command}.txt").write_text(text or "")
            end = "exit 1" if text is None else ""
            told = f'while read -r line; do echo "$line"; done < {tmp_path}/{command}.txt'
            (tmp_path / command).write_text(f"#!/bin/sh\n{told}\n{end}\n")
            (tmp_path / command).chmod(0o755)

    return install


def request(**asked):
    return JobRequest(**{"name": "batch-01", "cores": 8, "memory": 4000, "minutes": 30} | asked)


def refused(*requests):
    with pytest.raises(ClusterError) as caught:
        check_requests(requests)
    return str(caught.value)


def test_accounting_that_answers_is_used(says):
    says(sacct="")
    assert status_command() == "sacct"


def test_without_accounting_the_queue_is_asked(says):
    says(scontrol="Configuration\nMinJobAge               = 300 sec\n")
    assert status_command() == "squeue"


@pytest.mark.parametrize("age", [2, 180])
def test_a_forgetful_queue_without_accounting_is_refused(says, age):
    says(scontrol=f"MinJobAge               = {age} sec\n")
    with pytest.raises(
        ClusterError, match=rf"sacct does not answer.*{age} s \(MinJobAge\).*--wrap"
    ):
        status_command()


def test_a_silent_controller_is_refused(says):
    says()
    with pytest.raises(ClusterError, match="controller does not answer"):
        status_command()


def test_missing_commands_are_all_named(says, tmp_path):
    says(sacct="")
    (tmp_path / "srun").unlink()
    (tmp_path / "sinfo").unlink()
    with pytest.raises(ClusterError, match=r"not on the path: sinfo, srun\..*make reproduce"):
        status_command()


def test_what_fits_is_accepted(says):
    says(sinfo=SINFO, sacctmgr="")
    check_requests([request(), request(cores=64, memory=250000, minutes=2880)])
    check_requests([request(partition="gpu", gpus=4, account="anything")])


def test_an_unknown_partition_is_answered_with_the_nearest(says):
    says(sinfo=SINFO)
    told = refused(request(partition="gpus"))
    assert "no partition 'gpus'" in told
    assert "the nearest is 'gpu'" in told
    assert "slurm_partition=NAME" in told
    assert "main" in refused(request(partition="xyz"))
    assert "nearest" not in refused(request(partition="xyz"))


def test_a_partition_that_is_not_up_is_unknown(says):
    says(sinfo=SINFO)
    assert "this cluster has gpu, main" in refused(request(partition="old"))


def test_no_default_partition_is_told(says):
    says(sinfo=SINFO.replace("*", ""))
    assert "no default partition" in refused(request())


def test_an_unknown_account_is_told_with_ones_own(says):
    says(sinfo=SINFO, sacctmgr="  physics\n  Statistics\n")
    check_requests([request(account="statistics")])
    assert "'chemistry' is not one of your accounts (physics, statistics)" in refused(
        request(account="chemistry")
    )


@pytest.mark.parametrize(
    ("asked", "offered", "remedy"),
    [
        ({"cores": 65}, "at most 64:", "--cores 64"),
        ({"memory": 250001}, "at most 250000:", "--resources mem_mb=250000"),
        ({"minutes": 2881}, "at most 2880:", "slurm_partition=NAME"),
        ({"gpus": 1}, "at most 0:", "slurm_partition=NAME"),
    ],
)
def test_what_no_node_offers_is_refused_with_the_remedy(says, asked, offered, remedy):
    says(sinfo=SINFO)
    told = refused(request(**asked))
    assert offered in told
    assert remedy in told


def test_all_problems_are_told_at_once(says):
    says(sinfo=SINFO, sacctmgr="physics\n")
    told = refused(request(partition="none"), request(cores=100, account="chemistry"))
    assert len(told.splitlines()) == 3


def test_a_limit_may_be_infinite(says):
    says(sinfo="all*|up|infinite|4|8000|(null)\n")
    check_requests([request(cores=4, minutes=10**6)])


INVALID = "allocation failure: Invalid feature specification"


@pytest.mark.parametrize(
    ("told", "refused"), [(INVALID, True), ("allocation failure: Requested nodes are busy", False)]
)
def test_options_that_sbatch_calls_invalid_are_refused_with_its_words(
    says, tmp_path, told, refused
):
    says(sinfo=SINFO)
    (tmp_path / "sbatch").write_text(
        f'#!/bin/sh\necho "$*" >> {tmp_path}/asked\necho "{told}" >&2\nexit 1\n'
    )
    options = {"options": ("--constraint=nosuch",), "account": "own"}
    asked = [request(**options), request(), request(**options, name="batch-02")]
    if refused:
        with pytest.raises(ClusterError, match=r"--constraint=nosuch \(batch-01\): .*" + INVALID):
            check_requests(asked)
    else:
        check_requests(asked)
    words = (tmp_path / "asked").read_text().splitlines()
    given = "--account=own --time=30 --mem=4000 --cpus-per-task=8 --constraint=nosuch"
    assert words == [f"--test-only {given} --wrap true"]


SOURCES = Path(__file__).parents[3] / "src"
SNAKEFILE = """\
import sys
sys.path.insert(0, {sources!r})
from dpnoise_papers.cluster.slurm import Groups, begin
from snakemake.logging import logger
import dpnoise_papers.cluster.slurm as slurm
slurm.GRACE, slurm._UNLOCK, slurm._ONE, slurm._UNSENT = 16.0, 12.0, 4.0, 3.0

rule made:
    output: "made"
    {resources}
    shell: {shell!r}

onstart:
    if hasattr(workflow.executor_settings, "status_command"):
        groups = Groups()
        logger.addHandler(groups)
        begin(".snakemake", "squeue", logger.warning, groups)
"""
AFTER_A_LOOK = (
    "until [ -e $TOY/looks ]; do sleep 0.1; done; sleep 1; rm $TOY/silent; touch {output}"
)
FAIL_AFTER = 150


class Toy:
    """A cluster in a folder, and a run of one job through it."""

    def __init__(self, folder):
        self.folder, self.toy = folder, folder / "toy"
        self.variables = os.environ | install(self.toy)
        (self.toy / "then-silent").touch()
        self.run = None

    def start(self, shell, resources=""):
        text = SNAKEFILE.format(sources=str(SOURCES), shell=shell, resources=resources)
        (self.folder / "Snakefile").write_text(text)
        profile = ["--executor", "slurm", "--jobs", "2", "--slurm-status-command", "squeue"]
        soon = ["--slurm-init-seconds-before-status-checks", "1", "--retries", "0"]
        self.run = subprocess.Popen(
            [sys.executable, "-m", "snakemake", *profile, *soon, "--default-resources", "mem_mb=9",
             "runtime=1"],
            cwd=self.folder, env=self.variables | {"PYTHONPATH": str(SOURCES)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def signalled_at_a_look(self, number):
        """Signal the run once it has asked the queue."""
        for _ in range(FAIL_AFTER * 5):
            if (self.toy / "looks").exists():
                return self.run.send_signal(number)
            time.sleep(0.2)
        return pytest.fail(f"no look within {FAIL_AFTER} s")

    def said(self):
        """What the run says until it ends; one that does not end fails the test."""
        try:
            return self.run.communicate(timeout=FAIL_AFTER)[0]
        except subprocess.TimeoutExpired:
            self.run.kill()
            return pytest.fail(f"the run hangs:\n{self.run.communicate()[0][-3000:]}")

    def end(self):
        self.run.kill()
        self.run.communicate()
        (self.toy / "silent").unlink(missing_ok=True)
        subprocess.run([self.toy / "bin/scancel"], env=self.variables, check=True)


def silent_for_a_while(toy):
    toy.start(AFTER_A_LOOK)
    return toy.said()


def signalled_in_silence(toy):
    toy.start("sleep 600")
    toy.signalled_at_a_look(signal.SIGTERM)
    began = time.monotonic()
    time.sleep(2)
    (toy.toy / "silent").unlink()
    output = toy.said()
    assert time.monotonic() - began < 30
    return output


def signalled_where_commands_hang(toy):
    (toy.toy / "then-silent").write_text("commands hang")
    toy.start("sleep 600")
    toy.signalled_at_a_look(signal.SIGINT)
    return toy.said()


def refused_by_sbatch(toy):
    toy.start("touch {output}", resources="resources: constraint='nosuch'")
    return toy.said()


def lost_by_the_plugin(toy):
    (toy.folder / ".snakemake").mkdir()
    (toy.folder / ".snakemake/slurm_logs").write_text("a file where the plugin wants a folder")
    toy.start("touch {output}", resources='group: "batch"')
    for line in toy.run.stdout:
        if "plugin lost 1 submission(s)" in line:
            break
    else:
        pytest.fail("the run ended without a word")
    toy.run.send_signal(signal.SIGINT)
    return toy.said()


RUNS = (
    silent_for_a_while, signalled_where_commands_hang, signalled_in_silence, lost_by_the_plugin,
    refused_by_sbatch,
)  # fmt: skip


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Toy of a run, and what it said; all go on side by side, as they wait most of the time."""
    toys = {run: Toy(tmp_path_factory.mktemp("cluster")) for run in RUNS}
    with ThreadPoolExecutor(len(RUNS)) as pool:
        outputs = {run: pool.submit(run, toy) for run, toy in toys.items()}
        yield lambda run: (toys[run], outputs[run].result())
    for toy in toys.values():
        toy.end()


def test_a_queue_that_fails_for_a_while_is_waited_for(ran):
    toy, output = ran(silent_for_a_while)
    assert toy.run.returncode == 0, output
    assert "squeue does not tell states of jobs (slurm error: Unable to contact" in output
    assert "squeue answers again after" in output
    assert "invalid option" not in output
    assert not list((toy.folder / ".snakemake").glob("slurm.*"))


def test_a_signal_ends_a_run_while_the_queue_fails(ran):
    toy, output = ran(signalled_in_silence)
    assert toy.run.returncode == 1, output
    assert "--name" in (toy.toy / "cancelled").read_text()
    assert not list((toy.folder / ".snakemake/locks").glob("*"))
    assert "could not be cancelled" not in output


def test_jobs_that_cannot_be_cancelled_are_told_and_the_run_ends(ran):
    toy, output = ran(signalled_where_commands_hang)
    assert toy.run.returncode == 1, output
    assert "could not be cancelled (no answer within 4 s)" in output
    assert "when it answers, scancel --name" in output
    assert not list((toy.folder / ".snakemake/locks").glob("*"))


def test_the_reason_of_sbatch_reaches_the_user(ran):
    toy, output = ran(refused_by_sbatch)
    assert toy.run.returncode == 1
    assert "sbatch refuses rule_made: sbatch: error: Batch job submission failed: Invalid" in output


def test_a_group_that_the_plugin_loses_is_told_and_the_run_can_be_ended(ran):
    toy, output = ran(lost_by_the_plugin)
    assert toy.run.returncode == 1, output


def test_a_folder_of_logs_that_cannot_be_made_is_refused(tmp_path):
    check_logs(tmp_path / "one/two")
    assert (tmp_path / "one/two").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(ClusterError, match=r"no folder for the logs.*file: File exists; remove"):
        check_logs(tmp_path / "file")
