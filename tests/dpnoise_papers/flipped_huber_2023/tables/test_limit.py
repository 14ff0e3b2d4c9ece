"""Mechanisms beside the limit of additive noise."""

import math

import numpy as np
import pandas as pd
import pytest

from dpnoise import calibrate
from dpnoise.noise import Staircase
from dpnoise.optimality.bounds import minimum_cost
from dpnoise_papers.flipped_huber_2023.settings import Limit
from dpnoise_papers.flipped_huber_2023.tables.limit import limit, limit_page, within

SETTINGS = {
    "costs": ("variance", "mean-abs"), "epsilons": (1.0, 0.3), "deltas": (1e-2, 0.0), "gap": 0.005,
    "mechanisms": ("gaussian", "subbotin", "laplace", "offset-symmetric-gaussian", "flipped-huber",
                   "truncated-laplace", "staircase"),
}  # fmt: skip


@pytest.fixture(scope="module")
def table():
    return limit(Limit(**SETTINGS))


def pick(table, **values):
    for name, value in values.items():
        table = table[table[name] == value]
    return table


def test_rows_are_every_combination_in_order(table):
    keys = table[["cost", "delta", "epsilon", "mechanism"]].itertuples(index=False, name=None)
    expected = [
        (cost, delta, epsilon, mechanism)
        for cost in ("variance", "mean-abs")
        for delta in (0.0, 1e-2)
        for epsilon in (0.3, 1.0)
        for mechanism in SETTINGS["mechanisms"]
    ]
    assert list(keys) == expected


def test_values_are_those_of_calibration_and_bounds_those_of_the_programs(table):
    (row,) = pick(
        table, cost="mean-abs", delta=1e-2, epsilon=1.0, mechanism="flipped-huber"
    ).itertuples()
    assert row.value == calibrate("flipped-huber", epsilon=1.0, delta=1e-2).noise.mean_abs()
    bounds = minimum_cost(1.0, 1e-2, cost="mean-abs", gap=0.005)
    assert (row.lower, row.upper, row.cells) == (bounds.lower, bounds.upper, bounds.cells)
    assert "alpha=" in row.noise


def test_bounds_for_one_delta_serve_smaller_ones(monkeypatch):
    asked = []

    def counted(epsilon, delta, **options):
        asked.append(delta)
        return minimum_cost(epsilon, delta, **options)

    monkeypatch.setattr("dpnoise_papers.flipped_huber_2023.tables.limit.minimum_cost", counted)
    deltas = (0.0, 1e-12, 1e-3, 0.2)
    table = limit(Limit(**SETTINGS | {"deltas": deltas, "epsilons": (1.0,)}))
    assert asked == [0.2, 1e-3, 1e-12] * 2  # the last is close to the staircase, as is delta = 0
    for cost in SETTINGS["costs"]:
        rows = pick(table, cost=cost, mechanism="laplace").sort_values("delta")
        assert rows["lower"].is_monotonic_decreasing
        assert rows["upper"].is_monotonic_decreasing
        assert (rows["upper"] <= 1.005 * rows["lower"]).all()
        alone = [minimum_cost(1.0, delta, cost=cost, gap=0.005) for delta in deltas]
        assert (rows["lower"] <= [one.upper for one in alone]).all()
        assert (rows["upper"] >= [one.lower for one in alone]).all()


def test_nothing_beats_the_limit(table):
    known = table[table["value"].notna()]
    assert np.allclose(known["over_limit"], known["value"] / known["lower"], rtol=1e-14)
    assert np.allclose(known["over_limit_least"], known["value"] / known["upper"], rtol=1e-14)
    assert (known["over_limit"] > 1.0).all()
    assert (known["within"] == (known["over_limit"] <= 1.01)).all()
    assert 0 < known["within"].sum() < len(known)


@pytest.mark.parametrize("cost", ["variance", "mean-abs"])
def test_staircase_is_the_limit_of_pure_privacy(table, cost):
    rows = pick(table, cost=cost, delta=0.0, mechanism="staircase")
    assert (rows["over_limit"] < 1.005).all()
    power = {"variance": Staircase.var, "mean-abs": Staircase.mean_abs}[cost]
    gammas = np.linspace(0.05, 0.95, 91)
    least = min(power(Staircase(1.0, 1.0, gamma)) for gamma in gammas)
    assert rows["value"].iloc[1] <= least


def test_families_that_cannot_say_why(table):
    refused = pick(table, delta=0.0, mechanism="gaussian")
    assert refused["value"].isna().all()
    assert refused["over_limit"].isna().all()
    assert (refused["within"] == 0).all()
    assert refused["status"].str.contains("delta: expected more than 0 for gaussian").all()
    assert (refused["noise"] == "").all()
    assert (pick(table, mechanism="laplace")["status"] == "ok").all()


def test_infimum_that_is_not_attained_is_said_to_be_one():
    (row,) = limit(
        Limit(costs=("variance",), epsilons=(3.0,), deltas=(0.0,), mechanisms=("huber",), gap=0.1)
    ).itertuples()
    assert row.status == "infimum"
    assert math.isclose(row.value, 2 / 9, rel_tol=1e-6)  # Laplace noise


def test_within_gives_unbroken_runs():
    rows = [("variance", 0.1, e, "laplace", w) for e, w in ((1, 1), (2, 1), (3, 0), (5, 1), (9, 0))]
    rows += [("variance", 0.1, e, "gaussian", 0) for e in (1, 2, 3)]
    rows += [("variance", 0.0, e, "laplace", 1) for e in (3, 1)]
    table = pd.DataFrame(rows, columns=["cost", "delta", "epsilon", "mechanism", "within"])
    expected = [
        ("variance", 0.0, "laplace", 1, 3, 2),
        ("variance", 0.1, "laplace", 1, 2, 2),
        ("variance", 0.1, "laplace", 5, 5, 1),
    ]
    assert list(within(table).itertuples(index=False, name=None)) == expected
    assert within(table[table["mechanism"] == "gaussian"]).empty


def test_each_delta_has_its_sentence():
    rows = [
        (cost, delta, epsilon, 1.0, 1.004, mechanism, 1 if good else 0)
        for cost in ("variance", "mean-abs")
        for delta in (0.0, 1e-6)
        for epsilon in (0.1, 0.5, 1.0)
        for mechanism, good in (
            ("flipped-huber", delta > 0 and epsilon < 1),
            ("laplace", delta > 0 and epsilon == 1),
        )
    ]  # fmt: skip
    columns = ["cost", "delta", "epsilon", "lower", "upper", "mechanism", "within"]
    table = pd.DataFrame(rows, columns=columns)
    page = limit_page(table, within(table)).splitlines()
    assert "## Variance (the limit is known to 0.4%)" in page
    assert "## Mean absolute error (the limit is known to 0.4%)" in page
    assert page.count("- delta = 0: none of them.") == 2
    assert page.count("- delta = 1e-06: flipped huber for epsilon from 0.1 to 0.5.") == 2
    assert page.count("- delta = 1e-06: laplace for epsilon at 1.") == 2
