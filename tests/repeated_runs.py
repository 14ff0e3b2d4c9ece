"""Audit of a mechanism that publishes several numbers in a run, such as a private fit."""

import numpy as np

from dpnoise import audit_sampler


def audited_runs(mechanism, data, neighbour, *, runs=2000, seed=0, confidence=0.9999, **claim):
    """Audit of `mechanism(data, generator)`, run many times on two neighbouring data sets."""
    rng = np.random.default_rng(seed)
    first, second = (
        np.array([np.ravel(mechanism(one, rng)) for _ in range(runs)], dtype=float)
        for one in (data, neighbour)
    )
    return audit_sampler(first, second, confidence=confidence, **claim)
