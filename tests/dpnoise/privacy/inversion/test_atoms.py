"""Sums of losses with finitely many values against direct convolution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dpnoise.noise import FlippedHuber, Laplace
from dpnoise.privacy.inversion.atoms import combine, number_of_atoms, powers
from dpnoise.privacy.inversion.loss import coordinate_loss
from dpnoise.privacy.profile import hockey_stick

TWO = ((-0.5, math.log(0.3)), (0.5, math.log(0.6)))
THREE = ((-0.2, math.log(0.1)), (0.0, math.log(0.65)), (0.2, math.log(0.2)))


@pytest.mark.parametrize("copies", [1, 2, 7, 40])
def test_three_values_convolve(copies):
    values, logs = powers(THREE, copies)
    expected = np.ones(1)
    for _ in range(copies):
        expected = np.convolve(expected, [0.1, 0.65, 0.2])
    assert np.exp(logs) == pytest.approx(expected, rel=1e-12)
    assert values == pytest.approx(0.2 * np.arange(-copies, copies + 1))
    assert len(values) == number_of_atoms(THREE, copies)


@pytest.mark.parametrize("middle", [1e-17, 1e-3, 0.999])
def test_three_values_of_many_copies_add_up(middle):
    atoms = ((-1.0, math.log(0.4 * (1 - middle))), (0.0, math.log(middle)))
    atoms += ((1.0, math.log(0.6 * (1 - middle))),)
    _, logs = powers(atoms, 10_000)
    assert np.logaddexp.reduce(logs) == pytest.approx(0.0, abs=1e-9)


def test_two_values_are_binomial():
    values, logs = powers(TWO, 1000)
    n = np.arange(1001)
    expected = stats.binom(1000, 2 / 3).logpmf(n) + 1000 * math.log(0.9)
    assert logs == pytest.approx(expected, rel=1e-11, abs=1e-9)
    assert values == pytest.approx(n - 500.0)


@pytest.mark.parametrize("epsilon", [0.1, 0.95, 2.0])
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


@pytest.mark.parametrize("noise", [Laplace(2.0), FlippedHuber(3.0, 2.0)])
def test_one_continuous_loss_beside_atoms(noise):
    loss = coordinate_loss(noise)
    atomic = combine([(THREE, 2)])
    found, error = atomic.log_delta_with(loss.stretches, 0.1)
    expected = 0.0
    for value, log_mass in zip(atomic.values, atomic.log_masses, strict=True):
        whole = math.exp(hockey_stick(noise, 1.0, 0.1 - value)[0])
        atoms = sum(math.exp(m) * max(-math.expm1(0.1 - value - v), 0.0) for v, m in loss.atoms)
        expected += math.exp(log_mass) * (whole - atoms)
    assert math.exp(found) == pytest.approx(expected, rel=1e-11)
    assert math.exp(error) < 1e-10 * expected
