"""Noise on the integers for unequal coordinates: the budget kept, continuous proportions."""

import math

import numpy as np
import pytest

from dpnoise import DiscreteGaussian, DiscreteLaplace, allocate, calibrate, vector_profile
from dpnoise.allocation import integers

SIZES = [1, 4, 4, 0, 9]
KINDS = {"discrete-gaussian": DiscreteGaussian, "discrete-laplace": DiscreteLaplace}


@pytest.mark.parametrize(
    ("noise", "scheme"),
    [
        ("discrete-gaussian", "optimal"),
        ("discrete-laplace", "spr"),
        ("discrete-laplace", "iid"),
    ],
)
def test_the_budget_is_kept_and_used(noise, scheme):
    epsilon, delta = 1.0, 1e-3
    found = allocate(SIZES, noise=noise, scheme=scheme, epsilon=epsilon, delta=delta)
    smooth = allocate(SIZES, noise=noise[9:], scheme=scheme, epsilon=epsilon, delta=delta)
    some = smooth > 0
    assert found[~some].tolist() == [0.0]
    assert np.ptp(found[some] / smooth[some]) < 1e-12
    assert found[some] == pytest.approx(smooth[some], rel=0.02)

    def profile(factor):
        kept = [(KINDS[noise](factor * s), d) for s, d in zip(found, SIZES, strict=True) if d]
        return vector_profile(*zip(*kept, strict=True), epsilon)

    assert profile(1.0).upper <= delta
    assert profile(1.0 - 1e-4).upper > delta


def test_equal_coordinates_are_calibrated_noise():
    found = allocate([2, 2, 2], noise="discrete-gaussian", epsilon=1.0, delta=1e-6)
    same = calibrate("discrete-gaussian", epsilon=1.0, delta=1e-6, sensitivity=2, dimension=3)
    assert found == pytest.approx([same.noise.sigma] * 3, rel=1e-6)
    again = allocate([2], noise="discrete-gaussian", epsilon=1.0, delta=1e-6, compositions=3)
    assert again == pytest.approx(found[:1], rel=1e-6)


def test_without_delta_losses_add_up_to_epsilon():
    scales = allocate([1, 4, 9], noise="discrete-laplace", epsilon=0.7)
    assert np.array_equal(scales, allocate([1, 4, 9], noise="laplace", epsilon=0.7))
    assert math.fsum(np.array([1, 4, 9]) / scales) == pytest.approx(0.7, rel=1e-11)
    assert allocate([0, 0], noise="discrete-laplace", epsilon=0.7).tolist() == [0.0, 0.0]


def test_bad_requests_are_refused(monkeypatch):
    for noise in KINDS:
        with pytest.raises(ValueError, match=r"integers below 2\^53.*got \[1.5\]"):
            allocate([1.5, 2.0], noise=noise, epsilon=1.0, delta=1e-6)
    with pytest.raises(ValueError, match="sensitivities: expected finite numbers"):
        allocate(["a"], noise="discrete-laplace", epsilon=1.0)
    with pytest.raises(ValueError, match="'discrete-laplace', log-concave"):
        allocate([1], noise="discrete", epsilon=1.0)
    with pytest.raises(ValueError, match="different pairs of sensitivity and scale"):
        allocate(np.arange(1, 90), noise="discrete-gaussian", epsilon=1.0, delta=1e-6)
    with pytest.raises(ValueError, match="beta: expected"):
        allocate([10**14], noise="discrete-laplace", epsilon=1e-3)
    monkeypatch.setattr(integers, "smallest_scale", lambda *_: math.inf)
    with pytest.raises(RuntimeError, match="no scales of discrete-gaussian noise"):
        allocate([1, 2], noise="discrete-gaussian", epsilon=1.0, delta=1e-6)
