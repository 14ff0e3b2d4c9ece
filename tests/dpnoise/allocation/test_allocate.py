"""The one call for allocations: refusals, the second account, noise on the integers."""

import math
from functools import cache

import numpy as np
import pytest

from dpnoise import (
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    Staircase,
    Subbotin,
    TruncatedLaplace,
    allocate,
)
from dpnoise.allocation import allocate as module
from dpnoise.allocation.allocate import second_opinion
from for_all import for_all

GOOD = {"epsilon": 1.0, "delta": 1e-6}


@for_all(
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


@pytest.mark.parametrize("strange", [np.array(1.5), np.ones((2, 2)), None, 3.0])
def test_noise_and_scheme_of_another_type_are_named(strange):
    with pytest.raises(ValueError, match=r"noise: expected.*scheme: expected"):
        allocate([1.0, 2.0], noise=strange, scheme=strange, epsilon=1.0, delta=1e-3)


LAMBDAS = np.array([1.0, 2.0, 2.0])
REQUESTS = [
    ([Gaussian(1.0)], 1.0, 1e-6, "half-lines"),
    ([Gaussian(1.0), Gaussian(2.0), Gaussian(0.5)], 3.0, 1e-200, "half-lines"),
    ([Laplace(1.0)], 1.0, 0.0, "density ratio"),
    ([Laplace(1.0), Huber(2.0), Laplace(3.0)], 0.3, 0.0, "density ratio"),
    ([Laplace(1.0)], 1.0, 1e-3, "lattice"),
    ([FlippedHuber(2.0, 1.0)], 2.0, 1e-4, "lattice"),
    ([FlippedHuber(0.5, 1.0), Gaussian(1.0), Gaussian(1.0)], 0.0, 0.1, "lattice"),
]


def one_or_many(noises):
    return noises[0] if len(noises) == 1 else noises


@cache
def allocated(k, scheme="optimal"):
    noises, epsilon, delta, _ = REQUESTS[k]
    options = {"noise": one_or_many(noises), "epsilon": epsilon, "delta": delta}
    return allocate(LAMBDAS, scheme=scheme, **options)


@pytest.mark.parametrize("k", range(len(REQUESTS)))
def test_the_second_account_agrees(k):
    noises, epsilon, delta, name = REQUESTS[k]
    for scheme in ("optimal", ("spr", "iid")[k % 2])[: 1 if k == 5 else 2]:  # the dearest
        found = allocated(k, scheme)
        second = second_opinion(noises, LAMBDAS, found, (epsilon, delta), 1)
        assert second.name == name
        if delta > 0.0:
            assert second.log_lower <= math.log(delta)
            assert second.log_upper <= math.log(delta) + 1e-2
        else:
            assert second.log_upper == -math.inf


@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, 6])
def test_scales_that_are_too_small_are_not_handed_out(monkeypatch, k):
    """As if the first account had certified them."""
    noises, epsilon, delta, name = REQUESTS[k]
    too_small = 0.99 * allocated(k)
    monkeypatch.setattr(module, "_minimum_scales", lambda _: too_small)
    with pytest.raises(RuntimeError, match=f"accounts disagree.*{name}"):
        allocate(LAMBDAS, noise=one_or_many(noises), epsilon=epsilon, delta=delta)


def test_what_is_too_dear_has_one_account():
    for noises, lambdas in [
        ([FlippedHuber(1.0, 1.0)], np.arange(1.0, 6.0)),
        ([Subbotin(1.5, 1.0)], np.ones(2)),
        ([Gaussian(1.0)], np.ones(10**6 + 1)),
    ]:
        assert second_opinion(noises, lambdas, np.ones_like(lambdas), (1.0, 1e-6), 1) is None


@pytest.mark.parametrize(
    ("lambdas", "noise", "epsilon", "delta"),
    [
        ([1.0, 1.0], FlippedHuber(5.0, 1.0), 3.0, 1e-10),
        ([1.0, 1.0], FlippedHuber(30.0, 1.0), 3.0, 1e-200),
        ([1.0, 2.0, 5.0], Laplace(1.0), 1.2e-4, 4.8e-160),
    ],
)
def test_deltas_too_small_for_the_inversion_are_certified_by_composition(
    lambdas, noise, epsilon, delta
):
    """At the kink, where every greatest loss of the centres counts, or at pure Laplace noise."""
    lambdas = np.array(lambdas)
    found = allocate(lambdas, noise=noise, epsilon=epsilon, delta=delta)
    steepest = 1.0 / noise.beta if isinstance(noise, Laplace) else noise.alpha / noise.gamma**2
    loss = float(np.sum(lambdas / found)) * steepest
    assert loss == pytest.approx(epsilon, rel=1e-6)


def test_many_different_coordinates_are_refused_before_they_are_sorted():
    with pytest.raises(ValueError, match="coordinates times compositions: expected at most 100000"):
        allocate(np.arange(1.0, 1e6), noise=FlippedHuber(1.0, 1.0), epsilon=1.0, delta=1e-6)
    same = allocate(np.ones(10**6), noise=FlippedHuber(1.0, 1.0), epsilon=1.0, delta=1e-6)
    assert np.ptp(same) == 0.0
