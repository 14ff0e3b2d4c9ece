"""Integrals of Gaussian densities against the normal distribution function."""

import numpy as np
import pytest
from scipy import special

from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise_papers.balle_wang_2018.theory import privacy


def test_a_tail_is_the_distribution_function():
    x = np.linspace(-40, 12, 801)
    error = np.abs(privacy.log_tail(x) - special.log_ndtr(x))
    assert np.all(error < 1e-14 * (1 + x * x))


def test_the_profile_is_right_over_many_powers_of_ten():
    rng = np.random.default_rng(0)
    epsilon, at = np.exp(rng.uniform(-18, 6, 500)), rng.uniform(-30, 12, 500)
    root = np.sqrt(at * at + 2 * epsilon)
    mu = np.where(at > 0, at + root, 2 * epsilon / (root - at))
    found, known = privacy.log_profile(mu, epsilon), gaussian_log_delta(mu, epsilon)
    assert known.min() < -300
    assert np.all(np.abs(found - known) < 1e-13 * (1 - known))


def test_the_profile_at_epsilon_0_is_the_total_variation():
    mu = np.array([1e-6, 0.1, 1.0, 5.0])
    expected = special.erf(mu / np.sqrt(8))
    assert np.exp(privacy.log_profile(mu, np.zeros(4))) == pytest.approx(expected, rel=1e-13)


def test_the_loss_is_the_level_where_it_is_said_to_be():
    level, distance = np.array([0.0, 3.0, 40.0]), np.array([2.0, 2.0, 0.5])
    sigma = np.array([1.5, 1.5, 3.0])
    expected = distance / 2 - level * sigma**2 / distance
    assert privacy.where_loss_is(level, distance, sigma) == pytest.approx(expected, abs=1e-10)


def test_the_moments_of_the_loss():
    """At s = 0 and s = -1 they are 1; in one coordinate exp(s^2 eta + s eta)."""
    apart, sigma = np.array([[1.0, -2.0, 0.0]] * 3 + [[3.0, 0.0, 0.0]]), np.full(4, 1.5)
    moments = privacy.log_loss_moment(np.array([0.0, -1.0, 0.0, 0.7]), apart, sigma)
    eta = 9 / (2 * 1.5**2)
    assert moments == pytest.approx([0, 0, 0, 0.7 * 1.7 * eta], abs=1e-12)
