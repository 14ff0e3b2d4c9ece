"""Every noise family against its density: quadrature, 80-digit sums, limits, sampling."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

from dpnoise.noise import FlippedHuber, Gaussian, Laplace, Noise, flipped_huber_variance

RATIOS = [0.0, 1e-12, 1e-6, 1e-3, 0.05, 0.5, 0.97, 1.0, 2.0, 5.5, 12.0, 26.0, 39.0, 300.0, 2e4]
FLIPPED = [FlippedHuber(b * g, g) for b, g in zip(RATIOS, [1.0, 0.3, 7.0] * 5, strict=True)]
FAMILIES = [Gaussian(1.0), Gaussian(0.02), Gaussian(3e5), Laplace(1.0), Laplace(40.0), *FLIPPED]
every = pytest.mark.parametrize("noise", FAMILIES, ids=repr)
flipped = pytest.mark.parametrize("noise", FLIPPED, ids=repr)


class Exact:
    """A family recomputed by its definition: pieces exp(-rate t - t^2 / (2 s^2)) at 80 digits.

    It lists the pieces of the density on t >= 0 as (left, right, rate, curvature, offset), the
    density being proportional to exp(-(offset + rate t + curvature t^2 / 2)).
    """

    def __init__(self, noise):
        if isinstance(noise, Gaussian):
            self.pieces = [(mp.mpf(0), mp.inf, mp.mpf(0), 1 / mp.mpf(noise.sigma) ** 2, mp.mpf(0))]
        elif isinstance(noise, Laplace):
            self.pieces = [(mp.mpf(0), mp.inf, 1 / mp.mpf(noise.beta), mp.mpf(0), mp.mpf(0))]
        else:
            a, g2 = mp.mpf(noise.alpha), mp.mpf(noise.gamma) ** 2
            self.pieces = [(a, mp.inf, mp.mpf(0), 1 / g2, a * a / g2 / 2)]
            if a > 0:
                self.pieces.insert(0, (mp.mpf(0), a, a / g2, mp.mpf(0), mp.mpf(0)))
        self.half = self.moment(0)

    def moment(self, power, start=0):
        """Return the integral of t^power exp(-rho) over t >= start."""
        total = mp.mpf(0)
        for left, right, rate, curvature, offset in self.pieces:
            low = max(left, mp.mpf(start))
            if low >= right:
                continue
            if curvature:
                half_power = mp.mpf(power + 1) / 2
                part = mp.gammainc(half_power, low**2 * curvature / 2, mp.inf) / 2
                part *= (2 / curvature) ** half_power
            else:
                # Not gammainc(n, low, high), which is 0 when the two are close.
                part = mp.gammainc(power + 1, rate * low)
                part -= 0 if right == mp.inf else mp.gammainc(power + 1, rate * right)
                part /= rate ** (power + 1)
            total += part * mp.exp(-offset)
        return total

    def log_density(self, t):
        _, _, rate, curvature, offset = next(p for p in self.pieces if p[0] <= t <= p[1])
        return -(offset + rate * t + curvature * t * t / 2) - mp.log(2 * self.half)

    def log_tail(self, t):
        return mp.log(self.moment(0, t) / (2 * self.half))

    def fisher(self):
        total = mp.mpf(0)
        for left, right, rate, curvature, offset in self.pieces:
            if curvature:
                cut = mp.gammainc(1.5, left**2 * curvature / 2, mp.inf) / 2 * (2 / curvature) ** 1.5
                total += curvature**2 * cut * mp.exp(-offset)
            else:
                high = mp.inf if right == mp.inf else rate * right
                total += rate * mp.gammainc(1, 0, high)
        return total / self.half


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(80):
        yield


def off(value, exact):
    return float(abs(mp.mpf(float(value)) - exact) / abs(exact))


def points(noise):
    """Arguments t >= 0 from the deep centre to the far tail, and the seam if there is one."""
    rng = np.random.default_rng(7)
    near = noise.std() * 10.0 ** rng.uniform(-14, 0, 5)
    far = noise.isf(10.0 ** -np.array([0.5, 3, 16, 80, 299]))
    seam = [noise.alpha * f for f in (1 - 1e-9, 1, 1 + 1e-9)] if hasattr(noise, "alpha") else []
    return [0.0, *near.tolist(), *far.tolist(), *seam]


@every
def test_density_and_tail_hold_to_1e_12(noise):
    exact = Exact(noise)
    for t in points(noise):
        log_density, log_tail = exact.log_density(mp.mpf(t)), exact.log_tail(mp.mpf(t))
        # The scale of a logarithm near 0 is that of its terms.
        assert abs(noise.logpdf(t) - float(log_density)) <= 1e-12 * (1 + abs(float(log_density)))
        assert off(noise.logsf(t), log_tail) <= 1e-12
        if log_density > -700:
            assert off(noise.pdf(t), mp.exp(log_density)) <= 1e-12
        if log_tail > -700:
            assert off(noise.sf(t), mp.exp(log_tail)) <= 1e-12
            assert off(noise.cdf(-t), mp.exp(log_tail)) <= 1e-12
            assert off(noise.logsf(-t), mp.log1p(-mp.exp(log_tail))) <= 1e-12
        assert off(noise.sf(-t), 1 - mp.exp(log_tail)) <= 1e-15


@every
def test_logsf_does_not_underflow(noise):
    t = 1e3 * noise.isf(1e-300)
    assert noise.sf(t) == 0
    assert off(noise.logsf(t), Exact(noise).log_tail(mp.mpf(float(t)))) <= 1e-12
    assert noise.logsf(math.inf) == -math.inf
    assert noise.logpdf(1e200 * noise.std()) < -1e200


@every
def test_quantiles_invert_the_tail(noise):
    """The error in t is below 1e-12 of t, from the centre to 1e-307."""
    exact = Exact(noise)
    centre = 0.5 - 2.0 ** -np.array([53, 40, 20, 10, 5, 3, 2.5])
    tails = [*centre.tolist(), 0.2, 0.1, 1e-2, 1e-5, 1e-20, 1e-100, 1e-300, 1e-307]
    for tail in tails:
        t = mp.mpf(float(noise.isf(tail)))
        hazard = mp.exp(exact.log_density(t) - exact.log_tail(t))
        assert abs(exact.log_tail(t) - mp.log(mp.mpf(tail))) <= 1e-12 * t * hazard


@every
def test_quantiles_are_odd_and_defined_on_the_unit_interval(noise):
    p = np.array([2.0**-60, 1e-3, 0.25, 0.4, 0.5 - 2.0**-40])
    assert np.array_equal(noise.ppf(p), -noise.isf(p))
    assert np.array_equal(noise.ppf(1 - p[1:]), -noise.ppf(1 - (1 - p[1:])))
    assert noise.ppf(0.5) == 0
    assert math.copysign(1.0, noise.ppf(0.5)) == 1.0
    assert noise.ppf(0) == -math.inf
    assert noise.isf([0, 1]).tolist() == [math.inf, -math.inf]
    assert np.isnan(noise.ppf([-0.1, 1.1, math.nan])).all()


@every
def test_moments_hold_to_1e_12(noise):
    exact = Exact(noise)
    assert off(noise.var(), exact.moment(2) / exact.half) <= 1e-12
    assert off(noise.std() ** 2, exact.moment(2) / exact.half) <= 1e-12
    assert off(noise.mean_abs(), exact.moment(1) / exact.half) <= 1e-12
    assert off(noise.fisher_information(), exact.fisher()) <= 1e-12


@every
def test_density_is_the_derivative_of_the_cdf(noise):
    """Gauss-Legendre quadrature of the density over intervals gives the cdf and the total 1."""
    edges = [*noise.ppf([1e-18, 1e-9, 1e-4, 0.01, 0.1, 0.3, 0.5])]
    edges = sorted({*edges, *(-e for e in edges), *seams(noise, edges[0])})
    nodes, weights = np.polynomial.legendre.leggauss(60)
    left, right = np.array(edges[:-1]), np.array(edges[1:])
    t = 0.5 * (left + right)[:, None] + 0.5 * (right - left)[:, None] * nodes
    mass = 0.5 * (right - left) * (noise.pdf(t) @ weights)
    assert np.allclose(mass, noise.cdf(right) - noise.cdf(left), rtol=1e-10, atol=1e-15)
    assert abs(mass.sum() - 1) < 1e-13


def seams(noise, least):
    alpha = getattr(noise, "alpha", 0.0)
    return [-alpha, alpha] if 0 < alpha < -least else []


@every
def test_scaling_shapes_and_types(noise):
    wide = noise.scaled(3.0)
    assert type(wide) is type(noise)
    t = noise.std() * np.array([[0.1, -2.0, 5.0]])
    assert np.allclose(wide.sf(3 * t), noise.sf(t), rtol=1e-12)
    assert math.isclose(wide.var(), 9 * noise.var(), rel_tol=1e-14)
    for name in ("pdf", "logpdf", "cdf", "sf", "logsf"):
        method = getattr(noise, name)
        assert method(t).shape == t.shape
        assert isinstance(method(0.5), float)
        assert math.isnan(method(math.nan))
        assert method([0.5]) == method(0.5) == method(np.float32(0.5))
    assert isinstance(noise.ppf(0.2), float)
    assert isinstance(noise.rvs(random_state=0), float)


@every
def test_samples_follow_the_cdf(noise):
    """Kolmogorov-Smirnov at a false-alarm rate of 1e-4 per family (fixed seed)."""
    draws = noise.rvs((40, 500), random_state=11)
    assert draws.shape == (40, 500)
    assert stats.kstest(draws.ravel(), noise.cdf).pvalue > 1e-4
    again = noise.rvs((40, 500), random_state=np.random.default_rng(11))
    assert np.array_equal(draws, again)
    # Signs are fair: 20,000 tosses leave +-6 standard deviations once in 5e8.
    assert abs(np.sign(draws).mean()) < 6 / math.sqrt(draws.size)


@pytest.mark.parametrize(("alpha", "gamma"), [(0.3, 1.0), (2.0, 1.5), (7.0, 2.0)])
def test_printed_equations_hold(alpha, gamma):
    """Equations (9)-(12) of the paper, literally, at 80 digits."""
    noise, a, g = FlippedHuber(alpha, gamma), mp.mpf(alpha), mp.mpf(gamma)
    u = a * a / (2 * g * g)
    omega = 2 * (mp.sqrt(2 * mp.pi) * mp.ncdf(-a / g) + 2 * g / a * mp.sinh(u))
    for t in (mp.mpf("0.1"), a / 2, a, a + g, a + 4 * g):
        if t <= a:
            upper = mp.exp(a * (a - t) / (2 * g * g)) * mp.sinh(a * t / (2 * g * g))
            cdf = mp.mpf(1) / 2 + 2 * g / (a * omega) * upper
        else:
            cdf = 1 - mp.sqrt(2 * mp.pi) / omega * mp.ncdf(-t / g)
        assert off(noise.cdf(float(t)), cdf) < 1e-14
    spread = 1 - (2 * g / a) ** 3 * (u * mp.cosh(u) - mp.sinh(u)) / omega
    information = 1 + 4 * g / (a * omega) * (u * mp.exp(u) - mp.sinh(u))
    assert off(noise.var(), g * g * spread) < 1e-14
    assert off(noise.fisher_information(), information / g**2) < 1e-14


def test_flipped_huber_tends_to_gaussian_and_laplace():
    t = np.array([-6.0, -1.0, 0.0, 0.01, 2.0, 9.0])
    for b, tolerance in [(0.0, 1e-14), (1e-9, 1e-8), (1e-3, 1e-2)]:
        assert np.allclose(FlippedHuber(b, 1.0).pdf(t), Gaussian(1.0).pdf(t), rtol=tolerance)
    for alpha in (400.0, 1e6, 1e12):
        near = FlippedHuber(alpha, math.sqrt(1.5 * alpha))
        assert np.allclose(near.logsf(t), Laplace(1.5).logsf(t), rtol=1e-12)
        assert math.isclose(near.var(), Laplace(1.5).var(), rel_tol=1e-12)


def test_variance_and_information_lie_between_the_limits():
    """Paper, section III-B: variance below gamma^2, NFI from 1 (Gaussian) to 2 (Laplace)."""
    ratios = np.geomspace(1e-3, 1e3, 200)
    variance = flipped_huber_variance(ratios, 1.0)
    nfi = [n.var() * n.fisher_information() for n in (FlippedHuber(b, 1.0) for b in ratios)]
    assert np.all(np.diff(variance) < 0)
    assert np.all(variance <= 1)
    assert np.all((np.array(nfi) >= 1) & (np.array(nfi) <= 2 + 1e-12))
    assert math.isclose(nfi[-1], 2, rel_tol=1e-12)


def test_variance_broadcasts_like_the_class():
    alpha, gamma = np.array([[0.0], [0.4], [30.0]]), np.array([0.5, 2.0])
    grid = flipped_huber_variance(alpha, gamma)
    assert grid.shape == (3, 2)
    for i, j in np.ndindex(grid.shape):
        assert grid[i, j] == FlippedHuber(alpha[i, 0], gamma[j]).var()
    assert isinstance(flipped_huber_variance(1, 1), float)


@flipped
def test_centre_mass_is_the_mass_up_to_alpha(noise):
    exact = Exact(noise)
    mass = 1 - exact.moment(0, noise.alpha) / exact.half
    assert abs(noise.centre_mass() - float(mass)) <= 1e-15 * (1 + float(mass))


def test_far_tails_are_sampled():
    """A level of 800 lies beyond the smallest double; 1 - cdf could never reach it."""
    level = np.array([0.0, 1e-9, 800.0])
    for noise in (Gaussian(2.0), FlippedHuber(1.0, 2.0), Laplace(2.0)):
        x = noise._magnitude(level)
        assert np.allclose(noise.logsf(x), -level - math.log(2), rtol=1e-13)
        assert math.isclose(x[1] * noise.pdf(0.0) * 2, 1e-9, rel_tol=1e-8)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Gaussian(0), ["Gaussian noise", "sigma", "(0, inf]", "got 0"]),
        (lambda: Gaussian("one"), ["sigma", "'one'"]),
        (lambda: Gaussian(True), ["sigma", "True"]),
        (lambda: Laplace(math.inf), ["Laplace noise", "beta", "inf"]),
        (lambda: Laplace(math.nan), ["beta", "nan"]),
        (lambda: FlippedHuber(-1, 0), ["flipped Huber noise", "alpha", "got -1", "gamma", "got 0"]),
        (lambda: FlippedHuber(1e200, 1e-200), ["alpha / gamma", "1e+150", "inf"]),
        (lambda: FlippedHuber(1, 1).scaled(0), ["scaling", "factor", "got 0"]),
        (lambda: flipped_huber_variance([1, -2], [1, math.nan]), ["alpha", "-2", "gamma", "nan"]),
        (lambda: flipped_huber_variance("a", 0.0), ["alpha", "'a'", "gamma", "0.0"]),
        (lambda: flipped_huber_variance([[1], [1, 2]], 1.0), ["alpha", "[[1], [1, 2]]"]),
    ],
)
def test_bad_input_names_every_problem(make, words):
    with pytest.raises(ValueError, match="expected") as error:
        make()
    assert all(word in str(error.value) for word in words)


def test_noise_is_frozen_comparable_and_abstract():
    assert FlippedHuber(1, 2) == FlippedHuber(1.0, np.float64(2))
    with pytest.raises(AttributeError):
        Gaussian(1.0).sigma = 2.0
    with pytest.raises(TypeError, match="abstract"):
        Noise()


def test_scipy_agrees():
    t = np.linspace(-9, 9, 37)
    for ours, theirs in [
        (Gaussian(1.7), stats.norm(0, 1.7)),
        (Laplace(0.8), stats.laplace(0, 0.8)),
    ]:
        for name in ("pdf", "logpdf", "cdf", "sf", "logsf"):
            assert np.allclose(getattr(ours, name)(t), getattr(theirs, name)(t), rtol=1e-12)
        assert np.allclose(ours.ppf(special.expit(t)), theirs.ppf(special.expit(t)), rtol=1e-11)
