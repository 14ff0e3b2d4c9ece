"""Bounds from density and tail alone, against closed forms, quadrature and the inverse."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy import stats

from dpnoise import epsilon_at, privacy_profile, vector_profile
from dpnoise.noise.base import Noise
from dpnoise.noise.exponential_power import Gaussian, Laplace, Subbotin, TruncatedLaplace
from dpnoise.noise.grafted import FlippedHuber, Huber
from dpnoise.noise.stepwise import Staircase
from dpnoise.privacy.profile import log_privacy_profile
from dpnoise.privacy.shift import UnimodalShift
from for_all import for_all
from hockey_stick import hockey_stick

KNOWN = [
    Gaussian(1.0),
    Laplace(0.8),
    FlippedHuber(1.0, 1.2),
    Huber(0.7, 1.4),
    Subbotin(1.5, 0.9),
    Subbotin(7.0, 1.2),
    TruncatedLaplace(1.1, 2.5),
    Staircase(0.8, 1.0, 0.3),
]


@cache
def unit_quantiles(levels):
    return stats.t.isf(0.5 * np.exp(-np.frombuffer(levels)), 3)


@dataclass(frozen=True)
class Student(Noise):
    """Student's t with 3 degrees of freedom: not log-concave, with a bounded loss."""

    log_concave = False

    scale: float

    def _log_density(self, x):
        unit = math.log(2.0 / (math.pi * math.sqrt(3.0)))
        return unit - 2.0 * np.log1p((x / self.scale) ** 2 / 3.0) - math.log(self.scale)

    def _log_tail(self, x):
        return stats.t.logsf(x / self.scale, 3)

    def _magnitude(self, level):
        return self.scale * unit_quantiles(level.tobytes())

    def _scaled(self, factor):
        return type(self)(factor * self.scale)

    def var(self):
        return 3.0 * self.scale**2

    def mean_abs(self):
        return 2.0 * math.sqrt(3.0) / math.pi * self.scale

    def fisher_information(self):
        return 2.0 / 3.0 / self.scale**2


def hidden(noise):
    """The same noise that does not say that it is log-concave."""
    kind = type(noise)
    return type(kind.__name__, (kind,), {"log_concave": False})(*vars(noise).values())


@for_all("noise", KNOWN)
@for_all("shift", [0.1, 3.0])
@for_all("change", [hidden, lambda noise: noise])
def test_bounds_enclose_the_closed_form(noise, shift, change):
    epsilon = np.array([0.0, 0.01, 0.3, 0.8, 1.7, 6.0])
    exact = log_privacy_profile(noise, shift, epsilon)
    low, high = UnimodalShift(change(noise), Fraction(shift)).log_bounds(epsilon)
    assert np.all(low <= exact + 1e-10 * (1.0 - exact.clip(-1e3)))
    assert np.all(high >= exact - 1e-10 * (1.0 - exact.clip(-1e3)))
    if change is not hidden and noise.log_concave:
        some = exact > -600.0
        assert np.all(high[some] - low[some] < 1e-4)


@for_all("shift", [0.3, 1.0, 4.0])
@for_all("epsilon", [0.0, 0.2, 0.6])
def test_heavy_tails_against_quadrature(shift, epsilon):
    t = np.sinh(np.linspace(-15.0, 15.0, 500_001))
    noise = Student(1.0)
    excess = np.maximum(noise.pdf(t) - math.exp(epsilon) * noise.pdf(t + shift), 0.0)
    exact = np.trapezoid(excess, t)
    low, high = UnimodalShift(noise, Fraction(shift)).log_bounds(np.array([epsilon]))
    assert math.exp(low[0]) <= exact * (1.0 + 1e-8)
    assert math.exp(high[0]) >= exact * (1.0 - 1e-8)
    assert privacy_profile(noise, shift, epsilon) == pytest.approx(exact, rel=1e-4)
    assert privacy_profile(Student(1e3), 1e3 * shift, epsilon) == pytest.approx(exact, rel=1e-4)
    back = np.exp(hockey_stick(noise, shift, -epsilon)[0])
    assert back == pytest.approx(-math.expm1(-epsilon) + math.exp(-epsilon) * exact, rel=1e-4)


@for_all("delta", [0.3, 1e-3, 1e-6])
def test_epsilon_is_on_the_private_side(delta):
    noise = Student(1.0)
    epsilon = epsilon_at(noise, 1.0, delta)
    assert privacy_profile(noise, 1.0, epsilon) <= delta
    if epsilon > 0.0:
        assert privacy_profile(noise, 1.0, 0.99 * epsilon) > delta


def test_a_declared_largest_loss_is_pure_dp():
    noise = hidden(Laplace(2.0))
    pair = UnimodalShift(noise, Fraction(1))
    assert pair.largest_loss == 0.5
    assert pair.log_bounds(np.array([0.5, 0.7]))[1].tolist() == [-math.inf] * 2
    assert epsilon_at(noise, 1.0, [0.0, 1e-3])[0] == 0.5


def test_one_coordinate_of_a_vector_and_no_more():
    noise = Student(2.0)
    one = vector_profile(noise, 1.0, [0.0, 0.2])
    assert np.all(one.lower <= one.upper)
    assert one.upper == pytest.approx(privacy_profile(noise, 1.0, [0.0, 0.2]))
    with pytest.raises(ValueError, match="log-concave noise, or some with a closed loss"):
        vector_profile([noise, Gaussian(2.0)], [1.0, 1.0], [0.0, 0.2])


@for_all("beta", [0.3, 1.7, 11.0])
@for_all("change", [hidden, lambda noise: noise])
def test_losses_of_cells_hold_their_rounding(beta, change):
    cells = UnimodalShift(change(Laplace(beta)), Fraction(1)).cells
    right = cells.left >= 0.0  # where the loss is 1 / beta
    assert np.all(cells.low[right] < 1.0 / beta)
    assert np.all(cells.high[right] > 1.0 / beta)
