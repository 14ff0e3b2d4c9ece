"""Coordinate descent with other noise by coordinate and in other orders of the columns."""

import numpy as np
import pandas as pd
import pytest

from descent_toys import MORE, ORDERS, PLAIN_ORDERS, SETTINGS, dataset, settings
from dpnoise.allocation.allocate import allocate
from dpnoise.learn.cd import descend
from dpnoise.learn.problem import make_problem
from dpnoise_papers.inid_2024.figures.improved_descent import VARIANTS
from dpnoise_papers.inid_2024.learning_settings import DescentOrders
from dpnoise_papers.inid_2024.tables.descent_variants import (
    ORDERS_COLUMNS,
    SCHEMES,
    SPREAD_COLUMNS,
    VARIANTS_COLUMNS,
    WEIGHTS_COLUMNS,
    descent_orders,
    losses,
    orders_of,
    spent,
    spread,
    variants,
    weights_and_variants,
)
from dpnoise_papers.inid_2024.tables.improved_descent import (
    choose,
    draw,
    errors_at,
    make_task,
    noise_ratios,
)

OWN = {"iid": -1.0, "optimal": 0.0, "spr": 1.0}  # the weights M^a for which a scheme is the best
SEED = SETTINGS.seed
NAMED = ORDERS.documented["california"]


@pytest.fixture(scope="module")
def task():
    return make_task(dataset(), SETTINGS, "raw")


@pytest.fixture(scope="module")
def tables():
    return weights_and_variants(SETTINGS, MORE, dataset())


@pytest.mark.parametrize(("scheme", "exponent"), OWN.items())
def test_each_scheme_loses_nothing_at_its_own_weights_alone(task, scheme, exponent):
    table = losses(task, MORE)
    curve = table[(table["part"] == "error") & (table["scheme"] == scheme)].set_index("exponent")
    assert curve["ratio"].idxmin() == exponent
    assert curve["ratio"].min() == pytest.approx(1.0, rel=1e-12)
    others = curve["ratio"].drop(exponent)
    assert (others > 1.0 + 1e-3).all()


@pytest.mark.parametrize("exponent", [-2.0, 0.5, 2.0])
@pytest.mark.parametrize("scheme", OWN)
def test_losses_are_those_of_the_noise_that_is_handed_out(task, scheme, exponent):
    M = task.problem.smoothness
    lambdas = task.problem.sensitivities(1.0) / M

    def loss(**how):
        sigmas = allocate(lambdas, epsilon=1.0, delta=task.delta, **how)
        return np.sum(M**exponent * sigmas**2)

    table = losses(task, MORE)
    row = table[
        (table["part"] == "error") & (table["scheme"] == scheme) & (table["exponent"] == exponent)
    ]
    ratio = loss(scheme=scheme) / loss(scheme="optimal", weights=M**exponent)
    assert row["ratio"].item() == pytest.approx(ratio, rel=1e-10)


def test_spr_beats_the_papers_optimum_exactly_for_clipping_between_constant_and_curvature(task):
    table = losses(task, MORE)
    clips = table[table["part"] == "clips"]
    curve = clips[clips["scheme"] == "optimal"].set_index("exponent")["ratio"]
    inside = (curve.index > 0) & (curve.index < 1)
    ends = curve.index.isin([0.0, 1.0])
    assert (curve[inside] > 1).all()
    assert np.allclose(curve[ends], 1.0, rtol=1e-12)
    assert (curve[~inside & ~ends] < 1).all()
    best = clips[clips["scheme"] == "weighted"].set_index("exponent")["ratio"]
    assert (best <= curve + 1e-12).all()
    assert best[0.5] == pytest.approx(1.0, rel=1e-12)
    assert (best.drop(0.5) < 1).all()


def test_three_variants_and_the_looser_account_keep_the_budget(task):
    kept = variants(task, 1.0, 5)
    assert set(kept) == set(VARIANTS)
    for name in ("spr", "optimal", "optimal-on-gradient"):
        assert spent(kept[name], 0.3, 5, task.delta) == pytest.approx(1.0, rel=1e-8)
    assert spent(kept["spr-concentrated"], 0.3, 5, task.delta) < 1.0
    for name in ("spr-half", "optimal-half", "spr-each-alone", "optimal-one-pass"):
        assert spent(kept[name], 0.3, 5, task.delta) > 1.5


@pytest.mark.parametrize("tau", [0.2, 3.0])
def test_misplaced_noise_is_what_its_name_says(task, tau):
    problem = task.problem
    tau_i = tau / problem.smoothness
    budget = {"epsilon": 1.0, "delta": task.delta, "compositions": 5}
    alone = allocate(problem.sensitivities(1.0), **budget)  # of the gradient
    stepped = allocate(tau_i * problem.sensitivities(1.0), **budget)
    after = {
        "optimal": stepped,
        "optimal-on-gradient": tau_i * alone,
        "optimal-step-twice": tau_i * stepped,
        "optimal-step-never": alone,
    }
    found = variants(task, 1.0, 5)
    for name, sigma in after.items():
        ratios = found[name].ratios * tau ** found[name].power
        assert np.allclose(ratios, sigma / (tau_i * problem.sensitivities(1.0)), rtol=1e-12)


def test_the_tables_have_every_row_and_agree(tables, task):
    weights, table = tables
    assert list(weights.columns) == WEIGHTS_COLUMNS
    assert list(table.columns) == VARIANTS_COLUMNS
    assert table["reading"].tolist() == list(variants(task, 1.0, 3))
    measured = weights[weights["part"] == "measured"].set_index("exponent")
    assert tuple(measured.index) == MORE.measured
    rows = table.set_index("reading")
    assert measured.loc[1.0, "error"] == rows.loc["spr", "error"]
    assert measured.loc[0.0, "error"] == rows.loc["optimal", "error"]
    assert rows.loc["spr", ["gain", "gain_se"]].tolist() == [0, 0]
    assert np.allclose(rows["gain"], rows.loc["spr", "error"] - rows["error"], rtol=1e-9)
    assert rows.loc[["spr", "optimal", "optimal-on-gradient"], "private"].tolist() == [1, 1, 1]
    assert rows.loc[["spr-half", "optimal-one-pass"], "private"].tolist() == [0, 0]
    assert (rows["luckiest"] <= rows["flattered"]).all()


def test_the_loss_of_measured_noise_is_the_ratio_of_theory(tables, task):
    weights, _ = tables
    M = task.problem.smoothness
    measured = weights[weights["part"] == "measured"].set_index("exponent")["ratio"]
    for exponent in MORE.measured:
        power = M ** ((1.0 - exponent) / 2.0)
        assert measured[exponent] == pytest.approx(np.sum(power) * np.sum(1 / power) / 9, rel=1e-9)


def test_the_tables_do_not_depend_on_the_threads(tables):
    again = weights_and_variants(SETTINGS, MORE, dataset(), threads=3)
    for first, second in zip(tables, again, strict=True):
        assert first.equals(second)


def test_without_data_both_tables_have_their_columns():
    weights, table = weights_and_variants(SETTINGS, MORE, None)
    assert (list(weights.columns), list(table.columns)) == (WEIGHTS_COLUMNS, VARIANTS_COLUMNS)


@pytest.fixture(scope="module")
def orders_tables():
    return descent_orders(SETTINGS, ORDERS, dataset())


def test_orders_are_permutations_and_documented_ones_come_first():
    orders = orders_of(dataset(), NAMED, 40, SEED)
    assert list(orders.values())[:2] == [(0, 1, 2), (2, 1, 0)]
    assert len(orders) == 42
    assert {tuple(sorted(order)) for order in orders.values()} == {(0, 1, 2)}
    assert len(set(orders.values())) == 6  # 40 draws of 6: all missed with chance below 1e-2
    assert orders == orders_of(dataset(), NAMED, 40, SEED)


def test_an_order_is_the_descent_on_columns_in_that_order():
    """Permuting the visits is permuting the columns of X, and the noise is by place."""
    one = make_task(dataset(), SETTINGS, "raw")
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
    assert np.array_equal(draw(one, 3, "cyclic", range(4), SEED)[0], noise)


def test_every_row_is_there_once(orders_tables):
    table, summary = orders_tables
    keys = ["order", "scheme", "protocol", "passes"]
    assert list(table.columns) == ORDERS_COLUMNS
    assert not table.duplicated(keys).any()
    assert len(table) == 5 * len(SCHEMES) * 2 * 3  # after 1 and 2 passes, and the end at 3
    assert list(summary.columns) == SPREAD_COLUMNS
    assert len(summary) == len(SCHEMES) * 2 * 3
    assert (summary["orders"] == 5).all()
    assert np.isfinite(table.select_dtypes("number").to_numpy()).all()


def test_rows_are_what_search_and_fresh_trials_give(orders_tables):
    task = make_task(dataset(), SETTINGS, "raw")
    ratios = 0.5 * noise_ratios(task, "spr", epsilon=1.0, passes=3)
    finer = settings(coarse_trials=3)
    found = choose(task, ratios, finer, passes=3, order=(2, 1, 0))
    draws = draw(task, 3, (2, 1, 0), range(3, 7), SEED)
    fresh = errors_at(task, ratios, found, draws, [3])[3]
    table = orders_tables[0].set_index(["order", "scheme", "passes", "protocol"]).sort_index()
    rows = table.loc[("turned", "spr-half", 3)]
    assert rows.loc["printed", "error"] == pytest.approx(found.errors.mean(), rel=1e-12)
    assert rows.loc["fresh", "error"] == pytest.approx(fresh.mean(), rel=1e-12)
    spr = table.loc[("turned", "spr", 3, "fresh"), "error"]
    assert rows.loc["fresh", "gain"] == pytest.approx(spr - fresh.mean(), rel=1e-9)
    assert rows.loc["fresh", "columns"] == "c b a"


def test_the_spread_is_median_and_range(orders_tables):
    table, summary = orders_tables
    keys = ["dataset", "features", "scheme", "protocol", "passes"]
    groups = table.groupby(keys)["error"]
    known = summary.set_index(keys).sort_index()
    assert known["error"].equals(groups.median())
    assert (known["error_least"] == groups.min()).all()
    assert (known["error_greatest"] == groups.max()).all()
    assert known["error_se"].equals(table.groupby(keys)["error_se"].median())
    trials = {"printed": SETTINGS.trials, "fresh": SETTINGS.evaluate}
    assert (table["repetitions"] == table["protocol"].map(trials)).all()
    assert (known["repetitions"] - 1).equals(5 * (table.groupby(keys)["repetitions"].first() - 1))
    assert (known.loc[("california", "raw", "spr")][["gain_least", "gain_greatest"]] == 0).all(
        axis=None
    )
    assert spread(table.iloc[:0]).empty


def test_points_that_are_left_out_change_nothing_unless_one_of_them_would_have_won(orders_tables):
    thinned = orders_tables[0].drop(columns="audited")
    whole = descent_orders(SETTINGS, DescentOrders(**PLAIN_ORDERS | {"keep": 1e10}), dataset())[0]
    pd.testing.assert_frame_equal(thinned, whole.drop(columns="audited"), check_exact=True)
    audited = orders_tables[0].set_index("order")["audited"]
    assert audited[audited == 1].index.unique().tolist() == ["random-3"]
    assert (orders_tables[0]["missed"] == 0).all()


def test_an_audited_order_tells_that_the_best_was_left_out():
    """Only the best point of the first order is kept, and it is not that of every order."""
    everything = PLAIN_ORDERS | {"random": 20, "audit": 21, "keep": 1e10}
    table, _ = descent_orders(SETTINGS, DescentOrders(**everything), dataset())
    assert (table["missed"] == 0).all()
    alone, _ = descent_orders(SETTINGS, DescentOrders(**everything | {"keep": 1.0}), dataset())
    pd.testing.assert_frame_equal(
        table.drop(columns="missed"), alone.drop(columns="missed"), check_exact=True
    )
    assert alone["missed"].any()


def test_threads_do_not_matter(orders_tables):
    again = descent_orders(SETTINGS, ORDERS, dataset(), threads=3)
    for one, other in zip(orders_tables, again, strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


def test_an_order_that_misses_a_column_is_refused_with_its_name():
    with pytest.raises(ValueError, match=r"orders of california: .*bad: .*worse: "):
        orders_of(dataset(), {"bad": ["a", "b"], "fine": ["b", "a", "c"], "worse": ["a"] * 3}, 1, 0)


def test_without_data_the_tables_of_orders_have_their_columns():
    table, summary = descent_orders(SETTINGS, ORDERS, None)
    assert (list(table.columns), list(summary.columns)) == (ORDERS_COLUMNS, SPREAD_COLUMNS)
