"""One library asked the questions of a task, in its own environment, by a process to kill."""

from __future__ import annotations

import json
import math
import os
import select
import subprocess
import venv
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
PATIENCE = 10.0  # processor seconds after which a question counts as never answered
ASLEEP = 120.0  # seconds of wall time without any of these, after which it does, too
HANG = 5.0  # processor seconds that such a question counts for
BUDGET = 40.0  # processor seconds for one task; then no more questions


def environment(name: str) -> Path:
    """Python of the environment of a peer, made from its pinned requirements if it is missing."""
    folder = HERE / "environments" / name
    python = folder / "bin" / "python"
    if not (folder / "ready").is_file():
        venv.create(folder, with_pip=True, clear=True)
        pinned = HERE / "requirements" / f"{name}.txt"
        install = [python, "-m", "pip", "install", "--quiet", "--requirement", pinned]
        subprocess.run(install, check=True)  # noqa: S603
        (folder / "ready").touch()
    return python


def version(name: str) -> str:
    """Version of a peer that its requirements pin."""
    pins = (HERE / "requirements" / f"{name}.txt").read_text(encoding="utf-8").split()
    return next(pin.partition("==")[2] for pin in pins if pin.lower().startswith(f"{name}=="))


class Worker:
    """Process of one library that answers questions on its standard input."""

    def __init__(
        self, python: Path, name: str, task: str, patience: float = PATIENCE, memory: int = 0
    ) -> None:
        self.patience = patience
        self.command = [str(python), str(HERE / "worker.py"), name, task, str(memory)]
        self.process: subprocess.Popen[str] | None = None

    def ask(self, arguments: list[float]) -> dict[str, object]:
        """Answer as the worker writes it; 'hang' or 'death' in place of one that never comes."""
        if self.process is None:
            self.process = subprocess.Popen(  # noqa: S603
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
            )  # fmt: skip
            self.process.stdout.readline()  # imported
        process = self.process
        process.stdin.write(json.dumps(arguments) + "\n")
        process.stdin.flush()
        ready, used = [], _used(process.pid)
        until, end = used + self.patience, monotonic() + ASLEEP
        while not ready and used < until and monotonic() < end:
            ready, _, _ = select.select([process.stdout], [], [], 1.0)
            before, used = used, _used(process.pid)
            end = monotonic() + ASLEEP if used > before else end
        line = process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        self.stop()
        return {"error": "hang" if not ready else "death", "seconds": 0.0 if ready else HANG}

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()  # closes both pipes, too
            self.process = None


def _used(pid: int) -> float:
    """Processor seconds of a process so far; infinite after its end."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return math.inf
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def answers(
    python: Path, name: str, task: str, questions: list[list[float]]
) -> Iterator[tuple[list[float], dict[str, object]]]:
    """Questions with their answers, until the budget of processor seconds is spent."""
    worker, spent = Worker(python, name, task), 0.0
    try:
        for arguments in questions:
            said = worker.ask(arguments)
            yield arguments, said
            spent += float(str(said["seconds"]))
            if spent > BUDGET:
                return
    finally:
        worker.stop()
