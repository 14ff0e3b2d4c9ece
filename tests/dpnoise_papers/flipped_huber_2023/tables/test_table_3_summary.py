"""Rows of Table III: paired gains, standard errors, and what is missing says why."""

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.flipped_huber_2023.tables.table_3 import CHOSEN_COLUMNS, table_3
from dpnoise_papers.flipped_huber_2023.tables.table_3_summary import (
    METRICS,
    NOISE_COLUMNS,
    summarise,
)
from dpnoise_papers.result_files import read_table, write_table
from table_3_toys import TASKS, dataset, settings

MECHANISMS = ["gaussian", "flipped-huber"]
SETTINGS = {"tasks": {"toy": TASKS["squared"]}, "mechanisms": MECHANISMS}
OK = {"toy": {"status": "ok", "reason": ""}}


def chosen_table(values):
    """Return a table of chosen configurations from {(protocol, mechanism, phase): NMSE}."""
    rows = [
        {
            **dict.fromkeys(CHOSEN_COLUMNS, 1.0),
            "dataset": "toy",
            "protocol": protocol,
            "mechanism": mechanism,
            "phase": phase,
            "trial": trial,
            "nmse": nmse,
            "test_error": 10.0 * nmse,
            "shape": "Gaussian",
        }
        for (protocol, mechanism, phase), numbers in values.items()
        for trial, nmse in numbers.items()
    ]
    return pd.DataFrame(rows, columns=CHOSEN_COLUMNS)


def rows_of(values, protocol="honest", **changes):
    chosen = {"toy": chosen_table(values)}
    return summarise(chosen, OK, {**SETTINGS, **changes}, protocol).set_index("mechanism")


def trials(*numbers, start=0):
    return dict(enumerate(numbers, start=start))


HONEST = {
    ("honest", "gaussian", "pick"): trials(0.2, 0.4),
    ("honest", "gaussian", "report"): trials(1.0, 2.0, 6.0, start=2),
    ("honest", "flipped-huber", "pick"): trials(0.1, 0.3),
    ("honest", "flipped-huber", "report"): trials(0.5, 1.7, 5.3, start=2),
    ("printed", "gaussian", "report"): trials(99.0, 98.0),
}


@pytest.mark.parametrize(("metric", "unit"), [("nmse", 1.0), ("test_error", 10.0)])
def test_means_errors_and_gains_against_hand_counts(metric, unit):
    row = rows_of(HONEST).loc["flipped-huber"]
    assert row[metric] == pytest.approx(2.5 * unit)
    # squared deviations 4, 0.64 and 7.84; divided by 2 for the variance and by 3 for the mean
    assert row[f"{metric}_se"] == pytest.approx(unit * np.sqrt((4 + 0.64 + 7.84) / 2 / 3))
    assert row[f"{metric}_pick"] == pytest.approx(0.2 * unit)
    # the differences 0.5, 0.3, 0.7 hardly spread although the values do
    assert row[f"{metric}_gain"] == pytest.approx(0.5 * unit)
    assert row[f"{metric}_gain_se"] == pytest.approx(unit * np.sqrt(0.04 / 3))


def test_the_reference_gains_nothing_over_itself():
    row = rows_of(HONEST).loc["gaussian"]
    assert (row[["nmse_gain", "nmse_gain_se", "test_error_gain"]] == 0).all()


def test_gains_are_paired_by_trial_and_not_by_the_order_of_rows():
    table = chosen_table(HONEST)
    shuffled = table.sample(frac=1, random_state=3)
    plain, other = (
        summarise({"toy": t}, OK, SETTINGS, "honest").set_index("mechanism")
        for t in (table, shuffled)
    )
    names = [f"{m}{s}" for m in METRICS for s in ("", "_se", "_pick", "_gain", "_gain_se")]
    assert np.allclose(plain[names].astype(float), other[names].astype(float), rtol=1e-12)


def test_without_gaussian_noise_there_is_no_gain():
    row = rows_of(HONEST, mechanisms=["flipped-huber"]).loc["flipped-huber"]
    assert row["nmse"] == pytest.approx(2.5)
    alone = {key: value for key, value in HONEST.items() if "gaussian" not in key}
    row = rows_of(alone, mechanisms=["flipped-huber"]).loc["flipped-huber"]
    assert np.isnan(row["nmse_gain"])
    assert np.isnan(row["nmse_gain_se"])


def test_a_missing_data_set_says_why_and_hides_no_other(tmp_path):
    path = tmp_path / "chosen.csv"
    write_table(pd.DataFrame(columns=CHOSEN_COLUMNS), path)  # as the pipeline leaves it
    chosen = {"toy": chosen_table(HONEST), "gone": read_table(path)}
    status = {**OK, "gone": {"status": "missing", "reason": "mirror: none given"}}
    tasks = {"gone": TASKS["logistic"], "toy": TASKS["squared"]}
    table = summarise(chosen, status, {**SETTINGS, "tasks": tasks}, "honest")
    assert list(table["dataset"]) == ["gone", "gone", "toy", "toy"]
    assert list(table["mechanism"]) == MECHANISMS * 2
    assert list(table["task"]) == ["logistic", "logistic", "squared", "squared"]
    assert list(table["status"]) == ["missing", "missing", "ok", "ok"]
    assert list(table["reason"]) == ["mirror: none given"] * 2 + [""] * 2
    numbers = [*METRICS, *(f"{m}_se" for m in METRICS), *NOISE_COLUMNS]
    assert table.loc[table["status"] == "missing", numbers].isna().all(axis=None)
    assert table.loc[table["status"] == "ok", numbers].notna().all(axis=None)


def test_the_columns_are_the_same_if_everything_is_missing():
    empty = {"toy": pd.DataFrame(columns=CHOSEN_COLUMNS)}
    status = {"toy": {"status": "missing", "reason": "offline"}}
    nothing = summarise(empty, status, SETTINGS, "printed")
    full = summarise({"toy": chosen_table(HONEST)}, OK, SETTINGS, "honest")
    assert list(nothing.columns) == list(full.columns)
    assert (nothing["status"] == "missing").all()


def test_a_report_that_diverged_is_infinite_and_warns_of_nothing():
    values = {
        **HONEST,
        ("honest", "gaussian", "report"): trials(np.inf, 2.0, 6.0, start=2),
        ("honest", "flipped-huber", "report"): trials(np.inf, 1.7, np.inf, start=2),
    }
    table = rows_of(values)
    assert np.isinf(table["nmse"].astype(float)).all()
    assert not np.isfinite(table["nmse_se"].astype(float)).any()
    assert not np.isfinite(table["nmse_gain"].astype(float)).any()


def test_the_experiment_and_its_summary_fit_together():
    chosen_settings = settings(tasks={"toy": TASKS["squared"]})
    _, chosen = table_3(dataset(), TASKS["squared"], chosen_settings, seed=1)
    for protocol in ("printed", "honest"):
        table = summarise({"toy": chosen}, OK, chosen_settings, protocol).set_index("mechanism")
        assert list(table.index) == chosen_settings["mechanisms"]
        assert table.notna().all(axis=None)
        # alpha = 0 is Gaussian noise: paired, the two laws differ by nothing at all
        assert table.loc["flipped-huber", "alpha"] == 0.0
        assert table.loc["flipped-huber", "nmse_gain"] == 0.0
        if protocol == "printed":
            assert (table["nmse"] == table["nmse_pick"]).all()


def test_picking_flatters_on_average():
    """The honest number is not below the one that it was picked by, averaged over seeds.

    40 independent runs; the mean optimism is tested at 3 standard errors, false-alarm rate
    of the sign below 1e-3 if there were none.
    """
    chosen_settings = settings(tasks={"toy": TASKS["squared"]}, mechanisms=["gaussian"])
    optimism = []
    for seed in range(40):
        _, chosen = table_3(dataset(), TASKS["squared"], chosen_settings, seed=seed)
        row = summarise({"toy": chosen}, OK, chosen_settings, "honest").iloc[0]
        optimism.append(row["nmse"] - row["nmse_pick"])
    mean, se = np.mean(optimism), np.std(optimism, ddof=1) / np.sqrt(len(optimism))
    assert mean > 3.0 * se
