"""Seconds and memory of an item, from the benchmark files that its jobs left."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Cost(NamedTuple):
    """Wall seconds of all jobs together, memory (MB) of the largest, and how many there were."""

    seconds: float
    memory: float
    jobs: int


def cost(paths: Iterable[str | Path]) -> Cost | None:
    """Cost of some jobs by their benchmark files; None if none of the files is there."""
    seconds, memory, jobs = 0.0, 0.0, 0
    for path in map(Path, paths):
        if not path.is_file():
            continue
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        jobs += 1
        seconds += max((_number(row.get("s")) for row in rows), default=0.0)
        memory = max([memory, *(_number(row.get("max_rss")) for row in rows)])
    return Cost(seconds, memory, jobs) if jobs else None


def _number(text: str | None) -> float:
    """Number of a cell, 0 where Snakemake could not measure ('NA', '-')."""
    try:
        value = float(text or 0)
    except ValueError:
        return 0.0
    return value if math.isfinite(value) else 0.0
