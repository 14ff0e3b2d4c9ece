"""Cheap bounds on delta hold on both sides of the exact account."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from dpnoise import (
    L1,
    AtMost,
    Box,
    Counts,
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Product,
    Staircase,
    TruncatedLaplace,
    vector_profile,
)
from dpnoise.mechanisms.noise import IndependentNoise
from dpnoise.noise.integers import DiscreteLaplace, DiscreteStaircase
from dpnoise.privacy.accounts import (
    Independent,
    bounds,
    composed_log_delta,
    composed_lower_bound,
    equal_share,
    event_log_delta,
    half_line_log_delta,
    shared_log_delta,
)
from for_all import thinned

NOISES = [
    Gaussian(3.0),
    Laplace(4.0),
    FlippedHuber(9.0, 3.0),  # a tie at one coordinate's loss of 1
    FlippedHuber(1.0, 3.0),
    OffsetSymmetricGaussian(20.0, 8.0),
    TruncatedLaplace(4.0, 20.0),
    Huber(1.0, 4.0),
]


@pytest.mark.parametrize("dimension", [1, 2, 3, 20])
@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_bounds_enclose_the_exact_account(noise, dimension):
    for epsilon in (0.0, 0.5, dimension * 0.25, dimension * 1.0, 3.0):
        profile = vector_profile(noise, 1.0, epsilon, copies=dimension)
        low = half_line_log_delta(noise, 1.0, epsilon, dimension)
        high = composed_log_delta(noise, 1.0, epsilon, dimension)
        shares = [(noise, 1.0, dimension)]
        assert low <= profile.log_upper + 1e-9
        assert event_log_delta(shares, epsilon) <= profile.log_upper + 1e-9
        assert composed_lower_bound(noise, 1.0, epsilon, dimension) <= high + 1e-9
        assert high >= profile.log_lower
        assert shared_log_delta(shares, epsilon) >= profile.log_lower


def test_shares_of_different_noise():
    rng = np.random.default_rng(5)
    for _ in range(10):
        picked = [NOISES[k] for k in rng.choice(len(NOISES) - 2, 3)]
        sizes = rng.uniform(0.3, 2.0, 3).tolist()
        epsilon = float(rng.uniform(0.0, 3.0))
        profile = vector_profile(picked, sizes, epsilon)
        shares = [(noise, size, 1) for noise, size in zip(picked, sizes, strict=True)]
        assert shared_log_delta(shares, epsilon) >= profile.log_lower
        assert event_log_delta(shares, epsilon) <= profile.log_upper + 1e-9


def test_shares_of_epsilon_never_add_up_to_more():
    from fractions import Fraction

    for epsilon in (0.1, 0.3, 1.0, 1e-3, 7.7):
        for dimension in (3, 7, 10, 10**6):
            assert dimension * Fraction(equal_share(epsilon, dimension)) <= Fraction(epsilon)


def test_noise_beyond_the_range_of_the_profile_gets_the_trivial_bound():
    assert composed_log_delta(Laplace(1e12), 1.0, 1.0, 2) == 0.0
    assert half_line_log_delta(Laplace(1e-12), 1.0, 1.0, 2) == pytest.approx(
        math.log(1.0), abs=1e-9
    )


ADDED, REPLACED = {"relation": "add-remove"}, {"relation": "replace-one"}
FEW = [  # a set, how many coordinates of how many a person moves at once, and epsilon
    (Counts(1, of=3, **ADDED), 1, 0.0),
    (Counts(2, of=3, **ADDED), 2, 0.4),
    (Counts(2, of=3, **ADDED), 2, 1.0),
    (Counts(1, of=3, each=0.5, whole=False, **REPLACED), 2, 0.4),
    (Counts(1, of=3, exactly=True, **REPLACED), 2, 0.0),
    (AtMost(1, of=3, each=2.0), 1, 1.0),
]


def largest_delta(noises, sizes, moved, epsilon):
    """The largest delta of all ways to move so many coordinates as far as they can: both bounds."""
    low = high = 0.0
    for at in combinations(range(len(noises)), moved):
        found = vector_profile([noises[k] for k in at], [sizes[k] for k in at], epsilon)
        low, high = max(low, float(found.lower)), max(high, float(found.upper))
    return low, high


@pytest.mark.parametrize(("ball", "moved", "epsilon"), thinned(FEW), ids=str)
def test_delta_is_that_of_the_worst_true_difference(ball, moved, epsilon):
    sizes = ball.box.tolist()
    for noise in (*NOISES[1:], Staircase(0.7, ball.each, 0.4)):
        low, high = largest_delta([noise] * 3, sizes, moved, epsilon)
        found = bounds(noise, ball, epsilon)
        assert found.lower <= high
        assert low <= found.upper
        assert found.upper == pytest.approx(high, rel=1e-6, abs=1e-300)
        assert found.lower == pytest.approx(low, rel=1e-6, abs=1e-300)
        # Unequal scales: the coordinates of the smallest ones.
        scales = np.array([1.0, 3.0, 0.8])
        each = [noise.scaled(x) for x in scales.tolist()]
        if noise.step_width < math.inf:
            continue
        high = largest_delta(each, sizes, moved, epsilon)[1]
        assert IndependentNoise(noise, scales).bounds_in(ball, epsilon).upper == pytest.approx(
            high, rel=1e-6, abs=1e-300
        )


def test_different_noise_counts_by_its_worst_coordinates():
    ball, noises = (
        Counts(2, of=4, **ADDED),
        (Laplace(3.0), Gaussian(2.0), Gaussian(4.0), Huber(1.0, 2.0)),
    )
    low, high = largest_delta(noises, [1.0] * 4, 2, 0.5)
    found = bounds(noises, ball, 0.5)
    assert found.lower == pytest.approx(low, rel=1e-9)
    assert found.upper == pytest.approx(high, rel=1e-9)
    stairs = tuple(Staircase(e, 1.0, 0.4) for e in (0.1, 0.5, 0.3, 0.2))
    assert Independent(stairs, ball).loss == Fraction(0.5) + Fraction(0.3)
    # So many combinations of different noise that all coordinates are taken together.
    many = tuple(Laplace(2.0 + k / 7.0) for k in range(40))
    wide = Independent((*many[:-1], Gaussian(3.0)), Counts(20, of=40, **ADDED))
    assert sum(wide.worst[0].values()) == 40


def test_products_move_a_few_of_each_block():
    both = Product(
        Counts(1, of=2, **ADDED), AtMost(2, of=3, each=0.5, **ADDED), Box([0.25], **ADDED)
    )
    noise = FlippedHuber(2.0, 2.5)
    high = vector_profile([noise] * 4, [1.0, 0.5, 0.5, 0.25], 0.3).upper
    assert bounds(noise, both, 0.3).upper == pytest.approx(float(high), rel=1e-6)
    stairs = Staircase(0.2, 1.0, 0.4)
    assert Independent(stairs, both).loss == 4 * Fraction(0.2)
    # Beside a block whose points are all differences the box around that counts.
    wide = Product(Counts(1, of=2, **ADDED), L1(1.0, of=3, **ADDED))
    assert Independent(stairs, wide).loss == 4 * Fraction(0.2)
    assert bounds(stairs, wide, 0.3).lower <= bounds(stairs, wide, 0.3).upper


def test_integers_count_by_few_entries():
    ball = Counts(1, of=4, each=5, **ADDED)
    steps = DiscreteStaircase(1.5, 5, 2)
    assert bounds(steps, ball, 1.5).upper == 0.0
    assert bounds(steps, ball, np.nextafter(1.5, 0.0)).lower > 0.0
    laplace = DiscreteLaplace(2.0)
    assert bounds(laplace, ball, 2.5).upper == 0.0
    # One person with all of 5 in one count: as one number.
    found, one = bounds(laplace, ball, 1.0), vector_profile(laplace, 5, 1.0)
    assert one.lower <= found.upper
    assert found.lower <= one.upper
    # Different noise within one set of counts.
    noises = DiscreteLaplace(4.0), laplace, laplace, DiscreteLaplace(3.0)
    assert bounds(noises, ball, 1.0).upper == pytest.approx(float(one.upper), rel=1e-9)


def test_every_true_difference_is_hidden():
    """Shifts by any true difference on a grid have no more delta than the account says."""
    ball = AtMost(2, of=3, each=1.0)
    grid = np.array(list(product([0.0, 0.4, 1.0], repeat=3)))
    for noise in (Laplace(1.5), FlippedHuber(1.0, 1.5)):
        upper = bounds(noise, ball, 0.5).upper
        for d in grid[ball.differences.holds(grid) & grid.any(axis=1)]:
            assert vector_profile([noise] * 3, d, 0.5).lower <= upper
        outside = vector_profile([noise] * 3, [1.0] * 3, 0.5).lower
        assert outside > upper  # of the box around the set
