"""Radial noise: law of the norm, moments, density, and one coordinate against scalar noise."""

import math

import numpy as np
import pytest
from scipy import stats

from dpnoise import L2, Box, Gaussian, Laplace, LInf, Subbotin, TruncatedLaplace
from dpnoise.joint.radial import RadialNoise
from dpnoise.noise import KNorm
from joint_sets import SETS

DRAWS = 20_000
KINDS = [(0.7, 1.0, math.inf), (2.0, 2.5, math.inf), (1.5, 1.0, 4.0), (1.0, 3.0, 0.8)]
every_set = pytest.mark.parametrize("ball", SETS, ids=str)
every_kind = pytest.mark.parametrize("kind", KINDS, ids=str)


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
    noise = RadialNoise(ball, *kind[:2], kind[2] * ball.active_dimension)
    draws = noise.rvs(DRAWS, random_state=3)
    for values, mean in ((draws**2, noise.var()), (np.abs(draws), noise.mean_abs())):
        error = np.std(values, axis=0) / math.sqrt(DRAWS)
        assert np.all(np.abs(np.mean(values, axis=0) - mean) <= 5 * error)
    assert np.array_equal(noise.std(), np.sqrt(noise.var()))


@every_set
@every_kind
def test_density_has_mass_one_and_belongs_to_the_samples(ball, kind):
    """E 1/f over a set of volume V is V: importance sampling of the volume of a shell's ball."""
    noise = RadialNoise(ball, *kind[:2], kind[2] * ball.active_dimension)
    inner = ball.scaled(noise.layer_moment(1))
    x = noise.rvs(DRAWS, random_state=4)
    log_ratio = -noise.logpdf(x) - inner.log_volume
    weight = np.where(inner.norm(x) <= 1.0, np.exp(np.minimum(log_ratio, 300.0)), 0.0)
    if kind[2] < math.inf:  # the ball may reach beyond the bound
        share = min(1.0, noise.bound / noise.layer_moment(1)) ** ball.active_dimension
    else:
        share = 1.0
    assert abs(np.mean(weight) - share) < 6 * np.std(weight) / math.sqrt(DRAWS)


@pytest.mark.parametrize("ball", [LInf(2.0), L2(2.0), Box([2.0])], ids=str)
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


def test_k_norm_noise_of_the_three_norms():
    x = np.random.default_rng(5).normal(size=(10, 6))
    for ball, norm in ((LInf(1.0, of=6), math.inf), (L2(1.0, of=6), 2), (SETS[3], 1)):
        noise = RadialNoise(ball, 0.8)
        known = KNorm(norm, ball.dimension, 0.8 * float(ball.box[0]))
        points = x[:, : ball.dimension]
        assert np.allclose(noise.logpdf(points), known.logpdf(points), rtol=1e-13)
        assert math.isclose(noise.var()[0], known.var(), rel_tol=1e-14)
        assert math.isclose(noise.mean_abs()[0], known.mean_abs(), rel_tol=1e-13)


@pytest.mark.parametrize("K", [1, 5, 10, 1000])
def test_variance_in_the_norm_of_the_box(K):
    noise = RadialNoise(LInf(1.0, of=K), 1.0 / 0.3)
    assert math.isclose(noise.var()[0], (K + 1) * (K + 2) / (3 * 0.3**2), rel_tol=1e-12)


def test_scaling_stretches_the_density():
    noise = RadialNoise(SETS[6], 1.3, 2.0, 5.0)
    x = np.array([[0.3, -0.1], [9.0, 9.0]])
    twice = noise.scaled(2.0)
    assert np.allclose(twice.logpdf(2 * x), noise.logpdf(x) - 2 * math.log(2), rtol=1e-14)
    assert np.allclose(twice.var(), 4 * noise.var(), rtol=1e-14)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: RadialNoise(1.0, 0.0, 0.5, 0.0),
            ["ball", "scale", "power", "0.5", "bound"],
        ),
        (lambda: RadialNoise(L2(1.0), math.nan, 17), ["scale", "nan", "power", "17"]),
        (lambda: RadialNoise(L2(1.0, of=50), 1.0, 1.0, 1e-6), ["bound", "1e-200", "1e-06"]),
        (lambda: RadialNoise(L2(1.0), 1.0).scaled(-1), ["factor", "-1"]),
        (lambda: RadialNoise(L2(1.0, of=2), 1.0).logpdf(1.0), ["shape of x", "()"]),
    ],
)
def test_bad_input_names_every_problem(make, words):
    with pytest.raises(ValueError, match="expected") as error:
        make()
    assert all(word in str(error.value) for word in words)
