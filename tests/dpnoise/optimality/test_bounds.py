"""Brackets of the least cost of additive noise, the program and histograms behind them."""

import math
from functools import cache

import numpy as np
import pytest

from dpnoise.noise import Laplace, Staircase, TruncatedLaplace, staircase_gamma
from dpnoise.optimality.bounds import Histogram, pure_envelope, repaired_histogram
from dpnoise.optimality.bounds import minimum_cost as search
from dpnoise.optimality.scalar_floor import LatticeProgram, _stack
from dpnoise.privacy.profile import privacy_profile

minimum_cost = cache(search)  # several tests look at one
COST = {"variance": lambda noise: noise.var(), "mean-abs": lambda noise: noise.mean_abs()}


@pytest.mark.parametrize(
    ("epsilon", "cost"),
    [(0.2, "variance"), (1.0, "mean-abs"), (3.0, "variance"), (5.0, "mean-abs")],
)
def test_pure_privacy_brackets_the_staircase_optimum(epsilon, cost):
    # Geng & Viswanath (2016): no epsilon-DP noise costs less than the staircase.
    power = 2 if cost == "variance" else 1
    best = COST[cost](Staircase(epsilon, 1.0, float(staircase_gamma(epsilon, power))))
    limit = minimum_cost(epsilon, 0.0, cost=cost, gap=0.01)
    assert limit.lower <= best <= limit.upper
    assert limit.gap <= 0.01


@pytest.mark.parametrize("cost", COST)
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.1, 1e-8), (0.3, 1e-2), (1.0, 1e-6), (2.0, 0.1), (3.0, 1e-4)]
)
def test_bounds_meet_and_the_noise_keeps_the_budget(epsilon, delta, cost):
    limit = minimum_cost(epsilon, delta, cost=cost, gap=0.01)
    assert 0 < limit.gap <= 0.01
    assert limit.noise.delta(epsilon) <= delta
    assert math.isclose(limit.noise.total(), 1.0, rel_tol=1e-13)
    assert math.isclose(COST[cost](limit.noise), limit.upper, rel_tol=1e-11)
    assert (limit.cost, limit.epsilon, limit.delta) == (cost, epsilon, delta)


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.1])
def test_bounds_of_different_lattices_never_cross(delta):
    limits = [minimum_cost(1.3, delta, cells=n, gap=1e-4) for n in (1, 3, 7, 10)]
    assert max(limit.lower for limit in limits) <= min(limit.upper for limit in limits)


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


def random_noise(seed, cells, ratio):
    rng = np.random.default_rng(seed)
    masses = np.exp(-0.5 * np.arange(3 * cells + 2) / cells) * rng.uniform(0.2, 1.0, 3 * cells + 2)
    noise = Histogram(cells, masses, ratio)
    return Histogram(cells, masses / noise.total(), ratio)


def unrolled(noise, repeats):
    """The masses of cells 0, 1, ... with the tail written out."""
    block = noise.masses[-noise.cells :]
    tail = [block * noise.ratio**m for m in range(1, repeats + 1)]
    return np.concatenate([noise.masses, *tail])


def density(noise, t):
    masses = np.append(unrolled(noise, 60), 0.0)
    cell = np.minimum(np.rint(np.abs(t) * noise.cells), masses.size - 1)
    return masses[cell.astype(int)] * noise.cells


@pytest.mark.parametrize("ratio", [0.0, 0.3])
def test_moments_are_those_of_the_unrolled_cells(ratio):
    noise = random_noise(1, 7, ratio)
    masses = unrolled(noise, 60)
    right = (np.arange(masses.size) + 0.5) / 7
    left = np.maximum(right - 1 / 7, 0.0)
    share = masses * np.where(np.arange(masses.size) == 0, 0.5, 1.0) / (right - left)
    total, first, second = (
        2 * math.fsum(share * (right**k - left**k) / k) for k in (1, 2, 3)
    )  # fmt: skip
    assert math.isclose(noise.total(), total, rel_tol=1e-13)
    assert math.isclose(noise.mean_abs(), first, rel_tol=1e-13)
    assert math.isclose(noise.var(), second, rel_tol=1e-13)
    inside = 2 * np.diff(noise.edges) @ density(noise, noise.edges[1:] - 0.01)
    beyond = 2 * masses[noise.masses.size :].sum()
    assert math.isclose(inside + beyond, total, rel_tol=1e-12)


@pytest.mark.parametrize("epsilon", [0.05, 0.7])
@pytest.mark.parametrize("ratio", [0.0, math.exp(-0.7)])
def test_profile_is_the_integral_at_any_shift_and_largest_on_the_lattice(ratio, epsilon):
    cells = 5
    noise = random_noise(2, cells, ratio)
    edge = (unrolled(noise, 60).size + cells) / cells
    deltas = noise.deltas(epsilon)
    on_lattice = np.concatenate([[max(0.0, 1.0 - math.exp(epsilon))], deltas])
    rng = np.random.default_rng(3)
    for shift in [*np.arange(1, cells + 1) / cells, *rng.uniform(0.0, 1.0, 12)]:
        for sign in (1.0, -1.0):
            steps = np.arange(-edge, edge, 1 / cells) + 0.5 / cells
            ends = np.sort(np.concatenate([steps, steps - sign * shift]))
            middle = 0.5 * (ends[1:] + ends[:-1])
            rest = density(noise, middle) - math.exp(epsilon) * density(
                noise, middle + sign * shift
            )
            exact = np.maximum(rest, 0.0) @ np.diff(ends)
            line = np.interp(shift, np.arange(cells + 1) / cells, on_lattice)
            assert math.isclose(exact, line, rel_tol=1e-9, abs_tol=1e-15)
            assert exact <= noise.delta(epsilon) * (1 + 1e-12)


def test_pure_masses_are_private_and_left_alone_when_they_were():
    noise = pure_envelope(6, np.random.default_rng(4).uniform(0.0, 1.0, 25), 0.8)
    assert math.isclose(noise.total(), 1.0, rel_tol=1e-13)
    masses = unrolled(noise, 3)
    both = np.concatenate([masses[:0:-1], masses])
    for k in range(1, 7):
        assert np.all(both[k:] <= math.exp(0.8) * both[:-k] * (1 + 1e-14))
        assert np.all(both[:-k] <= math.exp(0.8) * both[k:] * (1 + 1e-14))
    again = pure_envelope(6, noise.masses, 0.8)
    assert np.allclose(again.masses[: noise.masses.size], noise.masses, rtol=1e-14)
    assert math.isclose(again.var(), noise.var(), rel_tol=1e-12)


@pytest.mark.parametrize("delta", [0.0, 1e-14, 1e-9, 1e-3, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_any_masses_are_mended_to_the_budget(seed, delta):
    rng = np.random.default_rng(seed)
    masses = rng.uniform(0.0, 1.0, 40) * (rng.uniform(size=40) < 0.7) + 1e-3
    noise = repaired_histogram(9, masses, 0.5, delta)
    assert math.isclose(noise.total(), 1.0, rel_tol=1e-13)
    assert noise.delta(0.5) <= delta
