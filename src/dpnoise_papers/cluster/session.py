"""A run on SLURM that outlives a controller that is silent for a while, and ends when it is told.

`begin` puts the commands of `dpnoise_papers.cluster.client` first on the path of this process, by
which Snakemake's plugin asks SLURM, tells the user what they have to say, and takes over SIGTERM
and SIGINT: the jobs of the run are cancelled by their common name, whatever the plugin knows of
them, and the process ends after `GRACE` seconds at most.
"""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import psutil  # comes with Snakemake

from dpnoise_papers.cluster.client import ASKED, COMMANDS, VARIABLE, Folder, ask

if TYPE_CHECKING:
    from collections.abc import Callable

GRACE = 30.0  # seconds from a signal to the end
_APART = 1.0  # seconds between two looks at what there is to tell
_ONE = 10.0  # seconds for one scancel


def begin(
    state: str | os.PathLike[str],
    asked: str,
    say: Callable[[str], object],
    unlock: Callable[[], object],
) -> Folder:
    """Let this process use the commands; return the folder of what they know.

    For the main thread only. `state` is a folder for temporary files (.snakemake), `asked` the
    command that tells states of jobs here ('squeue' or 'sacct'), `say` tells the user a line,
    `unlock` gives the folder of the run free.
    """
    folder = Folder(Path(state).resolve() / f"slurm.{os.getpid()}")
    shutil.rmtree(folder.path, ignore_errors=True)
    folder.bin.mkdir(parents=True)
    for command in COMMANDS:
        words = [sys.executable, "-m", "dpnoise_papers.cluster.client", command]
        file = folder.bin / command
        file.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
        file.chmod(0o755)
    os.environ |= {VARIABLE: str(folder.path), ASKED: asked}
    os.environ["PATH"] = os.pathsep.join([str(folder.bin), os.environ.get("PATH", "")])
    atexit.register(shutil.rmtree, folder.path, ignore_errors=True)
    threading.Thread(target=_tell, args=(folder, say), daemon=True).start()
    _take_signals(folder, say, unlock)
    return folder


def cancel(folder: Folder, until: float) -> str:
    """Cancel all jobs of the run, tried until a time (time.monotonic); the last error, or ""."""
    folder.end()
    if not folder.run:
        return ""
    while True:
        said = ask("scancel", "--name", folder.run, seconds=_ONE)
        if said.code == 0:
            return ""
        if time.monotonic() >= until:
            return said.errors.strip() or "no answer"
        time.sleep(_APART)


def _take_signals(
    folder: Folder, say: Callable[[str], object], unlock: Callable[[], object]
) -> None:
    """Cancel and end at SIGTERM and SIGINT; a second signal changes nothing."""
    ending: list[int] = []

    def at_signal(number: int, _frame: object) -> None:
        if not ending:
            ending.append(number)
            # The process waits for the first thread; the second ends it if nothing else does.
            threading.Thread(target=_cancel_all, args=(folder, say)).start()
            threading.Thread(target=_end, args=(folder, unlock), daemon=True).start()
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


def _end(folder: Folder, unlock: Callable[[], object]) -> NoReturn:
    """End this process and what it started, if that has not happened by itself."""
    time.sleep(GRACE)
    for child in psutil.Process().children(recursive=True):
        child.terminate()
    unlock()
    shutil.rmtree(folder.path, ignore_errors=True)
    os._exit(1)


def _tell(folder: Folder, say: Callable[[str], object]) -> None:
    """Hand on each line that the commands leave for the user."""
    told = 0
    while folder.path.is_dir():
        if folder.told.exists():
            lines = folder.told.read_text(encoding="utf-8").splitlines()
            for line in lines[told:]:
                say(line)
            told = len(lines)
        time.sleep(_APART)
