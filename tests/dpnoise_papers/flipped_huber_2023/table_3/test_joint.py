"""Columns of Table III as a whole: readings of all data sets, and what the Gaussian decides."""

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.flipped_huber_2023.table_3.joint import COLUMNS, joint
from dpnoise_papers.flipped_huber_2023.table_3.settings import (
    combined,
    common_variants,
    where_it_matters,
)
from table_3_toys import LOGISTIC, SQUARED, printed_claim, settings

SETS = ("diabetes", "heart-statlog")
TASKS = {"tasks": {"diabetes": SQUARED, "heart-statlog": LOGISTIC}}
COMBINATIONS = [{"split": ["per-trial", "fixed"], "target": ["standardise", "center"]}]
EXACT = {"chosen": {}, "exact-account": {"flipped_huber": "flipped-huber-exact"}}
METRICS = ("nmse", "test_error")
ROWS = ("gaussian", "flipped-huber")
CLAIMS = [
    printed_claim(name, row, metric, 1.0) for name in SETS for row in ROWS for metric in METRICS
]


def told(**changes):
    return settings(**{**TASKS, "combinations": COMBINATIONS, "variants": EXACT, **changes})


def test_a_reading_is_what_its_choices_come_to_on_each_data_set():
    known = told()
    readings = common_variants(known)
    assert set(readings) == {
        "chosen", "exact-account", "target-center", "split-fixed", "target-center+split-fixed",
    }  # fmt: skip
    # the target of a classification is never scaled
    assert readings["target-center"] == {"diabetes": "target-center", "heart-statlog": "chosen"}
    for name in SETS:
        made = {*known.variants, *combined(known, name)}
        assert {one[name] for one in readings.values()} == made
    assert set(combined(known, "heart-statlog")) == {"split-fixed"}
    for name, one in combined(known, "diabetes").items():
        assert one == where_it_matters(one, "diabetes")
        assert ("target-center" in name) == (one.setting.target == "center")


def runs(levels, seed=1, size=60):
    """Replications around a level by (reading, mechanism); 1 is printed everywhere."""
    rng = np.random.default_rng(seed)
    found = {}
    for name in SETS:
        rows = []
        for (reading, mechanism), level in levels.items():
            values = level * np.exp(0.1 * rng.normal(size=(size, 2)))
            rows += [(name, reading, mechanism, k, *pair) for k, pair in enumerate(values)]
        columns = ["dataset", "reading", "mechanism", "replication", *METRICS]
        found[name] = pd.DataFrame(rows, columns=columns)
    return found


def levels(**changes):
    """Level 1 for every reading and mechanism, but for some given as reading_mechanism."""
    readings = common_variants(told())
    names = {one for reading in readings.values() for one in reading.values()}
    plain = {(name, m): 1.0 for name in names for m in ROWS}
    return plain | {tuple(key.split("/")): level for key, level in changes.items()}


def rows(table, mechanism, metric="nmse"):
    here = (table["mechanism"] == mechanism) & (table["metric"] == metric)
    return table[here].set_index("reading")


def test_the_gaussian_columns_decide_by_which_readings_flipped_huber_is_judged():
    given = levels(**{"chosen/flipped-huber": 2.0, "split-fixed/gaussian": 3.0,
                      "exact-account/flipped-huber": 1.0})  # fmt: skip
    table = joint(told(), runs(given), claims=CLAIMS)
    assert list(table.columns) == COLUMNS
    gaussian, flipped = rows(table, "gaussian"), rows(table, "flipped-huber")
    assert gaussian.loc["split-fixed", "contradicted"] == 1
    assert gaussian.loc["chosen", "contradicted"] == 0
    assert (flipped["left_open"] == [name != "exact-account" for name in flipped.index]).all()
    assert gaussian.loc["split-fixed", "p_value"] < 1e-2 < gaussian.loc["chosen", "p_value"]
    assert flipped.loc["chosen", "p_value"] < 1e-2
    assert flipped.loc["chosen", "below"] == 2
    used = flipped.drop(["split-fixed", "exact-account"])["p_value"]
    assert set(flipped["p_value_greatest"]) == {used.max()}
    assert set(flipped["p_value_least"]) == {used.min()}
    # NMSE of the Gaussian is judged by the readings that its test error allows
    assert set(gaussian["p_value_least"]) == {
        gaussian.drop(["split-fixed", "exact-account"])["p_value"].min()
    }
    assert gaussian.loc["target-center+split-fixed", "agrees"] == 1
    assert flipped.loc["chosen", "agrees"] == 0
    assert table["reading"].iloc[-1] == "split-fixed"  # the Gaussian columns are furthest from it
    assert gaussian.loc["split-fixed", "distance"] == pytest.approx(np.log(3), abs=0.05)


def test_where_every_reading_is_contradicted_all_of_them_are_the_range():
    given = {key: 5.0 if key[1] == "gaussian" else level for key, level in levels().items()}
    flipped = rows(joint(told(), runs(given), claims=CLAIMS), "flipped-huber")
    assert flipped["contradicted"].all()
    assert flipped["p_value_least"].notna().all()


def test_a_data_set_that_is_missing_or_not_printed_is_left_out():
    found = runs(levels())
    one = {**found, "heart-statlog": found["heart-statlog"].iloc[:0]}
    assert set(joint(told(), one, claims=CLAIMS)["datasets"]) == {1}
    few = [claim for claim in CLAIMS if claim.select[0].value == "diabetes"]
    assert set(joint(told(), found, claims=few)["datasets"]) == {1}
    nothing = joint(told(), found, claims=[])
    assert list(nothing.columns) == COLUMNS
