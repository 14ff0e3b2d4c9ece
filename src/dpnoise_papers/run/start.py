"""What is looked at before a run is planned, and the time left that is told while it goes.

The Snakefile puts `src` on the path, so that a run needs no install step of its own; what
pyproject.toml declares for the papers has to be there. Nothing is imported here that Snakemake does
not bring. A folder that cannot be written and the lock of another run are told at once.

A target that no rule makes is refused by Snakemake, and answered here with the nearest that one
makes: the name of a rule or a file. People ask for items as the paper numbers them ('figure-2',
'Table 3'), so names are compared without case, ends and separators.

The time left is told beside Snakemake's count of finished jobs. What the jobs take comes from
`dpnoise_papers.cluster.costs`; how fast this machine is, from the jobs that have ended. Which jobs
there are is heard from the events of Snakemake's logger.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import threading
import time
import tomllib
from collections import defaultdict
from difflib import SequenceMatcher
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

EXTRA = "papers"
STATE = ".snakemake"
_NEAREST = 4
_LIKE = 0.6  # of SequenceMatcher: what is less alike is no suggestion
_MARGIN = 0.1  # and what is so much less alike than the best
_SHOWN = 5
_NOT_MADE = re.compile(r"No rule to produce (.+?) \(if you use")  # of Snakemake
SHORT = 3.0  # core-seconds of a job that is not measured: a figure or a page
_TRUSTED = 60.0  # core-seconds of finished jobs from which on their pace counts for half
_APART = 10.0  # seconds between two lines, at least


def hand_on(sources: str) -> None:
    """Put a folder first on the path of modules of all processes that this one starts."""
    parts = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if parts[0] != sources:
        os.environ["PYTHONPATH"] = os.pathsep.join([sources, *filter(None, parts)])


def refusal_of_environment(pyproject: Path) -> str:
    """One sentence on what is missing and on the command that adds it, or "" if nothing is."""
    lacking = [words for one in _needed(pyproject, EXTRA) if (words := _lacking(one))]
    if not lacking:
        return ""
    return (
        f"this environment lacks {', '.join(sorted(set(lacking)))}: "
        f"`python -m pip install '.[pipeline]'` in {pyproject.parent} adds what is missing, and "
        "`make reproduce` there makes an environment of its own"
    )


def _needed(pyproject: Path, extra: str) -> Iterator[Requirement]:
    """Requirements of the package and of one of its extras, with those of the extras it names."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    lines, extras = list(project["dependencies"]), [extra]
    for name in extras:  # grows below
        lines += project["optional-dependencies"][name]
        own = (Requirement(line) for line in project["optional-dependencies"][name])
        more = [one for each in own if each.name == project["name"] for one in each.extras]
        extras += sorted({*more} - {*extras})
    for line in lines:
        requirement = Requirement(line)
        applies = requirement.marker is None or requirement.marker.evaluate()
        if requirement.name != project["name"] and applies:
            yield requirement


def _lacking(requirement: Requirement) -> str:
    """The requirement in words, with the version found, or "" if this environment meets it."""
    wanted = f"{requirement.name}{requirement.specifier}"
    try:
        found = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return wanted
    good = requirement.specifier.contains(found, prereleases=True)
    return "" if good else f"{wanted} (found {found})"


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


def end_on_sigterm() -> None:
    """Have what SIGTERM calls now called in a thread of its own; for the main thread only.

    Snakemake's handler takes a lock that the code which it interrupts may hold: a run that was
    told to end while it noted what a job had made hung for ever.
    """
    end = signal.getsignal(signal.SIGTERM)
    if callable(end):
        signal.signal(signal.SIGTERM, lambda *told: threading.Thread(target=end, args=told).start())


class NearestTargets(logging.Handler):
    """Listener to Snakemake's logger that tells the names nearest to a target that no rule makes.

    `names` are those of rules and files; `say` takes each line.
    """

    def __init__(self, names: Sequence[str], say: Callable[[str], object]) -> None:
        super().__init__()
        self._names, self._say = names, say

    def emit(self, record: logging.LogRecord) -> None:
        """Answer Snakemake's message on a target."""
        found = _NOT_MADE.search(record.getMessage())
        if found:
            near = nearest(found[1], self._names)
            hint = f"; the nearest: {', '.join(near)}" if near else ""
            self._say(f"no rule makes {found[1]!r}{hint}")


def nearest(target: str, names: Sequence[str]) -> list[str]:
    """Names most like a target, best first; none if all are unlike it."""
    wanted, end = _plain(target), PurePosixPath(target).suffix
    likeness = {
        name: max(
            SequenceMatcher(None, wanted, _plain(one)).ratio()
            for one in (name, PurePosixPath(name).name)
        )
        for name in names
    }

    def order(name: str) -> tuple[float, bool, bool, str]:
        own = PurePosixPath(name).suffix
        return -likeness[name], own != end, own in {".pdf", ".png"}, name

    best = sorted(likeness, key=order)
    enough = max([_LIKE, *(likeness[name] - _MARGIN for name in best[:1])])
    one_of_each = {_plain(name): name for name in reversed(best) if likeness[name] >= enough}
    return [name for name in best if name in one_of_each.values()][:_NEAREST]


def _plain(name: str) -> str:
    """Name without case, end and separators of words."""
    path = PurePosixPath(name)
    plain = str(path.with_suffix("")) if path.suffix else name
    return "".join(letter for letter in plain.lower() if letter.isalnum() or letter == "/")


def stray_files(folders: Iterable[str], made: Container[str]) -> list[str]:
    """Paths of the files below folders that are not in `made`, sorted.

    Hidden files count: a job that is killed while it writes leaves one.
    """
    paths = (str(path) for folder in folders for path in Path(folder).rglob("*") if path.is_file())
    return sorted(path for path in paths if path not in made)


def warning(strays: Sequence[str]) -> str:
    """One message on stray files, "" if there are none."""
    if not strays:
        return ""
    more = f" and {len(strays) - _SHOWN} more" if len(strays) > _SHOWN else ""
    return (
        f"{len(strays)} file(s) among the results that no rule makes: "
        f"{', '.join(strays[:_SHOWN])}{more}. They are no results of this run; move or delete them."
    )


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
