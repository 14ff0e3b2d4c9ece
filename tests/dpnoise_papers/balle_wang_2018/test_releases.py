"""Private means and histograms: data, sensitivities, and errors against their expectations.

Expected errors are closed forms; a bound of five standard errors fails by chance less than
once in 10^6 comparisons.
"""

import math

import numpy as np
import pytest
from scipy import special

from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise_papers.balle_wang_2018 import releases
from dpnoise_papers.balle_wang_2018.releases import (
    high_dimension,
    histogram_panels,
    histograms,
    mean_estimation,
)
from dpnoise_papers.balle_wang_2018.settings import Releases
from dpnoise_papers.seeds import generator

MEANS = {
    "seed": 3,
    "epsilons": [0.1, 1.0],
    "delta": 1e-4,
    "samples": 50,
    "repetitions": 60,
    "draws": 0,
    "dimensions": [64, 3],
}

HISTOGRAMS = {
    "seed": 3,
    "epsilons": [0.1, 1.0],
    "delta": 1e-4,
    "samples": 100,
    "repetitions": 80,
    "draws": 0,
    "dimensions": [8, 200],
}


@pytest.fixture(scope="module")
def table():
    return mean_estimation(Releases(**MEANS))


def row(table, epsilon, dimension, method):
    keys = zip(("epsilon", "dimension", "method"), (epsilon, dimension, method), strict=True)
    (place,) = np.flatnonzero(np.all([table[key] == value for key, value in keys], axis=0))
    return table.iloc[place]


def test_rows_and_their_order(table):
    assert list(table.columns) == list(releases.COLUMNS)
    assert table["epsilon"].is_monotonic_increasing
    assert table.groupby(["epsilon", "dimension"]).size().tolist() == [7] * 4
    assert not table.isna().to_numpy().any()


def test_gaussian_errors_are_chi_distributed(table):
    for epsilon in MEANS["epsilons"]:
        for d in MEANS["dimensions"]:
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
        for reference in releases.REFERENCES:
            name = f"gain_over_{reference.replace('-', '_')}"
            gap = row(table, epsilon, d, reference)["error"] - rows["error"]
            assert np.allclose(rows[name], gap, atol=1e-12)
            own = rows[rows["method"] == reference].iloc[0]
            assert own[name] == own[f"{name}_se"] == 0
    classical = row(table, 1.0, 64, "cgm")
    unpaired = math.hypot(classical["error_se"], row(table, 1.0, 64, "agm")["error_se"])
    assert classical["gain_over_agm_se"] < unpaired / 2


def test_the_gain_over_the_undenoised_is_the_smallest_of_the_three(table):
    for _, rows in table.groupby(["epsilon", "dimension"]):
        three = rows[[f"gain_over_{name}" for name in releases.UNDENOISED]]
        assert np.allclose(rows["gain_over_undenoised"], three.min(axis=1), atol=1e-12)
        least = rows.loc[rows["method"].isin(releases.UNDENOISED), "error"].min()
        assert np.allclose(rows["saving"], 1 - rows["error"] / least, atol=1e-12)
        best = rows.loc[rows["error"] == least].iloc[0]
        assert best["gain_over_undenoised_se"] == 0
        assert best["saving_se"] < 1e-12


def test_the_error_of_a_saving_is_that_of_a_ratio():
    """Against the scatter of 300 batches of the same ratio of means, to 25 %."""
    rng = np.random.default_rng(0)
    scale = {"agm": 1.0, "cgm": 2.0, "laplace": 3.0, "agm-js": 0.5, "agm-th": 0.7, "zero": 1.0}

    def saved(name):
        truth, common = np.zeros((50, 2)), rng.standard_normal((50, 2))
        released = [(method, 1.0, size * common + 0.1 * rng.standard_normal((50, 2)))
                    for method, size in scale.items()]  # fmt: skip
        columns = [c for c in releases.COLUMNS if c != "epsilon"]
        rows = releases._rows(released, truth, lambda x: np.linalg.norm(x, axis=1))
        found = {row[1]: dict(zip(columns, row, strict=True)) for row in rows}
        return found[name]["saving"], found[name]["saving_se"]

    draws = np.array([saved("agm-js") for _ in range(300)])
    assert abs(draws[:, 1].mean() / draws[:, 0].std() - 1) < 0.25


def test_mechanisms_and_roles_are_those_of_the_paper(table):
    pairs = table.drop_duplicates("method").set_index("method")
    assert set(pairs.index[pairs["mechanism"] == "aGM"]) == {"agm", "agm-js", "agm-th"}
    assert set(pairs.index[pairs["role"] == "denoised"]) == {"agm-js", "agm-th"}
    assert set(pairs.index[pairs["role"] == "undenoised"]) == {"cgm", "agm", "laplace"}


def test_panels_are_put_under_one_another(table):
    first = table[table["epsilon"] == 0.1]
    last = table[table["epsilon"] == 1.0]
    joined = histogram_panels(first, last, first, last)
    assert joined["panel"].tolist() == [p for p in "abcd" for _ in range(len(first))]
    assert joined["error"].tolist() == [*first["error"], *last["error"]] * 2


def test_data_have_the_distribution_of_the_paper():
    """x_0 + the mean of n uniforms: variance 1 + 1/(12 n) over coordinates, mean 0."""
    mean = releases._mean(generator(1, "test"), 4, 20_000)
    variance = 1 + 1 / 48
    assert abs(mean.mean()) < 5 * math.sqrt(variance / 20_000)
    assert abs(mean.var() / variance - 1) < 5 * math.sqrt(2 / 20_000)
    assert releases._mean(generator(1, "test"), 1, 5).shape == (5,)


def test_a_dimension_does_not_depend_on_the_others_nor_on_epsilons(table):
    alone = mean_estimation(Releases(**MEANS | {"dimensions": [64], "epsilons": [1.0]}))
    part = table[(table["dimension"] == 64) & (table["epsilon"] == 1.0)]
    assert alone.equals(part.reset_index(drop=True))
    other = mean_estimation(Releases(**MEANS | {"dimensions": [64], "epsilons": [1.0], "seed": 4}))
    assert not other["error"].equals(alone["error"])


def test_zeros_cost_the_length_of_the_truth(table):
    zero = row(table, 1.0, 64, "zero")
    assert abs(zero["error"] - math.sqrt(64)) < 1
    assert zero["deviation"] == 0


@pytest.fixture(scope="module")
def shares():
    return histograms(Releases(**HISTOGRAMS)).set_index(["epsilon", "dimension", "method"])


def test_l1_errors_of_histograms_are_d_times_the_mean_absolute_noise(shares):
    for epsilon in (0.1, 1.0):
        for d in (8, 200):
            rows = shares.loc[epsilon, d]
            laplace, gaussian = rows.loc["laplace"], rows.loc["agm"]
            beta = 2 / (100 * epsilon)
            sigma = gaussian_sigma(epsilon, 1e-4, math.sqrt(2) / 100)
            assert gaussian["deviation"] == pytest.approx(sigma, rel=1e-12)
            assert laplace["deviation"] == pytest.approx(math.sqrt(2) * beta, rel=1e-12)
            assert abs(laplace["error"] - d * beta) < 5 * laplace["error_se"]
            expected = d * gaussian["deviation"] * math.sqrt(2 / math.pi)
            assert abs(gaussian["error"] - expected) < 5 * gaussian["error_se"]


def test_the_noise_does_not_depend_on_the_number_of_bins(shares):
    for method in ("agm", "laplace"):
        deviation = shares.xs(method, level="method")["deviation"].unstack("dimension")
        assert (deviation[8] == deviation[200]).all()


def test_histograms_are_sparse_shares():
    """The expected number of bins that n items hit is d (1 - E(1 - p)^n), p ~ Beta(1/d, 1 - 1/d).

    E(1 - p)^n is the product of (k + 1 - 1/d)/(k + 1) over k < n.
    """
    n, d, count = 50, 40, 400
    drawn = np.stack([releases._histogram(generator(2, "test", k), n, d) for k in range(count)])
    assert np.allclose(drawn.sum(axis=1), 1, atol=1e-12)
    assert np.allclose(drawn * n, np.rint(drawn * n), atol=1e-9)
    k = np.arange(n)
    expected = d * (1 - np.prod((k + 1 - 1 / d) / (k + 1)))
    hit = (drawn > 0).sum(axis=1)
    assert abs(hit.mean() - expected) < 5 * hit.std() / math.sqrt(count)


def test_the_share_of_full_bins_is_counted(shares):
    n, d = 100, 200
    k = np.arange(n)
    expected = 1 - np.prod((k + 1 - 1 / d) / (k + 1))
    found = shares.loc[(1.0, d, "agm")]
    assert abs(found["nonzero"] - expected) < 5 * found["nonzero_se"]


def test_zeros_cost_exactly_one(shares):
    zero = shares.xs("zero", level="method")
    assert np.allclose(zero["error"], 1, atol=1e-12)


def test_in_high_dimension_the_better_denoiser_counts(table):
    """A denoiser that is made the better one is taken, and its error is the one that counts."""
    rows = high_dimension(table, table)
    assert rows.groupby("task").size().to_dict() == {"histogram": 4, "mean": 4}
    for one in rows.itertuples():
        errors = {name: row(table, one.epsilon, one.dimension, name) for name in releases.DENOISED}
        assert one.denoised == min(each["error"] for each in errors.values())
        assert one.benefit == one.raw / one.denoised
        raw, best = row(table, one.epsilon, one.dimension, "agm"), errors[one.method]
        noise = (raw["error_se"] / raw["error"]) ** 2 + (best["error_se"] / best["error"]) ** 2
        assert one.benefit_se == pytest.approx(one.benefit * math.sqrt(noise))
    changed = table.copy()
    changed.loc[changed["method"] == "agm-th", "error"] = 1e-3
    assert set(high_dimension(changed, changed)["method"]) == {"agm-th"}
