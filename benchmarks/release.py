"""Exact draws a processor second: `release` beside `rvs`, whose doubles leak.

Each noise is drawn 2 * 10^5 times, and 200 times without its table (joint noise: in one call of 200
vectors), with the operating system's entropy.
"""

import time
from collections.abc import Callable

import numpy as np

from dpnoise import AtMost, DiscreteGaussian, DiscreteLaplace, best, release
from dpnoise.noise import FAMILIES, Laplace
from dpnoise.releases.continuous import table_of

MANY, FEW = 200_000, 200
PARAMETERS = {
    "flipped-huber": (1.0, 2.0),
    "offset-symmetric-gaussian": (1.0, 2.0),
    "staircase": (1.0, 1.0, 0.3),
    "truncated-laplace": (1.0, 3.0),
    "subbotin": (1.5, 2.0),
}
NOISES = [
    *(kind(*PARAMETERS.get(name, (1.0,))) for name, kind in FAMILIES.items()),
    DiscreteLaplace(10.0),
    DiscreteGaussian(10.0),
    best(AtMost(3, of=12), epsilon=1.0).noise,
]


def seconds(call: Callable[[], object]) -> float:
    """Return the processor seconds of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def main() -> None:
    """Print a line for each noise."""
    release(np.zeros(1000), Laplace(1.0))
    print(f"{'noise':50} {'draws/s':>10} {'us, of 200':>10} {'table, s':>9} {'rvs/s':>10}")
    for noise in NOISES:
        K = getattr(noise, "dimension", 1)
        vector = (K,) if K > 1 else ()
        few = seconds(lambda n=noise, v=vector: release(np.zeros((FEW, *v), dtype=int), n))
        table = seconds(lambda n=noise: table_of(n)) if type(noise) in FAMILIES.values() else 0.0
        rows = MANY // K
        many = seconds(lambda n=noise, v=vector, r=rows: release(np.zeros((r, *v), dtype=int), n))
        plain = seconds(lambda n=noise, r=rows: n.rvs(r, random_state=1))
        rates = f"{rows * K / many:10.3g} {1e6 * few / FEW:10.1f} {table:9.3f}"
        print(f"{repr(noise)[:50]:50} {rates} {rows * K / plain:10.3g}")


if __name__ == "__main__":
    main()
