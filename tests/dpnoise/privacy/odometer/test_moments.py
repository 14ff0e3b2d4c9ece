"""Moments of losses: above quadrature, the same in any order, and a bound on delta."""

import math

import numpy as np
import pytest
from scipy import special

from dpnoise import (
    Budget,
    DiscreteLaplace,
    FlippedHuber,
    Gaussian,
    Laplace,
    SampledGaussian,
    SampledLaplace,
    Staircase,
)
from dpnoise.privacy.odometer.ledger import Ledger, Sampled
from dpnoise.privacy.odometer.moments import (
    _TILTS,
    log_moments,
    moments_of,
    renyi_divergences,
)

RELEASES = [
    (Gaussian(3.0), 1.0), (Laplace(7.0), 1.0), (FlippedHuber(2.0, 5.0), 1.0),
    (Staircase(0.3, 1.0, 0.5), 1.0), (DiscreteLaplace(5.0), 1), (SampledGaussian(1.3, 0.02), None),
    (SampledLaplace(2.0, 0.1), None),
]  # fmt: skip


def spent(relation, *places, times=1):
    budget = Budget(1e4, 1e-5, relation=relation)
    for place in places:
        budget.spend(*RELEASES[place], times=times)
    return budget


@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.01), (2.0, 0.3)])
def test_divergences_of_a_sample_are_those_of_quadrature(sigma, rate, removed):
    y = np.linspace(-15.0, 60.0, 300_001)
    loss = np.log1p(rate * np.expm1((y - 0.5 / sigma) / sigma))
    c = np.array([0.05, 1.0, 3.0, 17.0])
    power = (1.0 + c[:, None] if removed else -c[:, None]) * loss - 0.5 * y * y
    step = math.log((y[1] - y[0]) / math.sqrt(2.0 * math.pi))
    exact = (special.logsumexp(power, axis=1) + step) / c
    found = renyi_divergences(
        Ledger(sampled={Sampled(sigma, rate): 1}, relation="add-remove"), c + 1
    )
    assert (found >= exact * (1.0 - 1e-9) - 1e-11 / c).all()
    if removed:  # the larger of both directions
        assert found == pytest.approx(exact, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_sums_do_not_depend_on_their_order_nor_on_when_they_are_asked_for(relation):
    rng = np.random.default_rng(46)
    whole = moments_of(spent(relation, *range(7), *range(7))._ledger).units
    for _ in range(5):
        places = rng.permutation([*range(7), *range(7)]).tolist()
        asked = Budget(1e4, 1e-5, relation=relation)
        for place in places:
            asked.spend(*RELEASES[place])
            moments_of(asked._ledger)
        assert (moments_of(asked._ledger).units == whole).all()
    assert (moments_of(spent(relation, *range(7), times=2)._ledger).units == whole).all()


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_the_quick_bound_is_above_what_is_exact(relation):
    """The exact epsilon at the delta of the quick bound is at most the epsilon it was asked at."""
    for places, times in (((0, 1), 3), ((5,), 200), ((1, 2, 3), 5), ((0, 5), 20), ((6,), 50)):
        budget = spent(relation, *places, times=times)
        for delta in (1e-3, 1e-7):
            exact = budget.epsilon_of(delta)
            high = moments_of(budget._ledger).log_delta(exact * (1.0 - 1e-6))
            assert high >= math.log(delta)  # below the exact epsilon nothing is promised
            assert moments_of(budget._ledger).log_delta(1.7 * exact) <= math.log(delta)


def test_what_is_out_of_reach_is_infinite():
    far = moments_of(Ledger(sampled={Sampled(0.01, 0.5): 10**8}, relation="add-remove"))
    assert far.log_delta(1.0) > 0.0
    many = far.with_release(Ledger({(Gaussian(1.0), 1e6): 1}), 10**8)
    assert (many.units >= far.units).all()
    assert _TILTS.shape == far.units[0].shape


@pytest.mark.parametrize(("beta", "size"), [(1.0, 1), (3.0, 7), (0.2, 3), (400.0, 2), (50.0, 900)])
def test_moments_of_discrete_laplace_noise_are_those_of_its_sum(beta, size):
    k = np.arange(-int(60 * beta) - 9, int(60 * beta) + size + 9)
    log_p = -np.abs(k) / beta + math.log(math.tanh(0.5 / beta))
    loss = (np.abs(k - size) - np.abs(k)) / beta
    c = np.array([1e-3, 0.4, 3.0, 50.0])
    exact = special.logsumexp(log_p + c[:, None] * loss, axis=1)
    found = log_moments(DiscreteLaplace(beta), float(size), c)
    assert found == pytest.approx(exact, rel=1e-11, abs=1e-11)
    assert (found >= exact - 1e-13 * (1.0 + c * size / beta)).all()


def test_wide_noise_on_the_integers_takes_no_memory():
    budget = Budget(50.0, 1e-6, relation="add-remove")
    budget.spend(DiscreteLaplace(2.0**33), 2**32 - 1, times=20)
    budget.spend(DiscreteLaplace(9e11), 2**40, times=30)
    assert budget.epsilon_of(0.0) < 50.0
    assert budget.rdp(2.0) < 30.0
