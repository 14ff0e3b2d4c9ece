"""Numbers, vectors and sets as sensitivity sets."""

import math

import numpy as np
import pytest

from dpnoise import L2, Box, LInf, as_sensitivity


def test_numbers_vectors_and_sets():
    assert as_sensitivity(2) == LInf(2.0, 1)
    assert as_sensitivity(np.float32(0.5), 3) == LInf(0.5, 3)
    assert as_sensitivity(np.array(2.0), np.int64(2)) == LInf(2.0, 2)
    assert as_sensitivity([1, 0.5], 2) == Box((1.0, 0.5))
    assert as_sensitivity(np.array([1, 2])) == Box([1.0, 2.0])
    given = L2(1.0, of=3)
    assert as_sensitivity(given, 3) is given


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0.0, 0), ["sensitivity", "got 0.0", "dimension", "got 0"]),
        ((math.nan,), ["sensitivity", "nan"]),
        (("1",), ["sensitivity", "'1'"]),
        ((None,), ["sensitivity", "None"]),
        (([1.0, 2.0], 3), ["dimension", "2", "got 3"]),
        ((L2(1.0, of=2), 1), ["dimension", "2", "got 1"]),
        (([],), ["shape of lambdas"]),
        (([[1.0], [1.0, 2.0]],), ["lambdas"]),
    ],
)
def test_bad_input_names_every_problem(arguments, words):
    with pytest.raises(ValueError, match="expected") as error:
        as_sensitivity(*arguments)
    assert all(word in str(error.value) for word in words)
