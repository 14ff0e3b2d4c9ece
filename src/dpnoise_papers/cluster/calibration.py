"""How fast this machine is: fixed work, timed here and where the costs were measured.

`benchmarks/calibration.json` holds the processor seconds of that work on the machine of
`benchmarks/seconds.csv`. The work runs on all cores at once, since two cores that share one unit
are each slower than one alone.
"""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from dpnoise.calibration.calibrate import calibrate
from dpnoise_papers.cluster.costs import measured
from dpnoise_papers.result_files import write_text
from dpnoise_papers.run.provenance import processor

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
