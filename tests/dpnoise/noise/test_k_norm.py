"""K-norm noise: the law of its norm, its moments, its density."""

import math

import numpy as np
import pytest
from scipy import stats

from dpnoise.noise import KNorm, Laplace

NORMS = [1, 2, math.inf]
DRAWS = 20_000
every = pytest.mark.parametrize("norm", NORMS)


@every
@pytest.mark.parametrize("dimension", [1, 2, 3, 20])
def test_norm_has_the_gamma_law_and_direction_is_fair(norm, dimension):
    """Kolmogorov-Smirnov at a false-alarm rate of 1e-4 each (fixed seed)."""
    noise = KNorm(norm, dimension, 0.7)
    draws = noise.rvs((100, DRAWS // 100), random_state=2)
    assert draws.shape == (100, DRAWS // 100, dimension)
    radius = np.linalg.norm(draws, ord=norm, axis=-1).ravel()
    assert stats.kstest(radius, stats.gamma(dimension, scale=0.7).cdf).pvalue > 1e-4
    # Norm and direction are independent: the share of a coordinate does not tell the norm.
    share = draws[..., 0].ravel() / radius
    wide = radius > np.median(radius)
    if dimension > 1:
        assert stats.ks_2samp(share[wide], share[~wide]).pvalue > 1e-4
        assert stats.ks_2samp(draws[..., 0].ravel(), -draws[..., -1].ravel()).pvalue > 1e-4


@every
@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_moments_are_those_of_the_samples(norm, dimension):
    """Within 5 standard errors; a false alarm once in 1e6."""
    noise = KNorm(norm, dimension, 2.0)
    draws = noise.rvs(100_000, random_state=3)[:, 0]
    error = np.std(draws**2) / math.sqrt(draws.size)
    assert abs((draws**2).mean() - noise.var()) < 5 * error
    assert abs(np.abs(draws).mean() - noise.mean_abs()) < 5 * noise.std() / math.sqrt(draws.size)
    assert noise.std() == math.sqrt(noise.var())


@every
def test_moments_are_those_of_the_density(norm):
    """Quadrature over the first quadrant of the plane; the diagonal is a seam of two norms."""
    noise = KNorm(norm, 2, 0.5)
    nodes, weights = np.polynomial.legendre.leggauss(80)
    u, w = 0.5 * (nodes + 1), 0.5 * weights
    # Below the diagonal x2 = v x1; by symmetry eight such wedges make the plane.
    x1, v = np.meshgrid(60 * noise.scale * u, u, indexing="ij")
    area = 60 * noise.scale * np.outer(w, w) * x1
    density = noise.pdf(np.stack([x1, v * x1], axis=-1)) * area * 8
    assert math.isclose(density.sum(), 1, rel_tol=1e-12)
    square, size = 0.5 * x1**2 * (1 + v**2), 0.5 * x1 * (1 + v)
    assert math.isclose((density * square).sum(), noise.var(), rel_tol=1e-12)
    assert math.isclose((density * size).sum(), noise.mean_abs(), rel_tol=1e-12)


@every
def test_one_dimension_is_laplace(norm):
    noise, laplace = KNorm(norm, 1, 1.7), Laplace(1.7)
    t = np.array([-3.0, 0.0, 0.2, 50.0])
    assert np.allclose(noise.logpdf(t[:, None]), laplace.logpdf(t), rtol=1e-14)
    assert math.isclose(noise.var(), laplace.var(), rel_tol=1e-14)
    assert math.isclose(noise.mean_abs(), laplace.mean_abs(), rel_tol=1e-14)


def test_l1_is_independent_laplace():
    x = np.array([[0.3, -2.0, 1.0], [0.0, 0.0, 9.0]])
    product = Laplace(0.8).logpdf(x).sum(axis=-1)
    assert np.allclose(KNorm(1, 3, 0.8).logpdf(x), product, rtol=1e-14)


@every
def test_a_shift_costs_its_norm_over_the_scale(norm):
    """The privacy loss is at most epsilon = sensitivity / scale, and reaches it."""
    epsilon, sensitivity = 0.9, 2.5
    noise = KNorm(norm, 4, sensitivity / epsilon)
    rng = np.random.default_rng(8)
    x, shift = rng.normal(0, 9, (500, 4)), rng.normal(0, 1, (500, 4))
    shift *= sensitivity / np.linalg.norm(shift, ord=norm, axis=-1, keepdims=True)
    assert np.abs(noise.logpdf(x) - noise.logpdf(x + shift)).max() <= epsilon * (1 + 1e-12)
    assert np.allclose(noise.logpdf(0 * x) - noise.logpdf(shift), epsilon, rtol=1e-12)


def test_scaling_and_shapes():
    noise = KNorm(math.inf, 3, 1.0)
    assert noise.scaled(4) == KNorm(math.inf, 3, 4.0)
    assert noise.rvs(random_state=0).shape == (3,)
    assert noise.rvs(5, random_state=0).shape == (5, 3)
    assert np.array_equal(noise.rvs(5, 0), noise.rvs(5, np.random.default_rng(0)))
    assert isinstance(noise.logpdf([1, 2, 3]), float)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: KNorm(3, 0, -1), ["norm", "1, 2 or inf", "got 3", "dimension", "got 0", "scale"]),
        (lambda: KNorm(True, 2.0, 1), ["norm", "True", "dimension", "2.0"]),
        (lambda: KNorm("2", True, math.nan), ["norm", "'2'", "dimension", "True", "nan"]),
        (lambda: KNorm(1, 2, 1).scaled(-1), ["factor", "-1"]),
        (lambda: KNorm(1, 2, 1).logpdf([1, 2, 3]), ["shape of x", "length 2", "(3,)"]),
        (lambda: KNorm(1, 2, 1).logpdf(1.0), ["shape of x", "()"]),
    ],
)
def test_bad_input_names_every_problem(make, words):
    with pytest.raises(ValueError, match="expected") as error:
        make()
    assert all(word in str(error.value) for word in words)
