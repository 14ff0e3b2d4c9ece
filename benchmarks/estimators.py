"""Private linear models beside scikit-learn and diffprivlib, on twelve data sets.

`python benchmarks/estimators.py` prints the table of docs/estimators.md: the median over ten splits
of R^2 or of the accuracy on a held-out fifth. Bounds are the range of each column, rounded outwards
to one digit; they stand for bounds that are public, and every library gets the same. The package
diffprivlib 0.6.6 needs an older scikit-learn: run the file with `diffprivlib` as its argument in an
environment that has both, and its columns are printed. Data are those of the pipeline (`make
reproduce` prepares them) and two that come with scikit-learn.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import train_test_split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

PREPARED = Path(__file__).parents[1] / "data" / "prepared"
NUMBERS = ("california", "boston", "airfoil", "diabetes", "wine-quality")
LABELS = ("houses", "electricity", "pumpkin-seeds", "heart-statlog", "wine-quality")
EPSILONS = (0.5, 1.0, 5.0)
SPLITS = 10


class Task(NamedTuple):
    """Data of one row: features, shape (N, K), and targets, shape (N,), labels or numbers."""

    name: str
    labels: bool
    features: NDArray
    target: NDArray

    def mapped(self) -> Task:
        """The same with features, and targets that are numbers, mapped to [-1, 1]."""
        target = self.target if self.labels else _unit(self.target)
        return self._replace(features=_unit(self.features), target=target)


def _unit(values: NDArray) -> NDArray:
    """Values mapped from their rounded range to [-1, 1]."""
    low, high = outward(values)
    return 2.0 * (values - low) / (high - low) - 1.0


def tasks() -> Iterator[Task]:
    """Yield name, whether the targets are labels, features and targets."""
    for name in NUMBERS:
        with np.load(PREPARED / f"{name}.npz") as found:
            target = "extra/quality" if name == "wine-quality" else "target"
            yield Task(name, False, found["features"], found[target])
    for name in LABELS:
        with np.load(PREPARED / f"{name}.npz") as found:
            yield Task(name, True, found["features"], found["target"].astype(int))
    for name, loaded in (("breast-cancer", load_breast_cancer()), ("iris", load_iris())):
        yield Task(name, True, loaded.data, loaded.target)


def outward(values: NDArray) -> tuple[NDArray, NDArray]:
    """Range of each column, rounded outwards to one digit of its width."""
    low, high = values.min(axis=0), values.max(axis=0)
    unit = 10.0 ** np.floor(np.log10(np.maximum(high - low, 1e-12)))
    return np.floor(low / unit) * unit, np.ceil(high / unit) * unit


def ours(task: Task, epsilon: float, seed: int) -> Any:  # noqa: ANN401 - a model
    """A model of dpnoise at its defaults."""
    from dpnoise.learn import DPLinearRegression, DPLogisticRegression  # noqa: PLC0415

    bounds = np.column_stack(outward(task.features))
    public = {"epsilon": epsilon, "feature_bounds": bounds, "random_state": seed}
    if task.labels:
        return DPLogisticRegression(classes=np.unique(task.target), **public)
    return DPLinearRegression(target_bound=outward(task.target), **public)


def peers(task: Task, epsilon: float, seed: int) -> Any:  # noqa: ANN401 - a model
    """A model of diffprivlib at its defaults, for data mapped to [-1, 1]."""
    from diffprivlib import models  # noqa: PLC0415

    features = task.features.shape[1]
    if task.labels:
        norm = features**0.5
        return models.LogisticRegression(
            epsilon=epsilon, data_norm=norm, max_iter=1000, random_state=seed
        )
    ends = np.full(features, -1.0), np.full(features, 1.0)
    return models.LinearRegression(
        epsilon=epsilon, bounds_X=ends, bounds_y=(-1.0, 1.0), random_state=seed
    )


def main(*, peer: bool) -> None:
    """Print a row for each task."""
    warnings.simplefilter("ignore")
    for task in tasks():
        score = "accuracy" if task.labels else "R^2"
        size, columns = task.features.shape
        exact = LogisticRegression(C=1e4, max_iter=5000) if task.labels else LinearRegression()
        make = peers if peer else ours
        cells = [_median(task.mapped(), lambda *_, exact=exact: exact)]
        given = task.mapped() if peer else task
        cells += [
            _median(given, lambda one, seed, make=make, e=e: make(one, e, seed)) for e in EPSILONS
        ]
        print(f"| {task.name} | {size} | {columns} | {score} |", " | ".join(cells), "|")


def _median(task: Task, make: Callable[[Task, int], Any]) -> str:
    """Median score on the held-out parts."""
    scores = []
    for seed in range(SPLITS):
        parts = train_test_split(task.features, task.target, test_size=0.2, random_state=seed)
        scores.append(make(task, seed).fit(parts[0], parts[2]).score(parts[1], parts[3]))
    return f"{np.median(scores):.3f}"


if __name__ == "__main__":
    main(peer=sys.argv[1:] == ["diffprivlib"])
