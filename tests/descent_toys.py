"""A small task and settings that the tests of improved DP-CD share."""

import numpy as np

from dpnoise_papers.data.sets import Dataset
from dpnoise_papers.inid_2024.settings import DescentOrders

NAMES = {"squared": "california", "logistic": "electricity"}  # by loss
PLAIN = {
    "seed": 2024,
    "epsilon": 1.0,
    "delta": "1/N^2",
    "passes": 3,
    "seen": [1, 2, 9],
    "trials": 3,
    "evaluate": 4,
    "steps": {"low": 0.1, "high": 3.0, "count": 4, "spacing": "log"},
    "clips": {"low": 0.5, "high": 50.0, "count": 5, "spacing": "log"},
    "refine": 3,
    "tasks": {
        "california": {"loss": "squared", "penalty": "l1", "strength": 0.05},
        "electricity": {"loss": "logistic", "penalty": "l2", "strength": "1/N"},
    },
    "documented": {"california": {"as-is": ["a", "b", "c"], "turned": ["c", "b", "a"]}},
    "random": 3,
    "keep": 10.0,
    "audit": 1,
}
SETTINGS = DescentOrders(**PLAIN)


def settings(**changes):
    """Return the settings with some of them changed."""
    return DescentOrders(**PLAIN | changes)


def dataset(loss="squared", size=400):
    """Return a task with three features of very different scales."""
    stream = np.random.default_rng(3)
    X = stream.normal(size=(size, 3)) * [1.0, 8.0, 0.2] + [1.0, -5.0, 0.1]
    y = X @ [1.0, -0.2, 2.0] + stream.normal(size=size)
    if loss == "logistic":
        y = np.where(y > y.mean(), 1.0, -1.0)
    return Dataset(NAMES[loss], NAMES[loss], "toy", X, y, ("a", "b", "c"))
