"""Runs of private coordinate descent for Table III: draws, and errors of all configurations.

Draws are paired: all mechanisms, steps and clipping levels see the same uniforms through their own
quantile functions, so that a difference between two mechanisms is not a difference in luck.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.learn.cd import coordinate_orders, descend
from dpnoise.noise import FlippedHuber, Gaussian
from dpnoise_papers import grids
from dpnoise_papers.descent.harness import in_threads, run, smallest_mean
from dpnoise_papers.flipped_huber_2023.tables.table_3_noise import release_noise
from dpnoise_papers.flipped_huber_2023.tables.table_3_splits import Split, make_split
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise.noise import Noise
    from dpnoise_papers.data.dataset import Dataset
    from dpnoise_papers.flipped_huber_2023.settings_table_3 import Table3

    # A mechanism, and what its NMSE is measured from: 'exact' or passes of the plain descent.
    Key = tuple[str, str | int]
    Flags = NDArray[np.bool_]

EXACT = "exact"
_UNCLIPPED = 1e12


class Updates(NamedTuple):
    """Unit noise of some updates and their coordinates, both of shape (1, L, K), and who asks."""

    noise: Array
    orders: NDArray[np.int64]
    keys: list[Key]


@dataclass(frozen=True)
class Trial:
    """One trial: its split, what each NMSE is measured from, and its draws by passes."""

    place: int
    split: Split
    targets: dict[str | int, Array]
    drawn: dict[int, list[Updates]] = field(default_factory=dict)


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

    def run(self, trials: Collection[int], threads: int, *, whole: bool = True) -> None:
        """Run trials with all configurations, or with those that are kept.

        Parameters
        ----------
        threads : int
            Every trial writes its own place, so that the result does not depend on it.
        """
        every = {key: np.ones_like(kept) for key, kept in self.kept.items()}
        self._run_all(trials, every if whole else self.kept, threads)

    def _run_all(self, trials: Collection[int], wanted: Mapping[Key, Flags], threads: int) -> None:
        in_threads(lambda one: self.run_trial(self.trial(one), wanted), trials, threads, "trials")

    def run_trial(self, trial: Trial, wanted: Mapping[Key, Flags]) -> None:
        """Run one trial with some configurations, but for those that it has run already.

        Parameters
        ----------
        wanted : mapping
            Bool arrays as in `kept`, for all keys.
        """
        split, column = trial.split, trial.place
        for place, passes in enumerate(self.passes):
            if not any(flags[place].any() for flags in wanted.values()):
                continue
            for noise, orders, keys in self.noises_of(trial, passes):
                new = [
                    wanted[key][place] & ~np.isfinite(self.nmse[key][place, ..., column])
                    for key in keys
                ]
                chosen = np.any(new, axis=0)
                errors = run(
                    split.problem,
                    [
                        lambda weights: split.test_error(weights[:, 0])[:, None],
                        *(partial(split.nmse, target=trial.targets[where]) for _, where in keys),
                    ],
                    steps=self.steps,
                    clips=self.clips,
                    noise=noise,
                    orders=orders,
                    iterate=self.settings.setting.iterate,
                    wanted=chosen,
                )
                for key, nmse in zip(keys, errors[1:], strict=True):
                    self.nmse[key][place, chosen, column] = nmse[chosen, 0]
                    self.test_error[key[0]][place, chosen, column] = errors[0][chosen, 0]

    def run_places(
        self, trials: Collection[int], places: Mapping[Key, tuple[int, ...]], threads: int
    ) -> None:
        """Run trials with one configuration of each key, at its place of `best`."""
        wanted = {key: np.zeros_like(kept) for key, kept in self.kept.items()}
        for key, place in places.items():
            wanted[key][place] = True
        self._run_all(trials, wanted, threads)

    def trial(self, place: int) -> Trial:
        """Trial at a place of the last axis of the errors."""
        own = self.settings.setting.split == "per-trial"
        split = make_split(self.dataset, self.settings, self.first + place if own else 0)
        targets = {where: _target(split, where) for where in {where for _, where in self.asked}}
        return Trial(place, split, targets)

    def noises_of(self, trial: Trial, passes: int) -> list[Updates]:
        """What is asked for with a number of passes, by noise: equal noises run once."""
        if passes not in trial.drawn:
            found: dict[Noise, list[Key]] = {}
            asking = [key for key, asked in self.asked.items() if passes in asked]
            for mechanism in dict.fromkeys(mechanism for mechanism, _ in asking):
                noise = release_noise(trial.split, mechanism, self.settings, passes)
                self.noises[mechanism, passes] = one = _one_distribution(noise)
                keys = [key for key in asking if key[0] == mechanism]
                found.setdefault(one, []).extend(keys)
            uniforms, orders = self._draw(trial, passes)
            trial.drawn[passes] = [
                Updates(noise.ppf(uniforms)[None], orders[None], keys)
                for noise, keys in found.items()
            ]
        return trial.drawn[passes]

    def _draw(self, trial: Trial, passes: int) -> tuple[Array, NDArray[np.int64]]:
        """Uniforms and the order of coordinates, both of shape (L, K)."""
        shape, number = (passes, trial.split.problem.coordinates), self.first + trial.place
        name = trial.split.name
        stream = generator(self.settings.seed, "table-3", name, "noise", passes, number)
        uniforms = np.maximum(stream.random(shape), 2.0**-54)
        return uniforms, coordinate_orders(self.settings.setting.order, shape, stream)

    def configuration(self, place: tuple[int, ...]) -> tuple[int, float, float]:
        """Return passes, step and clipping level at a place of `best`."""
        p, s, c = place
        return self.passes[p], float(self.steps[s]), float(self.clips[c])

    def thin(self, pilot: Sequence[slice], keep: float) -> None:
        """Keep the configurations that may win, by the first replications.

        Parameters
        ----------
        pilot : list of slice
            Their trials. A configuration is judged by its mean NMSE over the better half of all,
            inf where it was not run.
        keep : float
            It is kept up to this multiple of the mean of the smallest means of each replication.
        """
        for key, nmse in self.nmse.items():
            values = np.sort(nmse[..., : pilot[-1].stop], axis=-1)
            better = values[..., : (values.shape[-1] + 1) // 2].mean(axis=-1)
            smallest = np.mean([nmse[..., trials].mean(axis=-1).min() for trials in pilot])
            self.kept[key] = better <= keep * smallest

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
