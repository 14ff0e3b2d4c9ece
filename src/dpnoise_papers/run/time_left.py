"""Time left of a run, told beside Snakemake's count of finished jobs.

What the jobs take comes from `dpnoise_papers.cluster.costs`; how fast this machine is, from the
jobs that have ended. Which jobs there are is heard from the events of Snakemake's logger.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SHORT = 3.0  # core-seconds of a job that is not measured: a figure or a page
_TRUSTED = 60.0  # core-seconds of finished jobs from which on their pace counts for half
_APART = 10.0  # seconds between two lines, at least


def event_of(record: logging.LogRecord) -> str:
    """Name of the event that Snakemake's logger tells of, such as 'job_finished', or ""."""
    return str(getattr(record, "event", "") or "").rpartition(".")[2].lower()


class TimeLeft(logging.Handler):
    """Listener to the events of Snakemake's logger that says how long the run will take.

    `seconds` are the core-seconds of each measured job by its rule and its part (or ""); `say`
    takes each line.
    """

    def __init__(
        self,
        seconds: Mapping[tuple[str, str], float],
        cores: int,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._known: dict[str, dict[str, float]] = defaultdict(dict)
        for (rule, part), one in seconds.items():
            self._known[rule][part] = one
        self._counts: dict[str, int] = {}
        self._running: dict[int, tuple[str, str]] = {}
        self._ended = 0.0
        self._cores, self._say, self._clock = cores, say, clock
        self._begun, self._told = clock(), -_APART

    def begin(self) -> None:
        """Tell the estimate before the first job."""
        self._begun = self._clock()
        number, left = sum(self._counts.values()), in_words(self.seconds_left())
        self._say(f"{number} jobs, {left} on {self._cores} cores")

    def seconds_left(self) -> float:
        """Estimate of the seconds until the run ends."""
        left, longest = 0.0, 0.0
        for rule, count in self._counts.items():
            known = self._known[rule].values() or [SHORT]
            left += count * sum(known) / len(known)
            longest = max(longest, *known)
        spent = (self._clock() - self._begun) * self._cores
        pace = (_TRUSTED + spent) / (_TRUSTED + self._ended)
        return max(left / self._cores, longest) * pace

    def emit(self, record: logging.LogRecord) -> None:
        """Take note of the jobs of a run and of their ends; tell the time left beside their count.

        `run_info` counts the jobs by rule, `job_info` tells rule and wildcards of one that begins.
        """
        event, told = event_of(record), record.__dict__
        if event == "run_info":
            self._counts = {rule: n for rule, n in told["stats"].items() if rule != "total"}
        elif event == "job_info":
            part = (told["wildcards"] or {}).get("part", "")
            self._running[told["jobid"]] = told["rule_name"], part
        elif event == "job_finished":
            self._end(*self._running.pop(told["job_id"], ("", "")))
        elif event == "progress" and self._counts and self._clock() - self._told >= _APART:
            self._told = self._clock()
            self._say(f"{in_words(self.seconds_left())} left")

    def _end(self, rule: str, part: str) -> None:
        if rule in self._counts:
            self._ended += self._known[rule].pop(part, SHORT)
            self._counts[rule] -= 1
            if not self._counts[rule]:
                del self._counts[rule]


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
