"""Bounds on the least cost of additive noise: true for known noise, and closing."""

import math
from itertools import pairwise

import numpy as np
import pytest

from dpnoise import calibrate
from dpnoise.noise import Laplace, Staircase, TruncatedLaplace, staircase_gamma
from dpnoise.optimality.bounds import minimum_cost
from dpnoise.optimality.program import LatticeProgram, _stack
from dpnoise.privacy.profile import privacy_profile

COST = {"variance": lambda noise: noise.var(), "mean-abs": lambda noise: noise.mean_abs()}


@pytest.mark.parametrize("cost", COST)
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0, 5.0])
def test_pure_privacy_brackets_the_staircase_optimum(epsilon, cost):
    # Geng & Viswanath (2016): no epsilon-DP noise costs less than the staircase.
    power = 2 if cost == "variance" else 1
    best = COST[cost](Staircase(epsilon, 1.0, float(staircase_gamma(epsilon, power))))
    limit = minimum_cost(epsilon, 0.0, cost=cost, gap=0.005)
    assert limit.lower <= best <= limit.upper
    assert limit.gap <= 0.005


@pytest.mark.parametrize("cost", COST)
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.1, 1e-8), (0.3, 1e-2), (1.0, 1e-6), (2.0, 0.1), (3.0, 1e-4)]
)
def test_bounds_meet_and_the_noise_keeps_the_budget(epsilon, delta, cost):
    limit = minimum_cost(epsilon, delta, cost=cost, gap=0.005)
    assert 0 < limit.gap <= 0.005
    assert limit.noise.delta(epsilon) <= delta
    assert math.isclose(limit.noise.total(), 1.0, rel_tol=1e-13)
    assert math.isclose(COST[cost](limit.noise), limit.upper, rel_tol=1e-11)
    assert (limit.cost, limit.epsilon, limit.delta) == (cost, epsilon, delta)


@pytest.mark.parametrize("cost", COST)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.2, 1e-6), (0.7, 1e-3), (1.5, 1e-2), (3.0, 0.1)])
def test_no_known_mechanism_is_below_the_lower_bound(epsilon, delta, cost):
    lower = minimum_cost(epsilon, delta, cost=cost, gap=0.005).lower
    for family in ("gaussian", "laplace", "flipped-huber", "truncated-laplace", "subbotin"):
        assert lower <= COST[cost](calibrate(family, epsilon=epsilon, delta=delta).noise)


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.1])
def test_bounds_of_different_lattices_never_cross(delta):
    limits = [minimum_cost(1.3, delta, cells=n, gap=1e-4) for n in (1, 3, 7, 10)]
    assert max(limit.lower for limit in limits) <= min(limit.upper for limit in limits)


def test_gap_falls_with_the_square_of_the_width():
    gaps = [minimum_cost(1.0, 1e-2, cells=n, gap=1e-6).gap for n in (4, 8, 16)]
    assert 3.5 < gaps[0] / gaps[1] < 4.5
    assert 3.5 < gaps[1] / gaps[2] < 4.5


@pytest.mark.parametrize("cost", COST)
def test_limit_falls_with_epsilon_and_with_delta(cost):
    budgets = [(0.8, 1e-4), (1.0, 1e-4), (1.0, 1e-2), (1.5, 1e-2)]
    limits = [minimum_cost(*budget, cost=cost, cells=8) for budget in budgets]
    for stricter, looser in pairwise(limits):
        assert looser.upper < stricter.lower


@pytest.mark.parametrize("delta", [0.02, 0.1])
def test_small_epsilon_approaches_uniform_noise(delta):
    # At epsilon = 0 uniform noise on +-1 / (2 delta) has E|T| = 1 / (4 delta) and variance
    # 1 / (12 delta^2); delta per unit shift is all that counts as delta falls.
    absolute = minimum_cost(1e-3, delta, cost="mean-abs", gap=0.005)
    variance = minimum_cost(1e-3, delta, gap=0.005)
    close = 0.03 + 2 * delta
    assert (1 - close) / (4 * delta) < absolute.lower <= absolute.upper < 1.001 / (4 * delta)
    assert (
        (1 - close) / (12 * delta**2) < variance.lower <= variance.upper < 1.001 / (12 * delta**2)
    )


@pytest.mark.parametrize("delta", [1e-6, 1e-3])
def test_truncated_laplace_is_nearly_optimal_at_small_budgets(delta):
    # Geng, Ding, Guo & Kumar (2020): asymptotically optimal as both go to 0.
    limit = minimum_cost(0.05, delta, gap=0.005)
    assert calibrate("truncated-laplace", epsilon=0.05, delta=delta).variance < 1.01 * limit.lower


def hat_masses(noise, cells, last):
    """P_j = E max(0, 1 - |n T - j|), by the tail integral over each step; the last a lump."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    x = np.arange(-1, last + 1) / cells
    # Split every step in four: densities and their bounds have corners on quarters at most.
    starts = (x[:-1, None] + np.arange(4) / (4 * cells)).ravel()
    t = starts[:, None] + (nodes + 1) / (8 * cells)
    tail = (noise.sf(t) @ weights / 8).reshape(-1, 4).sum(axis=1)  # n times the integral
    return np.append(tail[:-1] - tail[1:], tail[-1])


@pytest.mark.parametrize("cells", [1, 3, 8])
@pytest.mark.parametrize(
    "noise", [Laplace(1.3), Laplace(0.4), TruncatedLaplace(1.0, 2.0), TruncatedLaplace(3.0, 4.5)]
)
def test_rounded_noise_is_feasible_and_loses_what_is_allowed(noise, cells):
    epsilon = 0.6
    delta = float(privacy_profile(noise, 1.0, epsilon))
    last = 12 * cells
    masses = hat_masses(noise, cells, last)
    program = LatticeProgram(epsilon, delta, 2, cells, last)
    assert math.isclose(program.weight @ masses, 1.0, rel_tol=1e-9)
    for k in range(1, cells + 1):
        spent = np.maximum(program._differences(k) @ masses, 0.0).sum()
        assert spent <= delta * (1 + 1e-6) + 1e-12
    lump = 2 * (noise.var() + 12.0**2) * noise.sf(12.0 - 1 / cells)
    assert program.cost * program.weight @ masses <= noise.var() + 0.25 / cells**2 + 1e-9
    absolute = np.arange(last + 1) / cells * program.weight @ masses
    assert math.isclose(absolute, noise.mean_abs(), abs_tol=lump + 1e-9)


@pytest.mark.parametrize("delta", [0.0, 1e-2])
def test_any_multipliers_prove_a_true_bound(delta):
    # Weak duality must hold whatever the solver returns: multipliers are drawn at random.
    epsilon, cells = 1.0, 4
    least = minimum_cost(epsilon, delta, cells=cells).upper + 0.25 / cells**2
    program = LatticeProgram(epsilon, delta, 2, cells, 18 * cells)
    shifts = [1, 3, 4]
    blocks = [program._differences(k) for k in shifts]
    counts = [block.shape[0] for block in blocks]
    rows = _stack(blocks)
    rng = np.random.default_rng(5)
    budgets = len(counts) if delta > 0 else 0
    for scale in (0.0, 1e-3, 0.1, 1.0, 10.0):
        for _ in range(20):
            multipliers = scale * rng.exponential(size=rows.shape[0] + budgets)
            assert program._bound(rows, counts, multipliers) <= least
    _, bound = program.solve([1, 2, 3, 4])
    assert 0.9 * least < bound <= least


@pytest.mark.parametrize("factor", [0.0, 0.5, 0.99, 1.5])
def test_multipliers_that_disagree_are_made_to_agree(factor):
    # Half the price of delta beside the same prices of its uses would prove too much.
    program = LatticeProgram(1.0, 1e-2, 2, 4, 40)
    blocks = [program._differences(k) for k in (2, 4)]
    counts = [block.shape[0] for block in blocks]
    rows = _stack(blocks)
    _, multipliers = program._run(rows, counts)
    best = program._bound(rows, counts, multipliers)
    multipliers[rows.shape[0] :] *= factor
    assert program._bound(rows, counts, multipliers) <= best * (1 + 1e-9)


def test_lattice_too_coarse_for_the_peaks_still_gives_bounds():
    limit = minimum_cost(6.0, 1e-6, cells=1)
    assert limit.lower == 0.0
    assert limit.gap == math.inf
    assert limit.upper > minimum_cost(6.0, 1e-6, cells=30).lower


def test_bad_input_is_refused_all_at_once():
    with pytest.raises(ValueError, match=r"epsilon.*delta.*cost.*gap.*cells") as refusal:
        minimum_cost(-1.0, 1.0, cost="entropy", gap=0.0, cells=0)
    assert "'entropy'" in str(refusal.value)
    with pytest.raises(ValueError, match="epsilon"):
        minimum_cost(math.nan, 0.0)
    with pytest.raises(ValueError, match=r"at most 20000 lattice points, got 32002"):
        minimum_cost(0.0005, 0.0)
    with pytest.raises(ValueError, match="8"):
        minimum_cost(9.0, 0.1)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.3), (0.1, 0.4), (1.0, 0.7)])
def test_bounds_meet_for_a_large_delta(epsilon, delta):
    limit = minimum_cost(epsilon, delta, gap=1e-3)
    assert 0 < limit.gap <= 0.001
    assert limit.noise.delta(epsilon) <= delta


def test_optimum_for_a_large_delta_falls_and_rises_again():
    limit = minimum_cost(1.0, 0.3)
    steps = np.diff(limit.noise.masses)
    assert np.max(steps) > 0.1 * np.max(limit.noise.masses)
    # Noise whose density falls on either side of 0 cannot reach it.
    program = LatticeProgram(1.0, 0.3, 2, 31, 31 * 8, whole=True)
    assert program.solve_decreasing()[1] > 1.02 * limit.upper


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.3), (2.0, 1e-3)])
def test_shifts_towards_0_only_raise_the_bound(epsilon, delta):
    shifts = list(range(1, 9))
    programs = [LatticeProgram(epsilon, delta, 2, 8, 80, whole=w) for w in (False, True)]
    part, whole = (program.solve(shifts)[1] for program in programs)
    assert part <= whole * (1 + 1e-9)
    if delta < 0.1:
        assert math.isclose(part, whole, rel_tol=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-9), (0.3, 0.03), (1.0, 1e-6), (1.0, 0.3)])
def test_by_default_the_bracket_is_a_thousandth_wide(epsilon, delta):
    assert minimum_cost(epsilon, delta).gap <= 0.001
