"""The Gaussian privacy profile against its definition at high precision."""

import math

import mpmath as mp
import numpy as np
import pytest

from dpnoise.noise import Gaussian
from dpnoise.privacy.gaussian import gaussian_log_delta, log_delta_and_slope
from dpnoise_papers.verify.oracles import gaussian_delta as delta


def exact_delta(mu, epsilon):
    """Return Q(eps/mu - mu/2) - e^eps Q(eps/mu + mu/2), with digits for the cancellation.

    It costs log10(1 / mu) digits twice, and as many as 1 - delta has zeros.
    """
    zeros = int(max(0.0, mu / 2 - epsilon / mu) ** 2 / 4)
    with mp.workdps(60 + 2 * max(0, int(-math.log10(mu))) + zeros):
        return delta(float(mu), float(epsilon))


def cases():
    rng = np.random.default_rng(3)
    for _ in range(700):
        draws = [0.0, 10 ** rng.uniform(-12, 3), rng.uniform(0, 5), rng.uniform(0, 1000)]
        epsilon = float(rng.choice(draws))
        y = rng.uniform(-9, 36.9)  # a - h, so that delta runs from 1 - 1e-19 to 1e-300
        mu = -y + math.sqrt(y * y + 2 * epsilon)
        yield (mu if mu > 1e-40 else 10 ** rng.uniform(-12, 1)), epsilon
    for epsilon in (0.0, 1e-300, 1e-9, 1.0, 709.0, 1000.0):
        for mu in (1e-12, 1e-3, 0.39, 0.41, 1.0, 4.0, 30.0, 80.0):
            yield mu, epsilon


def test_profile_holds_to_1e_12():
    """Relative to delta where it is small, to 1 - delta where that is."""
    for mu, epsilon in cases():
        value = float(gaussian_log_delta(mu, epsilon))
        delta = exact_delta(mu, epsilon)
        with mp.workdps(60 + int(mu * mu / 16)):
            rest = 1 - delta
            if delta < mp.mpf("1e-300"):
                assert value < math.log(1e-300) + 1e-9
            elif delta <= 0.5:
                assert abs(value - mp.log(delta)) < 1e-12
            else:  # beneath the smallest double, 0 is right
                assert abs(mp.expm1(value) + rest) < 1e-12 * rest + mp.mpf("1e-300")


def test_profile_is_the_integral_of_the_excess_density():
    noise = Gaussian(1.3)
    t, weights = np.polynomial.legendre.leggauss(200)
    start = 0.7 * 1.3**2 / 0.8 - 0.4  # where the loss of shift 0.8 equals epsilon 0.7
    t = start + 6 * (t + 1)
    excess = noise.pdf(t) - math.exp(0.7) * noise.pdf(t + 0.8)
    delta = 6 * np.sum(weights * np.maximum(excess, 0))
    assert math.isclose(math.exp(gaussian_log_delta(0.8 / 1.3, 0.7)), delta, rel_tol=1e-11)


def test_profile_is_monotone_and_broadcasts():
    mu, epsilon = np.geomspace(1e-3, 60, 80)[:, None], np.linspace(0, 30, 61)
    value = gaussian_log_delta(mu, epsilon)
    assert value.shape == (80, 61)
    assert np.all(np.diff(value, axis=1) <= 0)
    assert np.all(np.diff(value, axis=0) >= 0)
    assert np.all(value <= 0)
    assert isinstance(gaussian_log_delta(1.0, 1.0), float)


def test_slope_is_the_derivative_and_falls():
    """Concavity in log mu carries the calibration."""
    mu, h = np.geomspace(1e-4, 20, 60), 1e-5
    for epsilon in (0.0, 1e-6, 0.3, 8.0, 200.0):
        level, slope = log_delta_and_slope(mu, np.full(60, epsilon))
        ok = (level > -600) & (level < -1e-6)
        wide = [log_delta_and_slope(mu * math.exp(s), np.full(60, epsilon))[0] for s in (h, -h)]
        assert np.allclose(((wide[0] - wide[1]) / (2 * h))[ok], slope[ok], rtol=1e-5)
        assert np.all(np.diff(slope[ok]) <= 1e-12 * slope[ok][1:])


def test_no_overflow_at_the_ends():
    assert gaussian_log_delta(1e-150, 1e3) < -1e100
    assert gaussian_log_delta(1e-300, 0.0) == pytest.approx(
        math.log(1e-300) - 0.5 * math.log(2 * math.pi), abs=1e-12
    )
    assert gaussian_log_delta(1e140, 1e3) == 0


def test_bad_input_names_every_problem():
    with pytest.raises(ValueError, match="expected") as error:
        gaussian_log_delta([1.0, 0.0], [-1.0, math.inf])
    assert all(word in str(error.value) for word in ("mu", "[0.0]", "epsilon", "[-1.0, inf]"))
