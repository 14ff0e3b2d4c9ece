"""Profiles of noise on the integers against sums at 80 digits, also at ties."""

import math
from fractions import Fraction
from functools import cache

import mpmath as mp
import numpy as np
import pytest

from dpnoise import epsilon_at, privacy_profile, vector_profile, zcdp
from dpnoise.noise import DiscreteGaussian, DiscreteLaplace, DiscreteStaircase
from dpnoise.privacy.integers import IntegerShift
from dpnoise.privacy.profile import log_privacy_profile
from exact_noise import exact_noise
from for_all import thinned

NOISE = [
    DiscreteLaplace(0.05),
    DiscreteLaplace(1.0),
    DiscreteLaplace(4.0),
    DiscreteStaircase(0.25, 1, 1),
    DiscreteStaircase(0.5, 4, 1),
    DiscreteStaircase(0.5, 4, 3),
]


reference = cache(exact_noise)  # which keeps its weights


def loss_at(noise, k, d):
    """The loss at k under a shift by d, as a rational number."""
    return reference(noise).loss(k, d)


def exact_delta(noise, d, epsilon):
    with mp.workdps(80):
        return reference(noise).delta(d, epsilon)


def on_the_private_side(noise, d, epsilon):
    wanted = exact_delta(noise, d, epsilon)
    if 0 < wanted < 1e-300:  # no double
        return
    found = float(privacy_profile(noise, d, epsilon))
    assert wanted * (1 - mp.mpf(10) ** -60) <= found <= wanted * (1 + mp.mpf(10) ** -12)
    if wanted == 0:
        return
    bounds = vector_profile(noise, d, epsilon)
    assert bounds.lower <= wanted * (1 + mp.mpf(10) ** -60)
    assert wanted <= bounds.upper


def near(value):
    """A double and its neighbours."""
    x = float(value)
    return x, math.nextafter(x, 0.0), math.nextafter(x, math.inf)


@pytest.mark.parametrize("sigma", thinned([0.05, 0.25, 0.5, 2.3, 0.5541511132371428, 1.0]))
def test_discrete_gaussian_noise_where_epsilon_is_a_loss(sigma):
    noise = DiscreteGaussian(sigma)
    for d in (1, 2, 7):
        for k in {-(d // 2), 0, 1, int(3 * sigma), int(9 * sigma)}:
            for epsilon in near(max(loss_at(noise, k, d), 0)):
                on_the_private_side(noise, d, epsilon)


@pytest.mark.parametrize("beta", thinned([0.05, 1.0, 1.0 / 3.0, 4.0, 2.718]))
def test_discrete_laplace_noise_where_epsilon_is_a_loss(beta):
    noise = DiscreteLaplace(beta)
    for d in (1, 2, 5):
        for k in range(-d // 2, 1):
            for epsilon in near(max(loss_at(noise, k, d), 0)):
                on_the_private_side(noise, d, epsilon)


@pytest.mark.parametrize("steps", [(0.25, 1, 1), (3.0, 2, 2)])
def test_discrete_staircase_noise_where_epsilon_is_a_loss(steps):
    noise = DiscreteStaircase(*steps)
    for d in (1, 3, 6):
        for number in range(-(-d // steps[1]) + 1):
            for epsilon in near(number * Fraction(noise.epsilon)):
                on_the_private_side(noise, d, epsilon)


def test_random_parameters_give_no_delta_below_the_truth():
    rng = np.random.default_rng(5)
    for _ in range(60):
        noise = DiscreteGaussian(float(rng.uniform(0.1, 1.5)))
        d = int(rng.integers(1, 5))
        loss = loss_at(noise, int(rng.integers(0, 9)), d)
        on_the_private_side(noise, d, float(loss) * float(rng.choice([1.0, rng.uniform(0.9, 1)])))


def test_the_first_integer_above_epsilon_is_exact():
    noise = DiscreteGaussian(1e6 + 0.1)
    for d, k in ((1, 10**6), (12345, 3 * 10**7), (2**40, 5)):
        for epsilon in near(loss_at(noise, k, d)):
            first, gap = IntegerShift(noise, Fraction(d))._first_above(np.array([epsilon]))
            above = loss_at(noise, int(first[0]), d) - Fraction(epsilon)
            assert above > 0 >= loss_at(noise, int(first[0]) - 1, d) - Fraction(epsilon)
            assert gap[0] == float(above)
    far = log_privacy_profile(noise, 1, [1e90, 1e100])
    assert np.all(np.isfinite(far) | np.isneginf(far))


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
    xi, rho = zcdp(noise, 4)
    # below e tanh(e / 2), which is the rho of randomized response, where all is e-private
    largest = epsilon_at(noise, 4, 0.0)
    assert xi == 0.0
    assert 0.0 < rho <= 0.5 if math.isinf(largest) else 0.0 < rho < largest * math.tanh(largest / 2)
    assert np.isfinite(privacy_profile(noise, [0, 1, 2], 0.1)).all()
