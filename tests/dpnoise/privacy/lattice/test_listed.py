"""Listed losses: above the profile that they come from, randomized response, composition."""

import math

import numpy as np
import pytest

from dpnoise import Gaussian, Laplace, privacy_profile, vector_profile
from dpnoise.privacy.lattice.listed import ListedLoss
from dpnoise.privacy.vector import profile_of_shares


def of_noise(noise, size, epsilons):
    return ListedLoss(tuple(epsilons), tuple(privacy_profile(noise, size, epsilons).tolist()))


@pytest.mark.parametrize(("noise", "size"), [(Gaussian(2.0), 1.0), (Laplace(1.5), 1.0)])
@pytest.mark.parametrize("count", [1, 2, 9, 400])
def test_it_is_nowhere_below_the_profile_and_meets_it_at_the_points(noise, size, count):
    at = np.linspace(0.0, 2.0, count + 1)[1:] + 0.01
    found = of_noise(noise, size, at)
    epsilon = np.linspace(0.0, 3.0, 301)
    exact = privacy_profile(noise, size, epsilon)
    assert np.all(np.exp(found.log_delta(epsilon)) >= exact)
    points = privacy_profile(noise, size, at)
    some = points > 0.0
    assert np.allclose(np.exp(found.log_delta(at))[some], points[some], rtol=1e-9)


def test_the_masses_are_a_pair_of_distributions():
    found = of_noise(Gaussian(2.0), 1.0, np.linspace(0.01, 3.0, 200)).discrete
    p, infinite = np.exp(found.log_masses), math.exp(found.log_infinite)
    assert math.fsum(p) + infinite == pytest.approx(1.0, abs=1e-10)
    assert math.fsum(p * np.exp(-found.values)) + infinite == pytest.approx(1.0, abs=1e-10)
    assert np.all(np.diff(found.values) > 0.0)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
def test_one_point_is_randomized_response(epsilon):
    top = math.tanh(0.5 * epsilon)
    found = ListedLoss((1e-9, epsilon), (top, 0.0))
    assert math.exp(float(found.log_delta(np.array(0.0)))) == pytest.approx(top, rel=1e-8)
    assert found.largest_loss(1.0) == epsilon
    p = math.exp(epsilon) / (1.0 + math.exp(epsilon))
    n = np.arange(8)
    mass = np.array([math.comb(7, k) * p**k * (1 - p) ** (7 - k) for k in n])
    for at in (0.1, 1.5):
        gain = np.maximum(-np.expm1(at - epsilon * (2.0 * n - 7)), 0.0)
        exact = float(np.sum(mass * gain))
        upper = float(profile_of_shares({(found, 1.0): 7}, np.array(at)).upper)
        assert exact * (1 - 1e-12) <= upper <= exact * (1 + 1e-3)


def test_composed_it_stays_above_and_is_close():
    at = np.linspace(0.005, 4.0, 800)
    found = of_noise(Gaussian(3.0), 1.0, at)
    epsilon = np.array([0.5, 1.0, 2.0])
    exact = vector_profile(Gaussian(3.0), 1.0, epsilon, copies=5)
    upper = profile_of_shares({(found, 1.0): 5}, epsilon).upper
    assert np.all((exact.lower <= upper) & (upper <= exact.upper * 1.001))
    mixed = profile_of_shares({(found, 1.0): 2, (Gaussian(3.0), 1.0): 3}, epsilon).upper
    assert np.all((exact.lower <= mixed) & (mixed <= exact.upper * 1.001))


def test_points_that_are_no_convex_function_only_cost_tightness():
    at = np.linspace(0.05, 3.0, 60)
    exact = privacy_profile(Gaussian(1.5), 1.0, at)
    wiggly = np.minimum(exact * (1.0 + 0.2 * (np.arange(60) % 2)), 1.0)
    found = ListedLoss(tuple(at), tuple(wiggly))
    epsilon = np.linspace(0.0, 3.0, 200)
    assert np.all(np.exp(found.log_delta(epsilon)) >= privacy_profile(Gaussian(1.5), 1.0, epsilon))


def test_bad_lists_are_refused():
    with pytest.raises(ValueError, match=r"epsilons: expected.*deltas: expected"):
        ListedLoss((0.0, 1.0), (0.5, 2.0))
    with pytest.raises(ValueError, match="rising values"):
        ListedLoss((1.0, 0.5), (0.5, 0.2))
    with pytest.raises(ValueError, match="lists of one length"):
        ListedLoss((1.0,), (0.5, 0.2))
