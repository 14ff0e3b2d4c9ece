"""One step in closed form: both ends beside ball arithmetic, at any size of everything."""

import math

import numpy as np
import pytest
from flint import arb, ctx

from dpnoise import Budget, SampledGaussian, SampledLaplace
from dpnoise.privacy.sampled import pairs
from dpnoise.privacy.sampled.pairs import (
    ADDED,
    GAUSSIAN,
    LAPLACE,
    REMOVED,
    REPLACED,
    Kind,
    largest_loss,
    log_factor,
    one_step,
    pair_of,
)
from fuzz.checks_sampled import check_closed, closed_within
from fuzz.draws import Draws
from fuzz.runner import Report

TINY = SampledGaussian(808918.2324347155, 0.006358872374358036)
RARE = SampledLaplace(1e6, 1.5193072493181509e-189)
SMALL = SampledLaplace(344.51388803762654, 1.7820135460044282e-10)
SPENT = SampledGaussian(987804.1407852024, 0.005063358000151978)


def violations(cases, seed):
    report = Report()
    draws = Draws(np.random.default_rng(seed))
    for _ in range(cases):
        check_closed(draws, report)
    return report.violations


@pytest.mark.parametrize(
    ("step", "direction", "epsilon"),
    [
        (TINY, REPLACED, 8.890887922667414e-11),
        (RARE, ADDED, 1.5147892464020915e-195),
        (SMALL, ADDED, 5.164166581836916e-13),
        (SPENT, REPLACED, 3.5098528364886364e-07),
    ],
)
def test_ends_that_rounding_made_false_hold(step, direction, epsilon):
    relation = {"relation": "replace-one"} if direction == REPLACED else {"direction": direction}
    found = step.delta(epsilon, **relation)
    assert closed_within(step.sampled_step, direction, epsilon, *found)
    assert 0.0 < found.upper <= found.lower * (1.0 + 1e-9)


def test_a_budget_states_an_epsilon_that_is_large_enough():
    delta = 1.0304758320173828e-266
    budget = Budget(10.0, delta, relation="replace-one")
    budget.spend(SPENT)
    epsilon = budget.epsilon_of()
    assert closed_within(SPENT.sampled_step, REPLACED, epsilon, 0.0, delta)
    assert not closed_within(SPENT.sampled_step, REPLACED, epsilon * (1.0 - 1e-9), 0.0, delta)


def test_steps_of_any_size_have_their_delta_between_the_ends():
    assert not violations(4000, 2026)


def off(monkeypatch, name, change):
    original = getattr(pairs, name)
    monkeypatch.setattr(pairs, name, lambda *args: change(*original(*args)))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("_removed_inner", lambda at, doubt: (at * (1.0 + 1e-12), doubt)),
        ("_replaced_inner", lambda at, doubt: (at - 1e-12 * abs(at), doubt)),
        ("_replaced_root", lambda at, doubt: (at * (1.0 - 1e-12), doubt)),
        ("_added_ends", lambda low, high: (low, low + 1e-16 * abs(high))),
        ("log_delta_of", lambda found, error: (found + 1e-11, error)),
    ],
)
def test_small_faults_of_a_closed_form_are_found(monkeypatch, name, change):
    off(monkeypatch, name, change)
    assert violations(600, 7)


def test_ends_are_close_where_epsilon_is_not_next_to_the_largest_loss():
    rng = np.random.default_rng(5)
    for _ in range(400):
        sigma, rate = math.exp(rng.uniform(-3.0, 13.0)), math.exp(rng.uniform(-600.0, -0.01))
        noise, form = (
            [GAUSSIAN, LAPLACE][rng.integers(2)],
            [REMOVED, ADDED, REPLACED][rng.integers(3)],
        )
        pair = pair_of(Kind(sigma, rate, noise), form)
        w = rng.uniform(0.0, 0.7) * pair.shift
        epsilon = log_factor(rate, w) * rng.uniform(0.1, 1.0)
        epsilon = min(epsilon, 0.5 * largest_loss(pair))
        found = one_step(pair, epsilon)
        if found.upper > -690.0:
            assert found.upper - found.lower <= 1e-11


@pytest.mark.parametrize("rate", [5e-324, 1e-300, 0.3, 1.0 - 2.0**-53, 1.0])
def test_rates_next_to_0_and_1_have_ends(rate):
    for sigma in (1e-3, 0.01, 1.0, 1e6):
        for noise in (GAUSSIAN, LAPLACE):
            for form in (REMOVED, ADDED, REPLACED):
                for epsilon in (0.0, 5e-324, 1e-300, 1e-5, 1.0, 1e5):
                    found = one_step(pair_of(Kind(sigma, rate, noise), form), epsilon)
                    assert found.lower <= found.estimate <= found.upper <= 0.0


@pytest.mark.parametrize("q", [1e-300, 0.25, 0.6, 1.0 - 2.0**-53])
@pytest.mark.parametrize("w", [-1000.0, -40.0, -1e-9, 1e-9, 3.0, 800.0])
def test_the_logarithm_of_a_factor_is_accurate(q, w):
    with ctx.workdps(400):
        truth = float((1 - arb(q) + arb(q) * arb(w).exp()).log())
    assert log_factor(q, w) == pytest.approx(truth, rel=1e-13, abs=1e-323)
