"""Noise in the norm of a set: law of the norm, moments, density, samples, privacy."""

import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from dpnoise import L2, Box, Gaussian, Laplace, LInf, Staircase, Subbotin, TruncatedLaplace
from dpnoise.joint.noise import NormStaircase, RadialNoise
from for_all import for_all
from joint_sets import SETS
from refusals import names_every_problem

DRAWS = 20_000
KINDS = [(0.7, 1.0, math.inf), (2.0, 2.5, math.inf), (1.5, 1.0, 4.0), (1.0, 3.0, 0.8)]


@cache
def drawn(ball, kind):
    """Noise and draws of it, for two tests."""
    noise = RadialNoise(ball, *kind[:2], kind[2] * ball.active_dimension)
    return noise, noise.rvs(DRAWS, random_state=3)


every_set = for_all("ball", SETS)
every_kind = for_all("kind", KINDS)


@every_set
@every_kind
def test_norm_has_the_truncated_gamma_distribution(ball, kind):
    """Kolmogorov-Smirnov at a false-alarm rate of 1e-4 each (fixed seed)."""
    scale, power, bound = kind
    bound = bound * math.sqrt(ball.active_dimension)
    noise = RadialNoise(ball, scale, power, bound)
    draws = noise.rvs((100, DRAWS // 100), random_state=2)
    assert draws.shape == (100, DRAWS // 100, ball.dimension)
    radius = ball.norm(draws).ravel()
    assert np.max(radius) <= bound
    gamma = stats.gamma(ball.active_dimension / power)
    share = gamma.cdf((radius / scale) ** power) / gamma.cdf((bound / scale) ** power)
    assert stats.kstest(share, "uniform").pvalue > 1e-4
    assert np.all(draws[..., ~ball.active] == 0.0)


@every_set
@every_kind
def test_moments_are_those_of_the_samples(ball, kind):
    """Within 5 standard errors, zeros exactly."""
    noise, draws = drawn(ball, kind)
    for values, mean in ((draws**2, noise.var()), (np.abs(draws), noise.mean_abs())):
        error = np.std(values, axis=0) / math.sqrt(DRAWS)
        assert np.all(np.abs(np.mean(values, axis=0) - mean) <= 5 * error)
    assert np.array_equal(noise.std(), np.sqrt(noise.var()))


@every_set
@every_kind
def test_density_has_mass_one_and_belongs_to_the_samples(ball, kind):
    """E 1/f over a set of volume V is V: importance sampling of the volume of a shell's ball."""
    noise, x = drawn(ball, kind)
    inner = ball.scaled(noise.layer_moment(1))
    log_ratio = -noise.logpdf(x) - inner.log_volume
    weight = np.where(inner.norm(x) <= 1.0, np.exp(np.minimum(log_ratio, 300.0)), 0.0)
    if kind[2] < math.inf:  # the ball may reach beyond the bound
        share = min(1.0, noise.bound / noise.layer_moment(1)) ** ball.active_dimension
    else:
        share = 1.0
    assert abs(np.mean(weight) - share) < 6 * np.std(weight) / math.sqrt(DRAWS)


@for_all("ball", [LInf(2.0), L2(2.0), Box([2.0])])
def test_one_coordinate_is_the_noise_of_the_scalar_families(ball):
    t = np.array([-3.0, 0.0, 0.2, 7.9])
    pairs = [
        (RadialNoise(ball, 1.5), Laplace(3.0)),
        (RadialNoise(ball, 1.5, 2.0), Gaussian(3.0 / math.sqrt(2.0))),
        (RadialNoise(ball, 1.5, 3.0), Subbotin(3.0, 3.0 * 3.0 ** (-1.0 / 3.0))),
        (RadialNoise(ball, 1.5, 1.0, 4.0), TruncatedLaplace(3.0, 8.0)),
    ]
    for noise, other in pairs:
        assert np.allclose(noise.logpdf(t[:, None]), other.logpdf(t), rtol=1e-13, atol=1e-13)
        assert math.isclose(noise.var()[0], other.var(), rel_tol=1e-13)
        assert math.isclose(noise.mean_abs()[0], other.mean_abs(), rel_tol=1e-13)


test_bad_input_names_every_problem = names_every_problem(
    [
        (
            lambda: RadialNoise(1.0, 0.0, 0.5, 0.0),
            ["ball", "scale", "power", "0.5", "bound"],
        ),
        (lambda: RadialNoise(L2(1.0), math.nan, 17), ["scale", "nan", "power", "17"]),
        (lambda: RadialNoise(L2(1.0, of=50), 1.0, 1.0, 1e-6), ["bound", "1e-200", "1e-06"]),
        (lambda: RadialNoise(L2(1.0), 1.0).scaled(-1), ["factor", "-1"]),
        (lambda: RadialNoise(L2(1.0, of=2), 1.0).logpdf(1.0), ["shape of x", "()"]),
    ]
)


every = for_all("ball", SETS)


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
@for_all("epsilon", [0.01, 1.0, 30.0])
def test_the_loss_is_epsilon_at_most_and_attained(ball, epsilon):
    noise = NormStaircase(ball, epsilon, 0.3)
    x = noise.rvs(500, random_state=5)
    d = ball.sample(500, random_state=6)
    d[:250] = ball.extreme_point
    assert np.max(np.abs(noise.logpdf(x) - noise.logpdf(x + d))) <= epsilon * (1 + 1e-9)
    origin = np.zeros(ball.dimension)
    loss = noise.logpdf(origin) - noise.logpdf(ball.extreme_point)
    assert math.isclose(loss, epsilon, rel_tol=1e-9)


def test_one_coordinate_is_the_known_staircase():
    t = np.array([-3.0, 0.0, 0.2, 0.5, 7.9])
    noise, known = NormStaircase(LInf(2.0), 1.2, 0.3), Staircase(1.2, 2.0, 0.3)
    assert np.allclose(noise.logpdf(t[:, None]), known.logpdf(t), rtol=1e-12)
    assert math.isclose(noise.var()[0], known.var(), rel_tol=1e-12)
    assert math.isclose(noise.mean_abs()[0], known.mean_abs(), rel_tol=1e-12)


def test_scaling_and_shapes():
    noise = NormStaircase(L2(1.0, of=3), 2.0, 0.5)
    assert np.allclose(noise.scaled(3.0).std(), 3.0 * noise.std(), rtol=1e-14)
    assert noise.rvs(random_state=0).shape == (3,)
    assert noise.rvs((2, 4), random_state=0).shape == (2, 4, 3)
    assert noise.pdf([1e300, 0.0, 0.0]) == 0.0
    assert noise.logpdf([math.inf, 0.0, 0.0]) == -math.inf


test_bad_input_of_a_staircase_names_every_problem = names_every_problem(
    [
        (lambda: NormStaircase("x", -1.0, 1.0), ["ball", "'x'", "epsilon", "-1", "gamma"]),
        (lambda: NormStaircase(L2(1.0, of=1000), 1e-4, 0.0), ["epsilon", "0.0001", "gamma"]),
        (lambda: NormStaircase(L2(1.0), 701.0, math.nan), ["701", "nan"]),
    ]
)


@pytest.mark.parametrize(("K", "epsilon"), [(2, 15.0), (5, 8.0), (3, 30.0), (40, 2.0)])
def test_half_widths_of_staircases_hold_on_steps_that_no_draw_reaches(K, epsilon):
    """Coordinates are layers times uniform numbers: P(|X_i| > h) is a sum over the steps.

    Far out the density is not log-concave, by which draws were continued.
    """
    noise = NormStaircase(LInf(1.0, of=K), epsilon, min(0.5, math.exp(-epsilon / (K + 2.0))))
    n = np.arange(2000.0)
    logs = K * np.log(n + noise.gamma) - epsilon * n
    weights = np.exp(logs - np.max(logs))
    weights /= weights.sum()
    for level in (0.95, 0.999, 1.0 - 1e-5, 1.0 - 1e-8):
        h = float(noise.half_width(level)[0])
        near, beyond = (
            float(weights @ np.maximum(1.0 - x / (n + noise.gamma), 0.0)) for x in (h / 1.1, h)
        )
        assert beyond < 1.25 * (1.0 - level) < 1.3 * near
