"""Staircase noise in a norm: density, moments, samples, privacy."""

import math

import numpy as np
import pytest
from scipy import stats

from dpnoise import L1, L2, LInf, Staircase
from dpnoise.joint.radial import RadialNoise
from dpnoise.joint.staircase import NormStaircase
from dpnoise.noise import Staircase2D
from joint_sets import SETS

every = pytest.mark.parametrize("ball", SETS, ids=str)
DRAWS = 20_000


@every
def test_moments_and_layers_are_those_of_the_samples(ball):
    """Within 5 standard errors; the share of the first step by a binomial test (fixed seed)."""
    noise = NormStaircase(ball, 1.5, 0.4)
    draws = noise.rvs(DRAWS, random_state=3)
    for values, mean in ((draws**2, noise.var()), (np.abs(draws), noise.mean_abs())):
        error = np.std(values, axis=0) / math.sqrt(DRAWS)
        assert np.all(np.abs(np.mean(values, axis=0) - mean) <= 5 * error)
    # The mass within norm t by the density: falls at 0.4, 1.4, ...
    t = np.linspace(0.0, 60.0, 60_001)
    middle = 0.5 * (t[1:] + t[:-1])
    K = ball.active_dimension
    point = ball.extreme_point / ball.norm(ball.extreme_point)
    log_mass = noise.logpdf(middle[:, None] * point) + ball.log_volume
    mass = np.exp(log_mass) * np.diff(t**K)
    assert math.isclose(np.sum(mass), 1.0, rel_tol=1e-6)
    radius = ball.norm(draws)
    assert stats.kstest(radius, lambda r: np.interp(r, t[1:], np.cumsum(mass))).pvalue > 1e-4


@every
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 30.0])
def test_the_loss_is_epsilon_at_most_and_attained(ball, epsilon):
    noise = NormStaircase(ball, epsilon, 0.3)
    x = noise.rvs(500, random_state=5)
    d = ball.sample(500, random_state=6)
    d[:250] = ball.extreme_point
    assert np.max(np.abs(noise.logpdf(x) - noise.logpdf(x + d))) <= epsilon * (1 + 1e-9)
    origin = np.zeros(ball.dimension)
    loss = noise.logpdf(origin) - noise.logpdf(ball.extreme_point)
    assert math.isclose(loss, epsilon, rel_tol=1e-9)


def test_one_and_two_coordinates_are_the_known_staircases():
    t = np.array([-3.0, 0.0, 0.2, 0.5, 7.9])
    noise, known = NormStaircase(LInf(2.0), 1.2, 0.3), Staircase(1.2, 2.0, 0.3)
    assert np.allclose(noise.logpdf(t[:, None]), known.logpdf(t), rtol=1e-12)
    assert math.isclose(noise.var()[0], known.var(), rel_tol=1e-12)
    assert math.isclose(noise.mean_abs()[0], known.mean_abs(), rel_tol=1e-12)
    plane, known = NormStaircase(L1(2.0, of=2), 1.2, 0.3), Staircase2D(1.2, 2.0, 0.3)
    x = np.random.default_rng(2).normal(0.0, 3.0, (50, 2))
    assert np.allclose(plane.logpdf(x), known.logpdf(x), rtol=1e-12)
    assert math.isclose(plane.var()[0], known.var(), rel_tol=1e-12)


@pytest.mark.parametrize("K", [1, 7, 1000])
def test_small_epsilon_is_k_norm_noise(K):
    """The midpoint staircase differs by a relative epsilon^2."""
    for epsilon in (0.1, 0.01):
        noise = NormStaircase(LInf(1.0, of=K), epsilon, 0.5)
        limit = RadialNoise(LInf(1.0, of=K), 1.0 / epsilon)
        assert math.isclose(noise.var()[0], limit.var()[0], rel_tol=epsilon**2)


def test_scaling_and_shapes():
    noise = NormStaircase(L2(1.0, of=3), 2.0, 0.5)
    assert np.allclose(noise.scaled(3.0).std(), 3.0 * noise.std(), rtol=1e-14)
    assert noise.rvs(random_state=0).shape == (3,)
    assert noise.rvs((2, 4), random_state=0).shape == (2, 4, 3)
    assert noise.pdf([1e300, 0.0, 0.0]) == 0.0
    assert noise.logpdf([math.inf, 0.0, 0.0]) == -math.inf


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: NormStaircase("x", -1.0, 1.0), ["ball", "'x'", "epsilon", "-1", "gamma"]),
        (lambda: NormStaircase(L2(1.0, of=1000), 1e-4, 0.0), ["epsilon", "0.0001", "gamma"]),
        (lambda: NormStaircase(L2(1.0), 701.0, math.nan), ["701", "nan"]),
    ],
)
def test_bad_input_names_every_problem(make, words):
    with pytest.raises(ValueError, match="expected") as error:
        make()
    assert all(word in str(error.value) for word in words)
