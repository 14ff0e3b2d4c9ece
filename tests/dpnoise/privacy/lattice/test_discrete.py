"""Coordinates with discrete losses beside convolutions, and losses listed from a profile."""

import math

import numpy as np
import pytest

from dpnoise import (
    Gaussian,
    Laplace,
    Staircase,
    Subbotin,
    privacy_profile,
    vector_profile,
)
from dpnoise.noise import DiscreteGaussian, DiscreteLaplace, DiscreteStaircase
from dpnoise.privacy.lattice.bounds import lattice_bounds
from dpnoise.privacy.lattice.discrete import ListedLoss
from dpnoise.privacy.vector import profile_of_shares


def losses(noise, d):
    """Return the loss in integer units, the unit and the offset, with the masses."""
    k = np.arange(-300, 301)
    mass = noise.pmf(k)
    if isinstance(noise, DiscreteGaussian):
        return k, d / noise.sigma**2, 0.5 * d * d / noise.sigma**2, mass
    unit = 1.0 / noise.beta if isinstance(noise, DiscreteLaplace) else noise.epsilon
    steps = (noise.logpmf(k) - noise.logpmf(k + d)) / unit
    return np.rint(steps).astype(int), unit, 0.0, mass


def convolved(noise, d, copies, epsilon):
    """Return delta of several coordinates by convolution in doubles."""
    steps, unit, offset, mass = losses(noise, d)
    low = steps.min()
    one = np.bincount(steps - low, mass)
    total = np.ones(1)
    for _ in range(copies):
        total = np.convolve(total, one)
    loss = (np.arange(total.size) + copies * low) * unit + copies * offset
    return float(total @ np.maximum(-np.expm1(np.minimum(epsilon - loss, 0.0)), 0.0))


CASES = [
    (DiscreteGaussian(4.0), 1),
    (DiscreteGaussian(4.0), 3),
    (DiscreteGaussian(0.7), 2),
    (DiscreteLaplace(3.0), 1),
    (DiscreteLaplace(3.0), 2),
    (DiscreteLaplace(8.0), 5),
    (DiscreteStaircase(0.7, 5, 2), 5),
    (DiscreteStaircase(0.7, 5, 2), 3),
]


@pytest.mark.parametrize(("noise", "d"), CASES, ids=repr)
@pytest.mark.parametrize("copies", [2, 7])
def test_bounds_hold_and_are_close(noise, d, copies):
    for epsilon in (0.0, 0.3, 1.0, 2.5):
        found = vector_profile(noise, d, epsilon, copies=copies)
        wanted = convolved(noise, d, copies, epsilon)
        assert found.lower <= wanted * (1 + 1e-11) + 1e-14
        assert wanted <= found.upper * (1 + 1e-11) + 1e-14
        assert found.upper <= found.lower * (1 + 1e-8)


def test_far_tails_beside_rational_sums():
    """Two discrete Gaussian coordinates are one sum over the integers, here in logarithms."""
    sigma, epsilon = 2.0, 12.0
    noise = DiscreteGaussian(sigma)
    k = np.arange(-120, 121)
    total = np.logaddexp.reduce(
        noise.logpmf(k)[:, None] + noise.logpmf(np.arange(-240, 241) - k[:, None]), axis=0
    )
    loss = (np.arange(-240, 241) + 1.0) / sigma**2
    here = loss > epsilon
    wanted = np.logaddexp.reduce(total[here] + np.log(-np.expm1(epsilon - loss[here])))
    found = vector_profile(noise, 1, epsilon, copies=2)
    assert wanted < -100
    assert found.log_lower - 1e-9 <= wanted <= found.log_upper + 1e-9
    assert found.log_upper - found.log_lower < 1e-8


def test_mixtures_with_continuous_noise():
    noise = [DiscreteGaussian(4.0), DiscreteLaplace(3.0), Laplace(2.0), Gaussian(5.0)]
    sizes = [1, 2, 1.0, 1.0]
    some = vector_profile(noise, sizes, 1.5)
    assert 0 < some.lower <= some.upper <= some.lower * (1 + 1e-3)
    more = vector_profile(
        [*noise, Staircase(0.5, 1.0, 0.3), Subbotin(3.0, 4.0)], [*sizes, 1, 1], 1.5
    )
    assert more.lower > some.upper
    assert more.upper <= more.lower * (1 + 1e-3)


def test_the_lattice_agrees_with_closed_forms():
    """Staircases through the inversion of transforms and through the lattice."""
    for noise in (Staircase(0.5, 1.0, 0.3), Staircase(0.4, 2.0, 0.5)):
        closed = vector_profile(noise, 1.0, 1.0, copies=9)
        found = lattice_bounds([(noise, 1.0, 9)], 1.0)
        assert found.log_lower <= closed.log_upper
        assert closed.log_lower <= found.log_upper
        assert found.log_upper - found.log_lower < 1e-8


def test_what_is_out_of_reach_is_refused():
    with pytest.raises(ValueError, match=r"coordinate 1: expected integers.*got 0.5"):
        vector_profile([DiscreteGaussian(4.0), DiscreteLaplace(2.0)], [1, 0.5], 1.0)
    with pytest.raises(ValueError, match="values of the loss of DiscreteGaussian"):
        vector_profile(DiscreteGaussian(1e6), 1, 1.0, copies=2)
    with pytest.raises(ValueError, match=r"at most the width 3 of its steps, got 4"):
        vector_profile(DiscreteStaircase(1.0, 3, 1), 4, 1.0, copies=2)
    assert 0 < vector_profile(DiscreteGaussian(1e6), 1000, 0.001).upper < 1


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
