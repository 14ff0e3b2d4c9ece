"""Bounds on the least variance of one coordinate: below known noise, true for any multipliers."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpnoise import gaussian_sigma
from dpnoise.noise import Staircase, TruncatedLaplace, staircase_gamma
from dpnoise.optimality.bounds import minimum_cost
from dpnoise.optimality.closed_forms import INTERVAL, one_step, steps
from dpnoise.optimality.scalar_floor import (
    HalfUnitTail,
    LatticeDual,
    StaircaseVariance,
    group_budget,
    scalar_certificate,
)


def known(epsilon, delta):
    """Return the least variance of staircase, Gaussian and truncated Laplace noise."""
    values = [Staircase(epsilon, 1.0, float(staircase_gamma(epsilon))).var()]
    if delta > 0.0:
        values.append(float(gaussian_sigma(epsilon, delta)) ** 2)
        # exp(-|t| / beta), cut where a shift by 1 leaves delta of the mass (Geng et al. 2020).
        bound = math.log1p(math.expm1(epsilon) / (2.0 * delta)) / epsilon
        values.append(TruncatedLaplace(1.0 / epsilon, bound).var())
    return min(values)


BUDGETS = [(0.01, 1e-6), (0.3, 0.0), (1.0, 1e-6), (1.0, 0.3), (3.0, 1e-3), (6.0, 1e-9), (12.0, 0.1)]


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_bound_is_below_known_noise(epsilon, delta):
    low = scalar_certificate(epsilon, delta).bound(epsilon, delta)
    assert 0.0 < low <= known(epsilon, delta)
    if epsilon < 8.0 and delta < 0.1:
        assert low > 0.85 * known(epsilon, delta)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-3), (2.0, 0.05)])
def test_bound_is_below_the_bracket_of_finer_programs(epsilon, delta):
    upper = minimum_cost(epsilon, delta, gap=0.02).upper
    low = scalar_certificate(epsilon, delta).bound(epsilon, delta)
    assert 0.95 * upper < low <= upper


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
