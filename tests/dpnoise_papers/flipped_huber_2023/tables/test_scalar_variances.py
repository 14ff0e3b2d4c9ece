"""Figure 3 of flipped-huber-2023 and the slides' values as tables."""

import math

import numpy as np
import pytest

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.noise import FlippedHuber
from dpnoise.privacy.profile import privacy_profile
from dpnoise_papers.flipped_huber_2023.tables.scalar_variances import (
    illustrative_values,
    scalar_variances,
    variance_ratio,
)

GRID = {"low": 0.1, "high": 5.0, "count": 4}
VARIANCES = {
    "delta": 1e-6, "sensitivity": 0.5, "epsilons": GRID, "also": [0.3],
    "mechanisms": [
        ["gaussian", "exact"], ["laplace", "exact"], ["flipped-huber", "exact"],
        ["flipped-huber", "box"], ["truncated-laplace", "exact"], ["staircase", "exact"],
        ["offset-symmetric-gaussian", "exact"], ["offset-symmetric-gaussian", "box"],
    ],
}  # fmt: skip
RATIO = {
    "against": "laplace", "sensitivity": 1.0, "epsilons": {"low": 0.05, "high": 3.0, "count": 3},
    "deltas": {"low": 1e-6, "high": 0.05, "count": 3},
}  # fmt: skip
VALUES = {"delta": 1e-6, "sensitivity": 1.0, "epsilons": [0.5, 2.0]}


@pytest.fixture(scope="module")
def table():
    return scalar_variances(**VARIANCES)


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


def test_the_box_is_never_better_than_the_unrestricted_optimum(table):
    boxed = table[table["method"] == "box"].set_index(["mechanism", "epsilon"])["variance"]
    free = table[table["method"] == "exact"].set_index(["mechanism", "epsilon"])["variance"]
    assert np.all(boxed >= free.loc[boxed.index] * (1 - 1e-6))
    assert boxed["offset-symmetric-gaussian"].iloc[0] > 1.02 * free["flipped-huber"].iloc[0]


def test_a_box_without_private_noise_says_so():
    table = scalar_variances(**VARIANCES | {"box": ((1.0, 2.0), (0.02, 0.03))})
    boxed = table[table["method"] == "box"]
    assert boxed["variance"].isna().all()
    assert set(boxed["noise"]) == {"none in the box"}
    assert set(boxed["attained"]) == {0}


def test_a_least_variance_that_is_not_attained_has_a_row_of_its_own(table):
    limits = table[table["method"] == "infimum"]
    assert (limits["attained"] == 0).all()
    assert (limits["noise"] == "").all()
    exact = table[(table["method"] == "exact") & (table["attained"] == 0)]
    assert list(limits["epsilon"]) == list(exact["epsilon"])
    assert np.all(exact["variance"].to_numpy() >= limits["variance"].to_numpy())


def test_a_finer_grid_comes_nearer_to_the_optimum():
    found = [
        illustrative_values(**VALUES, box=[[1, 30], [0.5, 8]], resolution=[n, n]) for n in (30, 300)
    ]
    coarse, fine = (table["variance_grid"] / table["variance_exact"] - 1 for table in found)
    assert np.all((fine >= 0) & (fine < coarse))


@pytest.mark.parametrize("against", ["laplace", "staircase"])
def test_ratios_are_those_of_the_variances(against):
    table = variance_ratio(**RATIO | {"against": against})
    assert len(table) == 9
    expected = 10 * np.log10(table["flipped_huber"] / table[against])
    assert table["ratio_db"].to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-12)
    if against == "laplace":
        assert table["ratio_db"].max() < 1e-9  # Laplace noise is a limit of flipped Huber
        assert table["ratio_db"].min() < -3
    else:
        largest = table[table["epsilon"] == table["epsilon"].max()]
        assert largest["ratio_db"].min() > 0


def test_illustrative_values_keep_the_budget():
    table = illustrative_values(**VALUES)
    assert list(table["epsilon"]) == VALUES["epsilons"]
    for row in table.itertuples():
        exact = FlippedHuber(row.alpha_exact, row.gamma_exact)
        grid = FlippedHuber(row.alpha, row.gamma)
        assert exact.var() == pytest.approx(row.variance_exact, rel=1e-12)
        assert grid.var() == pytest.approx(row.variance_grid, rel=1e-12)
        assert row.variance_exact <= row.variance_grid
        for noise in (exact, grid):
            assert privacy_profile(noise, 1.0, row.epsilon) <= 1e-6
        assert privacy_profile(exact, 1.0, row.epsilon) <= row.delta_bound <= 1e-6
        assert row.delta_bound > 0.99e-6


@pytest.mark.parametrize(
    ("function", "settings", "changes", "words"),
    [
        (scalar_variances, VARIANCES, {"delta": 0, "sensitivity": 0}, ["delta", "sensitivity"]),
        (scalar_variances, VARIANCES, {"also": [-0.3]}, ["also[0]", "got -0.3"]),
        (scalar_variances, VARIANCES, {"mechanisms": []}, ["mechanisms"]),
        (scalar_variances, VARIANCES, {"epsilons": GRID | {"low": 0}}, ["epsilons: low"]),
        (scalar_variances, VARIANCES, {"mechanisms": [["gauss", "exact"]]}, ["gauss"]),
        (variance_ratio, RATIO, {"deltas": {"low": 0.1, "high": 1.0, "count": 2}}, ["high"]),
        (variance_ratio, RATIO, {"deltas": {"count": 2}}, ["deltas", "{low, high, count}"]),
        (illustrative_values, VALUES, {"delta": 1, "epsilons": [0]}, ["delta", "epsilons[0]"]),
    ],
)  # fmt: skip
def test_bad_settings(function, settings, changes, words):
    with pytest.raises(ValueError, match="expected") as error:
        function(**settings | changes)
    assert all(word in str(error.value) for word in words)
