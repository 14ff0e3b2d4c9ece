"""Algorithm 1 as published: right where doubles allow it, and measured where they do not."""

import math

import numpy as np
import pytest
from scipy import special

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise_papers.balle_wang_2018.as_printed import (
    STOPS,
    TOLERANCE,
    _b_minus,
    _b_plus,
    algorithm_1,
)


def loop(epsilon, delta, stop):
    """Return sigma by the same algorithm for one pair, in plain arithmetic."""

    def phi(t):
        return (1 + math.erf(t / math.sqrt(2))) / 2

    def b(x, sign):
        return phi(sign * math.sqrt(epsilon * x)) - math.exp(epsilon) * phi(
            -math.sqrt(epsilon * (x + 2))
        )

    sign = 1 if delta >= b(0, 1) else -1
    low, high = 0.0, 1.0
    while not (b(high, 1) > delta if sign > 0 else b(high, -1) <= delta):
        low, high = high, 2 * high
    while True:
        middle = (low + high) / 2
        value = b(middle, sign)
        near = abs(value - delta) if stop == "delta" else high - low
        if near <= TOLERANCE or middle in {low, high}:
            break
        if value > delta if sign > 0 else value <= delta:
            high = middle
        else:
            low = middle
    half = middle / 2
    return (math.sqrt(1 + half) - sign * math.sqrt(half)) / math.sqrt(2 * epsilon)


@pytest.mark.parametrize("stop", STOPS)
def test_it_is_the_algorithm_pair_by_pair(stop):
    rng = np.random.default_rng(4)
    epsilon, delta = 10 ** rng.uniform(-3, 1, 200), 10 ** rng.uniform(-10, -0.05, 200)
    sigma = algorithm_1(epsilon, delta, stop=stop)
    pairs = zip(epsilon.tolist(), delta.tolist(), strict=True)
    expected = [loop(*pair, stop) for pair in pairs]
    # erf of SciPy and of the C library may differ in the last digit, which delta = 1e-10 feels.
    assert np.allclose(sigma, expected, rtol=1e-6)
    assert sigma.shape == (200,)
    assert isinstance(algorithm_1(1.0, 1e-5), float)


def test_b_is_the_profile_at_its_alpha():
    epsilon, x = np.array([0.05, 1.0, 4.0]), np.array([0.0, 0.3, 2.0])
    for sign, b in ((-1, _b_plus), (1, _b_minus)):
        alpha = np.sqrt(1 + x / 2) + sign * np.sqrt(x / 2)
        delta = np.exp(gaussian_log_delta(np.sqrt(2 * epsilon) / alpha, epsilon))
        assert np.allclose(b(x, epsilon), delta, rtol=1e-12, atol=1e-15)
    middle = 0.5 - np.exp(epsilon) * special.ndtr(-np.sqrt(2 * epsilon))
    assert np.allclose(_b_plus(np.zeros(3), epsilon), middle, rtol=1e-13)


def test_where_delta_is_large_it_is_right_to_its_tolerance():
    epsilon, delta = np.geomspace(1e-3, 5, 30)[:, None], np.geomspace(1e-4, 0.8, 30)
    sigma = algorithm_1(epsilon, delta, stop="delta")
    assert np.allclose(sigma, gaussian_sigma(epsilon, delta), rtol=1e-6)
    reached = np.exp(gaussian_log_delta(1 / sigma, epsilon))
    assert np.all(np.abs(reached - delta) <= 1.1 * TOLERANCE)


def test_where_delta_is_small_it_can_be_unsafe():
    """At delta below the tolerance the first middle that is close enough may be far off."""
    epsilon, delta = np.geomspace(0.1, 10, 200), 1e-14
    sigma = algorithm_1(epsilon, delta, stop="delta")
    excess = gaussian_log_delta(1 / sigma, epsilon) - math.log(delta)
    assert excess.max() > math.log(50)
    assert excess.min() < -math.log(50)


def test_known_to_the_tolerance_is_the_argument():
    """Section 5.1: v* and u* are within the tolerance of the exact root, unlike by the script."""
    epsilon, delta = np.geomspace(0.05, 5, 40)[:, None], np.geomspace(1e-9, 0.3, 20)
    miss = {}
    for stop in ("argument", "delta"):
        # alpha + 1/alpha = 2 sqrt(1 + x/2), so that x = (alpha - 1/alpha)^2 / 2.
        found, exact = (
            0.5 * (a - 1 / a) ** 2
            for a in (s * np.sqrt(2 * epsilon) for s in (
                algorithm_1(epsilon, delta, stop=stop), gaussian_sigma(epsilon, delta)))
        )  # fmt: skip
        miss[stop] = np.abs(found - exact) / np.maximum(1.0, exact)
    # Rounding of B, an ulp over its slope in x, comes on top.
    assert np.quantile(miss["argument"], 0.5) < 1e-11
    assert miss["argument"].max() < 1e-5
    assert np.quantile(miss["delta"], 0.9) > 10 * np.quantile(miss["argument"], 0.9)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.1), (710.0, 0.1), (1e5, 1e-5)])
def test_where_it_has_no_answer_it_is_nan(epsilon, delta):
    assert np.isnan(algorithm_1(epsilon, delta))
    assert np.array_equal(np.isnan(algorithm_1([epsilon, 1.0], delta)), [True, False])


def test_a_search_that_never_meets_its_tolerance_ends():
    """At tolerance 0 most pairs have no middle at which B is delta to the last bit."""
    usual = algorithm_1(np.full(50, 3.0), np.geomspace(1e-3, 0.3, 50), tolerance=0.0)
    assert np.isfinite(usual).all()
    sigma = algorithm_1(np.full(50, 30.0), np.geomspace(1e-3, 0.3, 50), tolerance=0.0, stop="delta")
    assert np.isnan(sigma).any()


def test_bad_input_names_every_problem():
    with pytest.raises(ValueError, match="expected") as error:
        algorithm_1(-1.0, 1.0, tolerance=-1e-3, stop="never")
    assert all(word in str(error.value) for word in ("epsilon", "delta", "-0.001", "never"))
