"""Private linear models beside scikit-learn and diffprivlib, on twelve data sets and on others.

`python benchmarks/estimators.py` prints the first table of docs/estimators.md: the median of R^2 or
of the accuracy on a held-out fifth, three fits on each of ten splits. With the argument `held-out`
it prints the second, of data on which no constant was chosen. Bounds are the range of each column,
rounded outwards to one digit; they stand for bounds that are public, and every library gets the
same. The package diffprivlib 0.6.6 needs an older scikit-learn: run the file with the argument
`diffprivlib` in an environment that has both, and its columns are printed. Data are those of the
pipeline (`make reproduce` prepares them), and sets that scikit-learn has or makes.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_friedman1,
    make_regression,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import train_test_split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

PREPARED = Path(__file__).parents[1] / "data" / "prepared"
NUMBERS = ("california", "boston", "airfoil", "diabetes", "wine-quality")
LABELS = ("houses", "electricity", "pumpkin-seeds", "heart-statlog", "wine-quality")
EPSILONS = (0.5, 1.0, 5.0)
SPLITS, FITS = 10, 3


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


def held_out() -> Iterator[Task]:
    """Data for which nothing was chosen: sets of scikit-learn, made data, columns as targets."""
    digits = load_digits()
    varied = digits.data[:, np.ptp(digits.data, axis=0) > 0]
    for pair in ((3, 8), (4, 9)):
        some = np.isin(digits.target, pair)
        columns = varied[some][:, np.ptp(varied[some], axis=0) > 0]
        yield Task(f"digits {pair[0]} and {pair[1]}", True, columns, digits.target[some])
    yield Task("digits", True, varied, digits.target)
    yield Task("wine", True, *load_wine(return_X_y=True))
    large = {"n_samples": 20_000, "n_features": 20, "n_informative": 8, "n_redundant": 8}
    yield Task("made, 20 columns", True, *make_classification(**large, random_state=1))
    three = {"n_samples": 3000, "n_features": 6, "n_informative": 4, "n_redundant": 0}
    yield Task("made, 3 labels", True, *make_classification(**three, n_classes=3, random_state=2))
    low = {"n_samples": 5000, "n_features": 10, "effective_rank": 4, "noise": 5}
    yield Task("made, low rank", False, *make_regression(**low, random_state=3))
    yield Task("friedman", False, *make_friedman1(2000, random_state=4))
    for name, place in (("electricity", 4), ("pumpkin-seeds", 0), ("california", 7)):
        with np.load(PREPARED / f"{name}.npz") as found:
            rest, column = np.delete(found["features"], place, axis=1), found["features"][:, place]
            yield Task(f"{name}, column {place + 1}", False, rest, column)
    with np.load(PREPARED / "wine-quality.npz") as found:
        rest, alcohol = found["features"][:, :-1], found["features"][:, -1]
        yield Task("wine-quality, alcohol", False, rest, alcohol)
        yield Task("wine-quality, alcohol > 10", True, rest, (alcohol > 10).astype(int))


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


def main(*, peer: bool, chosen: Iterator[Task]) -> None:
    """Print a row for each task."""
    warnings.simplefilter("ignore")
    for task in chosen:
        score = "accuracy" if task.labels else "R^2"
        size, columns = task.features.shape
        exact = LogisticRegression(C=1e4, max_iter=5000) if task.labels else LinearRegression()
        make = peers if peer else ours
        cells = [_median(task.mapped(), lambda *_, exact=exact: exact)]
        given = task.mapped() if peer else task
        cells += [
            _median(given, lambda one, seed, make=make, e=e: make(one, e, seed)) for e in EPSILONS
        ]
        row = f"| {task.name} | {size} | {columns} | {score} |"
        print(row, " | ".join(cells), "|", flush=True)


def _median(task: Task, make: Callable[[Task, int], Any]) -> str:
    """Median score on the held-out parts."""
    scores = []
    for seed in range(SPLITS):
        parts = train_test_split(task.features, task.target, test_size=0.2, random_state=seed)
        for fit in range(FITS):
            model = make(task, seed + SPLITS * fit).fit(parts[0], parts[2])
            scores.append(model.score(parts[1], parts[3]))
    return f"{np.median(scores):.3f}"


if __name__ == "__main__":
    main(peer="diffprivlib" in sys.argv, chosen=held_out() if "held-out" in sys.argv else tasks())
