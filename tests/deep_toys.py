"""Small runs of private training for the tests."""

import math

import numpy as np

from dpnoise_papers.inid_2024.deep.run import Images, Run, Trial
from dpnoise_papers.inid_2024.settings import Network, PrivateTraining

NETWORK = Network(widths=(4, 8), blocks=1, stride=2, normalisation=2)
TRIALS = tuple(Trial(("report", k), 0.5) for k in range(3))


def images(train=40, test=30, seed=0):
    """Noisy pictures of three classes."""
    rng = np.random.default_rng(seed)
    means = np.random.default_rng(1).normal(size=(3, 1, 6, 6))

    def some(count):
        labels = np.arange(count) % 3
        return (means[labels] + 0.3 * rng.normal(size=(count, 1, 6, 6))).astype("f4"), labels

    return Images(*some(train), *some(test), name="toy")


def run(**changes):
    """Six layers, each clipped to 0.4, with little noise."""
    told = {
        "network": NETWORK,
        "whole": False,
        "noise": "gaussian",
        "clips": (0.4,) * 6,
        "scales": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
        "rate": 0.25,
        "epochs": 3,
        "trials": TRIALS,
        "seed": 5,
        "scope": ("toy",),
        "chunk": 64,
    }
    return Run(**(told | changes))


def spent_unit(run):
    """Scale of the noise for a single query of sensitivity 1 with the budget of all groups.

    (sum (C_m / s_m)^q)^(-1/q), q = 2 for Gaussian and 1 for Laplace noise.
    """
    ratios = [clip / scale for clip, scale in zip(run.clips, run.scales, strict=True)]
    return 1.0 / (math.hypot(*ratios) if run.noise == "gaussian" else math.fsum(ratios))


def table(**changes):
    """Settings of a small Table IV."""
    told = {
        "network": NETWORK.model_dump(),
        "clip": 1.0,
        "rate": 0.25,
        "epochs": 2,
        "budgets": [
            {"noise": "gaussian", "delta": 1e-5, "epsilon": 8.0},
            {"noise": "laplace", "delta": 0.0, "epsilon": 8.0},
        ],
        "schemes": ["iid", "spr", "optimal", "spr-group"],
        "learning_rates": [0.1, 1.0],
        "search": 2,
        "search_epochs": 1,
        "repetitions": 3,
        "chunk": 64,
        "seed": 7,
    }
    return PrivateTraining.model_validate(told | changes)
