"""Noise by group: budgets in exact arithmetic, closed forms, allocation by parameter, search."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize

from dpnoise.allocation.allocate import allocate
from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise_papers.inid_2024.deep.scales import (
    SCHEMES,
    flat_clips,
    group_scales,
)
from for_all import for_all

POWER = {"gaussian": 2, "laplace": 1}
CLIPS, SIZES = np.array([0.3, 1.7, 0.9]), np.array([4, 1, 25])
CASES = [
    (CLIPS, SIZES, 1.3),
    ([0.7], [1], 3.0),
    ([0.7], [10**15], 3.0),
    ([1.0, 1.0], [1, 10**15], 1e-50),
    ([0.1] * 22, [36864] * 22, 1.1392),
    ([1e-50, 1e50], [432, 7], 1e50),
    (np.linspace(0.01, 1.0, 61), np.arange(1, 62) ** 5, 12.98),
]


@for_all("noise", POWER)
@for_all("scheme", SCHEMES)
@for_all(("clips", "sizes", "unit"), CASES)
def test_the_budget_is_kept_in_exact_arithmetic_and_spent(noise, scheme, clips, sizes, unit):
    scales = group_scales(scheme, noise, clips, sizes, unit)
    q = POWER[noise]
    pairs = zip(clips, scales, strict=True)
    spent = sum((Fraction(float(c)) / Fraction(float(s))) ** q for c, s in pairs)
    spent *= Fraction(unit) ** q
    assert 1 - Fraction(1, 10**13) < spent <= 1


@for_all("noise", POWER)
@for_all("scheme", ["spr", "optimal"])
def test_by_parameter_the_scales_are_the_allocation_of_the_paper(noise, scheme):
    budget = {"epsilon": 1.0, "delta": 1e-5 if noise == "gaussian" else 0.0}
    lambdas = np.repeat(CLIPS / SIZES ** (1.0 / POWER[noise]), SIZES)
    expected = allocate(lambdas, noise=noise, scheme=scheme, **budget)
    unit = float(gaussian_sigma(1.0, 1e-5)) if noise == "gaussian" else 1.0
    found = group_scales(scheme, noise, CLIPS, SIZES, unit)
    assert np.repeat(found, SIZES) == pytest.approx(expected, rel=1e-12)


@for_all("noise", POWER)
def test_by_group_the_optimum_is_the_allocation_with_weights(noise):
    budget = {"epsilon": 1.0, "delta": 1e-5 if noise == "gaussian" else 0.0}
    unit = float(gaussian_sigma(1.0, 1e-5)) if noise == "gaussian" else 1.0
    expected = allocate(CLIPS, noise=noise, weights=SIZES, **budget)
    assert group_scales("optimal", noise, CLIPS, SIZES, unit) == pytest.approx(expected, rel=1e-12)


@for_all("noise", POWER)
def test_no_search_finds_less_variance(noise):
    q, unit = POWER[noise], 1.3

    def variance(logs):  # any shares of the budget, each group spending its own
        shares = np.exp(logs) / np.exp(logs).sum()
        return float(SIZES @ (unit * CLIPS / shares ** (1.0 / q)) ** 2)

    found = optimize.minimize(variance, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    best = group_scales("optimal", noise, CLIPS, SIZES, unit)
    assert float(SIZES @ best**2) == pytest.approx(found.fun, rel=1e-7)
    for scheme in ("iid", "spr", "spr-group"):
        assert float(SIZES @ group_scales(scheme, noise, CLIPS, SIZES, unit) ** 2) > found.fun


def test_closed_forms_of_equal_thresholds():
    clips = flat_clips("gaussian", 3, 2.0)
    sizes = np.array([16.0, 81.0, 256.0])
    iid = group_scales("iid", "gaussian", clips, sizes, 1.5)
    assert iid == pytest.approx(3.0, rel=1e-12)
    assert group_scales("spr-group", "gaussian", clips, sizes, 1.5) == pytest.approx(iid, rel=1e-12)
    optimal = group_scales("optimal", "gaussian", clips, sizes, 1.5)
    # sum C^2/s^2 with s = a K^(-1/4): a^2 = unit^2 C^2 sum sqrt(K)
    expected = 3.0 * np.sqrt((4 + 9 + 16) / 3.0) / sizes**0.25
    assert optimal == pytest.approx(expected, rel=1e-12)
    spr = group_scales("spr", "gaussian", clips, sizes, 1.5)
    assert spr == pytest.approx(3.0 * np.sqrt(353 / 3.0) / sizes**0.5, rel=1e-12)
    # he who counts parameters alike gains nothing over equal noise: K_m s_m^2 sums to the same
    assert sizes @ spr**2 == pytest.approx(sizes @ iid**2, rel=1e-12)


@for_all("noise", POWER)
def test_schemes_coincide_where_they_must(noise):
    for clips, sizes in (([0.7], [9]), ([0.4] * 5, [36] * 5), ([0.4] * 5, [1] * 5)):
        found = [group_scales(scheme, noise, clips, sizes, 2.0) for scheme in SCHEMES]
        for scales in found[1:]:
            assert scales == pytest.approx(found[0], rel=1e-12)
    # a gradient of equal entries: every parameter counts alike, and equal noise is the optimum
    clips = 2.0 * (SIZES / SIZES.sum()) ** (1.0 / POWER[noise])
    for scheme in ("spr", "optimal"):
        found = group_scales(scheme, noise, clips, SIZES, 2.0)
        assert found == pytest.approx(group_scales("iid", noise, clips, SIZES, 2.0), rel=1e-12)


@for_all("noise", POWER)
def test_thresholds_have_the_norm_of_the_whole(noise):
    clips = flat_clips(noise, 61, 0.3)
    assert np.linalg.norm(clips, POWER[noise]) == pytest.approx(0.3, rel=1e-14)
    assert np.ptp(clips) == 0.0
