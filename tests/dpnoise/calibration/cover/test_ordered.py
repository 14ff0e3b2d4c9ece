"""The order of shapes: at equal density at 0 the heavier one has less density at every quantile."""

import math

import numpy as np
import pytest

from dpnoise import Gaussian, Laplace, Subbotin, TruncatedLaplace, vector_profile
from dpnoise.calibration.cover.ordered import ORDERED, OneShape, OrderedShapes

_PEAKS = {"uniform": 12.0**-0.5, "gaussian": (2.0 * math.pi) ** -0.5, "laplace": 0.5**0.5}


def at_quantiles(noise, levels):
    """Return the density where |T| exceeds with probability exp(-level)."""
    return noise.pdf(noise.isf(0.5 * np.exp(-levels)))


def places(rng):
    low, high = np.sort(rng.uniform(0.002, 0.998, 2))
    return float(low), float(high)


@pytest.mark.parametrize("kind", ORDERED)
def test_the_heavier_shape_disperses_more(kind):
    rng, shapes = np.random.default_rng(11), OrderedShapes(kind)
    levels = np.concatenate([np.geomspace(1e-6, 0.5, 40), np.linspace(0.6, 40.0, 120)])
    for _ in range(20):
        low, high = places(rng)
        light, heavy = shapes.member(low, 1.0), shapes.member(high, 1.0)
        light = light.scaled(float(light.pdf(0.0)))  # density 1 at 0
        heavy = heavy.scaled(float(heavy.pdf(0.0)))
        before, after = at_quantiles(light, levels), at_quantiles(heavy, levels)
        assert np.all(after <= before * (1.0 + 1e-9)), (low, high)
        assert heavy.var() >= light.var() * (1.0 - 1e-12)


@pytest.mark.parametrize("kind", ORDERED)
def test_the_peak_rises_between_those_of_the_limits(kind):
    shapes = OrderedShapes(kind)
    grid = np.linspace(0.0, 1.0, 101)
    peaks = np.array([shapes._peak(float(place)) for place in grid])
    assert np.all(np.diff(peaks) >= -1e-13)
    lightest = "uniform" if kind in (Subbotin, TruncatedLaplace) else "gaussian"
    assert peaks[0] == pytest.approx(_PEAKS[lightest], rel=1e-15)
    assert peaks[-1] == pytest.approx(_PEAKS["laplace"], rel=1e-15)
    assert peaks[1] == pytest.approx(peaks[0], rel=2e-2)


@pytest.mark.parametrize("kind", ORDERED)
def test_one_noise_is_more_private_than_all_members(kind):
    rng, shapes = np.random.default_rng(5), OrderedShapes(kind)
    for _ in range(4):
        low, high = places(rng)
        variance = float(rng.uniform(0.3, 30.0))
        noise = shapes.dominating(low, high, variance)
        epsilon = np.array([0.0, 0.1, 1.0, 3.0])
        copies = 1 if kind.__name__ == "Subbotin" else 3
        lower = vector_profile(noise, 1.0, epsilon, copies=copies).log_lower
        for place in np.append(rng.uniform(low, high, 3), [low, high]):
            member = shapes.member(float(place), variance * float(rng.uniform(0.5, 1.0)))
            upper = vector_profile(member, 1.0, epsilon, copies=copies).log_upper
            assert np.all(lower <= upper), (low, high, place)


def test_limits_of_an_interval():
    for kind in ORDERED:
        shapes = OrderedShapes(kind)
        assert shapes.dominating(0.5, 1.0, 2.0).__class__ is Laplace
        ends = {shapes.shape(0.0), shapes.shape(1.0)}
        assert ends in ({0.0, math.inf}, {1.0, 1e3})
        assert shapes.dominating(0.25, 0.25, 2.0).var() == pytest.approx(2.0, rel=1e-8)


def test_a_scale_is_one_interval():
    for kind in (Gaussian, Laplace):
        shapes = OneShape(kind)
        assert shapes.intervals == 1
        noise = shapes.dominating(0.0, 1.0, 4.0)
        assert 4.0 < noise.var() <= 4.0 * (1.0 + 2e-9)
        assert shapes.member(0.5, 4.0).var() == pytest.approx(4.0, rel=1e-15)
        assert shapes.shape(0.5) == 0.0
