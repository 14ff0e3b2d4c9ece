"""Coordinate descent with noise by coordinate, in many orders: steps, budget, search, tables."""

import math

import numpy as np
import pandas as pd
import pytest

from descent_toys import SETTINGS, dataset, settings
from dpnoise.allocation.allocate import allocate
from dpnoise.learn.cd import descend
from dpnoise.learn.problem import make_problem
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise_papers.inid_2024.tables.descent_orders import (
    ORDERS_COLUMNS,
    SCHEMES,
    SPREAD_COLUMNS,
    _refined,
    choose,
    descent_orders,
    draw,
    errors_at,
    errors_of,
    make_task,
    noise_ratios,
    orders_of,
    spread,
)
from dpnoise_papers.settings import values

SEED = SETTINGS.seed
NAMED = SETTINGS.documented["california"]
CYCLE = (0, 1, 2)


def task_of(loss="squared", **changes):
    return make_task(dataset(loss), settings(**changes))


def ratios_of(task, scheme="spr", passes=3):
    return noise_ratios(task, scheme, epsilon=1.0, passes=passes)


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


@pytest.mark.parametrize("order", [CYCLE, (2, 0, 1)])
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


def test_spr_has_equal_ratios_and_is_not_the_papers_optimum():
    task = task_of()
    spr = ratios_of(task)
    assert np.allclose(spr, spr[0], rtol=1e-12)
    assert not np.allclose(ratios_of(task, "optimal"), spr, rtol=0.1)


def test_draws_have_the_order_of_every_pass_and_noise_by_trial():
    task = task_of()
    noise, visits = draw(task, 40, (2, 0, 1), range(3), SEED)
    assert noise.shape == visits.shape == (3, 40, 3)
    assert (visits == [2, 0, 1]).all()
    again, cyclic = draw(task, 40, CYCLE, [2], SEED)
    assert np.array_equal(again[0], noise[2])
    assert (cyclic == CYCLE).all()
    assert np.unique(noise).size == noise.size


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
    found = choose(task, ratios, SETTINGS, order=CYCLE)
    draws = draw(task, 3, CYCLE, range(3), SEED)
    assert np.array_equal(errors_at(task, ratios, found, draws, [3])[3], found.errors)
    places = np.unravel_index(np.argmin(found.coarse), found.coarse.shape)
    axes = [values(SETTINGS.steps), values(SETTINGS.clips)]
    refined = [_refined(g, int(p), SETTINGS.refine)[0] for g, p in zip(axes, places, strict=True)]
    every = errors_of(task, ratios, draws, *refined)  # without a race
    s, c = np.unravel_index(np.argmin(every.mean(axis=-1)), every.shape[:2])
    assert (found.step, found.clip) == (refined[0][s], refined[1][c])
    assert found.errors == pytest.approx(every[s, c], rel=1e-9)
    # no coarse configuration is better on all trials than the refined one
    coarse = errors_of(task, ratios, draws, np.geomspace(0.1, 3.0, 4), np.geomspace(0.5, 50.0, 5))
    assert found.errors.mean() <= coarse.mean(axis=-1).min() * (1.0 + 1e-9)


def test_the_search_says_when_its_grid_is_too_small():
    task = task_of()
    ratios = ratios_of(task) * 1e-6  # next to no noise: clipping only hurts
    small = settings(clips={"low": 1e-3, "high": 1e-2, "count": 3, "spacing": "log"})
    assert choose(task, ratios, small, order=CYCLE).edge
    wide = settings(
        steps={"low": 1e-3, "high": 1e3, "count": 7, "spacing": "log"},
        clips={"low": 1e-3, "high": 1e6, "count": 10, "spacing": "log"},
    )
    assert not choose(task, ratios_of(task), wide, order=CYCLE).edge


def test_the_refined_grid_knows_the_points_of_the_coarse_one():
    grid = np.geomspace(0.1, 100.0, 4)
    points, own, old = _refined(grid, 1, 5)
    assert points == pytest.approx(np.geomspace(0.1, 10.0, 5))
    assert own.tolist() == [0, 2, 4]
    assert (points[own] == grid[old]).all()
    assert old.tolist() == [0, 1, 2]
    assert _refined(grid, 3, 5)[2].tolist() == [2, 3]  # the next one lies beyond the grid
    assert _refined(grid, 1, 4)[1].tolist() == [0, 3]  # an even number leaves out the middle


@pytest.fixture(scope="module")
def orders_tables():
    return descent_orders(SETTINGS, dataset())


def test_orders_are_permutations_and_documented_ones_come_first():
    orders = orders_of(dataset(), NAMED, 40, SEED)
    assert list(orders.values())[:2] == [(0, 1, 2), (2, 1, 0)]
    assert len(orders) == 42
    assert {tuple(sorted(order)) for order in orders.values()} == {(0, 1, 2)}
    assert len(set(orders.values())) == 6  # 40 draws of 6: all missed with chance below 1e-2
    assert orders == orders_of(dataset(), NAMED, 40, SEED)


def test_an_order_is_the_descent_on_columns_in_that_order():
    """Permuting the visits is permuting the columns of X, and the noise is by place."""
    one = task_of()
    order = (2, 0, 1)
    noise, visits = draw(one, 3, order, range(4), SEED)
    data = dataset()
    turned = make_problem(
        data.features[:, list(order)], data.target, loss="squared", penalty="l1", strength=0.05
    )
    step, clip = [0.5], [20.0]
    plain = descend(one.problem, steps=step, clips=clip, noise=noise, orders=visits)
    other = descend(turned, steps=step, clips=clip, noise=noise)
    assert other == pytest.approx(plain[..., list(order)], rel=1e-5, abs=1e-9)
    assert np.array_equal(draw(one, 3, CYCLE, range(4), SEED)[0], noise)


def test_every_row_is_there_once(orders_tables):
    table, summary = orders_tables
    keys = ["order", "scheme", "protocol", "passes"]
    assert list(table.columns) == ORDERS_COLUMNS
    assert not table.duplicated(keys).any()
    assert (
        len(table) == 5 * len(SCHEMES) * 2 * 4
    )  # the start, after 1 and 2 passes, and the end at 3
    assert list(summary.columns) == SPREAD_COLUMNS
    assert len(summary) == len(SCHEMES) * 2 * 4
    assert (summary["orders"] == 5).all()
    assert np.isfinite(table.select_dtypes("number").to_numpy()).all()


def test_rows_are_what_search_and_fresh_trials_give(orders_tables):
    task = task_of()
    ratios = ratios_of(task, "optimal")
    found = choose(task, ratios, SETTINGS, order=(2, 1, 0))
    draws = draw(task, 3, (2, 1, 0), range(3, 7), SEED)
    fresh = errors_at(task, ratios, found, draws, [3])[3]
    table = orders_tables[0].set_index(["order", "scheme", "passes", "protocol"]).sort_index()
    rows = table.loc[("turned", "optimal", 3)]
    assert rows.loc["printed", "error"] == pytest.approx(found.errors.mean(), rel=1e-12)
    assert rows.loc["fresh", "error"] == pytest.approx(fresh.mean(), rel=1e-12)
    assert rows.loc["fresh", "error_se"] == pytest.approx(fresh.std(ddof=1) / 2.0, rel=1e-12)
    spr = table.loc[("turned", "spr", 3, "fresh"), "error"]
    assert rows.loc["fresh", "gain"] == pytest.approx(spr - fresh.mean(), rel=1e-9)
    assert rows.loc["fresh", "columns"] == "c b a"
    assert (rows["step"] == found.step).all()
    assert (rows["edge"] == found.edge).all()
    start = table.xs(0, level="passes")
    assert np.allclose(start["error"], task.excess(np.zeros(3)), rtol=1e-12)
    assert (start[["error_se", "gain", "gain_se"]] == 0).all(axis=None)


def test_the_spread_is_the_first_order_and_the_range(orders_tables):
    table, summary = orders_tables
    keys = ["dataset", "scheme", "protocol", "passes"]
    groups = table.groupby(keys)["error"]
    known = summary.set_index(keys).sort_index()
    first = table.drop_duplicates(keys).set_index(keys).sort_index()
    assert set(known["order"]) == set(first["order"]) == {table["order"].iloc[0]}
    assert known["error"].equals(first["error"])
    assert known["gain"].equals(first["gain"])
    # the same with errors that differ from order to order, the first one's being the largest
    planted = table.assign(error=table["order"].map({"as-is": 9.0}).fillna(table["error"]))
    assert (spread(planted)["error"] == 9.0).all()
    assert (known["error_least"] == groups.min()).all()
    assert (known["error_greatest"] == groups.max()).all()
    assert known["error_se"].equals(table.groupby(keys)["error_se"].median())
    trials = {"printed": SETTINGS.trials, "fresh": SETTINGS.evaluate}
    assert (table["repetitions"] == table["protocol"].map(trials)).all()
    assert (known["repetitions"] - 1).equals(5 * (table.groupby(keys)["repetitions"].first() - 1))
    assert (known.loc[("california", "spr")][["gain_least", "gain_greatest"]] == 0).all(axis=None)
    assert spread(table.iloc[:0]).empty


def test_points_that_are_left_out_change_nothing_unless_one_of_them_would_have_won(orders_tables):
    thinned = orders_tables[0].drop(columns="audited")
    whole = descent_orders(settings(keep=1e10), dataset())[0]
    pd.testing.assert_frame_equal(thinned, whole.drop(columns="audited"), check_exact=True)
    audited = orders_tables[0].set_index("order")["audited"]
    assert audited[audited == 1].index.unique().tolist() == ["random-3"]
    assert (orders_tables[0]["missed"] == 0).all()


def test_an_audited_order_tells_that_the_best_was_left_out():
    """Only the best point of the first order is kept, and it is not that of every order."""
    everything = {"random": 20, "audit": 21, "keep": 1e10}
    table, _ = descent_orders(settings(**everything), dataset())
    assert (table["missed"] == 0).all()
    alone, _ = descent_orders(settings(**everything | {"keep": 1.0}), dataset())
    pd.testing.assert_frame_equal(
        table.drop(columns="missed"), alone.drop(columns="missed"), check_exact=True
    )
    assert alone["missed"].any()


def test_each_scheme_starts_from_the_points_that_were_near_its_own_best(monkeypatch):
    seen = {}

    def watched(task, ratios, settings, *, order, entered=None, slack=1.0):
        found = choose(task, ratios, settings, order=order, entered=entered, slack=slack)
        scheme = "spr" if np.allclose(ratios, ratios[0]) else "optimal"
        seen.setdefault(scheme, []).append((entered, found.coarse))
        return found

    monkeypatch.setattr("dpnoise_papers.inid_2024.tables.descent_orders.choose", watched)
    descent_orders(settings(keep=5.0, random=2, audit=0), dataset())
    kept = {}
    for scheme, ((none, coarse), *others) in seen.items():
        assert none is None
        kept[scheme] = coarse <= 5.0 * coarse.min()
        assert all((entered == kept[scheme]).all() for entered, _ in others)
    assert (kept["spr"] != kept["optimal"]).any()


def test_threads_do_not_matter(orders_tables):
    again = descent_orders(SETTINGS, dataset(), threads=3)
    for one, other in zip(orders_tables, again, strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


def test_an_order_that_misses_a_column_is_refused_with_its_name():
    with pytest.raises(ValueError, match=r"orders of california: .*bad: .*worse: "):
        orders_of(dataset(), {"bad": ["a", "b"], "fine": ["b", "a", "c"], "worse": ["a"] * 3}, 1, 0)


def test_without_data_the_tables_of_orders_have_their_columns():
    table, summary = descent_orders(SETTINGS, None)
    assert (list(table.columns), list(summary.columns)) == (ORDERS_COLUMNS, SPREAD_COLUMNS)
