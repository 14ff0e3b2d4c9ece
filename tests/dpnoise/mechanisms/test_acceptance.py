"""`best` for random sets and budgets; `make fuzz` does the same for as long as one likes."""

import numpy as np

from dpnoise import L2, Gaussian, Staircase
from dpnoise.mechanisms.noise import IndependentNoise
from dpnoise.privacy.profile import privacy_profile
from fuzz.checks_best import CHECKS
from fuzz.runner import run
from sampled_delta import loss, sampled_delta


def test_what_best_returns_is_private_above_the_floor_and_not_beaten():
    report = run({"best-quick": CHECKS["best-quick"]}, seed=15, cases=3)
    assert report.violations == []
    assert report.sets.total() == 3


def test_samples_contradict_noise_that_is_too_small():
    """With 10 % less noise the account refutes the delta; the check would have found it."""
    sigma = 0.9 * 4.2246788893287555  # for epsilon = 1, delta = 1e-6
    noise, ball = IndependentNoise(Gaussian(sigma), np.ones(6)), L2(1.0, of=6)
    rng = np.random.default_rng(8)
    estimate, error, unseen = sampled_delta(noise, ball.extreme_point, 1.0, rng, draws=4000)
    assert estimate - 6.0 * error - unseen > 1e-6
    assert np.max(loss(noise, noise.rvs(10_000, rng), ball.extreme_point)) > 0.5


def test_samples_do_not_accuse_where_all_draws_are_alike():
    """The steps beyond the middle one have a probability of 4e-5: most samples miss them."""
    epsilon, noise = 14.40679306186238, Staircase(14.406948672194487, 1.0, 0.0065162971277215815)
    exact = privacy_profile(noise, 1.0, epsilon)
    estimates = [
        sampled_delta(
            IndependentNoise(noise, np.ones(1)),
            np.array([1.0 - 1e-12]),
            epsilon,
            np.random.default_rng(seed),
            draws=2000,
        )
        for seed in range(20)
    ]
    assert any(estimate - 6.0 * error > exact for estimate, error, _ in estimates)
    assert all(estimate - 6.0 * error - unseen <= exact for estimate, error, unseen in estimates)
