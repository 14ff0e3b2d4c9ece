"""K-norm and two-dimensional staircase noise: laws of the norm, moments, densities, samples."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from dpnoise import L1, L2, LInf
from dpnoise.joint.noise import RadialNoise
from dpnoise.noise import KNorm, Laplace, Staircase2D, staircase_2d_gamma
from dpnoise_papers.verify.oracles.exact import Stairs
from exact_noise import off
from for_all import for_all

NORMS = [1, 2, math.inf]
every_norm = for_all("norm", NORMS)


@every_norm
@for_all("K", [1, 2, 7, 300])
def test_it_is_radial_noise_in_the_ball_of_the_norm(norm, K):
    """Whose law, moments and draws `test_noise.py` tests."""
    kind = {1: L1, 2: L2, math.inf: LInf}[norm]
    noise, radial = KNorm(norm, K, 0.8), RadialNoise(kind(1.0, K), 0.8)
    assert np.array_equal(noise.rvs((2, 3), 1), radial.rvs((2, 3), 1))
    x = np.random.default_rng(5).normal(size=(10, K))
    assert np.array_equal(noise.logpdf(x), radial.logpdf(x))
    assert noise.ball == radial.ball
    assert noise.var() == pytest.approx(radial.var()[0], rel=1e-12)
    assert noise.std() == math.sqrt(noise.var())
    assert noise.mean_abs() == pytest.approx(radial.mean_abs()[0], rel=1e-12)


@every_norm
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


def test_l1_is_independent_laplace():
    x = np.array([[0.3, -2.0, 1.0], [0.0, 0.0, 9.0]])
    product = Laplace(0.8).logpdf(x).sum(axis=-1)
    assert np.allclose(KNorm(1, 3, 0.8).logpdf(x), product, rtol=1e-14)


@every_norm
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


@for_all(
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


CASES = [(0.05, 1.0, 0.7), (1.0, 2.0, 0.3), (1.0, 0.5, 0.999), (4.0, 1.0, 1e-3), (300.0, 3.0, 0.5)]
every_staircase = for_all("noise", [Staircase2D(*case) for case in CASES])


def moment(noise, power):
    """Return E ||X||_1^power by summing the shells, on which the area grows as 4 r dr."""
    with mp.workdps(60):
        exact = Stairs(noise.epsilon, noise.sensitivity, noise.gamma)
        return exact.moment(power + 1) / exact.moment(1)


@every_staircase
def test_moments_hold_to_1e_12(noise):
    assert off(noise.mean_norm(), moment(noise, 1)) < 1e-12
    assert off(noise.mean_abs(), moment(noise, 1) / 2) < 1e-12
    # On the square |x1| + |x2| = r the first coordinate is uniform: E x1^2 = r^2 / 3.
    assert off(noise.var(), moment(noise, 2) / 3) < 1e-12
    # The layer: E T^n = E R^n (n + 2) / 2.
    for n in (1, 2):
        assert off(noise.layer_moment(n), moment(noise, n) * (n + 2) / 2) < 1e-12
    assert noise.std() == math.sqrt(noise.var())


@every_staircase
def test_density_integrates_to_one(noise):
    """The density is constant between the seams, so that areas of squares add up."""
    k = np.arange(45 / noise.epsilon + 2)
    edges = noise.sensitivity * np.sort(np.concatenate([k, k + noise.gamma]))
    middle = 0.5 * (edges[1:] + edges[:-1])
    way = np.stack([0.3 * middle, -0.7 * middle], axis=-1)
    area = 2 * (edges[1:] - edges[:-1]) * (edges[1:] + edges[:-1])
    assert math.isclose(noise.pdf(way) @ area, 1, rel_tol=1e-12)
    assert noise.logpdf([0.0, math.inf]) == -math.inf


@every_staircase
def test_no_shift_costs_more_than_epsilon(noise):
    rng = np.random.default_rng(6)
    x = noise.sensitivity * rng.uniform(-3, 3, (4000, 2))
    size, share = rng.uniform(0, noise.sensitivity, 4000), rng.uniform(-1, 1, 4000)
    shift = np.stack([size * share, size * (1 - np.abs(share))], axis=-1)
    loss = np.abs(noise.logpdf(x) - noise.logpdf(x + shift))
    assert math.isclose(loss.max(), noise.epsilon, rel_tol=1e-12)


@every_staircase
def test_samples_follow_the_law_of_the_norm(noise):
    """Kolmogorov-Smirnov for the norm and for the share, at false-alarm rates of 1e-4."""
    draws = noise.rvs((100, 200), random_state=4)
    assert draws.shape == (100, 200, 2)
    radius = np.abs(draws).sum(axis=-1).ravel()
    k = np.arange(60 / noise.epsilon + 2)
    edges = noise.sensitivity * np.sort(np.concatenate([k, k + noise.gamma]))
    middle = 0.5 * (edges[1:] + edges[:-1])
    height = noise.pdf(np.stack([middle, 0 * middle], axis=-1))
    below = np.concatenate([[0.0], np.cumsum(2 * height * np.diff(edges**2))])

    def cdf(r):
        inside = np.clip(np.searchsorted(edges, r) - 1, 0, height.size - 1)
        return below[inside] + 2 * height[inside] * (r**2 - edges[inside] ** 2)

    assert stats.kstest(radius, cdf).pvalue > 1e-4
    share = np.abs(draws[..., 0]).ravel() / radius
    assert stats.kstest(share, "uniform").pvalue > 1e-4
    # Four fair quadrants: 6 standard deviations, once in 5e8 each.
    quadrant = np.sign(draws[..., 0]) + 3 * np.sign(draws[..., 1])
    for q in (-4, -2, 2, 4):
        assert abs((quadrant == q).mean() - 0.25) < 6 * math.sqrt(0.1875 / quadrant.size)
    assert np.array_equal(draws, noise.rvs((100, 200), np.random.default_rng(4)))
    assert noise.rvs(random_state=0).shape == (2,)


@for_all("epsilon", [1e-100, 1e-4, 0.1, 1.0, 2.5, 10.0, 100.0, 520.0, 560.0, 700.0])
def test_best_gamma_is_the_global_minimum(epsilon):
    """The mean norm, summed at many digits, rises on both sides and beats a grid."""
    with mp.workdps(400):

        def mean(g):
            exact = Stairs(epsilon, 1, g)
            return exact.moment(2) / exact.moment(1)

        gamma = mp.mpf(float(staircase_2d_gamma(epsilon)))
        step = mp.mpf("1e-12") * gamma
        assert mean(gamma - step) > mean(gamma) < mean(gamma + step)
        assert all(mean(gamma) <= mean(mp.mpf(i) / 64) for i in range(65))
        noise = Staircase2D(epsilon, 1.0, float(gamma))
        assert off(noise.mean_norm(), mean(gamma)) < 1e-12


def test_best_staircase_beats_laplace_and_tends_to_it():
    """l1 error 2 / epsilon of two Laplace variables; the gain vanishes for small epsilon."""
    gain = []
    for epsilon in (1e-3, 0.1, 1.0, 3.0, 8.0):
        noise = Staircase2D(epsilon, 1.0, staircase_2d_gamma(epsilon))
        gain.append(2 * Laplace(1 / epsilon).mean_abs() / noise.mean_norm())
    assert 1 < gain[0] < 1 + 1e-6
    assert (np.diff(gain) > 0).all()


def test_gamma_broadcasts():
    epsilon = np.array([[0.5, 1.0], [2.0, 4.0]])
    gamma = staircase_2d_gamma(epsilon)
    assert gamma.shape == (2, 2)
    assert math.isclose(gamma[1, 0], staircase_2d_gamma(2.0), rel_tol=1e-15)
    assert isinstance(staircase_2d_gamma(1), float)


@for_all(
    ("make", "words"),
    [
        (lambda: Staircase2D(0, -1, 1), ["epsilon", "got 0", "sensitivity", "got -1", "gamma"]),
        (lambda: staircase_2d_gamma([1, -2, 701]), ["epsilon", "[-2.0, 701.0]"]),
        (lambda: Staircase2D(1, 1, 0.5).logpdf([1, 2, 3]), ["shape of x", "(3,)"]),
        (lambda: Staircase2D(1, 1, 0.5).scaled("2"), ["factor", "'2'"]),
    ],
)
def test_bad_input_of_staircases_names_every_problem(make, words):
    with pytest.raises(ValueError, match="expected") as error:
        make()
    assert all(word in str(error.value) for word in words)
