"""Small learning tasks and settings that the tests of Table III share."""

from types import SimpleNamespace

import numpy as np

from dpnoise_papers.data.sets import Dataset
from dpnoise_papers.flipped_huber_2023.table_3.replicates import JUDGED_BY
from dpnoise_papers.flipped_huber_2023.table_3.settings import Table3
from dpnoise_papers.flipped_huber_2023.table_3.trials import make_split

SETTING = {
    "features": "standardise",
    "target": "standardise",
    "split": "per-trial",
    "test_fraction": 0.2,
    "penalty_scale": 1.0,
    "wine_task": "colour",
    "california_features": "ratios",
}
NAMES = {"squared": "diabetes", "logistic": "heart-statlog"}  # by loss
SQUARED = {"loss": "squared", "penalty": "l1", "strength": 0.01}
LOGISTIC = {"loss": "logistic", "penalty": "l2", "strength": 0.1}
PLAIN = {
    "seed": 2023,
    "epsilon": 1.0,
    "delta": "1/N^2",
    "curves": ["gaussian", "flipped-huber", "gaussian-tight"],
    "xi_grid": 50,
    "passes": [2, 5],
    "steps": {"low": 0.1, "high": 1.0, "count": 2, "spacing": "log"},
    "clips": {"low": 0.5, "high": 5.0, "count": 3, "spacing": "log"},
    "trials": 3,
    "setting": SETTING,
    "tasks": {
        "diabetes": SQUARED, "california": SQUARED,
        "heart-statlog": LOGISTIC, "wine-quality": LOGISTIC,
    },
    "replications": 4, "variant_replications": 4, "audit": 1, "keep": 4.0,
    "variants": {"chosen": {}},
}  # fmt: skip


def settings(*, setting=None, **changes):
    """Return small settings of Table III with some of them changed."""
    return Table3(**{**PLAIN, **changes, "setting": {**SETTING, **(setting or {})}})


def full_run(runs, trials, *, whole=True):
    """Run trials with all configurations, or with those that are kept, and return the runs."""
    wanted = {key: np.ones_like(kept) if whole else kept for key, kept in runs.kept.items()}
    for place in trials:
        trial = runs.trial(place)
        runs.run_trial(trial, wanted)
        runs.test_trial(trial, wanted)
    return runs


def dataset(loss="squared", size=60, name=None):
    """Return a task with three features of different scales, located away from zero."""
    stream = np.random.default_rng(5)
    X = stream.normal(size=(size, 3)) * [1.0, 10.0, 0.1] + [3.0, -50.0, 0.2]
    y = (X - X.mean(axis=0)) @ [1.0, -0.2, 5.0] + stream.normal(size=size)
    if loss == "logistic":
        y = np.where(y > 0, 1.0, -1.0)
    name = name or NAMES[loss]
    return Dataset(name, name, "toy", X, y, ("a", "b", "c"))


def printed_claim(dataset, mechanism, metric, value, text=""):
    """Return what Table III needs of the claim for one printed number."""
    where = {"dataset": dataset, "mechanism": mechanism}
    return SimpleNamespace(
        select=[SimpleNamespace(column=column, value=value) for column, value in where.items()],
        quantity="number",
        relation="",
        column=metric,
        result=JUDGED_BY,
        printed=SimpleNamespace(text=text or str(value), value=value),
    )


def split_of(loss="squared", index=0, seed=2023, task=None, **setting):
    tasks = {NAMES[loss]: {**(SQUARED if loss == "squared" else LOGISTIC), **(task or {})}}
    return make_split(dataset(loss), settings(seed=seed, tasks=tasks, setting=setting), index)
