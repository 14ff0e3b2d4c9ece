"""Rho of single releases against quadrature over orders, and budgets limited by rho."""

import math
from fractions import Fraction

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
from dpnoise.noise import Huber
from dpnoise.privacy.odometer.concentrated import (
    ZCDP,
    epsilon_from_zcdp,
    eta_from_dp,
    laplace_rho,
    response_rho,
    rho_of,
    transition_cost,
    transition_for_cost,
    zcdp,
)
from for_all import for_all
from refusals import names_every_problem

NODES, WEIGHTS = np.polynomial.legendre.leggauss(80)


def renyi(noise, shift, order):
    """Return the Renyi divergence between noise and noise + shift, by quadrature.

    The integrand g(t)^s g(t - d)^(1 - s) has kinks at 0, d and there shifted by +-alpha; it is
    largest near s d at most, beyond which both tails fall off.
    """
    alpha = getattr(noise, "alpha", 0.0)
    scale = getattr(noise, "gamma", None) or noise.std()
    reach = order * abs(shift) + alpha + 40 * scale
    kinks = [0.0, shift, alpha, -alpha, shift + alpha, shift - alpha]
    edges = np.unique([*kinks, *np.linspace(-reach, reach, 120)])
    half, middle = 0.5 * np.diff(edges), 0.5 * (edges[1:] + edges[:-1])
    t = middle[:, None] + half[:, None] * NODES
    power = order * noise.logpdf(t) + (1 - order) * noise.logpdf(t - shift)
    peak = power.max()
    return (peak + math.log(np.sum(half[:, None] * WEIGHTS * np.exp(power - peak)))) / (order - 1)


@for_all("seed", range(40))
def test_renyi_divergence_keeps_the_bound(seed):
    rng = np.random.default_rng(seed)
    sensitivity = float(10 ** rng.uniform(-1, 1))
    gamma = sensitivity * float(10 ** rng.uniform(-0.7, 1))
    noises = [
        FlippedHuber(gamma * float(10 ** rng.uniform(-2, 1.3)), gamma),
        FlippedHuber(sensitivity * float(rng.uniform(0.5, 1.5)), gamma),
        Laplace(gamma),
    ]
    for noise in noises:
        xi, eta = zcdp(noise, sensitivity)
        for order in (1.0001, 1.3, 2.0, 5.0, 20.0):
            for part in (1.0, -1.0, 0.4):
                divergence = renyi(noise, part * sensitivity, order)
                assert divergence <= (xi + order * eta) * (1 + 1e-9) + 1e-9


@for_all("order", [1.001, 2.0, 17.0])
def test_gaussian_bound_is_exact(order):
    xi, eta = zcdp(Gaussian(1.7), 0.9)
    assert xi == 0
    assert math.isclose(renyi(Gaussian(1.7), 0.9, order), order * eta, rel_tol=1e-9)
    assert zcdp(FlippedHuber(0.0, 1.7), 0.9) == pytest.approx((xi, eta), rel=1e-15)


def test_rho_of_laplace_noise_is_its_divergence_at_order_1():
    """(0, epsilon + exp(-epsilon) - 1): the ratio D_s / s rises to it as s falls to 1."""
    xi, rho = zcdp(Laplace(4.0), 2.0)
    assert xi == 0.0
    assert rho == pytest.approx(0.5 + math.exp(-0.5) - 1.0, rel=1e-11)
    ratios = [renyi(Laplace(4.0), 2.0, s) / s for s in (1.0001, 1.01, 1.5, 3.0, 20.0)]
    assert 0.999 * rho < ratios[0] <= rho * (1.0 + 1e-9)
    assert all(np.diff(ratios) < 0.0)


def test_tiny_rho_is_never_rounded_to_nothing():
    for noise in (Gaussian(1e200), Laplace(1e200), Huber(1.0, 1e200)):
        assert zcdp(noise).eta > 0.0


def test_transition_cost_is_the_printed_one_and_inverts():
    alpha = np.array([0.0, 1e-8, 0.3, 0.999, 1.0, 1.001, 2.0, 50.0, 1e12])
    for d in (0.2, 1.0, 7.0):
        cost = transition_cost(alpha, d)
        printed = alpha**2 - np.maximum(alpha - d, 0) ** 2
        assert np.allclose(cost[:-1], printed[:-1], rtol=1e-12)
        assert np.allclose(transition_for_cost(cost, d), alpha, rtol=1e-14)
        assert np.all(np.diff(cost) > 0)
    assert transition_for_cost(0.49) == pytest.approx(0.7, rel=1e-15)
    assert transition_for_cost(3.0) == 2.0


@for_all("epsilon", [1e-8, 1e-3, 0.5, 3.0, 400.0])
@for_all("delta", [1e-300, 1e-9, 0.01, 0.7])
def test_conversion_and_inverse_are_a_round_trip(epsilon, delta):
    xi = epsilon * np.array([0.0, 1e-9, 0.3, 0.9, 1 - 1e-9, 1.0])
    eta = eta_from_dp(epsilon, delta, xi)
    assert np.all(np.diff(eta) <= 0)
    assert eta[-1] == 0
    assert np.allclose(epsilon_from_zcdp(xi, eta, delta), epsilon, rtol=1e-13)
    assert isinstance(eta_from_dp(epsilon, delta), float)


test_bad_input_names_every_problem = names_every_problem(
    [
        (lambda: zcdp("noise", -1), ["noise", "'noise'", "sensitivity", "got -1"]),
        (lambda: epsilon_from_zcdp(-1, math.nan, 2), ["xi", "-1", "eta", "nan", "delta", "2"]),
        (lambda: eta_from_dp(0.0, 0.0), ["epsilon", "delta", "got 0.0"]),
        (lambda: eta_from_dp(1.0, 0.1, [0.5, 1.5]), ["xi", "[0, 1]", "1.5"]),
    ]
)


def test_bounds_add_under_composition():
    """Sums, integer multiples and `sum` compose; tuples are not concatenated."""
    a, b = zcdp(Gaussian(2.0)), zcdp(Laplace(4.0))
    assert a + b == pytest.approx((0.0, 0.125 + 0.25 + math.exp(-0.25) - 1.0), rel=1e-11)
    assert sum([a, a, b]) == 2 * a + b
    assert ZCDP(0.25, 0.0) + a == ZCDP(0.25, 0.125)
    assert b * 3 == b.composed(3) == b + b + b
    assert 0 * a == ZCDP(0.0, 0.0)
    epsilon = epsilon_from_zcdp(*(a + b), 1e-6)
    assert epsilon >= epsilon_from_zcdp(*a, 1e-6)
    for wrong in ((0.1, 0.2), 1.0, "a"):
        with pytest.raises(TypeError, match="expected another one to add"):
            a + wrong
        with pytest.raises(TypeError, match="expected another one to add"):
            wrong + a
    for times in (-1, 0.5, True, "2", math.nan):
        with pytest.raises(ValueError, match="times: expected a non-negative integer"):
            a.composed(times)


def test_bounds_are_never_below_the_exact_ones():
    """In rational arithmetic; sums and multiples are rounded up too."""
    rng = np.random.default_rng(12)
    total, exact = ZCDP(0.0, 0.0), [Fraction(0), Fraction(0)]
    for alpha, scale, d in 10 ** rng.uniform(-8, 8, (200, 3)):
        a, s, D = Fraction(alpha), Fraction(scale), Fraction(d)
        cost = a * a - max(a - D, Fraction(0)) ** 2
        for noise, parts in (
            (Gaussian(scale), (Fraction(0), D * D / s / s / 2)),
            (FlippedHuber(alpha, scale), (cost / s / s / 2, D * D / s / s / 2)),
        ):
            bound = zcdp(noise, d)
            for value, part in zip(bound, parts, strict=True):
                assert part <= Fraction(value) <= part * (1 + Fraction(1, 2**52))
            total += 3 * bound
            exact = [x + 3 * y for x, y in zip(exact, parts, strict=True)]
    assert all(Fraction(x) >= y for x, y in zip(total, exact, strict=True))
    # The smallest double in place of 0 where the bound has none.
    assert zcdp(Gaussian(1e200), 1.0) == ZCDP(0.0, 5e-324)
    for eta, delta in ((1e-3, 1e-6), (0.3, 0.01), (5e-324, 0.5), (1e9, 1e-300)):
        with mpmath.workdps(60):
            e = mpmath.mpf(eta)
            true = e + 2 * mpmath.sqrt(e) * mpmath.sqrt(-mpmath.log(mpmath.mpf(delta)))
            found = epsilon_from_zcdp(0.0, eta, delta)
            assert true <= mpmath.mpf(float(found)) <= true * (1 + mpmath.mpf(2) ** -47)
    for epsilon, delta in ((0.1, 1e-6), (1.0, 0.3), (3e-7, 1e-100)):
        with mpmath.workdps(60):
            log_inverse = -mpmath.log(mpmath.mpf(delta))
            true = mpmath.mpf(epsilon) / (
                mpmath.sqrt(epsilon + log_inverse) + mpmath.sqrt(log_inverse)
            )
            found = mpmath.mpf(float(eta_from_dp(epsilon, delta)))
            assert true**2 * (1 - mpmath.mpf(2) ** -46) <= found <= true**2


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
