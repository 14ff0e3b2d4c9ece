"""The account of histogram noise against staircases, brute force over shifts, and convolution."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from dpnoise import (
    DiscreteGaussian,
    Gaussian,
    Histogram,
    Laplace,
    Staircase,
    epsilon_at,
    privacy_profile,
    vector_profile,
)
from dpnoise.privacy.scalar.histogram import dominating_loss, losses

FALL = math.exp(-0.8)
STAIRS = Histogram(2.0, 5, (1.0, 1.0, FALL, FALL, FALL), FALL)
WAVES = Histogram(1.0, 3, (1.0, 0.2, 0.1, 0.7, 0.2, 0.1, 0.3), 0.5)
SHORT = Histogram(1.0, 4, (1.0, 0.9, 0.5, 0.5, 0.3, 0.1, 0.0), 0.0)


def pair(noise, shift, cells=1200):
    """Return the masses of fine cells (20 to each of the noise's) for both neighbours."""
    x = (np.arange(-cells * 10, cells * 10) + 0.5) * noise.width / 20
    return (noise.pdf(t) * noise.width / 20 for t in (x, x + shift))


def brute(noise, shift, epsilon):
    p, q = pair(noise, shift)
    return float(np.sum(np.maximum(p - math.exp(epsilon) * q, 0.0)))


@pytest.mark.parametrize("shift", [2.0, 1.3, 4.7, 0.2])
def test_one_coordinate_is_as_private_as_the_staircase(shift):
    epsilon = np.array([0.0, 0.1, 0.5, 0.79, 0.81, 1.59, 1.61, 2.39])
    found = privacy_profile(STAIRS, shift, epsilon)
    wanted = privacy_profile(Staircase(0.8, 2.0, 0.3), shift, epsilon)
    assert np.allclose(found, wanted, rtol=1e-11, atol=0)
    assert np.all(found >= wanted * (1 - 1e-13))
    assert epsilon_at(STAIRS, 2.0, 0.0) == pytest.approx(0.8, rel=1e-13)
    assert privacy_profile(STAIRS, 2.0, epsilon_at(STAIRS, 2.0, 0.0)) == 0.0


@pytest.mark.parametrize("noise", [WAVES, SHORT, STAIRS], ids=["waves", "short", "stairs"])
def test_no_shift_within_the_sensitivity_is_worse(noise):
    """Shifts on and between the cells; the worst of the waves is not the largest one."""
    d = noise.width
    for sensitivity in (3 * d, 2.6 * d):
        fine = np.arange(1, round(sensitivity / d * 20) + 1) * d / 20
        for epsilon in (0.0, 0.3, 0.7, 1.2):
            found = vector_profile(noise, sensitivity, epsilon)
            worst = max(brute(noise, shift, epsilon) for shift in fine)
            assert found.upper == pytest.approx(worst, rel=1e-9, abs=1e-14)
            assert found.lower <= worst * (1 + 1e-9)
    assert brute(WAVES, 1.0, 1.0) < 0.9 * privacy_profile(WAVES, 1.0, 1.0)


@pytest.mark.parametrize("copies", [2, 7])
def test_several_coordinates_are_as_private_as_the_staircase(copies):
    epsilon = np.array([0.0, 0.3, 0.8, 1.3, 2.5])
    found = vector_profile(STAIRS, 2.0, epsilon, copies=copies)
    wanted = vector_profile(Staircase(0.8, 2.0, 0.3), 2.0, epsilon, copies=copies)
    assert np.all(found.lower <= wanted.upper)
    assert np.all(wanted.lower <= found.upper)
    assert np.all(found.upper - found.lower <= 1e-9)
    # A shift between whole cells, whose share is rounded, is not beyond a slightly larger one.
    near = vector_profile(STAIRS, 1.7, epsilon, copies=copies)
    assert np.all(near.upper <= vector_profile(STAIRS, 1.7000001, epsilon, copies=copies).upper)


def test_two_different_shifts_are_within_the_bounds_of_noise_that_is_not_unimodal():
    epsilon = 1.1
    found = vector_profile(WAVES, 1.0, epsilon, copies=2)
    worst = 0.0
    for a, b in combinations_with_replacement((1, 2, 3), 2):
        one, two = (losses(WAVES, Fraction(k)) for k in (a, b))
        total = np.add.outer(one.values, two.values)
        mass = np.outer(one.masses, two.masses)
        worst = max(worst, float(np.sum(mass * np.maximum(-np.expm1(epsilon - total), 0.0))))
    assert found.lower <= worst * (1 + 1e-9)
    assert worst <= found.upper
    assert found.upper <= 1.1 * found.lower


def test_a_dominating_loss_has_the_larger_profile_at_every_epsilon():
    parts = [losses(WAVES, Fraction(k)) for k in (1, 2, 3)]
    parts.append(losses(SHORT, Fraction(3)))
    whole = dominating_loss(parts)
    assert whole.masses.sum() + whole.infinite == pytest.approx(1.0, abs=1e-6)
    for epsilon in np.linspace(-4.0, 4.0, 401):
        top = max(part.delta(epsilon)[0] for part in parts)
        assert top <= whole.delta(epsilon)[0] <= top + 1e-3


def test_fine_histograms_tend_to_laplace_and_gaussian_noise():
    cells, reach = 20, 30
    t = np.arange(reach * cells) / cells
    for copies, epsilon in ((1, 0.4), (4, 1.5)):
        for smooth in (Laplace(2.0), Gaussian(2.0)):
            fall = 0.5 if isinstance(smooth, Gaussian) else math.exp(-0.5)
            rough = Histogram(1.0, cells, smooth.pdf(t), fall)
            found = vector_profile(rough, 1.0, epsilon, copies=copies).upper
            wanted = vector_profile(smooth, 1.0, epsilon, copies=copies).estimate
            assert found == pytest.approx(wanted, rel=5e-3)
            assert rough.var() == pytest.approx(smooth.var(), rel=1e-3)


def test_mass_that_leaves_the_support_is_lost_once_or_more():
    """Delta at a large epsilon is the mass of infinite loss, of any of the coordinates."""
    one = float(SHORT.sf(SHORT.bound - 1.0))
    assert privacy_profile(SHORT, 1.0, 50.0) == pytest.approx(one, rel=1e-11)
    three = vector_profile(SHORT, 1.0, 50.0, copies=3)
    assert three.upper == pytest.approx(1.0 - (1.0 - one) ** 3, rel=1e-9)
    assert three.lower <= three.upper
    assert vector_profile(SHORT, 4.0, 50.0, copies=3).upper == 1.0
    assert epsilon_at(SHORT, 1.0, 0.9 * one) == math.inf


def test_beside_other_noise_and_refusals():
    others = [Laplace(2.0), DiscreteGaussian(3.0), Staircase(0.5, 1.0, 0.4)]
    found = vector_profile([STAIRS, *others], [2.0, 1.0, 1.0, 1.0], 1.0)
    wanted = vector_profile([Staircase(0.8, 2.0, 0.3), *others], [2.0, 1.0, 1.0, 1.0], 1.0)
    assert found.upper == pytest.approx(wanted.upper, rel=1e-6)
    with pytest.raises(ValueError, match="width of a cell"):
        vector_profile(STAIRS, 5000.0, 1.0)
    with pytest.raises(ValueError, match="width of a cell"):
        privacy_profile(STAIRS, 5000.0, 1.0)


def test_noise_that_is_not_log_concave_is_refused_beside_a_histogram():
    class Unknown(Laplace):
        log_concave = False

    with pytest.raises(ValueError, match="beside a histogram"):
        vector_profile([STAIRS, Unknown(2.0)], [2.0, 1.0], 1.0)


def test_a_tail_that_rises_by_less_than_the_rounding_is_not_pure():
    found = 0
    for k in range(1, 40):
        ratio = 1.0 - k * 1e-6
        noise = Histogram(1.0, 2, (0.2, 0.2 * ratio), ratio)
        first, second = map(Fraction, noise.masses)
        if noise.unimodal and Fraction(ratio) * first > second:
            # A shift by half a unit loses log(first / second), more than -log(ratio).
            found += 1
            assert vector_profile(noise, 1.0, -math.log(ratio) * (1.0 + 1e-14)).upper > 0.0
    assert found > 0
