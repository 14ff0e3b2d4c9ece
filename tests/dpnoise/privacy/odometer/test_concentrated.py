"""Rho of single releases against quadrature over orders, and budgets limited by rho."""

import math

import mpmath
import numpy as np
import pytest

from dpnoise import (
    Budget,
    BudgetExceededError,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    FlippedHuber,
    Gaussian,
    Laplace,
    SampledGaussian,
    SampledLaplace,
    Staircase,
    TruncatedLaplace,
    epsilon_at,
)
from dpnoise.privacy.odometer.concentrated import laplace_rho, response_rho, rho_of

R = "add-remove"
ORDERS = 1.0 + np.geomspace(1e-3, 1e4, 60)


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(40):
        yield


def ratio(masses, losses, order):
    """The divergence of an order over the order, of a pair with finitely many losses."""
    c = mpmath.mpf(order) - 1
    total = mpmath.fsum(p * mpmath.exp(c * loss) for p, loss in zip(masses, losses, strict=True))
    return mpmath.log(total) / (c * (c + 1))


def laplace_ratio(loss, order):
    """The same for Laplace noise, by quadrature between both ends."""
    c = mpmath.mpf(order) - 1
    inner = mpmath.quad(lambda x: mpmath.exp(c * loss * (1 - 2 * x) - loss * x), [0, 0.1, 0.5, 1])
    ends = mpmath.exp(c * loss) / 2 + mpmath.exp(-(c + 1) * loss) / 2
    return mpmath.log(ends + loss * inner / 2) / (c * (c + 1))


@pytest.mark.parametrize("loss", [1e-3, 0.1, 1.0, 3.0, 10.0])
def test_laplace_noise_has_the_largest_ratio_at_order_one(loss):
    exact = mpmath.mpf(loss) + mpmath.exp(-mpmath.mpf(loss)) - 1
    found = rho_of(Laplace(1.0), loss)
    assert exact <= found <= exact * (1 + mpmath.mpf(1e-11))
    for order in ORDERS[::6]:
        assert laplace_ratio(mpmath.mpf(loss), order) <= found
    assert laplace_ratio(mpmath.mpf(loss), 1 + 1e-6) > found * (1 - 1e-5)


@pytest.mark.parametrize(("scale", "size"), [(1.0, 1), (3.0, 5), (0.3, 2), (12.0, 1)])
def test_discrete_laplace_noise_has_the_largest_ratio_at_order_one(scale, size):
    k = range(-int(60 * scale) - 5, int(60 * scale) + size + 5)
    masses = [mpmath.exp(-abs(j) / mpmath.mpf(scale)) for j in k]
    masses = [p / mpmath.fsum(masses) for p in masses]
    losses = [(abs(j - size) - abs(j)) / mpmath.mpf(scale) for j in k]
    found = rho_of(DiscreteLaplace(scale), float(size))
    ratios = [ratio(masses, losses, order) for order in ORDERS[::6]]
    assert max(ratios) <= found
    assert ratio(masses, losses, 1 + 1e-6) > found * (1 - 1e-5)


@pytest.mark.parametrize("loss", [1e-6, 0.1, 1.0, 30.0])
def test_a_pure_release_has_the_rho_of_randomized_response(loss):
    p = 1 / (1 + mpmath.exp(-mpmath.mpf(loss)))
    found = response_rho(loss)
    for order in ORDERS[::6]:
        assert ratio([p, 1 - p], [loss, -loss], order) <= found
    assert ratio([p, 1 - p], [loss, -loss], 1 + 1e-6) > found * (1 - 1e-4)
    budget = Budget(rho=2.0 * found, relation=R)
    budget.spend_dp(loss)
    assert budget.rho_left == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "gamma", "size"),
    [(1.0, 0.2, 1.0), (8.0, 0.01, 1.0), (8.0, 0.01, 0.01), (5.0, 0.5, 0.05)],
)
def test_staircases_have_the_largest_ratio_of_all_orders(epsilon, gamma, size):
    noise = Staircase(epsilon, 1.0, gamma)
    found = rho_of(noise, size)
    x = np.linspace(-30.0, 30.0, 600_001)[:-1] + 5e-5  # steps end at multiples of 1e-4 here
    first, second = noise.pdf(x), noise.pdf(x - size)
    loss = np.round(np.log(first / second) / epsilon)
    p = [mpmath.mpf(float(first[loss == k].sum() / first.sum())) for k in (-1, 0, 1)]
    best = max(ratio(p, [-epsilon, 0.0, epsilon], 1 + c) for c in np.geomspace(1e-5, 1e3, 400))
    assert found * (1 - 1e-3) <= best <= found * (1 + 1e-6)


def test_other_noise_is_bounded_by_quadrature_and_samples_by_the_noise_itself():
    for noise, size in ((FlippedHuber(0.5, 3.0), 1.0), (FlippedHuber(5.0, 3.0), 1.0)):
        budget = Budget(50.0, 1e-6, relation=R)
        budget.spend(noise, size)
        best = np.max(budget.rdp(ORDERS) / ORDERS)
        assert best * (1 - 1e-9) <= rho_of(noise, size) <= best * (1 + 3e-3)
    assert rho_of(Gaussian(2.0), 1.0) == rho_of(DiscreteGaussian(2.0), 1.0) == 0.125
    assert rho_of(DiscreteStaircase(1.0, 3, 1), 1.0) < rho_of(DiscreteStaircase(1.0, 3, 1), 3.0)
    assert rho_of(TruncatedLaplace(2.0, 60.0), 1.0) == math.inf
    for relation, shift in ((R, 1.0), ("replace-one", 2.0)):
        for step, whole in (
            (SampledGaussian(2.0, 0.1), 0.125 * shift**2),
            (SampledLaplace(2.0, 0.1), laplace_rho(0.5 * shift)),
        ):
            budget = Budget(rho=1.0, relation=relation)
            budget.spend(step)
            assert 1.0 - budget.rho_left == pytest.approx(whole)
            assert np.all(budget.rdp(ORDERS[:40]) <= ORDERS[:40] * whole * (1 + 1e-9))


def test_a_budget_of_rho_takes_what_fits_and_no_more():
    budget = Budget(rho=0.5, delta=1e-6, relation=R)
    for k in range(9):
        budget.spend(Gaussian(3.0 + k % 2), 1.0)
    spent = 5 / 18 + 4 / 32
    assert budget.rho_left == pytest.approx(0.5 - spent, rel=1e-12)
    with pytest.raises(BudgetExceededError, match=r"within rho = 0.5 .*got rho = 0.52"):
        budget.spend(Gaussian(2.0), 1.0)
    assert budget.rho_left == pytest.approx(0.5 - spent, rel=1e-12)
    assert budget.adaptive
    assert budget.epsilon is None
    mu = math.sqrt(2.0 * spent)
    assert budget.epsilon_of() == pytest.approx(
        float(epsilon_at(Gaussian(1.0), mu, 1e-6)), rel=1e-8
    )
    left = budget.remaining()
    budget.spend_dp(left)
    assert 0.0 <= budget.rho_left < 1e-9
    for more in ((1e-3, 0.0), (0.0, 1e-9)):  # no rho is known where a delta is
        with pytest.raises(BudgetExceededError):
            budget.spend_dp(*more)
    again = Budget.from_json(budget.to_json())
    assert again.to_json() == budget.to_json()
    assert repr(again) == repr(budget) == "Budget(rho=0.5, delta=1e-06, relation='add-remove')"
    assert again.rho_left == budget.rho_left
    assert "rho = 0.5" in str(again)
    assert "The budget is rho = 0.5" in " ".join(again.statement().split())
    with pytest.raises(ValueError, match="plan: expected a limit on epsilon, got Budget"):
        again.plan(1.0, times=2)


def test_sums_of_rho_are_exact_in_any_order(tmp_path):
    budget = Budget.create(tmp_path / "ledger", rho=1.0, relation=R)
    for _ in range(8):
        budget.spend(Gaussian(2.0), 1.0)
    assert budget.rho_left == Budget.open(tmp_path / "ledger").rho_left == 0.0
    assert math.copysign(1.0, budget.rho_left) == 1.0
    with pytest.raises(BudgetExceededError):
        budget.spend(Gaussian(1e3), 1.0)


def test_bad_arguments_are_all_named():
    with pytest.raises(ValueError, match=r"epsilon: expected None beside rho.*rho.*delta"):
        Budget(1.0, -1.0, rho=-1.0)
    with pytest.raises(ValueError, match=r"epsilon: expected"):
        Budget()
    assert Budget(1.0).rho_left is None
