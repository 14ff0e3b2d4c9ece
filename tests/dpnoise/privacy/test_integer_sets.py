"""Delta of noise on the integers for sets: against sums over all integers, and coincidences."""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from dpnoise import (
    L1,
    L2,
    AtMost,
    Box,
    Counts,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    Ellipsoid,
    LInf,
    Product,
)
from dpnoise.privacy.integer_sets import (
    CONCENTRATED,
    EXACT,
    PURE,
    concentrated_log_delta,
    concentration,
    integer_bounds,
    largest_loss,
    maximal_points,
    parts_of_set,
)
from for_all import for_all

BALLS = (
    *(L1(float(r), of=n) for r in (1, 2, 3, 5) for n in (1, 2, 4)),
    *(L2(float(r), of=n) for r in (1, 2, 3, 4) for n in (1, 2, 3)),
    L2(3.0, of=5),
    *(LInf(float(r), of=n) for r in (1, 3) for n in (1, 3)),
    *(AtMost(m, of=4, each=float(c)) for m in (1, 2, 3, 4) for c in (1, 2, 3)),
    Box((1.0, 3.0, 1.0)),
    Product(AtMost(1, of=2, each=2.0), L2(2.0, of=2)),
    Product(Box((2.0, 1.0)), L1(3.0, of=2)),
    *(Counts(m, of=4, each=2, relation=r) for m in (1, 3) for r in ("add-remove", "replace-one")),
    Counts(1, of=4, exactly=True, relation="replace-one"),
    Product(*(Counts(1, of=2, each=c, relation="add-remove") for c in (1, 2))),
)


def points_of(ball):
    """The sizes of all integer differences: by the norm, or of at most m entries."""
    axes = [range(int(side) + 1) for side in ball.box]
    every = np.array(list(product(*axes)))
    good = np.ones(len(every), dtype=bool)
    for first, factor in ball.factors():
        part = every[:, first : first + factor.dimension]
        if isinstance(factor, AtMost | Counts):
            persons = 1 if factor.relation != "replace-one" else 2
            good &= np.count_nonzero(part, axis=1) <= persons * factor.m
        else:
            good &= factor.norm(part.astype(float)) <= 1.0 + 1e-9
    return every[good]


def sizes_of(parts, point):
    """A point as its sizes in each part, largest first."""
    found = []
    for part in parts:
        sizes = sorted((int(x) for x in point[part.at] if x), reverse=True)
        found.append(tuple((s, sizes.count(s)) for s in dict.fromkeys(sizes)))
    return tuple(found)


@for_all("ball", BALLS)
def test_maximal_points_are_those_of_which_no_entry_can_grow(ball):
    points = points_of(ball)
    inside = {tuple(point) for point in points.tolist()}
    maximal = [
        point
        for point in points
        if not any(tuple(point + step) in inside for step in np.eye(ball.dimension, dtype=int))
    ]
    parts = parts_of_set(ball)
    found = maximal_points(parts, 10**4)
    assert len(found) == len(set(found))
    assert set(found) == {sizes_of(parts, point) for point in maximal}


@for_all("ball", BALLS)
def test_largest_sums_are_those_over_all_points(ball):
    points = points_of(ball)
    for part in parts_of_set(ball):
        some = points[:, part.at]
        for width in (1, 2, 3, 5):
            assert part.steps(width) == np.max(np.sum(-(-some // width), axis=1))
        assert part.squares == np.max(np.sum(some**2, axis=1))
        powers = np.where(some > 0, some**part.power, 0)
        assert min(part.total, some.shape[1] * part.largest**part.power) == np.max(
            np.sum(powers, axis=1)
        )


def test_large_sets_are_quick_and_too_many_points_are_not_listed():
    (part,) = parts_of_set(L2(2.0**20, of=1000))
    most = 2.0**20 * 1000**0.5  # of real points, by Cauchy and Schwarz
    assert most - 1000 < part.steps() <= most
    assert part.maximal(100) is None
    (part,) = parts_of_set(AtMost(40, of=5000))
    assert part.maximal(1) == [((1, 40),)]
    assert part.steps() == 40
    assert maximal_points(parts_of_set(Product(*[L1(3.0, of=3)] * 5)), 200) is None  # 3^5


@for_all(
    ("ball", "words"),
    [
        (LInf(1.5, of=3), "got 1.5 in LInf"),
        (Box((1.0, 0.0, 2.5)), "got 0.0, 2.5 in Box"),
        (L2(2.0**0.5, of=2), "rounding up is safe"),
        (L1(2.0**31, of=2), "from 1 to 1073741824"),
        (AtMost(2, of=3, each=0.5), "got 0.5"),
        (Ellipsoid((1.0, 2.0)), "L1, L2, LInf, Box, AtMost and products"),
        (Product(L1(1.0, of=2), Ellipsoid((1.0, 2.0))), "got Product"),
    ],
)
def test_what_has_no_meaning_for_integers_is_one_message(ball, words):
    with pytest.raises(ValueError, match="for integers") as error:
        parts_of_set(ball)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


SETS = (
    L1(3.0, of=2),
    L1(2.0, of=3),
    L2(2.0, of=3),
    L2(3.0, of=2),
    LInf(2.0, of=2),
    AtMost(2, of=3),
    AtMost(2, of=3, each=2.0),
    Box((1.0, 3.0)),
    Product(L1(2.0, of=2), LInf(1.0)),
)


def all_points(ball):
    """The sizes of all integer differences: by the norm of the set, or few entries."""
    every = np.array(list(product(*(range(int(side) + 1) for side in ball.box))))
    good = ball.norm(every.astype(float)) <= 1.0 + 1e-9
    if isinstance(ball, AtMost):
        good &= np.count_nonzero(every, axis=1) <= ball.m
    return every[good]


def delta_by_sums(noises, shift, epsilon, reach):
    """Sum of (P - e^epsilon Q)+ over a cube of integers, which holds all but 1e-12 of P."""
    k = np.arange(-reach, reach + 1.0)
    P = Q = np.zeros(1)
    for noise, d in zip(noises, shift, strict=True):
        P = np.add.outer(P, noise.logpmf(k))
        Q = np.add.outer(Q, noise.logpmf(k + d))
    return float(np.sum(np.maximum(np.exp(P) - np.exp(epsilon + Q), 0.0)))


@pytest.mark.parametrize("noise", [DiscreteGaussian(2.3), DiscreteLaplace(1.7)], ids=repr)
@pytest.mark.parametrize("ball", SETS, ids=repr)
def test_delta_is_the_largest_over_all_integer_points(ball, noise):
    parts = parts_of_set(ball)
    noises = [noise] * ball.dimension
    for epsilon in (0.0, 0.5, math.log(3.0)):
        found = integer_bounds([noise] * len(parts), parts, epsilon)
        reach = 20 if isinstance(noise, DiscreteGaussian) else 48
        if ball.dimension == 3 and reach > 30:
            continue  # the sums would take a second each
        most = max(delta_by_sums(noises, d, epsilon, reach) for d in all_points(ball) if d.any())
        assert found.lower * (1.0 - 1e-9) - 1e-11 <= most <= found.upper * (1.0 + 1e-9) + 1e-11
        assert found.upper - found.lower <= 1e-9 * found.upper + 1e-12


def test_three_of_twelve_counts_lose_three_steps_exactly():
    parts = parts_of_set(AtMost(3, of=12))
    noise = [DiscreteLaplace(3.0)]
    assert largest_loss(noise, parts) == 1
    assert integer_bounds(noise, parts, 1.0) == (-math.inf, -math.inf, PURE)
    below = integer_bounds(noise, parts, math.nextafter(1.0, 0.0))
    assert 0.0 < below.upper < 1e-15
    # At ln 3, a double above the real number or not, the exact fractions decide.
    epsilon = math.log(3.0)
    beta = 3.0 / epsilon
    private = Fraction(3) / Fraction(beta) <= Fraction(epsilon)
    assert (integer_bounds([DiscreteLaplace(beta)], parts, epsilon).upper == 0.0) == private


def test_staircases_lose_their_epsilon_for_each_step_of_a_point():
    balls = L1(8.0, of=3), AtMost(2, of=3, each=4.0)  # (3, 3, 2) has three first steps and more
    for ball, width in product(balls, (1, 2, 3, 4)):
        (part,) = parts = parts_of_set(ball)
        noise = DiscreteStaircase(0.25, width, 1)
        losses = [sum(-(-int(x) // width) for x in d) for d in all_points(ball)]
        assert largest_loss([noise], parts) == Fraction(max(losses), 4)
        assert part.steps(width) == max(losses)
        seen = 0.0
        k = np.arange(-40.0, 41.0)
        for d in all_points(ball):
            each = [np.max(noise.logpmf(k) - noise.logpmf(k + x)) for x in d]
            seen = max(seen, float(np.sum(each)))
        assert seen == pytest.approx(max(losses) / 4.0, rel=1e-12)  # attained


@pytest.mark.parametrize("ball", [L1(4.0, of=4), AtMost(3, of=12), LInf(2.0, of=20)], ids=repr)
@pytest.mark.parametrize("sigma", [1.5, 5.0, 40.0])
def test_concentrated_privacy_is_above_the_exact_bounds(ball, sigma):
    parts = parts_of_set(ball)
    noise = [DiscreteGaussian(sigma)] * len(parts)
    rho = concentration(noise, parts)
    assert float(rho) == pytest.approx(sum(p.squares for p in parts) / (2.0 * sigma**2), rel=1e-12)
    for epsilon in (0.1, 1.0, 5.0):
        exact = integer_bounds(noise, parts, epsilon)
        assert exact.account in (EXACT, CONCENTRATED)  # the latter below exp(-600)
        assert exact.log_upper <= concentrated_log_delta(rho, epsilon)


def test_the_concentrated_bound_holds_its_rounding():
    """At the orders that are tried, by 40 digits: without its allowance half of them are below."""
    rng = np.random.default_rng(43)
    for rho, epsilon in np.exp(rng.uniform(-6.0, 6.0, (60, 2))).tolist():
        found = concentrated_log_delta(Fraction(rho), epsilon)
        start = math.log(max((epsilon - rho) / (2.0 * rho), 1e-3))
        with mpmath.workdps(40):
            orders = [1 + mpmath.mpf(math.exp(start + 0.02 * k)) for k in range(-60, 61)]
            logs = [
                (a - 1) * (a * mpmath.mpf(rho) - mpmath.mpf(epsilon))
                + a * mpmath.log1p(-1 / a) - mpmath.log(a - 1)
                for a in orders
            ]  # fmt: skip
            least = min(0, *logs)
            assert least <= found <= least + mpmath.mpf(1e-6) * (1 + abs(least))


def test_a_set_of_too_many_points_counts_by_concentration():
    parts = parts_of_set(L1(100.0, of=100))
    found = integer_bounds([DiscreteGaussian(500.0)], parts, 1.0)
    assert found.account == CONCENTRATED
    # No less private than any of its points, of which (100, 0, ...) is one.
    one = integer_bounds([DiscreteGaussian(500.0)], parts_of_set(LInf(100.0)), 1.0)
    assert one.lower <= found.upper <= 50.0 * one.upper
    wide = integer_bounds([DiscreteLaplace(99.0)], parts, 1.0)
    assert 0.0 < wide.upper <= -math.expm1(-1.0 / 99.0)  # randomized response
