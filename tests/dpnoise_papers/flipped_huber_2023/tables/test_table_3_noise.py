"""Noise by the bound of Mangold et al. and by the exact account: private, and how large."""

import math

import numpy as np
import pytest

from dpnoise.calibration.coordinate_noise import MECHANISMS as BY_ZCDP
from dpnoise.calibration.coordinate_noise import coordinate_noise
from dpnoise.noise import FlippedHuber, Gaussian, Laplace
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.vector import vector_profile
from dpnoise_papers.flipped_huber_2023.tables.table_3_noise import (
    bound_of_mangold,
    describe_centre,
    release_noise,
)
from dpnoise_papers.flipped_huber_2023.tables.table_3_splits import make_split
from table_3_toys import dataset, settings

MECHANISMS = (*BY_ZCDP, "gaussian-dp-cd", "flipped-huber-exact")


@pytest.fixture(scope="module")
def task():
    return make_split(dataset(), settings(), 0)


def test_the_bound_is_private_by_the_exact_gaussian_profile():
    rng = np.random.default_rng(3)
    for epsilon in [1.0, 0.5, *rng.uniform(0.01, 1.0, 20)]:
        for delta in (0.333, 1e-2, 1e-8, 1e-100):
            sigma = bound_of_mangold(float(epsilon), delta, 26).sigma
            mu = math.sqrt(26) / sigma
            assert gaussian_log_delta(mu, float(epsilon)) <= math.log(delta)


def test_its_variance_is_about_145_percent_of_that_by_zcdp():
    for size in (216, 354, 405, 1202, 2000, 5198, 16512):  # of the data sets of Table III
        budget = {"epsilon": 1.0, "delta": size**-2.0}
        zcdp = coordinate_noise("gaussian", coordinates=8, passes=5, **budget).unit
        assert 1.43 <= bound_of_mangold(*budget.values(), 40).var() / zcdp.var() <= 1.465


def test_the_exact_account_is_private_and_needs_no_more_than_zcdp(task):
    for passes in (1, 4):
        noise = {m: release_noise(task, m, settings(), passes) for m in MECHANISMS}
        exact = noise["flipped-huber-exact"]
        copies = passes * task.problem.coordinates
        assert vector_profile(exact, 1.0, 1.0, copies=copies).upper <= task.delta
        assert exact.var() <= noise["gaussian-tight"].var() * (1 + 1e-6)
        assert exact.var() <= noise["flipped-huber"].var() * (1 + 1e-6)
        assert noise["gaussian-dp-cd"].var() > noise["gaussian"].var()


def test_a_budget_beyond_the_bound_is_refused():
    with pytest.raises(ValueError, match="expected") as error:
        bound_of_mangold(1.5, 0.4, 10)
    assert "epsilon" in str(error.value)
    assert "delta" in str(error.value)


@pytest.mark.parametrize(
    ("noise", "words"),
    [
        (Gaussian(3.0), "Gaussian"),
        (Laplace(3.0), "Laplace"),
        (FlippedHuber(0.0, 2.0), "Gaussian (alpha = 0)"),
        (FlippedHuber(0.002, 2.0), "Gaussian (alpha/gamma = 0.001: 0.07979 %"),
        (FlippedHuber(2.0, 2.0), "graft: 7"),
        (FlippedHuber(2.9, 1.0), "Laplace limit (alpha/gamma = 2.9: 99.98 %"),
        (FlippedHuber(90.0, 2.0), "Laplace limit (alpha/gamma = 45: all"),
    ],
)
def test_noise_is_described_by_its_centre(noise, words):
    assert describe_centre(noise).startswith(words)


def test_description_changes_at_the_stated_masses():
    for mass, names in [(0.001, ("Gaussian", "graft")), (0.999, ("graft", "Laplace limit"))]:
        low, high = 1e-6, 50.0
        for _ in range(100):
            middle = 0.5 * (low + high)
            low, high = (
                (middle, high) if FlippedHuber(middle, 1.0).centre_mass() < mass else (low, middle)
            )
        for alpha, name in zip((low - 1e-9, high + 1e-9), names, strict=True):
            assert describe_centre(FlippedHuber(alpha, 1.0)).startswith(name)
            assert abs(1 - 2 * FlippedHuber(alpha, 1.0).sf(alpha) - mass) < 1e-8
