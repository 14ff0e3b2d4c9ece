"""Tables as `which_noise` makes them, of any size, with made-up numbers."""

import pandas as pd

from dpnoise_papers.beyond.tables import GRID

MECHANISMS = ("K-norm", "staircase in the norm", "Gaussian", "Laplace")


def toy(dimensions=(1, 5, 12), epsilons=(0.1, 1.0, 3.0), deltas=(0.0, 1e-6)):
    """Variances that grow with K and fall with epsilon and delta; the best mechanism changes."""
    rows = []
    for name in ("all", "three"):
        for K in dimensions:
            if name == "three" and K <= 3:
                continue
            for epsilon in epsilons:
                for delta in deltas:
                    base = (K if name == "all" else K**0.5) / epsilon**2 / (1 + 1e5 * delta)
                    first = (K + int(10 * epsilon)) % len(MECHANISMS)
                    order = MECHANISMS[first:] + MECHANISMS[:first]
                    rows += [
                        (name, K, epsilon, delta, mechanism, base * (2 + i**3), delta, base)
                        for i, mechanism in enumerate(order)
                    ]
    return pd.DataFrame(rows, columns=GRID)
