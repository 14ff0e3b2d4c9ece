"""Trials of Table III: data sets in training and test parts, scaled and solved, and their noise.

Beside the mechanisms of the paper there is noise by the bound of Mangold et al. and by the exact
account. The paper tunes private coordinate descent 'as described in' Mangold, Bellet, Salmon &
Tommasi (ICML 2022), [53], and adapts the noise to each coordinate 'as done for Gaussian in [53]'.
Whether its Gaussian row also takes the size of the noise from there is not said. Their
Theorem 3.1, as we remember it (the text could not be had), is sigma_j^2 = 12 L_j^2 T log(1 / delta)
/ (n epsilon)^2 for T updates, epsilon <= 1 and delta < 1/3; with the sensitivity
lambda_j = 2 L_j / n that is 3 lambda_j^2 T log(1 / delta) / epsilon^2. Two things speak for it: the
Renyi divergence of order 1 + sqrt(6) log(1 / delta) / epsilon gives epsilon^2 / (6 log(1 / delta))
+ 2 epsilon / sqrt(6), below epsilon in just that range; and it is zCDP with
eta = epsilon^2 / (6 log(1 / delta)), whose conversion is below epsilon (checked for every use). An
early talk of theirs has 8 in the place of 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems
from dpnoise.calibration.calibrate import calibrate
from dpnoise.calibration.coordinate_noise import coordinate_noise
from dpnoise.learn.problem import make_problem
from dpnoise.noise import FlippedHuber, Gaussian, Laplace
from dpnoise.privacy.zcdp import epsilon_from_zcdp
from dpnoise_papers.descent.harness import OVERFLOWS, Task, budget_delta, diverged_to_inf
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.calibration.coordinate_noise import CoordinateNoise
    from dpnoise.noise import Noise
    from dpnoise_papers.data.sets import Dataset
    from dpnoise_papers.flipped_huber_2023.table_3.settings import OpenChoices, Table3

GOOD_WINE = 6  # UCI quality at or above which the task 'quality' calls a wine good
_FACTOR = 3.0  # sigma^2 = 3 lambda^2 T log(1 / delta) / epsilon^2
_MAXIMUM_DELTA = 1.0 / 3.0
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
        intercept=setting.intercept,
    )
    if setting.intercept:
        X_test = np.column_stack([X_test, np.ones(len(X_test))])
    delta = budget_delta(settings.delta, problem.size)
    return Split(dataset.name, problem, optimum(problem), delta, X_test, y_test)


def release_noise(task: Task, mechanism: str, settings: Table3, passes: int) -> Noise:
    """Return the noise of one update of sensitivity 1.

    Parameters
    ----------
    mechanism : str
        One of `account`; "gaussian-dp-cd", Gaussian noise by the bound of Mangold et al.; or
        "flipped-huber-exact", flipped Huber noise of the smallest variance under the exact
        privacy profile of all updates together.
    passes : int
        L; K L updates are released.
    """
    releases = task.problem.coordinates * passes
    if mechanism == "gaussian-dp-cd":
        return bound_of_mangold(settings.epsilon, task.delta, releases)
    if mechanism == "flipped-huber-exact":
        return _exact(settings.epsilon, task.delta, releases)
    return account(task, mechanism, settings, passes).unit


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


def bound_of_mangold(epsilon: float, delta: float, releases: int) -> Gaussian:
    """Return the Gaussian noise of a release of sensitivity 1 by the bound of Mangold et al.

    ValueError outside of these ranges, where the bound does not claim privacy.

    Parameters
    ----------
    epsilon : float
        In (0, 1].
    delta : float
        In (0, 1/3).
    releases : int
        The number of updates.

    References
    ----------
    Mangold, Bellet, Salmon & Tommasi (ICML 2022), Theorem 3.1.
    """
    problems = Problems("bound of Mangold et al. (2022)")
    problems.number("epsilon", epsilon, low=0.0, open_low=True, high=1.0)
    problems.number("delta", delta, low=0.0, open_low=True, high=_MAXIMUM_DELTA, open_high=True)
    problems.raise_if_any()
    noise = Gaussian(math.sqrt(_FACTOR * releases * math.log(1.0 / delta)) / epsilon)
    spent = epsilon_from_zcdp(0.0, releases / (2.0 * noise.sigma**2), delta)
    if spent > epsilon:
        message = f"bound of Mangold et al. (2022): {noise!r} spends {spent!r} > {epsilon!r}"
        raise RuntimeError(message)
    return noise


@lru_cache(maxsize=256)
def _exact(epsilon: float, delta: float, releases: int) -> Noise:
    return calibrate("flipped-huber", epsilon=epsilon, delta=delta, dimension=releases).noise


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
