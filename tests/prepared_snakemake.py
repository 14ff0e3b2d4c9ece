"""Starts of Snakemake that share its imports, more than half of what a start costs.

Run as a program this imports Snakemake and its plugins, nothing of the package, and reads requests;
for each it forks, and the child is `python -m snakemake` in a folder, with arguments and an
environment of its own. The jobs of such a run are processes with imports of their own.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 300  # then a start is killed


class Starts:
    """Snakemake as often as it is asked for; the process that imports it starts with the first."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        self.process: subprocess.Popen[str] | None = None

    def begin(self, folder: Path, arguments: list[str], output: Path, **variables: str) -> int:
        """Process, a group of its own, of `python -m snakemake` in a folder; `wait` for its end.

        What it says is in a file.
        """
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, __file__], env=self.environment, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
        asked = {"folder": str(folder), "arguments": arguments, "output": str(output)}
        asked["environment"] = self.environment | variables
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def wait(self) -> tuple[int, float]:
        """Exit code of what was begun, and its processor seconds, with those of its jobs."""
        code, seconds = self.process.stdout.readline().split()
        return int(code), float(seconds)

    def end(self) -> None:
        """End the process, if it was started."""
        if self.process is not None:
            self.process.communicate(timeout=SECONDS)
            self.process = None


def become_snakemake(
    folder: str, arguments: list[str], output: str, environment: dict[str, str]
) -> None:
    """Do in a forked process what `python -m snakemake` does, and leave as it does."""
    os.setsid()
    signal.alarm(SECONDS)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.dup2(1, 2)
    sys.path[0], sys.argv = folder, ["snakemake", *arguments]
    runpy.run_module("snakemake", run_name="__main__", alter_sys=True)
    sys.exit()


def serve() -> None:
    """Answer each line of the input with the process of a start, then its exit code and time."""
    import grimp  # noqa: F401 - as each start imports it, and what follows
    import nbformat  # noqa: F401
    import requests  # noqa: F401
    import smart_open  # noqa: F401
    from snakemake.cli import get_argument_parser

    get_argument_parser()  # which imports the plugins
    gc.freeze()  # what is imported is no garbage of a start
    for line in sys.stdin:
        child = os.fork()
        if not child:
            become_snakemake(**json.loads(line))
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        _, status, used = os.wait4(child, 0)
        code, seconds = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        sys.stdout.write(f"{code} {seconds}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
