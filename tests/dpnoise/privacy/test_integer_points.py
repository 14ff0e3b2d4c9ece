"""Integer points of sets: maximal ones and largest sums against all points of small sets."""

from itertools import product

import numpy as np
import pytest

from dpnoise import L1, L2, AtMost, Box, Counts, Ellipsoid, LInf, Product
from dpnoise.privacy.integer_points import maximal_points, parts_of_set
from for_all import for_all

SETS = (
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


@for_all("ball", SETS)
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


@for_all("ball", SETS)
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
