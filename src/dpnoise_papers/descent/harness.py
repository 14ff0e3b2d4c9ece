"""Runs of private coordinate descent over steps and clipping levels, and their errors.

Table III of flipped-huber-2023 compares noise distributions in the descent, Figures 5 and 6 of
inid-2024 compare scales of the noise by coordinate. Both solve a learning problem, run the
descent for every combination of step, clipping level and trial on the same draws of noise, and
choose the combination whose mean error over the trials is the smallest.
"""

from __future__ import annotations

from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from dpnoise.learn.cd import descend

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise.learn.problem import Problem

    Flags = NDArray[np.bool_]

_Key = TypeVar("_Key", bound=Hashable)
_Job = TypeVar("_Job")
_Result = TypeVar("_Result")
_ROUNDING = 1e-9
OVERFLOWS = np.errstate(over="ignore", invalid="ignore")  # a diverged run is a result: inf


@dataclass(frozen=True)
class Task:
    """A learning problem with its minimum.

    `name` is that of the data set, `optimum`, shape (K,), minimises the objective without privacy,
    `delta` is that of the privacy budget.
    """

    name: str
    problem: Problem
    optimum: Array
    delta: float

    @cached_property
    def value(self) -> float:
        """The minimum of the objective, J*."""
        return float(self.problem.objective(self.optimum))

    @OVERFLOWS
    def excess(self, weights: Array) -> Array:
        """(J(w) - J*) / J* for weights of shape (..., K); inf for a diverged run."""
        return diverged_to_inf(self.problem.objective(weights) / self.value - 1.0)

    @OVERFLOWS
    def nmse(self, weights: Array, target: Array | None = None) -> Array:
        """||w - w*||^2 / ||w*||^2 for weights of shape (..., K); inf for a diverged run.

        w* is the optimum unless another `target` is given.
        """
        target = self.optimum if target is None else target
        distance = np.sum((weights - target) ** 2, axis=-1)
        return diverged_to_inf(distance / np.sum(target**2))


def diverged_to_inf(errors: Array) -> Array:
    """Errors with inf for nan."""
    return np.where(np.isfinite(errors), errors, np.inf)


def budget_delta(rule: float | str, size: int) -> float:
    """Delta of the privacy budget for N = `size` samples."""
    return size**-2.0 if isinstance(rule, str) else rule


def run(
    problem: Problem,
    measures: Sequence[Callable[[Array], Array]],
    *,
    steps: Array,
    clips: Array,
    noise: Array,
    orders: NDArray[np.int64],
    wanted: NDArray[np.bool_] | None = None,
) -> tuple[Array, ...]:
    """Errors of every (step, clip, trial), of shape (S, C, trials): one array for each measure.

    A measure takes final parameters of shape (clips, trials, K) and returns errors of shape (clips,
    trials). `noise` (unit noise) and `orders` (the coordinate that each update takes) have shape
    (trials, L, K); all steps and clips share them. `wanted`, shape (S, C), marks the combinations
    to run, by default all; the others get inf.
    """
    wanted = np.ones((len(steps), len(clips)), dtype=bool) if wanted is None else wanted
    found = tuple(np.full((*wanted.shape, len(noise)), np.inf) for _ in measures)
    if not wanted.any():
        return found
    weights = descend(
        problem,
        steps=steps,
        clips=clips,
        noise=noise,
        orders=orders,
        wanted=wanted,
    )
    # One combination at a time: a product of matrices rounds by how many rows it has together.
    for place in map(tuple, np.argwhere(wanted)):
        for errors, measure in zip(found, measures, strict=True):
            errors[place] = measure(weights[place][None])[0]
    return found


def race(
    run: Callable[[list[int], dict[_Key, Flags]], None],
    errors: Mapping[_Key, Array],
    entered: Mapping[_Key, Flags],
    trials: Sequence[int],
    *,
    likely: Mapping[_Key, Flags] | None = None,
    bounds: Mapping[_Key, Array] | None = None,
    slack: float = 1.0,
    judged: int | None = None,
    at_once: int = 1,
) -> None:
    """Run trials as far as the configuration of the smallest mean error over all needs it.

    There may be several such contests. `errors` of each, shape (..., trials), are inf where nothing
    was run; `run` is called with some trials and the configurations of each contest that are to be
    run on them, and fills `errors` in. Among the configurations that have `entered` the smallest
    mean, and its errors, are afterwards as if all were run.

    `bounds`, of the shapes of `errors`, are lower bounds of the errors, 0 where none is known.

    No error is negative (but for rounding), so that a configuration has lost when the mean of its
    errors exceeds `slack` >= 1 times that of another one over all trials. With `judged` it is the
    mean of so many of its errors, the smallest ones, that is compared with the other one's mean.
    The `likely` winners are run on all trials first, and after each trial the configuration with
    the smallest sum, which lowers the bound for the others. The trials on which the best ones err
    most come first, `at_once` together.
    """
    judged = len(trials) if judged is None else judged
    left, known = list(trials), list[int]()
    alive = {one: flags.copy() for one, flags in entered.items()}
    complete = {one: np.zeros_like(flags) for one, flags in entered.items()}
    leaders = complete if likely is None else {one: likely[one] & entered[one] for one in entered}
    # ends: fewer trials are left in each round
    while True:
        run(left, leaders)
        complete = {one: complete[one] | leaders[one] for one in entered}
        totals = {one: _sums(errors[one], trials, complete[one]) for one in entered}
        left = _hardest_first(errors, totals, left)
        for one, total in totals.items():
            lowest = np.zeros((np.count_nonzero(alive[one]), len(trials)))
            lowest[:, : len(known)] = errors[one][alive[one]][:, known]
            if bounds is not None:
                lowest[:, len(known) :] = bounds[one][alive[one]][:, left]
            bound = slack * total.min() / len(trials) * (1.0 + _ROUNDING) + _ROUNDING
            alive[one][alive[one]] = np.sort(lowest)[:, :judged].mean(axis=-1) <= bound
        if not left:
            return
        now, left = left[:at_once], left[at_once:]
        run(now, {one: alive[one] & ~complete[one] for one in entered})
        known += now
        leaders = {one: _leader(errors[one], known, alive[one] & ~complete[one]) for one in entered}


def _sums(errors: Array, trials: Sequence[int], among: Flags) -> Array:
    """Errors added over some trials, inf where they are not asked for."""
    sums = np.full(among.shape, np.inf)
    places = np.nonzero(among)
    columns = np.array(trials, dtype=np.int64)
    sums[places] = errors[(*(place[:, None] for place in places), columns)].sum(axis=-1)
    return sums


def _leader(errors: Array, trials: Sequence[int], among: Flags) -> Flags:
    """The configuration with the smallest finite sum."""
    sums = _sums(errors, trials, among)
    return (sums == sums.min()) & np.isfinite(sums)


def _hardest_first(
    errors: Mapping[_Key, Array], totals: Mapping[_Key, Array], trials: list[int]
) -> list[int]:
    """Trials by the share that they have in the smallest sum of each contest, largest first."""
    share = np.zeros(len(trials))
    for one, total in totals.items():
        best = np.unravel_index(np.argmin(total), total.shape)
        if 0.0 < total[best] < np.inf:
            share += errors[one][best][trials] / total[best]
    return [trials[place] for place in np.argsort(-share, kind="stable")]


def smallest_mean(errors: Array) -> tuple[int, ...]:
    """Place of the configuration with the smallest mean over the trials, the last axis."""
    mean = errors.mean(axis=-1)
    return tuple(int(i) for i in np.unravel_index(np.argmin(mean), mean.shape))


def mean_and_error(values: Array) -> tuple[Array, Array]:
    """Mean and standard error over the trials, the last axis; inf and inf where one diverged.

    Equal values have exactly the error 0.
    """
    diverged = np.asarray(~np.isfinite(values).all(axis=-1))
    values = np.where(diverged[..., None], 0.0, values)  # no inf - inf in the spread
    same = (values == values[..., :1]).all(axis=-1)
    mean = np.where(same, values[..., 0], values.mean(axis=-1))
    spread = values.std(axis=-1, ddof=1) / np.sqrt(values.shape[-1])
    error = np.where(same, 0.0, spread)
    return np.where(diverged, np.inf, mean)[()], np.where(diverged, np.inf, error)[()]


def gain_and_error(errors: Array, others: Array) -> tuple[Array | float, Array | float]:
    """Mean and standard error of `errors` less `others`, paired by trial; nan if one diverged."""
    if not (np.isfinite(errors).all() and np.isfinite(others).all()):
        return np.nan, np.nan
    return mean_and_error(errors - others)


def in_threads(
    work: Callable[[_Job], _Result], jobs: Collection[_Job], threads: int
) -> list[_Result]:
    """Results in the order of the jobs, whatever the number of threads."""
    if threads == 1:
        return [work(job) for job in jobs]
    with ThreadPoolExecutor(threads) as pool:
        results = [pool.submit(work, job) for job in jobs]
        return [one.result() for one in results]
