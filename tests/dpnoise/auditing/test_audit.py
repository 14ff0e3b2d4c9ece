"""Claims against trade-off curves of known noise; Clopper-Pearson bounds and what they prove."""

import math

import numpy as np
import pytest
from scipy import stats

from dpnoise import L2, Gaussian, Laplace, TruncatedLaplace
from dpnoise._validation import Problems
from dpnoise.auditing.audit import (
    budget_claim,
    clopper_pearson,
    noise_claim,
    proved_delta,
    proved_epsilon,
    smallest_delta,
)
from dpnoise.joint.noise import RadialNoise
from dpnoise.joint.profile import radial_delta_bounds
from dpnoise.noise import KNorm


def claim_of(noise, sensitivity):
    problems = Problems("claim")
    found = noise_claim(problems, noise, sensitivity)
    assert not problems.found
    return found


Q = np.array([0.0, 1e-7, 1e-3, 0.2, 0.5, 0.9, 1.0])


def test_a_budget_allows_what_the_definition_does_of_an_event_and_of_its_opposite():
    epsilon, delta = 0.7, 0.01
    p = budget_claim(epsilon, delta).most(Q)
    assert np.all(p <= delta + np.exp(epsilon) * Q + 1e-15)
    assert np.all(delta + np.exp(epsilon) * (1.0 - p) + 1e-15 >= 1.0 - Q)
    assert p[0] == delta
    assert p[-1] == 1.0
    assert np.all(np.diff(p) >= 0.0)


@pytest.mark.parametrize("sigma", [0.3, 2.0, 50.0])
def test_gaussian_noise_allows_its_trade_off_curve_and_hardly_more(sigma):
    """The curve is Phi(Phi^-1(q) + 1 / sigma) (Dong, Roth & Su 2022)."""
    allowed = claim_of(Gaussian(sigma), 1.0).most(Q)
    true = stats.norm.cdf(stats.norm.ppf(Q) + 1.0 / sigma)
    assert np.all(allowed >= true - 1e-12)
    assert np.all(allowed <= true + 1e-3 * np.minimum(1.0, 1.0 / sigma) + 1e-9)


def test_laplace_noise_allows_its_pure_epsilon_exactly():
    allowed = claim_of(Laplace(2.0), 1.0).most(Q[:4])
    assert allowed == pytest.approx(np.exp(0.5) * Q[:4], rel=1e-12)


def test_truncated_noise_allows_the_mass_that_leaves_its_support():
    noise = TruncatedLaplace(1.0, 4.0)
    leaves = float(noise.sf(3.0))
    assert float(claim_of(noise, 1.0).most(0.0)) == pytest.approx(leaves, rel=1e-9)


def test_vectors_have_the_claim_of_what_they_are_counted_as():
    one = claim_of(Gaussian(2.0), 1.0).most(Q)
    two = claim_of([Gaussian(2.0), Gaussian(2.0)], [0.6, 0.8]).most(Q)
    assert two == pytest.approx(one, abs=1e-5)
    assert claim_of(KNorm(1, 3, 2.0), 1.0).most(Q) == pytest.approx(
        claim_of(Laplace(2.0), 1.0).most(Q)
    )


def test_radial_noise_is_read_in_units_of_its_ball(monkeypatch):
    monkeypatch.setattr("dpnoise.auditing.audit._POINTS", 8)
    monkeypatch.setattr("dpnoise.auditing.audit._COARSE", 6)
    ball = L2(2.0, of=3)
    noise = RadialNoise(ball, 1.2, 1.0, 8.0)
    most = claim_of(noise, 1.0).most(Q)
    assert claim_of(noise, ball).most(Q) == pytest.approx(most)
    assert np.all(claim_of(noise, 2.0).most(Q) >= most)
    assert 0.0 < smallest_delta(noise, ball, 1.0) <= radial_delta_bounds(noise, 1.0).upper


def test_no_change_allows_nothing():
    assert claim_of(Gaussian(1.0), 0.0).most(Q) == pytest.approx(Q)


def test_the_lower_bound_on_delta_is_0_where_only_a_dominating_noise_is_known():
    assert smallest_delta(KNorm(2, 3, 2.0), 1.0, 0.1) == 0.0
    assert smallest_delta(Laplace(2.0), 1.0, 0.5) == 0.0
    assert smallest_delta(Laplace(2.0), 1.0, 0.1) > 0.1


@pytest.mark.parametrize("runs", [1, 7, 500])
@pytest.mark.parametrize("miss", [0.5, 0.01, 5e-5])
def test_bounds_of_a_probability_are_those_of_clopper_and_pearson(runs, miss):
    low, high = clopper_pearson(*[np.arange(runs + 1)] * 2, runs, miss)
    for hits in {0, 1, runs // 2, runs - 1, runs}:
        test = stats.binomtest(hits, runs, alternative="two-sided")
        peer = test.proportion_ci(1 - 2 * miss) if miss < 0.5 else None
        if peer is not None:
            assert (low[hits], high[hits]) == pytest.approx(tuple(peer), rel=1e-9)
        assert low[hits] <= hits / runs <= high[hits]


@pytest.mark.parametrize("p", [0.0, 1e-3, 0.3, 1.0])
def test_each_bound_holds_as_often_as_stated(p):
    """Coverage by the exact binomial probabilities, not by draws."""
    runs, miss = 200, 0.05
    low, high = clopper_pearson(*[np.arange(runs + 1)] * 2, runs, miss)
    mass = stats.binom.pmf(np.arange(runs + 1), runs, p)
    assert mass[low <= p].sum() >= 1 - miss - 1e-12
    assert mass[high >= p].sum() >= 1 - miss - 1e-12


@pytest.mark.parametrize("miss", [1e-3, 1e-17, 1e-300])
def test_a_tiny_probability_of_a_wrong_bound_is_not_rounded_away(miss):
    """Of 10 runs without a hit the upper bound is 1 - miss^(1/10), of 10 hits the lower one."""
    low, high = clopper_pearson([0, 10], [0, 10], 10, miss)
    assert low[1] == pytest.approx(miss**0.1)
    assert high[0] == pytest.approx(-np.expm1(0.1 * np.log(miss)))


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.1), (1.0, 1e-9), (0.3, 0.3), (0.0, 0.2)])
def test_epsilon_and_delta_are_two_sides_of_one_inequality(low, high):
    for delta in (0.0, 0.05, 0.9):
        epsilon = proved_epsilon(low, high, delta)
        assert epsilon >= 0.0
        if epsilon > 0.0:
            assert proved_delta(low, high, epsilon) == pytest.approx(delta, abs=1e-12)
        else:
            assert low - high <= delta
    assert proved_delta(low, high, 1000.0) == 0.0
    assert proved_delta(low, high, 0.0) == pytest.approx(max(low - high, 0.0))
    assert math.isfinite(proved_epsilon(1.0, 5e-324, 0.0))
