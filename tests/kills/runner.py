"""Kill a run at random times, in random ways, and see that it resumes to the same bytes.

A subset of the pipeline at quick scale is run once in peace. Then runs of it are killed, each at a
time drawn from the duration of the first: one job, Snakemake alone (its jobs live on), or all of
them by SIGKILL, and all or Snakemake alone by the signals of a closed terminal, a Ctrl-C and a
shutdown. After each kill no result may be other than whole. Where much or all is made, some or all
of it is removed, so that the next run has work. At last a run in peace must end with the bytes
of the first, and leave nothing beside them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import psutil

from pipeline_copy import command, environment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

PAPERS = {
    "flipped-huber-2023": ("figure-1.svg", "figure-2.svg"),
    "inid-2024": ("figure-1a.svg", "figure-2.svg"),
    "balle-wang-2018": ("figure-1a.svg",),
}
TARGETS = (
    "data/prepared/diabetes.npz",
    "quick/results/flipped-huber-2023/table-3/diabetes.csv",
    *(f"quick/figures/{paper}/{name}" for paper, names in PAPERS.items() for name in names),
)
FOLDERS = ("quick/results", "quick/figures", "data/prepared")
WAYS = {
    "a job by SIGKILL": ("job", signal.SIGKILL),
    "Snakemake by SIGKILL": ("leader", signal.SIGKILL),
    "all by SIGKILL": ("group", signal.SIGKILL),
    "all by SIGINT": ("group", signal.SIGINT),
    "Snakemake by SIGTERM": ("leader", signal.SIGTERM),
    "all by SIGHUP": ("group", signal.SIGHUP),
}
_LIMIT = 900.0  # seconds for one run


class Report(NamedTuple):
    """Kills by way, how often a lock had to be removed, files compared, and what went wrong."""

    kills: dict[str, int]
    unlocked: int
    files: int
    wrong: list[str]


def run(folder: Path, *, seed: int, kills: int, tell: Callable[[str], None]) -> Report:
    """Kill runs in a copy of the repository, `kills` times."""
    start = time.monotonic()
    _finish(folder, TARGETS)
    duration = time.monotonic() - start
    expected = _digests(folder)
    targets = sorted(expected)  # each by name, since any may be removed below
    tell(f"in peace: {duration:.0f} s, {len(expected)} files; seed {seed}")
    _remove(folder, targets)
    report = Report(dict.fromkeys(WAYS, 0), 0, len(expected), [])
    groups: list[int] = []
    try:
        for attempt in range(10 * kills):
            number = sum(report.kills.values())
            if number == kills:
                break
            rng = np.random.default_rng([seed, attempt])
            way = list(WAYS)[number % len(WAYS)]
            report = report._replace(unlocked=report.unlocked + _unlock(folder))
            killed = _killed(folder, targets, WAYS[way], duration * rng.uniform(0.02, 0.9), groups)
            report.kills[way] += killed
            found = _digests(folder)
            wrong = [name for name in found if found[name] != expected.get(name)]
            report.wrong.extend(f"after kill {number + 1} ({way}): {name}" for name in wrong)
            if wrong:
                tell(f"not whole: {', '.join(wrong)}")
            tell(f"{number + killed}: {way if killed else 'ended before its time'}, "
                 f"{len(found)} of {len(expected)} files")  # fmt: skip
            if not killed:
                _remove(folder, sorted(found))
            elif len(found) > len(expected) / 2:
                _remove(folder, sorted(rng.permutation(sorted(found))[: len(found) // 2]))
    except BaseException:
        for group in groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
        raise
    _wait(groups)
    report = report._replace(unlocked=report.unlocked + _unlock(folder))
    _finish(folder, targets)
    found = _digests(folder, hidden=True)
    for name in sorted({*found, *expected}):
        if found.get(name) != expected.get(name):
            how = "missing" if name not in found else "other bytes or no result"
            report.wrong.append(f"at last: {name}: {how}")
    return report


def _killed(
    folder: Path,
    targets: Sequence[str],
    how: tuple[str, signal.Signals],
    delay: float,
    groups: list[int],
) -> bool:
    """Start a run and kill it after a while; whether it was still running then."""
    whom, by = how
    log = folder / "killed.log"
    with log.open("w", encoding="utf-8") as stream:
        process = subprocess.Popen(
            command(*targets, cores=2, files=("config.quick.yaml",)),
            cwd=folder, env=environment(), stdout=stream, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
    groups.append(process.pid)
    try:
        process.wait(timeout=delay)
    except subprocess.TimeoutExpired:
        pass
    else:
        if process.returncode:
            raise RuntimeError(f"a run failed by itself:\n{log.read_text(encoding='utf-8')}")
        return False
    if whom == "group":
        os.killpg(process.pid, by)
    elif whom == "leader":
        process.send_signal(by)
    elif not _kill_a_job(process, by):
        process.kill()  # nothing where it has ended meanwhile
        process.wait()
        return False
    process.wait(timeout=_LIMIT)
    return True


def _kill_a_job(process: subprocess.Popen[bytes], by: signal.Signals) -> bool:
    """Kill a script of a run, when there is one; whether one was killed."""
    end = time.monotonic() + _LIMIT
    while process.poll() is None and time.monotonic() < end:
        for child in _children(process):
            try:
                if any(".snakemake/scripts" in word for word in child.cmdline()):
                    child.send_signal(by)
                    return True
            except psutil.Error:
                continue
        time.sleep(0.05)
    return False


def _children(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Processes that a run has started, none where it has ended meanwhile."""
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def _finish(folder: Path, targets: Sequence[str]) -> None:
    """Run to the end."""
    done = subprocess.run(
        command(*targets, cores=2, files=("config.quick.yaml",)),
        cwd=folder, env=environment(), capture_output=True, text=True, check=False,
        timeout=_LIMIT,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"a run in peace failed:\n{done.stdout}{done.stderr}")


def _unlock(folder: Path) -> bool:
    """Remove the lock that a killed run left, as its message says; whether there was one."""
    if not any((folder / ".snakemake" / "locks").glob("*")):
        return False
    done = subprocess.run(
        command("--unlock"), cwd=folder, env=environment(), capture_output=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"unlocking failed: {done.stderr.decode()}")
    return True


def _wait(groups: list[int]) -> None:
    """Wait for the jobs that outlived their Snakemake."""
    end = time.monotonic() + _LIMIT
    while groups and time.monotonic() < end:
        try:
            os.killpg(groups[-1], 0)
            time.sleep(0.2)
        except (ProcessLookupError, PermissionError):
            groups.pop()


def _digests(folder: Path, *, hidden: bool = False) -> dict[str, str]:
    """Digests (sha256) of all results and prepared data by path."""
    found = {}
    for place in FOLDERS:
        for path in sorted((folder / place).rglob("*")):
            if path.is_file() and (hidden or path.name[0] != "."):
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                found[path.relative_to(folder).as_posix()] = digest
    return found


def _remove(folder: Path, names: list[str]) -> None:
    """Remove results, so that the next run has work."""
    for name in names:
        (folder / name).unlink()
    shutil.rmtree(folder / "quick" / "logs", ignore_errors=True)
