"""Slopes of delta, estimated, agree with the two-sided account."""

import numpy as np
import pytest

from dpnoise import (
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    vector_profile,
)
from dpnoise.privacy.inversion import trapezoid

GROUPS = [
    [Laplace(2.0), Laplace(3.1), Laplace(7.7)],
    [FlippedHuber(2.0, 2.0), Gaussian(3.0), Laplace(4.0)],
    [Huber(1.0, 2.0), FlippedHuber(1.0, 4.0)],
]


@pytest.mark.parametrize("noises", GROUPS)
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_slopes_agree_with_the_exact_profile(noises, epsilon):
    counts = np.array([2, 1, 3][: len(noises)])

    def exact(x):
        scaled = [noise.scaled(float(np.exp(s))) for noise, s in zip(noises, x, strict=True)]
        every = [noise for noise, n in zip(scaled, counts, strict=True) for _ in range(n)]
        return float(vector_profile(every, [1.0] * len(every), epsilon, rtol=1e-6).log_estimate)

    found = trapezoid.log_delta_and_slopes(noises, np.ones(len(noises)), counts, epsilon)
    assert found.log_delta == pytest.approx(exact(np.zeros(len(noises))), abs=0.01)
    for k, step in enumerate(1e-2 * np.eye(len(noises))):
        slope = (exact(step) - exact(-step)) / 2e-2
        assert found.slopes[k] == pytest.approx(slope, rel=0.02)
