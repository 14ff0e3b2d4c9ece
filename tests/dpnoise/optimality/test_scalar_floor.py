"""Bounds on the least cost of noise for one number: below known noise, true for any multipliers."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpnoise import gaussian_sigma
from dpnoise.noise import DiscreteStaircase, Staircase, TruncatedLaplace, staircase_gamma
from dpnoise.optimality.closed_forms import INTERVAL, one_step, steps
from dpnoise.optimality.scalar_floor import (
    HalfUnitTail,
    LatticeDual,
    Spread,
    StaircaseVariance,
    WholeDual,
    WholeEvents,
    WholePoints,
    WholeStaircase,
    group_budget,
    one_whole_step,
    scalar_certificate,
    staircase_costs,
    whole_certificate,
)
from oracles.grids import least_error


def known(epsilon, delta):
    """Return the least variance of staircase, Gaussian and truncated Laplace noise."""
    values = [Staircase(epsilon, 1.0, float(staircase_gamma(epsilon))).var()]
    if delta > 0.0:
        values.append(float(gaussian_sigma(epsilon, delta)) ** 2)
        # exp(-|t| / beta), cut where a shift by 1 leaves delta of the mass (Geng et al. 2020).
        bound = math.log1p(math.expm1(epsilon) / (2.0 * delta)) / epsilon
        values.append(TruncatedLaplace(1.0 / epsilon, bound).var())
    return min(values)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.05, 1e-4), (4.0, 0.01)])
def test_any_multipliers_prove_a_true_bound(epsilon, delta):
    best = scalar_certificate(epsilon, delta)
    assert isinstance(best, LatticeDual)
    rng = np.random.default_rng(9)
    for size in (0.1, 0.9, 1.0, 1.1, 5.0):
        y = size * best.multipliers * rng.uniform(0.8, 1.2, best.multipliers.shape)
        assert replace(best, multipliers=y).bound(epsilon, delta) <= known(epsilon, delta)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.0), (3.0, 0.2), (12.0, 1e-6), (700.0, 0.1)])
def test_tail_bounds_are_the_best_of_two_events_and_of_one_step(epsilon, delta):
    bound = HalfUnitTail().bound(epsilon, delta)
    b = math.exp(-epsilon)
    tail = 0.25 * 2.0 * (1.0 - delta) * b / (1.0 + b)
    a = np.sqrt(2.0 * b) * np.linspace(0.3, 1.2, 20_001)
    a = a[a < 0.5]
    # The mass p within a of 0 is unknown; the bound is linear in it on either side of delta.
    near = np.minimum(a**2 * (1.0 - delta), 2.0 * (1.0 - 2.0 * a) * b * (1.0 - delta))
    step = np.max(one_step(INTERVAL, epsilon, delta, steps(INTERVAL, epsilon)))
    assert math.isclose(bound, max(tail, np.max(near), step), rel_tol=1e-4)
    assert bound <= known(epsilon, delta)


def test_staircase_variance_is_for_pure_budgets_only():
    assert StaircaseVariance().bound(1.0, 1e-9) == 0.0
    assert math.isclose(StaircaseVariance().bound(2.0, 0.0), known(2.0, 0.0), rel_tol=1e-9)


@pytest.mark.parametrize("group", [1, 2, 7])
def test_group_budget_adds_up_one_step_at_a_time(group):
    epsilon, delta = 0.3, 1e-5
    total = sum(delta * math.exp(k * epsilon) for k in range(group))
    wide, spent = group_budget(group, epsilon, delta)
    assert math.isclose(wide, group * epsilon)
    assert total <= spent * (1 + 1e-15)
    assert math.isclose(spent, total, rel_tol=1e-9)
    assert group_budget(group, epsilon, 0.0) == (wide, 0.0)
    assert group_budget(10**5, 1e-3, 0.5)[1] == 1.0


def least_cost(change, budget, order, per_unit, reach):
    """Least E|T|^order of noise on the multiples of 1 / n that hides the whole shifts.

    With delta it is a mechanism like any other. Without delta the shifts beyond the last point are
    left out, so that it is a bound from below, close to the optimum where the grid is long.
    """
    last = reach * per_unit
    points = [(k,) for k in range(-last, last + 1)]
    shifts = [(k * per_unit,) for k in range(-change, change + 1) if k]
    cost = (np.abs(np.arange(-last, last + 1)) / per_unit) ** order
    return least_error(points, shifts, cost, budget)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0, 40.0])
@pytest.mark.parametrize("change", [1, 2, 3, 8])
def test_staircases_on_the_integers_are_the_discrete_ones(change, epsilon):
    noises = [DiscreteStaircase(epsilon, change, r) for r in range(1, change + 1)]
    squares = [noise.var() for noise in noises]
    assert staircase_costs(change, epsilon, 2)[::2] == pytest.approx(squares, rel=1e-9)
    sizes = [noise.mean_abs() for noise in noises]
    assert staircase_costs(change, epsilon, 1)[::2] == pytest.approx(sizes, rel=1e-9)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    ("change", "epsilon"), [(1, 1.0), (1, 3.0), (2, 1.0), (2, 2.5), (3, 2.0), (4, 4.0)]
)
def test_without_delta_no_real_noise_on_a_grid_is_better(change, epsilon, order):
    """Multiples of 1/4: also those about 0, 1/4 and 1/2. The optimum is on one of them."""
    least = least_cost(change, (epsilon, 0.0), order, 4, math.ceil(6 + 18 * change / epsilon))
    value = WholeStaircase(change, order).bound(epsilon, 0.0)
    assert value == pytest.approx(least, rel=4e-5)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    ("change", "epsilon", "delta"),
    [(1, 1.0, 1e-2), (1, 3.0, 0.1), (2, 1.0, 1e-2), (2, 2.5, 1e-3), (3, 2.0, 0.05), (1, 0.7, 0.3)],
)
def test_with_delta_no_real_noise_on_a_grid_is_better(change, epsilon, delta, order):
    least = least_cost(change, (epsilon, delta), order, 4, math.ceil(4 + 9 * change / epsilon))
    value = whole_certificate(change, epsilon, delta, order).bound(epsilon, delta)
    assert value <= least * (1.0 + 1e-6)
    assert value >= (0.9 if order == 2 else 0.999) * least
    for found in (WholeEvents(change, order), WholeStaircase(change, order)):
        assert found.bound(epsilon, delta) <= least * (1.0 + 1e-6)


@pytest.mark.parametrize("change", [1, 2, 7, 5000])
@pytest.mark.parametrize("delta", [0.0, 1e-9, 1e-2])
def test_it_is_between_the_floor_for_all_shifts_and_what_uniform_noise_costs(change, delta):
    for epsilon in (1e-3, 0.3, 2.0, 12.0):
        for order in (1, 2):
            value = whole_certificate(change, epsilon, delta, order).bound(epsilon, delta)
            part = scalar_certificate(epsilon, delta, order=order)
            solid = change**order * part.bound(epsilon, delta)
            lost = 1 / 12 if order == 2 else 1 / 4
            pure = change**order * scalar_certificate(epsilon, 0.0, order=order).bound(epsilon, 0.0)
            assert solid * (1.0 - 1e-9) - lost <= value <= pure * (1.0 + 1e-9)


@pytest.mark.parametrize("epsilon", [20.7, 33.0, 60.0, 600.0])
@pytest.mark.parametrize("delta", [0.0, 1e-12])
def test_one_step_keeps_its_digits_where_the_variance_is_tiny(epsilon, delta):
    best = WholeStaircase(1).bound(epsilon, 0.0)
    low = one_whole_step(WholePoints(1, 2.0, 2.0), epsilon, delta, 2)
    assert best * (1.0 - 4e-12 - 5.0 * math.exp(-epsilon)) - 5.0 * delta * best < low <= best


def test_other_multipliers_prove_less_and_what_does_not_fit_proves_nothing():
    good = whole_certificate(2, 1.5, 1e-2)
    best = least_cost(2, (1.5, 1e-2), 2, 2, 18)
    dual = WholeDual(2, 2, 60, 0.125, np.empty(0))
    program, shifts = dual.program(1.5, 1e-2)
    multipliers = program.multipliers(shifts)
    rng = np.random.default_rng(3)
    for scale in (0.0, 0.05, 0.5):
        noisy = multipliers * np.exp(scale * rng.standard_normal(multipliers.size))
        for lowered in (0.0, 0.1, 0.25):
            found = replace(dual, multipliers=noisy, lowered=lowered).bound(1.5, 1e-2)
            assert found <= min(best, good.bound(1.5, 1e-2) * 1.1)
    assert replace(dual, multipliers=multipliers, lowered=0.3).bound(1.5, 1e-2) == 0.0
    assert replace(dual, multipliers=multipliers, last=61).bound(1.5, 1e-2) == 0.0
    assert WholeStaircase(1).bound(1.0, 1e-9) == 0.0
    assert WholeStaircase(0).bound(1.0, 0.0) == 0.0
    assert Spread(1, 2, StaircaseVariance()).bound(20.0, 0.0) == 0.0
