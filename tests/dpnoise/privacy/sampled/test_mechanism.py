"""`SampledGaussian`, `noise_multiplier` and a `Budget` that counts them."""

import math

import mpmath
import numpy as np
import pytest

from dpnoise import (
    Budget,
    BudgetExceededError,
    Laplace,
    SampledGaussian,
    noise_multiplier,
    sampled_delta,
    sampled_epsilon,
)
from oracles.gaussian import gaussian_delta


@pytest.mark.parametrize(
    ("epsilon", "delta", "rate", "steps", "printed"),
    [
        (1.0, 1e-5, 0.01, 1, 0.67379294682),  # dp_accounting's own test
        (5.0, 1e-5, 0.02, 5000, 1.4520),  # Table IV of inid-2024, by PLD
        (8.0, 1e-5, 0.02, 5000, 1.0894),
        (8.0, 1e-5, 0.04, 2250, 1.3459),  # Opacus: 1.34766, by an account that errs upwards
    ],
)
def test_multipliers_are_those_of_other_packages(epsilon, delta, rate, steps, printed):
    found = noise_multiplier(epsilon, delta, rate, steps)
    assert found == pytest.approx(printed, abs=2e-4 if steps > 1 else 1e-6)
    assert SampledGaussian(found, rate).delta(epsilon, steps=steps).upper <= delta * (1 + 1e-9)
    less = SampledGaussian(found * (1 - 3e-6), rate).delta(epsilon, steps=steps)
    assert less.lower > delta


def test_epsilon_and_delta_are_inverse():
    step = SampledGaussian(1.1, 0.03)
    low, high = step.epsilon(1e-6, steps=300)
    assert step.delta(low, steps=300).upper >= 1e-6
    assert step.delta(high, steps=300).lower <= 1e-6


def test_ends_of_a_delta_too_small_for_all_digits_are_on_its_sides():
    for epsilon in np.linspace(160.0, 161.7, 18).tolist():  # from 3e-317 to 4e-324
        low, high = map(mpmath.mpf, SampledGaussian(0.25, 1.0).delta(epsilon))
        with mpmath.workdps(40):
            assert low <= gaussian_delta(4.0, epsilon) <= high
        assert high < 1e-316


def test_ends_of_the_scales():
    step = SampledGaussian(1.0, 0.1)
    assert step.epsilon(0.0) == (math.inf, math.inf)
    assert step.epsilon(1.0) == (0.0, 0.0)
    low, high = step.epsilon(0.0, steps=3, direction="added")
    assert low <= -3 * math.log1p(-0.1) <= high
    assert SampledGaussian(1.0, 0.0).epsilon(0.0, steps=5) == (0.0, 0.0)
    assert SampledGaussian(1.0, 0.0).delta(0.0, steps=5) == (0.0, 0.0)
    low, high = SampledGaussian(100.0, 0.5).delta(5.0, steps=1000)
    assert 0.0 <= low <= high < 1.0


@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "delta"),
    [(1e4, 1e-9, 10**9, 1e-12), (1e4, 0.5, 10**9, 1e-300)],
)
def test_extremes_have_bounds_in_order(sigma, rate, steps, delta):
    low, high = SampledGaussian(sigma, rate).epsilon(delta, steps=steps)
    assert 0.0 <= low <= high


def test_bad_input_is_refused_with_every_problem():
    with pytest.raises(ValueError, match=r"sigma: .*got 0: epsilon is infinite; rate: .*got 1.5"):
        SampledGaussian(0, 1.5)
    with pytest.raises(ValueError, match=r"rate: .*got -0.1"):
        SampledGaussian(1.0, -0.1)
    step = SampledGaussian(1.0, 0.1)
    with pytest.raises(ValueError, match=r"epsilon: .*steps: expected a whole number .*got 2.5"):
        step.delta(-1.0, steps=2.5)
    with pytest.raises(ValueError, match=r"steps: expected as many as releases, 2, got 3"):
        sampled_epsilon([step, step], 1e-5, steps=[1, 2, 3])
    with pytest.raises(ValueError, match=r"releases: expected a SampledGaussian"):
        sampled_delta([step, 0.5], 1.0)
    with pytest.raises(ValueError, match=r"steps: .*whole.*2.5.*steps: .*as many.*2, got 3"):
        sampled_epsilon([step, step], 1e-5, steps=[1, 2.5, 3])
    with pytest.raises(ValueError, match=r"delta: .*releases: .*steps: .*as many.*2, got 1"):
        sampled_epsilon([step, 0.5], 2.0, steps=[1])
    assert step.epsilon(0.0) == (math.inf, math.inf)
    with pytest.raises(ValueError, match=r"direction: .*got 'both'"):
        step.delta(1.0, direction="both")
    with pytest.raises(ValueError, match=r"delta: .*epsilon is infinite.*rate: .*steps: "):
        noise_multiplier(1.0, 0.0, 0.0, 0)


def test_a_budget_counts_it_by_the_same_bounds():
    step = SampledGaussian(1.5, 0.02)
    budget = Budget(5.0, 1e-5)
    budget.spend(step, times=1000)
    assert budget.relation == "add-remove"
    low, high = step.epsilon(1e-5, steps=1000)
    assert low <= budget.epsilon_of() == pytest.approx(high, rel=1e-8)
    again = Budget.from_json(budget.to_json())
    assert again.epsilon_of() == pytest.approx(budget.epsilon_of(), rel=1e-9)
    with pytest.raises(BudgetExceededError):
        budget.spend(step, times=100_000)
    budget.spend(Laplace(4.0), 1.0, relation="add-remove")
    assert high < budget.epsilon_of() <= high + 0.25
    with pytest.raises(ValueError, match="sensitivity: expected none"):
        budget.spend(step, 1.0)
    with pytest.raises(ValueError, match="relation"):
        budget.spend(step, relation="replace-one")


def test_delta_above_the_chance_of_a_sample_is_kept_by_any_noise():
    assert SampledGaussian(1e-2, 1e-6).epsilon(1e-3, steps=100) == (0.0, 0.0)
    assert SampledGaussian(1e3, 1e-6).epsilon(0.5, steps=10**8) == (0.0, 0.0)


def test_what_is_out_of_reach_is_said():
    with pytest.raises(ValueError, match=r"out of reach: .*sigma.*steps.*at least"):
        SampledGaussian(0.0144116, 0.4637).epsilon(1e-20, steps=2644865)


@pytest.mark.parametrize("steps", [2, 1000])
@pytest.mark.parametrize(("sigma", "rate", "delta"), [
    (2.8705253395018246, 1.128919664097609e-09, 1.7820538244099514e-111),
    (10.0, 1e-8, 1e-100),
])  # fmt: skip
def test_more_steps_have_no_smaller_epsilon_where_a_record_is_hardly_ever_sampled(
    sigma, rate, delta, steps
):
    """Each direction, too: epsilon of one step is known in closed form."""
    step = SampledGaussian(sigma, rate)
    for direction in ("removed", "added"):
        one = step.epsilon(delta, direction=direction)
        assert step.epsilon(delta, steps=steps, direction=direction).upper >= one.lower > 0.0
