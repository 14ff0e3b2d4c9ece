"""One coordinate: noise of minimum variance, and profiles for many parameters at once."""

import math
from dataclasses import dataclass
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy import special

from dpnoise import (
    FlippedHuber,
    Huber,
    OffsetSymmetricGaussian,
    Subbotin,
    TruncatedLaplace,
    calibrate,
    gaussian_sigma,
    privacy_profile,
    vector_profile,
)
from dpnoise.calibration import scalar as module
from dpnoise.calibration.budget import Target
from dpnoise.calibration.scalar import kink_shape, laplace_scale
from dpnoise.calibration.search import scale_optimum
from dpnoise.noise import FAMILIES as KNOWN
from dpnoise.noise.base import Noise
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise_papers.verify.oracles.densities import flipped_huber
from exact_noise import exact_noise
from oracles.exact import Pieces

SHAPES = {
    "flipped-huber": module.flipped_huber,
    "offset-symmetric-gaussian": module.offset_gaussian,
    "truncated-laplace": module.truncated_laplace,
}
FAMILIES = tuple(SHAPES)
BUDGETS = [
    (0.3, 1e-6),  # kink
    (1e-3, 1e-100),  # kink, far out
    (0.3, 1e-300),
    (1.0, 1e-3),
    (0.3, 0.2),  # near the Gaussian
    (0.0, 0.01),  # Gaussian
    (0.0, 0.95),
    (3.0, 0.7),
    (10.0, 1e-8),  # Laplace limit
    (30.0, 0.1),
    (100.0, 1e-6),
]
SUBBOTIN = pytest.param("subbotin", marks=pytest.mark.slow)


def random_budgets(seed, count):
    rng = np.random.default_rng(seed)
    return zip(10 ** rng.uniform(-3, 1.5, count), 10 ** rng.uniform(-12, -0.05, count), strict=True)


@pytest.mark.parametrize("family", [*FAMILIES, SUBBOTIN, "huber", "laplace", "gaussian"])
def test_result_is_private_by_the_definition(family):
    budgets = [*BUDGETS, *random_budgets(3, 8)] if family in FAMILIES else random_budgets(4, 6)
    for epsilon, delta in budgets:
        found = calibrate(family, epsilon=epsilon, delta=delta, sensitivity=3.0)
        exact = mp.exp(exact_noise(found.noise).log_delta(3.0, epsilon))
        assert exact <= found.delta <= delta, (epsilon, delta)
        assert found.variance == found.noise.var()
        assert found.variance >= found.infimum * (1.0 - 1e-12)
        assert not found.attained or found.variance == found.infimum
        assert found.variance <= found.infimum * (1.0 + 2e-9)


def alternatives(family, rng):
    """Yield noise of unit variance over the whole range of shapes."""
    for _ in range(4 if family == "subbotin" else 30):
        shape = 10 ** rng.uniform(-2, 2)
        noise = {
            "flipped-huber": lambda b: FlippedHuber(b, 1.0),
            "offset-symmetric-gaussian": lambda b: OffsetSymmetricGaussian(b**2, 1.0),
            "truncated-laplace": lambda b: TruncatedLaplace(1.0, b),
            "huber": lambda b: Huber(0.2 * b),
            "subbotin": lambda b: Subbotin(1.0 + b / 4.0, 1.0),
        }[family](shape)
        yield noise.scaled(1.0 / noise.std())


@pytest.mark.parametrize("family", [*FAMILIES, "huber", SUBBOTIN])
def test_no_random_shape_is_private_with_less_variance(family):
    rng = np.random.default_rng(17)
    budgets = [*random_budgets(5, 4), (0.3, 0.2), (3.0, 0.3)]
    found = [calibrate(family, epsilon=e, delta=d) for e, d in budgets]
    for noise in alternatives(family, rng):
        for (epsilon, delta), best in zip(budgets, found, strict=True):
            less = noise.scaled(math.sqrt(best.infimum * (1.0 - 1e-7)))
            assert privacy_profile(less, 1.0, epsilon) > delta, (epsilon, delta, noise)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_shape_of_a_dense_scan_is_private_with_less_variance(family):
    """At (1, 0.3) the least truncated Laplace noise is 3 % in shape from the kink."""
    budgets = [(1.0, 0.3), (2.0, 0.2), (0.5, 0.1), (3.0, 0.5), *random_budgets(9, 10)]
    for epsilon, delta in budgets:
        found = calibrate(family, epsilon=epsilon, delta=delta)
        kept = SHAPES[family](epsilon, delta)
        one = found.noise
        best = {
            "flipped-huber": lambda n: n.alpha / n.gamma,
            "offset-symmetric-gaussian": lambda n: n.theta / n.rho,
            "truncated-laplace": lambda n: n.bound / n.beta,
        }[family](one)
        beside = np.geomspace(1e-8, 0.5, 150)
        dense = np.geomspace(max(kept.grid[1], 1e-5), kept.grid[-1], 3000)
        shapes = np.concatenate([dense, best * (1.0 + beside), best * (1.0 - beside)])
        shapes = shapes[shapes > 0.0]
        d = np.sqrt(kept.variance(shapes) / (found.infimum * (1.0 - 1e-8)))
        assert np.all(kept.log_delta(shapes, d, epsilon)[0] > math.log(delta)), (epsilon, delta)


def test_kink_spends_delta_in_closed_form():
    """On alpha = gamma^2 epsilon, where delta has a closed form, as noise with 60 digits."""
    epsilon, delta = np.array([1e-3, 0.3, 1.0, 4.0]), np.array([1e-30, 1e-6, 1e-4, 1e-8])
    b = kink_shape(epsilon, delta)
    for e, target, shape in zip(epsilon, delta, b, strict=True):
        with mp.workdps(60):
            gamma = mp.mpf(float(shape)) / float(e)
            exact = Pieces(flipped_huber, gamma * float(shape), gamma)
            assert abs(exact.delta(1.0, float(e)) / float(target) - 1) < 1e-12
            variance = float(exact.variance())
        gamma = shape / e
        assert FlippedHuber(shape * gamma, gamma).var() == pytest.approx(variance, rel=1e-12)


def test_truncated_laplace_is_the_closed_form_of_geng():
    """Bound (Delta / epsilon) log(1 + (e^epsilon - 1) / (2 delta)), while delta is small."""
    for epsilon, delta in [(0.3, 1e-6), (1.0, 1e-3), (0.01, 1e-9), (2.0, 1e-10)]:
        found = calibrate("truncated-laplace", epsilon=epsilon, delta=delta, sensitivity=2.0)
        bound = 2.0 / epsilon * math.log1p(math.expm1(epsilon) / (2.0 * delta))
        assert found.noise.beta == pytest.approx(2.0 / epsilon, rel=1e-10)
        assert found.noise.bound == pytest.approx(bound, rel=1e-9)


def test_variances_at_the_budget_of_the_paper_are_consistent_with_closed_forms():
    budget = {"epsilon": 0.3, "delta": 1e-6}
    bound = math.log1p(math.expm1(0.3) / 2e-6)
    truncated = 2.0 / 0.09 * special.gammainc(3.0, bound) / -math.expm1(-bound)
    assert calibrate("truncated-laplace", **budget).variance == pytest.approx(truncated, rel=1e-9)
    gaussian = calibrate("gaussian", **budget).variance
    assert gaussian == pytest.approx(gaussian_sigma(0.3, 1e-6) ** 2, rel=1e-10)
    assert truncated < calibrate("flipped-huber", **budget).variance < 2.0 / 0.09 < gaussian


CASES = {
    "flipped-huber": (module.flipped_huber_log_delta, lambda b: FlippedHuber(b, 1.0)),
    "offset": (module.offset_gaussian_log_delta, lambda b: OffsetSymmetricGaussian(b, 1.0)),
    "truncated": (module.truncated_laplace_log_delta, lambda b: TruncatedLaplace(1.0, b)),
}


def draw(rng, count):
    """Yield shapes, shifts and epsilons in all regions of Table I, some of them at their edges."""
    for k in range(count):
        b, d = 10 ** rng.uniform(-3, 1.7), 10 ** rng.uniform(-3, 1.4)
        edge = b * d * rng.uniform(0.5, 1.5), d * d * rng.uniform(0.0, 0.6), d * (2 * b + d) / 2
        yield b, d, [0.0, 10 ** rng.uniform(-3, 1.3), *edge][k % 5]


@pytest.mark.parametrize("name", CASES)
def test_log_delta_agrees_with_the_definition(name):
    log_delta, make = CASES[name]
    cases = np.array(list(draw(np.random.default_rng(11), 60)))
    found, _ = log_delta(*cases.T)
    for (b, d, epsilon), value in zip(cases, found, strict=True):
        exact = float(exact_noise(make(b)).log_delta(d, epsilon))
        assert abs(value - exact) <= 2e-13 * max(1.0, abs(exact)), (b, d, epsilon)


@pytest.mark.parametrize("name", CASES)
def test_slope_is_the_derivative_in_log_d(name):
    log_delta, _ = CASES[name]
    b, d, epsilon = np.array(list(draw(np.random.default_rng(12), 200))).T
    step = 1e-6
    up, down = (log_delta(b, d * np.exp(s), epsilon)[0] for s in (step, -step))
    value, slope = log_delta(b, d, epsilon)
    difference = (up - down) / (2 * step)
    # Not beside kinks, where the derivative jumps, nor where delta is 1 up to rounding.
    one_sided = np.abs(up - 2.0 * value + down) / step
    smooth = (one_sided < 1e-4 * slope) & (value > -200.0) & (slope > 1e-5)
    assert smooth.sum() > 100
    np.testing.assert_allclose(slope[smooth], difference[smooth], rtol=1e-4)


@pytest.mark.parametrize(
    ("variance", "make"),
    [
        (module.offset_gaussian_variance, CASES["offset"][1]),
        (module.truncated_laplace_variance, CASES["truncated"][1]),
    ],
)
def test_variances_are_those_of_the_families(variance, make):
    shapes = np.geomspace(1e-4, 1e4, 60)
    expected = [make(b).var() for b in shapes]
    np.testing.assert_allclose(variance(shapes), expected, rtol=2e-13)


@dataclass(frozen=True)
class Logistic(Noise):
    """Noise with the tail 1 / (1 + e^(t / s)); its loss is bounded, which it does not declare."""

    s: float

    def _log_density(self, x):
        return -x / self.s - 2.0 * np.log1p(np.exp(-x / self.s)) - np.log(self.s)

    def _log_tail(self, x):
        return -np.logaddexp(0.0, x / self.s)

    def _magnitude(self, level):
        return self.s * (level + np.log(2.0 - np.exp(-level)))

    def var(self):
        return (np.pi * self.s) ** 2 / 3.0

    def mean_abs(self):
        return 2.0 * np.log(2.0) * self.s

    def fisher_information(self):
        return 1.0 / (3.0 * self.s**2)

    def _scaled(self, factor):
        return Logistic(factor * self.s)


def test_a_new_family_is_calibrated_by_its_registration_alone(monkeypatch):
    monkeypatch.setitem(KNOWN, "logistic", Logistic)
    for epsilon, delta, sensitivity in [(1.0, 1e-3, 1.0), (0.3, 1e-2, 7.0)]:
        found = calibrate("logistic", epsilon=epsilon, delta=delta, sensitivity=sensitivity)
        assert found.noise == Logistic(found.noise.s)
        assert found.attained
        assert 0.999 * delta < found.delta <= delta
        # For one shift the tail crosses epsilon once: delta in closed form.
        less = calibrate(Logistic, epsilon=epsilon, delta=2.0 * delta, sensitivity=sensitivity)
        assert less.variance < found.variance
        t = np.linspace(-50.0, 50.0, 400_001) * found.noise.s
        tail = 1.0 / (1.0 + np.exp(np.array([t, t + sensitivity]) / found.noise.s))
        assert np.max(tail[0] - np.exp(epsilon) * tail[1]) == pytest.approx(delta, rel=1e-6)


def test_a_declared_bound_of_the_loss_makes_it_pure(monkeypatch):
    class Declared(Logistic):
        def largest_loss(self, sensitivity):
            return Fraction(sensitivity) / Fraction(self.s)

        def _scaled(self, factor):
            return Declared(factor * self.s)

    monkeypatch.setitem(KNOWN, "declared", Declared)
    found = calibrate("declared", epsilon=0.3, dimension=7, sensitivity=0.7)
    assert 7 * Fraction(0.7) / Fraction(found.noise.s) <= Fraction(0.3)
    assert found.noise.s == pytest.approx(7 * 0.7 / 0.3, rel=1e-15)
    assert found.delta == 0.0
    some = calibrate("declared", epsilon=0.3, delta=1e-3, dimension=7, sensitivity=0.7)
    assert some.variance <= found.variance


def test_a_new_family_with_unbounded_loss_is_refused_without_delta(monkeypatch):
    monkeypatch.setitem(KNOWN, "logistic", Logistic)
    with pytest.raises(ValueError, match="delta: expected more than 0 for logistic"):
        calibrate("logistic", epsilon=1.0)


def test_an_unregistered_class_and_two_parameters_without_a_method_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="family: expected one of"):
        calibrate(Logistic, epsilon=1.0, delta=1e-3)

    @dataclass(frozen=True)
    class Two(Logistic):
        more: float = 1.0

    monkeypatch.setitem(KNOWN, "two", Two)
    with pytest.raises(ValueError, match="family: expected one of"):
        calibrate("two", epsilon=1.0, delta=1e-3)


@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_the_scale_of_known_families(dimension):
    """The general search finds what closed forms and exact profiles say."""
    for epsilon, delta in [(1.0, 1e-6), (0.2, 0.01), (3.0, 0.3)]:
        budget = Target(epsilon, delta, 2.0, dimension)
        gaussian = scale_optimum(Gaussian(1.0), budget).noise
        sigma = gaussian_sigma(epsilon, delta, 2.0 * np.sqrt(dimension))
        assert gaussian.sigma == pytest.approx(sigma, rel=1e-7)
        laplace = scale_optimum(Laplace(1.0), budget).noise
        upper = vector_profile(laplace, 2.0, epsilon, copies=dimension).upper
        assert upper <= delta or laplace.beta == 2.0 * dimension / epsilon
        if dimension == 1:
            assert laplace.beta == pytest.approx(2.0 * laplace_scale(epsilon, delta), rel=1e-9)
