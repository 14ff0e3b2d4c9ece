"""The ranking of readings: the one that gives the printed numbers wins, divergence loses."""

import math

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.flipped_huber_2023.figures.table_3_ablation import (
    RANKING_COLUMNS,
    distances,
    markdown,
    rank,
)
from dpnoise_papers.flipped_huber_2023.tables.table_3_ablation import COLUMNS
from dpnoise_papers.result_files import read_table, write_table

PAPER = pd.DataFrame(
    [
        (dataset, mechanism, metric, "x", value * factor)
        for dataset, value in (("houses", 1e-3), ("boston", 0.35))
        for mechanism, factor in (("gaussian", 2.0), ("flipped-huber", 1.0))
        for metric in ("nmse", "test_error")
    ],
    columns=["dataset", "mechanism", "metric", "printed", "value"],
)


def runs_of(factors, datasets=("houses", "boston")):
    """Return runs whose numbers are the printed ones times a factor for each variant."""
    rows = []
    for variant, factor in factors.items():
        for (dataset, mechanism), part in PAPER.groupby(["dataset", "mechanism"], sort=False):
            if dataset in datasets:
                values = part.set_index("metric")["value"] * factor
                rows.append(
                    {"dataset": dataset, "variant": variant, "mechanism": mechanism, **values}
                )
    return pd.DataFrame(rows).reindex(columns=COLUMNS)


def put(runs, variant, column, value):
    """Set one metric of the first row of a variant."""
    runs.loc[runs.index[runs["variant"] == variant][0], column] = value
    return runs


def test_the_reading_that_gives_the_printed_numbers_wins():
    ranking = rank(runs_of({"doubled": 2.0, "equal": 1.0, "tenth": 0.1}), PAPER)
    assert list(ranking.columns) == RANKING_COLUMNS
    assert list(ranking["variant"]) == ["equal", "doubled", "tenth"]
    for name in ("distance", "nmse", "test_error", "worst"):
        assert np.allclose(ranking[name], [0.0, math.log(2), math.log(10)], atol=1e-12)
    assert (ranking["numbers"] == 8).all()
    assert (ranking["diverged"] == 0).all()


def test_twice_and_half_are_equally_far():
    table = distances(runs_of({"twice": 2.0, "half": 0.5}), PAPER)
    by_variant = table.groupby("variant")["log_ratio"]
    assert np.allclose(by_variant.get_group("twice"), math.log(2), rtol=1e-12)
    assert np.allclose(by_variant.get_group("half"), -math.log(2), rtol=1e-12)


def test_ties_keep_the_order_of_the_settings():
    for order in (["first", "second"], ["second", "first"]):
        ranking = rank(runs_of(dict.fromkeys(order, 3.0)), PAPER)
        assert list(ranking["variant"]) == order


def test_the_worst_number_and_the_two_metrics_are_told_apart():
    runs = put(runs_of({"a": 1.0}), "a", "nmse", 2e-3 * math.e)
    (row,) = rank(runs, PAPER).itertuples()
    assert row.worst == pytest.approx(1.0)
    assert row.distance == pytest.approx(1 / 8)
    assert row.nmse == pytest.approx(1 / 4)
    assert row.test_error == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_a_diverged_number_ranks_behind_every_finite_distance(value):
    runs = put(runs_of({"diverged": 1.0, "far": 1e6}), "diverged", "nmse", value)
    ranking = rank(runs, PAPER)
    assert list(ranking["variant"]) == ["far", "diverged"]
    assert list(ranking["diverged"]) == [0, 1]
    assert ranking["distance"].iloc[1] == pytest.approx(0.0, abs=1e-12)
    assert "| 1 of 8 |" in markdown(ranking, runs, PAPER)


def test_a_variant_that_always_diverged_comes_last_and_warns_of_nothing():
    runs = runs_of({"hopeless": math.inf, "fair": 2.0})
    ranking = rank(runs, PAPER)
    assert list(ranking["variant"]) == ["fair", "hopeless"]
    assert ranking["diverged"].iloc[1] == 8
    assert np.isnan(ranking["distance"].iloc[1])
    assert "| 8 of 8 |" in markdown(ranking, runs, PAPER)


def test_only_what_is_printed_is_judged():
    extra = runs_of({"a": 1.0})
    other = extra.assign(mechanism="gaussian-tight", nmse=5.0)
    ranking = rank(pd.concat([extra, other], ignore_index=True), PAPER)
    assert ranking["numbers"].tolist() == [8]
    assert ranking["distance"].iloc[0] == pytest.approx(0.0, abs=1e-12)
    some = rank(runs_of({"a": 2.0}, datasets=("boston",)), PAPER)
    assert some["numbers"].tolist() == [4]


def test_the_page_shows_the_ranking_and_the_ratios():
    runs = runs_of({"chosen": 1.0, "raw": 2.5})
    page = markdown(rank(runs, PAPER), runs, PAPER)
    assert "| chosen | 0.000 | 0.000 | 0.000 | 0.00 | 0 of 8 |" in page
    assert "| raw | 0.916 | 0.916 | 0.916 | 0.92 | 0 of 8 |" in page
    for title in ("NMSE", "test error"):
        _, part = page.split(f"## Ours / printed: {title}, Gaussian noise")
        lines = part.strip().splitlines()[:4]
        assert lines[0] == "| variant | houses | boston |"
        assert lines[2:] == ["| chosen | 1 | 1 |", "| raw | 2.5 | 2.5 |"]


def test_where_no_data_set_was_to_be_had_the_page_is_empty_and_not_an_error(tmp_path):
    path = tmp_path / "empty.csv"
    write_table(pd.DataFrame(columns=COLUMNS), path)  # as the pipeline leaves it
    runs = read_table(path)
    ranking = rank(runs, PAPER)
    assert list(ranking.columns) == RANKING_COLUMNS
    assert len(ranking) == 0
    assert markdown(ranking, runs, PAPER).startswith("# Ablation")
