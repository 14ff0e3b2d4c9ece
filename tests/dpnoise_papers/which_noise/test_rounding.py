"""Rounding to the safe side, exact decimals unchanged."""

from fractions import Fraction

import pytest

from dpnoise_papers.which_noise.rounding import lower, upper


@pytest.mark.parametrize("x", [0.0, 1.0, 17.0, 1e-6, 199.9166806, 2 / 3, 1e-300, 3.0000000001])
def test_the_number_lies_between(x):
    for digits in (1, 4, 8):
        low, high = lower(x, digits), upper(x, digits)
        assert low <= x <= high
        assert high - low <= 10.0 ** (1 - digits) * x


@pytest.mark.parametrize("x", [1e-12, 1e-9, 1e-6, 1e-4, 0.1, 17.0])
def test_decimals_of_few_digits_stay(x):
    assert upper(x, 4) == lower(x, 4) == x


def test_others_move_to_their_side():
    assert upper(17.0, 1) == 20.0
    assert Fraction(lower(2 / 3, 4)) < Fraction(2, 3) < Fraction(upper(2 / 3, 4))
