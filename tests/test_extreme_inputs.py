"""Extreme and odd arguments of noise and scalar privacy: an answer, or one clear ValueError.

No warning (they are errors), no overflow, no division by zero, no NaN in an answer.
"""

import dataclasses
import itertools
import math

import numpy as np
import pandas as pd
import pytest

from dpnoise import epsilon_at, gaussian_sigma, privacy_profile
from dpnoise.noise import (
    FAMILIES,
    DiscreteGaussian,
    Gaussian,
    KNorm,
    Subbotin,
    flipped_huber_variance,
    staircase_2d_gamma,
    staircase_gamma,
)
from dpnoise.privacy.gaussian import classical_gaussian_sigma, gaussian_log_delta
from dpnoise.privacy.odometer.concentrated import zcdp
from dpnoise.privacy.profile import log_privacy_profile
from dpnoise.privacy.zcdp import (
    epsilon_from_zcdp,
    eta_from_dp,
    transition_cost,
    transition_for_cost,
)

SIZES = [5e-324, 1e-310, 1e-300, 1e-160, 1e-9, 1.0, 3.0, 1e9, 1e160, 1e300, 1.7e308]
ODD = [
    0, 0.0, -0.0, -1.0, math.nan, math.inf, -math.inf, 10**400, True, np.True_, "1", b"1", None,
    1j, object(), {}, [], [1.0, 2.0], [[1.0], [2.0, 3.0]], np.float32(0.5), np.int64(2),
    np.array(3.0), np.array([0.5, 1.0]), np.array(["a"]), np.array([None]), np.array([True]),
    np.ma.masked, np.datetime64("2020-01-01"), pd.Series([0.5, 1.0]),
]  # fmt: skip
CLASSES = {**FAMILIES, "discrete": DiscreteGaussian, "k-norm": KNorm}
GOOD = {
    "staircase": (1.0, 1.0, 0.5),
    "k-norm": (2, 2, 1.0),
}
SCALARS = {
    gaussian_sigma: (0.5, 0.5, 0.5),
    classical_gaussian_sigma: (0.5, 0.5, 0.5),
    gaussian_log_delta: (0.5, 0.5),
    epsilon_from_zcdp: (0.5, 0.5, 0.5),
    eta_from_dp: (0.5, 0.5, 0.25),
    transition_cost: (0.5, 0.5),
    transition_for_cost: (0.5, 0.5),
    staircase_gamma: (0.5, 2),
    staircase_2d_gamma: (0.5,),
    flipped_huber_variance: (0.5, 0.5),
}


def answer(function, *arguments):
    """Return the result, or None where the arguments are refused by one clear error."""
    try:
        return function(*arguments)
    except ValueError as error:
        assert "expected" in str(error), (function, arguments)  # noqa: PT017
        return None


def number(function, *arguments):
    """Return the result as an array without NaN, or None."""
    result = answer(function, *arguments)
    if result is None:
        return None
    result = np.asarray(result, dtype=float)
    assert not np.isnan(result).any(), (function, arguments)
    return result


def extremes(name):
    """Yield noise with parameters of all sizes."""
    count = len(dataclasses.fields(CLASSES[name]))
    if name == "k-norm":
        grid = itertools.product((1, 2, math.inf), (1, 3, 200), SIZES)
    elif count == 3:
        grid = itertools.product((1e-100, 1e-9, 1.0, 700.0), SIZES, (5e-324, 0.3, 1 - 2.0**-53))
    else:
        grid = itertools.product(SIZES, repeat=count)
    for parameters in grid:
        noise = answer(CLASSES[name], *parameters)
        if noise is not None:
            yield noise


@pytest.mark.parametrize("name", CLASSES)
def test_odd_parameters(name):
    good = GOOD.get(name, (1.0,) * len(dataclasses.fields(CLASSES[name])))
    for place, value in itertools.product(range(len(good)), ODD):
        answer(CLASSES[name], *good[:place], value, *good[place + 1 :])


@pytest.mark.parametrize("name", CLASSES)
def test_methods_of_noise_of_any_size(name):
    t = np.array([0.0, 5e-324, 1e-300, 0.5, 1.0, 1e9, 1e300, 1.7e308, math.inf])
    t, p = np.concatenate([t, -t]), np.array([0.0, 5e-324, 1e-9, 0.25, 0.5, 1 - 1e-9, 1.0])
    every = list(extremes(name))
    for noise in every[:: 1 + len(every) // 60]:
        at = t if hasattr(noise, "isf") else np.stack([t] * noise.dimension, axis=-1)
        for method in ("var", "std", "mean_abs", "fisher_information"):
            if hasattr(noise, method):
                assert number(getattr(noise, method)) >= 0.0
        for method in ("logpdf", "pdf", "logpmf", "pmf", "logsf", "sf", "cdf"):
            if hasattr(noise, method):
                number(getattr(noise, method), at)
        for method in ("isf", "ppf"):
            if hasattr(noise, method):
                number(getattr(noise, method), p)
        number(noise.rvs, 3, 1)
        for factor in (1e-300, 1e300):
            if hasattr(noise, "scaled"):
                answer(noise.scaled, factor)


@pytest.mark.parametrize(
    "noise",
    [Gaussian(1.0), Subbotin(3.0, 1.0), DiscreteGaussian(2.0), KNorm(2, 2, 1.0)],
    ids=repr,
)
def test_odd_arguments_of_methods(noise):
    for method in ("logpdf", "pdf", "logpmf", "sf", "cdf", "isf", "ppf", "scaled"):
        for value in ODD:
            if hasattr(noise, method):
                answer(getattr(noise, method), value)
    for value in ODD:
        answer(noise.rvs, value)
        answer(noise.rvs, 3, value)


@pytest.mark.parametrize("name", [*FAMILIES, "discrete"])
def test_profiles_of_noise_of_any_size(name):
    epsilon = np.array([0.0, 5e-324, 1e-9, 1.0, 700.0, 1e9, 1e100])
    delta = np.array([0.0, 5e-324, 1e-9, 0.5, 1 - 2.0**-53])
    every = list(extremes(name))
    for noise in every[:: 1 + len(every) // 8]:
        for sensitivity in (*SIZES, noise.mean_abs()):
            log_delta = number(log_privacy_profile, noise, sensitivity, epsilon)
            assert log_delta is None or np.all(log_delta <= 0.0)
            number(epsilon_at, noise, sensitivity, delta)
            if name in ("gaussian", "laplace", "flipped-huber"):
                bound = answer(zcdp, noise, sensitivity)
                assert bound is None or 0.0 < sum(tuple(bound)) < math.inf


@pytest.mark.parametrize("function", SCALARS, ids=lambda f: f.__name__)
def test_odd_and_extreme_arguments_of_scalar_functions(function):
    good = SCALARS[function]
    for place, value in itertools.product(range(len(good)), ODD):
        answer(function, *good[:place], value, *good[place + 1 :])
    for arguments in itertools.product([*SIZES[::2], 0.25, 1.0 - 2.0**-53], repeat=len(good)):
        number(function, *arguments)


def test_gaussian_noise_is_never_of_scale_0():
    """Neither the least one nor the classical one; what has no double is refused."""
    epsilon = np.array([0.0, 5e-324, 1.0, 3.0, 1e9, 1e12])
    for delta, sensitivity in itertools.product((1e-300, 0.25, 0.5, 0.999, 1 - 2.0**-53), SIZES):
        for e in epsilon:
            sigma = number(gaussian_sigma, e, delta, sensitivity)
            assert sigma is None or 0.0 < sigma < math.inf
            if e > 0.0:
                sigma = number(
                    lambda *a: classical_gaussian_sigma(*a, allow_large_epsilon=True),
                    e, delta, sensitivity,
                )  # fmt: skip
                assert sigma is None or 0.0 < sigma < math.inf
    assert gaussian_sigma(1e12, 0.999, 5e-324) == 5e-324
    # Beside a unit sensitivity: never less, and above it by two of the least doubles at most.
    for sensitivity in (5e-324, 3e-323, 1e-320, 1e-310, 1e-300):
        exact = gaussian_sigma(1.0, 1e-5) * (sensitivity / 5e-324)
        assert exact <= gaussian_sigma(1.0, 1e-5, sensitivity) / 5e-324 <= exact * (1 + 1e-12) + 2


def test_every_answer_is_private_at_the_least_scales():
    """A sensitivity of a few of the smallest doubles, in units of which the noise is accounted."""
    for units in (1.0, 2.0, 7.0, 100.0):
        sigma = gaussian_sigma([0.1, 1.0, 10.0], 1e-6, units * 5e-324)
        for e, s in zip((0.1, 1.0, 10.0), sigma, strict=True):
            assert privacy_profile(Gaussian(s / 5e-324), units, e) <= 1e-6


def test_noise_of_any_scale_has_a_profile_or_none():
    with pytest.raises(ValueError, match=r"E\|T\|: expected"):
        privacy_profile(Gaussian(1e-300), 1.0, 1.0)
    assert privacy_profile(Gaussian(1e-150), 1e-150, 1.0) == privacy_profile(Gaussian(1.0), 1, 1.0)
