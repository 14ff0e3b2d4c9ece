"""Trials of Table III of which only the best configuration is asked for.

An NMSE is not negative: a configuration whose NMSE on some trials sums to more than that of
another one on all of them is not the best. Most of the grid has lost before it is run, by its
lower bounds (`table_3_bounds`), or after its first trial, and is not run on the others; the best
configuration, and what is known of it, are those of a full run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise_papers.descent.harness import in_threads, race

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dpnoise_papers.flipped_huber_2023.tables.table_3_runs import Flags, Key, Runs, Trial


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
    slack: float = 1.0,
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
    slack : float
        At least 1: a configuration is run on until its sum exceeds this multiple of the smallest.
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
    if whole:
        for trial in drawn.values():
            runs.bound_trial(trial, _together(runs, entered))
        bounds = {one: runs.bounds[one.key] for one in entered}
    likely = {one: runs.likely(one.key, flags) for one, flags in entered.items()}
    race(run, errors, entered, trials, likely=likely, bounds=bounds, slack=slack, at_once=threads)
    best = {one: np.zeros_like(flags) for one, flags in entered.items()}
    for one, flags in best.items():
        place = runs.best(one.key, one.passes, trials)
        flags[place] = np.isfinite(errors[one][place][trials]).all()
    for trial in drawn.values():
        runs.test_trial(trial, _together(runs, best))


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
