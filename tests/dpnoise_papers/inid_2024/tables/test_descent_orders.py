"""Coordinate descent in other orders of the columns."""

import numpy as np
import pandas as pd
import pytest

from descent_toys import ORDERS, PLAIN_ORDERS, SETTINGS, dataset, settings
from dpnoise.learn.cd import descend
from dpnoise.learn.problem import make_problem
from dpnoise_papers.inid_2024.learning_settings import DescentOrders
from dpnoise_papers.inid_2024.tables.descent_orders import (
    ORDERS_COLUMNS,
    SCHEMES,
    SPREAD_COLUMNS,
    descent_orders,
    orders_of,
    spread,
)
from dpnoise_papers.inid_2024.tables.improved_descent import (
    choose,
    draw,
    errors_at,
    make_task,
    noise_ratios,
)

SEED = SETTINGS.seed
NAMED = ORDERS.documented["california"]


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


def test_the_spread_is_the_first_order_and_the_range(orders_tables):
    table, summary = orders_tables
    keys = ["dataset", "features", "scheme", "protocol", "passes"]
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
