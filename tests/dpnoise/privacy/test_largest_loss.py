"""Bounds on delta by a largest privacy loss alone, against exact and 50-digit values."""

import math
from fractions import Fraction

import mpmath
import pytest

from dpnoise import Laplace, privacy_profile
from dpnoise.privacy.largest_loss import response_delta, response_log_delta


@pytest.mark.parametrize("loss", [1e-300, 1e-9, 0.5, 1.0, 7.0, 30.0, 700.0, 5000.0])
@pytest.mark.parametrize("share", [0.0, 1e-12, 0.3, 0.999999])
def test_randomized_response_to_fifty_digits(loss, share):
    epsilon = loss * share
    with mpmath.workdps(400):
        exact = mpmath.expm1(mpmath.mpf(epsilon) - mpmath.mpf(loss))
        exact = -exact / (1 + mpmath.exp(-mpmath.mpf(loss)))
        found = response_delta(loss, epsilon)
        assert exact <= found <= exact * (1 + mpmath.mpf(1e-8))
        assert float(mpmath.log(exact)) <= response_log_delta(loss, epsilon)


def test_ends():
    assert response_delta(1.0, 1.0) == response_delta(0.5, 1.0) == 0.0
    assert response_log_delta(1.0, 1.0) == -math.inf
    assert response_delta(math.inf, 1.0) == 1.0
    # A loss above epsilon by less than any double never counts as none.
    above = Fraction(1) + Fraction(1, 10**400)
    assert 0.0 < response_delta(above, 1.0) < 1e-300
    assert response_delta(Fraction(10) ** 400, 1.0) == 1.0


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.9])
def test_noise_of_that_largest_loss_is_below(epsilon):
    exact = float(privacy_profile(Laplace(0.5), 1.0, epsilon))
    assert exact <= response_delta(2.0, epsilon)
