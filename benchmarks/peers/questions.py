"""Questions to every library: random ones over many decades, and the round ones that people ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

SEED = 20261122
ROUND_EPSILONS = (0.01, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0, 1000.0)
ROUND_DELTAS = (0.5, 0.1, 1e-2, 1e-5, 1e-6, 1e-10, 1e-100, 1e-300)
ROUND_COPIES = (1, 2, 5, 10, 100, 1000)
COUNTS = {"sigma": 10_000, "gaussian_epsilon": 1000, "laplace_epsilon": 200}


def questions(task: str) -> list[list[float]]:
    """Arguments of a task, the same for every library, the round ones among the first hundred."""
    rng = np.random.default_rng([SEED, *map(ord, task)])
    count = COUNTS[task]
    deltas = _mixed(rng, count, 1e-300, 0.5, ROUND_DELTAS)
    if task == "sigma":
        epsilons = _mixed(rng, count, 1e-6, 1e3, ROUND_EPSILONS)
        return [list(pair) for pair in zip(epsilons, deltas, strict=True)]
    least, most = (0.1, 1e3) if task == "gaussian_epsilon" else (0.05, 1e3)
    noise = _mixed(rng, count, least, most, (0.5, 1.0, 3.0, 4.0, 10.0))
    copies = [round(n) for n in _mixed(rng, count, 1, 1000, ROUND_COPIES)]
    return [list(row) for row in zip(noise, copies, deltas, strict=True)]


def everyday(task: str, arguments: list[float]) -> bool:
    """Whether a question is an ordinary one: delta from 1e-10 to 0.1, epsilon from 0.01 to 10."""
    ordinary = 1e-10 <= arguments[-1] <= 0.1
    return ordinary and (task != "sigma" or 0.01 <= arguments[0] <= 10.0)


def _mixed(
    rng: np.random.Generator, count: int, least: float, most: float, usual: Sequence[float]
) -> list[float]:
    """Log-uniform numbers, every second one of them a usual one instead."""
    drawn = np.exp(rng.uniform(np.log(least), np.log(most), count))
    return np.where(rng.random(count) < 0.5, rng.choice(usual, count), drawn).tolist()
