"""Figures 5 and 6 of inid-2024: variants, protocols, pairing, and the same table on any cores."""

import numpy as np
import pandas as pd
import pytest

from descent_toys import SETTINGS, dataset
from dpnoise_papers.inid_2024.tables.descent_search import (
    choose,
    draw,
    errors_at,
    make_task,
    noise_ratios,
)
from dpnoise_papers.inid_2024.tables.improved_descent import COLUMNS, improved_descent

KEYS = ["features", "order", "reading", "scheme", "protocol", "passes"]


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
