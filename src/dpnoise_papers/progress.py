"""Progress of long loops inside a job, in lines on standard error; nothing of it reaches a result.

A line is written at most every 15 s, so that short jobs write none, and names the job and how much
of its loop is done. Outside a job of the pipeline nothing is written.
"""

from __future__ import annotations

import sys
import time
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_Item = TypeVar("_Item")
_APART = 15.0  # seconds between two lines


class _Lines:
    """Lines of one process: the name of its job, and when the last one was written."""

    def __init__(self) -> None:
        self.job, self.last, self.lock = "", 0.0, Lock()

    def write(self, text: str) -> None:
        """Write a line, unless one was written lately."""
        with self.lock:
            now = time.monotonic()
            if self.job and now - self.last >= _APART:
                self.last = now
                sys.stderr.write(f"{self.job}: {text}\n")
                sys.stderr.flush()


_LINES = _Lines()


def name_job(name: str) -> None:
    """Give the lines of this process the name of its job; with an empty one none is written."""
    _LINES.job, _LINES.last = name, time.monotonic()


def counted(items: Collection[_Item], what: str) -> Iterator[_Item]:
    """Items of a loop, whose progress is told as '3 of 8 budgets'.

    Examples
    --------
    >>> [2 * k for k in counted([1, 2], "budgets")]
    [2, 4]
    """
    for done, item in enumerate(items):
        _LINES.write(f"{done} of {len(items)} {what}")
        yield item
