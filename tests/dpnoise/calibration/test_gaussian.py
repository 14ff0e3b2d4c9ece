"""Gaussian calibration: never below the exact sigma, nor far above it; the classical sigma."""

import itertools
import math

import dp_accounting
import mpmath as mp
import numpy as np
import pytest

from dpnoise.calibration import gaussian as module
from dpnoise.calibration.gaussian import classical_gaussian_sigma, gaussian_sigma
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise_papers.verify.oracles import is_private

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


def test_sigma_is_monotone_and_linear_in_sensitivity():
    epsilon, delta = np.array(EPSILONS)[:, None], np.array(DELTAS)
    sigma = gaussian_sigma(epsilon, delta)
    assert np.all(np.diff(sigma, axis=0) <= 1e-12 * sigma[1:])
    assert np.all(np.diff(sigma, axis=1) < 0)
    assert np.allclose(gaussian_sigma(epsilon, delta, 8.0), 8 * sigma, rtol=1e-15)
    assert isinstance(gaussian_sigma(1, 1e-5), float)


def test_an_unverified_result_is_never_returned(monkeypatch):
    profile = module.log_delta_and_slope
    calls = itertools.count()

    def worse_at_the_end(mu, epsilon):
        log_delta, slope = profile(mu, epsilon)
        return log_delta + 1e-6 * next(calls), slope

    monkeypatch.setattr(module, "log_delta_and_slope", worse_at_the_end)
    with pytest.raises(RuntimeError, match="not verified at epsilon="):
        gaussian_sigma(1.0, 1e-5)


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
