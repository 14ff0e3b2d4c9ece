"""Figures 5 and 6 of inid-2024: coordinate descent with noise by coordinate, against passes.

Two readings of 'the relative error after l passes'. `run`: one run of L passes, whose noise
pays for all of them, looked at after each pass (all iterates are private; so are the figures
of Mangold et al., 2022). `budget`: for each l a run of its own, whose noise pays for l passes.

Two protocols. `printed` reports the mean over the very trials on which step and clipping
constant were chosen. `fresh` reports the mean over other trials.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from dpnoise_papers.descent.search import (
    Found,
    Task,
    draw,
    gain_and_error,
    in_threads,
    make_task,
    mean_and_error,
    noise_ratios,
    run,
    same,
    search,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpnoise_papers.data.dataset import Dataset

    Array = np.ndarray

COLUMNS = [
    "dataset", "features", "order", "reading", "scheme", "protocol", "passes", "error",
    "error_se", "gain", "gain_se", "step", "clip", "edge", "epsilon", "delta", "optimum",
]  # fmt: skip
SCHEMES = ("iid", "spr", "optimal")


class _Job(NamedTuple):
    """One search and what follows from it; schemes with equal noise share it."""

    task: Task
    order: str
    passes: int
    ratios: Array
    schemes: tuple[str, ...]


class _Done(NamedTuple):
    """Errors of one job by reading and passes, on the search's trials and on fresh ones."""

    found: Found
    errors: dict[tuple[str, int], Array]  # each of shape (trials + evaluate,)


def _jobs(tasks: Iterable[Task], settings: dict[str, Any]) -> list[_Job]:
    """Return the searches to be made: all numbers of passes cyclic, the longest in any order."""
    jobs = []
    longest = max(settings["passes"])
    for task, order, passes in product(tasks, settings["orders"], settings["passes"]):
        if order != "cyclic" and passes != longest:
            continue
        distinct: list[tuple[Array, list[str]]] = []
        for scheme in SCHEMES:
            ratios = noise_ratios(task, scheme, epsilon=settings["epsilon"], passes=passes)
            known = [names for other, names in distinct if same(ratios, other)]
            if known:
                known[0].append(scheme)
            else:
                distinct.append((ratios, [scheme]))
        jobs += [_Job(task, order, passes, ratios, tuple(names)) for ratios, names in distinct]
    return sorted(jobs, key=lambda job: -job.passes)


def _work(job: _Job, settings: dict[str, Any], seed: int) -> _Done:
    """Search, then run the chosen configuration on the search's trials and on fresh ones."""
    task, order, passes, ratios, _ = job
    found = search(task, ratios, settings, passes=passes, order=order, seed=seed)
    trials = range(settings["trials"] + settings["evaluate"])
    noise, orders = draw(task, passes, order, trials, seed)
    longest = passes == max(settings["passes"])
    ends = [end for end in settings["curve"] if end < passes] if longest else []
    step, clip = np.array([found.step]), np.array([found.clip])
    path = {
        end: run(task, ratios, (noise[:, :end], orders[:, :end]), step, clip)[0, 0]
        for end in [*ends, passes]
    }
    errors = {("budget", passes): path[passes]}
    if longest:
        start = task.error(np.zeros(task.problem.coordinates))
        path[0] = np.full(len(noise), start)
        errors |= {("run", end): values for end, values in path.items()}
    return _Done(found, errors)


@threadpool_limits.wrap(limits=1)  # BLAS on several threads rounds otherwise than on one
def improved_descent(
    dataset: Dataset, task: dict[str, Any], settings: dict[str, Any], *, seed: int, threads: int = 1
) -> pd.DataFrame:
    """Run private coordinate descent under i.i.d., SPR and optimal noise.

    Parameters
    ----------
    dataset : Dataset
    task : dict
        loss, penalty, strength by way of scaling.
    settings : dict
        epsilon, delta, features, orders, passes, curve, trials, coarse_trials, evaluate,
        steps, clips, refine.
    seed : int
    threads : int
        Does not change the result.

    Returns
    -------
    DataFrame
        One row per (features, order, reading, scheme, protocol, passes), columns `COLUMNS`.
        `gain` is the mean paired difference of SPR's error less the scheme's; `edge` is 1 if
        the search ended on the edge of its grid.
    """
    tasks = [make_task(dataset, task, how, settings["delta"]) for how in settings["features"]]
    jobs = _jobs(tasks, settings)
    results = in_threads(lambda job: _work(job, settings, seed), jobs, threads)
    done = {
        (job.task.features, job.order, job.passes, scheme): (job.task, result)
        for job, result in zip(jobs, results, strict=True)
        for scheme in job.schemes
    }
    parts = {"printed": slice(settings["trials"]), "fresh": slice(settings["trials"], None)}
    rows = []
    for (features, order, budget, scheme), (one, (found, errors)) in done.items():
        spr = done[features, order, budget, "spr"][1].errors
        for (reading, passes), values in errors.items():
            for protocol, part in parts.items():
                error, error_se = mean_and_error(values[part])
                gain, gain_se = gain_and_error(spr[reading, passes][part], values[part])
                rows.append(
                    [
                        dataset.name, features, order, reading, scheme, protocol, passes, error,
                        error_se, gain, gain_se, found.step, found.clip, int(found.edge),
                        settings["epsilon"], one.delta, one.value,
                    ]
                )  # fmt: skip
    table = pd.DataFrame(rows, columns=COLUMNS)
    table["scheme"] = pd.Categorical(table["scheme"], SCHEMES)
    table = table.sort_values(COLUMNS[1:7], ignore_index=True)
    return table.astype({"scheme": str})
