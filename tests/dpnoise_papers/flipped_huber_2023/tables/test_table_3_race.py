"""Trials run for their best configuration alone, against full runs."""

import numpy as np
import pytest

from dpnoise_papers.flipped_huber_2023.tables.table_3_race import Contest, run_for_best
from dpnoise_papers.flipped_huber_2023.tables.table_3_runs import EXACT, Runs
from table_3_toys import dataset, settings

KEYS = [("gaussian", EXACT), ("gaussian", 3), ("gaussian-tight", EXACT)]
CONTESTS = [*(Contest(key, (2, 5)) for key in KEYS), Contest(KEYS[0], (2,))]
TRIALS = range(1, 5)


def runs_of(loss="squared", seed=1, keep=None, **changes):
    chosen = settings(seed=seed, passes=[2, 5], **changes)
    runs = Runs(dataset(loss), chosen, dict.fromkeys(KEYS, chosen.passes), trials=5)
    if keep:
        runs.run([0], 1)
        runs.thin([slice(1)], keep)
    return runs


def numbers(runs):
    """Return place and errors of the best, by contest."""
    found = {}
    for contest in CONTESTS:
        place = runs.best(contest.key, contest.passes, slice(1, 5))
        errors = runs.nmse[contest.key], runs.test_error[contest.key[0]]
        found[contest] = place, *(one[place][1:].tolist() for one in errors)
    return found


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("keep", [None, 3.0])
def test_the_best_and_its_numbers_are_those_of_a_full_run(loss, seed, keep):
    full = runs_of(loss, seed, keep)
    full.run(TRIALS, 1, whole=not keep)
    for threads in (1, 2, 9):
        runs = runs_of(loss, seed, keep)
        run_for_best(runs, TRIALS, CONTESTS, threads, whole=not keep)
        assert numbers(runs) == numbers(full)


@pytest.mark.parametrize("seed", range(4))
def test_a_likely_winner_saves_runs_and_never_changes_the_best(seed):
    full = runs_of(seed=seed)
    run_for_best(full, TRIALS, CONTESTS)
    counts = []
    for sign in (1.0, -1.0):  # the right one, and the most wrong one
        runs = runs_of(seed=seed)
        for key in KEYS:
            runs.scores[key] = sign * np.nan_to_num(full.nmse[key].mean(axis=-1), posinf=1e300)
        run_for_best(runs, TRIALS, CONTESTS)
        assert numbers(runs) == numbers(full)
        counts.append(sum(np.isfinite(runs.nmse[key]).sum() for key in KEYS))
    assert counts[0] <= counts[1]


def test_test_errors_are_measured_for_the_best_alone():
    runs = runs_of()
    run_for_best(runs, TRIALS, CONTESTS[:1])
    place = runs.best(KEYS[0], (2, 5), TRIALS)
    tested = np.isfinite(runs.test_error[KEYS[0][0]])
    assert np.argwhere(tested).tolist() == [[*place, trial] for trial in TRIALS]


@pytest.mark.parametrize("order", ["random", "cyclic"])
def test_what_has_lost_is_not_run_again_and_some_of_it_never(order):
    """Lower bounds are known for the cyclic order alone."""
    runs = runs_of(setting={"order": order})
    run_for_best(runs, TRIALS, CONTESTS)
    run = [np.isfinite(runs.nmse[KEYS[2]][..., trial]).sum() for trial in range(5)]
    assert run[0] == 0
    last, later, early, most = sorted(run[1:])
    assert 1 <= last <= later <= early < 12
    assert most < 12 if order == "cyclic" else most == 12


def test_with_slack_more_is_run_and_the_best_is_the_same():
    counts, found = [], []
    for slack in (1.0, 3.0, np.inf):
        runs = runs_of()
        run_for_best(runs, TRIALS, CONTESTS, slack=slack)
        counts.append(np.isfinite(runs.nmse[KEYS[2]]).sum())
        found.append(numbers(runs))
    assert counts[0] < counts[1] < counts[2] == 4 * 12
    assert found[0] == found[1] == found[2]


def test_diverged_configurations_lose_and_all_diverged_is_no_error():
    wide = {"steps": {"low": 1.0, "high": 10.0, "count": 2, "spacing": "log"}}
    full, runs = runs_of(**wide), runs_of(**wide)
    for one in (full, runs):
        one.nmse[KEYS[0]][1] = np.inf
    full.run(TRIALS, 1)
    run_for_best(runs, TRIALS, CONTESTS)
    assert numbers(runs) == numbers(full)
    none = runs_of()
    none.run_trial = lambda *_: None
    run_for_best(none, TRIALS, CONTESTS)
    assert np.isinf(none.nmse[KEYS[0]]).all()
