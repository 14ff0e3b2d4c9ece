"""The compiled sweep of private coordinate descent beside a plain NumPy loop, in one run.

The problem has the size of the California data set in Table III of flipped-huber-2023
(N = 16512 training samples, K = 8), synthetic. Run `python benchmarks/dpcd.py`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import resource
import sys
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from dpnoise.learn.cd import descend
from dpnoise.learn.problem import make_problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise.learn.problem import Problem

SAMPLES, COORDINATES, PASSES = 16_512, 8, 20
REPETITIONS, ROUNDS = 40, 7
STEP, CLIP = 1.0, 3.0


def plain(problem: Problem, noise: np.ndarray) -> np.ndarray:
    """Algorithm 3 as a NumPy user writes it: one matrix product per update."""
    X, y, M = problem.features, problem.target, problem.smoothness
    C = problem.clip_levels(CLIP)
    w = np.zeros(problem.coordinates)
    for unit in noise:
        for i, t in enumerate(unit):
            fitted = X @ w
            slope = fitted - y if problem.loss == "squared" else -y * expit(-y * fitted)
            gradient = np.clip(slope * X[:, i], -C[i], C[i]).mean()
            w[i] -= STEP / M[i] * (gradient + 2.0 * C[i] / problem.size * t)
    return w


def seconds(call: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    start = perf_counter()
    call()
    return perf_counter() - start


def main() -> None:
    """Time both, alternating, and print medians per (sample, coordinate, pass)."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((SAMPLES, COORDINATES))
    y = X @ rng.standard_normal(COORDINATES) + rng.standard_normal(SAMPLES)
    noise = rng.standard_normal((REPETITIONS, PASSES, COORDINATES))
    updates = SAMPLES * COORDINATES * PASSES
    cores = os.cpu_count() or 1
    print(f"N = {SAMPLES}, K = {COORDINATES}, L = {PASSES}; medians of {ROUNDS} rounds")
    print("ns per (sample, coordinate, pass); the ratio is to the NumPy loop, round by round")
    for loss, target in (("squared", y), ("logistic", np.where(y > 0, 1.0, -1.0))):
        problem = make_problem(X, target, loss=loss)

        def sweep(threads: int, problem: Problem = problem) -> np.ndarray:
            return descend(problem, steps=[STEP], clips=[CLIP], noise=noise, threads=threads)[0, 0]

        gap = np.abs(sweep(1)[0] - plain(problem, noise[0])).max()  # also compiles
        rounds = [
            (
                seconds(lambda problem=problem: plain(problem, noise[0])),
                seconds(lambda: sweep(1)) / REPETITIONS,
                seconds(lambda: sweep(cores)) / REPETITIONS,
            )
            for _ in range(ROUNDS)
        ]
        loop, one, all_cores = (median(t) * 1e9 / updates for t in zip(*rounds, strict=True))
        ratios = [median(r[0] / r[k] for r in rounds) for k in (1, 2)]
        print(
            f"{loss:9} NumPy {loop:6.2f}   1 core {one:5.2f} ({ratios[0]:.0f} times)   "
            f"{cores} cores {all_cores:5.2f} ({ratios[1]:.0f} times)   "
            f"largest difference of a weight {gap:.0e}"
        )
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
    print(
        f"peak memory of the process {peak:.0f} MiB, of which the features {X.nbytes / 2**20:.1f}"
    )


if __name__ == "__main__":
    main()
