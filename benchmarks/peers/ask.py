"""One library asked the questions of a task, in its own environment, by a process to kill."""

from __future__ import annotations

import json
import os
import select
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
PATIENCE = 10.0  # seconds of wall time after which a question counts as never answered
HANG = 5.0  # processor seconds that such a question counts for
BUDGET = 40.0  # processor seconds for one task; then no more questions


class Worker:
    """Process of one library that answers questions on its standard input."""

    def __init__(self, python: Path, name: str, task: str) -> None:
        self.command = [str(python), str(HERE / "worker.py"), name, task]
        self.process: subprocess.Popen[str] | None = None

    def ask(self, arguments: list[float]) -> dict[str, object]:
        """Answer as the worker writes it; 'hang' or 'death' in place of one that never comes."""
        if self.process is None:
            self.process = subprocess.Popen(  # noqa: S603
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
            )  # fmt: skip
        process = self.process
        process.stdin.write(json.dumps(arguments) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
        line = process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        self.stop()
        return {"error": "hang" if not ready else "death", "seconds": 0.0 if ready else HANG}

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


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
