"""What a claim allows an event: against the trade-off curves of known noise."""

import numpy as np
import pytest
from scipy import stats

from dpnoise import L2, Gaussian, Laplace, TruncatedLaplace, calibrate_joint
from dpnoise._validation import Problems
from dpnoise.auditing.claim import budget_claim, noise_claim, smallest_delta
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


def test_radial_noise_is_read_in_units_of_its_ball():
    ball = L2(2.0, of=3)
    noise = calibrate_joint("truncated-k-norm", ball, epsilon=1.0, delta=1e-3).noise
    most = claim_of(noise, 1.0).most(Q)
    assert claim_of(noise, ball).most(Q) == pytest.approx(most)
    assert np.all(claim_of(noise, 2.0).most(Q) >= most)
    assert 0.0 < smallest_delta(noise, ball, 1.0) <= 1e-3


def test_no_change_allows_nothing():
    assert claim_of(Gaussian(1.0), 0.0).most(Q) == pytest.approx(Q)


def test_the_lower_bound_on_delta_is_0_where_only_a_dominating_noise_is_known():
    assert smallest_delta(KNorm(2, 3, 2.0), 1.0, 0.1) == 0.0
    assert smallest_delta(Laplace(2.0), 1.0, 0.5) == 0.0
    assert smallest_delta(Laplace(2.0), 1.0, 0.1) > 0.1
