"""The harness of coordinate descent: means, gains, threads, and runs of a part of the grid."""

import math
import time

import numpy as np
import pytest

from descent_toys import SETTINGS, dataset
from dpnoise_papers.descent.harness import (
    budget_delta,
    gain_and_error,
    in_threads,
    mean_and_error,
    race,
    run,
    smallest_mean,
)
from dpnoise_papers.inid_2024.tables.descent_orders import draw, make_task


def test_means_and_paired_gains():
    assert mean_and_error(np.array([1.0, 2.0, 3.0])) == pytest.approx((2.0, 1 / math.sqrt(3)))
    assert mean_and_error(np.full(20, 0.1)) == (0.1, 0.0)
    assert mean_and_error(np.array([1.0, np.inf])) == (np.inf, np.inf)
    gain, spread = gain_and_error(np.array([1.0, 2.0]), np.array([0.0, 1.5]))
    assert (gain, spread) == pytest.approx((0.75, 0.25))
    assert np.isnan(gain_and_error(np.array([1.0, np.inf]), np.array([0.0, 1.5]))).all()


def raced(full, **options):
    """Return errors after a race over some contests, and how many were run."""
    errors = {one: np.full_like(values, np.inf) for one, values in full.items()}
    runs = 0

    def run(some, wanted):
        nonlocal runs
        for one, own in wanted.items():
            places = np.ix_(range(len(own)), some)
            runs += np.count_nonzero(own) * len(some)
            values = np.where(own[:, None], full[one][places], errors[one][places])
            assert np.isinf(errors[one][places][own]).all(), "run twice"
            errors[one][places] = values

    entered = {one: np.ones(len(values), dtype=bool) for one, values in full.items()}
    race(run, errors, entered, range(next(iter(full.values())).shape[-1]), **options)
    return errors, runs


def errors_of_many(rng, trials, worst):
    values = rng.exponential(size=(12, 1)) + 0.3 * rng.exponential(size=(12, trials))
    values[rng.random(values.shape) < 0.05] *= worst
    return values


@pytest.mark.parametrize("trials", [1, 2, 5])
@pytest.mark.parametrize("worst", [1.0, np.inf])
@pytest.mark.parametrize("guess", [None, "right", "wrong"])
@pytest.mark.parametrize("at_once", [1, 3])
def test_a_race_has_the_winner_of_a_full_run_and_runs_less(trials, worst, guess, at_once):
    rng = np.random.default_rng(trials)
    for _ in range(25):
        full = {one: errors_of_many(rng, trials, worst) for one in ("first", "second")}
        options = {"at_once": at_once}
        if guess:
            pick = np.argmin if guess == "right" else np.argmax
            options["likely"] = {
                one: np.arange(12) == pick(values.mean(axis=-1)) for one, values in full.items()
            }
        found, runs = raced(full, **options)
        for one, errors in full.items():
            (place,) = smallest_mean(errors)
            if np.isfinite(errors[place]).all():
                assert smallest_mean(found[one]) == (place,)
                assert np.array_equal(found[one][place], errors[place])
        size = sum(values.size for values in full.values())
        assert runs <= size
        assert trials == 1 or worst == np.inf or at_once > 1 or runs < size


@pytest.mark.parametrize("share", [0.0, 0.9, 1.0])
def test_lower_bounds_save_runs_and_never_change_the_winner(share):
    rng = np.random.default_rng(7)
    saved = 0
    for _ in range(25):
        full = {one: errors_of_many(rng, 5, 1.0) for one in ("first", "second")}
        likely = {one: np.arange(12) == rng.integers(12) for one in full}
        found, runs = raced(full, likely=likely)
        saved += runs
        bounds = {one: share * values for one, values in full.items()}
        found, runs = raced(full, likely=likely, bounds=bounds)
        saved -= runs
        for one, errors in full.items():
            (place,) = smallest_mean(errors)
            assert smallest_mean(found[one]) == (place,)
            assert np.array_equal(found[one][place], errors[place])
    assert saved == 0 if share == 0.0 else saved > 0


def test_with_slack_every_configuration_near_the_best_is_run_on_all_trials():
    rng = np.random.default_rng(0)
    for slack in (1.0, 1.5, 3.0):
        full = {"one": errors_of_many(rng, 5, 1.0)}
        found, _ = raced(full, slack=slack)
        near = full["one"].sum(axis=-1) <= slack * full["one"].sum(axis=-1).min()
        assert np.array_equal(found["one"][near], full["one"][near])


def test_judged_by_its_smallest_errors_every_configuration_near_the_best_is_run():
    rng = np.random.default_rng(1)
    saved = 0
    for slack, judged in ((1.0, 3), (1.5, 2), (3.0, 1)):
        full = {"one": errors_of_many(rng, 5, 1.0)}
        found, runs = raced(full, slack=slack, judged=judged)
        smallest = np.sort(full["one"], axis=-1)[:, :judged].mean(axis=-1)
        near = smallest <= slack * full["one"].mean(axis=-1).min()
        assert np.array_equal(found["one"][near], full["one"][near])
        saved += full["one"].size - runs
    assert saved > 0


def test_a_configuration_that_ties_with_the_best_is_run_on_all_trials():
    full = {"one": np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]])}
    found, _ = raced(full, likely={"one": np.array([True, False, False])})
    assert np.array_equal(found["one"][:2], full["one"][:2])


def test_means_of_many_configurations_are_those_of_each():
    values = np.random.default_rng(0).normal(size=(3, 4, 5))
    values[1, 2] = 0.1
    values[0, 3, 2] = np.nan
    mean, error = mean_and_error(values)
    for place in np.ndindex(3, 4):
        assert (mean[place], error[place]) == mean_and_error(values[place])
    assert (mean[0, 3], error[0, 3]) == (np.inf, np.inf)
    assert smallest_mean(np.nan_to_num(values, nan=9.0)) == np.unravel_index(
        np.argmin(mean), mean.shape
    )


def test_delta_is_a_number_or_one_over_the_squared_size():
    assert budget_delta("1/N^2", 400) == 400.0**-2
    assert budget_delta(1e-5, 400) == 1e-5


def test_results_come_in_the_order_of_the_jobs():
    def work(job):
        time.sleep(0.02 * (3 - job))
        return job

    assert in_threads(work, range(4), 4) == [0, 1, 2, 3]


def test_a_part_of_the_grid_has_the_errors_of_the_whole_grid():
    task = make_task(dataset(), SETTINGS)
    noise, orders = draw(task, 3, (0, 1, 2), range(2), 1)
    steps, clips = np.array([0.1, 1.0]), np.array([1.0, 10.0, 50.0])
    given = {"steps": steps, "clips": clips, "noise": noise, "orders": orders}
    excess, nmse = run(task.problem, [task.excess, task.nmse], **given)
    assert excess.shape == nmse.shape == (2, 3, 2)
    wanted = np.array([[False, True, True], [False, False, False]])
    (part,) = run(task.problem, [task.excess], **given, wanted=wanted)
    assert np.array_equal(part[wanted], excess[wanted])
    assert np.isinf(part[~wanted]).all()
