"""Variances in K dimensions against closed forms, and what must hold between mechanisms."""

import math

import numpy as np
import pandas as pd
import pytest

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise_papers.flipped_huber_2023.settings import Gain, VectorVariances
from dpnoise_papers.flipped_huber_2023.tables.vector_variances import (
    gain_by_dimension,
    vector_variances,
    with_limits,
)

BOX = ((0.02, 150.0), (0.02, 50.0))
MECHANISMS = (
    ("gaussian", "exact"), ("laplace", "pure"), ("laplace", "exact"), ("staircase", "exact"),
    ("flipped-huber", "exact"), ("flipped-huber", "sufficient"),
)  # fmt: skip


@pytest.fixture(scope="module")
def table():
    return vector_variances(
        VectorVariances(
            dimensions=(4,), deltas=(1e-6,), epsilons=(0.8, 2.0), mechanisms=MECHANISMS, box=BOX
        )
    )


def of(table, mechanism, method):
    rows = table[(table["mechanism"] == mechanism) & (table["method"] == method)]
    return rows["variance"].to_numpy()


def test_closed_forms(table):
    epsilon = np.array([0.8, 2.0])
    assert np.allclose(of(table, "gaussian", "exact"), gaussian_sigma(epsilon, 1e-6, 2.0) ** 2)
    assert np.allclose(of(table, "laplace", "pure"), 2 * 16 / epsilon**2)
    gaussian = table[table["mechanism"] == "gaussian"]
    assert np.allclose(gaussian["gain_db"], 0)


def test_order_of_the_mechanisms(table):
    best = of(table, "flipped-huber", "exact")
    for mechanism, method in MECHANISMS[:3]:
        assert np.all(best <= of(table, mechanism, method) * (1 + 1e-6))
    assert np.all(best <= of(table, "flipped-huber", "sufficient") * (1 + 1e-6))
    assert np.all(of(table, "staircase", "exact") < of(table, "laplace", "pure"))


def test_what_is_handed_out_keeps_its_budget(table):
    handed = table[table["method"] != "infimum"]
    assert np.all(handed["delta_bound"] <= 1e-6)
    assert handed["noise"].str.contains("=").all()


def test_the_box_restricts_and_may_hold_nothing():
    methods = "box", "sufficient-box", "sufficient"
    settings = VectorVariances(
        dimensions=(3,), deltas=(1e-8,), epsilons=(0.02, 1.0), box=BOX,
        mechanisms=tuple(("flipped-huber", method) for method in methods),
    )  # fmt: skip
    table = vector_variances(settings)
    none, some = (table[table["epsilon"] == epsilon] for epsilon in (0.02, 1.0))
    boxed = none[none["method"] != "sufficient"]
    assert set(boxed["noise"]) == {"none in the box"}
    assert boxed["variance"].isna().all()
    assert some["delta_bound"].max() <= 1e-8
    by = some.set_index("method")["variance"]
    assert by["box"] <= by["sufficient-box"]
    assert by["sufficient"] <= by["sufficient-box"]


def test_the_range_over_search_spaces_joins_the_box_and_all_parameters():
    methods = ["exact", "box", "sufficient", "sufficient-box"]
    mechanisms = (*(("flipped-huber", method) for method in methods), ("gaussian", "exact"))
    settings = VectorVariances(
        dimensions=(2,), deltas=(1e-6,), epsilons=(1.0,), mechanisms=mechanisms, box=BOX
    )
    rows = vector_variances(settings).set_index(["mechanism", "method"])
    for free, boxed in (methods[:2], methods[2:]):
        both = rows.loc["flipped-huber"].loc[[free, boxed]]
        assert set(both["searched_least"]) == {both["variance"].min()}
        assert set(both["searched_greatest"]) == {both["variance"].max()}
    alone = rows.loc[("gaussian", "exact")]
    assert alone["searched_least"] == alone["variance"] == alone["searched_greatest"]


def test_steps_of_alpha_and_the_limit_of_laplace_noise():
    rows = [(3, 1.0, 7.0, 9.0, 3.0), (1, 1.0, 2.0, 1.0, 2.0), (1, 2.0, 5.0, 8.0, 4.0)]
    table = pd.DataFrame(rows, columns=["dimension", "epsilon", "alpha", "laplace", "gaussian"])
    table = with_limits(table.assign(delta=1e-6))
    assert table["alpha_step"].to_numpy() == pytest.approx([5.0, np.nan, np.nan], nan_ok=True)
    assert table["laplace_by_information"].tolist() == [1.5, 0.25, 1.0]


def test_gain_is_over_the_better_of_both():
    table = gain_by_dimension(Gain(dimensions=(1, 30), budgets=((1.0, 1e-5),)))
    assert list(table["better"]) == ["laplace", "gaussian"]
    better = np.minimum(table["gaussian"], table["laplace"])
    assert np.allclose(table["gain_db"], 10 * np.log10(better / table["flipped_huber"]))
    assert np.all(table["gain_db"] >= -1e-6)
    assert table.loc[0, "alpha"] > table.loc[0, "gamma"]  # Laplace noise, nearly
    assert math.isclose(table.loc[1, "gaussian"], gaussian_sigma(1.0, 1e-5, math.sqrt(30)) ** 2)
