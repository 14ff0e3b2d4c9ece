"""Inversion of known transforms, and closed forms of delta against direct computation."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import pytest
from scipy import integrate

from dpnoise.noise import (
    FlippedHuber,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    TruncatedLaplace,
)
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.inversion import inversion
from dpnoise.privacy.inversion.inversion import (
    Inversion,
    combine,
    continuous_delta,
    number_of_atoms,
    powers,
)
from dpnoise.privacy.inversion.loss import coordinate_loss
from dpnoise.privacy.inversion.transform import LossTransform
from for_all import for_all
from hockey_stick import hockey_stick

RTOL = 1e-7
FAMILIES = [
    FlippedHuber(0.5, 2.0),
    FlippedHuber(3.0, 2.0),
    FlippedHuber(60.0, 40.0),
    Huber(1.0, 2.0),
    OffsetSymmetricGaussian(1.0, 2.0),
    TruncatedLaplace(2.0, 7.3),
    Laplace(0.4),
]
TWO = ((-0.5, math.log(0.3)), (0.5, math.log(0.6)))
THREE = ((-0.2, math.log(0.1)), (0.0, math.log(0.65)), (0.2, math.log(0.2)))


@for_all("mu", [1e-8, 1e-3, 0.3, 1.0, 4.0, 20.0])
@for_all("log_delta", [-0.01, -1.0, -20.0, -69.0, -460.0])
def test_gaussian_losses_come_out(mu, log_delta):
    # An epsilon with about that delta, or 0 if there is none.
    grid = np.linspace(0.0, mu * (40.0 + mu), 4001)
    epsilon = float(grid[np.argmin(np.abs(gaussian_log_delta(mu, grid) - log_delta))])
    exact = gaussian_log_delta(mu, epsilon)
    found = Inversion(LossTransform([], [], mu * mu), RTOL).bounds(epsilon)
    assert found.lower <= exact + 1e-12 * abs(exact) + 1e-12
    assert found.upper >= exact - 1e-12 * abs(exact) - 1e-12
    assert found.gap <= RTOL


@pytest.mark.parametrize(
    ("noise", "copies", "epsilon"),
    [
        (Laplace(5.0), 6, 0.7),
        (FlippedHuber(9.0, 8.0), 5, 0.3),
        (OffsetSymmetricGaussian(30.0, 20.0), 2, 0.1),
    ],
)
def test_blurred_bounds_hold_the_sharp_ones(noise, copies, epsilon, monkeypatch):
    transform = LossTransform([coordinate_loss(noise)], [copies], 0.0)
    sharp = Inversion(transform, 1e-8).bounds(epsilon)
    # Without atoms to remove and with few points only a blur is left.
    monkeypatch.setattr(inversion, "_MOST_ATOMS", 0)
    monkeypatch.setattr(inversion, "_MOST_POINTS", 400)
    blurred = Inversion(transform, 1e-8).bounds(epsilon)
    assert sharp.gap <= 1e-8
    assert blurred.gap > 1e-8
    assert blurred.gap < 0.1
    assert blurred.lower <= sharp.lower
    assert sharp.upper <= blurred.upper


def test_losses_beyond_the_greatest_do_not_occur():
    inverted = Inversion(LossTransform([coordinate_loss(Laplace(4.0))], [8], 0.0), RTOL)
    assert inverted.bounds(2.0 * (1.0 + 1e-9)).upper == -math.inf
    at_top = inverted.bounds(2.0)
    assert at_top.lower == -math.inf
    assert at_top.upper < -24.0
    below = inverted.bounds(2.0 * (1.0 - 1e-4))
    # All coordinates at their top atom, P = 2^-8, and a little from the rest.
    assert math.exp(below.estimate) == pytest.approx(2.0**-8 * 2e-4, rel=1e-2)
    assert below.gap <= RTOL


@for_all("beta", [0.02, 0.1])
def test_hardly_any_privacy_has_a_lower_bound_next_to_one(beta):
    found = Inversion(LossTransform([coordinate_loss(Laplace(beta))], [20], 0.0), RTOL).bounds(1.0)
    assert found.gap <= RTOL


def test_copies_that_rounding_hides_are_refused():
    transform = LossTransform([coordinate_loss(FlippedHuber(3.0, 2.0))], [10**13], 0.0)
    with pytest.raises(ValueError, match="10000000000000 coordinates"):
        Inversion(transform, RTOL)


@for_all("noise", FAMILIES)
def test_with_the_atoms_it_is_the_profile(noise):
    loss = coordinate_loss(noise)
    x = np.linspace(-1.3, 1.3, 14) * min(loss.largest, 2.0)
    delta, error, _ = continuous_delta(loss.stretches, x)
    for value, log_mass in loss.atoms:
        delta = delta + math.exp(log_mass) * -np.expm1(np.minimum(x - value, 0.0))
    expected = np.exp(hockey_stick(noise, 1.0, x)[0]) - loss.infinite
    assert np.all(np.abs(delta - expected) <= error + 1e-12 * expected + 4e-16)
    assert np.all(error < 1e-11)


@for_all("noise", FAMILIES)
@for_all("x", [-0.3, 0.02, 0.4])
def test_quadrature_of_each_stretch(noise, x):
    for cut in coordinate_loss(noise).stretches:

        def payoff(y, cut=cut):
            zeta = cut.zeta_0 + y * (cut.zeta_1 + 0.5 * y * cut.zeta_2)
            psi = cut.psi_0 + y * (cut.psi_1 + 0.5 * y * cut.psi_2)
            return max(-math.expm1(min(x - zeta, 0.0)), 0.0) * math.exp(-psi)

        end = min(cut.length, 12.0 / math.sqrt(cut.psi_2) if cut.psi_2 > 0 else 50.0)
        panels = np.linspace(0.0, end, 40)
        exact = math.fsum(
            integrate.quad(payoff, a, b, epsabs=1e-13)[0] for a, b in itertools.pairwise(panels)
        )
        (delta,), (error,), (slope,) = continuous_delta([cut], np.array([x]))
        assert abs(delta - exact) <= error + 1e-9
        step = 1e-6
        low, high = continuous_delta([cut], np.array([x + step, x - step]))[0]
        assert (high - low) / (2 * step) == pytest.approx(slope, rel=1e-4, abs=1e-7)


def test_zeta_stationary_at_x_has_a_rest():
    # Where flipped Huber noise leaves its centre, zeta starts at +-alpha with no slope.
    cuts = coordinate_loss(FlippedHuber(2.0, 2.0)).stretches
    still = [cut for cut in cuts if cut.zeta_1 == 0.0]
    assert {math.copysign(1.0, cut.zeta_2) for cut in still} == {1.0, -1.0}
    for cut in still:
        y = np.linspace(0.0, min(cut.length, 60.0), 200_001)
        zeta = cut.zeta_0 + y * (cut.zeta_1 + 0.5 * y * cut.zeta_2)
        density = np.exp(-(cut.psi_0 + y * (cut.psi_1 + 0.5 * y * cut.psi_2)))
        payoff = -np.expm1(np.minimum(cut.zeta_0 - zeta, 0.0))
        exact = integrate.simpson(payoff * density, x=y)
        for off in (0.0, 1e-300, 5e-324, 1e-16, -1e-300, -1e-16):
            (delta,), (error,), _ = continuous_delta([cut], np.array([cut.zeta_0 + off]), 2e-16)
            assert abs(delta - exact) <= error + 1e-12
            assert error <= 1e-12


@for_all("noise", FAMILIES)
def test_the_error_covers_a_doubt_across_a_jump_of_the_slope(noise):
    loss = coordinate_loss(noise)
    ends = [cut.zeta_0 for cut in loss.stretches]
    ends += [
        cut.zeta_0 + cut.length * (cut.zeta_1 + 0.5 * cut.length * cut.zeta_2)
        for cut in loss.stretches
        if cut.length < math.inf
    ]
    x = np.array(ends)
    for doubt in (1e-3, 1e-6, 1e-9):
        delta, error, _ = continuous_delta(loss.stretches, x, doubt)
        for share in (-1.0, -0.3, 0.4, 1.0):
            moved, own, _ = continuous_delta(loss.stretches, x + share * doubt)
            assert np.all(np.abs(moved - delta) <= error + own)


@for_all("copies", [1, 2, 7, 40])
def test_three_values_convolve(copies):
    values, logs = powers(THREE, copies)
    expected = np.ones(1)
    for _ in range(copies):
        expected = np.convolve(expected, [0.1, 0.65, 0.2])
    assert np.exp(logs) == pytest.approx(expected, rel=1e-12)
    assert values == pytest.approx(0.2 * np.arange(-copies, copies + 1))
    assert len(values) == number_of_atoms(THREE, copies)


@for_all("epsilon", [0.1, 0.95, 2.0])
def test_groups_combine(epsilon):
    found = combine([(TWO, 3), (THREE, 2)])
    delta = 0.0
    for signs in np.ndindex(2, 2, 2):
        for steps in np.ndindex(3, 3):
            loss = sum(TWO[i][0] for i in signs) + sum(THREE[i][0] for i in steps)
            mass = math.prod(math.exp(TWO[i][1]) for i in signs)
            mass *= math.prod(math.exp(THREE[i][1]) for i in steps)
            delta += mass * max(-math.expm1(epsilon - loss), 0.0)
    log_delta, log_error = found.log_delta(epsilon)
    assert math.exp(log_delta) == pytest.approx(delta, rel=1e-12)
    assert math.exp(log_error) <= 1e-11 * delta
    assert len(found.values) == 4 * 5


def test_an_atom_within_rounding_of_epsilon_counts_in_the_error():
    found = combine([(TWO, 2)])
    log_delta, log_error = found.log_delta(1.0)
    assert log_delta < -30.0
    assert log_error > -40.0
    assert combine([(TWO, 2)]).log_delta(1.1) == (-math.inf, -math.inf)


@for_all("noise", [Laplace(2.0), FlippedHuber(3.0, 2.0)])
def test_one_continuous_loss_beside_atoms(noise):
    loss = coordinate_loss(noise)
    atomic = combine([(THREE, 2)])
    found, error = atomic.log_delta_with(partial(continuous_delta, loss.stretches), 0.1)
    expected = 0.0
    for value, log_mass in zip(atomic.values, atomic.log_masses, strict=True):
        whole = math.exp(hockey_stick(noise, 1.0, 0.1 - value)[0])
        atoms = sum(math.exp(m) * max(-math.expm1(0.1 - value - v), 0.0) for v, m in loss.atoms)
        expected += math.exp(log_mass) * (whole - atoms)
    assert math.exp(found) == pytest.approx(expected, rel=1e-11)
    assert math.exp(error) < 1e-10 * expected
