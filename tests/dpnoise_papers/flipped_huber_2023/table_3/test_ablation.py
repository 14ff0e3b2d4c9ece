"""The ablation of Table III: every variant judged alike, none run twice; the ranking."""

import math

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.data.sets import Dataset
from dpnoise_papers.flipped_huber_2023.table_3 import protocols as module
from dpnoise_papers.flipped_huber_2023.table_3.protocols import (
    COLUMNS,
    RANKING_COLUMNS,
    distances,
    prepared_runs,
    ranking,
    sweep,
    variants,
)
from dpnoise_papers.flipped_huber_2023.table_3.settings import Table3Ablation
from dpnoise_papers.result_files import read_table, write_table
from table_3_toys import dataset, printed_claim, settings

ABLATION = {
    "steps": {"low": 0.1, "high": 1.0, "count": 2, "spacing": "log"},
    "clips": {"low": 0.5, "high": 5.0, "count": 2, "spacing": "log"},
    "mechanisms": ["gaussian", "flipped-huber"],
    "trials": 2,
    "variants": {
        "chosen": {},
        "averaged": {"iterate": "averaged"},
        "raw-target": {"target": "raw"},
        "doubled": {"penalty_scale": 2.0},
        "counts": {"california_features": "counts"},
        "both": {"wine_task": "colour-and-quality"},
    },
}
# variants that are the chosen setting over again, by kind of task
SAME = {"squared": {"counts", "both"}, "logistic": {"raw-target", "counts", "both"}}


def run(loss="squared", whole=None, threads=1, **changes):
    ablation = Table3Ablation(**{**ABLATION, **changes})
    return variants(settings(), ablation, whole or dataset(loss), threads=threads)


@pytest.fixture
def counted(monkeypatch):
    """Return the list of settings under which a sweep was run."""
    calls = []

    def counting(changed, *rest):
        calls.append(changed.setting)
        return prepared_runs(changed, *rest)

    monkeypatch.setattr(module, "prepared_runs", counting)
    return calls


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_variants_that_come_to_the_same_run_once_and_agree(loss, counted):
    table = run(loss)
    assert list(table.columns) == COLUMNS
    assert list(table["variant"]) == [v for v in ABLATION["variants"] for _ in range(2)]
    assert len(counted) == len(ABLATION["variants"]) - len(SAME[loss])
    chosen = table[table["variant"] == "chosen"].drop(columns="variant").reset_index(drop=True)
    for variant, part in table.groupby("variant"):
        same = part.drop(columns="variant").reset_index(drop=True).equals(chosen)
        assert same is (variant in {"chosen", *SAME[loss]})


def test_each_variant_changes_its_own_choice_and_nothing_else(counted):
    run()
    base = counted[0]
    differences = [{k: v for k, v in s if v != getattr(base, k)} for s in counted[1:]]
    assert differences == [{"iterate": "averaged"}, {"target": "raw"}, {"penalty_scale": 2.0}]


def test_variants_of_other_passes_share_their_runs(counted):
    tried = {"chosen": {}, "fewer": {"passes": [1]}, "more": {"passes": [1, 2, 5]}}
    table = run(variants=tried)
    assert len(counted) == 1
    for name, one in tried.items():
        alone = run(variants={name: one})
        part = table[table["variant"] == name].reset_index(drop=True)
        pd.testing.assert_frame_equal(part, alone, check_exact=True)
        assert set(part["passes"]) <= set(one.get("passes", settings().passes))


def test_a_row_is_the_best_of_its_sweep():
    table = run()
    shared = settings(**{k: ABLATION[k] for k in ("steps", "clips", "mechanisms")}, trials=2)
    table_of_all, _ = sweep(shared, dataset())
    for mechanism in ABLATION["mechanisms"]:
        ours = table.query(f"variant == 'chosen' and mechanism == '{mechanism}'").iloc[0]
        mine = table_of_all[table_of_all["mechanism"] == mechanism]
        best = mine.loc[mine["nmse"].idxmin()]
        names = ["nmse", "nmse_se", "test_error", "test_error_se", "passes", "step", "clip"]
        assert ours[names].tolist() == best[names].tolist()


def test_threads_do_not_matter():
    pd.testing.assert_frame_equal(run(), run(threads=3), check_exact=True)


def test_the_task_of_wine_is_varied_for_wine_alone(counted):
    base = dataset("logistic")
    quality = np.arange(len(base.target)) % 7 + 3.0
    wine = Dataset(
        "wine-quality", "", "", base.features, base.target, base.feature_names,
        {"quality": quality},
    )  # fmt: skip
    table = run("logistic", wine, variants={"chosen": {}, "both": {"wine_task": "quality"}})
    assert [setting.wine_task for setting in counted] == ["colour", "quality"]
    nmse = table.set_index(["variant", "mechanism"])["nmse"]
    assert nmse["chosen", "gaussian"] != nmse["both", "gaussian"]


PAPER = pd.DataFrame(
    [
        (dataset, mechanism, metric, "x", value * factor)
        for dataset, value in (("houses", 1e-3), ("boston", 0.35))
        for mechanism, factor in (("gaussian", 2.0), ("flipped-huber", 1.0))
        for metric in ("nmse", "test_error")
    ],
    columns=["dataset", "mechanism", "metric", "printed", "value"],
)


CLAIMS = [
    printed_claim(one.dataset, one.mechanism, one.metric, one.value) for one in PAPER.itertuples()
]


def rank(runs):
    return ranking({"all": runs}, claims=CLAIMS)


def runs_of(factors, datasets=("houses", "boston")):
    """Return runs whose numbers are the printed ones times a factor for each variant."""
    rows = []
    for variant, factor in factors.items():
        for (name, mechanism), part in PAPER.groupby(["dataset", "mechanism"], sort=False):
            if name in datasets:
                values = part.set_index("metric")["value"] * factor
                rows.append({"dataset": name, "variant": variant, "mechanism": mechanism, **values})
    return pd.DataFrame(rows).reindex(columns=COLUMNS)


def put(runs, variant, column, value):
    """Set one metric of the first row of a variant."""
    runs.loc[runs.index[runs["variant"] == variant][0], column] = value
    return runs


def test_the_reading_that_gives_the_printed_numbers_wins():
    ranked = rank(runs_of({"doubled": 2.0, "equal": 1.0, "tenth": 0.1}))
    assert list(ranked.columns) == RANKING_COLUMNS
    assert list(ranked["variant"]) == ["equal", "doubled", "tenth"]
    for name in ("distance", "nmse", "test_error", "worst"):
        assert np.allclose(ranked[name], [0.0, math.log(2), math.log(10)], atol=1e-12)
    assert (ranked["numbers"] == 8).all()
    assert (ranked["diverged"] == 0).all()


def test_twice_and_half_are_equally_far():
    table = distances(runs_of({"twice": 2.0, "half": 0.5}), PAPER)
    by_variant = table.groupby("variant")["log_ratio"]
    assert np.allclose(by_variant.get_group("twice"), math.log(2), rtol=1e-12)
    assert np.allclose(by_variant.get_group("half"), -math.log(2), rtol=1e-12)


def test_ties_keep_the_order_of_the_settings():
    for order in (["first", "second"], ["second", "first"]):
        ranked = rank(runs_of(dict.fromkeys(order, 3.0)))
        assert list(ranked["variant"]) == order


def test_the_worst_number_and_the_two_metrics_are_told_apart():
    runs = put(runs_of({"a": 1.0}), "a", "nmse", 2e-3 * math.e)
    (row,) = rank(runs).itertuples()
    assert row.worst == pytest.approx(1.0)
    assert row.distance == pytest.approx(1 / 8)
    assert row.nmse == pytest.approx(1 / 4)
    assert row.test_error == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_a_diverged_number_ranks_behind_every_finite_distance(value):
    runs = put(runs_of({"diverged": 1.0, "far": 1e6}), "diverged", "nmse", value)
    ranked = rank(runs)
    assert list(ranked["variant"]) == ["far", "diverged"]
    assert list(ranked["diverged"]) == [0, 1]
    assert ranked["distance"].iloc[1] == pytest.approx(0.0, abs=1e-12)


def test_a_variant_that_always_diverged_comes_last_and_warns_of_nothing():
    runs = runs_of({"hopeless": math.inf, "fair": 2.0})
    ranked = rank(runs)
    assert list(ranked["variant"]) == ["fair", "hopeless"]
    assert ranked["diverged"].iloc[1] == 8
    assert np.isnan(ranked["distance"].iloc[1])


def test_only_what_is_printed_is_judged():
    extra = runs_of({"a": 1.0})
    other = extra.assign(mechanism="gaussian-tight", nmse=5.0)
    ranked = rank(pd.concat([extra, other], ignore_index=True))
    assert ranked["numbers"].tolist() == [8]
    assert ranked["distance"].iloc[0] == pytest.approx(0.0, abs=1e-12)
    some = rank(runs_of({"a": 2.0}, datasets=("boston",)))
    assert some["numbers"].tolist() == [4]


def test_where_no_data_set_was_to_be_had_the_ranking_is_empty_and_not_an_error(tmp_path):
    path = tmp_path / "empty.csv"
    write_table(variants(settings(), Table3Ablation(**ABLATION), None), path)
    runs = read_table(path)
    assert list(runs.columns) == COLUMNS
    assert list(rank(runs).columns) == RANKING_COLUMNS
    assert len(rank(runs)) == 0
