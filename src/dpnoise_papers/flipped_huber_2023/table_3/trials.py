"""Trials of Table III: data sets in training and test parts, scaled and solved, and their noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.calibration.coordinate_noise import coordinate_noise
from dpnoise.learn.problem import make_problem
from dpnoise.noise import FlippedHuber, Gaussian, Laplace
from dpnoise_papers.descent.harness import OVERFLOWS, Task, budget_delta, diverged_to_inf
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.calibration.coordinate_noise import CoordinateNoise
    from dpnoise.noise import Noise
    from dpnoise_papers.data.sets import Dataset
    from dpnoise_papers.flipped_huber_2023.table_3.settings import OpenChoices, Table3

GOOD_WINE = 6  # UCI quality at or above which the task 'quality' calls a wine good
# Centre mass from which on a flipped Huber noise is called by the name of its limit.
_HARDLY, _ALMOST_ALL = 0.001, 0.999


@dataclass(frozen=True)
class Split(Task):
    """A task on the training part of a data set, with its test part.

    Attributes
    ----------
    test_features : float64 array, shape (n, K)
    test_target : float64 array, shape (n,)
    """

    test_features: Array
    test_target: Array

    @OVERFLOWS
    def test_error(self, weights: Array) -> Array:
        """Misclassification rate or normalised residual sum of squares on the test part."""
        fitted = weights @ self.test_features.T
        if self.problem.loss == "logistic":
            return np.asarray(np.mean(np.sign(fitted) != self.test_target, axis=-1))
        squares = np.sum((fitted - self.test_target) ** 2, axis=-1)
        return diverged_to_inf(squares / np.sum(self.test_target**2))


def features_and_target(dataset: Dataset, setting: OpenChoices) -> tuple[Array, Array]:
    """Return the arrays of the learning task under one choice of what the paper leaves open.

    Parameters
    ----------
    setting : OpenChoices
        `wine_task` matters for wine-quality alone, `california_features` for california alone.
    """
    X, y = dataset.features, dataset.target
    if dataset.name == "california" and setting.california_features == "counts":
        column = dict(zip(dataset.feature_names, X.T, strict=True))
        households = column["population"] / column["average_occupancy"]
        for name in ("average_rooms", "average_bedrooms"):
            column[name] = column[name] * households
        column["average_occupancy"] = households
        X = np.column_stack(list(column.values()))
    if dataset.name == "wine-quality" and setting.wine_task != "colour":
        quality = np.asarray(dataset.extra["quality"], dtype=float)
        if setting.wine_task == "quality":
            return X, np.where(quality >= GOOD_WINE, 1.0, -1.0)
        X = np.column_stack([X, quality])
    return X, y


def _scale(how: str, train: Array, test: Array) -> tuple[Array, Array]:
    """Scale both parts by the statistics of the training part."""
    shift = train.mean(axis=0) if how in {"standardise", "center"} else 0.0
    scale = train.std(axis=0) if how == "standardise" else 1.0
    return (train - shift) / scale, (test - shift) / scale


def make_split(dataset: Dataset, settings: Table3, index: int) -> Split:
    """Split, scale and solve: split number `index` of a data set.

    Parameters
    ----------
    index : int
        Which split; the same one for every mechanism and choice.
    """
    # scikit-learn loads here, 0.8 s, since those who only read results come through this module
    from dpnoise.learn.optimum import optimum  # noqa: PLC0415

    task, setting = settings.tasks[dataset.name], settings.setting
    X, y = features_and_target(dataset, setting)
    stream = generator(settings.seed, "table-3", dataset.name, "split", index)
    order = stream.permutation(len(y))
    cut = round(setting.test_fraction * len(y))
    test, train = order[:cut], order[cut:]
    X_train, X_test = _scale(setting.features, X[train], X[test])
    y_train, y_test = y[train], y[test]
    if task.loss == "squared":
        y_train, y_test = _scale(setting.target, y_train, y_test)
    problem = make_problem(
        X_train,
        y_train,
        loss=task.loss,
        penalty=task.penalty,
        strength=task.strength * setting.penalty_scale,
    )
    delta = budget_delta(settings.delta, problem.size)
    return Split(dataset.name, problem, optimum(problem), delta, X_test, y_test)


def account(task: Task, mechanism: str, settings: Table3, passes: int) -> CoordinateNoise:
    """Return the noise of one update of sensitivity 1, and the budget that all updates spend.

    Parameters
    ----------
    mechanism : {"gaussian", "flipped-huber", "gaussian-tight"}
    """
    sizes = None
    if mechanism == "flipped-huber":  # searched for the sensitivities; the others ignore them
        exact = task.problem.sensitivities(1.0)
        # Their ratios choose from a grid. Trials whose ratios differ by rounding share a search.
        sizes = tuple(float(f"{ratio:.12g}") for ratio in exact / exact.max())
    shape = task.problem.coordinates, passes
    return _account(mechanism, settings.epsilon, task.delta, shape, sizes, settings.xi_grid)


@lru_cache(maxsize=1024)  # the same for many configurations and trials
def _account(  # noqa: PLR0917
    mechanism: str,
    epsilon: float,
    delta: float,
    shape: tuple[int, int],
    sensitivities: tuple[float, ...] | None,
    grid: int,
) -> CoordinateNoise:
    return coordinate_noise(
        mechanism,
        epsilon=epsilon,
        delta=delta,
        coordinates=shape[0],
        passes=shape[1],
        sensitivities=sensitivities,
        grid=grid,
    )


def describe_centre(noise: Noise) -> str:
    """Return what a noise is in plain words, by its mass P(|T| <= alpha) in the centre.

    A phrase such as "Gaussian (alpha = 0)".

    Parameters
    ----------
    noise : Noise
        A flipped Huber noise below 0.1 % of mass in the centre is called Gaussian, above
        99.9 % the Laplace limit, and a graft in between.
    """
    if isinstance(noise, Gaussian | Laplace):
        return type(noise).__name__
    if not isinstance(noise, FlippedHuber):
        return repr(noise)
    mass = noise.centre_mass()
    if _HARDLY <= mass <= _ALMOST_ALL:
        return f"graft: {100.0 * mass:.3g} % of the mass in the Laplace centre"
    if noise.alpha == 0:
        return "Gaussian (alpha = 0)"
    name = "Gaussian" if mass < _HARDLY else "Laplace limit"
    share = f"{100.0 * mass:.4g} %" if mass < 1.0 else "all"
    ratio = noise.alpha / noise.gamma
    return f"{name} (alpha/gamma = {ratio:.3g}: {share} of the mass is in the Laplace centre)"
