"""Coordinate descent with noise by coordinate: steps, budget and search; Figures 5 and 6."""

import math

import numpy as np
import pandas as pd
import pytest

from descent_toys import SETTINGS, dataset, settings
from dpnoise.allocation.allocate import allocate
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise_papers import grids
from dpnoise_papers.inid_2024.tables.improved_descent import (
    COLUMNS,
    _refined,
    choose,
    draw,
    errors_at,
    errors_of,
    improved_descent,
    make_task,
    noise_ratios,
    same,
)

SEED = SETTINGS.seed
SCHEMES = ["iid", "spr", "optimal"]
KEYS = ["features", "order", "reading", "scheme", "protocol", "passes"]


def task_of(loss="squared", features="raw", **changes):
    return make_task(dataset(loss), settings(**changes), features)


def ratios_of(task, scheme="spr", passes=3, **more):
    return noise_ratios(task, scheme, epsilon=1.0, passes=passes, **more)


def algorithm_2(task, scheme, tau, clip, draws):
    """Run Algorithm 2 as it stands in the paper: the noise is added after the step.

    The kernel adds its noise to the gradient, which turns the sign of each draw.
    """
    (unit,), (orders,) = draws
    problem = task.problem
    X, y, N = problem.features, problem.target, problem.size
    tau_i = tau / problem.smoothness
    C_i = clip * np.sqrt(problem.smoothness / problem.smoothness.sum())
    sigma = allocate(
        2.0 * tau_i * C_i / N,
        scheme=scheme,
        epsilon=1.0,
        delta=task.delta,
        compositions=len(unit),
    )
    theta = np.zeros(problem.coordinates)
    for noise, order in zip(unit, orders, strict=True):
        for place, i in enumerate(order):
            fit = X @ theta
            slope = fit - y if problem.loss == "squared" else -y / (1.0 + np.exp(y * fit))
            gradient = np.clip(slope * X[:, i], -C_i[i], C_i[i]).mean()
            moved = theta[i] - tau_i[i] * gradient + sigma[i] * noise[place]
            if problem.penalty == "l1":
                threshold = tau_i[i] * problem.strengths[i]
                theta[i] = math.copysign(max(abs(moved) - threshold, 0.0), moved)
            else:
                theta[i] = moved / (1.0 + tau_i[i] * problem.strengths[i])
    return theta


@pytest.mark.parametrize("order", ["cyclic", "permuted"])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_run_is_algorithm_2_with_noise_after_the_step(loss, scheme, order):
    task = task_of(loss)
    unit, orders = draw(task, 3, order, [0], SEED)
    ratios = ratios_of(task, scheme)
    expected = task.excess(algorithm_2(task, scheme, 0.7, 4.0, (-unit, orders)))
    found = errors_of(task, ratios, (unit, orders), np.array([0.7]), np.array([4.0]))
    assert found.shape == (1, 1, 1)
    assert found[0, 0, 0] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("passes", [1, 7])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_spends_the_budget_and_not_more(scheme, passes):
    task = task_of()
    ratios = ratios_of(task, scheme, passes)
    mu = math.sqrt(passes * np.sum(ratios**-2.0))
    assert task.delta == 400.0**-2
    assert gaussian_log_delta(mu, 1.0) <= math.log(task.delta)
    assert gaussian_log_delta(mu, 1.0) == pytest.approx(math.log(task.delta), abs=1e-8)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("tau", "clip"), [(0.01, 3.0), (5.0, 1e4)])
def test_ratios_do_not_depend_on_step_and_clip(scheme, tau, clip):
    task = task_of()
    lambdas = 2.0 * tau / task.problem.smoothness * task.problem.clip_levels(clip) / 400
    sigmas = allocate(lambdas, scheme=scheme, epsilon=1.0, delta=task.delta, compositions=3)
    assert np.allclose(sigmas / lambdas, ratios_of(task, scheme), rtol=1e-12)


def test_spr_has_equal_ratios_and_is_not_the_papers_optimum_on_raw_features():
    task = task_of()
    spr = ratios_of(task)
    assert np.allclose(spr, spr[0], rtol=1e-12)
    assert not same(ratios_of(task, "optimal"), spr)


def test_on_standardised_features_all_schemes_are_one():
    task = task_of(features="standardise")
    assert np.allclose(task.problem.smoothness, 1.0, rtol=1e-12)
    for scheme in SCHEMES:
        assert same(ratios_of(task, scheme), ratios_of(task))


def test_draws_visit_every_coordinate_once_in_each_pass():
    task = task_of()
    noise, permuted = draw(task, 40, "permuted", range(3), SEED)
    assert noise.shape == permuted.shape == (3, 40, 3)
    assert np.array_equal(np.sort(permuted, axis=-1), np.broadcast_to([0, 1, 2], permuted.shape))
    first = np.bincount(permuted[..., 0].ravel(), minlength=3) / 120
    assert np.all(np.abs(first - 1 / 3) < 5 * math.sqrt(2 / 9 / 120))
    again, cyclic = draw(task, 40, "cyclic", [2], SEED)
    assert np.array_equal(again[0], noise[2])
    assert np.array_equal(cyclic, np.broadcast_to([0, 1, 2], cyclic.shape))


def test_the_error_is_that_of_the_objective():
    task = task_of()
    start = task.problem.objective(np.zeros(3))
    assert task.excess(np.zeros(3)) == pytest.approx((start - task.value) / task.value, rel=1e-12)
    assert task.excess(task.optimum) == pytest.approx(0.0, abs=1e-12)
    assert task.excess(np.array([np.inf, 0.0, 0.0])) == np.inf
    assert task_of("logistic", delta=1e-5).delta == 1e-5
    assert task_of("logistic").problem.strengths == pytest.approx(np.full(3, 1 / 400))


def test_the_search_reports_the_least_mean_of_its_grid():
    task, ratios = task_of(), ratios_of(task_of())
    found = choose(task, ratios, SETTINGS, passes=3, order="cyclic")
    draws = draw(task, 3, "cyclic", range(3), SEED)
    assert np.array_equal(errors_at(task, ratios, found, draws, [3])[3], found.errors)
    places = np.unravel_index(np.argmin(found.coarse), found.coarse.shape)
    axes = [grids.values(SETTINGS.steps), grids.values(SETTINGS.clips)]
    refined = [_refined(g, int(p), SETTINGS.refine)[0] for g, p in zip(axes, places, strict=True)]
    every = errors_of(task, ratios, draws, *refined)  # without a race
    s, c = np.unravel_index(np.argmin(every.mean(axis=-1)), every.shape[:2])
    assert (found.step, found.clip) == (refined[0][s], refined[1][c])
    assert found.errors == pytest.approx(every[s, c], rel=1e-9)
    # no coarse configuration is better on all trials than the refined one
    coarse = errors_of(task, ratios, draws, np.geomspace(0.1, 3.0, 4), np.geomspace(0.5, 50.0, 5))
    few = np.unravel_index(np.argmin(coarse[..., :2].mean(axis=-1)), (4, 5))
    assert found.errors.mean() <= coarse[few].mean() * (1.0 + 1e-9)


def test_the_search_says_when_its_grid_is_too_small():
    task = task_of()
    ratios = ratios_of(task) * 1e-6  # next to no noise: clipping only hurts
    small = settings(clips={"low": 1e-3, "high": 1e-2, "count": 3, "spacing": "log"})
    assert choose(task, ratios, small, passes=3, order="cyclic").edge
    wide = settings(
        steps={"low": 1e-3, "high": 1e3, "count": 7, "spacing": "log"},
        clips={"low": 1e-3, "high": 1e6, "count": 10, "spacing": "log"},
    )
    assert not choose(task, ratios_of(task), wide, passes=3, order="cyclic").edge


def test_the_refined_grid_knows_the_points_of_the_coarse_one():
    grid = np.geomspace(0.1, 100.0, 4)
    points, own, old = _refined(grid, 1, 5)
    assert points == pytest.approx(np.geomspace(0.1, 10.0, 5))
    assert own.tolist() == [0, 2, 4]
    assert (points[own] == grid[old]).all()
    assert old.tolist() == [0, 1, 2]
    assert _refined(grid, 3, 5)[2].tolist() == [2, 3]  # the next one lies beyond the grid
    assert _refined(grid, 1, 4)[1].tolist() == [0, 3]  # an even number leaves out the middle


def table_of(loss="squared", threads=1):
    return improved_descent(SETTINGS, dataset(loss), threads=threads)


@pytest.fixture(scope="module", params=["squared", "logistic"])
def table(request):
    return table_of(request.param)


def test_every_row_is_there_once(table):
    assert list(table.columns) == COLUMNS
    assert not table.duplicated(KEYS).any()
    # cyclic: a run seen at 0, 1, 2, 3 and runs of 1 and 3 passes; permuted: the longest only
    assert len(table) == 2 * 3 * 2 * ((4 + 2) + (4 + 1))
    assert np.isfinite(table.select_dtypes("number").to_numpy()).all()


def test_the_table_does_not_depend_on_the_threads(table):
    loss = "squared" if table["optimum"].iloc[0] == table_of()["optimum"].iloc[0] else "logistic"
    pd.testing.assert_frame_equal(table, table_of(loss, threads=3), check_exact=True)


def test_the_run_begins_at_zero_and_ends_where_the_budget_of_all_passes_ends(table):
    start = table[(table["reading"] == "run") & (table["passes"] == 0)]
    assert (start["error_se"] == 0).all()
    assert start.groupby("features")["error"].nunique().eq(1).all()
    keys = [key for key in KEYS if key not in ("reading", "passes")]
    last = table[table["passes"] == 3].sort_values(keys)
    ends = [last[last["reading"] == reading].set_index(keys) for reading in ("run", "budget")]
    pd.testing.assert_frame_equal(*(end.drop(columns="reading") for end in ends))


def test_gains_are_paired_differences_from_spr(table):
    keys = [key for key in KEYS if key != "scheme"]
    spr = table[table["scheme"] == "spr"].set_index(keys)
    assert (spr[["gain", "gain_se"]] == 0).all(axis=None)
    for scheme in ("iid", "optimal"):
        own = table[table["scheme"] == scheme].set_index(keys)
        assert np.allclose(own["gain"], spr["error"].loc[own.index] - own["error"], atol=1e-12)
    same = table[table["features"] == "standardise"]
    assert (same["gain"] == 0).all()
    raw = table[(table["features"] == "raw") & (table["scheme"] == "iid") & (table["passes"] == 3)]
    assert (raw["gain"] != 0).all()


def test_rows_are_what_the_search_and_fresh_trials_give():
    table = table_of()
    task = make_task(dataset(), SETTINGS, "raw")
    ratios = noise_ratios(task, "optimal", epsilon=1.0, passes=1)
    found = choose(task, ratios, SETTINGS, passes=1, order="cyclic")
    draws = draw(task, 1, "cyclic", range(3, 7), SETTINGS.seed)
    fresh = errors_at(task, ratios, found, draws, [1])[1]
    rows = table[
        (table["features"] == "raw") & (table["scheme"] == "optimal") & (table["passes"] == 1)
        & (table["reading"] == "budget")
    ].set_index("protocol")  # fmt: skip
    assert rows.loc["printed", "error"] == pytest.approx(found.errors.mean(), rel=1e-12)
    assert rows.loc["fresh", "error"] == pytest.approx(fresh.mean(), rel=1e-12)
    assert rows.loc["fresh", "error_se"] == pytest.approx(fresh.std(ddof=1) / 2.0, rel=1e-12)
    assert rows["step"].unique().tolist() == [found.step]
    assert rows["edge"].unique().tolist() == [int(found.edge)]


def test_without_data_the_table_has_its_columns():
    assert list(improved_descent(SETTINGS, None).columns) == COLUMNS
