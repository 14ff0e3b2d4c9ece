"""Private coordinate descent with noise by coordinate: Figures 5 and 6 of inid-2024.

Section VI-A and appendix C: after the step size tau_i = tau / M_i the update of
coordinate i has sensitivity lambda_i = 2 tau_i C_i / N, and gets Gaussian noise of scale
sigma_i by some scheme. With the clipping levels of the paper, C_i proportional to sqrt(M_i),
all sigma_i / lambda_i are free of tau and of the clipping constant, because every scheme is
equivariant in scale. Noise after the step is therefore what `dpnoise.learn.cd.descend` does
with unit noise multiplied by sigma_i / lambda_i (its own noise is placed on the gradient,
which the step then scales).

The paper minimises sum_i sigma_i^2. An error t_i in parameter i raises a smooth objective by
about M_i t_i^2 / 2, so coordinate descent pays sum_i M_i sigma_i^2 instead. Under the budget
sum_i (lambda_i / sigma_i)^2 <= mu^2 that is smallest at sigma_i^2 proportional to
lambda_i / sqrt(M_i) (Cauchy-Schwarz). With C_i proportional to sqrt(M_i) and lambda_i to
C_i / M_i this is sigma_i proportional to lambda_i: SPR, the usual DP-CD.

For C_i proportional to M_i^c the loss of SPR is K sum M^(2c-1), that of the paper's optimal
noise (sum M^c) (sum M^(c-1)). By Chebyshev's inequality for sums SPR loses less exactly if
M^c and M^(c-1) are ordered oppositely, that is for 0 < c < 1. On standardised features all M_i are
equal, and both schemes are one.

'The relative error after l passes' is that of one run, whose noise pays for all passes, looked at
after each (all iterates are private; so are the figures of Mangold et al., 2022). Each scheme gets
the same coarse-to-fine search over step and clipping constant, on the same trials with the same
draws. Two protocols: `printed` reports the mean over the very trials on which step and clipping
constant were chosen, `fresh` the mean over other trials.

Cyclic coordinate descent visits the columns in the order of the table that was read, and the
distributions of one data set differ in that order. On raw features, whose M_i lie orders of
magnitude apart, the last coordinates of a pass undo the noise of those before them, so that the
order moves the error of every scheme. The paper does not print its order. Each order gets a search
of its own, on the same trials with the same draws. The first is searched on the whole coarse grid.
The others start from its points whose mean error in the first order is at most `keep` times the
smallest; the last `audit` orders start from all of it again, and say whether a point that was left
out would have won.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from dpnoise._validation import Problems
from dpnoise.allocation.allocate import allocate
from dpnoise.learn.cd import descend
from dpnoise.learn.optimum import optimum
from dpnoise.learn.problem import make_problem
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
from dpnoise_papers.settings import values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise_papers.data.sets import Dataset
    from dpnoise_papers.inid_2024.settings import DescentOrders

    Draws = tuple[Array, NDArray[np.int64]]
    Flags = NDArray[np.bool_]

SCHEMES = ("spr", "optimal")
ORDERS_COLUMNS = [
    "dataset", "order", "columns", "scheme", "protocol", "passes", "repetitions",
    "error", "error_se", "gain", "gain_se", "step", "clip", "edge", "audited", "missed",
]  # fmt: skip
SPREAD_COLUMNS = [
    "dataset", "scheme", "protocol", "passes", "order", "orders", "repetitions",
    "error", "error_se", "error_least", "error_greatest",
    "gain", "gain_se", "gain_least", "gain_greatest",
]  # fmt: skip


def make_task(dataset: Dataset, settings: DescentOrders) -> Task:
    """Learning problem of a data set, on its features as they are, with its minimum."""
    task, size = settings.tasks[dataset.name], len(dataset.target)
    problem = make_problem(
        dataset.features,
        dataset.target,
        loss=task.loss,
        penalty=task.penalty,
        strength=1.0 / size if isinstance(task.strength, str) else task.strength,
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


def draw(task: Task, passes: int, order: Sequence[int], trials: Sequence[int], seed: int) -> Draws:
    """Unit noise and the coordinate of each update, both of shape (trials, L, K).

    `order` has every coordinate once and is that of every pass: the account of unequal noise
    allows for one visit of each.
    """
    noise = [
        generator(seed, "improved-descent", task.name, passes, trial).standard_normal(
            (passes, task.problem.coordinates)
        )
        for trial in trials
    ]
    return np.stack(noise), np.tile(np.array(order, dtype=np.int64), (len(noise), passes, 1))


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
    settings: DescentOrders,
    *,
    order: Sequence[int],
    entered: Flags | None = None,
    slack: float = 1.0,
) -> Tuning:
    """Step and clipping constant of the smallest mean error over the trials.

    The coarse grid is run first, then `refine` points per axis between the neighbours of its best,
    both on all `trials`. Of the coarse grid all combinations take part, or those
    that have `entered`, shape (S, C), and one is given up when its errors sum to more than `slack`
    times those of another one on all trials.
    """
    noise, orders = draw(task, settings.passes, order, range(settings.trials), settings.seed)

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

    coarse = values(settings.steps), values(settings.clips)
    before = np.full((*map(len, coarse), settings.trials), np.inf)
    fill(before, *coarse, among=entered, slack=slack)
    means = before.mean(axis=-1)
    places = np.unravel_index(np.argmin(means), means.shape)
    edge = any(p in (0, len(g) - 1) for p, g in zip(places, coarse, strict=True))
    (steps, own_steps, old_steps), (clips, own_clips, old_clips) = (
        _refined(g, int(p), settings.refine) for p, g in zip(places, coarse, strict=True)
    )
    errors = np.full((len(steps), len(clips), settings.trials), np.inf)
    errors[np.ix_(own_steps, own_clips)] = before[np.ix_(old_steps, old_clips)]
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


class _Done(NamedTuple):
    """The search of one order and scheme, and its errors by passes, shape (trials,)."""

    found: Tuning
    errors: dict[int, Array]
    audited: bool
    missed: bool


def orders_of(
    dataset: Dataset, named: Mapping[str, Sequence[str]], count: int, seed: int
) -> dict[str, tuple[int, ...]]:
    """Return the orders of the columns that are tried, by name, as coordinates.

    ValueError naming every documented order that does not hold each column once.

    Parameters
    ----------
    named : mapping
        Documented orders, each a sequence of all column names.
    count : int
        How many random permutations follow, 'random-1' and so on.
    """
    names = list(dataset.feature_names)
    problems = Problems(f"orders of {dataset.name}")
    for key, columns in named.items():
        ok = sorted(columns) == sorted(names)
        problems.require(ok, key, f"each of {', '.join(names)} once", list(columns))
    problems.raise_if_any()
    orders = {key: tuple(names.index(name) for name in named[key]) for key in named}
    for place in range(1, count + 1):
        drawn = generator(seed, "descent-orders", dataset.name, place).permutation(len(names))
        orders[f"random-{place}"] = tuple(int(i) for i in drawn)
    return orders


@threadpool_limits.wrap(limits=1)  # BLAS on several threads rounds otherwise than on one
def descent_orders(
    settings: DescentOrders, dataset: Dataset | None, *, threads: int = 1
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Run SPR and the optimal noise on raw features in many orders.

    Parameters
    ----------
    settings : DescentOrders
        Budget, search and orders.
    dataset : Dataset or None
        One of the tasks; None gives tables without rows.
    threads : int
        Does not change the result.

    Returns
    -------
    orders : DataFrame
        Columns `ORDERS_COLUMNS`: `columns` are those of the data in the order of the pass,
        `protocol` is 'printed' (on the trials of the search) or 'fresh', `passes` 0 the start,
        `gain` the mean paired difference of SPR's error less the scheme's, in the same order of
        columns. `audited` is 1 for an order that was searched on the whole grid again, `missed` 1
        if the best was not among the points that the other orders start from.
    spread : DataFrame
        Columns `SPREAD_COLUMNS`: `error` and `gain` in the first order, which is the first
        documented one, with the smallest and the largest mean over all orders in `_least` and
        `_greatest`. Their standard errors are medians over the orders, since five trials of one say
        little of their own scatter; `repetitions` has the degrees of freedom of all, plus 1.
    """
    if dataset is None:
        return pd.DataFrame(columns=ORDERS_COLUMNS), pd.DataFrame(columns=SPREAD_COLUMNS)
    one = make_task(dataset, settings)
    passes, trials, seed = settings.passes, settings.trials, settings.seed
    named = settings.documented.get(dataset.name, {})
    orders = orders_of(dataset, named, settings.random, seed)
    ratios = {
        scheme: noise_ratios(one, scheme, epsilon=settings.epsilon, passes=passes)
        for scheme in SCHEMES
    }
    ends = sorted({*(end for end in settings.seen if end < passes), passes})
    every = range(trials + settings.evaluate)
    start = np.full(len(every), one.excess(np.zeros(one.problem.coordinates)))
    first, audited = next(iter(orders)), list(orders)[max(1, len(orders) - settings.audit) :]
    kept: dict[str, Flags] = {}

    def work(job: tuple[str, str]) -> _Done:
        order, scheme = orders[job[0]], ratios[job[1]]
        pilot, whole = job[0] == first, job[0] in audited
        entered = None if pilot or whole else kept[job[1]]
        slack = settings.keep if pilot else 1.0
        found = choose(one, scheme, settings, order=order, entered=entered, slack=slack)
        path = errors_at(one, scheme, found, draw(one, passes, order, every, seed), ends)
        missed = whole and not kept[job[1]].flat[np.argmin(found.coarse)]
        return _Done(found, {0: start} | path, whole, missed)

    pilots = [(first, scheme) for scheme in SCHEMES]
    later = [(order, scheme) for order in orders if order != first for scheme in SCHEMES]
    done = dict(zip(pilots, in_threads(work, pilots, threads), strict=True))
    for (_, scheme), (found, *_) in done.items():
        kept[scheme] = found.coarse <= settings.keep * found.coarse.min()
    done |= zip(later, in_threads(work, later, threads), strict=True)
    parts = {"printed": slice(trials), "fresh": slice(trials, None)}
    rows = []
    for (order, scheme), (found, errors, whole, missed) in done.items():
        columns = " ".join(dataset.feature_names[place] for place in orders[order])
        for protocol, part in parts.items():
            for end, own in errors.items():
                spr = done[order, "spr"].errors[end][part]
                rows.append(
                    [
                        one.name, order, columns, scheme, protocol, end,
                        len(spr), *mean_and_error(own[part]),
                        *gain_and_error(spr, own[part]),
                        found.step, found.clip, int(found.edge), int(whole), int(missed),
                    ]
                )  # fmt: skip
    table = pd.DataFrame(rows, columns=ORDERS_COLUMNS)
    return table, spread(table)


def spread(table: pd.DataFrame) -> pd.DataFrame:
    """Return error and gain in the first order, with their range over all orders.

    Columns `SPREAD_COLUMNS`, one row per scheme, protocol and number of passes.

    Parameters
    ----------
    table : DataFrame
        The first table of `descent_orders`.
    """
    rows = []
    for key, group in table.groupby(SPREAD_COLUMNS[:4], sort=False):
        first, freedom = group.iloc[0], int((group["repetitions"] - 1).sum())
        row = [*key, first["order"], len(group), freedom + 1]
        for name in ("error", "gain"):
            error = group[f"{name}_se"].median()
            row += [first[name], error, group[name].min(), group[name].max()]
        rows.append(row)
    return pd.DataFrame(rows, columns=SPREAD_COLUMNS)
