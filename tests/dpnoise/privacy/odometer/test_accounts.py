"""The account of a budget: samples beside other releases, and the exact account."""

import math

import numpy as np
import pytest
from scipy import special

from dpnoise import (
    L1,
    Budget,
    BudgetExceededError,
    DiscreteGaussian,
    DiscreteLaplace,
    FlippedHuber,
    Gaussian,
    Laplace,
    SampledGaussian,
    SampledLaplace,
    Staircase,
    Subbotin,
    TruncatedLaplace,
    gaussian_sigma,
)
from dpnoise.noise import KNorm
from dpnoise.privacy.odometer.accounts import _TILTS, log_moments, moments_of, renyi_divergences
from dpnoise.privacy.odometer.ledger import Ledger
from dpnoise.privacy.sampled.pairs import Kind

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
    found = renyi_divergences(Ledger(sampled={Kind(sigma, rate): 1}, relation="add-remove"), c + 1)
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
    far = moments_of(Ledger(sampled={Kind(0.01, 0.5): 10**8}, relation="add-remove"))
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


DELTA = 1e-6


@pytest.fixture
def dp_accounting():
    return pytest.importorskip("dp_accounting")


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_the_peer_finds_the_same_epsilon(relation, dp_accounting):
    from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
    from dp_accounting.privacy_accountant import NeighboringRelation as Relation

    which = Relation.REPLACE_ONE if relation == "replace-one" else Relation.ADD_OR_REMOVE_ONE
    peer = PLDAccountant(which)
    event = dp_accounting.PoissonSampledDpEvent(0.05, dp_accounting.GaussianDpEvent(2.0))
    peer.compose(event, 200)
    budget = Budget(20.0, 1e-5, relation=relation)
    budget.spend(Gaussian(6.0), 3.0, times=200, sampling=0.05)
    assert budget.epsilon_of() == pytest.approx(peer.get_epsilon(1e-5), rel=1e-4)


def test_a_sample_of_everything_is_no_sample():
    whole, sampled = (
        Budget(20.0, 1e-5, relation="replace-one"),
        Budget(20.0, 1e-5, relation="add-remove"),
    )
    for budget in (whole, sampled):
        budget.spend(Laplace(4.0), 1.0, times=2)
        budget.spend_dp(0.1)
    whole.spend(Gaussian(3.0), 1.0, times=4)
    sampled.spend(Gaussian(3.0), 1.0, times=4, sampling=1.0)
    assert sampled.epsilon_of() == pytest.approx(whole.epsilon_of(), rel=1e-8)
    assert sampled.remaining() == pytest.approx(20.0 - sampled.epsilon_of())
    assert sampled.rdp(2.0) == pytest.approx(whole.rdp(2.0), rel=1e-9)


def test_other_noise_beside_a_sample_of_everything_is_counted_as_exactly():
    for noise in (FlippedHuber(1.0, 3.0), TruncatedLaplace(2.0, 60.0), DiscreteLaplace(3.0)):
        whole, sampled = (
            Budget(20.0, 1e-5, relation="replace-one"),
            Budget(20.0, 1e-5, relation="add-remove"),
        )
        for budget in (whole, sampled):
            budget.spend(noise, 1, times=2)
        whole.spend(Gaussian(3.0), 1.0)
        sampled.spend(Gaussian(3.0), 1.0, sampling=1.0)
        assert whole.epsilon_of() <= sampled.epsilon_of() * (1 + 1e-7)
        assert sampled.epsilon_of() <= whole.epsilon_of() * (1 + 1e-3)


def test_what_cannot_be_counted_is_refused():
    budget = Budget(20.0, 1e-5, relation="replace-one")
    with pytest.raises(ValueError, match="noise: expected Gaussian noise beside sampling"):
        budget.spend(Laplace(4.0), 1.0, sampling=0.1)
    with pytest.raises(ValueError, match=r"sampling.*got 0.*sensitivity.*got 0"):
        budget.spend(Gaussian(4.0), 0.0, sampling=0)
    with pytest.raises(ValueError, match=r"sigma / sensitivity.*got 9.99"):
        budget.spend(Gaussian(1e-9), 1.0, sampling=0.1)
    budget.spend(Gaussian(4.0), 1.0, sampling=0.1)
    before = budget._ledger
    with pytest.raises(ValueError, match=r"known moments beside samples, got Subbotin\(p=3.0"):
        budget.spend(Subbotin(3.0, 10.0), 1.0)
    with pytest.raises(ValueError, match=r"known moments beside samples, got ListedLoss"):
        budget.spend(DiscreteGaussian(12.6), L1(3, of=3))  # whose largest loss is infinite
    assert budget._ledger is before


def test_the_smallest_delta_of_a_budget_has_gaussian_noise():
    budget = Budget(1.0, 1e-300, relation="add-remove")
    most = 1.0 / float(gaussian_sigma(1.0, 1e-300))
    with pytest.raises(BudgetExceededError):
        budget.spend(Gaussian(1.0), most * (1.0 + 1e-9))
    budget.spend(Gaussian(1.0), most * (1.0 - 1e-9))


def test_joint_noise_beside_samples_counts_by_its_largest_loss():
    budget = Budget(9.0, 1e-5, relation="add-remove")
    budget.spend(Gaussian(2.0), 1.0, times=10, sampling=0.1)
    alone = budget.epsilon_of()
    budget.spend(KNorm(2, 3, 4.0), 1.0)
    assert alone < budget.epsilon_of() <= alone + 0.25 + 1e-3


def test_discrete_noise_beside_samples_is_counted_by_moments():
    """Between what each costs alone and what both cost by basic composition, far below that."""
    sampled, discrete, both = (Budget(20.0, 1e-5, relation="add-remove") for _ in range(3))
    for budget in (sampled, both):
        budget.spend(Gaussian(2.0), 1.0, times=200, sampling=0.05)
    for budget in (discrete, both):
        budget.spend(DiscreteGaussian(20.0), 1, times=10)
    alone = sampled.epsilon_of(), discrete.epsilon_of()
    assert max(alone) < both.epsilon_of() < 0.9 * sum(alone)
    # Gaussian noise as wide has nearly the losses of noise on the integers, and an exact account.
    sampled.spend(Gaussian(20.0), 1.0, times=10)
    assert sampled.epsilon_of() * (1.0 - 1e-6) <= both.epsilon_of() < 1.15 * sampled.epsilon_of()


def test_parameters_may_depend_on_results_where_all_noise_is_gaussian():
    """The next sigma depends on the last result; delta is estimated from its exact loss.

    Given the draws, the loss of the path is a sum of Gaussian losses. The mean of
    (1 - e^(epsilon - loss))_+ over 20,000 paths must not exceed delta by five standard errors.
    """
    epsilon, delta, rng = 1.0, 0.05, np.random.default_rng(3)
    limit = Budget(epsilon, delta, relation="replace-one")
    large, small = 1.2, 4.0
    while True:
        try:
            limit.spend(Gaussian(large * 2.0), 1.0)
        except BudgetExceededError:
            break
    assert limit.adaptive
    squares = 0.25 / large**2  # of the units in which the strategy pays
    most = int(limit._ledger.shares[Gaussian(large * 2.0), 1.0])
    loss, spent = np.zeros(20_000), np.zeros(20_000)
    for _ in range(200):
        # Unlucky so far: a large step; lucky: small ones.
        sigma = np.where(loss < 0.3, large * 2.0, small * 2.0)
        mu = 1.0 / sigma
        fits = spent + mu**2 <= most * squares * (1 + 1e-12)
        draw = rng.standard_normal(loss.size)
        loss += np.where(fits, mu * draw + 0.5 * mu**2, 0.0)
        spent += np.where(fits, mu**2, 0.0)
    payoff = np.maximum(-np.expm1(epsilon - loss), 0.0)
    assert payoff.mean() <= delta + 5 * payoff.std() / math.sqrt(loss.size)
    limit = Budget(3.0, delta, relation="replace-one")
    limit.spend(Laplace(10.0), 1.0)
    assert not limit.adaptive
    assert Budget(1.0, relation="replace-one").adaptive
