"""Every family of noise on the integers against sums at 40 digits, and exact sampling."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from dpnoise.noise import (
    INTEGER_FAMILIES,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    Staircase,
)
from dpnoise.noise.discrete_staircase import best_r
from dpnoise.noise.exact_draws import _decided, bernoulli_exp, geometric
from exact_noise import off

INSTANCES = [
    DiscreteGaussian(0.6),
    DiscreteGaussian(3.0),
    DiscreteLaplace(0.01),
    DiscreteLaplace(1.0),
    DiscreteLaplace(2.7),
    DiscreteStaircase(1.0, 1, 1),
    DiscreteStaircase(0.5, 4, 1),
    DiscreteStaircase(0.5, 4, 2),
    DiscreteStaircase(2.0, 4, 4),
    DiscreteStaircase(90.0, 3, 2),
]
every = pytest.mark.parametrize("noise", INSTANCES, ids=repr)


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(60):
        yield


def weight(noise, k):
    """Return the probability of k by the definition, not normalised."""
    if isinstance(noise, DiscreteGaussian):
        return mp.exp(-(mp.mpf(k) ** 2) / (2 * mp.mpf(noise.sigma) ** 2))
    if isinstance(noise, DiscreteLaplace):
        return mp.exp(-mp.mpf(k) / mp.mpf(noise.beta))
    steps, rest = divmod(k, noise.sensitivity)
    return mp.exp(-mp.mpf(noise.epsilon) * (steps + (rest >= noise.r)))


def last(noise):
    """Return an integer beyond which there is less than 1e-30 of the mass."""
    return next(k for k in range(0, 5000, 5) if weight(noise, k) < mp.mpf("1e-40"))


@every
def test_probabilities_and_moments_hold_to_1e_12(noise):
    end = last(noise)
    weights = [weight(noise, k) for k in range(end + 1)]
    whole = 2 * mp.fsum(weights) - 1
    for k in {0, 1, 2, 3, 4, 5, 7, 8, 9, 12, end // 2} & set(range(end)):
        assert off(noise.pmf(k), weights[k] / whole) <= 1e-12 or weights[k] < 1e-300
        assert noise.pmf(-k) == noise.pmf(k)
        tail = mp.fsum(weights[k + 1 :]) / whole
        if tail > mp.mpf("1e-20"):
            assert off(noise.sf(k), tail) <= 1e-12
            assert off(noise.cdf(k), 1 - tail) <= 1e-14
            assert off(noise.logsf(-k - 1), mp.log(1 - tail)) <= 1e-9
    for power, value in ((1, noise.mean_abs()), (2, noise.var())):
        exact = 2 * mp.fsum(k**power * w for k, w in enumerate(weights)) / whole
        assert off(value, exact) <= 1e-12


@every
def test_quantiles_are_the_least_integers(noise):
    p = np.array([1e-300, 1e-20, 1e-3, 0.3, 0.5, 0.8, 0.999, 1 - 1e-9])
    low, high = noise.ppf(p), noise.isf(p)
    for k, holds in [(low, True), (low - 1, False)]:
        assert (np.where(p < 0.5, noise.cdf(k) >= p, noise.sf(k) <= 1 - p) == holds).all()
    for k, holds in [(high, True), (high - 1, False)]:
        assert (np.where(p > 0.5, noise.cdf(k) >= 1 - p, noise.sf(k) <= p) == holds).all()
    assert noise.isf([0, 1]).tolist() == [math.inf, -math.inf]
    assert noise.pmf([0.5, math.inf, -math.inf]).tolist() == [0, 0, 0]
    assert noise.cdf([-math.inf, math.inf]).tolist() == [0, 1]
    assert math.isnan(noise.pmf(math.nan))


@every
def test_samples_follow_the_distribution(noise):
    """Chi-squared over single integers at a false-alarm rate of 1e-4 (fixed seed)."""
    draws = noise.rvs((100, 300), random_state=11)
    assert draws.dtype == np.int64
    k = np.arange(-60, 61)
    expected = draws.size * noise.pmf(k)
    observed = np.bincount(np.clip(draws.ravel(), -61, 61) + 61, minlength=123)[1:-1]
    assert observed[expected < 1e-9].sum() == 0
    keep = expected > 8
    misfit = ((observed - expected)[keep] ** 2 / expected[keep]).sum()
    rest = draws.size - expected[keep].sum()
    misfit += (draws.size - observed[keep].sum() - rest) ** 2 / max(rest, 1.0)
    assert stats.chi2.sf(misfit, keep.sum()) > 1e-4
    assert np.array_equal(draws, noise.rvs((100, 300), random_state=11))
    assert noise.rvs(0).shape == (0,)


def test_wide_noise_is_sampled_as_fast_as_narrow_noise():
    for noise in (DiscreteLaplace(1e12), DiscreteGaussian(1e12), DiscreteStaircase(1e-9, 7, 3)):
        draws = noise.rvs(4000, random_state=3).astype(float)
        assert 0.85 < draws.var() / noise.var() < 1.15


def test_close_calls_are_decided_exactly():
    """Words on either side of exp(-x), to 64 bits and beyond."""
    for x in (Fraction(1, 3), Fraction(7), Fraction(10**6 + 1, 10**6)):
        with mp.workdps(120):
            exact = mp.exp(-mp.mpf(x.numerator) / x.denominator) * 2**64
        word, rest = int(exact), exact - int(exact)
        rng = np.random.default_rng(0)
        assert _decided(rng, word - 1, x)
        assert not _decided(rng, word + 1, x)
        decided = sum(_decided(rng, word, x) for _ in range(400))
        assert abs(decided - 400 * rest) < 5 * 10
    assert _decided(np.random.default_rng(0), 5, Fraction(0))


def test_certain_and_impossible_events():
    rng = np.random.default_rng(1)
    assert bernoulli_exp(rng, np.zeros(1000), lambda _: Fraction(0)).all()
    assert not bernoulli_exp(rng, np.full(1000, 800.0), lambda _: Fraction(800)).any()
    assert geometric(rng, Fraction(700), 1000).sum() == 0


def test_the_discrete_staircase_is_a_rounded_one():
    """Sums of the continuous density over (k - 1/2, k + 1/2)."""
    noise = DiscreteStaircase(0.8, 5, 2)
    smooth = Staircase(0.8, 5.0, 0.3)
    k = np.arange(-20, 21)
    assert np.allclose(noise.pmf(k), smooth.cdf(k + 0.5) - smooth.cdf(k - 0.5), rtol=1e-11)
    assert noise.var() == pytest.approx(smooth.var() - 1 / 12, rel=1e-13)
    assert np.allclose(DiscreteStaircase(0.4, 1, 1).pmf(k), DiscreteLaplace(2.5).pmf(k), rtol=1e-13)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 3.0, 20.0])
@pytest.mark.parametrize("sensitivity", [1, 2, 3, 10, 37])
def test_the_best_r_is_the_best_of_all(epsilon, sensitivity):
    variances = [
        DiscreteStaircase(epsilon, sensitivity, r).var() for r in range(1, sensitivity + 1)
    ]
    assert variances[best_r(epsilon, sensitivity) - 1] <= min(variances) * (1 + 1e-14)


def test_bad_parameters_are_refused():
    for name, kind in INTEGER_FAMILIES.items():
        good = {"discrete-staircase": (1.0, 3, 2)}.get(name, (2.0,))
        assert kind(*good) == kind(*good)
    with pytest.raises(ValueError, match="discrete Laplace noise: beta: expected"):
        DiscreteLaplace(1e-4)
    with pytest.raises(ValueError, match=r"epsilon.*got 0.*sensitivity.*got 1.5.*r: .*got 0"):
        DiscreteStaircase(0, 1.5, 0)
    with pytest.raises(ValueError, match="r: expected an integer from 1 to the sensitivity, got 4"):
        DiscreteStaircase(1.0, 3, 4)
