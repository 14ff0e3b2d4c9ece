"""Accounts of many sampled steps: divergences, distributions and the exact Laplace account."""

import math

import numpy as np
import pytest
from scipy import special, stats

from dpnoise.privacy.gaussian import gaussian_sigma
from dpnoise_papers.inid_2024.deep import accounting
from dpnoise_papers.inid_2024.deep.accounting import (
    minimum_multiplier,
    noise_unit,
    pld_epsilon,
    pure_epsilon,
    rdp_epsilon,
    replace_one_epsilon,
    step_loss,
)


@pytest.mark.parametrize(("multiplier", "rate", "delta"), [(1.0, 0.02, 1e-5), (0.7, 0.3, 1e-9)])
def test_epsilon_is_that_of_renyi_divergences_by_quadrature(multiplier, rate, delta):
    x, h = np.linspace(-40.0, 60.0, 20_001, retstep=True)  # exact to rounding for such bells
    near = stats.norm(0.0, multiplier).logpdf(x)
    shifted = (2 * x - 1) / (2 * multiplier**2)
    mixed = np.logaddexp(math.log1p(-rate), math.log(rate) + shifted)

    def converted(order):
        divergence = (special.logsumexp(order * mixed + near) + math.log(h)) / (order - 1)
        return 7 * divergence + math.log1p(-1 / order) - math.log(delta * order) / (order - 1)

    least = min(converted(order) for order in (*np.arange(20, 110) / 10, *range(11, 20)))
    found = rdp_epsilon(multiplier, delta, 7, rate)
    # dp_accounting adds moduli of an alternating series at orders that are not whole
    assert least * (1 - 1e-9) <= found <= least * (1 + 1e-3)


def test_a_sampled_step_is_at_least_as_private_as_both_accounts_say():
    """One step without sampling is the Gaussian mechanism, whose epsilon is known."""
    sigma = float(gaussian_sigma(1.0, 1e-5))
    assert rdp_epsilon(sigma, 1e-5, 1, 1.0) >= 1.0
    assert pld_epsilon(sigma, 1e-5, 1, 1.0) == pytest.approx(1.0, rel=1e-6)
    assert pld_epsilon(sigma, 1e-5, 1, 1.0) >= 1.0 - 1e-9


@pytest.mark.parametrize(("epsilon", "delta"), [(2.0, 1e-6), (8.0, 1e-9)])
def test_the_multiplier_is_on_the_private_side_and_tight(epsilon, delta):
    found = noise_unit("gaussian", epsilon, delta, 100, 0.05)
    assert rdp_epsilon(found, delta, 100, 0.05) <= epsilon
    assert rdp_epsilon(found * (1 - 1e-6), delta, 100, 0.05) > epsilon
    # Renyi divergences are a bound, the losses' distributions nearly exact
    assert 0.7 * epsilon < pld_epsilon(found, delta, 100, 0.05) < epsilon


def test_a_multiplier_is_found_wherever_the_bound_crosses():
    for target in (1e-3, 0.5, 1.0, 1.5, 1e3):
        found = minimum_multiplier(lambda m: 1.0 / m, 1.0 / target, 1e-9)
        assert target <= found <= target * (1 + 1e-8)
    # a bound with a jump is kept too
    found = minimum_multiplier(lambda m: 2.0 if m < 3.0 else 0.9, 1.0, 1e-6)
    assert found >= 3.0
    assert found == pytest.approx(3.0, rel=1e-5)
    # one that rises and falls on its way costs as much as it rises, not the rest of the bracket
    for target in np.geomspace(0.3, 30.0, 40):

        def bound(multiplier, target=target):
            return target / multiplier * (1.0 + 1e-5 * math.sin(1e7 * multiplier))

        found = minimum_multiplier(bound, 1.0, 1e-6)
        assert bound(found) <= 1.0
        assert found <= target * (1.0 + 1e-4)
    with pytest.raises(ValueError, match="no noise multiplier up to 1e"):
        minimum_multiplier(lambda _: math.inf, 1.0, 1e-6)


def test_rounding_never_grants_privacy():
    """dp_accounting returns epsilon = 0 where rounding makes a divergence negative."""
    for multiplier in (1e7, 1e8, 1e9):
        assert rdp_epsilon(multiplier, 1e-12, 1, 0.01) > 0.0


def test_an_account_that_is_contradicted_is_refused(monkeypatch):
    monkeypatch.setattr(accounting, "pld_epsilon", lambda *_: 2.1)
    with pytest.raises(RuntimeError, match=r"bound epsilon by 2\.0"):
        noise_unit("gaussian", 2.0, 1e-6, 37, 0.05)
    monkeypatch.setattr(accounting, "pld_epsilon", lambda *_: math.inf)  # says nothing
    assert noise_unit("gaussian", 2.0, 1e-6, 37, 0.05) > 0.5


@pytest.mark.parametrize(("epsilon", "steps", "rate"), [(8.0, 5000, 0.02), (1.0, 1, 0.5)])
def test_a_sampled_step_reaches_its_loss(epsilon, steps, rate):
    """Sup over x of log((1 - q) f(x) + q f(x - 1)) / f(x), for the densities themselves."""
    scale = 1.0 / step_loss(epsilon, steps, rate)
    x = np.linspace(-30.0, 30.0, 60_001) * scale
    near, far = stats.laplace(0.0, scale), stats.laplace(1.0, scale)
    mixed = (1 - rate) * near.pdf(x) + rate * far.pdf(x)
    losses = np.log(mixed / near.pdf(x))
    assert steps * losses.max() == pytest.approx(epsilon, rel=1e-9)
    assert -losses.min() <= losses.max()
    assert pure_epsilon(1.0 / scale, steps, rate) == pytest.approx(epsilon, rel=1e-12)


def test_without_sampling_a_step_has_its_share():
    assert step_loss(3.0, 10, 1.0) == pytest.approx(0.3, rel=1e-12)
    assert pure_epsilon(0.3, 10, 1.0) == pytest.approx(3.0, rel=1e-12)
    assert replace_one_epsilon(0.3, 10, 1.0) == pytest.approx(6.0, rel=1e-12)
    # beyond the range of exp, where sampling saves log(1/q) of the loss
    for share in (699.0, 701.0):
        assert step_loss(share, 1, 0.5) == pytest.approx(share + math.log(2.0), rel=1e-14)
        assert pure_epsilon(share, 1, 0.5) == pytest.approx(share - math.log(2.0), rel=1e-14)


def test_a_replaced_record_reaches_its_loss():
    loss, rate = 0.7, 0.2
    x = np.linspace(-30.0, 30.0, 60_001)

    def density(place):
        away = stats.laplace(place, 1.0).pdf(x)
        return (1 - rate) * stats.laplace(0.0, 1.0).pdf(x) + rate * away

    ratios = np.log(density(loss) / density(-loss))
    assert replace_one_epsilon(loss, 1, rate) == pytest.approx(ratios.max(), rel=1e-9)


def renyi(order, shifts):
    """Renyi divergence of Laplace noise of scale 1, Mironov (2017), Proposition 6."""
    up = math.log(order / (2 * order - 1)) + (order - 1) * shifts
    down = math.log((order - 1) / (2 * order - 1)) - order * shifts
    return np.logaddexp(up, down) / (order - 1)


@pytest.mark.parametrize("order", [1.5, 2.0, 3.0, 17.0, 256.0])
def test_divergences_of_coordinates_are_below_that_of_one_and_of_gaussian_noise(order):
    """Section 3 of docs/inid-2024.md: convex in the shift, and at most order d^2 / 2."""
    rng = np.random.default_rng(1)
    for size in (2, 5, 100):
        shifts = rng.exponential(size=size) * 10.0 ** rng.uniform(-4, 1)
        together = float(np.sum(renyi(order, shifts)))
        assert together <= renyi(order, shifts.sum()) * (1 + 1e-12)
        assert together <= 0.5 * order * float(shifts @ shifts) * (1 + 1e-9) + 1e-12
    # many small shifts: Gaussian noise with sigma = beta is the limit
    many = 10**4 * float(renyi(order, 0.01 / order))
    assert many == pytest.approx(0.5 / order, rel=1e-2)
