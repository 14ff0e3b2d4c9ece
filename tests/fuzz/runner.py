"""Run the checks for a given time and report violations as lines that can be run."""

import inspect
import math
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field

from dpnoise_papers.seeds import generator
from fuzz.draws import Draws
from fuzz.references import OutOfRangeError

HANG = 10.0  # seconds of processor time within which every public call answers or refuses
_MOST_PRINTED = 10  # violations of one check


class HangError(Exception):
    """A call that took too long."""


@contextmanager
def time_limit(seconds):
    """Raise `HangError` after so much processor time of this process."""

    def stop(*_):
        raise HangError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def written(function, args, options):
    """Return a call as Python."""
    parts = [repr(plain(value)) for value in args]
    parts += [f"{name}={plain(value)!r}" for name, value in options.items()]
    name = function.__name__
    if inspect.ismethod(function):
        name = f"{function.__self__!r}.{name}"
    return f"{name}({', '.join(parts)})"


def plain(value):
    """Return a value without NumPy types."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return type(value)(map(plain, value)) if type(value) in (list, tuple) else value


@dataclass
class Report:
    """What was tried and what failed.

    Attributes
    ----------
    checks, sets, families, dimensions : Counter
        Cases by check; parameter sets by check, by family of noise and by number of coordinates.
    violations : list of (check, text)
        Each text is a claim and a call that contradicts it.
    """

    checks: Counter = field(default_factory=Counter)
    sets: Counter = field(default_factory=Counter)
    families: Counter = field(default_factory=Counter)
    dimensions: Counter = field(default_factory=Counter)
    skipped: Counter = field(default_factory=Counter)
    relations: int = 0
    violations: list = field(default_factory=list)
    check: str = ""
    last: str = ""

    def about(self, *noises, copies=1, sets=1):
        """Count parameter sets by families and number of coordinates."""
        for name in {n if isinstance(n, str) else type(n).__name__ for n in noises}:
            self.families[name] += sets
        self.dimensions[copies] += sets
        self.sets[self.check] += sets

    def call(self, function, *args, **options):
        """Call the library, remembering how, for the text of a violation."""
        self.last = written(function, args, options)
        with time_limit(HANG):
            return function(*args, **options)

    def require(self, ok, claim, text=None):
        """Record a violation unless `ok`."""
        self.relations += 1
        if not ok:
            self.violations.append((self.check, f"{text or self.last}  # {claim}"))

    def within(self, bounds, low, high, slack, claim):
        """Require that two intervals of log delta overlap, up to a slack."""
        ok = high >= bounds[0] - slack and low <= bounds[1] + slack
        found = f"log delta in [{float(low):.12g}, {float(high):.12g}]"
        truth = f"[{float(bounds[0]):.12g}, {float(bounds[1]):.12g}]"
        self.require(ok and not math.isnan(low + high), f"{found}, {claim} in {truth}")


def run_case(report, name, check, seed, number):
    """Run one parameter set of one check; it depends on the seed and its number only."""
    report.check, report.last = name, ""
    draws = Draws(generator(seed, "fuzz", name, number))
    report.checks[name] += 1
    try:
        check(draws, report)
    except OutOfRangeError:
        report.skipped[name] += 1
    except HangError:
        report.require(False, f"no answer in {HANG:g} s of processor time")
    except Exception as error:  # noqa: BLE001 - every other exception is a finding
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{place.filename.rsplit('/', 1)[-1]}:{place.lineno}"
        report.require(False, f"{type(error).__name__} at {where}: {error}")


def run(checks, *, seed, seconds=math.inf, cases=math.inf, sets=math.inf, progress=None):
    """Run checks in turn, each for its share of the time.

    Parameters
    ----------
    checks : dict of str to (function, float)
        Each check with its weight in the time.
    seed : int
        The seed of all parameter sets.
    seconds, cases, sets : float
        When to stop: after so much time, so many cases or parameter sets (a case may hold many).
    progress : callable, optional
        Called after each parameter set with the seconds passed and the report.
    """
    report, spent = Report(), dict.fromkeys(checks, 0.0)
    start = now = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        while (
            now - start < seconds and report.checks.total() < cases and report.sets.total() < sets
        ):
            name = min(spent, key=lambda key: spent[key] / checks[key][1])
            run_case(report, name, checks[name][0], seed, report.checks[name])
            before, now = now, time.monotonic()
            spent[name] += now - before
            if progress:
                progress(now - start, report)
    return report


def tell(report):
    """Print the counts and the violations."""
    lines = []
    for title, counts in (
        ("check", report.sets),
        ("family", report.families),
        ("coordinates", report.dimensions),
    ):
        lines.append(f"{title:<24} parameter sets")
        lines += [f"  {key!s:<22} {counts[key]:>9}" for key in sorted(counts, key=str)]
    skipped = report.skipped.total()
    lines.append(
        f"{report.sets.total()} parameter sets, {report.relations} relations, {skipped} beyond "
        f"the reference, {len(report.violations)} violations"
    )
    printed = Counter()
    for check, text in report.violations:
        printed[check] += 1
        if printed[check] <= _MOST_PRINTED:
            lines.append(f"VIOLATION [{check}] {text}")
    more = {name: n - _MOST_PRINTED for name, n in printed.items() if n > _MOST_PRINTED}
    lines += [f"... and {n} more of {name}" for name, n in more.items()]
    sys.stdout.write("\n".join(lines) + "\n")
