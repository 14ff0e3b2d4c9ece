"""What a run meets: a folder that cannot be written, the lock of another run, a signal to end."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

STATE = ".snakemake"


def refusal(folder: str | os.PathLike[str] = ".") -> str:
    """Message on a folder in which no run can keep its state, "" for one that can be written."""
    state = Path(folder) / STATE
    place = state if state.is_dir() else Path(folder)
    if os.access(place, os.W_OK):
        return ""
    return (
        f"{place.resolve()} cannot be written, and a run keeps its state in {STATE}/: copy the"
        " repository into a folder that can be written, or change who may write here"
    )


def lock_notice(folder: str | os.PathLike[str] = ".") -> str:
    """Message on the lock of a run that is under way or was killed, "" if there is none."""
    if not any((Path(folder) / STATE / "locks").glob("*")):
        return ""
    return (
        "A lock lies in this folder: another run is under way here, or one was killed (a lost"
        " connection, a shutdown). If no other runs, remove the lock by `snakemake --unlock` (or"
        " `make unlock`) and start again; what was made is kept."
    )


def end_on_sigterm(end: Callable[[], object]) -> None:
    """Call `end` in a thread of its own when SIGTERM comes; for the main thread only.

    Snakemake's own handler takes a lock that the code which it interrupts may hold: a run that was
    told to end while it noted what a job had made hung for ever.
    """
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=end).start())
