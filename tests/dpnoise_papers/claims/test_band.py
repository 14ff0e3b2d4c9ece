"""Bands of numbers and of orders."""

import math

from dpnoise_papers.claims.band import band_around, band_beyond


def test_a_number_has_a_band_on_both_sides():
    assert band_around(3.0, 2.0, 0.5, 1.5) == (3.0, 2.0, (1.5, 2.5), (0.5, 3.5))


def test_an_order_has_one_end_and_noise_on_both_sides_of_the_bound():
    assert band_beyond(3.0, 2.0, 0.5, 1.0, downwards=False) == (
        3.0, 2.0, (2.5, math.inf), (1.0, math.inf),
    )  # fmt: skip
    assert band_beyond(3.0, 2.0, 0.5, 1.0, downwards=True) == (
        3.0, 2.0, (-math.inf, 1.5), (-math.inf, 3.0),
    )  # fmt: skip
