"""Mean absolute errors and half-widths against closed forms."""

import numpy as np
import pytest
from scipy import stats

from dpnoise import L2, AtMost, Box, Gaussian, Laplace, Product
from dpnoise.joint.noise import RadialNoise
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise


def test_independent_noise_has_closed_forms():
    noise = IndependentNoise(Gaussian(2.0), np.array([1.0, 0.0, 3.0]))
    mean, width = noise.mean_abs(), noise.half_width()
    assert np.allclose(mean, np.sqrt(2 / np.pi) * 2.0 * noise.scales)
    assert np.allclose(width, stats.norm.ppf(0.975) * 2.0 * noise.scales)


def test_half_widths_of_the_box_solve_their_equation():
    K, scale = 5, 0.7
    lambdas = (1.0, 0.3, 0.0, 2.0, 2.0, 5.0)
    width = RadialNoise(Box(lambdas), scale).half_width()
    for size, h in zip(lambdas, width, strict=True):
        if size == 0.0:
            assert h == 0.0
            continue
        # P(|R U| > t) = P(R > t) - t E (1 / R; R > t), R gamma with shape K + 1.
        t = h / (size * scale)
        tail = stats.gamma.sf(t, K + 1) - t / K * stats.gamma.sf(t, K)
        assert tail == pytest.approx(0.05, rel=0.02)


def test_every_factor_of_a_product_has_its_own_shape():
    ball = Product(L2(3.0, of=4), AtMost(2, of=5), Box((1.0, 9.0)))
    noise = RadialNoise(ball, 1.0)
    mean, width = noise.mean_abs(), noise.half_width()
    x = np.abs(noise.rvs(60_000, 77))
    assert np.allclose(mean, np.mean(x, axis=0), rtol=0.03)
    assert np.allclose(width, np.quantile(x, 0.95, axis=0), rtol=0.03)


def test_blocks_keep_their_places():
    first = IndependentNoise(Laplace(1.0), np.array([2.0, 4.0]))
    noise = BlockNoise(((np.array([3, 0]), first),), 4)
    mean = noise.mean_abs()
    assert mean.tolist() == [4.0, 0.0, 0.0, 2.0]
    assert noise.var().tolist() == [32.0, 0.0, 0.0, 8.0]
    x = noise.rvs(5, 1)
    assert np.all(x[:, 1:3] == 0.0)
    assert np.allclose(noise.logpdf(x), first.logpdf(x[:, [3, 0]]))
    assert noise.logpdf([0.0, 1.0, 0.0, 0.0]) == -np.inf
