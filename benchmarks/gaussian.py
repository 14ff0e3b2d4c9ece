"""Gaussian calibration beside dp_accounting, in one run: time, error and safety.

Ours takes 10^5 pairs (epsilon, delta) at once; the peer, one pair at a time, takes a sample of
them. A result is unsafe if its exact delta is above the delta asked for. Run
`python benchmarks/gaussian.py`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import dp_accounting
import numpy as np

from dpnoise import gaussian_sigma
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise_papers.balle_wang_2018.gaussian_calibration import algorithm_1

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

PAIRS, SAMPLE, ROUNDS = 100_000, 300, 5


def seconds(call: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Return the median wall and processor time of a call, the first left out."""
    call()
    wall, processor = [], []
    for _ in range(rounds):
        start, before = perf_counter(), process_time()
        call()
        wall.append(perf_counter() - start)
        processor.append(process_time() - before)
    return median(wall), median(processor)


def report(name: str, sigma: Array, epsilon: Array, delta: Array) -> None:
    """Print how far results are from the least sigma and how many are unsafe."""
    ran = np.isfinite(sigma)
    error = np.abs(sigma[ran] / gaussian_sigma(epsilon[ran], delta[ran]) - 1)
    excess = gaussian_log_delta(1 / sigma[ran], epsilon[ran]) > np.log(delta[ran])
    print(
        f"{name:<32} {excess.mean():7.1%} unsafe, {np.mean(~ran):6.1%} without an answer, "
        f"sigma off by up to {error.max():.1e}"
    )


def main() -> None:
    """Time both, then judge the results."""
    rng = np.random.default_rng(0)
    epsilon = np.exp(rng.uniform(np.log(1e-3), np.log(20), PAIRS))
    delta = 10 ** rng.uniform(-12, -1, PAIRS)
    few = slice(0, SAMPLE)

    def peer() -> Array:
        pairs = zip(epsilon[few].tolist(), delta[few].tolist(), strict=True)
        return np.array([dp_accounting.get_sigma_gaussian(*pair) for pair in pairs])

    wall, processor = seconds(lambda: gaussian_sigma(epsilon, delta), ROUNDS)
    ours = np.array([wall, processor]) / PAIRS
    theirs = np.array(seconds(peer, 1)) / SAMPLE
    alone = seconds(lambda: gaussian_sigma(1.0, 1e-5), 50)[0]
    print(f"ours, {PAIRS} pairs at once     {1e6 * ours[0]:9.2f} us per pair")
    print(f"dp_accounting, {SAMPLE} pairs       {1e6 * theirs[0]:9.2f} us per pair")
    print(f"ratio                          {theirs[0] / ours[0]:9.0f} (processor time: "
          f"{theirs[1] / ours[1]:.0f})")  # fmt: skip
    print(f"ours, one pair                 {1e6 * alone:9.0f} us")
    report("ours", gaussian_sigma(epsilon, delta), epsilon, delta)
    report("dp_accounting", peer(), epsilon[few], delta[few])
    report("Algorithm 1 as published", algorithm_1(epsilon, delta), epsilon, delta)


if __name__ == "__main__":
    main()
