"""Histogram noise: its moments and profile against sums and integrals done another way."""

import math

import numpy as np
import pytest

from dpnoise.noise import Staircase, staircase_gamma
from dpnoise.optimality.histogram import Histogram, pure_envelope, repaired_histogram


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


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_staircase_on_a_fitting_lattice_is_pure_with_its_own_moments(epsilon):
    # Cells around j / n end at half-integers: gamma = (2 b + 1) / (2 n) fits.
    cells = 11
    gamma = (2 * round(11 * float(staircase_gamma(epsilon)) - 0.5) + 1) / (2 * cells)
    staircase = Staircase(epsilon, 1.0, gamma)
    edges = (np.arange(4 * cells + 1) + 0.5) / cells
    masses = -np.diff(staircase.sf(np.concatenate([[-0.5 / cells], edges])))
    noise = Histogram(cells, masses, math.exp(-epsilon))
    assert math.isclose(noise.total(), 1.0, rel_tol=1e-12)
    assert noise.delta(epsilon) < 1e-14
    assert noise.delta(0.99 * epsilon) > 1e-4
    assert math.isclose(noise.var(), staircase.var(), rel_tol=1e-11)
    assert math.isclose(noise.mean_abs(), staircase.mean_abs(), rel_tol=1e-11)


@pytest.mark.parametrize("delta", [0.0, 1e-14, 1e-9, 1e-3, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_any_masses_are_mended_to_the_budget(seed, delta):
    rng = np.random.default_rng(seed)
    masses = rng.uniform(0.0, 1.0, 40) * (rng.uniform(size=40) < 0.7) + 1e-3
    noise = repaired_histogram(9, masses, 0.5, delta)
    assert math.isclose(noise.total(), 1.0, rel_tol=1e-13)
    assert noise.delta(0.5) <= delta


def test_masses_within_the_budget_are_only_normalised():
    masses = np.append(np.full(12, 2.0), np.zeros(7))  # uniform: a shift by 1 costs 1 / width
    noise = repaired_histogram(6, masses, 0.5, 0.3)
    assert noise.ratio == 0.0
    assert np.allclose(noise.masses[:12], 1 / 23, rtol=1e-14)
    assert not noise.masses[12:].any()
    assert math.isclose(noise.delta(0.5), 6 / 23, rel_tol=1e-12)
