"""Processor seconds of calibration over the number of coordinates, ours and a peer's.

    python benchmarks/over_k

writes over_k.csv, one row for each function and number of coordinates. Every call is asked three
times, at different epsilons so that nothing is taken from a cache, and counts with its median; one
that takes long is asked once. The peer is dp_accounting, for the two families that it calibrates.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING

import dp_accounting
import numpy as np
import pandas as pd
from dp_accounting.pld import PLDAccountant

from dpnoise import L2, Box, best, calibrate, calibrate_joint
from dpnoise.joint.calibrate import JOINT_FAMILIES
from dpnoise.noise import FAMILIES, INTEGER_FAMILIES
from dpnoise.optimality.floor import floor

if TYPE_CHECKING:
    from collections.abc import Callable

    Call = Callable[[int, float], object]

COPIES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
EPSILONS, DELTA = (1.0, 0.9, 1.1), 1e-6
LONG = 5.0  # seconds above which a call is not repeated
HERE = Path(__file__).parent


def independent(name: str) -> Call:
    """Calibration of independent noise of one family."""
    return lambda K, epsilon: calibrate(name, epsilon=epsilon, delta=DELTA, dimension=K)


def joint(name: str) -> Call:
    """Calibration of joint noise of one family in the norm of the box."""
    delta = DELTA if name != "norm-staircase" else 0.0
    return lambda K, epsilon: calibrate_joint(name, Box(np.ones(K)), epsilon=epsilon, delta=delta)


def gaussian_of_peer(K: int, epsilon: float) -> float:
    """Sigma of Gaussian noise by dp_accounting."""
    return dp_accounting.get_sigma_gaussian(epsilon, DELTA) * K**0.5


def laplace_of_peer(K: int, epsilon: float) -> float:
    """Scale of Laplace noise by dp_accounting's privacy loss distributions."""
    return dp_accounting.calibrate_dp_mechanism(
        PLDAccountant,
        lambda scale: dp_accounting.SelfComposedDpEvent(dp_accounting.LaplaceDpEvent(scale), K),
        epsilon,
        DELTA,
        dp_accounting.ExplicitBracketInterval(0.1, 2.0 * K),
    )


QUESTIONS: dict[tuple[str, str], Call] = {
    **{("calibrate", name): independent(name) for name in (*FAMILIES, *INTEGER_FAMILIES)
       if name != "subbotin"},
    **{("calibrate_joint", name): joint(name) for name in JOINT_FAMILIES},
    ("best", "box"): lambda K, epsilon: best(Box(np.ones(K)), epsilon=epsilon, delta=DELTA),
    ("best", "l2 ball"): lambda K, epsilon: best(L2(1.0, of=K), epsilon=epsilon, delta=DELTA),
    ("floor", "box"): lambda K, epsilon: floor(Box(np.ones(K)), epsilon=epsilon, delta=DELTA),
    ("floor", "l2 ball"): lambda K, epsilon: floor(L2(1.0, of=K), epsilon=epsilon, delta=DELTA),
    ("dp_accounting", "gaussian"): gaussian_of_peer,
    ("dp_accounting", "laplace"): laplace_of_peer,
}  # fmt: skip


def seconds(call: Call, K: int) -> float:
    """Median processor seconds of a call."""
    times: list[float] = []
    for epsilon in EPSILONS:
        start = process_time()
        call(K, epsilon)
        times.append(process_time() - start)
        if sum(times) > LONG:
            break
    return median(times)


def main() -> None:
    """Ask and time everything; print and write the table."""
    rows = []
    for (function, of), call in QUESTIONS.items():
        call(2, 2.0)  # imports and compiled code
        for K in COPIES:
            took = f"{seconds(call, K):.3g}"
            print(function, of, K, took, flush=True)
            rows.append({"function": function, "of": of, "K": K, "seconds": took})
    pd.DataFrame(rows).to_csv(HERE / "over_k.csv", index=False)


if __name__ == "__main__":
    main()
