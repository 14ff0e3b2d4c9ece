"""Runs of private coordinate descent for Table III: draws, errors and the best configuration.

Draws are paired: all mechanisms, steps and clipping levels see the same uniforms through their own
quantile functions, so that a difference between two mechanisms is not a difference in luck.

Where only the best configuration is asked for, most of the grid is not run. An NMSE is not
negative: a configuration whose NMSE on some trials sums to more than that of another one on all of
them is not the best. Most have lost before they are run, by their lower bounds, or after their
first trial, and are not run on the others; the best configuration, and what is known of it, are
those of a full run.

The lower bounds are known before a run. In the cyclic order every pass updates a coordinate j once,
by w <- prox(w - s / M_j (g + z)), with the step s, the mean g of clipped gradients and the noise z,
known beforehand. Clipping bounds |g| by C_j, and the logistic loss by the mean of |x_j|. The
proximal operator of an l2 penalty of strength a multiplies by r = 1 / (1 + s a / M_j), that of an
l1 penalty moves by s a / M_j at most, and so after L passes

    w_j = -(s / M_j) sum_l r^(L - l + 1) z_l + e,
    |e| <= (s / M_j) (B + a if the penalty is l1) sum_l r^(L - l + 1)

with B the bound of |g|. Small clipping levels leave w near zero, and noise of large ones takes it
far away, whatever the gradients are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.learn.cd import descend
from dpnoise.noise import FlippedHuber, Gaussian
from dpnoise_papers.descent.harness import OVERFLOWS, in_threads, race, smallest_mean
from dpnoise_papers.flipped_huber_2023.table_3.trials import Split, account, make_split
from dpnoise_papers.seeds import generator
from dpnoise_papers.settings import values

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise.learn.problem import Problem
    from dpnoise.noise import Noise
    from dpnoise_papers.data.sets import Dataset
    from dpnoise_papers.descent.harness import Task
    from dpnoise_papers.flipped_huber_2023.table_3.settings import Table3

    NoiseOf = Callable[[Task, str, Table3, int], Noise]  # by mechanism and passes
    # A mechanism, and what its NMSE is measured from: 'exact' or passes of the plain descent.
    Key = tuple[str, str | int]
    Flags = NDArray[np.bool_]

EXACT = "exact"
_UNCLIPPED = 1e12
_SPLITS = 16  # kept in memory; several runs of the protocol may be under way in threads
# Above what the rounding of the descent, in single precision in parts, can add.
_SLACK = 1e-4
_MANY = 0.1  # share of the grid in a contest from which on bounds save more than they take


class Updates(NamedTuple):
    """Unit noise of some cyclic updates, shape (1, L, K), and who asks.

    `weights`, shape (steps, clips, K), are those at the end, as far as they have been run.
    """

    noise: Array
    keys: list[Key]
    weights: Array


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


def _by_account(task: Task, mechanism: str, settings: Table3, passes: int) -> Noise:
    return account(task, mechanism, settings, passes).unit


class Runs:
    """NMSE and test error of every configuration and trial; inf where it was not run.

    Parameters
    ----------
    asked : mapping
        For each mechanism and optimum the numbers of passes that are tried.
    first : int
        Number of the first trial, on which its split and its draws depend.
    together : int, optional
        How many trials in a row are one run of the protocol: where trials share a split, those of
        each run have their own. By default all trials are one.
    noise_of : callable, optional
        The noise of one update of sensitivity 1; by default that of `account`.

    Attributes
    ----------
    nmse : dict of float64 arrays, shape (passes, steps, clips, trials)
        By mechanism and optimum.
    bounds : dict of float64 arrays
        Lower bounds of `nmse`, 0 where none is known.
    test_error : dict of float64 arrays
        By mechanism.
    noises : dict
        The noise of each mechanism, number of passes and trial: its split decides, too.
    kept : dict of bool arrays, shape (passes, steps, clips)
        The configurations that `thin` has left.
    scores : dict of float64 arrays, shape (passes, steps, clips)
        What is presumed of the errors: `run_for_best` starts from the smallest, and its result
        does not depend on them. At first those of step and clipping level 1 are the smallest.
    """

    def __init__(
        self,
        dataset: Dataset,
        settings: Table3,
        asked: Mapping[Key, Iterable[int]],
        *,
        trials: int,
        first: int = 0,
        together: int | None = None,
        noise_of: NoiseOf | None = None,
    ) -> None:
        self.dataset, self.settings, self.first = dataset, settings, first
        self.noise_of = noise_of or _by_account
        self.together = together
        self._split = lru_cache(maxsize=_SPLITS)(self._make_split)
        self.asked = {key: frozenset(passes) for key, passes in asked.items()}
        self.passes = sorted(frozenset().union(*self.asked.values()))
        self.steps, self.clips = values(settings.steps), values(settings.clips)
        shape = (len(self.passes), len(self.steps), len(self.clips), trials)
        self.kept = {key: np.ones(shape[:3], dtype=bool) for key in self.asked}
        presumed = np.abs(np.log(self.steps))[:, None] + np.abs(np.log(self.clips))
        self.scores = {key: np.broadcast_to(presumed, shape[:3]) for key in self.asked}
        self.nmse = {key: np.full(shape, np.inf) for key in self.asked}
        self.bounds = {key: np.zeros(shape) for key in self.asked}
        self.test_error = {mechanism: np.full(shape, np.inf) for mechanism, _ in self.asked}
        self.noises: dict[tuple[str, int, int], Noise] = {}

    def run_trial(self, trial: Trial, wanted: Mapping[Key, Flags]) -> None:
        """NMSE of some configurations on one trial, but for those that it has run already.

        Parameters
        ----------
        wanted : mapping
            Bool arrays as in `kept`, for all keys.
        """
        split, column = trial.split, trial.place
        for place, updates in self._wanted(trial, wanted):
            new = [
                wanted[key][place] & ~np.isfinite(self.nmse[key][place, ..., column])
                for key in updates.keys
            ]
            chosen = np.any(new, axis=0)
            if not chosen.any():
                continue
            self._descend(split, updates, chosen)
            for key in updates.keys:
                target = trial.targets[key[1]]
                errors = split.nmse(updates.weights[chosen], target=target)
                self.nmse[key][place, chosen, column] = errors

    def _descend(self, split: Split, updates: Updates, chosen: Flags) -> None:
        """Find the weights of some configurations."""
        updates.weights[chosen] = descend(
            split.problem,
            steps=self.steps,
            clips=self.clips,
            noise=updates.noise,
            wanted=chosen,
        )[chosen, 0]

    def bound_trial(self, trial: Trial, wanted: Mapping[Key, Flags]) -> None:
        """Lower bounds of what `run_trial` finds."""
        for place, updates in self._wanted(trial, wanted):
            for key in updates.keys:
                self.bounds[key][place, ..., trial.place] = nmse_bound(
                    trial.split.problem,
                    trial.targets[key[1]],
                    steps=self.steps,
                    clips=self.clips,
                    noise=updates.noise[0],
                )

    def test_trial(self, trial: Trial, wanted: Mapping[Key, Flags]) -> None:
        """Test errors of some configurations that a trial has run; arguments as of `run_trial`."""
        for place, updates in self._wanted(trial, wanted):
            chosen = np.any([wanted[key][place] for key in updates.keys], axis=0)
            # run for an earlier contest
            forgotten = chosen & np.isnan(updates.weights).any(axis=-1)
            if forgotten.any():
                self._descend(trial.split, updates, forgotten)
            # One at a time: a product of matrices rounds by how many rows it has together.
            for step, clip in np.argwhere(chosen):
                error = trial.split.test_error(updates.weights[step, clip][None])[0]
                for mechanism, _ in updates.keys:
                    self.test_error[mechanism][place, step, clip, trial.place] = error

    def _wanted(self, trial: Trial, wanted: Mapping[Key, Flags]) -> Iterator[tuple[int, Updates]]:
        """Place of each number of passes of which something is wanted, with its updates."""
        for place, passes in enumerate(self.passes):
            if any(flags[place].any() for flags in wanted.values()):
                for updates in self.noises_of(trial, passes):
                    yield place, updates

    def trial(self, place: int) -> Trial:
        """Trial at a place of the last axis of the errors."""
        if self.settings.setting.split == "per-trial":
            return Trial(place, *self._make_split(self.first + place))
        # those of one run alone are split 0
        return Trial(place, *self._split(1 + place // self.together if self.together else 0))

    def _make_split(self, index: int) -> tuple[Split, dict[str | int, Array]]:
        """Split of that number, and what each NMSE is measured from."""
        split = make_split(self.dataset, self.settings, index)
        return split, _targets(split, {where for _, where in self.asked})

    def noises_of(self, trial: Trial, passes: int) -> list[Updates]:
        """What is asked for with a number of passes, by noise: equal noises run once."""
        if passes not in trial.drawn:
            found: dict[Noise, list[Key]] = {}
            asking = [key for key, asked in self.asked.items() if passes in asked]
            for mechanism in dict.fromkeys(mechanism for mechanism, _ in asking):
                noise = self.noise_of(trial.split, mechanism, self.settings, passes)
                one = _one_distribution(noise)
                self.noises[mechanism, passes, trial.place] = one
                keys = [key for key in asking if key[0] == mechanism]
                found.setdefault(one, []).extend(keys)
            uniforms = self._draw(trial, passes)
            shape = len(self.steps), len(self.clips), trial.split.problem.coordinates
            trial.drawn[passes] = [
                Updates(noise.ppf(uniforms)[None], keys, np.full(shape, np.nan))
                for noise, keys in found.items()
            ]
        return trial.drawn[passes]

    def _draw(self, trial: Trial, passes: int) -> Array:
        """Uniforms of the updates, shape (L, K)."""
        shape, number = (passes, trial.split.problem.coordinates), self.first + trial.place
        name = trial.split.name
        stream = generator(self.settings.seed, "table-3", name, "noise", passes, number)
        return np.maximum(stream.random(shape), 2.0**-54)

    def configuration(self, place: tuple[int, ...]) -> tuple[int, float, float]:
        """Return passes, step and clipping level at a place of `best`."""
        p, s, c = place
        return self.passes[p], float(self.steps[s]), float(self.clips[c])

    def thin(self, trials: Sequence[int], contests: Iterable[Contest], keep: float) -> None:
        """Keep the configurations that may win, by trials that `run_for_best` has run with `keep`.

        A configuration is judged by its mean NMSE over the better half of the trials, inf where it
        was not run, and kept up to `keep` times the smallest mean over all of them in a contest.
        """
        self.kept = {key: np.zeros_like(kept) for key, kept in self.kept.items()}
        for key, passes in contests:
            ordered = np.sort(self.nmse[key][..., trials], axis=-1)
            self.scores[key] = ordered[..., : _half(trials)].mean(axis=-1)
            taking_part = np.isin(self.passes, passes)[:, None, None]
            smallest = ordered.mean(axis=-1).min(where=taking_part, initial=np.inf)
            self.kept[key] |= taking_part & (self.scores[key] <= keep * smallest)

    def presume(self, others: Runs) -> None:
        """Presume of the errors what other runs have found, as far as these have the same grid."""
        if len(others.steps) == len(self.steps) and len(others.clips) == len(self.clips):
            places = [others.passes.index(passes) for passes in self.passes]
            self.scores |= {key: others.scores[key][places] for key in self.scores}

    def likely(self, key: Key, among: Flags) -> Flags:
        """The configuration with the smallest score, none where no score is finite."""
        scores = np.where(among, self.scores[key], np.inf)
        return (scores == scores.min()) & np.isfinite(scores)

    def best(
        self, key: Key, passes: Iterable[int], trials: slice | Sequence[int]
    ) -> tuple[int, ...]:
        """Return the configuration with the smallest mean NMSE.

        Places in `passes`, `steps` and `clips`.

        Parameters
        ----------
        key : (str, str or int)
            Mechanism and optimum.
        passes : iterable of int
            Which numbers of passes are tried.
        trials : slice or sequence of int
            Which trials it is the mean of.
        """
        tried = np.isin(self.passes, list(passes))[:, None, None, None]
        return smallest_mean(np.where(tried, self.nmse[key][..., trials], np.inf))


def _targets(split: Split, measured_from: Collection[str | int]) -> dict[str | int, Array]:
    """What NMSE is measured from: the optimum, or where the plain descent is after some passes."""
    ends = sorted(where for where in measured_from if isinstance(where, int))
    targets: dict[str | int, Array] = {EXACT: split.optimum}
    if ends:
        still = np.zeros((1, ends[-1], split.problem.coordinates))
        path = descend(split.problem, steps=[1.0], clips=[_UNCLIPPED], noise=still, ends=ends)
        targets |= dict(zip(ends, path[0, 0, 0], strict=True))
    return targets


@OVERFLOWS
def nmse_bound(
    problem: Problem, target: Array, *, steps: Array, clips: Array, noise: Array
) -> Array:
    """Lower bound of the NMSE for every (step, clip), shape (S, C).

    Parameters
    ----------
    target : float64 array, shape (K,)
        What the NMSE is measured from.
    noise : float64 array, shape (L, K)
        Unit noise of cyclic updates.
    """
    smoothness, strengths = problem.smoothness, problem.strengths
    size = steps[:, None] / smoothness
    shrunk = 1.0 / (1.0 + size * strengths) if problem.penalty == "l2" else np.ones(size.shape)
    powers = shrunk[:, None] ** np.arange(len(noise), 0, -1)[:, None]
    bound = clips[:, None] * np.sqrt(smoothness / smoothness.sum())
    gradient = bound
    if problem.loss == "logistic":
        gradient = np.minimum(bound, np.abs(problem.features).mean(axis=0))
    if problem.penalty == "l1":
        gradient = gradient + strengths
    scale = size[:, None] * (2.0 / problem.size * bound)
    centre = -scale * (powers * noise).sum(axis=1)[:, None]
    reach = size[:, None] * powers.sum(axis=1)[:, None] * gradient
    rounding = scale * (powers * np.abs(noise)).sum(axis=1)[:, None] + reach + np.abs(target)
    # not a number, where both overflow, bounds nothing
    apart = np.fmax(np.abs(centre - target) - reach - _SLACK * rounding, 0.0)
    return np.sum(apart**2, axis=-1) / np.sum(target**2)


class Contest(NamedTuple):
    """Mechanism and optimum, and the numbers of passes, among which the best is asked for."""

    key: Key
    passes: tuple[int, ...]


def run_for_best(
    runs: Runs,
    trials: Sequence[int],
    contests: Iterable[Contest],
    threads: int = 1,
    *,
    whole: bool = True,
    keep: float | None = None,
) -> None:
    """Run trials as far as `runs.best` over all of them needs it, for each contest.

    The test error of the best is measured, that of others is not.

    Parameters
    ----------
    trials : sequence of int
        All that the best is the mean of.
    threads : int
        So many trials are run at a time; `runs.best` does not depend on it.
    whole : bool
        Whether all configurations take part, or those that are kept.
    keep : float, optional
        At least 1: a configuration is run on until it is known that `Runs.thin` leaves it out.
    """
    drawn = dict(zip(trials, in_threads(runs.trial, trials, threads), strict=True))
    entered = {
        one: _entered(runs, one, drawn[trials[0]], whole=whole) for one in dict.fromkeys(contests)
    }

    def run(some: Sequence[int], wanted: Mapping[Contest, Flags]) -> None:
        flags = _together(runs, wanted)
        in_threads(lambda trial: runs.run_trial(drawn[trial], flags), some, threads)

    errors = {one: runs.nmse[one.key] for one in entered}
    bounds = None
    if any(np.mean(flags) > _MANY for flags in entered.values()):
        for trial in drawn.values():
            runs.bound_trial(trial, _together(runs, entered))
        bounds = {one: runs.bounds[one.key] for one in entered}
    likely = {one: runs.likely(one.key, flags) for one, flags in entered.items()}
    slack, judged = (1.0, len(trials)) if keep is None else (keep, _half(trials))
    race(
        run,
        errors,
        entered,
        trials,
        likely=likely,
        bounds=bounds,
        slack=slack,
        judged=judged,
        at_once=threads,
    )
    best = {one: np.zeros_like(flags) for one, flags in entered.items()}
    for one, flags in best.items():
        place = runs.best(one.key, one.passes, trials)
        flags[place] = np.isfinite(errors[one][place][trials]).all()
    for trial in drawn.values():
        runs.test_trial(trial, _together(runs, best))


def _half(trials: Sequence[int]) -> int:
    """How many trials are the better half."""
    return (len(trials) + 1) // 2


def _together(runs: Runs, wanted: Mapping[Contest, Flags]) -> dict[Key, Flags]:
    """Configurations of each key that some contest wants."""
    flags = {key: np.zeros_like(kept) for key, kept in runs.kept.items()}
    for one, own in wanted.items():
        flags[one.key] |= own
    return flags


def _entered(runs: Runs, contest: Contest, trial: Trial, *, whole: bool) -> Flags:
    """Configurations of a contest; what is kept for equal noise is run for all."""
    key, flags = contest.key, np.zeros_like(runs.kept[contest.key])
    for place, passes in enumerate(runs.passes):
        if passes in contest.passes:
            keys = next(one.keys for one in runs.noises_of(trial, passes) if key in one.keys)
            flags[place] = whole | np.any([runs.kept[one][place] for one in keys], axis=0)
    return flags
