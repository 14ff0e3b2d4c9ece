"""Profiles of discrete Laplace and discrete staircase noise against sums at 50 digits."""

import math

import mpmath as mp
import numpy as np
import pytest

from dpnoise import epsilon_at, privacy_profile, zcdp
from dpnoise.noise import DiscreteGaussian, DiscreteLaplace, DiscreteStaircase

NOISE = [
    DiscreteLaplace(0.05),
    DiscreteLaplace(1.0),
    DiscreteLaplace(4.0),
    DiscreteStaircase(0.25, 1, 1),
    DiscreteStaircase(0.5, 4, 1),
    DiscreteStaircase(0.5, 4, 3),
]


def exact(noise, d, epsilon):
    """Return delta by adding up (p(k) - e^epsilon p(k + d))_+."""
    with mp.workdps(50):

        def log_weight(k):
            k = abs(k)
            if isinstance(noise, DiscreteLaplace):
                return -k / mp.mpf(noise.beta)
            steps, rest = divmod(k, noise.sensitivity)
            return -mp.mpf(noise.epsilon) * (steps + (rest >= noise.r))

        reach = int(60 * max(noise.mean_abs(), 1.0))
        p = {k: mp.exp(log_weight(k)) for k in range(-reach, reach + 1)}
        total, e = mp.fsum(p.values()), mp.exp(mp.mpf(epsilon))
        terms = (max(p[k] - e * p[k + d], 0) for k in range(-reach, reach - d))
        return mp.fsum(terms) / total


@pytest.mark.parametrize("noise", NOISE, ids=repr)
def test_delta_holds_to_1e_11_also_at_ties(noise):
    step = 1 / noise.beta if isinstance(noise, DiscreteLaplace) else noise.epsilon
    for d in (1, 2, 3, 4, 6):
        losses = [0.0, 0.3 * step, step, 1.5 * step, 2 * step, (d - 0.001) * step, d * step]
        for epsilon in {*losses, math.nextafter(step, 0.0), math.nextafter(step, 9.0)}:
            wanted, found = exact(noise, d, epsilon), privacy_profile(noise, d, epsilon)
            # What is left over of a tie at 50 digits is no delta.
            assert abs(found - wanted) <= 1e-11 * wanted + 1e-18


@pytest.mark.parametrize("noise", NOISE, ids=repr)
def test_epsilon_is_on_the_private_side(noise):
    for d in (1, 3):
        for delta in (0.0, 1e-9, 0.01):
            epsilon = float(epsilon_at(noise, d, delta))
            assert privacy_profile(noise, d, epsilon) <= delta
            if epsilon > 0:
                assert privacy_profile(noise, d, epsilon * (1 - 1e-9)) > delta


def test_pure_epsilon_is_exact():
    assert epsilon_at(DiscreteLaplace(4.0), 3, 0.0) == 0.75
    assert privacy_profile(DiscreteLaplace(4.0), 3, 0.75) == 0.0
    assert privacy_profile(DiscreteLaplace(4.0), 3, math.nextafter(0.75, 0.0)) > 0.0
    assert epsilon_at(DiscreteStaircase(0.5, 4, 2), 4, 0.0) == 0.5
    assert epsilon_at(DiscreteStaircase(0.5, 4, 2), 5, 0.0) == 1.0


@pytest.mark.parametrize("noise", [DiscreteGaussian(4.0), NOISE[2], NOISE[4]], ids=repr)
def test_sensitivities_that_are_no_integers_are_refused(noise):
    for bad in (math.sqrt(3.0), 0.5, 2.0**60):
        for call in (
            lambda size: epsilon_at(noise, size, 1e-6),
            lambda size: privacy_profile(noise, size, 1.0),
            lambda size: zcdp(noise, size),
        ):
            with pytest.raises(ValueError, match="sensitivity: expected integers below"):
                call(bad)
    assert zcdp(noise, 4) == (
        (0.0, 0.5) if isinstance(noise, DiscreteGaussian) else (epsilon_at(noise, 4, 0.0), 0.0)
    )
    assert np.isfinite(privacy_profile(noise, [0, 1, 2], 0.1)).all()
