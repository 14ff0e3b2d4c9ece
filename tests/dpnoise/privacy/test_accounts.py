"""Cheap bounds on delta hold on both sides of the exact account."""

import math

import numpy as np
import pytest

from dpnoise import (
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    TruncatedLaplace,
    vector_profile,
)
from dpnoise.privacy.accounts import (
    composed_log_delta,
    composed_lower_bound,
    equal_share,
    event_log_delta,
    half_line_log_delta,
    shared_log_delta,
)

NOISES = [
    Gaussian(3.0),
    Laplace(4.0),
    FlippedHuber(9.0, 3.0),  # a tie at one coordinate's loss of 1
    FlippedHuber(1.0, 3.0),
    OffsetSymmetricGaussian(20.0, 8.0),
    TruncatedLaplace(4.0, 20.0),
    Huber(1.0, 4.0),
]


@pytest.mark.parametrize("dimension", [1, 2, 3, 20])
@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_bounds_enclose_the_exact_account(noise, dimension):
    for epsilon in (0.0, 0.5, dimension * 0.25, dimension * 1.0, 3.0):
        profile = vector_profile(noise, 1.0, epsilon, copies=dimension)
        low = half_line_log_delta(noise, 1.0, epsilon, dimension)
        high = composed_log_delta(noise, 1.0, epsilon, dimension)
        shares = [(noise, 1.0, dimension)]
        assert low <= profile.log_upper + 1e-9
        assert event_log_delta(shares, epsilon) <= profile.log_upper + 1e-9
        assert composed_lower_bound(noise, 1.0, epsilon, dimension) <= high + 1e-9
        assert high >= profile.log_lower
        assert shared_log_delta(shares, epsilon) >= profile.log_lower


def test_one_coordinate_loses_nothing_above():
    high = composed_log_delta(FlippedHuber(2.0, 2.0), 1.0, 0.7, 1)
    assert high == pytest.approx(vector_profile(FlippedHuber(2.0, 2.0), 1.0, 0.7).log_upper)


def test_shares_of_different_noise():
    rng = np.random.default_rng(5)
    for _ in range(10):
        picked = [NOISES[k] for k in rng.choice(len(NOISES) - 2, 3)]
        sizes = rng.uniform(0.3, 2.0, 3).tolist()
        epsilon = float(rng.uniform(0.0, 3.0))
        profile = vector_profile(picked, sizes, epsilon)
        shares = [(noise, size, 1) for noise, size in zip(picked, sizes, strict=True)]
        assert shared_log_delta(shares, epsilon) >= profile.log_lower
        assert event_log_delta(shares, epsilon) <= profile.log_upper + 1e-9


def test_shares_of_epsilon_never_add_up_to_more():
    from fractions import Fraction

    for epsilon in (0.1, 0.3, 1.0, 1e-3, 7.7):
        for dimension in (3, 7, 10, 10**6):
            assert dimension * Fraction(equal_share(epsilon, dimension)) <= Fraction(epsilon)


def test_noise_beyond_the_range_of_the_profile_gets_the_trivial_bound():
    assert composed_log_delta(Laplace(1e12), 1.0, 1.0, 2) == 0.0
    assert half_line_log_delta(Laplace(1e-12), 1.0, 1.0, 2) == pytest.approx(
        math.log(1.0), abs=1e-9
    )
