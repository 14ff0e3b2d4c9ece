"""The smooth estimate of log delta and its slopes, against the certified profile."""

import numpy as np
import pytest
from scipy import special

from dpnoise import FlippedHuber, Gaussian, Huber, Laplace, TruncatedLaplace, vector_profile
from dpnoise.allocation.gradient import log_delta_and_slopes
from dpnoise.allocation.groups import absolute_moment, tail_slope
from dpnoise.privacy.gaussian import gaussian_log_delta

GROUPS = [
    [Laplace(2.0), Laplace(3.1), Laplace(7.7)],
    [FlippedHuber(2.0, 2.0), Gaussian(3.0), Laplace(4.0)],
    [Huber(1.0, 2.0), FlippedHuber(1.0, 4.0)],
]


@pytest.mark.parametrize("noises", GROUPS)
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_agrees_with_the_exact_profile(noises, epsilon):
    counts = np.array([2, 1, 3][: len(noises)])

    def exact(x):
        scaled = [noise.scaled(float(np.exp(s))) for noise, s in zip(noises, x, strict=True)]
        every = [noise for noise, n in zip(scaled, counts, strict=True) for _ in range(n)]
        return float(vector_profile(every, [1.0] * len(every), epsilon, rtol=1e-6).log_estimate)

    found = log_delta_and_slopes(noises, np.ones(len(noises)), counts, epsilon)
    assert found.log_delta == pytest.approx(exact(np.zeros(len(noises))), abs=0.01)
    for k, step in enumerate(1e-2 * np.eye(len(noises))):
        slope = (exact(step) - exact(-step)) / 2e-2
        assert found.slopes[k] == pytest.approx(slope, rel=0.02)


def test_gaussian_noise_is_almost_exact():
    mu2 = np.array([0.3, 0.1])
    noises = [Gaussian(m**-0.5) for m in mu2]
    found = log_delta_and_slopes(noises, np.ones(2), np.ones(2), 1.0)
    total = mu2.sum()
    log_delta, above, below = gaussian_log_delta(
        np.sqrt([total, total * 1.001, total / 1.001]), 1.0
    )
    slope = (above - below) / np.log(1.001) * -mu2 / total
    assert found.log_delta == pytest.approx(log_delta, abs=0.01)
    np.testing.assert_allclose(found.slopes, slope, rtol=0.01)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, 20.0, 64.0])
def test_absolute_moments(p):
    laplace, normal = absolute_moment(Laplace(3.0), p), absolute_moment(Gaussian(3.0), p)
    assert laplace == pytest.approx(special.gamma(p + 1) * 3.0**p, rel=1e-9)
    expected = 6.0**p * 2.0 ** (-p / 2) * special.gamma((p + 1) / 2) / np.sqrt(np.pi)
    assert normal == pytest.approx(expected, rel=1e-9)
    bound = absolute_moment(TruncatedLaplace(1e6, 2.0), p)  # almost uniform
    assert bound == pytest.approx(2.0**p / (p + 1), rel=1e-5)


def test_the_slope_of_a_bounded_loss_is_the_limit_of_the_log_density():
    for noise in (Laplace(0.7), Huber(1.3, 2.0)):
        drop = noise.logpdf(1e6) - noise.logpdf(1e6 + 10.0)
        assert tail_slope(noise) == pytest.approx(float(drop) / 10.0, rel=1e-9)
    assert tail_slope(Gaussian(1.0)) == np.inf
