"""Private coordinate descent with noise by coordinate: Figures 5 and 6 of inid-2024.

Section VI-A and appendix C: after the step size tau_i = tau / M_i the update of
coordinate i has sensitivity lambda_i = 2 tau_i C_i / N, and gets Gaussian noise of scale
sigma_i by some scheme. With the clipping levels of the paper, C_i proportional to sqrt(M_i),
all sigma_i / lambda_i are free of tau and of the clipping constant, because every scheme is
equivariant in scale. Noise after the step is therefore what `dpnoise.learn.cd.descend` does
with unit noise multiplied by sigma_i / lambda_i (its own noise is placed on the gradient,
which the step then scales).

Each scheme gets the same coarse-to-fine search over step and clipping constant, on the same
trials with the same draws.

Two variants of 'the relative error after l passes'. `run`: one run of L passes, whose noise
pays for all of them, looked at after each pass (all iterates are private; so are the figures
of Mangold et al., 2022). `budget`: for each l a run of its own, whose noise pays for l passes.

Two protocols. `printed` reports the mean over the very trials on which step and clipping
constant were chosen. `fresh` reports the mean over other trials.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from dpnoise.allocation.allocate import allocate
from dpnoise.learn.cd import descend
from dpnoise.learn.optimum import optimum
from dpnoise.learn.problem import make_problem
from dpnoise_papers import grids
from dpnoise_papers.descent.harness import (
    Task,
    budget_delta,
    gain_and_error,
    in_threads,
    mean_and_error,
    race,
    run,
    smallest_mean,
)
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise_papers.data.sets import Dataset
    from dpnoise_papers.inid_2024.learning_settings import ImprovedDescent

    Draws = tuple[Array, NDArray[np.int64]]
    Flags = NDArray[np.bool_]

_SAME = 1e-9  # schemes whose noise agrees to this relative accuracy are one mechanism
COLUMNS = [
    "dataset", "features", "order", "reading", "scheme", "protocol", "passes", "repetitions",
    "error", "error_se", "gain", "gain_se", "step", "clip", "edge", "epsilon", "delta", "optimum",
]  # fmt: skip
SCHEMES = ("iid", "spr", "optimal")


def make_task(dataset: Dataset, settings: ImprovedDescent, features: str) -> Task:
    """Learning problem of a data set with its minimum, on features 'raw' or 'standardise'."""
    X, size = dataset.features, len(dataset.target)
    if features == "standardise":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    task = settings.tasks[dataset.name]
    strength = getattr(task.strength, features)
    problem = make_problem(
        X,
        dataset.target,
        loss=task.loss,
        penalty=task.penalty,
        strength=1.0 / size if strength == "1/N" else strength,
    )
    return Task(dataset.name, problem, optimum(problem), budget_delta(settings.delta, size))


def noise_ratios(task: Task, scheme: str, *, epsilon: float, passes: int) -> Array:
    """Ratios sigma_i / lambda_i of one scheme for L passes, shape (K,).

    Each coordinate is released once in each pass.
    """
    lambdas = task.problem.sensitivities(1.0) / task.problem.smoothness
    sigmas = allocate(
        lambdas,
        scheme=scheme,
        epsilon=epsilon,
        delta=task.delta,
        compositions=passes,
    )
    return np.asarray(sigmas / lambdas)


def draw(
    task: Task, passes: int, order: str | Sequence[int], trials: Sequence[int], seed: int
) -> Draws:
    """Unit noise and the order of coordinates, both of shape (trials, L, K).

    The order 'permuted' visits every coordinate once in each pass, in an order drawn anew; a
    sequence of all coordinates is the order of every pass. Orders drawn with replacement would
    visit some coordinates more often than the account of unequal noise allows for.
    """
    shape = (passes, task.problem.coordinates)
    cycle = list(range(shape[1])) if isinstance(order, str) else list(order)
    noise, orders = [], []
    for trial in trials:
        stream = generator(seed, "improved-descent", task.name, passes, trial)
        noise.append(stream.standard_normal(shape))
        visits = np.tile(np.array(cycle, dtype=np.int64), (passes, 1))
        orders.append(stream.permuted(visits, axis=1) if order == "permuted" else visits)
    return np.stack(noise), np.stack(orders)


def errors_of(
    task: Task,
    ratios: Array,
    draws: Draws,
    steps: Array,
    clips: Array,
    *,
    wanted: Flags | None = None,
) -> Array:
    """Relative errors of every step, clipping constant and trial, shape (S, C, trials).

    `ratios` are those of `noise_ratios`, `draws` those of `draw`. `wanted`, shape (S, C), marks the
    combinations to run, by default all; the others get inf.
    """
    noise, orders = draws
    scaled = noise * ratios[orders]  # noise comes by place in the order, ratios by coordinate
    return np.concatenate(
        [
            run(
                task.problem,
                [task.excess],
                steps=steps[[place]],
                clips=clips,
                noise=scaled,
                orders=orders,
                wanted=None if wanted is None else wanted[[place]],
            )[0]
            for place in range(len(steps))
        ]
    )


@dataclass(frozen=True)
class Tuning:
    """What the search chose.

    Attributes
    ----------
    errors : float64 array, shape (trials,)
        On the trials on which it was chosen.
    edge : bool
        Whether the coarse grid's best lies on that grid's edge.
    coarse : float64 array, shape (S, C)
        Mean errors on the coarse grid, inf where a combination was given up.
    """

    step: float
    clip: float
    errors: Array
    edge: bool
    coarse: Array


def choose(
    task: Task,
    ratios: Array,
    settings: ImprovedDescent,
    *,
    passes: int,
    order: str | Sequence[int],
    entered: Flags | None = None,
    slack: float = 1.0,
) -> Tuning:
    """Step and clipping constant of the smallest mean error over the trials.

    The coarse grid is run on the first `coarse_trials`; then `refine` points per axis between the
    neighbours of its best, on all `trials`. Of the coarse grid all combinations take part, or those
    that have `entered`, shape (S, C), and one is given up when its errors sum to more than `slack`
    times those of another one on all trials.
    """
    noise, orders = draw(task, passes, order, range(settings.trials), settings.seed)

    def fill(
        errors: Array,
        steps: Array,
        clips: Array,
        *,
        among: Flags | None = None,
        slack: float = 1.0,
        likely: Flags | None = None,
    ) -> None:
        """The race over errors of shape (S, C, trials), of which some may be known."""
        taking = np.ones(errors.shape[:2], dtype=bool) if among is None else among
        first = None if likely is None else {task.name: likely}

        def run(some: list[int], wanted: dict[str, Flags]) -> None:
            draws = noise[some], orders[some]
            own = wanted[task.name] & ~np.isfinite(errors[..., some]).all(axis=-1)
            if some and own.any():
                found = errors_of(task, ratios, draws, steps, clips, wanted=own)
                errors[..., some] = np.where(own[..., None], found, errors[..., some])

        trials = range(errors.shape[-1])
        race(run, {task.name: errors}, {task.name: taking}, trials, likely=first, slack=slack)

    coarse = grids.values(settings.steps), grids.values(settings.clips)
    before = np.full((*map(len, coarse), settings.coarse_trials), np.inf)
    fill(before, *coarse, among=entered, slack=slack)
    means = before.mean(axis=-1)
    places = np.unravel_index(np.argmin(means), means.shape)
    edge = any(p in (0, len(g) - 1) for p, g in zip(places, coarse, strict=True))
    (steps, own_steps, old_steps), (clips, own_clips, old_clips) = (
        _refined(g, int(p), settings.refine) for p, g in zip(places, coarse, strict=True)
    )
    errors = np.full((len(steps), len(clips), settings.trials), np.inf)
    known = errors[..., : settings.coarse_trials]
    known[np.ix_(own_steps, own_clips)] = before[np.ix_(old_steps, old_clips)]
    best = np.logical_and.outer(steps == coarse[0][places[0]], clips == coarse[1][places[1]])
    fill(errors, steps, clips, likely=best)
    s, c = smallest_mean(errors)
    return Tuning(float(steps[s]), float(clips[c]), errors[s, c], edge, means)


def _refined(
    grid: Array, place: int, count: int
) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    """Points between the neighbours of a place of a logarithmic grid.

    With the places of those that are in the grid too, and where they are there.
    """
    points = grid[place] * np.geomspace(grid[0] / grid[1], grid[1] / grid[0], count)
    own, old = np.nonzero(np.isclose(points[:, None], grid, rtol=1e-12, atol=0.0))
    points[own] = grid[old]  # but for rounding they are
    return points, own, old


def errors_at(
    task: Task,
    ratios: Array,
    found: Tuning,
    draws: Draws,
    ends: Sequence[int],
) -> dict[int, Array]:
    """Relative errors of the chosen configuration on some draws, by passes, shape (trials,)."""
    noise, orders = draws
    weights = descend(
        task.problem,
        steps=[found.step],
        clips=[found.clip],
        noise=noise * ratios[orders],
        orders=orders,
        ends=ends,
    )[0]
    return {end: task.excess(weights[..., place, :])[0] for place, end in enumerate(ends)}


def same(ratios: Array, others: Array) -> bool:
    """Whether two schemes, by their ratios, are one mechanism here."""
    return bool(np.allclose(ratios, others, rtol=_SAME, atol=0.0))


class _Job(NamedTuple):
    """One search and what follows from it; schemes with equal noise share it."""

    features: str
    order: str
    passes: int
    ratios: Array
    schemes: tuple[str, ...]


class _Done(NamedTuple):
    """Errors of one job by variant and passes, on the search's trials and on fresh ones."""

    found: Tuning
    errors: dict[tuple[str, int], Array]  # each of shape (trials + evaluate,)


def _jobs(tasks: Mapping[str, Task], settings: ImprovedDescent) -> list[_Job]:
    """Searches to be made: all numbers of passes cyclic, the longest in any order."""
    jobs = []
    longest = max(settings.passes)
    for features, order, passes in product(tasks, settings.orders, settings.passes):
        if order != "cyclic" and passes != longest:
            continue
        distinct: list[tuple[Array, list[str]]] = []
        for scheme in SCHEMES:
            ratios = noise_ratios(tasks[features], scheme, epsilon=settings.epsilon, passes=passes)
            known = [names for other, names in distinct if same(ratios, other)]
            if known:
                known[0].append(scheme)
            else:
                distinct.append((ratios, [scheme]))
        jobs += [_Job(features, order, passes, ratios, tuple(names)) for ratios, names in distinct]
    return sorted(jobs, key=lambda job: -job.passes)


def _work(task: Task, job: _Job, settings: ImprovedDescent) -> _Done:
    """Search, then run the chosen configuration on the search's trials and on fresh ones."""
    _, order, passes, ratios, _ = job
    found = choose(task, ratios, settings, passes=passes, order=order)
    trials = range(settings.trials + settings.evaluate)
    noise, orders = draw(task, passes, order, trials, settings.seed)
    longest = passes == max(settings.passes)
    ends = sorted(end for end in settings.curve if end < passes) if longest else []
    path = errors_at(task, ratios, found, (noise, orders), [*ends, passes])
    errors = {("budget", passes): path[passes]}
    if longest:
        start = task.excess(np.zeros(task.problem.coordinates))
        path[0] = np.full(len(noise), start)
        errors |= {("run", end): values for end, values in path.items()}
    return _Done(found, errors)


@threadpool_limits.wrap(limits=1)  # BLAS on several threads rounds otherwise than on one
def improved_descent(
    settings: ImprovedDescent, dataset: Dataset | None, *, threads: int = 1
) -> pd.DataFrame:
    """Run private coordinate descent under i.i.d., SPR and optimal noise.

    One row per (features, order, reading, scheme, protocol, passes), columns `COLUMNS`. `gain` is
    the mean paired difference of SPR's error less the scheme's; `edge` is 1 if the search ended on
    the edge of its grid.

    Parameters
    ----------
    threads : int
        Does not change the result.
    """
    if dataset is None:
        return pd.DataFrame(columns=COLUMNS)
    tasks: dict[str, Task] = {how: make_task(dataset, settings, how) for how in settings.features}
    jobs = _jobs(tasks, settings)
    results = in_threads(
        lambda job: _work(tasks[job.features], job, settings), jobs, threads, "searches"
    )
    done = {
        (job.features, job.order, job.passes, scheme): result
        for job, result in zip(jobs, results, strict=True)
        for scheme in job.schemes
    }
    parts = {"printed": slice(settings.trials), "fresh": slice(settings.trials, None)}
    rows = []
    for (features, order, budget, scheme), (found, errors) in done.items():
        spr = done[features, order, budget, "spr"].errors
        for (variant, passes), values in errors.items():
            for protocol, part in parts.items():
                rows.append(
                    [
                        dataset.name, features, order, variant, scheme, protocol, passes,
                        len(values[part]), *mean_and_error(values[part]),
                        *gain_and_error(spr[variant, passes][part], values[part]),
                        found.step, found.clip, int(found.edge), settings.epsilon,
                        tasks[features].delta, tasks[features].value,
                    ]
                )  # fmt: skip
    table = pd.DataFrame(rows, columns=COLUMNS)
    table["scheme"] = pd.Categorical(table["scheme"], SCHEMES)
    table = table.sort_values(COLUMNS[1:7], ignore_index=True)
    return table.astype({"scheme": str})
