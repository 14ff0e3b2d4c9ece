"""True differences against the differences of all persons of small sets."""

from itertools import product

import numpy as np
import pytest

from dpnoise import L1, L2, AtMost, Box, Counts, LInf, Product

ADDED, REPLACED = "add-remove", "replace-one"


def persons(m, K, c, shares, exactly):
    """Every vector of shares of which at most m, or exactly m, are not 0."""
    every = np.array(list(product(shares, repeat=K)), dtype=float)
    counted = np.count_nonzero(every, axis=1)
    return (
        every[(counted == m) & np.all(every % c == 0, axis=1)] if exactly else every[counted <= m]
    )


def differences(ball, shares, exactly=False):
    """What persons make of a vector: one more or less, or one in the place of another."""
    some = persons(ball.m, ball.of, ball.each, shares, exactly)
    if ball.relation == ADDED:
        return np.concatenate([some, -some])
    return (some[:, None] - some[None]).reshape(-1, ball.of)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("exactly", [True, False])
@pytest.mark.parametrize("relation", [ADDED, REPLACED])
@pytest.mark.parametrize(("m", "K"), [(1, 1), (1, 3), (2, 3), (3, 3), (1, 4)])
def test_differences_are_those_of_persons(m, K, relation, exactly, whole):
    if exactly and (m == K or relation == ADDED):
        return
    ball = Counts(m, of=K, each=2, whole=whole, exactly=exactly, relation=relation)
    step = 1.0 if whole else 0.5
    grid = np.arange(-2.5, 2.75, 0.5)
    every = np.array(list(product(grid, repeat=K)))
    made = {tuple(d) for d in differences(ball, np.arange(0.0, 2.25, step), exactly)}
    found = ball.differences
    inside = found.holds(every) if found else ball.norm(every) <= 1.0 + 1e-12
    assert {tuple(d) for d in every[inside]} == made
    if found:
        assert ball.norm(every[inside]).max() <= 1.0 + 1e-12
        assert np.count_nonzero(every[inside], axis=1).max() == found.moved
        assert np.abs(every[inside]).max() == found.size
        for up, down in product(range(K + 1), repeat=2):
            signs = [2.0] * up + [-2.0] * down + [0.0] * K
            assert found.holds_pattern(up, down) == (
                up + down <= K and bool(found.holds(signs[:K]))
            )


def test_sets_say_whether_all_their_points_are_differences():
    for ball in (Box([1.0, 2.0]), LInf(1.0, of=3), L1(1.0, of=3), L2(1.0, of=2), AtMost(3, of=3)):
        assert ball.convex
        assert ball.differences is None
    some = AtMost(2, of=3, each=0.5)
    assert not some.convex
    inside = some.differences.holds([[0.5, -0.5, 0.0], [0.3, 0.3, 0.3], [0.0, 0.6, 0.0]])
    assert inside.tolist() == [True, False, False]
    assert some.norm([0.3, 0.3, 0.3]) <= 1.0
    both = Product(Box([1.0]), AtMost(1, of=3))
    assert not both.convex
    assert both.differences is None
    assert [factor.convex for _, factor in both.factors()] == [True, False]
    counts = Counts(1, of=3, relation=ADDED)
    assert Product(counts).differences == counts.differences
    assert Product(counts, counts).is_whole
    assert not Product(counts, Counts(1, of=3, whole=False, relation=ADDED)).is_whole
    assert not Product(counts, L1(1.0, of=2, relation=ADDED)).is_whole


def test_scaled_shares_are_whole_where_the_factor_is():
    counts = Counts(2, of=3, each=2, relation=ADDED)
    assert counts.scaled(2.0) == Counts(2, of=3, each=4, relation=ADDED)
    assert counts.scaled(0.5) == Counts(2, of=3, each=1.0, whole=False, relation=ADDED)


def test_each_is_a_whole_number_where_shares_are():
    with pytest.raises(ValueError, match="whole=False") as error:
        Counts(4, of=3, each=0.5, relation=ADDED)
    assert all(word in str(error.value) for word in ("m: ", "each: ", "got 0.5"))
    with pytest.raises(ValueError, match="whole: expected True or False, got 1"):
        Counts(1, of=3, each=0.5, whole=1, relation=ADDED)
    assert Counts(1, of=3, each=0.5, whole=False, relation=ADDED).each == 0.5
