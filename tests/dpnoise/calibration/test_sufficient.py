"""Theorem 8: the printed formula, the exact profile beside it, and its optimum."""

import math

import mpmath as mp
import numpy as np
import pytest

from dpnoise import FlippedHuber, calibrate, gaussian_sigma, vector_profile
from dpnoise.calibration.sufficient import theorem_8_delta


def printed(alpha, gamma, epsilon, dimension):
    """Theorem 8 for sensitivity 1, literally; None where its condition on alpha fails."""
    with mp.workdps(60):
        a, g, e, k = map(mp.mpf, (alpha, gamma, epsilon, dimension))
        l1, l2 = k, mp.sqrt(k)
        cost = a * a - max(a - 1, 0) ** 2
        if cost > (2 * g * g * e - l2 * l2) / k:
            return None
        omega = 2 * (mp.sqrt(2 * mp.pi) * mp.ncdf(-a / g) + 2 * g / a * mp.sinh(a * a / g**2 / 2))
        tail = mp.sqrt(mp.pi / 2) / omega
        low, high = mp.mpf(0), a / g + 2
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if mp.ncdf(-middle) > tail else (low, middle)
        extra = k * cost / (2 * g * l2)
        near = mp.ncdf(-(g * e / l2 - l2 / (2 * g) - extra))
        return near - mp.exp(e) * mp.ncdf(-(g * e / l2 + l2 / (2 * g) + extra + low * l1 / l2))


def draw(rng):
    dimension = int(rng.integers(1, 30))
    epsilon, gamma = 10 ** rng.uniform(-1, 1), math.sqrt(dimension) * 10 ** rng.uniform(-1, 1)
    return gamma * 10 ** rng.uniform(-2, 1), gamma, epsilon, dimension


def test_bound_is_the_printed_formula():
    rng, applied = np.random.default_rng(8), 0
    for _ in range(300):
        alpha, gamma, epsilon, dimension = draw(rng)
        exact = printed(alpha, gamma, epsilon, dimension)
        found = theorem_8_delta(alpha, gamma, 1.0, epsilon, dimension)
        if exact is None:
            assert found == 1.0
        elif exact > 1e-300:
            applied += 1
            assert found == pytest.approx(float(exact), rel=1e-10)
    assert applied > 80


def test_bound_is_never_below_the_exact_profile():
    """At the corner of the box, where the gap in the proof of Lemma 7 does not matter."""
    rng, applied = np.random.default_rng(9), 0
    while applied < 25:
        alpha, gamma, epsilon, dimension = draw(rng)
        bound = theorem_8_delta(alpha, gamma, 1.0, epsilon, dimension)
        if 1e-12 < bound < 1.0:
            applied += 1
            noise = FlippedHuber(alpha, gamma)
            assert vector_profile(noise, 1.0, epsilon, copies=dimension).lower <= bound


def test_alpha_zero_is_the_exact_gaussian_condition():
    for epsilon, delta, dimension in [(0.3, 1e-8, 1), (2.0, 1e-6, 20), (0.01, 1e-12, 5)]:
        sigma = float(gaussian_sigma(epsilon, delta, math.sqrt(dimension)))
        assert theorem_8_delta(0.0, sigma, 1.0, epsilon, dimension) == pytest.approx(delta, 1e-9)


@pytest.mark.parametrize("dimension", [1, 3, 20])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-8, 1e-2])
def test_optimum_is_the_better_of_gaussian_and_pure_laplace(dimension, epsilon, delta):
    """Not a theorem: what the search finds for every small delta that was tried."""
    found = calibrate(
        "flipped-huber", epsilon=epsilon, delta=delta, dimension=dimension, method="sufficient"
    )
    gaussian = float(gaussian_sigma(epsilon, delta, math.sqrt(dimension))) ** 2
    laplace = 2.0 * (dimension / epsilon) ** 2
    assert found.infimum == pytest.approx(min(gaussian, laplace), rel=1e-9)
    assert found.attained == (gaussian < laplace)
    assert found.infimum <= found.variance * (1.0 + 1e-12) <= found.infimum * (1.0 + 1e-5)
    assert found.delta <= delta
    assert found.method == "sufficient"


def test_no_pair_on_a_grid_is_vouched_for_with_less_variance():
    alpha, gamma = np.meshgrid(np.geomspace(1e-2, 1e4, 150), np.geomspace(0.1, 1e3, 150))
    for epsilon, delta, dimension in [(0.5, 1e-6, 1), (3.0, 0.5, 1), (8.0, 0.5, 1), (2.0, 1e-4, 6)]:
        found = calibrate(
            "flipped-huber", epsilon=epsilon, delta=delta, dimension=dimension, method="sufficient"
        )
        kept = theorem_8_delta(alpha, gamma, 1.0, epsilon, dimension) <= delta
        variances = [
            FlippedHuber(a, g).var() for a, g in zip(alpha[kept], gamma[kept], strict=True)
        ]
        assert min(variances) >= found.infimum * (1.0 - 1e-9)


def test_bad_input_is_named_at_once():
    with pytest.raises(ValueError, match=r"alpha.*gamma.*sensitivity.*epsilon.*dimension"):
        theorem_8_delta(-1.0, 0.0, 0.0, math.nan, 0)
