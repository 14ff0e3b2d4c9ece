"""Flipped Huber noise: the printed equations, and what lies between Laplace and Gaussian."""

import math
from fractions import Fraction

import mpmath as mp
import pytest

from dpnoise.noise import FlippedHuber, flipped_huber_variance
from exact_noise import exact_noise, off


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(80):
        yield


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


@pytest.mark.parametrize("ratio", [0.0, 1e-6, 0.05, 1.0, 5.5, 39.0, 2e4])
def test_centre_mass_is_the_mass_up_to_alpha(ratio):
    noise = FlippedHuber(ratio * 0.3, 0.3)
    exact = exact_noise(noise)
    mass = 1 - exact.moment(0, noise.alpha) / exact.half
    assert abs(noise.centre_mass() - float(mass)) <= 1e-15 * (1 + float(mass))


@pytest.mark.parametrize(
    ("alpha", "gamma", "words"),
    [
        ([1, -2], [1, math.nan], ["alpha", "-2", "gamma", "nan"]),
        ("a", 0.0, ["alpha", "'a'", "gamma", "0.0"]),
        ([[1], [1, 2]], 1.0, ["alpha", "[[1], [1, 2]]"]),
        (1e200, [1.0, 1e-200], ["alpha / gamma", "1e+150"]),
    ],
)
def test_bad_parameters_of_the_variance_are_all_named(alpha, gamma, words):
    with pytest.raises(ValueError, match="expected") as error:
        flipped_huber_variance(alpha, gamma)
    assert all(word in str(error.value) for word in words)


def test_fractions_are_parameters():
    assert FlippedHuber(Fraction(1, 3), Fraction(5, 2)) == FlippedHuber(1 / 3, 2.5)
