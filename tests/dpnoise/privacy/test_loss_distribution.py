"""Privacy loss distributions for dp_accounting: above the exact profile, and close to it."""

import numpy as np
import pytest

from dpnoise import (
    DiscreteGaussian,
    DiscreteStaircase,
    FlippedHuber,
    Gaussian,
    Laplace,
    OffsetSymmetricGaussian,
    Staircase,
    Subbotin,
    TruncatedLaplace,
    privacy_profile,
)
from dpnoise.privacy.odometer.accounts import loss_distribution

pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
NOISES = [
    Gaussian(4.0), Laplace(3.0), FlippedHuber(0.5, 3.0), Staircase(1.0, 1.0, 0.5),
    TruncatedLaplace(2.0, 20.0), Subbotin(1.5, 3.0), OffsetSymmetricGaussian(1.0, 2.0),
    DiscreteGaussian(4.0), DiscreteStaircase(1.0, 1, 1),
]  # fmt: skip


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_the_profile_is_above_the_exact_one_and_touches_it_at_the_points(noise):
    interval = 1e-2
    found = loss_distribution(noise, 1, interval=interval)
    epsilons = np.array([0.0, 0.003, 0.1, 0.25, 0.3333, 0.9999, 1.0, 2.0, 3.7])
    exact = privacy_profile(noise, 1, epsilons)
    ours = np.array([found.get_delta_for_epsilon(float(one)) for one in epsilons])
    assert np.all(ours >= exact * (1.0 - 1e-9))
    points = np.isclose(np.round(epsilons / interval) * interval, epsilons)
    assert ours[points] == pytest.approx(exact[points], rel=1e-9, abs=1e-14)


def test_a_finer_distribution_is_closer():
    exact = float(privacy_profile(Laplace(3.0), 1.0, 0.1234567))
    excess = [
        loss_distribution(Laplace(3.0), 1.0, interval=size).get_delta_for_epsilon(0.1234567) - exact
        for size in (1e-1, 1e-2, 1e-3)
    ]
    assert excess[0] > excess[1] > excess[2] >= 0.0


def test_bad_arguments_are_all_named():
    with pytest.raises(ValueError, match=r"sensitivity.*interval: expected .* got 0"):
        loss_distribution(Gaussian(4.0), -1.0, interval=0)
    with pytest.raises(ValueError, match=r"sensitivity: expected a finite number in \(0.*got 0"):
        loss_distribution(Gaussian(4.0), 0.0)
    with pytest.raises(ValueError, match="losses reach beyond 1000000 intervals"):
        loss_distribution(Gaussian(1e-3), 1.0)
