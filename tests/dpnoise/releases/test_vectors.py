"""Released vectors of joint noise: distributions, and doubles against balls from the same bits."""

import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from dpnoise import L1, L2, AtMost, Box, Counts, Ellipsoid, LInf, Product
from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.joint.vectors import CorrelatedGaussian
from dpnoise.noise import KNorm
from dpnoise.releases import continuous as vectors
from dpnoise.sensitivity.spheroid import Spheroid
from exact_release import entropy, seeded
from for_all import thinned

RADIAL = [
    RadialNoise(AtMost(3, of=12), 1.0),
    RadialNoise(LInf(2.0, of=10), 1.0),
    RadialNoise(L1(2.0, of=5), 0.7, power=1.3),
    RadialNoise(L2(1.0, of=7), 1.0, power=2.0),
    RadialNoise(Ellipsoid([1.0, 2.0, 0.0, 3.0]), 1.0),
    RadialNoise(Product(AtMost(2, of=5), L2(2.0, of=3)), 1.0),
    RadialNoise(Counts(3, of=12, relation="add-remove"), 1.0),
    RadialNoise(Counts(4, of=4, relation="add-remove"), 1.0),
    RadialNoise(Counts(2, of=7, each=2.0, relation="replace-one"), 1.0),
    RadialNoise(
        Product(Counts(2, of=3, relation="add-remove"), L2(2.0, of=2), relation="add-remove"), 1.0
    ),
    RadialNoise(Spheroid(2.0, 1.0, of=4), 1.0),
    RadialNoise(Product(Ellipsoid([[1.0, 1.0], [3.0, -1.0]]), LInf(2.0)), 1.0, power=1.5),
    RadialNoise(LInf(1.0, of=3), 1.0, bound=9.0),
    RadialNoise(LInf(1.0, of=3), 1.0, bound=0.5),
    RadialNoise(LInf(1.0), 1.0, bound=0.01),
]
CORRELATED = [
    CorrelatedGaussian(Spheroid(2.5, 1.5, of=7), 1.3),
    CorrelatedGaussian(Spheroid(0.0, 1.5, of=4), 0.7),
    CorrelatedGaussian(Ellipsoid([[1.0, 1.0, 0.0], [1.0, -2.0, 3.0], [0.0, 0.0, 5.0]]), 2.0),
]
NORMS = [KNorm(math.inf, 3, 2.0), KNorm(2.0, 4, 0.1), KNorm(1.0, 2, 1.0)]
STAIRS = [NormStaircase(Box([1.0, 3.0]), 3.0, 0.4), NormStaircase(L1(1.5, of=2), 1.0, 0.4)]
ALL = [*RADIAL, *STAIRS, *CORRELATED, *NORMS]


@cache
def sample(noise, rows=20_000, value=0.3):
    """Noise from a release of one value."""
    active = np.broadcast_to(noise.mean_abs(), (noise.dimension,)) > 0.0
    values = np.where(active, value, 0.1)
    found = seeded(9)(np.tile(values, (rows, 1)), noise) - values
    assert np.all(found[:, ~active] == 0.0)
    return found


@pytest.mark.parametrize("noise", thinned(ALL), ids=repr)
def test_moments_of_coordinates(noise):
    x = sample(noise)
    size = np.broadcast_to(noise.mean_abs(), (noise.dimension,))
    some = size > 0.0
    ratio = np.abs(x[:, some]) / size[some]
    error = 5.0 * np.std(ratio, axis=0) / math.sqrt(x.shape[0]) + 1e-3
    assert np.all(np.abs(np.mean(ratio, axis=0) - 1.0) < error)
    signed = np.mean(x[:, some] / size[some], axis=0)
    assert np.all(np.abs(signed) < 8.0 / math.sqrt(x.shape[0]))


@pytest.mark.parametrize("noise", RADIAL, ids=repr)
def test_the_norm_of_radial_noise(noise):
    r = noise.ball.norm(sample(noise))
    law = stats.gamma(noise.shape)
    v = np.minimum((r / noise.scale) ** noise.power, noise.edge)
    assert stats.kstest(law.cdf(v) / law.cdf(noise.edge), "uniform").pvalue > 1e-4


@pytest.mark.parametrize("noise", CORRELATED, ids=repr)
def test_correlated_gaussian_noise_is_normal_in_every_direction(noise):
    """Of a'X the variance a' Sigma a, before rounding to steps of 2^-10 of its size."""
    x = sample(noise)
    for a in (*np.eye(noise.dimension)[:2], np.ones(noise.dimension), x[0]):
        variance = float(a @ noise.covariance() @ a)
        if variance < 1e-12:
            assert np.max(np.abs(x @ a)) <= noise.dimension * 2.0**-10 * np.max(noise.mean_abs())
        else:
            assert stats.kstest(x @ a / math.sqrt(variance), "norm").pvalue > 1e-4


@pytest.mark.parametrize("noise", STAIRS, ids=repr)
def test_the_norm_of_a_staircase(noise):
    r, other = (noise.ball.norm(x) for x in (sample(noise), noise.rvs(20_000, random_state=3)))
    assert stats.ks_2samp(r, other).pvalue > 1e-4


@pytest.mark.parametrize("noise", ALL, ids=repr)
def test_doubles_decide_as_balls_do(noise, monkeypatch):
    values = np.full((40, noise.dimension), 0.3)
    step = np.full(noise.dimension, 2.0**-10)
    fast = vectors.rounded_vectors(values, noise, step, entropy(8))
    monkeypatch.setattr(vectors, "_ERROR", math.inf)
    slow = vectors.rounded_vectors(values, noise, step, entropy(8))
    np.testing.assert_array_equal(fast, slow)


def test_unknown_norms_are_refused():
    with pytest.raises(ValueError, match="power 1 beside a bound"):
        seeded(1)([1.0, 2.0], RadialNoise(LInf(1.0, of=2), 1.0, power=1.5, bound=4.0))
