"""Trials of private coordinate descent over a hyper-parameter grid.

The common ground of Table III of flipped-huber-2023, of its ablation and of its honest
counterpart: one split, one optimum, and then every (mechanism, passes, step, clip, trial).
Noise is paired: all mechanisms, steps and clips see the same uniforms through their own
quantile functions, so that a difference between two mechanisms is not a difference in luck.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise.calibration.coordinate_noise import coordinate_noise
from dpnoise.learn.cd import coordinate_orders, descend
from dpnoise.learn.optimum import optimum
from dpnoise.learn.problem import make_problem
from dpnoise.noise import FlippedHuber, Gaussian
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpnoise.calibration.coordinate_noise import CoordinateNoise
    from dpnoise.learn.problem import Problem
    from dpnoise.noise import Noise
    from dpnoise_papers.data.dataset import Dataset

GOOD_WINE = 6  # UCI quality at or above which the task 'quality' calls a wine good
_OVERFLOWS = np.errstate(over="ignore", invalid="ignore")  # a diverged run is a result: inf


@dataclass(frozen=True)
class Split:
    """One split of one data set, ready to be learned from and to be judged on."""

    problem: Problem
    optimum: NDArray[np.float64]
    test_features: NDArray[np.float64]
    test_target: NDArray[np.float64]

    @_OVERFLOWS
    def nmse(
        self, weights: NDArray[np.float64], optimum: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """||w - w*||^2 / ||w*||^2 for weights of shape (..., K); inf for a diverged run.

        w* is the exact minimum unless another `optimum` is given.
        """
        target = self.optimum if optimum is None else optimum
        distance = np.sum((weights - target) ** 2, axis=-1)
        return _diverged_to_inf(distance / np.sum(target**2))

    @_OVERFLOWS
    def test_error(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Misclassification rate or normalised residual sum of squares on the test part."""
        fitted = weights @ self.test_features.T
        if self.problem.loss == "logistic":
            return np.mean(np.sign(fitted) != self.test_target, axis=-1)
        squares = np.sum((fitted - self.test_target) ** 2, axis=-1)
        return _diverged_to_inf(squares / np.sum(self.test_target**2))


def _diverged_to_inf(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isfinite(values), values, np.inf)


def features_and_target(
    dataset: Dataset, setting: dict[str, Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the arrays of the learning task under one reading of the paper.

    `wine_task` matters for wine-quality alone, `california_features` for california alone.
    """
    X, y = dataset.features, dataset.target
    if dataset.name == "california" and setting["california_features"] == "counts":
        column = dict(zip(dataset.feature_names, X.T, strict=True))
        households = column["population"] / column["average_occupancy"]
        for name in ("average_rooms", "average_bedrooms"):
            column[name] = column[name] * households
        column["average_occupancy"] = households
        X = np.column_stack(list(column.values()))
    if dataset.name == "wine-quality" and setting["wine_task"] != "colour":
        quality = np.asarray(dataset.extra["quality"], dtype=float)
        if setting["wine_task"] == "quality":
            return X, np.where(quality >= GOOD_WINE, 1.0, -1.0)
        X = np.column_stack([X, quality])
    return X, y


def _scale(
    how: str, train: NDArray[np.float64], test: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scale both parts by the statistics of the training part."""
    shift = train.mean(axis=0) if how in {"standardise", "center"} else 0.0
    scale = train.std(axis=0) if how == "standardise" else 1.0
    return (train - shift) / scale, (test - shift) / scale


def make_split(
    dataset: Dataset, task: dict[str, Any], setting: dict[str, Any], seed: int, index: int
) -> Split:
    """Split, scale and solve: split number `index` of a data set.

    Parameters
    ----------
    dataset : Dataset
    task : dict
        loss, penalty and strength.
    setting : dict
        features, target, test_fraction, intercept, penalty_scale, wine_task and
        california_features.
    seed, index : int
        Which split; the same one for every mechanism and setting.
    """
    X, y = features_and_target(dataset, setting)
    order = generator(seed, "table-3", dataset.name, "split", index).permutation(len(y))
    cut = round(setting["test_fraction"] * len(y))
    test, train = order[:cut], order[cut:]
    X_train, X_test = _scale(setting["features"], X[train], X[test])
    y_train, y_test = y[train], y[test]
    if task["loss"] == "squared":
        y_train, y_test = _scale(setting["target"], y_train, y_test)
    problem = make_problem(
        X_train,
        y_train,
        loss=task["loss"],
        penalty=task["penalty"],
        strength=task["strength"] * setting["penalty_scale"],
        intercept=setting["intercept"],
    )
    if setting["intercept"]:
        X_test = np.column_stack([X_test, np.ones(len(X_test))])
    return Split(problem, optimum(problem), X_test, y_test)


def unit_noise(
    problem: Problem, mechanism: str, settings: dict[str, Any], passes: int
) -> CoordinateNoise:
    """Calibrate the noise of one mechanism for one number of passes."""
    delta = problem.size**-2.0 if settings["delta"] == "1/N^2" else settings["delta"]
    return coordinate_noise(
        mechanism,
        epsilon=settings["epsilon"],
        delta=delta,
        coordinates=problem.coordinates,
        passes=passes,
        sensitivities=problem.sensitivities(1.0),
        grid=settings["xi_grid"],
    )


def law_of(noise: Noise) -> Noise:
    """Name one law by one object: flipped Huber noise with alpha = 0 is Gaussian noise."""
    if isinstance(noise, FlippedHuber) and noise.alpha == 0.0:
        return Gaussian(noise.gamma)
    return noise


def run_trials(
    split: Split,
    name: str,
    settings: dict[str, Any],
    *,
    passes: int,
    trials: Sequence[int],
    steps: Sequence[float],
    clips: Sequence[float],
    seed: int,
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Run the numbered trials of every mechanism on one split.

    Returns
    -------
    dict
        For each mechanism its NMSE and test error, float64 arrays of shape (S, C, trials).
    """
    problem = split.problem
    shape = (passes, problem.coordinates)
    streams = [generator(seed, "table-3", name, "noise", passes, trial) for trial in trials]
    uniforms = np.maximum([stream.random(shape) for stream in streams], 2.0**-54)
    order = settings["setting"]["order"]
    orders = np.stack([coordinate_orders(order, shape, stream) for stream in streams])
    done: dict[Noise, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    results = {}
    for mechanism in settings["mechanisms"]:
        unit = unit_noise(problem, mechanism, settings, passes).unit
        key = law_of(unit)
        if key not in done:
            weights = descend(
                problem,
                steps=steps,
                clips=clips,
                noise=unit.ppf(uniforms),
                orders=orders,
                iterate=settings["setting"]["iterate"],
            )
            errors = np.stack(
                [split.test_error(weights[:, :, t]) for t in range(len(trials))], axis=-1
            )
            done[key] = split.nmse(weights), errors
        results[mechanism] = done[key]
    return results
