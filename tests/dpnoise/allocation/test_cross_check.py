"""Allocated scales are certified by two accounts, and an error of the first is caught."""

import math

import numpy as np
import pytest

from dpnoise import FlippedHuber, Gaussian, Huber, Laplace, Subbotin, allocate
from dpnoise.allocation import allocate as module
from dpnoise.allocation.cross_check import second_account

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


@pytest.mark.parametrize("scheme", ["optimal", "spr", "iid"])
@pytest.mark.parametrize(("noises", "epsilon", "delta", "name"), REQUESTS)
def test_the_second_account_agrees(noises, epsilon, delta, name, scheme):
    budget = {"epsilon": epsilon, "delta": delta}
    found = allocate(LAMBDAS, noise=one_or_many(noises), scheme=scheme, **budget)
    second = second_account(noises, LAMBDAS, found, (epsilon, delta), 1)
    assert second.name == name
    if delta > 0.0:
        assert second.log_lower <= math.log(delta)
        assert second.log_upper <= math.log(delta) + 1e-2
    else:
        assert second.log_upper == -math.inf


@pytest.mark.parametrize(("noises", "epsilon", "delta", "name"), REQUESTS)
def test_scales_that_are_too_small_are_not_handed_out(monkeypatch, noises, epsilon, delta, name):
    """As if the first account had certified them."""
    true_scales = module._minimum_scales
    monkeypatch.setattr(module, "_minimum_scales", lambda request: 0.99 * true_scales(request))
    with pytest.raises(RuntimeError, match=f"accounts disagree.*{name}"):
        allocate(LAMBDAS, noise=one_or_many(noises), epsilon=epsilon, delta=delta)


def test_what_is_too_dear_has_one_account():
    for noises, lambdas in [
        ([FlippedHuber(1.0, 1.0)], np.arange(1.0, 6.0)),
        ([Subbotin(1.5, 1.0)], np.ones(2)),
        ([Gaussian(1.0)], np.ones(10**6 + 1)),
    ]:
        assert second_account(noises, lambdas, np.ones_like(lambdas), (1.0, 1e-6), 1) is None


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
