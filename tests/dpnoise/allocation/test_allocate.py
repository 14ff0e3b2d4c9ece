"""The one call for allocations: what is refused, and in how many words."""

import math

import numpy as np
import pytest

from dpnoise import FlippedHuber, Gaussian, Laplace, Staircase, Subbotin, TruncatedLaplace, allocate

GOOD = {"epsilon": 1.0, "delta": 1e-6}


@pytest.mark.parametrize(
    ("sensitivities", "options", "names"),
    [
        ([1.0, -2.0], {}, ["sensitivities", "-2"]),
        ([1.0, math.nan], {}, ["sensitivities", "nan"]),
        ([1.0, math.inf], {}, ["sensitivities", "inf"]),
        ([], {}, ["sensitivities", "K >= 1"]),
        ([[1.0, 2.0]], {}, ["sensitivities", "(1, 2)"]),
        (3.0, {}, ["sensitivities", "shape"]),
        (["a"], {}, ["sensitivities"]),
        ([1e-200], {}, ["sensitivities", "1e-200"]),
        ([1e200], {}, ["sensitivities", "1e+200"]),
        ([1.0], {"p": 0.5}, ["p: ", "0.5"]),
        ([1.0], {"p": math.inf}, ["p: ", "inf"]),
        ([1.0], {"p": math.nan}, ["p: ", "nan"]),
        ([1.0], {"delta": 0.0}, ["delta", "Gaussian"]),
        ([1.0], {"delta": 0.0, "noise": FlippedHuber(1, 1)}, ["delta", "FlippedHuber"]),
        ([1.0], {"delta": 1.0}, ["delta", "1.0"]),
        ([1.0], {"delta": -1e-9}, ["delta", "-1e-09"]),
        ([1.0], {"delta": 1e-310}, ["delta", "1e-310"]),
        ([1.0], {"epsilon": -1.0}, ["epsilon", "-1.0"]),
        ([1.0], {"epsilon": math.inf}, ["epsilon", "inf"]),
        ([1.0], {"epsilon": 0.0, "delta": 0.0, "noise": "laplace"}, ["epsilon", "got 0.0"]),
        ([1.0], {"epsilon": 1e9, "noise": "laplace"}, ["epsilon", "10000"]),
        ([1.0], {"scheme": "best"}, ["scheme", "'best'", "optimal"]),
        ([1.0], {"noise": "cauchy"}, ["noise", "'cauchy'"]),
        ([1.0], {"noise": Staircase(1.0, 1.0, 0.5)}, ["noise", "Staircase"]),
        ([1.0], {"noise": [Gaussian(1.0)] * 2}, ["noise", "length 1", "2"]),
        ([1.0], {"noise": TruncatedLaplace(1.0, 5.0)}, ["unbounded support", "TruncatedLaplace"]),
        ([1.0], {"noise": "laplace", "epsilon": 1e-8, "delta": 1e-9}, ["epsilon, delta", "1e-07"]),
        ([1.0], {"noise": 7}, ["noise", "7"]),
        ([1.0, 2.0], {"noise": [Laplace(1.0), Subbotin(1.5, 1.0)]}, ["noise", "Subbotin"]),
        ([1.0, 2.0], {"weights": [1.0]}, ["weights", "(1,)"]),
        ([1.0], {"weights": [0.0]}, ["weights", "0.0"]),
        ([1.0], {"weights": [-1.0]}, ["weights", "-1.0"]),
        ([1.0], {"weights": [math.inf]}, ["weights", "inf"]),
        ([1.0], {"compositions": 0}, ["compositions", "0"]),
        ([1.0], {"compositions": 1.5}, ["compositions", "1.5"]),
        ([1.0], {"compositions": 10**400}, ["compositions"]),
        (range(1, 400), {"noise": "laplace"}, ["different", "256", "399"]),
        ([1.0, 2.0], {"noise": "laplace", "compositions": 10**8}, ["times compositions"]),
        ([1.0, 2.0], {"noise": [Gaussian(1), Gaussian(2)], "p": 100.0}, ["p: ", "100"]),
        ([1e100] * 3, {"epsilon": 0.0, "delta": 1e-300}, ["scales"]),
    ],
)
def test_bad_input_is_refused_by_name(sensitivities, options, names):
    with pytest.raises(ValueError, match="allocation") as caught:
        allocate(sensitivities, **(GOOD | options))
    assert all(name in str(caught.value) for name in names), str(caught.value)


def test_every_problem_is_named_at_once():
    with pytest.raises(ValueError, match="allocation") as caught:
        allocate(
            [-1.0], noise="x", scheme="y", epsilon=-1.0, delta=2.0, p=0.0, weights=[0.0],
            compositions=0,
        )  # fmt: skip
    words = (
        "sensitivities",
        "noise",
        "scheme",
        "epsilon",
        "delta",
        "p:",
        "weights",
        "compositions",
    )
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_any_sequence_of_numbers_will_do_and_is_left_alone(kind):
    given = kind([3, 1, 0])
    scales = allocate(given, **GOOD)
    assert scales.shape == (3,)
    assert scales.dtype == np.float64
    assert np.array_equal(given, kind([3, 1, 0]))
    assert np.array_equal(scales, allocate([3.0, 1.0, 0.0], **GOOD))


def test_noise_of_a_coordinate_that_never_moves_does_not_matter():
    found = allocate([1.0, 0.0, 2.0], noise=[Gaussian(1), Laplace(1), Gaussian(2)], **GOOD)
    assert found[1] == 0.0
    inner = allocate([1.0, 2.0], noise=[Gaussian(1), Gaussian(2)], **GOOD)
    np.testing.assert_array_equal(found[[0, 2]], inner)


@pytest.mark.parametrize("strange", [np.array(1.5), np.ones((2, 2)), None, 3.0])
def test_noise_and_scheme_of_another_type_are_named(strange):
    with pytest.raises(ValueError, match=r"noise: expected.*scheme: expected"):
        allocate([1.0, 2.0], noise=strange, scheme=strange, epsilon=1.0, delta=1e-3)
