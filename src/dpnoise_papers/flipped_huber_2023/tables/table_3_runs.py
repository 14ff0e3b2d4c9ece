"""Runs of private coordinate descent for Table III: splits, draws, errors of all configurations.

Draws are paired: all mechanisms, steps and clipping levels see the same uniforms through their own
quantile functions, so that a difference between two mechanisms is not a difference in luck.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.learn.cd import coordinate_orders, descend
from dpnoise.learn.optimum import optimum
from dpnoise.learn.problem import make_problem
from dpnoise.noise import FlippedHuber, Gaussian
from dpnoise_papers import grids
from dpnoise_papers.descent.harness import (
    OVERFLOWS,
    Task,
    budget_delta,
    diverged_to_inf,
    in_threads,
    run,
    smallest_mean,
)
from dpnoise_papers.flipped_huber_2023.tables.table_3_noise import release_noise
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dpnoise._types import Array
    from dpnoise.noise import Noise
    from dpnoise_papers.data.dataset import Dataset
    from dpnoise_papers.flipped_huber_2023.settings_table_3 import OpenChoices, Table3

    # A mechanism, and what its NMSE is measured from: 'exact' or passes of the plain descent.
    Key = tuple[str, str | int]

EXACT = "exact"
GOOD_WINE = 6  # UCI quality at or above which the task 'quality' calls a wine good
_UNCLIPPED = 1e12


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


def _one_distribution(noise: Noise) -> Noise:
    """Equal distributions as equal objects: flipped Huber noise with alpha = 0 is Gaussian."""
    if isinstance(noise, FlippedHuber) and noise.alpha == 0.0:
        return Gaussian(noise.gamma)
    return noise


class Runs:
    """NMSE and test error of every configuration and trial; inf where it was not run.

    Parameters
    ----------
    asked : mapping
        For each mechanism and optimum the numbers of passes that are tried.
    first : int
        Number of the first trial, on which its split and its draws depend.

    Attributes
    ----------
    nmse : dict of float64 arrays, shape (passes, steps, clips, trials)
        By mechanism and optimum.
    test_error : dict of float64 arrays
        By mechanism.
    noises : dict
        The noise of each mechanism and number of passes.
    kept : dict of bool arrays, shape (passes, steps, clips)
        The configurations that `run` runs.
    """

    def __init__(
        self,
        dataset: Dataset,
        settings: Table3,
        asked: Mapping[Key, Iterable[int]],
        *,
        trials: int,
        first: int = 0,
    ) -> None:
        self.dataset, self.settings, self.first = dataset, settings, first
        self.asked = {key: frozenset(passes) for key, passes in asked.items()}
        self.passes = sorted(frozenset().union(*self.asked.values()))
        self.steps, self.clips = grids.values(settings.steps), grids.values(settings.clips)
        shape = (len(self.passes), len(self.steps), len(self.clips), trials)
        self.kept = {key: np.ones(shape[:3], dtype=bool) for key in self.asked}
        self.nmse = {key: np.full(shape, np.inf) for key in self.asked}
        self.test_error = {mechanism: np.full(shape, np.inf) for mechanism, _ in self.asked}
        self.noises: dict[tuple[str, int], Noise] = {}

    def run(self, trials: Iterable[int], threads: int, *, whole: bool = True) -> None:
        """Run trials with all configurations, or with those that are kept.

        Parameters
        ----------
        threads : int
            Every trial writes its own place, so that the result does not depend on it.
        """
        in_threads(partial(self._run, whole=whole), trials, threads)

    def _run(self, trial: int, *, whole: bool) -> None:
        """Run one trial."""
        number = self.first + trial
        own = self.settings.setting.split == "per-trial"
        split = make_split(self.dataset, self.settings, number if own else 0)
        targets = {where: _target(split, where) for _, where in self.asked}
        for place, passes in enumerate(self.passes):
            shape = passes, split.problem.coordinates
            stream = generator(self.settings.seed, "table-3", split.name, "noise", passes, number)
            uniforms = np.maximum(stream.random(shape), 2.0**-54)
            orders = coordinate_orders(self.settings.setting.order, shape, stream)
            for noise, keys in self._noises(split, passes).items():
                wanted = np.any([whole | self.kept[key][place] for key in keys], axis=0)
                errors = run(
                    split.problem,
                    [
                        lambda weights: split.test_error(weights[:, 0])[:, None],
                        *(partial(split.nmse, target=targets[where]) for _, where in keys),
                    ],
                    steps=self.steps,
                    clips=self.clips,
                    noise=noise.ppf(uniforms)[None],
                    orders=orders[None],
                    iterate=self.settings.setting.iterate,
                    wanted=wanted,
                )
                for key, nmse in zip(keys, errors[1:], strict=True):
                    self.nmse[key][place, ..., trial] = nmse[..., 0]
                    self.test_error[key[0]][place, ..., trial] = errors[0][..., 0]

    def _noises(self, split: Split, passes: int) -> dict[Noise, list[Key]]:
        """What is asked for with a number of passes, by noise: equal noises run once."""
        found: dict[Noise, list[Key]] = {}
        for key, asked in self.asked.items():
            if passes in asked:
                noise = _one_distribution(release_noise(split, key[0], self.settings, passes))
                self.noises[key[0], passes] = noise
                found.setdefault(noise, []).append(key)
        return found

    def configuration(self, place: tuple[int, ...]) -> tuple[int, float, float]:
        """Return passes, step and clipping level at a place of `best`."""
        p, s, c = place
        return self.passes[p], float(self.steps[s]), float(self.clips[c])

    def thin(self, trials: int, keep: float) -> None:
        """Keep the configurations that may win, by the first trials.

        Parameters
        ----------
        trials : int
            A configuration is judged by its mean NMSE over the better half of them.
        keep : float
            It is kept up to this multiple of the smallest mean over all of them.
        """
        for key, nmse in self.nmse.items():
            pilot = np.sort(nmse[..., :trials], axis=-1)
            better = pilot[..., : (trials + 1) // 2].mean(axis=-1)
            self.kept[key] = better <= keep * pilot.mean(axis=-1).min()

    def best(self, key: Key, passes: Iterable[int], trials: slice) -> tuple[int, ...]:
        """Return the configuration with the smallest mean NMSE.

        Places in `passes`, `steps` and `clips`.

        Parameters
        ----------
        key : (str, str or int)
            Mechanism and optimum.
        passes : iterable of int
            Which numbers of passes are tried.
        trials : slice
            Which trials it is the mean of.
        """
        tried = np.isin(self.passes, list(passes))[:, None, None, None]
        return smallest_mean(np.where(tried, self.nmse[key][..., trials], np.inf))


def _target(split: Split, where: str | int) -> Array:
    """Return what NMSE is measured from."""
    if where == EXACT:
        return split.optimum
    still = np.zeros((1, int(where), split.problem.coordinates))
    return descend(split.problem, steps=[1.0], clips=[_UNCLIPPED], noise=still)[0, 0, 0]
