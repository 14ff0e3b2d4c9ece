"""Sizes of a sensitivity set, its projections, and its size in the norm of another, rounded up.

The doubles that describe a set are taken as the rational numbers that they are; sums are those of
`dpnoise.sensitivity.base`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.balls import L1, L2, Box, LInf
from dpnoise.sensitivity.base import above, largest_sum, powers, root_above
from dpnoise.sensitivity.counts import AddRemoveCounts, Counts
from dpnoise.sensitivity.ellipsoid import Ellipsoid
from dpnoise.sensitivity.product import Product
from dpnoise.sensitivity.spheroid import RoundSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dpnoise.sensitivity.base import Sensitivity, Weights


MOST_UNEQUAL = 10**6  # coordinates; a product states more of them in a few bytes


def sides(ball: Sensitivity) -> Weights:
    """The largest change of each coordinate; ValueError for more than are counted one by one."""
    if isinstance(ball, L1 | L2 | LInf):
        return Fraction(ball.radius)
    if isinstance(ball, AtMost | Counts):
        return Fraction(ball.each)
    if ball.dimension > MOST_UNEQUAL:
        expected = f"at most {MOST_UNEQUAL} coordinates unless one number is the side of all"
        message = f"sensitivity: expected {expected}, got {ball.dimension}"
        raise ValueError(message)
    return [Fraction(x) for x in ball.box.tolist()]


def _runs(ball: Product, coordinates: Sequence[int]) -> Iterator[tuple[Sensitivity, list[int]]]:
    """The blocks of a product that chosen coordinates are in, one after the other."""
    ends = list(accumulate(block.dimension for block in ball.blocks))
    for k, run in groupby(coordinates, lambda i: bisect_right(ends, i)):
        block = ball.blocks[k]
        yield block, [i - ends[k] + block.dimension for i in run]


def projected(ball: Sensitivity, coordinates: Sequence[int]) -> Sensitivity:
    """A set that holds the chosen coordinates of all differences, in the order chosen."""
    n = len(coordinates)
    if isinstance(ball, RoundSet) and list(coordinates) == list(range(ball.dimension)):
        return ball
    if isinstance(ball, Product):
        parts = [projected(block, inner) for block, inner in _runs(ball, coordinates)]
        return parts[0] if len(parts) == 1 else Product(*parts)
    if isinstance(ball, Counts):
        return ball.restricted(n)
    if isinstance(ball, AtMost):
        return AtMost(min(ball.m, n), n, ball.each)
    if isinstance(ball, L1 | L2 | LInf):
        return type(ball)(ball.radius, n)
    chosen = tuple(float(ball.box[i]) for i in coordinates)
    return Ellipsoid(chosen) if isinstance(ball, Ellipsoid) else Box(chosen)


def _inverse(values: Weights, bounds: Weights) -> Weights | None:
    """1 / value, 0 where nothing can change; None where something can that has no bound."""
    if isinstance(values, Fraction):
        return 1 / values
    changes = [bounds] * len(values) if isinstance(bounds, Fraction) else bounds
    if any(x == 0 < change for x, change in zip(values, changes, strict=True)):
        return None
    return [1 / x if x else Fraction(0) for x in values]


def _size_in_counts(ball: Sensitivity, unit: Counts) -> Fraction | float:
    """The largest norm of a set, where `unit` is the unit ball, rounded up.

    A norm is largest at an extreme point. With all signs, the norm for replace-one is largest where
    no signs differ: that of `AtMost`. The norm for add/remove is at most twice that, and at most
    the l1 norm.
    """
    added = isinstance(unit, AddRemoveCounts)

    def gauge(count: int) -> Fraction:
        return max(Fraction(1), Fraction(count, unit.m)) if count else Fraction(0)

    if isinstance(ball, Counts):
        parts = [(gauge(up), gauge(down)) for up, down in ball.patterns]
        most = max(sum(pair) if added else max(pair) for pair in parts)
        return above(most * Fraction(ball.each) / Fraction(unit.each))
    some = size_in_norm(ball, AtMost(unit.m, unit.of, unit.each))
    return min(2 * some, size_in_norm(ball, L1(unit.each, unit.of))) if added else some


def size_in_norm(ball: Sensitivity, unit: Sensitivity) -> Fraction | float:  # noqa: PLR0911
    """The largest norm of a set, where `unit` is the unit ball; rounded up, or infinite."""
    if ball == unit:
        return Fraction(1)
    if isinstance(unit, RoundSet):
        return unit.largest_norm_of(ball)
    if isinstance(unit, Product):
        ends = list(accumulate(block.dimension for block in unit.blocks))
        spans = [range(e - b.dimension, e) for b, e in zip(unit.blocks, ends, strict=True)]
        pairs = [(b, at) for b, at in zip(unit.blocks, spans, strict=True) if ball.box[at].any()]
        return max(size_in_norm(projected(ball, at), block) for block, at in pairs)
    weights = _inverse(sides(unit), sides(ball))
    if isinstance(unit, Counts) or weights is None:
        return _size_in_counts(ball, unit) if isinstance(unit, Counts) else math.inf
    if isinstance(unit, L1):
        return ball.largest_power_sum(weights, 1)
    if isinstance(unit, L2 | Ellipsoid):
        return root_above(ball.largest_power_sum(weights, 2))
    widest = largest_sum(powers(sides(ball), weights, 1), 1)
    total = ball.largest_power_sum(weights, 1) / unit.m if isinstance(unit, AtMost) else 0
    return max(widest, total)
