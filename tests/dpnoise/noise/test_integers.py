"""Noise on the integers against sums at 60 digits, and its samples."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from dpnoise.noise import (
    INTEGER_FAMILIES,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    Gaussian,
    Staircase,
)
from dpnoise.noise.integers import best_r
from exact_noise import exact_noise, off
from for_all import for_all

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
every = for_all("noise", INSTANCES)


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(60):
        yield


@every
def test_probabilities_and_moments_hold_to_1e_12(noise):
    exact = exact_noise(noise)
    end = next(k for k in range(0, 5000, 5) if exact.weight(k) < mp.mpf("1e-40"))
    for k in {0, 1, 2, 3, 4, 5, 7, 8, 9, 12, end // 2} & set(range(end)):
        assert off(noise.pmf(k), exact.pmf(k)) <= 1e-12 or exact.weight(k) < 1e-300
        assert noise.pmf(-k) == noise.pmf(k)
        tail = exact.tail(k)
        if tail > mp.mpf("1e-20"):
            assert off(noise.sf(k), tail) <= 1e-12
            assert off(noise.cdf(k), 1 - tail) <= 1e-14
            assert off(noise.logsf(-k - 1), mp.log(1 - tail)) <= 1e-9
    for power, value in ((1, noise.mean_abs()), (2, noise.var())):
        assert off(value, exact.moment(power)) <= 1e-12


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


def test_the_discrete_staircase_is_a_rounded_one():
    """Sums of the continuous density over (k - 1/2, k + 1/2)."""
    noise = DiscreteStaircase(0.8, 5, 2)
    smooth = Staircase(0.8, 5.0, 0.3)
    k = np.arange(-20, 21)
    assert np.allclose(noise.pmf(k), smooth.cdf(k + 0.5) - smooth.cdf(k - 0.5), rtol=1e-11)
    assert noise.var() == pytest.approx(smooth.var() - 1 / 12, rel=1e-13)
    assert np.allclose(DiscreteStaircase(0.4, 1, 1).pmf(k), DiscreteLaplace(2.5).pmf(k), rtol=1e-13)


@for_all("epsilon", [1e-6, 0.1, 1.0, 3.0, 20.0])
@for_all("sensitivity", [1, 2, 3, 10, 37])
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


# Each side of the changes of method at 1 and 16, and where sums are still quick.
SCALES = [0.01, 0.05, 0.2, 0.6, 0.999, 1.0, 1.4, 3.0, 15.9, 16.0, 25.0, 150.0]
every_sigma = for_all("sigma", SCALES)


@every_sigma
def test_probabilities_of_the_discrete_gaussian_hold_to_1e_12(sigma):
    noise = DiscreteGaussian(sigma)
    exact = exact_noise(noise)
    far = [0, 1, 2, *(math.ceil(sigma * x) for x in (0.5, 1, 3, 8, 20, 36))]
    for k in far:
        mass, tail = exact.pmf(k), exact.tail(k)
        assert abs(noise.logpmf(k) - float(mp.log(mass))) <= 1e-12 * (1 + abs(float(mp.log(mass))))
        assert off(noise.logsf(k), mp.log(tail)) <= 1e-12
        assert off(noise.sf(k), tail) <= 1e-12 or tail < 1e-307
        assert noise.pmf(-k) == noise.pmf(k)
        assert noise.sf(k + 0.5) == noise.sf(k) == noise.cdf(-k - 1)
        assert off(noise.sf(-k - 1), 1 - tail) <= 1e-14
        assert off(noise.cdf(k), 1 - tail) <= 1e-14


@every_sigma
def test_moments_of_the_discrete_gaussian_hold_to_1e_12(sigma):
    noise = DiscreteGaussian(sigma)
    exact = exact_noise(noise)
    if sigma > 0.03:  # else they underflow
        assert off(noise.var(), exact.moment(2)) <= 1e-12
        assert off(noise.mean_abs(), exact.moment(1)) <= 1e-12
    assert noise.std() == math.sqrt(noise.var())
    assert noise.var() <= sigma**2


@for_all("sigma", [*SCALES, 1e3, 1e6, 1e12])
def test_quantiles_of_the_discrete_gaussian_are_the_least_integers(sigma):
    noise = DiscreteGaussian(sigma)
    p = np.array([1e-300, 1e-20, 1e-3, 0.3, 0.5, 0.8, 0.999, 1 - 1e-9, 1 - 2.0**-53])
    low, high = noise.ppf(p), noise.isf(p)
    # P(X <= k) >= p, said by the tail that is exact on each side of the median
    for k, holds in [(low, True), (low - 1, False)]:
        reached = np.where(p < 0.5, noise.cdf(k) >= p, noise.sf(k) <= 1 - p)
        assert (reached == holds).all()
    for k, holds in [(high, True), (high - 1, False)]:
        reached = np.where(p > 0.5, noise.cdf(k) >= 1 - p, noise.sf(k) <= p)
        assert (reached == holds).all()
    assert noise.isf(p[:, None]).shape == (9, 1)
    assert noise.isf([0, 1]).tolist() == [math.inf, -math.inf]
    assert noise.ppf([0, 1]).tolist() == [-math.inf, math.inf]
    assert np.isnan(noise.ppf([-0.1, 1.1, math.nan])).all()
    assert np.isnan(noise.isf([-0.1, 1.1, math.nan])).all()


@for_all("sigma", [1e3, 1e6, 1e12])
def test_wide_noise_is_a_rounded_normal(sigma):
    """P(X > k) is the normal tail from k + 1/2 up to 1/24 of the density's slope there."""
    noise, normal = DiscreteGaussian(sigma), Gaussian(sigma)
    k = np.floor(sigma * np.array([0.0, 0.3, 2.0, 9.0, 30.0]))
    x = (k + 1) / sigma
    close = 1e-12 + x * (x + 1) / (24 * sigma**2)  # the hazard at x is at most x + 1
    assert (np.abs(noise.logsf(k) - normal.logsf(k + 0.5)) <= close).all()
    assert math.isclose(noise.var(), sigma**2, rel_tol=1e-14)
    assert math.isclose(noise.mean_abs(), normal.mean_abs(), rel_tol=1 / sigma**2 + 1e-15)


@for_all("sigma", [0.3, 1.0, 4.5, 1e3, 1e6])
def test_samples_follow_the_discrete_gaussian(sigma):
    """Chi-squared over at most 40 cells at a false-alarm rate of 1e-4 (fixed seed)."""
    noise = DiscreteGaussian(sigma)
    draws = noise.rvs((200, 100), random_state=5)
    assert draws.dtype == np.int64
    edges = np.unique(noise.ppf(np.linspace(0.01, 0.99, 40)))
    share = np.diff(np.concatenate([[0.0], noise.cdf(edges), [1.0]]))
    count = np.bincount(np.searchsorted(edges, draws.ravel()), minlength=share.size)
    keep = share * draws.size > 5
    expected = np.append(share[keep], share[~keep].sum()) * draws.size
    observed = np.append(count[keep], count[~keep].sum())
    used = expected > 0
    assert observed[~used].sum() == 0
    misfit = ((observed - expected)[used] ** 2 / expected[used]).sum()
    assert stats.chi2.sf(misfit, used.sum() - 1) > 1e-4
    again = noise.rvs((200, 100), random_state=np.random.default_rng(5))
    assert np.array_equal(draws, again)
    assert noise.rvs(random_state=1) == int(noise.rvs(random_state=1))


def test_shapes_and_missing_values():
    noise = DiscreteGaussian(2.0)
    for name in ("pmf", "logpmf", "cdf", "sf", "logsf", "isf", "ppf"):
        method = getattr(noise, name)
        assert method([[0.25, 0.75]]).shape == (1, 2)
        assert isinstance(method(0.5), float)
        assert math.isnan(method(math.nan))
    assert noise.rvs(0).shape == (0,)


@for_all("sigma", [0.0, -1, 1e13, math.nan, "1", True, 1e-3])
def test_bad_sigma_is_refused(sigma):
    with pytest.raises(ValueError, match="discrete Gaussian noise: sigma: expected"):
        DiscreteGaussian(sigma)
