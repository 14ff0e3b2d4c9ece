"""Hostile values for each argument of the public functions: an answer, or one error that names it.

No exception but ValueError, TypeError and RuntimeError, no warning, and no message of NumPy or
Python in the place of one that says what was expected.
"""

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
    "gaussian_sigma": (gaussian_sigma, {"epsilon": 1.0, "delta": 1e-6, "sensitivity": 1.0}),
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
# What a message says in the place of the argument's name, or beside it.
ALSO = {
    "sensitivities": ["sensitivit", "lambdas"],
    "sensitivity": ["E|T|", "lambdas", "sigma", "scale", "radius"],
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
