"""What a SLURM cluster offers, looked at before anything is submitted.

Snakemake's plugin submits first and learns later: an unknown partition fails once for each
submission, one that no node can hold waits in the queue for ever, and where no accounting
database keeps the states of jobs, the run waits for an answer that never comes. So the workflow
asks here first (workflow/rules/cluster.smk) and stops with every problem and its remedy.
"""

from __future__ import annotations

import getpass
import re
import shutil
import subprocess
from dataclasses import dataclass
from difflib import get_close_matches
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

COMMANDS = ("sbatch", "squeue", "scancel", "sinfo", "scontrol", "sacct", "sacctmgr", "srun")
LONGEST_PAUSE = 180  # seconds between two looks of the plugin at the states of its jobs
_PATIENCE = 30  # seconds for one answer
_ONE_NODE = "without it, run on one node: sbatch --cpus-per-task=8 --wrap 'make reproduce CORES=8'"
_SACCT = (
    "sacct --allocations --noheader --parsable2 --clusters all --format JobIdRaw,State --name -"
)


class ClusterError(Exception):
    """Nothing can be submitted, with every reason and its remedy."""


@dataclass(frozen=True, kw_only=True)
class Request:
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


def check_requests(requests: Iterable[Request]) -> None:
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


def _invalid(asked: Iterable[Request]) -> Iterator[str]:
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


def _too_large(asked: Sequence[Request], nodes: Sequence[Nodes]) -> list[str]:
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
