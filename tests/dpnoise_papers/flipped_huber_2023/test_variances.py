"""Minimum variances against closed forms, and what must hold between mechanisms and searches."""

import math

import numpy as np
import pandas as pd
import pytest

from dpnoise import calibrate
from dpnoise.calibration.published import theorem_8_delta
from dpnoise.noise import flipped_huber_variance
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise.privacy.profile import privacy_profile
from dpnoise.privacy.vector import vector_profile
from dpnoise_papers.flipped_huber_2023.settings import (
    Gain,
    MinimumVariances,
    VarianceRatio,
    VectorVariances,
)
from dpnoise_papers.flipped_huber_2023.variances import (
    gain_by_dimension,
    inside,
    minimum_in_box,
    scalar_variances,
    variance_ratio,
    vector_variances,
    with_limits,
)

BOX = ((0.02, 150.0), (0.02, 50.0))
BUDGET = {"epsilon": 0.3, "delta": 1e-6}
GRID = {"low": 0.1, "high": 5.0, "count": 4, "spacing": "log"}
VARIANCES = {
    "delta": 1e-6, "sensitivity": 0.5, "epsilons": GRID, "also": (0.3,),
    "box": ((0.02, 150.0), (0.02, 50.0)),
    "mechanisms": (
        ("gaussian", "exact"), ("laplace", "exact"), ("flipped-huber", "exact"),
        ("flipped-huber", "box"), ("truncated-laplace", "exact"), ("staircase", "exact"),
        ("offset-symmetric-gaussian", "exact"), ("offset-symmetric-gaussian", "box"),
    ),
}  # fmt: skip
RATIO = {
    "against": "laplace", "sensitivity": 1.0,
    "epsilons": {"low": 0.05, "high": 3.0, "count": 3, "spacing": "log"},
    "deltas": {"low": 1e-6, "high": 0.05, "count": 3, "spacing": "log"},
}  # fmt: skip
MECHANISMS = (
    ("gaussian", "exact"), ("laplace", "pure"), ("laplace", "exact"), ("staircase", "exact"),
    ("flipped-huber", "exact"), ("flipped-huber", "sufficient"),
)  # fmt: skip


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_no_grid_in_the_box_is_better_and_fine_ones_come_near(epsilon):
    found = minimum_in_box("offset-symmetric-gaussian", BOX, epsilon=epsilon, delta=1e-6)
    grids = [
        calibrate("offset-symmetric-gaussian", epsilon=epsilon, delta=1e-6, method="grid",
                  resolution=(300, count)).variance
        for count in (500, 5000)
    ]  # fmt: skip
    assert found.variance <= min(grids)
    assert grids[1] / found.variance < 1.005
    assert found.noise.theta == 150.0  # the edge of the box
    assert privacy_profile(found.noise, 1.0, epsilon) <= found.delta <= 1e-6


def test_an_optimum_inside_the_box_is_the_unrestricted_one():
    free = calibrate("flipped-huber", **BUDGET)
    assert inside(free.noise, BOX)
    assert not inside(free.noise, ((0.02, 10.0), (0.02, 50.0)))
    found = minimum_in_box("flipped-huber", BOX, **BUDGET)
    assert 1.0 - 1e-12 <= found.variance / free.variance < 1.0 + 1e-5


def test_theorem_8_in_the_box_against_all_pairs_of_a_grid():
    budget = {"epsilon": 1.0, "delta": 1e-8, "dimension": 3}
    found = minimum_in_box("flipped-huber", BOX, method="sufficient-box", **budget)
    alpha, gamma = np.linspace(*BOX[0], 301)[:, None], np.linspace(*BOX[1], 2001)
    private = theorem_8_delta(alpha, gamma, 1.0, 1.0, 3) <= 1e-8
    grid = np.where(private, flipped_huber_variance(alpha, gamma), np.inf).min()
    assert found.variance <= grid < 1.01 * found.variance
    place = found.noise.alpha, found.noise.gamma
    assert theorem_8_delta(*place, 1.0, 1.0, 3) == found.delta <= 1e-8


def test_several_dimensions_are_certified_and_not_below_the_unrestricted_optimum():
    budget = {"epsilon": 0.3, "delta": 1e-8, "dimension": 3}
    for family in ("flipped-huber", "offset-symmetric-gaussian"):
        found = minimum_in_box(family, BOX, **budget)
        assert inside(found.noise, BOX)
        assert vector_profile(found.noise, 1.0, 0.3, copies=3).upper <= found.delta <= 1e-8
        assert found.variance >= calibrate(family, **budget).infimum * (1 - 1e-6)


@pytest.fixture(scope="module")
def scalar_table():
    return scalar_variances(MinimumVariances(**VARIANCES))


def test_closed_forms_are_met_and_every_bound_is_within_the_budget(scalar_table):
    assert sorted(scalar_table["epsilon"].unique()) == pytest.approx(
        [0.1, 0.3, 0.3684, 1.3572, 5], 1e-3
    )
    assert (scalar_table["delta_bound"].dropna() <= 1e-6).all()
    wide = scalar_table[scalar_table["method"] == "exact"].pivot_table(
        index="epsilon", columns="mechanism", values="variance"
    )
    epsilon = wide.index.to_numpy()
    sigma = gaussian_sigma(epsilon, 1e-6, 0.5)
    assert wide["gaussian"].to_numpy() == pytest.approx(sigma**2, rel=1e-10)
    beta = 0.5 / (epsilon - 2 * math.log1p(-1e-6))
    assert wide["laplace"].to_numpy() == pytest.approx(2 * beta**2, rel=1e-9)
    ratio = wide["flipped-huber"] / wide["truncated-laplace"]
    assert np.all((ratio > 1) & (ratio < 1.01))
    assert np.all(wide["flipped-huber"] < wide["gaussian"] / 2)
    off = scalar_table[
        (scalar_table["mechanism"] == "flipped-huber") & (scalar_table["method"] == "exact")
    ]
    assert off["off_truncated_laplace"].to_numpy() == pytest.approx(ratio.to_numpy() - 1, abs=1e-12)
    own = scalar_table[
        (scalar_table["mechanism"] == "truncated-laplace") & (scalar_table["method"] == "exact")
    ]
    assert (own["off_truncated_laplace"] == 0).all()


def test_steps_of_the_gain_are_those_of_the_variances(scalar_table):
    for method in ("exact", "box"):
        own = scalar_table[
            (scalar_table["mechanism"] == "flipped-huber") & (scalar_table["method"] == method)
        ]
        own = own.sort_values("epsilon")
        for column, other, how in (
            ("gain_step", "gaussian", "exact"),
            ("gain_step_osgt", "offset-symmetric-gaussian", method),
        ):
            rows = scalar_table[
                (scalar_table["mechanism"] == other) & (scalar_table["method"] == how)
            ]
            gain = rows.sort_values("epsilon")["variance"].to_numpy() / own["variance"].to_numpy()
            steps = np.diff(gain)
            assert own[column].to_numpy() == pytest.approx(np.insert(steps, 0, steps[0]), rel=1e-9)
    others = scalar_table[scalar_table["mechanism"] != "flipped-huber"]
    assert others[["gain_step", "gain_step_osgt"]].isna().all(axis=None)


def test_a_minimum_variance_that_is_not_attained_has_a_row_of_its_own(scalar_table):
    limits = scalar_table[scalar_table["method"] == "infimum"]
    assert (limits["attained"] == 0).all()
    assert (limits["noise"] == "").all()
    exact = scalar_table[(scalar_table["method"] == "exact") & (scalar_table["attained"] == 0)]
    assert list(limits["epsilon"]) == list(exact["epsilon"])
    assert np.all(exact["variance"].to_numpy() >= limits["variance"].to_numpy())


@pytest.mark.parametrize("against", ["laplace", "staircase"])
def test_ratios_are_those_of_the_variances(against):
    table = variance_ratio(VarianceRatio(**RATIO | {"against": against}))
    assert len(table) == 9
    expected = 10 * np.log10(table["flipped_huber"] / table[against])
    assert table["ratio_db"].to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-12)
    if against == "laplace":
        assert table["ratio_db"].max() < 1e-9  # Laplace noise is a limit of flipped Huber
        assert table["ratio_db"].min() < -3
    else:
        largest = table[table["epsilon"] == table["epsilon"].max()]
        assert largest["ratio_db"].min() > 0


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


def test_what_is_handed_out_keeps_its_budget(table):
    handed = table[table["method"] != "infimum"]
    assert np.all(handed["delta_bound"] <= 1e-6)
    assert handed["noise"].str.contains("=").all()
    gaussian = gaussian_sigma(handed["epsilon"], 1e-6, 2.0) ** 2
    assert np.allclose(handed["gain_db"], 10 * np.log10(gaussian / handed["variance"]))


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
    assert set(boxed["attained"]) == {0}
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
    assert table["laplace_by_variance"].tolist() == [1 / 3, 2.0, 0.5]
    ends = table[["laplace_as_gaussian_least", "laplace_as_gaussian_greatest"]]
    assert ends.to_numpy().tolist() == [[1 / 3, 1.5], [0.25, 2.0], [0.5, 1.0]]


def test_gain_is_over_the_better_of_both():
    table = gain_by_dimension(Gain(dimensions=(1, 30), budgets=((1.0, 1e-5),)))
    assert list(table["better"]) == ["laplace", "gaussian"]
    better = np.minimum(table["gaussian"], table["laplace"])
    assert np.allclose(table["gain_db"], 10 * np.log10(better / table["flipped_huber"]))
    assert np.all(table["gain_db"] >= -1e-6)
    assert table.loc[0, "alpha"] > table.loc[0, "gamma"]  # Laplace noise, nearly
    assert math.isclose(table.loc[1, "gaussian"], gaussian_sigma(1.0, 1e-5, math.sqrt(30)) ** 2)
