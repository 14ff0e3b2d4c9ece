"""Figure 3 of flipped-huber-2023 as tables."""

import math

import numpy as np
import pytest

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise_papers.flipped_huber_2023.settings import MinimumVariances, VarianceRatio
from dpnoise_papers.flipped_huber_2023.tables.scalar_variances import (
    scalar_variances,
    variance_ratio,
)

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


@pytest.fixture(scope="module")
def table():
    return scalar_variances(MinimumVariances(**VARIANCES))


def test_closed_forms_are_met_and_every_bound_is_within_the_budget(table):
    assert sorted(table["epsilon"].unique()) == pytest.approx([0.1, 0.3, 0.3684, 1.3572, 5], 1e-3)
    assert (table["delta_bound"].dropna() <= 1e-6).all()
    wide = table[table["method"] == "exact"].pivot_table(
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
    off = table[(table["mechanism"] == "flipped-huber") & (table["method"] == "exact")]
    assert off["off_truncated_laplace"].to_numpy() == pytest.approx(ratio.to_numpy() - 1, abs=1e-12)
    own = table[(table["mechanism"] == "truncated-laplace") & (table["method"] == "exact")]
    assert (own["off_truncated_laplace"] == 0).all()


def test_steps_of_the_gain_are_those_of_the_variances(table):
    for method in ("exact", "box"):
        own = table[(table["mechanism"] == "flipped-huber") & (table["method"] == method)]
        own = own.sort_values("epsilon")
        for column, other, how in (
            ("gain_step", "gaussian", "exact"),
            ("gain_step_osgt", "offset-symmetric-gaussian", method),
        ):
            rows = table[(table["mechanism"] == other) & (table["method"] == how)]
            gain = rows.sort_values("epsilon")["variance"].to_numpy() / own["variance"].to_numpy()
            steps = np.diff(gain)
            assert own[column].to_numpy() == pytest.approx(np.insert(steps, 0, steps[0]), rel=1e-9)
    others = table[table["mechanism"] != "flipped-huber"]
    assert others[["gain_step", "gain_step_osgt"]].isna().all(axis=None)


def test_the_box_is_never_better_than_the_unrestricted_optimum(table):
    boxed = table[table["method"] == "box"].set_index(["mechanism", "epsilon"])["variance"]
    free = table[table["method"] == "exact"].set_index(["mechanism", "epsilon"])["variance"]
    assert np.all(boxed >= free.loc[boxed.index] * (1 - 1e-6))
    assert boxed["offset-symmetric-gaussian"].iloc[0] > 1.02 * free["flipped-huber"].iloc[0]


def test_a_box_without_private_noise_says_so():
    table = scalar_variances(MinimumVariances(**VARIANCES | {"box": ((1.0, 2.0), (0.02, 0.03))}))
    boxed = table[table["method"] == "box"]
    assert boxed["variance"].isna().all()
    assert set(boxed["noise"]) == {"none in the box"}
    assert set(boxed["attained"]) == {0}


def test_a_minimum_variance_that_is_not_attained_has_a_row_of_its_own(table):
    limits = table[table["method"] == "infimum"]
    assert (limits["attained"] == 0).all()
    assert (limits["noise"] == "").all()
    exact = table[(table["method"] == "exact") & (table["attained"] == 0)]
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
