"""The accounts of a budget: samples beside dp_accounting and the exact account, and filters.

Costs of filters dominate the exact account, and a strategy that adapts cannot beat them.
"""

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpnoise import (
    Budget,
    BudgetExceededError,
    DiscreteLaplace,
    FlippedHuber,
    Gaussian,
    Laplace,
    SampledGaussian,
    Subbotin,
    TruncatedLaplace,
    gaussian_sigma,
)
from dpnoise.noise import KNorm
from dpnoise.privacy.odometer.accounts import RenyiFilter, gaussian_mu, loss_distribution

DELTA = 1e-6
FILTERS = ("gaussian-filter", "renyi-filter")
with_peer = pytest.mark.usefixtures("dp_accounting")


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


@with_peer
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
    assert sampled.rdp(2.0) == math.inf


@with_peer
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


@with_peer
def test_a_distribution_goes_to_dp_accounting_and_back():
    direct, back = (
        Budget(20.0, 1e-6, relation="replace-one"),
        Budget(20.0, 1e-6, relation="replace-one"),
    )
    direct.spend(FlippedHuber(0.5, 3.0), 1.0, times=6)
    there = loss_distribution(FlippedHuber(0.5, 3.0), 1.0)
    back.spend_distribution(there.self_compose(2), times=3)
    assert back.epsilon_of() == pytest.approx(direct.epsilon_of(), rel=1e-6)
    assert back.epsilon_of() == pytest.approx(
        there.self_compose(6).get_epsilon_for_delta(1e-6), rel=1e-6
    )


@with_peer
def test_a_distribution_of_another_kind_is_refused():
    budget = Budget(1.0, 1e-6, relation="replace-one")
    coarse = loss_distribution(Gaussian(4.0), 1.0, interval=1e-2)
    for wrong in (coarse, 0.3):
        with pytest.raises(ValueError, match=r"distribution: expected a pessimistic.*0.0001"):
            budget.spend_distribution(wrong)
    with pytest.raises(BudgetExceededError, match="2 times privacy loss distribution"):
        budget.spend_distribution(loss_distribution(Gaussian(4.0), 1.0), times=2)
    assert budget.epsilon_of() == 0.0


@with_peer
def test_what_cannot_be_counted_is_refused():
    budget = Budget(20.0, 1e-5, relation="replace-one")
    with pytest.raises(ValueError, match="noise: expected Gaussian noise beside sampling"):
        budget.spend(Laplace(4.0), 1.0, sampling=0.1)
    with pytest.raises(ValueError, match=r"sampling.*got 0.*sensitivity.*got 0"):
        budget.spend(Gaussian(4.0), 0.0, sampling=0)
    with pytest.raises(ValueError, match=r"sigma / sensitivity.*got 9.99"):
        budget.spend(Gaussian(1e-9), 1.0, sampling=0.1)
    budget.spend(Gaussian(4.0), 1.0, sampling=0.1)
    with pytest.raises(ValueError, match="losses reach beyond"):
        budget.spend(Subbotin(3.0, 1e-3), 1.0)
    budget.spend(SampledGaussian(4.0, 0.1, "without replacement"))
    before = budget._ledger
    with pytest.raises(ValueError, match="expected Gaussian noise on Poisson samples, or Laplace"):
        budget.spend(Subbotin(3.0, 10.0), 1.0)
    assert budget._ledger is before
    with pytest.raises(ValueError, match="no sampled one"):
        Budget(1.0, 1e-5, account="gaussian-filter", relation="replace-one").spend(
            Gaussian(4.0), 1.0, sampling=0.1
        )


@with_peer
def test_joint_noise_beside_samples_counts_by_its_largest_loss():
    budget = Budget(9.0, 1e-5, relation="add-remove")
    budget.spend(Gaussian(2.0), 1.0, times=10, sampling=0.1)
    alone = budget.epsilon_of()
    budget.spend(KNorm(2, 3, 4.0), 1.0)
    assert alone < budget.epsilon_of() <= alone + 0.25 + 1e-3


@pytest.mark.parametrize("account", FILTERS)
@pytest.mark.parametrize(
    "releases",
    [
        [(Gaussian(4.0), 5)],
        [(Laplace(10.0), 20)],
        [(Gaussian(4.0), 3), (Laplace(3.0), 1), (Laplace(30.0), 4)],
    ],
)
def test_a_filter_is_never_below_the_exact_account(account, releases):
    exact, filtered = (
        Budget(50.0, DELTA, relation="replace-one"),
        Budget(50.0, DELTA, account=account, relation="replace-one"),
    )
    for noise, times in releases:
        exact.spend(noise, 1.0, times)
        filtered.spend(noise, 1.0, times)
    assert filtered.adaptive
    assert not exact.adaptive
    assert exact.epsilon_of() <= filtered.epsilon_of() < 50.0


def test_the_gaussian_filter_loses_nothing_for_gaussian_noise():
    sigma = float(gaussian_sigma(1.0, DELTA)) * (1 + 1e-9)
    budget = Budget(1.0, DELTA, account="gaussian-filter", relation="replace-one")
    budget.spend(Gaussian(sigma * 3.0), 1.0, times=9)
    assert budget.epsilon_of() == pytest.approx(1.0, rel=1e-7)
    with pytest.raises(BudgetExceededError):
        budget.spend(Gaussian(sigma * 1e3), 1.0)


def test_pure_releases_are_dominated_by_their_gaussian():
    """The trade-off of randomized response lies above that of N(mu, 1), and touches it."""
    for epsilon in (1e-6, 0.3, 2.0, 30.0):
        mu = gaussian_mu(Laplace(1.0), epsilon)
        alpha = np.linspace(0.0, 1.0, 2001)
        response = np.maximum(1 - np.exp(epsilon) * alpha, np.exp(-epsilon) * (1 - alpha))
        normal = stats.norm.cdf(stats.norm.isf(alpha) - mu)
        assert np.all(normal <= np.maximum(response, 0.0) + 1e-15)
        corner = 1.0 / (1.0 + math.exp(epsilon))
        touch = stats.norm.cdf(stats.norm.isf(corner) - mu)
        assert touch == pytest.approx(corner, rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e-20, 1e-17, 1e-12, 1e-9, 1e-3, 0.999])
def test_a_small_pure_release_costs_what_it_should(epsilon):
    """Also where e^epsilon is 1 in double precision: tiny releases are not free."""
    with mpmath.workdps(60):
        exact = mpmath.sqrt(8) * mpmath.erfinv(mpmath.tanh(mpmath.mpf(epsilon) / 2))
        assert exact < gaussian_mu(Laplace(1.0), epsilon) < exact * (1 + mpmath.mpf(4e-12))


def test_many_tiny_releases_exceed_a_tiny_budget():
    budget = Budget(1e-15, 1e-30, account="gaussian-filter", relation="replace-one")
    with pytest.raises(BudgetExceededError):
        budget.spend_dp(1e-17, times=10**8)
    budget.spend_dp(budget.remaining())
    assert 0.0 < budget.epsilon_of() <= 1e-15


def test_the_order_is_the_best_one_for_gaussian_noise():
    """No other order allows a larger sum of eta = mu^2 / 2, up to the grid of orders."""
    epsilon = 1.0
    order = RenyiFilter(epsilon, DELTA).order

    def most(a):
        rest = math.log1p(-1 / a) - (math.log(DELTA) + math.log(a)) / (a - 1)
        return (epsilon - rest) / a

    others = max(most(a) for a in np.geomspace(1.01, 1e4, 5000))
    assert others * (1 - 1e-4) <= most(order)


@pytest.mark.parametrize("account", FILTERS)
def test_a_strategy_that_adapts_keeps_the_budget(account):
    """The next sigma depends on the last result; delta is estimated from its exact loss.

    Given the draws, the loss of the path is a sum of Gaussian losses. The mean of
    (1 - e^(epsilon - loss))_+ over 20,000 paths must not exceed delta by five standard errors.
    """
    epsilon, delta, rng = 1.0, 0.05, np.random.default_rng(3)
    limit = Budget(epsilon, delta, account=account, relation="replace-one")
    large, small = 1.2, 4.0
    while True:
        try:
            limit.spend(Gaussian(large * 2.0), 1.0)
        except BudgetExceededError:
            break
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
