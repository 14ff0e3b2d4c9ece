"""Moments over a shifted sphere: against sums over the angle and arbitrary precision."""

import math

import numpy as np
import pytest
from flint import arb, ctx

from dpnoise.optimality.graded_sphere import _moments, incoming, staying
from dpnoise.optimality.radial_test import rounding, sphere_cdf


def sphere(K, steps=200_001):
    """Return masses and middles of cells of X = 1 + U_1."""
    edges = 1.0 - np.cos(np.linspace(0.0, math.pi, steps))
    return np.diff(sphere_cdf(K, edges)), 0.5 * (edges[1:] + edges[:-1])


@pytest.mark.parametrize("K", [2, 3, 12])
@pytest.mark.parametrize("R", [0.3, 0.75, 1.0, 1.25, 2.6875, 7.5])
def test_weights_give_the_mean_of_piecewise_linear_functions(K, R):
    rng, per, offsets = np.random.default_rng(3), 4, np.array([0.0, 0.3, 0.75, 0.99])
    nodes = rng.exponential(size=60)
    weights, first, error = incoming(K, np.array([R]), per, offsets)
    found = weights[0] @ nodes[first[0] + np.arange(per + 3)]
    mass, x = sphere(K)
    rho = np.sqrt((R - 1.0) ** 2 + 2.0 * R * x)
    values = np.interp(rho**2, (np.arange(60) / per) ** 2, nodes)
    exact = [mass @ (values * (rho < R - o)) for o in offsets]
    assert np.allclose(found, exact, atol=2e-5)
    assert np.min(weights) >= -np.max(error)
    stay = staying(K, np.array([R]), offsets)[0]
    distance = np.sqrt((R + 1.0) ** 2 - 2.0 * R * x)
    assert np.allclose(stay, [mass @ (distance > R + o) for o in offsets], atol=2e-5)


@pytest.mark.parametrize("K", [2, 3, 10])
def test_moments_are_within_the_rounding_allowed(K):
    half = arb(K - 1) / 2
    for x in (1e-9, 1e-3, 0.2, 1.0, 1.7):
        with ctx.workprec(500):
            exact = [(arb(x) / 2).beta_lower(half + more, half, True) for more in (0, 1)]
            found = [float(value) for value in _moments(K, np.array(x))]
            for number, value in zip(found, exact, strict=True):
                assert abs(float(arb(number) - value)) <= 0.1 * rounding(K) * float(value)


def test_share_that_stays_falls_with_the_radius():
    R = np.linspace(0.01, 20.0, 2000)
    stay = staying(2, R, np.array([0.0, 0.5, 0.999]))
    assert np.all(np.diff(stay, axis=0) <= 1e-15)
    assert np.all(stay[R < 0.0005] == 1.0)
