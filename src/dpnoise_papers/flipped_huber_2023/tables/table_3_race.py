"""Trials of Table III of which only the best configuration is asked for.

An NMSE is not negative: a configuration whose NMSE on some trials sums to more than that of
another one on all of them is not the best. Most of the grid is lost after its first trial and is
not run on the others; the best configuration, and what is known of it, are those of a full run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise_papers.descent.harness import in_threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dpnoise._types import Array
    from dpnoise_papers.flipped_huber_2023.tables.table_3_runs import Flags, Key, Runs
    from dpnoise_papers.flipped_huber_2023.tables.table_3_splits import Split

_ROUNDING = 1.0 + 1e-9  # sums of the same numbers in another order


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
) -> None:
    """Run trials as far as `runs.best` over all of them needs it, for each contest.

    Parameters
    ----------
    trials : sequence of int
        All that the best is the mean of.
    threads : int
        So many trials are run at a time; `runs.best` does not depend on it.
    whole : bool
        Whether all configurations take part, or those that are kept.
    """
    splits = dict(zip(trials, in_threads(runs.split_of, trials, threads), strict=True))
    entered = {
        one: _entered(runs, one, splits[trials[0]], whole=whole) for one in dict.fromkeys(contests)
    }

    def run(some: Sequence[int], wanted: dict[Contest, Flags]) -> None:
        flags = {key: np.zeros_like(kept) for key, kept in runs.kept.items()}
        for one, own in wanted.items():
            flags[one.key] |= own
        in_threads(lambda trial: runs.run_trial(trial, flags, splits[trial]), some, threads)

    def sums(one: Contest, some: Sequence[int]) -> Array:
        total = runs.nmse[one.key][..., list(some)].sum(axis=-1)
        return np.where(entered[one], total, np.inf)

    run(trials[:threads], entered)
    run(trials[threads:], {one: _smallest(sums(one, trials[:threads])) for one in entered})
    bounds = {one: sums(one, trials).min() * _ROUNDING for one in entered}
    for start in range(threads, len(trials), threads):
        known = trials[:start]
        alive = {one: entered[one] & (sums(one, known) <= bounds[one]) for one in entered}
        run(trials[start : start + threads], alive)


def _entered(runs: Runs, contest: Contest, split: Split, *, whole: bool) -> Flags:
    """Configurations of a contest; what is kept for equal noise is run for all."""
    key, flags = contest.key, np.zeros_like(runs.kept[contest.key])
    for place, passes in enumerate(runs.passes):
        if passes in contest.passes:
            keys = next(keys for keys in runs.noises_of(split, passes).values() if key in keys)
            flags[place] = whole | np.any([runs.kept[one][place] for one in keys], axis=0)
    return flags


def _smallest(values: Array) -> Flags:
    """Place of the smallest value, if it is finite."""
    return (values == values.min()) & np.isfinite(values)
