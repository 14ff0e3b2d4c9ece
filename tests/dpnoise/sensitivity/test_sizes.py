"""Sizes of counts in norms, by their extreme points, in the package and in the checker."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpnoise import L1, L2, AtMost, Box, Counts, LInf, Product
from dpnoise.certificates import checker
from dpnoise.certificates.codec import plain

ADDED, REPLACED = "add-remove", "replace-one"


def counts(K):
    """Every kind of counts with K of them, as plain geometry."""
    for m in range(1, K + 1):
        yield Counts(m, of=K, each=0.75, whole=False, relation=ADDED)
        yield Counts(m, of=K, each=1.5, whole=False, relation=REPLACED)
        if m < K:
            yield Counts(m, of=K, exactly=True, relation=REPLACED)


def corners(ball):
    """All vectors of zeros and +-each in a set of counts."""
    every = np.array(list(product([-1.0, 0.0, 1.0], repeat=ball.of))) * ball.each
    return every[ball.norm(every) <= 1.0 + 1e-12]


@pytest.mark.parametrize("K", [1, 2, 3, 5])
def test_counts_in_the_norm_of_counts(K):
    for ball in counts(K):
        points = corners(ball)
        for unit in counts(K):
            if unit.flat:
                continue
            found = unit.largest_norm_of(ball)
            assert float(found) == pytest.approx(np.max(unit.norm(points)), rel=1e-12)
            pair = [checker.factors(plain(one)) for one in (ball, unit)]
            assert checker.size(*pair) <= found <= checker.size(*pair) * (1 + Fraction(1, 2**180))


@pytest.mark.parametrize("K", [1, 2, 4])
def test_counts_and_sets_that_have_all_signs(K):
    others = [LInf(1.25, K), L1(2.0, K), L2(1.0, K), AtMost(1, K, 2.0), AtMost(K, K)]
    others += [Box(np.linspace(0.5, 2.0, K)), Product(*[LInf(0.5)] * K)]
    rng = np.random.default_rng(1)
    for unit in counts(K):
        points = corners(unit)
        for other in others:
            # Counts in another norm: at an extreme point.
            size = float(other.largest_norm_of(unit))
            assert size == pytest.approx(np.max(other.norm(points)), rel=1e-12)
            if unit.flat:
                continue
            # Another set in the norm of counts: from above, by at most a factor of two.
            size = float(unit.largest_norm_of(other))
            x = other.sample(500, rng)
            signs = np.where(rng.random(K) < 0.5, -1.0, 1.0)
            ends = np.vstack([x / other.norm(x)[:, None], other.extreme_point * signs])
            assert np.max(unit.norm(ends)) <= size * (1 + 1e-12)
            assert size <= 2.0 * float(AtMost(unit.m, K, unit.each).largest_norm_of(other))
            pair = [checker.factors(plain(one)) for one in (other, unit)]
            if not isinstance(other, Product):
                assert float(checker.size(*pair)) == pytest.approx(size, rel=1e-12)


@pytest.mark.parametrize("K", [1, 2, 4])
@pytest.mark.parametrize("power", [1, 2])
def test_weighted_norms_of_counts(K, power):
    rng = np.random.default_rng(2)
    for ball in counts(K):
        weights = rng.uniform(0.1, 2.0, K)
        most = np.max(np.sum((weights * np.abs(corners(ball))) ** power, axis=1))
        found = ball.largest_power_sum([Fraction(w) for w in weights], power)
        assert float(found) == pytest.approx(most, rel=1e-12)


def test_projections_hold_all_differences():
    for ball in counts(4):
        points = corners(ball)
        for some in ([0], [1, 3], [2, 0, 1], [3, 2, 1, 0]):
            assert np.max(ball.restricted(some).norm(points[:, some])) <= 1.0
    two = Product(Counts(2, of=3, relation=ADDED), L2(1.0, of=2), relation=ADDED)
    assert two.restricted([1, 2, 4]).dimension == 3
    assert two.largest_norm_of(two) == 1
    assert two.largest_norm_of(Product(L1(1.0, 3), L2(1.0, 2))) == 1
    assert LInf(1.0, 3).largest_norm_of(two.blocks[0]) < math.inf
