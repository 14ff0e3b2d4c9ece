"""Private histograms: the data, the sensitivities and errors against their expectations.

A bound of five standard errors fails by chance less than once in 10^6 comparisons.
"""

import math

import numpy as np
import pytest

from dpnoise.privacy.vector import vector_profile
from dpnoise_papers.balle_wang_2018.tables import releases as release
from dpnoise_papers.balle_wang_2018.tables.histograms import _histogram, histograms
from dpnoise_papers.seeds import generator

SETTINGS = {
    "seed": 3,
    "epsilons": [0.1, 1.0],
    "delta": 1e-4,
    "samples": 100,
    "repetitions": 80,
    "draws": 0,
    "dimensions": [8, 200],
    "exact_up_to": 200,
}


@pytest.fixture(scope="module")
def table():
    return histograms(**SETTINGS).set_index(["epsilon", "dimension", "method"])


def test_l1_errors_are_d_times_the_mean_absolute_noise(table):
    for epsilon in (0.1, 1.0):
        for d in (8, 200):
            rows = table.loc[epsilon, d]
            laplace, gaussian = rows.loc["laplace"], rows.loc["agm"]
            beta = 2 / (100 * epsilon)
            assert laplace["deviation"] == pytest.approx(math.sqrt(2) * beta, rel=1e-12)
            assert abs(laplace["error"] - d * beta) < 5 * laplace["error_se"]
            expected = d * gaussian["deviation"] * math.sqrt(2 / math.pi)
            assert abs(gaussian["error"] - expected) < 5 * gaussian["error_se"]


def test_the_noise_does_not_depend_on_the_number_of_bins(table):
    for method in ("agm", "laplace", "laplace-exact", "flipped-huber", "truncated-laplace"):
        deviation = table.xs(method, level="method")["deviation"].unstack("dimension")
        assert (deviation[8] == deviation[200]).all()


def test_two_bins_decide_and_noise_keeps_the_budget_there(table):
    """A moved item changes one bin by 1/n and another by -1/n, whatever d is."""
    for family in ("laplace", "flipped-huber", "truncated-laplace"):
        noise = release._calibrated(family, 1.0, 1e-4, 0.01, 2)
        delta = vector_profile(noise, 0.01, 1.0, copies=2)
        assert 0.5e-4 < delta.lower <= delta.upper <= 1e-4 * (1 + 1e-6)
        name = "laplace-exact" if family == "laplace" else family
        assert table.loc[(1.0, 8, name), "deviation"] == noise.std()


def test_flipped_huber_noise_is_no_worse_than_any_other(table):
    deviation = table["deviation"].unstack("method").drop(columns="zero")
    assert (deviation["flipped-huber"] <= deviation.min(axis=1) * (1 + 1e-6)).all()


def test_histograms_are_sparse_shares():
    """The expected number of bins that n items hit is d (1 - E(1 - p)^n), p ~ Beta(1/d, 1 - 1/d).

    E(1 - p)^n is the product of (k + 1 - 1/d)/(k + 1) over k < n.
    """
    n, d, count = 50, 40, 400
    shares = np.stack([_histogram(generator(2, "test", k), n, d) for k in range(count)])
    assert np.allclose(shares.sum(axis=1), 1, atol=1e-12)
    assert np.allclose(shares * n, np.rint(shares * n), atol=1e-9)
    k = np.arange(n)
    expected = d * (1 - np.prod((k + 1 - 1 / d) / (k + 1)))
    hit = (shares > 0).sum(axis=1)
    assert abs(hit.mean() - expected) < 5 * hit.std() / math.sqrt(count)


def test_zeros_cost_exactly_one(table):
    zero = table.xs("zero", level="method")
    assert np.allclose(zero["error"], 1, atol=1e-12)


def test_bad_settings_are_named_together():
    with pytest.raises(ValueError, match="histograms: ") as error:
        histograms(**SETTINGS | {"delta": math.nan, "dimensions": [1]})
    assert all(word in str(error.value) for word in ("delta", "nan", "dimensions[0]"))
