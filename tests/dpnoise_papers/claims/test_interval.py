import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpnoise_papers.claims.interval import band_around, band_beyond, ends, quantile, reach


@pytest.mark.parametrize("repetitions", [2, 5, 100])
def test_few_repetitions_widen_the_interval_as_student_says(repetitions):
    assert quantile(repetitions) == pytest.approx(stats.t.ppf(0.995, repetitions - 1))
    both = quantile(repetitions, two=True)
    assert both == pytest.approx(np.sqrt(2) * stats.t.ppf(0.995, 2 * (repetitions - 1)))


def test_without_end_of_repetitions_it_is_the_normal_one():
    assert quantile(np.inf) == pytest.approx(stats.norm.ppf(0.995))


def test_of_n_rows_each_is_looked_at_more_strictly():
    assert quantile(np.inf, 10) == pytest.approx(stats.norm.ppf(1 - 0.01 / 20))


def test_the_interval_of_a_mean_covers_it_99_times_in_100():
    rng = np.random.default_rng(3)
    draws = rng.normal(2.0, 3.0, size=(20_000, 5))
    table = pd.DataFrame(
        {"x": draws.mean(axis=1), "x_se": draws.std(axis=1, ddof=1) / np.sqrt(5), "repetitions": 5}
    )
    low, high = ends(table, "x")
    inside = np.mean((low <= 2.0) & (high >= 2.0))
    assert abs(inside - 0.99) < 4 * np.sqrt(0.99 * 0.01 / 20_000)


def test_replications_count_before_standard_errors_and_exact_columns_have_no_width():
    table = pd.DataFrame({"x": [1.0], "x_se": [9.0], "x_low": [0.5], "x_high": [3.0], "y": [4.0]})
    assert ends(table, "x") == (0.5, 3.0)
    assert reach(table, "x").tolist() == [[0.5], [2.0]]
    assert ends(table, "y") == (4.0, 4.0)


def test_a_number_has_a_band_on_both_sides():
    assert band_around(3.0, 2.0, 0.5, 1.5) == (3.0, 2.0, (1.5, 2.5), (0.5, 3.5))


def test_an_order_has_one_end_and_noise_on_both_sides_of_the_bound():
    assert band_beyond(3.0, 2.0, 0.5, 1.0, downwards=False) == (
        3.0, 2.0, (2.5, math.inf), (1.0, math.inf),
    )  # fmt: skip
    assert band_beyond(3.0, 2.0, 0.5, 1.0, downwards=True) == (
        3.0, 2.0, (-math.inf, 1.5), (-math.inf, 3.0),
    )  # fmt: skip
