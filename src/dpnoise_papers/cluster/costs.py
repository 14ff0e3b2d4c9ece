"""Core-seconds of the jobs of a run: measured at the scale of the papers, then scaled.

`benchmarks/seconds.csv` holds what each job took at the scale of config.yaml, one row for each
job, written by `dpnoise-papers submissions --measured logs/benchmarks`. A job whose settings hold
more points (longer grids, more repetitions) takes as many times longer, but for its start.

How fast this machine is beside that of the costs is found by fixed work, timed on both.
`benchmarks/calibration.json` holds the processor seconds of that work on the machine of
`benchmarks/seconds.csv`. The work runs on all cores at once, since two cores that share one unit
are each slower than one alone.
"""

from __future__ import annotations

import csv
import json
import os
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dpnoise_papers.item import PART
from dpnoise_papers.making import PROCESSOR_TIME
from dpnoise_papers.result_files import write_text
from dpnoise_papers.run.provenance import processor

if TYPE_CHECKING:
    from dpnoise_papers.steps import Step


SECONDS = "benchmarks/seconds.csv"
_START = 1.5  # core-seconds of an interpreter and its imports
_REPEATED = {"trials", "repetitions", "replications", "evaluate", "draws", "points"}


def measured(path: str | Path = SECONDS) -> dict[str, tuple[float, float]]:
    """Core-seconds and points of each job when it was measured; nothing where there is no file."""
    if not Path(path).is_file():
        return {}
    with Path(path).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return {row["job"]: (float(row["core_seconds"]), float(row["points"])) for row in rows}


def core_seconds(
    job: str, points: float, known: Mapping[str, tuple[float, float]], *, guessed: float
) -> float:
    """Core-seconds of a job with so many points, from what is `known` by `measured`.

    A job that was never measured takes the `guessed` ones.

    Examples
    --------
    >>> core_seconds("p/figure-1", 200.0, {"p/figure-1": (11.5, 100.0)}, guessed=10.0)
    21.5
    """
    took, then = known.get(job, (guessed, points))
    return min(took, _START) + max(0.0, took - _START) * points / then


def priority(step: Step, known: Mapping[str, tuple[float, float]]) -> int:
    """Priority of a step's jobs: the core-seconds of the longest, so that none is left to the end.

    `known` is what `measured` gives; jobs that were never measured are guessed.
    """
    names = [step.stem.replace(PART, part) for part in step.parts or [""]]
    return round(max(known.get(name, (guess(step), 1.0))[0] for name in names))


def guess(step: Step) -> float:
    """Core-seconds of a job that was never measured: a thirtieth of what it may take."""
    return 2.0 * step.declared.minutes


def points(settings: object) -> float:
    """Number of points of a sweep: the product over its grids, lists and repetitions.

    Examples
    --------
    >>> points({"epsilons": {"low": 0.1, "high": 10.0, "count": 21}, "deltas": [1e-8, 1e-6]})
    42.0
    """
    if isinstance(settings, Mapping):
        if {"low", "high", "count"} <= settings.keys():
            return float(settings["count"])
        own = [max(1.0, float(settings[key])) for key in sorted(_REPEATED & settings.keys())]
        rest = [points(one) for key, one in settings.items() if key not in _REPEATED]
        return prod([*own, *rest])
    if isinstance(settings, list | tuple):
        return float(max(1, len(settings)))
    return 1.0


def write_measured(
    folder: str | Path, known: Mapping[str, float], path: str | Path = SECONDS
) -> int:
    """Write the file of `measured` from the benchmark files of a run; return the number of jobs.

    Jobs that the run did not make keep their rows.

    `known` are the points of each job by its name. Seconds are those of the processor, which do
    not depend on what else the machine did: those that the job's log ends with, beside which
    Snakemake's, taken every 30 s, are too few. ValueError if the folder has none of the jobs.
    """
    rows: dict[str, str] = {}
    for job in sorted(known):
        found = Path(folder) / f"{job}.tsv"
        if found.is_file():
            with found.open(encoding="utf-8", newline="") as lines:
                row = next(csv.DictReader(lines, delimiter="\t"))
            took = max(_logged_seconds(folder, job), float(row["cpu_time"]), _START)
            rows[job] = f"{job},{took:.1f},{known[job]:g}"
    if not rows:
        raise ValueError(f"submissions: no benchmark files of a run in {folder}")
    before = {job: f"{job},{took:.1f},{many:g}" for job, (took, many) in measured(path).items()}
    every = {job: row for job, row in (before | rows).items() if job in known}
    text = "\n".join(["job,core_seconds,points", *(every[job] for job in sorted(every)), ""])
    Path(path).write_text(text, encoding="utf-8")
    return len(rows)


def _logged_seconds(folder: str | Path, job: str) -> float:
    """Processor time that the log of a job, beside the folder of benchmarks, ends with; else 0."""
    log = Path(folder).parent / f"{job}.log"
    text = log.read_text(encoding="utf-8") if log.is_file() else ""
    line = text.rstrip().rpartition("\n")[2]
    return float(line.removesuffix(PROCESSOR_TIME)) if line.endswith(PROCESSOR_TIME) else 0.0


PLACE = "benchmarks/calibration.json"
_EPSILONS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2)
_SLACK = 1.5  # what waiting for one another adds at most, as it was seen


class Expected(NamedTuple):
    """Expected costs of a run: core-seconds, and seconds from the shortest to the longest."""

    here: float
    recorded: float
    core_seconds: float
    shortest: float
    longest: float

    def line(self, cpu: str, cores: int) -> str:
        """The costs in words."""
        return (
            f"fixed work: {self.here:.1f} s on each of {cores} cores here, {self.recorded:.1f} s "
            f"where the costs were measured ({cpu}): expect {self.shortest / 60:.0f} to "
            f"{self.longest / 60:.0f} minutes and {self.core_seconds / 60:.0f} core-minutes for "
            "`make reproduce`"
        )


def work() -> float:
    """Processor seconds of the fixed work, without imports and compilation."""
    from dpnoise.calibration.calibrate import calibrate  # noqa: PLC0415 - slow to import

    calibrate("flipped-huber", epsilon=1.0, delta=1e-8, dimension=3)
    began = time.process_time()
    for epsilon in _EPSILONS:
        calibrate("flipped-huber", epsilon=epsilon, delta=1e-8, dimension=20)
    return time.process_time() - began


def seconds(cores: int | None = None) -> float:
    """Processor seconds of the fixed work, run on so many cores (all) at once: the mean."""
    cores = cores or os.cpu_count() or 1
    with ProcessPoolExecutor(cores) as pool:
        found = [one.result() for one in [pool.submit(work) for _ in range(cores)]]
    return sum(found) / len(found)


def expected(here: float, recorded: float, core_seconds: float, cores: int) -> Expected:
    """Costs of a run on so many cores, of work that took `here` and `recorded` seconds.

    Examples
    --------
    >>> found = expected(6.0, 3.0, 1000.0, 2)
    >>> found.core_seconds, found.shortest, found.longest
    (2000.0, 1000.0, 1500.0)
    """
    total = core_seconds * here / recorded
    return Expected(here, recorded, total, total / cores, _SLACK * total / cores)


def compared(path: str | Path = PLACE) -> str:
    """Line on what a run at the scale of the papers costs on this machine.

    ValueError if the file is missing.
    """
    if not Path(path).is_file():
        raise ValueError(f"costs: no {path}: `dpnoise-papers costs --record` writes it")
    known = json.loads(Path(path).read_text(encoding="utf-8"))
    cores = os.cpu_count() or 1
    total = sum(took for took, _ in measured().values())
    return expected(seconds(), known["seconds"], total, cores).line(known["cpu"], cores)


def record(path: str | Path = PLACE) -> str:
    """Write the file from the work on this machine; its content."""
    told = {"seconds": round(seconds(), 2), "cpu": processor(), "cores": os.cpu_count()}
    write_text(json.dumps(told, indent=1) + "\n", path)
    return json.dumps(told)
