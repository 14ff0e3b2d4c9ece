"""Profiles for many parameters at once, against the definition at high precision."""

import numpy as np
import pytest

from dpnoise.calibration import scalar_profiles as module
from dpnoise.noise import FlippedHuber, OffsetSymmetricGaussian, TruncatedLaplace
from exact_profile import exact_log_delta

CASES = {
    "flipped-huber": (module.flipped_huber_log_delta, lambda b: FlippedHuber(b, 1.0)),
    "offset": (module.offset_gaussian_log_delta, lambda b: OffsetSymmetricGaussian(b, 1.0)),
    "truncated": (module.truncated_laplace_log_delta, lambda b: TruncatedLaplace(1.0, b)),
}


def draw(rng, count):
    """Yield shapes, shifts and epsilons in all regions of Table I, some of them at their edges."""
    for k in range(count):
        b, d = 10 ** rng.uniform(-3, 1.7), 10 ** rng.uniform(-3, 1.4)
        edge = b * d * rng.uniform(0.5, 1.5), d * d * rng.uniform(0.0, 0.6), d * (2 * b + d) / 2
        yield b, d, [0.0, 10 ** rng.uniform(-3, 1.3), *edge][k % 5]


@pytest.mark.parametrize("name", CASES)
def test_log_delta_agrees_with_the_definition(name):
    log_delta, make = CASES[name]
    cases = np.array(list(draw(np.random.default_rng(11), 60)))
    found, _ = log_delta(*cases.T)
    for (b, d, epsilon), value in zip(cases, found, strict=True):
        exact = float(exact_log_delta(make(b), d, epsilon))
        assert abs(value - exact) <= 2e-13 * max(1.0, abs(exact)), (b, d, epsilon)


@pytest.mark.parametrize("name", CASES)
def test_slope_is_the_derivative_in_log_d(name):
    log_delta, _ = CASES[name]
    b, d, epsilon = np.array(list(draw(np.random.default_rng(12), 200))).T
    step = 1e-6
    up, down = (log_delta(b, d * np.exp(s), epsilon)[0] for s in (step, -step))
    value, slope = log_delta(b, d, epsilon)
    difference = (up - down) / (2 * step)
    # Not beside kinks, where the derivative jumps, nor where delta is 1 up to rounding.
    one_sided = np.abs(up - 2.0 * value + down) / step
    smooth = (one_sided < 1e-4 * slope) & (value > -200.0) & (slope > 1e-5)
    assert smooth.sum() > 100
    np.testing.assert_allclose(slope[smooth], difference[smooth], rtol=1e-4)


@pytest.mark.parametrize(
    ("variance", "make"),
    [
        (module.offset_gaussian_variance, CASES["offset"][1]),
        (module.truncated_laplace_variance, CASES["truncated"][1]),
    ],
)
def test_variances_are_those_of_the_families(variance, make):
    shapes = np.geomspace(1e-4, 1e4, 60)
    expected = [make(b).var() for b in shapes]
    np.testing.assert_allclose(variance(shapes), expected, rtol=2e-13)


def test_zero_offset_is_the_gaussian():
    d, epsilon = np.array([1e-3, 0.5, 3.0]), np.array([1e-3, 0.5, 2.0])
    a, _ = module.flipped_huber_log_delta(0.0, d, epsilon)
    b, _ = module.offset_gaussian_log_delta(0.0, d, epsilon)
    exact = [
        float(exact_log_delta(FlippedHuber(0.0, 1.0), *c)) for c in zip(d, epsilon, strict=True)
    ]
    np.testing.assert_allclose([a, b], [exact, exact], rtol=1e-12)
