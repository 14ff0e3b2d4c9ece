"""Searches for joint noise: exact scales, optima against dense scans, verified results only."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpnoise import L2, LInf
from dpnoise.joint.profile import radial_delta_bounds, radial_delta_estimate
from dpnoise.joint.radial import RadialNoise
from dpnoise.joint.search import (
    Search,
    best_gamma,
    best_power,
    minimum,
    pure_scale,
    truncated_scale,
)
from dpnoise.joint.staircase import staircase_layer_moment


def test_pure_scales_are_private_and_no_smaller_double_is():
    for epsilon in np.random.default_rng(3).uniform(0.001, 50.0, 200):
        scale = pure_scale(float(epsilon))
        assert Fraction(scale) * Fraction(float(epsilon)) >= 1
        assert Fraction(math.nextafter(scale, 0.0)) * Fraction(float(epsilon)) < 1


@pytest.mark.parametrize("K", [1, 3, 40])
@pytest.mark.parametrize("epsilon", [0.1, 3.0, 60.0])
def test_gamma_against_a_dense_scan(K, epsilon):
    low = -max(3.0, epsilon)
    scan = [staircase_layer_moment(K, epsilon, math.exp(x)) for x in np.linspace(low, -1e-6, 2000)]
    assert staircase_layer_moment(K, epsilon, best_gamma(K, epsilon)) <= min(scan) * (1 + 1e-6)


@pytest.mark.parametrize(("K", "delta"), [(2, 0.1), (20, 1e-6)])
def test_power_and_bound_against_scans(K, delta):
    search = Search(L2(1.0, of=K), 1.0, delta)

    def variance(power):
        return search.scales(power)(search.scale(power)).layer_moment(2)

    scan = [variance(p) for p in (1.01, 1.03, 1.1, 1.2, 1.5, 2.0, 3.0, 6.0, 12.0)]
    assert variance(best_power(search)) <= min(scan) * (1 + 1e-5)

    def truncated(scale):
        return search.bounds(scale)(search.bound(scale)).layer_moment(2)

    scale = truncated_scale(search, 1.0)
    assert truncated(scale) <= min(map(truncated, (1.0, 1.2, 2.0, 3.9))) * (1 + 1e-5)


@pytest.mark.parametrize("ball", [LInf(1.0, of=7), L2(1.0, of=7)], ids=str)
@pytest.mark.parametrize(("power", "bound"), [(1.0, math.inf), (1.0, 20.0), (1.4, math.inf)])
def test_estimates_are_close_to_the_bounds(ball, power, bound):
    noise = RadialNoise(ball, 1.5, power, bound)
    lower, upper = radial_delta_bounds(noise, 0.5, cells=2**16)
    assert lower * (1 - 1e-4) <= radial_delta_estimate(noise, 0.5) <= upper * (1 + 1e-4)


def test_the_smallest_value_seen_is_returned():
    assert abs(minimum(lambda x: (x - 0.3) ** 2, np.linspace(-1.0, 1.0, 5)) - 0.3) < 1e-3
    assert minimum(lambda x: x, np.array([0.0, 1.0])) < 1e-3
    assert minimum(lambda x: math.inf if x > 0 else -x, np.array([-1.0, 0.0, 1.0])) == 0.0


def test_a_delta_out_of_reach_raises():
    search = Search(L2(1.0, of=3), 0.0, 1e-6)
    with pytest.raises(RuntimeError):  # no bound makes up for a scale that is too small
        search.bound(1e-3)


def test_delta_is_used_next_to_pure_noise():
    """In two coordinates the (epsilon, 0)-DP scale is 0.07 % away, closer than the probe's step."""
    search = Search(L2(1.0, of=2), 1.0, 1e-5)
    noise, lower, upper = search.certified(search.scales(1.0), search.scale(1.0))
    assert lower <= upper <= 1e-5
    assert 0.999 < noise.scale < 0.9994
