"""Staircase noise: the best gamma, and epsilon-privacy. Histogram noise: cells, tails, samples."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from dpnoise.noise import Histogram, Staircase, staircase_gamma
from dpnoise_papers.verify.oracles.exact import Stairs
from exact_noise import off
from for_all import for_all


@for_all("epsilon", [1e-100, 1e-6, 0.01, 0.3, 1.0, 4.0, 30.0, 700.0])
@for_all("power", [1, 2])
def test_best_staircase_is_a_minimum(epsilon, power):
    """The exact moment falls up to 1e-12 before it and rises 1e-12 after; a grid has no better."""
    with mp.workdps(300):
        gamma = mp.mpf(float(staircase_gamma(epsilon, power)))

        def moment(gamma):
            exact = Stairs(epsilon, 1, gamma)
            return exact.moment(power) / exact.half

        step = gamma * mp.mpf("1e-12")
        assert moment(gamma - 2 * step) > moment(gamma - step)
        assert moment(gamma + step) < moment(gamma + 2 * step)
        grid = [mp.mpf(i) / 64 for i in range(1, 64)]
        assert moment(gamma) <= min(moment(x) for x in grid) * (1 + mp.mpf("1e-24"))
    noise = Staircase(epsilon, 1.0, float(gamma))
    best = noise.mean_abs() if power == 1 else noise.var()
    assert off(best, moment(gamma)) < 1e-12


def test_best_staircase_agrees_with_the_printed_formula():
    """Geng & Viswanath 2016, the gamma of the least variance, and that of the least E|T|."""
    epsilon = np.array([[0.5, 1.0], [3.0, 8.0]])
    b = np.exp(-epsilon)
    root = np.cbrt(b - 2 * b**2 + 2 * b**4 - b**5) / (2 ** (1 / 3) * (1 - b) ** 2)
    assert np.allclose(staircase_gamma(epsilon), root - b / (1 - b), rtol=1e-12)
    assert np.allclose(staircase_gamma(epsilon, 1), 1 / (1 + np.exp(epsilon / 2)), rtol=1e-14)
    assert isinstance(staircase_gamma(1.0), float)


@for_all(("epsilon", "gamma"), [(1e-6, 0.5), (1.0, 0.38), (3.0, 0.9), (600.0, 0.1)])
def test_staircase_is_epsilon_private(epsilon, gamma):
    """No shift up to the sensitivity changes the density by more than exp(epsilon)."""
    noise = Staircase(epsilon, 3.0, gamma)
    rng = np.random.default_rng(3)
    t = noise.sensitivity * rng.uniform(-4, 4, 4000)
    shift = noise.sensitivity * rng.uniform(-1, 1, 4000)
    loss = noise.logpdf(t) - noise.logpdf(t - shift)
    assert math.isclose(np.abs(loss).max(), epsilon, rel_tol=1e-12, abs_tol=1e-14)


@for_all(
    ("epsilon", "power", "words"),
    [
        (-1.0, 3, ["epsilon", "-1.0", "power", "1 or 2", "got 3"]),
        ([1.0, math.inf, 701], 2, ["epsilon", "[inf, 701.0]"]),
        ("a", "b", ["epsilon", "'a'", "power", "'b'"]),
    ],
)
def test_bad_epsilon_or_power_names_every_problem(epsilon, power, words):
    with pytest.raises(ValueError, match="expected") as error:
        staircase_gamma(epsilon, power)
    assert all(word in str(error.value) for word in words)


FALL = math.exp(-0.8)
STAIRS = Histogram(2.0, 5, (1.0, 1.0, FALL, FALL, FALL), FALL)
WAVES = Histogram(1.0, 3, (1.0, 0.2, 0.1, 0.7, 0.2, 0.1, 0.3), 0.5)
SHORT = Histogram(3.0, 2, (1.0, 0.0, 0.5, 0.2), 0.0)
ALONE = Histogram(1.0, 1, (2.0,), 0.3)  # cell 0 itself repeats
EVERY = for_all("noise", [STAIRS, WAVES, SHORT, ALONE])


def test_staircase_noise_is_a_histogram():
    """Steps that fall at gamma = 0.3 of their width: one and a half of five cells."""
    stairs = Staircase(0.8, 2.0, 0.3)
    t = np.array([-7.3, -0.2, 0.0, 0.1, 0.59, 0.61, 1.5, 3.3, 20.1, 300.0])
    assert np.allclose(STAIRS.logpdf(t), stairs.logpdf(t), rtol=1e-13, atol=1e-13)
    assert np.allclose(STAIRS.logsf(t), stairs.logsf(t), rtol=1e-13, atol=1e-13)
    p = np.array([1e-300, 1e-20, 1e-3, 0.3, 0.499999999999, 0.7, 0.999])
    assert np.allclose(STAIRS.isf(p), stairs.isf(p), rtol=1e-12)
    assert STAIRS.var() == pytest.approx(stairs.var(), rel=1e-13)
    assert STAIRS.mean_abs() == pytest.approx(stairs.mean_abs(), rel=1e-13)
    assert 0.8 <= float(STAIRS.largest_loss(2.0)) <= 0.8 * (1 + 1e-10)
    assert 1.6 <= float(STAIRS.largest_loss(2.1)) <= 1.6 * (1 + 1e-10)


@EVERY
def test_cells_add_up_to_mass_and_moments(noise):
    count = 600 if noise.ratio else len(noise.masses)
    centres = noise.width * np.arange(count)
    masses = noise.width * noise.pdf(centres)
    both = np.append(masses[0], 2.0 * masses[1:])
    assert both.sum() == pytest.approx(1.0, rel=1e-13)
    assert both @ (centres**2 + noise.width**2 / 12) == pytest.approx(noise.var(), rel=1e-12)
    centres[0] = noise.width / 4
    assert both @ centres == pytest.approx(noise.mean_abs(), rel=1e-12)
    ends = noise.width * (np.arange(count) + 0.5)
    assert np.allclose(noise.sf(ends)[:50], 0.5 - np.cumsum(both)[:50] / 2, atol=1e-14)
    assert noise.fisher_information() == math.inf


@EVERY
def test_quantiles_invert_the_tail(noise):
    p = np.concatenate([np.linspace(0.001, 0.999, 997), [1e-6, 1e-12, 0.5]])
    assert np.allclose(noise.sf(noise.isf(p)), p, rtol=1e-9, atol=1e-12)
    assert np.allclose(noise.cdf(noise.ppf(p)), p, rtol=1e-9, atol=1e-12)
    assert noise.isf(0.0) == noise.bound
    assert noise.isf(1.0) == -noise.bound
    assert noise.isf(0.5) == 0.0
    assert noise.sf(math.inf) == 0.0
    assert noise.logpdf(math.inf) == -math.inf


@EVERY
def test_samples_fall_into_the_cells_as_often_as_they_should(noise):
    draws = noise.rvs(40_000, random_state=3)
    cell = np.minimum(np.abs(np.round(draws / noise.width)), 7).astype(int)
    masses = noise.masses_to(8) * np.append(1.0, np.full(7, 2.0))
    masses[7] = 1.0 - masses[:7].sum()
    some = masses > 1e-12
    seen = np.bincount(cell, minlength=8)
    assert not seen[~some].any()
    assert stats.chisquare(seen[some], masses[some] / masses[some].sum() * 40_000).pvalue > 1e-4
    within = np.abs(draws / noise.width - np.round(draws / noise.width))[cell > 0]
    assert stats.kstest(within, stats.uniform(0.0, 0.5).cdf).pvalue > 1e-4


def test_bound_order_and_scale():
    assert SHORT.bound == 5.25
    assert SHORT.pdf(5.3) == 0.0
    assert not SHORT.unimodal
    assert STAIRS.unimodal
    assert ALONE.unimodal
    assert not Histogram(1.0, 2, (1.0, 0.6, 0.2), 0.9).unimodal  # 0.9 * 0.6 > 0.2
    assert not WAVES.unimodal
    assert SHORT.largest_loss(1.0) == math.inf
    assert WAVES.scaled(4.0).var() == pytest.approx(16.0 * WAVES.var())
    assert WAVES.scaled(4.0).masses == WAVES.masses
    assert Histogram(1.0, 1, np.array([2.0]), 0.3) == ALONE


def test_one_error_names_every_problem():
    with pytest.raises(ValueError, match=r"sensitivity.*ratio.*cells.*masses"):
        Histogram(-1.0, 0, (math.nan,), 1.0)
    with pytest.raises(ValueError, match="from cells to"):
        Histogram(1.0, 4, (1.0, 1.0), 0.5)
    with pytest.raises(ValueError, match="1e-290 of their sum"):
        Histogram(1.0, 1, (1.0, 1e-300), 0.5)
    with pytest.raises(ValueError, match="1e-290 of their sum"):
        Histogram(1.0, 1, (0.0,), 0.0)
    with pytest.raises(ValueError, match="last cells are empty"):
        Histogram(1.0, 1, (1.0, 0.0), 0.5)
