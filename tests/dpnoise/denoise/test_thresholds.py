"""Soft thresholds: optimality, risk estimates and refusals."""

import numpy as np
import pytest
from scipy import optimize, stats

from dpnoise.denoise.thresholds import (
    soft_threshold,
    soft_threshold_sure,
    sure_threshold,
    universal_threshold,
)

SIGMA = 1.7


@pytest.mark.parametrize("t", [0.5, 3.0])
def test_sure_is_unbiased(t):
    """Four standard errors: a false alarm once in 16,000 for each of two."""
    rng = np.random.default_rng(13)
    f = np.where(np.arange(20) < 4, 5.0, 0.3)
    y = f + SIGMA * rng.normal(size=(50_000, 20))
    excess = soft_threshold_sure(y, SIGMA, t) - np.sum((soft_threshold(y, t) - f) ** 2, axis=1)
    assert abs(np.mean(excess)) < 4 * np.std(excess) / np.sqrt(len(excess))


@pytest.mark.parametrize("t", [0.0, 0.7, 3.0])
def test_soft_threshold_is_the_proximal_map_of_the_absolute_value(t):
    for y in (-2.0, -0.7, 0.0, 0.4, 5.0):
        found = optimize.minimize_scalar(
            lambda b, y=y: 0.5 * (b - y) ** 2 + t * abs(b), bounds=(-6, 6), options={"xatol": 1e-9}
        )
        assert soft_threshold([y], t)[0] == pytest.approx(found.x, abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_sure_threshold_beats_a_dense_grid(seed):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(3, 40)) * [[1.0], [3.0], [0.1]]
    y[:, :5] = np.round(y[:, :5])  # ties, and zeros
    best = sure_threshold(y, 1.0)
    minimum = soft_threshold_sure(y, 1.0, best)
    for t in np.linspace(0, np.max(np.abs(y)) + 1, 2000):
        assert np.all(minimum <= soft_threshold_sure(y, 1.0, t) + 1e-12)
    assert best[0] == sure_threshold(y[0], 1.0)
    assert soft_threshold(y, best).shape == y.shape


def test_sure_threshold_removes_pure_noise_and_keeps_strong_signals():
    rng = np.random.default_rng(3)
    assert sure_threshold(1e-3 * rng.normal(size=50), 1.0) < 3e-2
    assert np.all(soft_threshold([1e-3] * 50, sure_threshold([1e-3] * 50, 1.0)) == 0)
    assert sure_threshold(rng.choice([-1e6, 1e6], 50) * (1 + rng.random(50)), 1.0) == 0.0


def test_universal_threshold_is_seldom_exceeded():
    rng = np.random.default_rng(4)
    d = 5000
    assert universal_threshold(2.0, d) == pytest.approx(2.0 * np.sqrt(2 * np.log(d)), rel=1e-15)
    exceed = np.abs(2.0 * rng.normal(size=(200, d))) > universal_threshold(2.0, d)
    expected = 2 * d * stats.norm.sf(np.sqrt(2 * np.log(d)))
    # a Poisson count of mean 200 * expected, four standard deviations
    assert abs(np.sum(exceed) - 200 * expected) < 4 * np.sqrt(200 * expected)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: soft_threshold([1.0], -1.0), ["threshold", "-1.0"]),
        (lambda: soft_threshold(np.ones((2, 3)), np.ones(3)), ["threshold", "(2,)", "(3,)"]),
        (lambda: soft_threshold_sure(1.0, 0.0, np.nan), ["y", "sigma", "threshold"]),
        (lambda: sure_threshold([], 1.0), ["d >= 1"]),
        (lambda: universal_threshold(0.0, 0), ["sigma", "d:"]),
    ],
)
def test_every_problem_is_named(call, words):
    with pytest.raises(ValueError, match=":") as caught:
        call()
    for word in words:
        assert word in str(caught.value)
