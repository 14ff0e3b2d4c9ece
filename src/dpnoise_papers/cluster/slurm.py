"""A run on SLURM: what the cluster offers, looked at beforehand, and an end when the run is told.

Snakemake's plugin submits first and learns later: an unknown partition fails once for each
submission, one that no node can hold waits in the queue for ever, and where no accounting
database keeps the states of jobs, the run waits for an answer that never comes. So the workflow
asks here first (workflow/rules/cluster.smk) and stops with every problem and its remedy.

A run outlives a controller that is silent for a while. `begin` puts the commands of
`dpnoise_papers.cluster.client` first on the path of this process, by which the plugin asks SLURM,
tells the user what they have to say, and takes over SIGTERM and SIGINT: the jobs of the run are
cancelled by their common name, whatever the plugin knows of them, and the process ends after
`GRACE` seconds at most.
"""

from __future__ import annotations

import atexit
import getpass
import logging
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import psutil  # comes with Snakemake

from dpnoise_papers.cluster import client
from dpnoise_papers.cluster.client import ASKED, VARIABLE, Folder, ask
from dpnoise_papers.run.start import event_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

COMMANDS = ("sbatch", "squeue", "scancel", "sinfo", "scontrol", "sacct", "sacctmgr", "srun")
LONGEST_PAUSE = 180  # seconds between two looks of the plugin at the states of its jobs
_PATIENCE = 30  # seconds for one answer
_ONE_NODE = "without it, run on one node: sbatch --cpus-per-task=8 --wrap 'make reproduce CORES=8'"
_SACCT = (
    "sacct --allocations --noheader --parsable2 --clusters all --format JobIdRaw,State --name -"
)
GRACE = 30.0  # seconds from a signal to the end
_UNLOCK = 8.0  # of which, seconds for giving the folder of the run free
_APART = 1.0  # seconds between two looks at what there is to tell
_ONE = 10.0  # seconds for one scancel
_UNSENT = 60.0  # seconds after which a submission that never came to sbatch is told


class ClusterError(Exception):
    """Nothing can be submitted, with every reason and its remedy."""


@dataclass(frozen=True, kw_only=True)
class JobRequest:
    """What one submission asks for; memory is in MB, an empty text the default of the cluster."""

    name: str
    cores: int
    memory: int
    minutes: int
    gpus: int = 0
    partition: str = ""
    account: str = ""
    options: tuple[str, ...] = ()  # of sbatch, such as '--constraint=avx512'


@dataclass(frozen=True, kw_only=True)
class Nodes:
    """Nodes of one kind in a partition; `minutes` is the limit of its jobs."""

    partition: str
    default: bool
    minutes: float
    cores: int
    memory: int
    gpus: int


def status_command() -> str:
    """Command that tells states of jobs on this cluster: 'sacct' if it answers, else 'squeue'.

    ClusterError if there is no SLURM, or neither can be relied on: without accounting squeue
    forgets a job MinJobAge seconds after its end, maybe before it is looked at.
    """
    missing = [command for command in COMMANDS if shutil.which(command) is None]
    if missing:
        raise ClusterError(
            f"SLURM: not on the path: {', '.join(missing)}. Expected on the login node of a SLURM "
            "cluster; load its module there, or run without a cluster: make reproduce"
        )
    if _answer(*_SACCT.split()) is not None:
        return "sacct"
    told = _answer("scontrol", "show", "config")
    if told is None:
        raise ClusterError(
            "SLURM: its controller does not answer ('scontrol show config' fails); "
            f"try again later, or, {_ONE_NODE.removeprefix('without it, ')}"
        )
    age = re.search(r"^MinJobAge\s*=\s*(\d+)", told, re.MULTILINE)
    if age and int(age[1]) > LONGEST_PAUSE:
        return "squeue"
    raise ClusterError(
        "SLURM: nothing here tells how a job ended: sacct does not answer (no accounting database) "
        f"and squeue forgets it after {age[1] if age else 'unknown'} s (MinJobAge), expected more "
        f"than {LONGEST_PAUSE}. Ask for one of the two; {_ONE_NODE}"
    )


def check_logs(folder: str | os.PathLike[str]) -> None:
    """Make the folder of the plugin's logs; ClusterError if that cannot be.

    The plugin finds out at a submission, where it loses the error of jobs that share one.
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ClusterError(
            f"SLURM: no folder for the logs of jobs at {folder}: {error.strerror}; remove what is "
            "there, or give --slurm-logdir FOLDER"
        ) from None


def check_requests(requests: Iterable[JobRequest]) -> None:
    """Refuse submissions that this cluster would never run.

    ClusterError with every problem: unknown partitions and accounts, more cores, memory, GPUs
    or time than any node of the partition offers, and options that sbatch calls invalid.
    """
    asked = list(requests)
    told = _answer("sinfo", "--noheader", "--exact", "--format", "%P|%a|%l|%c|%m|%G")
    if told is None:
        raise ClusterError("SLURM: 'sinfo' does not answer; try again later")
    nodes = [node for line in told.splitlines() if (node := _nodes(line))]
    problems = _unknown_accounts({one.account for one in asked} - {""})
    for partition in sorted({one.partition for one in asked}):
        own = [n for n in nodes if (n.partition == partition if partition else n.default)]
        if own:
            problems += _too_large([one for one in asked if one.partition == partition], own)
        else:
            problems.append(_unknown_partition(partition, sorted({n.partition for n in nodes})))
    problems += _invalid({one.options: one for one in reversed(asked)}.values())
    if problems:
        raise ClusterError("\n".join(f"SLURM: {problem}" for problem in problems))


def _invalid(asked: Iterable[JobRequest]) -> Iterator[str]:
    """What sbatch says on options that it would refuse, without a submission.

    Other answers of --test-only, such as nodes that are down, may be otherwise in a minute.
    """
    for one in asked:
        if not one.options:
            continue
        named: dict[str, str | int] = {
            "partition": one.partition, "account": one.account, "time": one.minutes,
            "mem": one.memory, "cpus-per-task": one.cores,
        }  # fmt: skip
        given = [f"--{name}={value}" for name, value in named.items() if value]
        command = ["sbatch", "--test-only", *given, *one.options, "--wrap", "true"]
        try:
            done = subprocess.run(  # noqa: S603
                command, capture_output=True, text=True, check=False, timeout=_PATIENCE
            )
        except (OSError, subprocess.SubprocessError):
            continue
        told = done.stderr.strip()
        if done.returncode != 0 and "invalid" in told.lower():
            yield f"sbatch refuses {' '.join(one.options)} ({one.name}): {told}"


def _answer(*command: str) -> str | None:
    """What a command prints, or None if it fails or does not end."""
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=True, timeout=_PATIENCE
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def _nodes(line: str) -> Nodes | None:
    """One line of sinfo, or None for a partition that is not up."""
    partition, state, limit, cores, memory, gres = line.strip().split("|")
    if state != "up":
        return None
    return Nodes(
        partition=partition.removesuffix("*"),
        default=partition.endswith("*"),
        minutes=_minutes(limit),
        cores=int(cores.rstrip("+")),
        memory=int(memory.rstrip("+")),
        gpus=sum(int(found) for found in re.findall(r"gpu(?::[^:,(]+)?:(\d+)", gres)),
    )


def _minutes(limit: str) -> float:
    """Minutes of a limit such as '2-00:00:00', '1:00:00', '30:00' or 'infinite'."""
    if not limit[:1].isdigit():
        return float("inf")
    days, _, clock = limit.rpartition("-")
    hours, minutes, seconds = ([0, 0, 0] + [int(part) for part in clock.split(":")])[-3:]
    return int(days or 0) * 1440 + hours * 60 + minutes + seconds / 60


def _unknown_partition(partition: str, known: Sequence[str]) -> str:
    nearest = get_close_matches(partition, known, n=1, cutoff=0.5)
    listed = ", ".join(known) or "none that is up"
    said = f"no partition {partition!r}" if partition else "no default partition"
    hint = f", the nearest is {nearest[0]!r}" if nearest else ""
    give = "give --default-resources slurm_partition=NAME"
    return f"{said}; this cluster has {listed}{hint}: {give}"


def _unknown_accounts(accounts: set[str]) -> list[str]:
    """Problems with accounts; none where the cluster keeps no list of them."""
    if not accounts:
        return []
    told = _answer("sacctmgr", "-n", "-s", "list", "user", getpass.getuser(), "format=account%256")
    own = {line.strip().lower() for line in (told or "").splitlines()} - {""}
    give = "give --default-resources slurm_account=NAME"
    return [
        f"{account!r} is not one of your accounts ({', '.join(sorted(own))}): {give}"
        for account in sorted(accounts)
        if own and account.lower() not in own
    ]


def _too_large(asked: Sequence[JobRequest], nodes: Sequence[Nodes]) -> list[str]:
    """Problems of submissions to one partition, each told once for the largest of them."""
    problems = []
    for what, unit, remedy in (
        ("cores", "cores", "--cores {most}"),
        ("memory", "MB", "--resources mem_mb={most}"),
        ("gpus", "GPUs", "--set-resources RULE:slurm_partition=NAME, one that has them"),
        ("minutes", "minutes", "--default-resources slurm_partition=NAME, one with a longer limit"),
    ):
        largest = max(asked, key=attrgetter(what))
        want, most = getattr(largest, what), max(map(attrgetter(what), nodes))
        if want > most:
            problems.append(
                f"{largest.name} asks for {want} {unit}, partition {nodes[0].partition!r} has at "
                f"most {most:.0f}: give {remedy.format(most=f'{most:.0f}')}"
            )
    return problems


class Groups(logging.Handler):
    """Listener to Snakemake's logger that counts the groups of jobs that it gives to the plugin."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count a group."""
        self.count += event_of(record) == "group_info"


def begin(
    state: str | os.PathLike[str], asked: str, say: Callable[[str], object], groups: Groups
) -> Folder:
    """Let this process use the commands; return the folder of what they know.

    For the main thread only. `state` is a folder for temporary files (.snakemake), `asked` the
    command that tells states of jobs here ('squeue' or 'sacct'), `say` tells the user a line,
    `groups` listens to Snakemake.
    """
    folder = Folder(Path(state).resolve() / f"slurm.{os.getpid()}")
    shutil.rmtree(folder.path, ignore_errors=True)
    folder.bin.mkdir(parents=True)
    for command in client.COMMANDS:
        words = [sys.executable, "-m", "dpnoise_papers.cluster.client", command]
        file = folder.bin / command
        file.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
        file.chmod(0o755)
    os.environ |= {VARIABLE: str(folder.path), ASKED: asked}
    os.environ["PATH"] = os.pathsep.join([str(folder.bin), os.environ.get("PATH", "")])
    atexit.register(shutil.rmtree, folder.path, ignore_errors=True)
    threading.Thread(target=_tell, args=(folder, say, groups), daemon=True).start()
    _take_signals(folder, say)
    return folder


def cancel(folder: Folder, until: float) -> str:
    """Cancel all jobs of the run, tried until a time (time.monotonic); the last error, or ""."""
    folder.end()
    if not folder.run:
        return ""
    # ends: trials end at a time that is given
    while True:
        said = ask("scancel", "--name", folder.run, seconds=_ONE)
        if said.code == 0:
            return ""
        if time.monotonic() >= until:
            return said.errors.strip() or "no answer"
        time.sleep(_APART)


def _take_signals(folder: Folder, say: Callable[[str], object]) -> None:
    """Cancel and end at SIGTERM and SIGINT; a second signal changes nothing."""
    ending: list[int] = []

    def at_signal(number: int, _frame: object) -> None:
        if not ending:
            ending.append(number)
            # The process waits for the first thread; the second ends it if nothing else does.
            threading.Thread(target=_cancel_all, args=(folder, say)).start()
            threading.Thread(target=_end, args=(folder,), daemon=True).start()
            raise KeyboardInterrupt  # Snakemake cancels what it knows, and ends

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, at_signal)


def _cancel_all(folder: Folder, say: Callable[[str], object]) -> None:
    """Cancel the jobs of the run, or tell how."""
    failed = cancel(folder, time.monotonic() + GRACE - _ONE)
    if failed:
        say(
            f"SLURM: the jobs of this run could not be cancelled ({failed}): when it answers, "
            f"scancel --name {folder.run}"
        )


def _end(folder: Folder) -> NoReturn:
    """End this process and what it started, if that has not happened by itself."""
    until = time.monotonic() + GRACE
    time.sleep(GRACE - _UNLOCK)
    with suppress(OSError, subprocess.SubprocessError):
        empty = folder.path / "Snakefile"
        empty.touch()
        words = [sys.executable, "-m", "snakemake", "--snakefile", str(empty), "--unlock"]
        subprocess.run(words, capture_output=True, check=False, timeout=_UNLOCK)  # noqa: S603
    time.sleep(max(until - time.monotonic(), 0.0))
    for child in psutil.Process().children(recursive=True):
        child.terminate()
    shutil.rmtree(folder.path, ignore_errors=True)
    os._exit(1)


def _tell(folder: Folder, say: Callable[[str], object], groups: Groups) -> None:
    """Hand on each line that the commands leave for the user, and tell of lost submissions.

    The plugin loses the error of a group that it fails to submit before it asks sbatch, so that
    the run would wait for it without a word.
    """
    told, lost, since = 0, 0, time.monotonic()
    # ends: a thread that ends with its process
    while folder.path.is_dir():
        tried, answered = folder.tried
        unsent = groups.count - tried
        if unsent <= lost or tried > answered:
            since = time.monotonic()
        elif time.monotonic() - since >= _UNSENT:
            lost = unsent
            say(
                f"SLURM: Snakemake's plugin lost {lost} submission(s) before sbatch was asked, and"
                " waits for them. When the other jobs have ended (squeue --me), end the run with"
                " Ctrl-C and start it again"
            )
        if folder.told.exists():
            lines = folder.told.read_text(encoding="utf-8").splitlines()
            for line in lines[told:]:
                say(line)
            told = len(lines)
        time.sleep(_APART)
