"""Figures 5 and 6 of inid-2024: coordinate descent with noise by coordinate, against passes.

Two variants of 'the relative error after l passes'. `run`: one run of L passes, whose noise
pays for all of them, looked at after each pass (all iterates are private; so are the figures
of Mangold et al., 2022). `budget`: for each l a run of its own, whose noise pays for l passes.

Two protocols. `printed` reports the mean over the very trials on which step and clipping
constant were chosen. `fresh` reports the mean over other trials.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from dpnoise_papers.descent.harness import Task, gain_and_error, in_threads, mean_and_error
from dpnoise_papers.inid_2024.tables.descent_search import (
    Found,
    choose,
    draw,
    errors_at,
    make_task,
    noise_ratios,
    same,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpnoise._types import Array
    from dpnoise_papers.data.sets import Dataset
    from dpnoise_papers.inid_2024.descent_settings import ImprovedDescent

COLUMNS = [
    "dataset", "features", "order", "reading", "scheme", "protocol", "passes", "error",
    "error_se", "gain", "gain_se", "step", "clip", "edge", "epsilon", "delta", "optimum",
]  # fmt: skip
SCHEMES = ("iid", "spr", "optimal")


class _Job(NamedTuple):
    """One search and what follows from it; schemes with equal noise share it."""

    features: str
    order: str
    passes: int
    ratios: Array
    schemes: tuple[str, ...]


class _Done(NamedTuple):
    """Errors of one job by variant and passes, on the search's trials and on fresh ones."""

    found: Found
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
                        *mean_and_error(values[part]),
                        *gain_and_error(spr[variant, passes][part], values[part]),
                        found.step, found.clip, int(found.edge), settings.epsilon,
                        tasks[features].delta, tasks[features].value,
                    ]
                )  # fmt: skip
    table = pd.DataFrame(rows, columns=COLUMNS)
    table["scheme"] = pd.Categorical(table["scheme"], SCHEMES)
    table = table.sort_values(COLUMNS[1:7], ignore_index=True)
    return table.astype({"scheme": str})
