"""A registered family with a scale as its only parameter needs no line in calibration."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from dpnoise import calibrate, gaussian_sigma, vector_profile
from dpnoise.calibration.budget import Budget
from dpnoise.calibration.closed_forms import laplace_scale
from dpnoise.calibration.search import scale_optimum
from dpnoise.noise import FAMILIES
from dpnoise.noise.base import Noise
from dpnoise.noise.exponential_power import Gaussian, Laplace


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
    monkeypatch.setitem(FAMILIES, "logistic", Logistic)
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

    monkeypatch.setitem(FAMILIES, "declared", Declared)
    found = calibrate("declared", epsilon=0.3, dimension=7, sensitivity=0.7)
    assert 7 * Fraction(0.7) / Fraction(found.noise.s) <= Fraction(0.3)
    assert found.noise.s == pytest.approx(7 * 0.7 / 0.3, rel=1e-15)
    assert found.delta == 0.0
    some = calibrate("declared", epsilon=0.3, delta=1e-3, dimension=7, sensitivity=0.7)
    assert some.variance <= found.variance


def test_a_new_family_with_unbounded_loss_is_refused_without_delta(monkeypatch):
    monkeypatch.setitem(FAMILIES, "logistic", Logistic)
    with pytest.raises(ValueError, match="delta: expected more than 0 for logistic"):
        calibrate("logistic", epsilon=1.0)


def test_an_unregistered_class_and_two_parameters_without_a_method_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="family: expected one of"):
        calibrate(Logistic, epsilon=1.0, delta=1e-3)

    @dataclass(frozen=True)
    class Two(Logistic):
        more: float = 1.0

    monkeypatch.setitem(FAMILIES, "two", Two)
    with pytest.raises(ValueError, match="family: expected one of"):
        calibrate("two", epsilon=1.0, delta=1e-3)


@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_the_scale_of_known_families(dimension):
    """The general search finds what closed forms and exact profiles say."""
    for epsilon, delta in [(1.0, 1e-6), (0.2, 0.01), (3.0, 0.3)]:
        budget = Budget(epsilon, delta, 2.0, dimension)
        gaussian = scale_optimum(Gaussian(1.0), budget).noise
        sigma = gaussian_sigma(epsilon, delta, 2.0 * np.sqrt(dimension))
        assert gaussian.sigma == pytest.approx(sigma, rel=1e-7)
        laplace = scale_optimum(Laplace(1.0), budget).noise
        upper = vector_profile(laplace, 2.0, epsilon, copies=dimension).upper
        assert upper <= delta or laplace.beta == 2.0 * dimension / epsilon
        if dimension == 1:
            assert laplace.beta == pytest.approx(2.0 * laplace_scale(epsilon, delta), rel=1e-9)
