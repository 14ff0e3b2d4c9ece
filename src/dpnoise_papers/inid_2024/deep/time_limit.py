"""A limit in time for work that can stop between its pieces."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class OutOfTimeError(Exception):
    """No time for the next piece of work; what was done so far is kept."""


class TimeLimit:
    """Seconds from now on.

    Parameters
    ----------
    seconds : float
        How many there are.
    clock : callable
        Answers the time in seconds.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._end = clock() + seconds
        self._last: float | None = None
        self._longest = 0.0

    def passed(self) -> bool:
        """Whether twice the longest piece so far would end behind the limit.

        A piece is the time between two calls: one more of them, and what is to be written.
        """
        now = self.clock()
        if self._last is not None:
            self._longest = max(self._longest, now - self._last)
        self._last = now
        return now + 2.0 * self._longest > self._end
