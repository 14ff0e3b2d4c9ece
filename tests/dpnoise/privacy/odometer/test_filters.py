"""Filters: their costs dominate the exact account, and a strategy that adapts cannot beat them."""

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpnoise import Budget, BudgetExceededError, Gaussian, Laplace, gaussian_sigma
from dpnoise.privacy.odometer.filters import RenyiFilter, gaussian_mu

DELTA = 1e-6
FILTERS = ("gaussian-filter", "renyi-filter")


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
