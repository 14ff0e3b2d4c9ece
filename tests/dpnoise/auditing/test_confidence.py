"""Clopper-Pearson bounds, and what they prove of epsilon and delta."""

import math

import numpy as np
import pytest
from scipy import stats

from dpnoise.auditing.confidence import clopper_pearson, proved_delta, proved_epsilon


@pytest.mark.parametrize("runs", [1, 7, 500])
@pytest.mark.parametrize("miss", [0.5, 0.01, 5e-5])
def test_bounds_of_a_probability_are_those_of_clopper_and_pearson(runs, miss):
    low, high = clopper_pearson(np.arange(runs + 1), runs, miss)
    for hits in {0, 1, runs // 2, runs - 1, runs}:
        test = stats.binomtest(hits, runs, alternative="two-sided")
        peer = test.proportion_ci(1 - 2 * miss) if miss < 0.5 else None
        if peer is not None:
            assert (low[hits], high[hits]) == pytest.approx(tuple(peer), rel=1e-9)
        assert low[hits] <= hits / runs <= high[hits]


@pytest.mark.parametrize("p", [0.0, 1e-3, 0.3, 1.0])
def test_each_bound_holds_as_often_as_stated(p):
    """Coverage by the exact binomial probabilities, not by draws."""
    runs, miss = 200, 0.05
    low, high = clopper_pearson(np.arange(runs + 1), runs, miss)
    mass = stats.binom.pmf(np.arange(runs + 1), runs, p)
    assert mass[low <= p].sum() >= 1 - miss - 1e-12
    assert mass[high >= p].sum() >= 1 - miss - 1e-12


@pytest.mark.parametrize("miss", [1e-3, 1e-17, 1e-300])
def test_a_tiny_probability_of_a_wrong_bound_is_not_rounded_away(miss):
    """Of 10 runs without a hit the upper bound is 1 - miss^(1/10), of 10 hits the lower one."""
    low, high = clopper_pearson([0, 10], 10, miss)
    assert low[1] == pytest.approx(miss**0.1)
    assert high[0] == pytest.approx(-np.expm1(0.1 * np.log(miss)))


def test_nothing_and_everything_leave_one_bound_trivial():
    low, high = clopper_pearson([0, 10], 10, 0.01)
    assert low[0] == 0.0
    assert high[1] == 1.0
    assert high[0] == pytest.approx(1.0 - 0.01**0.1)
    assert low[1] == pytest.approx(0.01**0.1)


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.1), (1.0, 1e-9), (0.3, 0.3), (0.0, 0.2)])
def test_epsilon_and_delta_are_two_sides_of_one_inequality(low, high):
    for delta in (0.0, 0.05, 0.9):
        epsilon = proved_epsilon(low, high, delta)
        assert epsilon >= 0.0
        if epsilon > 0.0:
            assert proved_delta(low, high, epsilon) == pytest.approx(delta, abs=1e-12)
        else:
            assert low - high <= delta
    assert proved_delta(low, high, 1000.0) == 0.0
    assert proved_delta(low, high, 0.0) == pytest.approx(max(low - high, 0.0))
    assert math.isfinite(proved_epsilon(1.0, 5e-324, 0.0))
