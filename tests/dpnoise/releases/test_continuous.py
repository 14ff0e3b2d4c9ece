"""Released values of noise with a density: distribution, ties, extremes, precision, tails."""

from fractions import Fraction

import numpy as np
import pytest
from flint import ctx
from scipy import stats

from dpnoise import (
    FlippedHuber,
    Gaussian,
    Laplace,
    OffsetSymmetricGaussian,
    Staircase,
    Subbotin,
    TruncatedLaplace,
)
from dpnoise.noise import FAMILIES
from dpnoise.releases import continuous
from dpnoise.releases.continuous import Uniform, ball, rounded_sums, steps, table_of
from exact_release import NOISES, entropy, seeded
from for_all import for_all

COUNT = 40_000
EXTREME = [
    Gaussian(1e-280),
    FlippedHuber(1e-200, 1.0),
    FlippedHuber(30.0, 1.0),
    OffsetSymmetricGaussian(1e6, 1.0),
    Staircase(1e-9, 1e200, 0.5),
    Subbotin(1000.0, 1e250),
]


def by_both_ways(monkeypatch, noise, value, step, count=260):
    """The same bits through the table and through balls alone."""
    assert count > continuous._FEW
    values, ones, width = np.full(count, value), np.ones(count), np.full(count, step)
    fast = rounded_sums(values, noise, ones, width, entropy(5))
    monkeypatch.setattr(continuous, "_FEW", count)
    return fast, rounded_sums(values, noise, ones, width, entropy(5))


@for_all("noise", NOISES)
@for_all("place", [0.0, 0.5, 1 / 3])
def test_cells_have_their_probabilities(noise, place):
    grid = 2.0 ** np.round(np.log2(noise.mean_abs() / 3.0))
    value = place * grid
    found = seeded(11)(np.full(COUNT, value), noise, grid=grid) / grid
    edges = np.arange(-14.5, 15.0)
    chance = np.diff(noise.cdf(np.concatenate([[-np.inf], edges * grid - value, [np.inf]])))
    counts = np.bincount(np.clip(found + 15, 0, 30).astype(int), minlength=chance.size)
    some = chance * COUNT > 5.0
    expected = np.append(chance[some], max(chance[~some].sum(), 1e-12)) * COUNT
    seen = np.append(counts[some], counts[~some].sum())
    excess = np.sum((seen - expected)[:-1] ** 2 / expected[:-1])
    assert stats.chi2.sf(excess, some.sum() - 1) > 1e-4
    assert abs(seen[-1] - expected[-1]) <= 5.0 * np.sqrt(expected[-1]) + 1.0


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_the_table_decides_as_balls_do(noise, monkeypatch):
    grid = 2.0 ** np.floor(np.log2(noise.mean_abs())) / 2**10
    for value in (0.0, 0.5 * grid, 0.3):  # on the grid, on its ties, between
        fast, slow = by_both_ways(monkeypatch, noise, value, grid)
        np.testing.assert_array_equal(fast, slow)
        monkeypatch.undo()


def test_the_table_leaves_the_bits_after_the_64th_open():
    """At the end of the table one unit of 2^-64 moves |T| over the end of a step."""
    table = table_of(TruncatedLaplace(1.0, 14.0))
    cell = int(np.flatnonzero(np.isfinite(table.margins))[-1])
    word = int(table.tails[cell] * 2.0**64) - 1
    far, near = ((table.tails[cell] - (word + k) / 2.0**64) / table.masses[cell] for k in (0, 1))
    assert 0.0 <= near < far < 1e-6
    offset = np.array([1.0 - 0.5 * (near + far)])  # the step ends between the two
    _, decided = table.steps(np.array([word], dtype=np.uint64), np.ones(1), offset)
    assert not decided[0]


@pytest.mark.parametrize("scale", [1e-280, 1e280])
def test_extremes_of_scale(scale, monkeypatch):
    step = 2.0 ** np.floor(np.log2(scale)) / 2**10
    fast, slow = by_both_ways(monkeypatch, Gaussian(scale), 0.25 * scale, step)
    np.testing.assert_array_equal(fast, slow)
    assert np.std(fast / scale) == pytest.approx(1.0, abs=0.2)


def test_far_tails_are_drawn_from_more_bits():
    """A uniform number below 2^-64 leaves |T| open: its next bits decide."""
    found = steps(Laplace(1.0), Uniform(0, entropy(1)), Fraction(1), Fraction(1, 2))
    assert 44 <= found <= 60
    bounded = steps(TruncatedLaplace(1.0, 3.0), Uniform(0, entropy(1)), Fraction(1, 8), Fraction(0))
    assert bounded == 23  # just below the bound


def test_ends_of_steps_and_of_the_support():
    for noise in (Staircase(2.0, 1.0, 0.5), TruncatedLaplace(1.0, 2.0), Subbotin(1000.0, 1.0)):
        found = seeded(2)(np.zeros(2000), noise, grid=0.5)
        assert np.max(np.abs(found)) <= noise.bound + 0.25
    assert set(np.abs(found)) == {0.0, 0.5, 1.0}


def test_a_value_on_a_tie_goes_either_way():
    """value = half a grid step and next to no noise: 0 or one step, each half of the time."""
    found = seeded(4)(np.full(2000, 0.5), Laplace(2.0**-20), grid=1.0)
    assert set(found) == {0.0, 1.0}
    assert 900 < np.sum(found) < 1100


@for_all(("value", "expected"), [(0.0, 0.0), (1.0, 1.0), (1e-300, 0.0)])
def test_a_value_next_to_a_tie_is_not_rounded_onto_it(value, expected):
    value = float(np.nextafter(0.5, value)) if value in {0.0, 1.0} else value
    for count in (20, 2000):  # by balls, by the table
        assert set(seeded(4)(np.full(count, value), Laplace(2.0**-80), grid=1.0)) == {expected}


def test_every_family_has_a_tail():
    assert all("exact_tail" in vars(kind) for kind in FAMILIES.values())


@for_all("noise", NOISES + EXTREME)
@for_all("size", [1e-3, 0.3, 1.0, 2.0, 9.0])
def test_a_tail_is_that_of_the_family(noise, size):
    t = size * noise.mean_abs()
    with ctx.workprec(160):
        found = noise.exact_tail(Fraction(t), ball)
    assert found.rel_accuracy_bits() > 60 or abs(found) < 1e-300
    assert float(found) == pytest.approx(2.0 * noise.sf(t), rel=1e-11, abs=1e-300)
