"""`sbatch`, `squeue` and `sacct` as Snakemake's plugin finds them, where SLURM fails for a while.

A look of the plugin at which squeue or sacct fails makes it forget all its jobs, and the run waits
for ever (docs/slurm-report.md). The run therefore has commands of these names first on its path
(dpnoise_papers.cluster.slurm). Each runs the real one, and adds this:

- `squeue` and `sacct`: where the real one fails or does not end, no state is told (an empty list,
  exit 0), and the plugin keeps its jobs until its next look. A job that squeue has forgotten while
  nobody could ask is told as FAILED, so that it is made again. States are single words: the plugin
  does not know 'CANCELLED by 1000'. On a cluster without accounting `sacct` asks squeue.
- `sbatch`: where the controller does not answer, it tries again; a refusal is told to the run.
- the plugin's guess of an account is answered with none: that of the cluster is used.

Only the standard library is imported: each look starts an interpreter.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

VARIABLE = "DPNOISE_SLURM"  # folder in which the commands of one run leave what they know
ASKED = "DPNOISE_SLURM_STATES"  # the command that tells states of jobs on this cluster
COMMANDS = ("sbatch", "squeue", "sacct")
LOST_AFTER = 60.0  # seconds for which squeue has not listed a job before that counts as its end
PATIENCE = 600.0  # seconds for which a submission is tried
_APART = 5.0  # seconds between two trials
_LOOK = 20.0  # seconds for one look; the plugin gives up after 60
_SUBMISSION = 120.0  # seconds for one sbatch
_NO_ACCOUNT = "|"  # the plugin's guess holds a pipe, though no shell reads it
_OPTIONS = {
    "squeue": ("--noheader", "--states=all", "--format=%i|%T"),
    "sacct": (
        "-X",
        "--parsable2",
        "--noheader",
        "--format=JobIdRaw,State",
        "--starttime=now-2days",
    ),
}
_ENDED = {
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY",
    "TIMEOUT",
}  # fmt: skip
_SILENT = re.compile(
    r"unable to contact|timed out|connection (refused|reset)|zero bytes|standby mode"
    r"|(message|socket|send|receive|connect|shutdown) fail|communication|temporarily unable"
    r"|resource temporarily unavailable|unable to (establish|resolve)|munge",
    re.IGNORECASE,
)


class Said(NamedTuple):
    """What a command answered: exit code (None if it did not end), output, errors."""

    code: int | None
    output: str
    errors: str


class Seen(NamedTuple):
    """What looks have shown: states by job, when jobs were missed first, the first failed look.

    Times are seconds since 1970; `silent` is 0 where the last look did not fail.
    """

    states: dict[str, str]
    missed: dict[str, float]
    silent: float


@dataclass(frozen=True)
class Folder:
    """What the commands of one run know of its jobs, in files of one folder."""

    path: Path

    @property
    def bin(self) -> Path:
        """Folder of the commands of this module."""
        return self.path / "bin"

    @property
    def told(self) -> Path:
        """Lines for the user of the run."""
        return self.path / "told"

    def tell(self, line: str) -> None:
        """Add a line for the user."""
        self._add("told", " ".join(line.split()))

    def has_ended(self) -> bool:
        """Whether the run has ended, so that nothing is submitted any more."""
        return not self.bin.is_dir() or (self.path / "ended").exists()

    def end(self) -> None:
        """Let nothing be submitted from now on."""
        (self.path / "ended").touch()

    @property
    def run(self) -> str:
        """Name that all jobs of the run have, or "" before the first submission."""
        return next(iter(self._lines("run")), "")

    @property
    def tried(self) -> tuple[int, int]:
        """Numbers of submissions that sbatch was asked for, and that were answered."""
        return len(self._lines("run")), len(self._lines("answered"))

    @property
    def submitted(self) -> list[str]:
        """Ids of the jobs of the run."""
        return self._lines("submitted")

    def name(self, run: str) -> None:
        """Remember the name of the run, before its first job has an id."""
        self._add("run", run)

    def add(self, job: str) -> None:
        """Remember a job that was submitted."""
        self._add("submitted", job)

    def answer(self) -> None:
        """Remember that a submission was answered."""
        self._add("answered", "yes")

    def seen(self) -> Seen:
        """What earlier looks have shown."""
        try:
            return Seen(**json.loads((self.path / "seen.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return Seen({}, {}, 0.0)

    def keep(self, seen: Seen) -> None:
        """Replace what looks have shown."""
        new = self.path / f"seen.{os.getpid()}"
        new.write_text(json.dumps(seen._asdict()), encoding="utf-8")
        new.replace(self.path / "seen.json")

    def _lines(self, name: str) -> list[str]:
        try:
            return (self.path / name).read_text(encoding="utf-8").split()
        except OSError:
            return []

    def _add(self, name: str, line: str) -> None:
        with (self.path / name).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def ask(*command: str, seconds: float, script: str = "") -> Said:
    """Answer of a command of SLURM itself, past the commands of this module."""
    path = real_path()
    found = shutil.which(command[0], path=path)
    if found is None:
        return Said(127, "", f"{command[0]}: not on the path")
    try:
        done = subprocess.run(  # noqa: S603
            [found, *command[1:]],
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
            input=script,
            env=os.environ | {"PATH": path},
        )
    except subprocess.TimeoutExpired:
        return Said(None, "", f"no answer within {seconds:.0f} s")
    return Said(done.returncode, done.stdout, done.stderr)


def real_path() -> str:
    """Search path without the commands of this module."""
    folder = os.environ.get(VARIABLE)
    own = str(Folder(Path(folder)).bin) if folder else None
    return os.pathsep.join(
        part for part in os.environ.get("PATH", "").split(os.pathsep) if part != own
    )


def look(arguments: Sequence[str], folder: Folder) -> str:
    """Lines 'id|state' that a look at the jobs of the run shows; none where it shows nothing.

    `arguments` are those of the plugin for the command that tells states on this cluster.
    """
    command = os.environ[ASKED]
    before = set(folder.submitted)  # a job submitted later may be missing in the answer
    said = ask(command, *arguments, seconds=_LOOK)
    seen, now = folder.seen(), time.time()
    if said.code != 0:
        if not seen.silent:
            folder.tell(
                f"SLURM: {command} does not tell states of jobs ({said.errors.strip()[-200:]}); "
                "the run goes on and asks again"
            )
        folder.keep(seen._replace(silent=seen.silent or now))
        return ""
    if seen.silent:
        folder.tell(f"SLURM: {command} answers again after {now - seen.silent:.0f} s")
    pairs = [line.strip().split("|") for line in said.output.splitlines() if "|" in line]
    shown = {pair[0]: (pair[1].split() or [""])[0] for pair in pairs}
    missed: dict[str, float] = {}
    if command == "squeue":
        missing = sorted(before - shown.keys())
        missed = {job: seen.missed.get(job, now) for job in missing}
        for job in missing:
            if seen.states.get(job) in _ENDED:
                shown[job] = seen.states[job]
            elif now - missed[job] >= LOST_AFTER:
                shown[job] = "FAILED"
                folder.tell(
                    f"SLURM: job {job} ended unseen, and squeue has forgotten it: taken as failed"
                )
    folder.keep(Seen(seen.states | shown, missed, 0.0))
    return "".join(f"{job}|{state}\n" for job, state in shown.items())


def submit(arguments: Sequence[str], folder: Folder, script: str = "") -> Said:
    """Answer of sbatch, tried again while the controller does not answer."""
    run, comment = (_value(arguments, name) for name in ("--job-name", "--comment"))
    folder.name(run)
    until, waited = time.monotonic() + PATIENCE, False
    # ends: trials end with an error after PATIENCE s
    while True:
        if folder.has_ended():
            return Said(1, "", "the run has ended, nothing is submitted any more")
        said = ask("sbatch", *arguments, seconds=_SUBMISSION, script=script)
        silent = said.code is None or (said.code != 0 and bool(_SILENT.search(said.errors)))
        if silent and (job := _accepted(run, comment, folder)):
            said = Said(0, f"{job}\n", "")
        if said.code == 0:
            job, _, elsewhere = said.output.strip().partition(";")
            if not elsewhere:  # squeue lists the jobs of this cluster only
                folder.add(job)
            if folder.has_ended():
                ask("scancel", job, seconds=_LOOK)
            return said
        if not silent or time.monotonic() >= until:
            folder.tell(f"SLURM: sbatch refuses {comment}: {said.errors.strip()[-500:]}")
            return said
        if not waited:
            folder.tell(
                f"SLURM: sbatch fails for {comment} ({said.errors.strip()[-200:]}); "
                f"it is tried again for {PATIENCE / 60:.0f} minutes"
            )
        waited = True
        time.sleep(_APART)


def main(command: str, arguments: Sequence[str]) -> int:
    """Run one of the commands as the plugin calls it; return its exit code."""
    folder = Folder(Path(os.environ[VARIABLE]))
    if command == "sbatch":
        said = submit(arguments, folder, "" if sys.stdin.isatty() else sys.stdin.read())
        folder.answer()
        if said.code is None:
            said = said._replace(code=1)
    elif "--name" in arguments:
        if command != os.environ[ASKED]:  # the plugin's choice may be one that cannot answer
            arguments = [*_OPTIONS[os.environ[ASKED]], "--name", _value(arguments, "--name")]
        said = Said(0, look(arguments, folder), "")
    elif _NO_ACCOUNT in arguments:
        said = Said(0, "", "")
    else:
        os.execvpe(command, [command, *arguments], os.environ | {"PATH": real_path()})  # noqa: S606
    sys.stdout.write(said.output)
    sys.stderr.write(said.errors)
    return said.code or 0


def _accepted(run: str, comment: str, folder: Folder) -> str:
    """Id of a job that sbatch made though it failed, or ""."""
    told = ask(
        "squeue", "--noheader", "--states=all", "--name", run, "--format=%i|%k", seconds=_LOOK
    )
    known = set(folder.submitted)
    pairs = [line.strip().split("|", 1) for line in told.output.splitlines() if "|" in line]
    return next((job for job, of in pairs if of == comment and job not in known), "")


def _value(arguments: Sequence[str], name: str) -> str:
    """What follows an option, or ""."""
    return next((after for one, after in pairwise(arguments) if one == name), "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
