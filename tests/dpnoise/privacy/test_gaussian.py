"""The Gaussian profile against its definition at high precision, and its inverse.

Sigma is never below the exact one, nor far above it; the classical sigma is its formula.
"""

import itertools
import math
from fractions import Fraction

import dp_accounting
import mpmath as mp
import numpy as np
import pytest

from dpnoise.noise import Gaussian
from dpnoise.privacy import gaussian as module
from dpnoise.privacy.gaussian import (
    classical_gaussian_sigma,
    gaussian_log_delta,
    gaussian_sigma,
    log_delta_and_slope,
)
from oracles.gaussian import gaussian_delta as profile
from oracles.gaussian import is_private


def exact_delta(mu, epsilon):
    """Return Q(eps/mu - mu/2) - e^eps Q(eps/mu + mu/2), with digits for the cancellation.

    It costs log10(1 / mu) digits twice, and as many as 1 - delta has zeros.
    """
    zeros = int(max(0.0, mu / 2 - epsilon / mu) ** 2 / 4)
    with mp.workdps(60 + 2 * max(0, int(-math.log10(mu))) + zeros):
        return profile(float(mu), float(epsilon))


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


def test_bad_input_for_the_profile_names_every_problem():
    with pytest.raises(ValueError, match="expected") as error:
        gaussian_log_delta([1.0, 0.0], [-1.0, math.inf])
    assert all(word in str(error.value) for word in ("mu", "[0.0]", "epsilon", "[-1.0, inf]"))


EPSILONS = [0.0, 1e-300, 1e-20, 1e-8, 1e-3, 0.1, 0.5, 1.0, 3.0, 20.0, 100.0, 710.0, 1000.0]
DELTAS = [1e-300, 1e-200, 1e-50, 1e-16, 1e-10, 1e-6, 1e-3, 0.1, 0.3, 0.5, 0.51, 0.9, 0.9999]
DELTAS += [1 - 1e-10, 1 - 2.0**-53]
EXCESS = 1e-12


def certify(epsilon, delta, sigma, sensitivity=1.0):
    """Assert that sigma is private and less than 1e-12 above the least that is."""
    case = (float(epsilon), float(delta), float(sigma))
    assert is_private(epsilon, delta, sigma, sensitivity), case
    assert not is_private(epsilon, delta, sigma, sensitivity, widen=EXCESS), case


@pytest.mark.parametrize(
    ("epsilons", "deltas"),
    [
        (EPSILONS, DELTAS),
        ([0.0, *np.geomspace(1e-12, 1e3, 31)], np.geomspace(1e-300, 1e-12, 13)),
        (np.geomspace(1e-6, 1e3, 37), [*np.geomspace(1e-12, 0.5, 19), *(1 - np.logspace(-15, -1))]),
        ([*np.logspace(4, 12, 9), *np.geomspace(2e3, 9e11, 40)], DELTAS),
    ],
    ids=["extreme", "small delta", "dense", "large epsilon"],
)
def test_grid_is_private_and_tight(epsilons, deltas):
    epsilon, delta = np.meshgrid(epsilons, deltas)
    sigma = gaussian_sigma(epsilon, delta)
    for case in zip(epsilon.flat, delta.flat, sigma.flat, strict=True):
        certify(*case)


def test_many_random_pairs():
    """All against our own profile, which `test_privacy_gaussian` checks; a sample against Arb."""
    rng = np.random.default_rng(5)
    n = 150_000
    epsilon = np.where(rng.random(n) < 0.5, 10 ** rng.uniform(-12, 3, n), rng.uniform(0, 20, n))
    delta = 10 ** np.where(rng.random(n) < 0.5, rng.uniform(-300, 0, n), rng.uniform(-15, 0, n))
    sensitivity = 10 ** rng.uniform(-5, 5, n)
    sigma = gaussian_sigma(epsilon, delta, sensitivity)
    for block in np.array_split(np.arange(n), 10):
        mu = sensitivity[block] / sigma[block]
        assert np.all(gaussian_log_delta(mu, epsilon[block]) <= np.log(delta[block]))
    for k in rng.integers(0, n, 300):
        certify(epsilon[k], delta[k], sigma[k], sensitivity[k])


def test_the_certificate_refuses_what_is_not_private():
    sigma = gaussian_sigma(1.0, 1e-5)
    assert is_private(1.0, 1e-5, sigma)
    assert not is_private(1.0, 1e-5, sigma * (1 - 2e-12))
    assert not is_private(1.0, 1e-5, sigma, widen=EXCESS)


def test_zero_epsilon_is_the_inverse_error_function():
    """At epsilon 0 delta is the total variation distance, erf(mu / sqrt 8)."""
    for delta in (1e-200, 1e-6, 0.2, 0.95):
        with mp.workdps(230):
            exact = 1 / (mp.sqrt(8) * mp.erfinv(mp.mpf(delta)))
        assert 0 <= gaussian_sigma(0.0, delta) / float(exact) - 1 < 1e-12


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 4.0, 12.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 0.02])
def test_an_independent_library_agrees(epsilon, delta):
    theirs = dp_accounting.get_sigma_gaussian(epsilon, delta)
    assert math.isclose(gaussian_sigma(epsilon, delta), theirs, rel_tol=1e-6)


def test_sigma_without_digits_is_rounded_up():
    """So small that doubles are sparse, where rounding to the nearest one would be too little."""
    one = Fraction(float(gaussian_sigma(1.0, 1e-6))) * (1 - Fraction(2) ** -39)
    for size in (1, 2, 3, 5, 11, 12345):
        tiny = size * 5e-324
        for found in (gaussian_sigma(1.0, 1e-6, tiny), gaussian_sigma(1.0, 1e-6, [tiny])[0]):
            assert 0 <= Fraction(float(found)) - one * Fraction(tiny) <= 2 * Fraction(5e-324)


def test_sigma_is_monotone_and_linear_in_sensitivity():
    epsilon, delta = np.array(EPSILONS)[:, None], np.array(DELTAS)
    sigma = gaussian_sigma(epsilon, delta)
    assert np.all(np.diff(sigma, axis=0) <= 1e-12 * sigma[1:])
    assert np.all(np.diff(sigma, axis=1) < 0)
    assert np.allclose(gaussian_sigma(epsilon, delta, 8.0), 8 * sigma, rtol=1e-15)
    assert isinstance(gaussian_sigma(1, 1e-5), float)


@pytest.mark.parametrize(("name", "epsilon"), [("_of_one", 1.0), ("log_delta_and_slope", [1.0])])
def test_an_unverified_result_is_never_returned(monkeypatch, name, epsilon):
    original = getattr(module, name)
    calls = itertools.count()

    def worse_at_the_end(mu, epsilon):
        log_delta, slope = original(mu, epsilon)
        return log_delta + 1e-6 * next(calls), slope

    monkeypatch.setattr(module, name, worse_at_the_end)
    with pytest.raises(RuntimeError, match="not verified at epsilon="):
        gaussian_sigma(epsilon, 1e-5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((-1.0, 0.0, 0.0), ["epsilon", "got -1.0", "delta", "got 0.0", "sensitivity"]),
        ((math.nan, 1.0), ["epsilon", "nan", "delta", "[1e-300, 1)", "got 1.0"]),
        (([1.0, math.inf], [1e-5, 1e-301]), ["[inf]", "[1e-301]"]),
        (("one", None), ["epsilon", "'one'", "delta", "None"]),
        ((0.0, 1e-300, 1e100), ["sigma", "1.8e308", "inf"]),
    ],
)
def test_bad_input_names_every_problem(arguments, words):
    with pytest.raises(ValueError, match="expected") as error:
        gaussian_sigma(*arguments)
    assert all(word in str(error.value) for word in words)


def test_it_is_the_formula():
    sigma = classical_gaussian_sigma([0.5, 0.25], 1e-5, [[1.0], [4.0]])
    one = math.sqrt(2 * math.log(1.25e5))
    assert np.allclose(sigma, [[2 * one, 4 * one], [8 * one, 16 * one]], rtol=1e-14)
    assert isinstance(classical_gaussian_sigma(0.5, 1e-300), float)


def test_it_is_private_below_1_and_never_the_least():
    epsilon, delta = np.linspace(1e-3, 0.999, 60)[:, None], np.geomspace(1e-200, 0.99, 60)
    sigma = classical_gaussian_sigma(epsilon, delta)
    assert np.all(gaussian_log_delta(1 / sigma, epsilon) < np.log(delta))
    assert np.all(sigma > gaussian_sigma(epsilon, delta))


def test_large_epsilon_only_when_asked_and_then_unsafe_in_the_end():
    with pytest.raises(ValueError, match=r"epsilon: .*\(0, 1\), got 1.0"):
        classical_gaussian_sigma(1.0, 1e-5)
    sigma = classical_gaussian_sigma(50.0, 1e-5, allow_large_epsilon=True)
    assert gaussian_log_delta(1 / sigma, 50.0) > math.log(1e-5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0.0, 0.0, 0.0), ["epsilon", "delta", "sensitivity"]),
        ((math.nan, 1.0), ["nan", "got 1.0"]),
        ((-1.0, math.inf, -2.0), ["got -1.0", "got inf", "got -2.0"]),
    ],
)
def test_bad_input_for_the_classical_sigma_names_every_problem(arguments, words):
    with pytest.raises(ValueError, match="expected") as error:
        classical_gaussian_sigma(*arguments, allow_large_epsilon=True)
    assert all(word in str(error.value) for word in words)
