"""Many steps of sampled Gaussian noise, beside convolutions, closed forms and printed numbers."""

import math
from itertools import pairwise

import numpy as np
import pytest
from flint import acb, ctx
from scipy import integrate, stats

from dpnoise import Gaussian, SampledGaussian, epsilon_at, privacy_profile
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.sampled.composition import Composition
from dpnoise.privacy.sampled.pairs import ADDED, REMOVED, Kind, one_step, pair_of
from dpnoise.privacy.sampled.transform import (
    SampledGaussianLoss,
)
from oracles import samples

CASES = [(1.2, 0.2), (0.7, 0.01), (3.0, 0.5), (0.3, 0.05), (20.0, 1e-3)]


def loss(y, sigma, rate):
    return np.log1p(rate * np.expm1((y - 0.5 / sigma) / sigma))


def one_delta(epsilon, sigma, rate, direction):
    return float(samples.one_step(sigma, rate, epsilon, removed=direction == REMOVED))


def two_steps(epsilon, sigma, rate, direction):
    """Delta of two steps, by one integral over the loss of the first."""

    def term(y):
        density = stats.norm.pdf(y)
        value = loss(y, sigma, rate)
        if direction == REMOVED:
            return density * math.exp(value) * one_delta(epsilon - value, sigma, rate, direction)
        return density * one_delta(epsilon + value, sigma, rate, direction)

    ends = np.linspace(-12.0, 12.0 + 1.0 / sigma, 60)
    parts = [
        integrate.quad(term, a, b, epsabs=0.0, epsrel=1e-11, limit=200)[0]
        for a, b in pairwise(ends)
    ]
    return math.fsum(parts)


@pytest.mark.parametrize("direction", [REMOVED, ADDED])
@pytest.mark.parametrize(
    ("sigma", "rate", "epsilon"), [(1.2, 0.2, 0.3), (0.8, 0.5, 1.0), (3.0, 0.9, 0.1)]
)
def test_two_steps_are_the_convolution(sigma, rate, epsilon, direction):
    low, high = SampledGaussian(sigma, rate).delta(epsilon, steps=2, direction=direction)
    reference = two_steps(epsilon, sigma, rate, direction)
    assert low * (1 - 1e-9) <= reference <= high * (1 + 1e-9)
    assert high <= low * (1 + 1e-6)


@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize(("sigma", "rate"), [CASES[0], *CASES[3:]])
def test_the_transform_is_the_integral(sigma, rate, removed):
    own = SampledGaussianLoss(sigma, rate, removed=removed)
    for c, u in ((0.5, 0.0), (3.0, 2.0), (1.0, 40.0)):
        pair, s = (REMOVED if removed else ADDED), acb(c, u)
        with ctx.workdps(25):
            reference = complex(samples.transform("gaussian", pair, 1 / sigma, rate, s))
        line = own.line(c)
        _, value, error = line.values(np.array([u]))
        found = value[0] * math.exp(line.log_norm)
        allowed = (error[0] + 2.0 * line.norm_error) * math.exp(line.log_norm)
        assert abs(found - reference) <= allowed
        assert allowed <= 1e-10 * math.exp(line.log_norm)


@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize(("sigma", "rate"), CASES)
def test_no_value_is_above_its_envelope(sigma, rate, removed):
    line = SampledGaussianLoss(sigma, rate, removed=removed).line(2.0)
    u = np.geomspace(1e-2, 300.0, 40)
    size = np.abs(line.values(u)[1])
    bound = line.envelope(u, 1.0)
    later = np.maximum.accumulate(size[::-1])[::-1]
    assert np.all(later <= bound + 1e-12)
    assert np.all(np.diff(bound) <= 0.0)
    assert bound[-1] < 1.0


def test_a_cut_loses_at_most_what_it_states():
    whole = SampledGaussianLoss(1.0, 0.1, removed=True)
    cut = SampledGaussianLoss(1.0, 0.1, removed=True, log_rest=-8.0)
    c = np.array([1e-9])
    lost = -np.expm1(cut.log_real(c)[0] - whole.log_real(c)[0])[0]
    assert 0.01 * math.exp(-8.0) <= lost <= math.exp(-8.0)
    assert cut.log_real(np.array([5.0]))[0] < whole.log_real(np.array([5.0]))[0]


def test_printed_numbers_are_met():
    low, high = SampledGaussian(1.5, 0.04).epsilon(1e-5, steps=2250)
    assert high <= 6.7774 <= low * 1.002  # Opacus prints the upper end of its PRV accountant
    assert high <= low * (1 + 1e-8)
    assert SampledGaussian(1.2, 0.2).epsilon(0.08) == (0.0, 0.0)  # Opacus PR #844
    low, high = SampledGaussian(0.8, 0.125).epsilon(1e-6, steps=1000)  # prv_accountant #36
    assert 0.0 < low <= high <= low * (1 + 1e-8)


def test_a_small_rate_needs_the_cut():
    low, high = SampledGaussian(4.0, 0.00033).epsilon(1.1e-18, steps=10_000)  # prv_accountant #17
    assert 0.067 < low <= high <= low * (1 + 1e-6)


def test_rate_1_is_gaussian_noise():
    for steps in (1, 4):
        low, high = SampledGaussian(4.0, 1.0).epsilon(1e-6, steps=steps)
        exact = float(epsilon_at(Gaussian(4.0), math.sqrt(steps), 1e-6))
        assert low <= exact * (1 + 1e-9)
        assert exact <= high * (1 + 1e-9)
        assert high <= low * (1 + 1e-8)
    low, high = SampledGaussian(2.0, 1.0).delta(1.0)
    assert low <= float(privacy_profile(Gaussian(2.0), 1.0, 1.0)) <= high


def test_an_added_record_has_a_largest_loss():
    composition = Composition({Kind(1.0, 0.01): 3})
    assert composition.log_delta(-3.01 * math.log1p(-0.01), ADDED).upper == -math.inf


def test_a_rare_sample_at_an_epsilon_whose_exponential_is_large():
    """Where e^epsilon / rate exceeds all doubles the closed form goes on."""
    for epsilon, rate in ((695.0, 1e-6), (1.0, 1e-308), (709.0, 1e-9)):
        found = one_step(pair_of(Kind(0.02, rate), REMOVED), epsilon).estimate
        inner = epsilon + math.log(-math.expm1(-epsilon)) - math.log(rate)
        assert found == pytest.approx(math.log(rate) + gaussian_log_delta(50.0, inner), rel=1e-9)
