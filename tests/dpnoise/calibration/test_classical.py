"""The classical formula: its value, its privacy where the theorem holds, its refusals."""

import math

import numpy as np
import pytest

from dpnoise.calibration.classical import classical_gaussian_sigma
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.privacy.gaussian import gaussian_log_delta


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
def test_bad_input_names_every_problem(arguments, words):
    with pytest.raises(ValueError, match="expected") as error:
        classical_gaussian_sigma(*arguments, allow_large_epsilon=True)
    assert all(word in str(error.value) for word in words)
