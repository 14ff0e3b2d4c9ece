"""Hostile and extreme arguments: an answer, or one error that names the argument.

No exception but ValueError, TypeError and RuntimeError, no warning (they are errors), and no
message of NumPy or Python in the place of one that says what was expected; in an answer no NaN.
"""

import dataclasses
import inspect
import itertools
import math
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest

from dpnoise import (
    L2,
    Budget,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    LInf,
    allocate,
    best,
    calibrate,
    calibrate_joint,
    certify,
    compare,
    epsilon_at,
    gaussian_sigma,
    privacy_profile,
    release,
    vector_profile,
    verify,
)
from dpnoise.noise import (
    FAMILIES,
    DiscreteGaussian,
    KNorm,
    Subbotin,
    flipped_huber_variance,
    staircase_2d_gamma,
    staircase_gamma,
)
from dpnoise.privacy.gaussian import classical_gaussian_sigma, gaussian_log_delta
from dpnoise.privacy.odometer.concentrated import (
    epsilon_from_zcdp,
    eta_from_dp,
    transition_cost,
    transition_for_cost,
    zcdp,
)
from dpnoise.privacy.profile import log_privacy_profile

SIZES = [5e-324, 1e-310, 1e-300, 1e-160, 1e-9, 1.0, 3.0, 1e9, 1e160, 1e300, 1.7e308]
ODD = [
    0, -0.0, -1.0, 5e-324, 1e-300, 1.7e308, math.nan, math.inf, -math.inf, 10**400, -(10**400),
    Fraction(10**400), Fraction(1, 10**400), Decimal("1e400"), Decimal("sNaN"), Decimal(1), 2**63,
    np.longdouble("1e4000"), np.uint64(2**64 - 1), True, np.True_, "1", b"1", None, 1j, object(),
    {}, [], (), set(), [1.0, 2.0], [[1.0], [2.0, 3.0]], [1.0, None], ["a"], [math.nan], [10**400],
    np.float32(0.5), np.array(3.0), np.array([0.5, 1.0]), np.array(["a"]), np.array([None]),
    np.ma.masked, np.ma.array([1.0, 2.0], mask=[0, 1]), np.datetime64("2020-01-01"),
    np.timedelta64(3), pd.Series([0.5, 1.0]), pd.DataFrame({"a": [1.0]}), pd.NA, pd.NaT, Gaussian,
    Gaussian(1.0), LInf(1.0), Budget(1.0), range(3), "x" * 5000, float, ..., lambda x: x,
]  # fmt: skip
ASKED = {"epsilon": 1.0, "relation": "replace-one"}
HELP = {**ASKED, "delta": 0.0, "budget": None}
VALID = {"sensitivity": 1.0, "delta": 1e-6, "error": "variance", **ASKED}
CALLS = {
    "best": (best, {**VALID, "family": "gaussian", "integer": False}),
    "compare": (partial(compare, exhaustive=False), {**VALID, "delta": 0.0}),
    "calibrate": (
        calibrate,
        {"family": "laplace", "epsilon": 1.0, "sensitivity": 1.0, "dimension": 1, "delta": 0.0},
    ),
    "calibrate_joint": (
        calibrate_joint,
        {"family": "k-norm", "sensitivity": L2(1.0, of=2), "epsilon": 1.0, "delta": 0.0},
    ),
    "allocate": (
        allocate,
        {"sensitivities": [1.0, 0.5], "noise": "gaussian", "epsilon": 1.0, "delta": 1e-6, "p": 2},
    ),
    "privacy_profile": (
        privacy_profile,
        {"noise": Laplace(1.0), "sensitivity": 1.0, "epsilon": 0.5},
    ),
    "epsilon_at": (epsilon_at, {"noise": Gaussian(1.0), "sensitivity": 1.0, "delta": 1e-6}),
    "vector_profile": (
        vector_profile,
        {"noise": Laplace(1.0), "sensitivity": 1.0, "epsilon": 0.5, "copies": 2, "rtol": 1e-7},
    ),
    "release": (release, {"values": [1.0], "noise": Laplace(1.0), "grid": None}),
    "release of integers": (release, {"values": [1], "noise": DiscreteLaplace(1.0)}),
    "release.count": (release.count, {"records": [True], "contribution": 1, **HELP}),
    "release.histogram": (release.histogram, {"values": [1.0], "edges": [0, 1, 2], **HELP}),
    "by category": (release.histogram, {"values": [1.0], "categories": [1, 2], **HELP}),
    "release.sum": (release.sum, {"values": [1.0], "bounds": (0, 1), **HELP}),
    "release.mean": (release.mean, {"values": [1.0], "bounds": (0, 1), **HELP}),
    "release.quantile": (
        release.quantile,
        {"values": [1.0], "q": 0.5, "bounds": (0, 1), "budget": None, **ASKED},
    ),
    "certify": (certify, {"noise": Laplace(2.0), "sensitivity": 1.0, "delta": None, **ASKED}),
    "verify": (verify, {"certificate": certify(Laplace(2.0), 1.0, 0.5, relation="add-remove")}),
}
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
for _name, _class in CLASSES.items():
    _fields = [field.name for field in dataclasses.fields(_class)]
    CALLS[_name] = _class, dict(zip(_fields, GOOD.get(_name, (1.0,) * 3), strict=False))
for _function, _good in SCALARS.items():
    _names = inspect.signature(_function).parameters
    CALLS[_function.__name__] = _function, dict(zip(_names, _good, strict=False))
# What a message says in the place of the argument's name, or beside it.
ALSO = {
    "sensitivities": ["sensitivit", "lambdas"],
    "sensitivity": ["E|T|", "lambdas", "sigma", "scale", "radius", "alpha"],
    "epsilon": ["sigma"],  # of what is too large to be told
    "alpha": ["cost"],
    "noise": ["noise", "epsilon", "grid"],
    "family": ["delta", "noise"],
    "bounds": ["noise"],
    "contribution": ["noise", "sensitivity"],
    "certificate": ["No such file", "File name too long", "Is a directory"],
}


def trouble(function, given, name):
    """Return what is wrong with the way in which a call ends, None if it is as it should be."""
    try:
        function(**given)
    except (ValueError, TypeError, RuntimeError) as error:
        text = str(error)
        named = any(word in text for word in [name, *ALSO.get(name, [])])
        said = "expected" in text or isinstance(error, RuntimeError)
        return None if named and said else repr(error)
    except OSError as error:  # of a path that leads nowhere
        return None if name == "certificate" else repr(error)
    except Exception as error:  # noqa: BLE001 - the finding
        return repr(error)
    return None


@pytest.mark.parametrize("call", CALLS)
def test_hostile_values_are_answered_or_refused_by_name(call):
    function, good = CALLS[call]
    found = [
        (name, repr(value)[:60], said[:200])
        for name in good
        if call != "by category" or name not in HELP  # asked of release.histogram
        for value in ODD
        if (said := trouble(function, {**good, name: value}, name))
    ]
    assert not found


@pytest.mark.parametrize(
    "call",
    [
        lambda budget: release.count(3, epsilon=np.timedelta64(1), budget=budget),
        lambda budget: release.sum([1.0], bounds=(0, None), epsilon=1.0, budget=budget),
        lambda budget: release.histogram([1], categories=5, epsilon=1.0, budget=budget),
        lambda budget: release.quantile("a", 0.5, bounds=(0, 1), epsilon=1.0, budget=budget),
    ],
)
def test_what_is_refused_is_not_charged(call):
    budget = Budget(5.0, relation="replace-one")
    with pytest.raises(ValueError, match="expected"):
        call(budget)
    assert budget.epsilon_of() == 0.0


def test_a_check_that_lets_one_through_is_seen():
    def bare(epsilon):
        return 1.0 / epsilon if epsilon else math.exp(10**400)

    def unnamed(epsilon):
        raise ValueError(f"expected another number than {epsilon}")

    assert "OverflowError" in trouble(bare, {"epsilon": 0}, "epsilon")
    assert "another number" in trouble(unnamed, {"epsilon": 0}, "epsilon")
    assert trouble(bare, {"epsilon": 1}, "epsilon") is None


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
        for sensitivity in (*SIZES[::2], noise.mean_abs()):
            log_delta = number(log_privacy_profile, noise, sensitivity, epsilon)
            assert log_delta is None or np.all(log_delta <= 0.0)
            number(epsilon_at, noise, sensitivity, delta)
            if name in ("gaussian", "laplace", "flipped-huber"):
                bound = answer(zcdp, noise, sensitivity)
                assert bound is None or 0.0 < sum(tuple(bound)) < math.inf


@pytest.mark.parametrize("function", SCALARS, ids=lambda f: f.__name__)
def test_extreme_arguments_of_scalar_functions(function):
    sizes = [*SIZES[::2], 0.25, 1.0 - 2.0**-53]
    for arguments in itertools.product(sizes, repeat=len(SCALARS[function])):
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
