"""Small learning tasks and settings that the tests of Table III share."""

import numpy as np

from dpnoise_papers.data.dataset import Dataset

SETTING = {
    "features": "standardise",
    "target": "standardise",
    "split": "per-trial",
    "test_fraction": 0.2,
    "order": "cyclic",
    "iterate": "last",
    "intercept": False,
    "penalty_scale": 1.0,
    "wine_task": "colour",
    "california_features": "ratios",
}
SETTINGS = {
    "epsilon": 1.0,
    "delta": "1/N^2",
    "mechanisms": ["gaussian", "flipped-huber", "gaussian-tight"],
    "xi_grid": 50,
    "passes": [2, 5],
    "steps": {"low": 0.1, "high": 1.0, "count": 2},
    "clips": {"low": 0.5, "high": 5.0, "count": 3},
    "trials": 3,
    "honest": {"select": 2, "evaluate": 4},
    "setting": SETTING,
}
TASKS = {
    "squared": {"loss": "squared", "penalty": "l1", "strength": 0.01},
    "logistic": {"loss": "logistic", "penalty": "l2", "strength": 0.1},
}


def settings(*, setting=None, **changes):
    """Return small settings of Table III with some of them changed."""
    return {**SETTINGS, **changes, "setting": {**SETTING, **(setting or {})}}


def dataset(loss="squared", size=60, name="toy"):
    """Return a task with three features of different scales, located away from zero."""
    stream = np.random.default_rng(5)
    X = stream.normal(size=(size, 3)) * [1.0, 10.0, 0.1] + [3.0, -50.0, 0.2]
    y = (X - X.mean(axis=0)) @ [1.0, -0.2, 5.0] + stream.normal(size=size)
    if loss == "logistic":
        y = np.where(y > 0, 1.0, -1.0)
    return Dataset(name, name, "toy", X, y, ("a", "b", "c"))
