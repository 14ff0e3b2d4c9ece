"""Private means: errors against their expectations, pairing, and what the budget pays for.

Expected errors are closed forms; a bound of five standard errors fails by chance less than
once in 10^6 comparisons.
"""

import math

import numpy as np
import pytest
from scipy import special

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.privacy.vector import vector_profile
from dpnoise_papers.balle_wang_2018.tables import releases as release
from dpnoise_papers.balle_wang_2018.tables.mean_estimation import _mean, mean_estimation
from dpnoise_papers.seeds import generator

SETTINGS = {
    "seed": 3,
    "epsilons": [0.1, 1.0],
    "delta": 1e-4,
    "samples": 50,
    "repetitions": 60,
    "draws": 0,
    "dimensions": [64, 3],
    "exact_up_to": 3,
}


@pytest.fixture(scope="module")
def table():
    return mean_estimation(**SETTINGS)


def row(table, epsilon, dimension, method):
    keys = zip(("epsilon", "dimension", "method"), (epsilon, dimension, method), strict=True)
    (place,) = np.flatnonzero(np.all([table[key] == value for key, value in keys], axis=0))
    return table.iloc[place]


def test_rows_and_their_order(table):
    assert list(table.columns) == list(release.COLUMNS)
    assert table["epsilon"].is_monotonic_increasing
    assert table.groupby(["epsilon", "dimension"]).size().tolist() == [10, 7, 10, 7]
    assert not table.isna().to_numpy().any()


def test_gaussian_errors_are_chi_distributed(table):
    for epsilon in SETTINGS["epsilons"]:
        for d in SETTINGS["dimensions"]:
            chi = math.sqrt(2) * math.exp(special.gammaln((d + 1) / 2) - special.gammaln(d / 2))
            analytic = row(table, epsilon, d, "agm")
            sigma = gaussian_sigma(epsilon, 1e-4, math.sqrt(d) / 50)
            assert analytic["deviation"] == sigma
            assert abs(analytic["error"] - sigma * chi) < 5 * analytic["error_se"]
            classical = row(table, epsilon, d, "cgm")
            factor = math.sqrt(2 * math.log(1.25e4)) * math.sqrt(d) / (50 * epsilon) / sigma
            assert classical["error"] == pytest.approx(factor * analytic["error"], rel=1e-12)


def test_gains_are_paired_differences_of_the_means(table):
    for (epsilon, d), rows in table.groupby(["epsilon", "dimension"]):
        for reference in release.REFERENCES:
            name = f"gain_over_{reference.replace('-', '_')}"
            gap = row(table, epsilon, d, reference)["error"] - rows["error"]
            assert np.allclose(rows[name], gap, atol=1e-12)
            own = rows[rows["method"] == reference].iloc[0]
            assert own[name] == own[f"{name}_se"] == 0
    classical = row(table, 1.0, 64, "cgm")
    unpaired = math.hypot(classical["error_se"], row(table, 1.0, 64, "agm")["error_se"])
    assert classical["gain_over_agm_se"] < unpaired / 2


def test_the_families_beyond_the_paper_keep_the_budget():
    """Their noise is private when all d coordinates move by 1/n at once."""
    for family in ("laplace", "flipped-huber", "truncated-laplace"):
        noise = release._calibrated(family, 1.0, 1e-4, 0.02, 3)
        delta = vector_profile(noise, 0.02, 1.0, copies=3)
        assert delta.upper <= 1e-4 * (1 + 1e-6)
        assert delta.lower > 0.5e-4


def test_flipped_huber_noise_is_no_worse_than_gaussian(table):
    for epsilon in SETTINGS["epsilons"]:
        ours, gaussian = (row(table, epsilon, 3, name) for name in ("flipped-huber", "agm"))
        assert ours["deviation"] <= gaussian["deviation"] * (1 + 1e-9)


def test_data_have_the_distribution_of_the_paper():
    """x_0 + the mean of n uniforms: variance 1 + 1/(12 n) over coordinates, mean 0."""
    mean = _mean(generator(1, "test"), 4, 20_000)
    variance = 1 + 1 / 48
    assert abs(mean.mean()) < 5 * math.sqrt(variance / 20_000)
    assert abs(mean.var() / variance - 1) < 5 * math.sqrt(2 / 20_000)
    assert _mean(generator(1, "test"), 1, 5).shape == (5,)


def test_a_dimension_does_not_depend_on_the_others_nor_on_epsilons(table):
    alone = mean_estimation(**SETTINGS | {"dimensions": [64], "epsilons": [1.0]})
    part = table[(table["dimension"] == 64) & (table["epsilon"] == 1.0)]
    assert alone.equals(part.reset_index(drop=True))
    other = mean_estimation(**SETTINGS | {"dimensions": [64], "epsilons": [1.0], "seed": 4})
    assert not other["error"].equals(alone["error"])


def test_zeros_cost_the_length_of_the_truth(table):
    zero = row(table, 1.0, 64, "zero")
    assert abs(zero["error"] - math.sqrt(64)) < 1
    assert zero["deviation"] == 0


def test_bad_settings_are_named_together():
    bad = {
        "seed": -1, "epsilons": [0.0, 1.0], "delta": 1.0, "samples": 0, "repetitions": 1,
        "draws": -1,
        "dimensions": [2, 4.5], "exact_up_to": -1,
    }  # fmt: skip
    with pytest.raises(ValueError, match="mean-estimation: ") as error:
        mean_estimation(**bad)
    words = ["seed", "epsilons[0]", "delta", "samples", "repetitions", "draws", "dimensions[0]",
             "dimensions[1]", "exact_up_to"]  # fmt: skip
    assert all(word in str(error.value) for word in words)
    with pytest.raises(ValueError, match=r"epsilons: .*; dimensions: "):
        mean_estimation(**SETTINGS | {"epsilons": [], "dimensions": []})
