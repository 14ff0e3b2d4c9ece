"""The expected largest entry of uniform points and of independent noise."""

import math

import numpy as np
import pytest
from scipy import special

from dpnoise import L1, L2, AtMost, Box, Budget, Counts, Ellipsoid, Gaussian, Laplace, LInf, Product
from dpnoise.joint.base import mean_largest
from dpnoise.joint.noise import RadialNoise
from dpnoise.noise.base import largest_uniform, mean_of_largest
from dpnoise.noise.exponential_power import TruncatedLaplace

SETS = [
    LInf(2.0, of=5),
    L1(2.0, of=7),
    L2(1.5, of=6),
    AtMost(3, of=12, each=2.0),
    AtMost(1, of=4),
    Box([1.0, 0.5, 0.1, 0.0]),
    Ellipsoid([1.0, 0.3, 0.0]),
    Product(LInf(1.0, of=2), Box([3.0, 0.1])),
    Counts(4, of=4, relation="replace-one"),
]


@pytest.mark.parametrize("ball", SETS, ids=repr)
def test_uniform_points_have_this_largest_entry_on_average(ball):
    z = np.abs(ball.sample(200_000, 3))
    for weights in (np.ones(ball.dimension), np.linspace(0.5, 1.0, ball.dimension)):
        value = mean_largest(ball, weights)
        if value is None:  # unequal weights of an l1 ball or of 'at most m'
            assert np.ptp(weights) > 0.0
            continue
        seen = np.max(weights * z, axis=1)
        assert abs(np.mean(seen) - value) < 5.0 * np.std(seen) / math.sqrt(len(seen))


@pytest.mark.parametrize("K", [1, 2, 30, 10**6])
def test_equal_sides_and_the_l1_ball_have_closed_forms(K):
    ones = np.ones(K)
    assert largest_uniform(3.0 * ones) == pytest.approx(3.0 * K / (K + 1.0), rel=1e-12)
    assert mean_largest(LInf(3.0, of=K), ones) == largest_uniform(3.0 * ones)
    harmonic = math.fsum(1.0 / k for k in range(1, K + 1))
    assert mean_largest(L1(2.0, of=K), ones) == pytest.approx(2.0 * harmonic / (K + 1.0), rel=1e-9)


@pytest.mark.parametrize("K", [1, 2, 10, 1000])
def test_independent_laplace_noise_has_the_harmonic_sum(K):
    """The largest of K exponential variates has the mean 1 + 1/2 + ... + 1/K."""
    harmonic = math.fsum(1.0 / k for k in range(1, K + 1))
    assert mean_of_largest(lambda t: np.exp(-t), np.full(K, 2.0)) == pytest.approx(
        2.0 * harmonic, rel=1e-9
    )


def test_two_gaussians_and_two_scales():
    """E max(|X|, s |Y|) = sqrt(2 / pi) sqrt(1 + s^2) for Gaussian X and Y."""
    for s in (1.0, 0.3, 1e-3):
        value = mean_of_largest(lambda t: special.erfc(t / math.sqrt(2.0)), np.array([1.0, s]))
        expected = math.sqrt(2.0 / math.pi) * math.sqrt(1.0 + s * s)
        assert value == pytest.approx(expected, rel=1e-6)


def test_coordinates_without_noise_do_not_count_and_jumps_are_integrated():
    noise = TruncatedLaplace(1.0, 1.5)
    tail = lambda t: 2.0 * noise.sf(t)  # noqa: E731
    assert mean_of_largest(tail, np.array([0.0, 2.0])) == pytest.approx(
        2.0 * noise.mean_abs(), rel=1e-6
    )
    assert mean_of_largest(tail, np.zeros(3)) == largest_uniform(np.zeros(3)) == 0.0
    many = mean_of_largest(tail, np.ones(10**6))
    assert 1.49 < many < 1.5
    for unit in (Gaussian(1.0), Laplace(1.0)):
        few = mean_of_largest(lambda t, u=unit: 2.0 * u.sf(t), np.linspace(0.1, 1.0, 3000))
        assert few > unit.mean_abs()


def test_a_product_is_a_box_where_all_blocks_are():
    assert Product(LInf(1.0, of=2), Box([3.0, 0.1])).cut == 4
    assert Product(LInf(1.0, of=2), L1(1.0, of=2)).cut == 0
    assert Product(L1(1.0, of=3)).cut == 1


def test_a_budget_counts_joint_noise_by_its_size_in_the_norm():
    """A set twice as large costs twice epsilon."""
    budget = Budget(5.0, relation="add-remove")
    budget.spend(RadialNoise(L1(1.0, of=3), 1.0), L1(2.0, of=3, relation="add-remove"))
    assert budget.epsilon_of(0.0) == pytest.approx(2.0, rel=1e-12)
