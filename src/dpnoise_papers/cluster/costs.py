"""Core-seconds of the jobs of a run: measured at the scale of the papers, then scaled.

`benchmarks/seconds.csv` holds what each job took at the scale of config.yaml, one row for each
job, written by `dpnoise-papers submissions --measured logs/benchmarks`. A job whose settings hold
more points (longer grids, more repetitions) takes as many times longer, but for its start.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from dpnoise_papers.item import PART
from dpnoise_papers.making.job import PROCESSOR_TIME

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
