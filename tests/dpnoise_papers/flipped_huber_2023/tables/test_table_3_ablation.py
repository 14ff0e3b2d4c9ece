"""The ablation of Table III: every variant judged alike, none run twice, none leaking over."""

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.data.dataset import Dataset
from dpnoise_papers.flipped_huber_2023.tables import table_3_ablation as module
from dpnoise_papers.flipped_huber_2023.tables.table_3 import Sweep
from dpnoise_papers.flipped_huber_2023.tables.table_3_ablation import COLUMNS, ablate
from table_3_toys import TASKS, dataset, settings

ABLATION = {
    "steps": {"low": 0.1, "high": 1.0, "count": 2},
    "clips": {"low": 0.5, "high": 5.0, "count": 2},
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
    whole = whole or dataset(loss)
    ablation = {**ABLATION, **changes}
    return ablate(whole, TASKS[loss], settings(), ablation, seed=2023, threads=threads)


@pytest.fixture
def counted(monkeypatch):
    """Return the list of settings under which a sweep was run."""
    calls = []

    class Counted(Sweep):
        def __init__(self, whole, task, changed, **rest):
            calls.append(changed["setting"])
            super().__init__(whole, task, changed, **rest)

    monkeypatch.setattr(module, "Sweep", Counted)
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
    differences = [{k: v for k, v in s.items() if v != base[k]} for s in counted[1:]]
    assert differences == [{"iterate": "averaged"}, {"target": "raw"}, {"penalty_scale": 2.0}]


def test_a_row_is_the_best_of_its_sweep():
    table = run()
    shared = settings(**{k: ABLATION[k] for k in ("steps", "clips", "mechanisms")})
    sweep = Sweep(dataset(), TASKS["squared"], shared, trials=2, seed=2023).table(range(2))
    for mechanism in ABLATION["mechanisms"]:
        ours = table.query(f"variant == 'chosen' and mechanism == '{mechanism}'").iloc[0]
        mine = sweep[sweep["mechanism"] == mechanism]
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
    assert [setting["wine_task"] for setting in counted] == ["colour", "quality"]
    nmse = table.set_index(["variant", "mechanism"])["nmse"]
    assert nmse["chosen", "gaussian"] != nmse["both", "gaussian"]
