"""Trials of Table III of which only the best configuration is asked for.

An NMSE is not negative: a configuration whose NMSE on some trials sums to more than that of
another one on all of them is not the best. Most of the grid is lost after its first trial and is
not run on the others; the best configuration, and what is known of it, are those of a full run.

After each trial the configuration with the smallest sum is run on all trials, which lowers the
bound for the others, and the trial on which the best one errs most comes next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise_papers.descent.harness import in_threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dpnoise._types import Array
    from dpnoise_papers.flipped_huber_2023.tables.table_3_runs import Flags, Key, Runs, Trial

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
    slack: float = 1.0,
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
    slack : float
        At least 1: a configuration is run on until its sum exceeds this multiple of the smallest.
    """
    drawn = dict(zip(trials, in_threads(runs.trial, trials, threads), strict=True))
    entered = {
        one: _entered(runs, one, drawn[trials[0]], whole=whole) for one in dict.fromkeys(contests)
    }

    def run(some: Sequence[int], wanted: dict[Contest, Flags]) -> None:
        flags = {key: np.zeros_like(kept) for key, kept in runs.kept.items()}
        for one, own in wanted.items():
            flags[one.key] |= own
        in_threads(lambda trial: runs.run_trial(drawn[trial], flags), some, threads)

    def sums(one: Contest, some: Sequence[int]) -> Array:
        total = runs.nmse[one.key][..., list(some)].sum(axis=-1)
        return np.where(entered[one], total, np.inf)

    alive, left = entered, list(trials)
    complete = {one: np.zeros_like(flags) for one, flags in entered.items()}
    while left:
        batch, left = left[:threads], left[threads:]
        run(batch, alive)
        known = [trial for trial in trials if trial not in left]
        partial = {one: sums(one, known) for one in entered}
        leaders = {one: _smallest(partial[one], ~complete[one]) for one in entered}
        run(left, leaders)
        complete = {one: complete[one] | leader for one, leader in leaders.items()}
        totals = {one: sums(one, trials) for one in entered}
        left = _hardest_first(runs, left, totals)
        alive = {
            one: entered[one] & (partial[one] <= totals[one].min() * slack * _ROUNDING)
            for one in entered
        }


def _entered(runs: Runs, contest: Contest, trial: Trial, *, whole: bool) -> Flags:
    """Configurations of a contest; what is kept for equal noise is run for all."""
    key, flags = contest.key, np.zeros_like(runs.kept[contest.key])
    for place, passes in enumerate(runs.passes):
        if passes in contest.passes:
            keys = next(one.keys for one in runs.noises_of(trial, passes) if key in one.keys)
            flags[place] = whole | np.any([runs.kept[one][place] for one in keys], axis=0)
    return flags


def _smallest(values: Array, among: Flags) -> Flags:
    """Place of the smallest finite value among some."""
    values = np.where(among, values, np.inf)
    return (values == values.min()) & np.isfinite(values)


def _hardest_first(runs: Runs, trials: list[int], totals: dict[Contest, Array]) -> list[int]:
    """Trials by the share that they have in the smallest sum of the contests, largest first."""
    share = np.zeros(len(trials))
    for one, total in totals.items():
        best = np.unravel_index(np.argmin(total), total.shape)
        if 0.0 < total[best] < np.inf:
            share += runs.nmse[one.key][best][trials] / total[best]
    return [trials[place] for place in np.argsort(-share, kind="stable")]
