"""Private coordinate descent with noise by coordinate, under one search for all schemes.

inid-2024, section VI-A and appendix C: after the step size tau_i = tau / M_i the update of
coordinate i has sensitivity lambda_i = 2 tau_i C_i / N, and gets Gaussian noise of scale
sigma_i by some scheme. With the clipping levels of the paper, C_i proportional to sqrt(M_i),
all sigma_i / lambda_i are free of tau and of the clipping constant, because every scheme is
equivariant in scale. Noise after the step is therefore what `dpnoise.learn.cd.descend` does
with unit noise multiplied by sigma_i / lambda_i (its own noise is placed on the gradient,
which the step then scales).

Each scheme gets the same coarse-to-fine search over step and clipping constant, on the same
trials with the same draws.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._validation import Problems
from dpnoise.allocation.allocate import allocate
from dpnoise.learn.cd import descend
from dpnoise.learn.optimum import optimum
from dpnoise.learn.problem import make_problem
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise.learn.problem import Problem
    from dpnoise_papers.data.dataset import Dataset

ORDERS = ("cyclic", "permuted")
FEATURES = ("raw", "standardise")
_SAME = 1e-9  # schemes whose noise agrees to this relative accuracy are one mechanism
_OVERFLOWS = np.errstate(over="ignore", invalid="ignore")  # a diverged run is a result: inf


@dataclass(frozen=True)
class Task:
    """A learning problem with the objective value of its optimum.

    Attributes
    ----------
    name, features : str
        The data set, and whether its columns are raw or standardised.
    problem : Problem
    weights : float64 array, shape (K,)
        The non-private optimum.
    value : float
        The objective there.
    delta : float
        The delta of the privacy budget for this many samples.
    """

    name: str
    features: str
    problem: Problem
    weights: Array
    value: float
    delta: float

    @_OVERFLOWS
    def error(self, weights: Array) -> Array:
        """(J(w) - J*) / J* for weights of shape (..., K); inf for a diverged run."""
        error = self.problem.objective(weights) / self.value - 1.0
        return np.where(np.isfinite(error), error, np.inf)


def make_task(dataset: Dataset, task: dict[str, Any], features: str, delta: float | str) -> Task:
    """Lay out and solve one data set.

    Parameters
    ----------
    dataset : Dataset
    task : dict
        loss, penalty, and strength: for each way of scaling the features a number, or the
        word '1/N'.
    features : {"raw", "standardise"}
    delta : float or "1/N^2"

    Raises
    ------
    ValueError
        If the features are to be scaled in a way that is not known.
    """
    problems = Problems("improved DP-CD")
    problems.require(features in FEATURES, "features", f"one of {', '.join(FEATURES)}", features)
    problems.raise_if_any()
    X, size = dataset.features, len(dataset.target)
    if features == "standardise":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    strength = task["strength"][features]
    problem = make_problem(
        X,
        dataset.target,
        loss=task["loss"],
        penalty=task["penalty"],
        strength=1.0 / size if strength == "1/N" else strength,
    )
    weights = optimum(problem)
    value = float(problem.objective(weights))
    budget = size**-2.0 if delta == "1/N^2" else float(delta)
    return Task(dataset.name, features, problem, weights, value, budget)


def noise_ratios(
    task: Task,
    scheme: str,
    *,
    epsilon: float,
    passes: int,
    exponent: float | None = None,
) -> Array:
    """Return sigma_i / lambda_i of one scheme for L passes, shape (K,).

    Parameters
    ----------
    task : Task
    scheme : {"iid", "spr", "optimal"}
    epsilon : float
    passes : int
        L; each coordinate is released once in each pass.
    exponent : float, optional
        a: the optimal scheme minimises sum_i M_i^a sigma_i^2; 0 (the paper's) by default.
    """
    smoothness = task.problem.smoothness
    lambdas = task.problem.sensitivities(1.0) / smoothness
    sigmas = allocate(
        lambdas,
        scheme=scheme,
        epsilon=epsilon,
        delta=task.delta,
        weights=None if exponent is None else smoothness**exponent,
        compositions=passes,
    )
    return sigmas / lambdas


def draw(
    task: Task, passes: int, order: str | Sequence[int], trials: Sequence[int], seed: int
) -> tuple[Array, NDArray[np.int64]]:
    """Return unit noise and the order of coordinates, each of shape (trials, L, K).

    `permuted` visits every coordinate once in each pass, in an order drawn anew; a sequence of
    all coordinates is the order of every pass. Orders drawn with replacement would visit some
    coordinates more often than the account of unequal noise allows for.
    """
    shape = (passes, task.problem.coordinates)
    cycle = list(range(shape[1])) if isinstance(order, str) else list(order)
    known = order in ORDERS if isinstance(order, str) else sorted(cycle) == list(range(shape[1]))
    problems = Problems("improved DP-CD")
    expected = f"one of {', '.join(ORDERS)} or a permutation of 0 to {shape[1] - 1}"
    problems.require(known, "order", expected, order)
    problems.raise_if_any()
    noise, orders = [], []
    for trial in trials:
        stream = generator(seed, "improved-descent", task.name, passes, trial)
        noise.append(stream.standard_normal(shape))
        visits = np.tile(np.array(cycle, dtype=np.int64), (passes, 1))
        orders.append(stream.permuted(visits, axis=1) if order == "permuted" else visits)
    return np.stack(noise), np.stack(orders)


def run(
    task: Task,
    ratios: Array,
    draws: tuple[Array, NDArray[np.int64]],
    steps: Array,
    clips: Array,
    *,
    power: float = 0.0,
) -> Array:
    """Return the relative errors of every (step, clip, trial), shape (S, C, trials).

    `draws` is unit noise and orders, as from `draw`. `ratios` times step^`power` multiplies
    the unit noise; the power is 0 for every scheme of the paper.
    """
    noise, orders = draws
    scaled = noise * ratios[orders]  # noise comes by place in the order, ratios by coordinate
    done = [
        task.error(
            descend(
                task.problem,
                steps=[step],
                clips=clips,
                noise=scaled * step**power,
                orders=orders,
            )[0]
        )
        for step in steps
    ]
    return np.stack(done)


@dataclass(frozen=True)
class Found:
    """What the search chose.

    Attributes
    ----------
    step, clip : float
    errors : float64 array, shape (trials,)
        On the trials on which it was chosen.
    edge : bool
        Whether the coarse grid's best lies on that grid's edge.
    luckiest : float
        The mean over trials of the least error of each trial over the refined grid, which no
        one who keeps their data private can know.
    """

    step: float
    clip: float
    errors: Array
    edge: bool
    luckiest: float


def _log_grid(spec: dict[str, float]) -> Array:
    return np.geomspace(spec["low"], spec["high"], int(spec["count"]))


def _least(errors: Array) -> tuple[int, int]:
    place = np.unravel_index(np.argmin(errors.mean(axis=-1)), errors.shape[:2])
    return int(place[0]), int(place[1])


def search(
    task: Task,
    ratios: Array,
    settings: dict[str, Any],
    *,
    passes: int,
    order: str | Sequence[int],
    seed: int,
    power: float = 0.0,
) -> Found:
    """Choose step and clipping constant by the least mean error over the trials.

    Parameters
    ----------
    task : Task
    ratios : float64 array, shape (K,)
        sigma_i / lambda_i, see `noise_ratios`.
    settings : dict
        `steps` and `clips`, the coarse grid {low, high, count}, run on the first
        `coarse_trials`; then `refine` points per axis between the neighbours of its best,
        run on all `trials`.
    passes, order, seed, power
        As for `draw` and `run`.
    """
    noise, orders = draw(task, passes, order, range(settings["trials"]), seed)
    grids = [_log_grid(settings["steps"]), _log_grid(settings["clips"])]
    few = slice(settings["coarse_trials"])
    places = _least(run(task, ratios, (noise[few], orders[few]), *grids, power=power))
    edge = any(p in (0, len(g) - 1) for p, g in zip(places, grids, strict=True))
    finer = [
        g[p] * np.geomspace(g[0] / g[1], g[1] / g[0], settings["refine"])
        for p, g in zip(places, grids, strict=True)
    ]
    errors = run(task, ratios, (noise, orders), *finer, power=power)
    s, c = _least(errors)
    luckiest = float(errors.min(axis=(0, 1)).mean())
    return Found(float(finer[0][s]), float(finer[1][c]), errors[s, c], edge, luckiest)


def same(ratios: Array, others: Array) -> bool:
    """Return whether two schemes are one mechanism here."""
    return bool(np.allclose(ratios, others, rtol=_SAME, atol=0.0))


def mean_and_error(values: Array) -> tuple[float, float]:
    """Return mean and standard error over the trials; (inf, inf) if one diverged."""
    if not np.isfinite(values).all():
        return np.inf, np.inf
    if np.all(values == values[0]):  # the start is no draw: its error is exactly 0
        return float(values[0]), 0.0
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def gain_and_error(errors: Array, others: Array) -> tuple[float, float]:
    """Return mean and standard error of errors - others by trial; nan if one diverged."""
    if not (np.isfinite(errors).all() and np.isfinite(others).all()):
        return np.nan, np.nan
    return mean_and_error(errors - others)


def in_threads(work: Callable, jobs: Iterable, threads: int) -> list:
    """Return the results in the order of the jobs, whatever the number of threads."""
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, jobs))
