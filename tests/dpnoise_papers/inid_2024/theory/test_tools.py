"""Delta from densities: right where the closed form is known, and small where that is."""

import numpy as np
import pytest

from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise_papers.inid_2024.theory.tools import ACCURACY, gaussian_delta


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.3])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("count", [1, 7])
def test_it_is_that_of_the_closed_form(delta, epsilon, count):
    parts = np.arange(1.0, count + 1.0)
    ratios = parts / (np.linalg.norm(parts) * float(gaussian_sigma(epsilon, delta)))
    assert gaussian_delta(ratios, epsilon) == pytest.approx(delta, rel=ACCURACY)


def test_counts_stand_for_equal_coordinates():
    ratios = np.array([0.1, 0.3])
    many = gaussian_delta(np.repeat(ratios, [3, 2]), 0.5)
    assert gaussian_delta(ratios, 0.5, np.array([3.0, 2.0])) == pytest.approx(many, rel=ACCURACY)


def test_what_hardly_moves_has_hardly_a_delta():
    assert abs(gaussian_delta(np.array([0.01, 0.0]), 5.0)) < 1e-30
