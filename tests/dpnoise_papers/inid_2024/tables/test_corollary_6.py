"""Approximate Laplace noise: one coordinate exactly, limits, and certified results."""

import math

import numpy as np
import pytest

from dpnoise.noise import Laplace
from dpnoise.privacy.vector import vector_profile
from dpnoise_papers.inid_2024.settings import ApproximateLaplace
from dpnoise_papers.inid_2024.tables.profiles import approximate_laplace, profile


def test_one_coordinate_has_a_closed_form():
    settings = ApproximateLaplace(
        dimensions={"uniform": [1]}, epsilons=[0.3, 2.0], deltas=[1e-3, 0.2]
    )
    table = approximate_laplace(settings)
    for row in table.itertuples():
        printed = row.epsilon / (row.epsilon - math.log1p(-row.delta))
        exact = row.epsilon / (row.epsilon - 2 * math.log1p(-row.delta))
        assert row.factor_printed == pytest.approx(printed, rel=1e-12)
        assert exact * (1 - 1e-9) <= row.factor_exact <= exact * (1 + 5e-6)
        assert row.delta_printed < row.delta
        assert row.gain_exact_db == pytest.approx(-20 * math.log10(row.factor_exact), abs=1e-12)


def test_results_are_private_and_nearly_tight():
    settings = ApproximateLaplace(
        dimensions={"linear": [3], "exponential": [4]}, epsilons=[1.0], deltas=[1e-2]
    )
    table = approximate_laplace(settings)
    for row in table.itertuples():
        lambdas = profile(row.profile, row.dimension, 1)
        scales = np.cbrt(lambdas) * np.sum(np.cbrt(lambdas) ** 2) * row.factor_exact
        noise = [Laplace(float(b)) for b in scales]
        delta = vector_profile(noise, list(lambdas), 1.0)
        assert delta.upper <= 1e-2
        assert delta.lower >= 1e-2 * (1 - 1e-3)
        assert row.factor_exact < row.factor_printed < 1


def test_many_coordinates_need_twice_the_gaussian_error():
    """Laplace noise has twice the Fisher information of Gaussian noise of its variance."""
    settings = ApproximateLaplace(dimensions={"uniform": [10**5]}, epsilons=[0.5], deltas=[1e-6])
    table = approximate_laplace(settings)
    assert table["over_gaussian_exact_db"].iloc[0] == pytest.approx(10 * math.log10(2), abs=0.01)
    assert table["over_gaussian_pure_db"].iloc[0] > 35
    assert table["gain_printed_db"].iloc[0] < 1e-4
