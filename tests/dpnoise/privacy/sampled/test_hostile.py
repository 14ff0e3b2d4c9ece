"""Rates next to 0 and 1, scales far from 1: bounds in order or a ValueError, in little work."""

import itertools
import math

import numpy as np
import pytest

from dpnoise import Budget, Gaussian, SampledGaussian, SampledLaplace, noise_multiplier
from dpnoise.privacy.inversion.inversion import powers
from dpnoise.privacy.sampled import composition as composition_module
from dpnoise.privacy.sampled.pairs import FIXED, GAUSSIAN, LAPLACE, POISSON, REPLACED, Kind
from dpnoise.privacy.sampled.relations import PairComposition
from dpnoise.sensitivity.relation import REPLACE_ONE
from for_all import thinned

RATES = [5e-324, 0.5, 1.0 - 2.0**-53]


def half(odd, *values):
    """Every second case of a product; with three factors every pair of values is in both halves."""
    for places in itertools.product(*map(enumerate, values)):
        if sum(k for k, _ in places) % 2 == odd:
            yield tuple(value for _, value in places)


halves = pytest.mark.parametrize("odd", [False, pytest.param(True, marks=pytest.mark.slow)])


def ordered(bounds):
    return 0.0 <= bounds.lower <= bounds.upper


@pytest.mark.parametrize(
    ("step", "delta", "steps", "relation"),
    thinned(
        [
            (SampledLaplace(0.0025399214801630834, 0.8823045139424214, FIXED), 2.37e-5, 1, None),
            (SampledLaplace(0.001, 0.5), 0.1, 2, REPLACE_ONE),
            (SampledLaplace(0.001, 0.999999999), 0.5, 3, REPLACE_ONE),
            (SampledGaussian(1.0, 0.5), 0.1914624612740132, 1, None),
            (SampledGaussian(0.01, 5e-324), 1e-300, 1, None),
            (SampledGaussian(1.0, 5e-324), 2.0678198990785943e-10, 19, None),
            (SampledGaussian(1000.0, 1e-300), 1e-300, 12, None),
        ]
    ),
)
def test_what_once_ended_in_an_exception_has_bounds(step, delta, steps, relation):
    assert ordered(step.epsilon(delta, steps=steps, relation=relation))


def test_rates_and_losses_next_to_0_have_bounds_on_delta():
    found = SampledGaussian(0.1, 1e-300).delta(1e-5, steps=1000)
    assert ordered(found)
    assert found.upper <= 1e-297 * (1.0 + 1e-9)
    assert noise_multiplier(5.4e-06, 1e-05, 1.02468615011398e-262, 10) == 1e-3
    many = SampledGaussian(1e6, 0.00013456499256799814)  # 1e10 points of a lattice
    assert many.delta(0.0015543183868104633, steps=10**6).upper <= 1e-300
    budget = Budget(1.0, 1e-5, relation="add-remove")
    budget.spend(Gaussian(2.0), 1.0, sampling=1e-300)
    assert budget.epsilon_of() <= 1e-5


@halves
@pytest.mark.parametrize("noise", [SampledGaussian, SampledLaplace])
@pytest.mark.parametrize("sampling", thinned([FIXED, POISSON]))
def test_two_steps_of_any_size_have_bounds_in_order(noise, sampling, odd):
    for size, rate, epsilon in half(odd, (1e-3, 1e6), RATES, (1e-300, 1e5)):
        step = noise(size, rate, sampling)
        assert ordered(step.delta(epsilon, steps=2, relation=REPLACE_ONE))


@halves
@pytest.mark.parametrize("noise", [SampledGaussian, SampledLaplace])
@pytest.mark.parametrize("relation", thinned([REPLACE_ONE, "add-remove"]))
def test_many_steps_of_rare_samples_have_bounds(noise, relation, odd):
    for size, rate in half(odd, (0.01, 1e6), (5e-324, 1e-20)):
        step = noise(size, rate)
        assert ordered(step.epsilon(1e-300, steps=10**6, relation=relation))
        assert step.epsilon(1e-5, steps=10**6, relation=relation) == (0.0, 0.0)


@pytest.mark.parametrize(("steps", "delta"), thinned([(2, 1e-300), (18, 6.9e-57)]))
def test_no_epsilon_is_above_the_pure_one(steps, delta):
    step = SampledLaplace(5, 0.0023012887729172388)
    for relation in ("add-remove", REPLACE_ONE):
        most = step.epsilon(0.0, steps=steps, relation=relation).upper
        assert step.epsilon(delta, steps=steps, relation=relation).upper <= most


@pytest.mark.parametrize("middle", [-1000.0, -1.0, 0.0])
def test_powers_of_three_atoms_of_any_size(middle):
    """Beside the product of polynomials, by logarithms."""
    logs = [-900.0, middle, -3.0]
    values, found = powers(list(zip((-1.0, 0.0, 1.0), logs, strict=True)), 4)
    total = np.array([0.0])
    for _ in range(4):
        padded = np.full((3, len(total) + 2), -math.inf)
        for k, log in enumerate(logs):
            padded[k, k : k + len(total)] = total + log
        total = np.logaddexp.reduce(padded)
    assert values.tolist() == list(range(-4, 5))
    np.testing.assert_allclose(found, total, rtol=1e-13)


def test_the_line_of_an_epsilon_serves_others_and_holds():
    """One line for a whole search; without it the bounds are the same, but for their width."""
    kind = {Kind(0.387, 0.00677, LAPLACE): 12}
    kept = PairComposition(kind, REPLACE_ONE)
    for epsilon in (0.30, 0.3001, 0.31, 0.35):
        found = kept.log_delta(epsilon, REPLACED)
        fresh = PairComposition(kind, REPLACE_ONE)
        own = fresh.log_delta(epsilon, REPLACED)
        assert max(found.lower, own.lower) <= min(found.upper, own.upper)
        assert found.gap <= max(1.6 * own.gap, 1e-7)
    assert kept.work < 2.0 * fresh.work


@pytest.mark.parametrize(
    ("kind", "steps"),
    thinned(
        [
            ((0.9657348819205382, 0.00048536491601960935, GAUSSIAN, FIXED), 379),
            ((0.387, 0.00677, LAPLACE, FIXED), 12),
            ((10.01, 0.0105, LAPLACE), 3),
            ((8.753213526974966, 0.0011895012883688437, GAUSSIAN, FIXED), 20),
            ((4.32, 0.825, LAPLACE, FIXED), 121),
        ]
    ),
)
def test_an_epsilon_takes_little_work(kind, steps):
    """Which once took 10 to 30 s: 1e6 evaluations are about half a second."""
    composition = PairComposition({Kind(*kind): steps}, REPLACE_ONE)
    low, high = composition.epsilons(math.log(1e-5))
    assert 0.0 < low <= high <= 1.06 * low
    assert composition.work < 3.5e6


def test_without_work_bounds_are_wide_and_hold(monkeypatch):
    step = SampledGaussian(2.0, 0.05, FIXED)
    close = step.epsilon(1e-5, steps=30)
    monkeypatch.setattr(composition_module, "MOST_WORK", -1.0)
    wide = step.epsilon(1e-5, steps=30)
    assert wide.lower <= close.lower <= close.upper <= wide.upper < math.inf
