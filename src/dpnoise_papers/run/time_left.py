"""Time left of a run, told beside Snakemake's count of finished jobs.

What the jobs take comes from `dpnoise_papers.cluster.costs`; how fast this machine is, from the
jobs that have ended.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SHORT = 3.0  # core-seconds of a job that is not measured: a figure or a page
_TRUSTED = 60.0  # core-seconds of finished jobs from which on their pace counts for half
_APART = 10.0  # seconds between two lines, at least


class TimeLeft(logging.Handler):
    """Listener to the events of Snakemake's logger that says how long the run will take.

    `seconds` are the core-seconds of each job to be run, by its number; `say` takes each line.
    """

    def __init__(
        self,
        seconds: Mapping[int, float],
        cores: int,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._left, self._total = dict(seconds), sum(seconds.values())
        self._cores, self._say, self._clock = cores, say, clock
        self._begun, self._told = clock(), -_APART

    def begin(self) -> None:
        """Tell the estimate before the first job."""
        self._say(f"{len(self._left)} jobs, {in_words(self.seconds_left())} on {self._cores} cores")

    def seconds_left(self) -> float:
        """Estimate of the seconds until the run ends."""
        left = sum(self._left.values())
        ended = self._total - left
        spent = (self._clock() - self._begun) * self._cores
        pace = (_TRUSTED + spent) / (_TRUSTED + ended)
        longest = max(self._left.values(), default=0.0)
        return max(left / self._cores, longest) * pace

    def emit(self, record: logging.LogRecord) -> None:
        """Take note of a finished job, and tell the time left where jobs are counted."""
        event = str(getattr(record, "event", "") or "").rpartition(".")[2].lower()
        if event == "job_finished":
            self._left.pop(getattr(record, "job_id", -1), None)
        elif event == "progress" and self._left and self._clock() - self._told >= _APART:
            self._told = self._clock()
            self._say(f"{in_words(self.seconds_left())} left")


def in_words(seconds: float) -> str:
    """Length of time to about two digits.

    Examples
    --------
    >>> in_words(12.0), in_words(95.0), in_words(4000.0)
    ('about 10 s', 'about 2 min', 'about 1 h 7 min')
    """
    if seconds < 55.0:
        return f"about {max(10 * round(seconds / 10.0), 5)} s"
    minutes = round(seconds / 60.0)
    hours, minutes = divmod(max(minutes, 1), 60)
    return f"about {hours} h {minutes} min" if hours else f"about {minutes} min"
