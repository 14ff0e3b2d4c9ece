"""K-norm and two-dimensional staircase noise: laws of the norm, moments, densities, samples."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, stats

from dpnoise import (
    L1,
    L2,
    AtMost,
    Box,
    Budget,
    Counts,
    Ellipsoid,
    Gaussian,
    LInf,
    Product,
    best,
    certify,
    compare,
    gaussian_sigma,
    privacy_profile,
    verify,
)
from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.joint.vectors import CorrelatedGaussian
from dpnoise.noise import KNorm, staircase_2d_gamma
from dpnoise.optimality.certificates import count_projection
from dpnoise.optimality.scalar_floor import WholeStaircase, scalar_certificate
from dpnoise.sensitivity.spheroid import Spheroid
from exact_noise import off
from for_all import for_all
from oracles.exact import Stairs
from refusals import names_every_problem

NORMS = [1, 2, math.inf]
every_norm = for_all("norm", NORMS)
R, ONE = "add-remove", "replace-one"
COUNTS = [
    Counts(2, of=2, relation=R),
    Counts(3, of=3, each=2.0, relation=R),
    Counts(4, of=4, relation=R),
    Counts(2, of=5, relation=R),
    Counts(4, of=5, each=0.1, whole=False, relation=R),
    Counts(1, of=2, relation=ONE),
    Counts(2, of=5, relation=ONE),
    Counts(3, of=5, relation=ONE),
    Counts(1, of=4, exactly=True, relation=ONE),
    Counts(2, of=4, exactly=True, relation=ONE),
]


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
    assert noise.mean_abs() == pytest.approx(radial.mean_abs()[0], rel=1e-12)


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


test_bad_input_names_every_problem = names_every_problem(
    [
        (lambda: KNorm(3, 0, -1), ["norm", "1, 2 or inf", "got 3", "dimension", "got 0", "scale"]),
        (lambda: KNorm(True, 2.0, 1), ["norm", "True", "dimension", "2.0"]),
        (lambda: KNorm("2", True, math.nan), ["norm", "'2'", "dimension", "True", "nan"]),
        (lambda: KNorm(1, 2, 1).scaled(-1), ["factor", "-1"]),
        (lambda: KNorm(1, 2, 1).logpdf([1, 2, 3]), ["shape of x", "length 2", "(3,)"]),
        (lambda: KNorm(1, 2, 1).logpdf(1.0), ["shape of x", "()"]),
    ]
)


CASES = [(0.05, 1.0, 0.7), (1.0, 2.0, 0.3), (1.0, 0.5, 0.999), (4.0, 1.0, 1e-3), (300.0, 3.0, 0.5)]


def moment(case, power):
    """Return E ||X||_1^power by summing the shells, on which the area grows as 4 r dr."""
    with mp.workdps(60):
        exact = Stairs(*case)
        return exact.moment(power + 1) / exact.moment(1)


@for_all("case", CASES)
def test_moments_of_the_two_dimensional_staircase(case):
    epsilon, radius, gamma = case
    noise = NormStaircase(L1(radius, of=2), epsilon, gamma)
    assert off(radius * noise.mean_norm(), moment(case, 1)) < 1e-12
    assert off(noise.mean_abs()[0], moment(case, 1) / 2) < 1e-12
    # On the square |x1| + |x2| = r the first coordinate is uniform: E x1^2 = r^2 / 3.
    assert off(noise.var()[0], moment(case, 2) / 3) < 1e-12
    # The layer: E T^n = E R^n (n + 2) / 2.
    for n in (1, 2):
        assert off(radius**n * noise.layer_moment(n), moment(case, n) * (n + 2) / 2) < 1e-12


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


def differences(counts):
    """All vectors of 0 and +-each in the set."""
    every = np.array(list(product((-1.0, 0.0, 1.0), repeat=counts.of)))
    inside = [
        d for d in every if counts.differences.holds_pattern(int(np.sum(d > 0)), int(np.sum(d < 0)))
    ]
    return counts.each * np.array(inside)


def smallest(counts):
    return CorrelatedGaussian(counts.smallest_ellipsoid, 1.0)


def factor(K):
    """Least variance over that of one number: K counts that all move, one person more or less."""
    return smallest(Counts(K, of=K, relation=R)).var()[0]


def test_values_for_a_person_in_all_counts():
    """Between whole numbers n = 2 j + 1 of ones (n^2 - 1)(n - K + 1) / (4 n (n - K))."""
    exact = {2: Fraction(4, 3), 3: Fraction(9, 5), 5: Fraction(18, 7), 10: Fraction(56, 13)}
    for K, value in exact.items():
        assert factor(K) == pytest.approx(float(value), rel=1e-12)
    for root in (2, 3, 4, 10, 30, 1000):  # Lebeda's at squares, where (K + sqrt K) / 2 is whole
        assert factor(root**2) == pytest.approx((root + 1) ** 2 / 4, rel=1e-12)
    every = [factor(K) for K in range(2, 60)]
    for K, value in enumerate(every, 2):
        assert value <= (math.sqrt(K) + 1.0) ** 2 / 4.0 * (1.0 + 1e-12)
        assert value < K
    assert np.all(np.diff(every) > 0.0)
    assert factor(10**6) / (10**6 / 4) == pytest.approx(1.0, abs=3e-3)
    # At most m < (K + sqrt K) / 2 of K counts: all in m, (m + sqrt((K - 1) m (K - m)))^2 / K^2.
    for m, K in ((2, 5), (3, 12), (10, 25), (50, 100)):
        value = (m + math.sqrt((K - 1) * m * (K - m))) ** 2 / K**2
        assert smallest(Counts(m, of=K, relation=R)).var()[0] == pytest.approx(value, rel=1e-12)
    # A histogram of which one person changes the bin: 2 (K - 1) / K, 1 for two bins.
    for K in (2, 3, 12):
        bins = Counts(1, of=K, exactly=True, relation=ONE)
        assert smallest(bins).var()[0] == pytest.approx(2.0 * (K - 1) / K, rel=1e-12)


@for_all("counts", COUNTS)
def test_mu_is_the_largest_of_all_differences(counts):
    noise = smallest(counts)
    inverse = np.linalg.pinv(noise.covariance(), rcond=1e-9)
    d = differences(counts)
    largest = np.max(np.einsum("ni,ij,nj->n", d, inverse, d))
    assert noise.mu(counts) == pytest.approx(math.sqrt(largest), rel=1e-12)
    assert 1.0 - 1e-14 <= noise.mu(counts) <= 1.0
    other = CorrelatedGaussian(Spheroid(3.0, 0.5, of=counts.of), 2.0)
    inverse = np.linalg.inv(other.covariance())
    largest = np.max(np.einsum("ni,ij,nj->n", d, inverse, d))
    assert other.mu(counts) == pytest.approx(math.sqrt(largest), rel=1e-12)


@for_all("counts", COUNTS)
def test_no_mixture_of_differences_proves_more_and_one_proves_as_much(counts):
    """Duality: tr(M^(1/2))^2 <= trace of every covariance with mu = 1, M second moments."""
    trace = float(np.sum(smallest(counts).var()))
    d = differences(counts)
    rng = np.random.default_rng(1)
    for _ in range(200):
        w = rng.dirichlet(np.full(len(d), 0.1))
        root = np.sqrt(np.maximum(np.linalg.eigvalsh(d.T @ (w[:, None] * d)), 0.0))
        assert np.sum(root) ** 2 <= trace * (1.0 + 1e-9)
    certificate = WholeStaircase(1) if counts.exactly else scalar_certificate(1.0, 0.0)
    counts = counts if counts.exactly else replace(counts, whole=False)
    bound = count_projection(counts, certificate).bound(counts, 1.0, 0.0, np.ones(counts.of))
    assert trace == pytest.approx(bound / certificate.bound(1.0, 0.0), rel=1e-4)


def test_the_profile_by_quadrature():
    """Delta of two numbers from the densities alone, for every extreme difference."""
    noise = CorrelatedGaussian(Counts(2, of=2, relation=R).smallest_ellipsoid, 0.8)
    law = stats.multivariate_normal(cov=noise.covariance(), seed=1)
    grid = np.linspace(-9.0, 9.0, 721)
    points = np.stack(np.meshgrid(grid, grid), axis=-1)
    found = []
    for d in ([1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]):
        excess = np.maximum(law.pdf(points) - math.e * law.pdf(points + d), 0.0)
        found.append(integrate.trapezoid(integrate.trapezoid(excess, grid), grid))
    delta = float(privacy_profile(Gaussian(1.0), 1.0 / 0.8, 1.0))
    assert np.max(found) == pytest.approx(delta, rel=1e-3)
    assert np.max(found) == pytest.approx(found[0], rel=1e-3)
    assert found[3] < 0.3 * delta
    certificate = certify(noise, Counts(2, of=2, relation=R), 1.0)
    assert float(certificate.lower) == pytest.approx(delta, rel=1e-9)
    assert float(certificate.upper) == pytest.approx(delta, rel=1e-9)
    assert verify(certificate).independent


TILTED = Ellipsoid([[2.0, 1.0, 0.0], [0.0, 1.0, -1.0], [0.5, 0.0, 0.7]])
BALLS = [
    L1(0.7, of=3),
    L2(1.3, of=3),
    LInf(0.9, of=3),
    Box([1.0, 0.0, 2.0]),
    AtMost(2, of=3),
    Ellipsoid([1.0, 2.0, 0.5]),
    Ellipsoid([[1.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0]]),
    Spheroid(2.0, 1.0, of=3),
    Spheroid(1.0, 2.0, of=3),
    Counts(2, of=3, relation=R),
    Counts(2, of=3, relation=ONE),
    Counts(1, of=3, exactly=True, relation=ONE),
    Product(L2(1.0, of=2), LInf(2.0, of=1)),
]


@for_all("unit", [TILTED, Spheroid(1.0, 3.0, of=3), Spheroid(2.0, 1.0, of=3)])
@for_all("ball", BALLS)
def test_no_difference_of_any_set_has_a_larger_mu(ball, unit):
    """Against a search over directions; the bound is attained unless a set is no exact one."""
    noise = CorrelatedGaussian(unit, 1.5)
    mu, inverse = noise.mu(ball), np.linalg.inv(noise.covariance())
    rng = np.random.default_rng(2)
    tried = rng.normal(size=(4000, 3))
    if ball.support(np.ones(ball.dimension)) == 0.0:
        tried -= np.mean(tried, axis=1, keepdims=True)
    signs = np.array(list(product((-1.0, 0.0, 1.0), repeat=3)))
    tried = np.concatenate([tried, signs[np.any(signs != 0.0, axis=1)] * ball.box])
    with np.errstate(divide="ignore", invalid="ignore"):
        edge = tried / ball.norm(tried)[:, None]
    edge = edge[np.all(np.isfinite(edge), axis=1) & np.any(edge != 0.0, axis=1)]
    seen = math.sqrt(np.max(np.einsum("ni,ij,nj->n", edge, inverse, edge)))
    assert seen <= mu * (1.0 + 1e-12)
    if unit.is_exact_for(ball) or (unit is TILTED and ball.vertices() is not None):
        assert seen >= 0.99 * mu
    else:
        assert seen >= 0.4 * mu
    found = certify(noise, ball, 1.0, relation=None if ball.relation else R)
    true, bound = (float(privacy_profile(Gaussian(1.0), x, 1.0)) for x in (seen, mu))
    assert true * (1.0 - 1e-9) <= float(found.upper) == pytest.approx(bound, rel=1e-8)
    assert float(found.lower) <= bound


def test_a_set_of_one_number_or_in_one_count_needs_no_correlation():
    even = Counts(4, of=5, relation=ONE)  # differences of 5 entries, 3 or 1 more of one sign
    for counts in (Counts(1, of=1, relation=R), Counts(1, of=5, relation=R), even):
        assert counts.smallest_ellipsoid is None
        names = [row.name for row in compare(counts, epsilon=1.0, delta=1e-6, exhaustive=False)]
        assert "correlated Gaussian" not in names
    one = Counts(1, of=1, whole=False, relation=R)
    found = best(one, epsilon=1.0, delta=1e-6, family="gaussian")
    assert found.std == pytest.approx(gaussian_sigma(1.0, 1e-6), rel=1e-12)


@for_all("counts", [*COUNTS[1::4], Counts(1000, of=1000, relation=R)])
def test_the_row_of_the_table(counts):
    table = compare(counts, epsilon=0.5, delta=1e-6, exhaustive=False)
    row, plain = table["correlated Gaussian"], table["Gaussian"]
    unit = gaussian_sigma(0.5, 1e-6)
    assert row.variance == pytest.approx(unit**2 * smallest(counts).var()[0], rel=1e-9)
    assert table.floor <= row.variance < plain.variance
    assert certify(row).upper <= row.delta <= 1e-6


def test_factors_of_a_product_share_mu():
    """Squared scales in proportion to the roots of the traces: (sum of these)^2 in all."""
    parts = (Counts(3, of=3, relation=R), Counts(2, of=4, relation=R), L2(1.0, of=2, relation=R))
    row = best(Product(*parts), epsilon=1.0, delta=1e-6, family="correlated-gaussian")
    traces = [float(np.sum(smallest(part).var())) for part in parts[:2]] + [2.0]
    unit = gaussian_sigma(1.0, 1e-6)
    assert 9 * row.variance == pytest.approx(unit**2 * sum(map(math.sqrt, traces)) ** 2, rel=1e-9)
    found = certify(row)
    assert verify(found).independent
    assert float(found.lower) == pytest.approx(1e-6, rel=1e-8)


def test_an_ellipsoid_needs_its_own_matrix():
    """Trace of Sigma >= M is least at M itself; independent noise needs the longest axis."""
    matrix = np.array([[2.0, 1.0], [1.0, 2.0]])
    ball = Ellipsoid.of_matrix(matrix, relation=R)
    table = compare(ball, epsilon=1.0, delta=1e-6, exhaustive=False)
    unit = gaussian_sigma(1.0, 1e-6)
    assert table["correlated Gaussian"].variance == pytest.approx(2.0 * unit**2, rel=1e-9)
    assert table["Gaussian"].variance == pytest.approx(3.0 * unit**2, rel=1e-9)
    assert certify(table["Gaussian"]).upper <= 1e-6


def test_releases_add_up_as_gaussian_ones():
    counts = Counts(5, of=5, relation=R)
    noise, other = smallest(counts).scaled(8.0), Counts(3, of=3, relation=ONE)
    for times in (1, 4):
        ours, theirs = Budget(9.0, 1e-6), Budget(9.0, 1e-6, relation=R)
        ours.spend(noise, counts, times=times)
        theirs.spend(Gaussian(8.0), 1.0, times=times)
        assert ours.epsilon_of() == pytest.approx(theirs.epsilon_of(), rel=1e-9)
        assert Budget.from_json(ours.to_json()).epsilon_of() == ours.epsilon_of()
    with pytest.raises(ValueError, match="for each coordinate"):
        Budget(9.0, 1e-6).spend(noise, other)


def test_noise_in_a_plane_protects_only_the_plane():
    bins = Counts(1, of=4, exactly=True, relation=ONE)
    noise = smallest(bins).scaled(3.0)
    draws = noise.rvs(1000, 1)
    assert np.max(np.abs(np.sum(draws, axis=1))) < 1e-12
    for other in (Counts(1, of=4, relation=ONE), L2(1.0, of=4, relation=ONE)):
        assert noise.mu(other) == math.inf
        with pytest.raises(ValueError, match="expected some in every direction"):
            certify(noise, other, 1.0)
    law = stats.multivariate_normal(cov=noise.covariance(), seed=1, allow_singular=True)
    assert noise.logpdf(draws) == pytest.approx(law.logpdf(draws), rel=1e-9)
    assert noise.logpdf([1.0, 0.0, 0.0, 0.0]) == -math.inf


@for_all("unit", [TILTED, Spheroid(1.0, 3.0, of=3)])
def test_density_moments_and_draws(unit):
    noise = CorrelatedGaussian(unit, 1.5)
    draws = noise.rvs(40_000, 1)
    law = stats.multivariate_normal(cov=noise.covariance(), seed=1)
    assert noise.logpdf(draws[:50]) == pytest.approx(law.logpdf(draws[:50]), rel=1e-10)
    assert np.cov(draws.T) == pytest.approx(noise.covariance(), abs=0.3)
    assert noise.var() == pytest.approx(np.diag(noise.covariance()), rel=1e-12)
    share = np.mean(np.abs(draws) <= noise.half_width(0.8), axis=0)
    assert share == pytest.approx(0.8, abs=0.01)
    assert np.mean(np.abs(draws), axis=0) == pytest.approx(noise.mean_abs(), rel=0.02)
    assert noise.scaled(2.0).var() == pytest.approx(4.0 * noise.var(), rel=1e-14)
    # The layers of a density that falls with a norm (docs/joint-noise.md, section 1).
    assert noise.layer_moment(2) * unit.mean_square == pytest.approx(noise.var(), rel=1e-12)
    assert noise.layer_moment(1) * unit.mean_abs == pytest.approx(noise.mean_abs(), rel=1e-12)


def test_every_problem_is_named():
    with pytest.raises(ValueError, match="ball") as error:
        CorrelatedGaussian(L2(1.0, of=2), sigma=0.0)
    assert "sigma" in str(error.value)
