"""Sizes of a sensitivity set in weighted norms, and in the norm of another set, rounded up.

The doubles that describe a set are taken as the rational numbers that they are. Sums keep 192
binary digits, rounded up; `Sensitivity.l1` and the like are rounded to nearest and not used.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.balls import L1, L2, LInf
from dpnoise.sensitivity.box import Box
from dpnoise.sensitivity.counts import AddRemoveCounts, Counts
from dpnoise.sensitivity.ellipsoid import Ellipsoid
from dpnoise.sensitivity.product import Product

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dpnoise.sensitivity.base import Sensitivity

    Weights = Fraction | Sequence[Fraction]  # one for all coordinates, or one for each

_DIGITS = 192


def above(x: Fraction) -> Fraction:
    """A number that is at least `x` >= 0, of 192 binary digits unless `x` is an integer."""
    shift = _DIGITS - x.numerator.bit_length() + x.denominator.bit_length()
    if x.denominator == 1 and shift >= 0:
        return x
    scale = Fraction(2) ** shift
    return Fraction(math.ceil(x * scale)) / scale


def root_above(x: Fraction) -> Fraction:
    """A number that is at least the square root of `x` >= 0, and equal to it if it is rational."""
    if x == 0:
        return x
    p, q = math.isqrt(x.numerator), math.isqrt(x.denominator)
    if p * p == x.numerator and q * q == x.denominator:
        return Fraction(p, q)
    shift = _DIGITS + (x.denominator.bit_length() - x.numerator.bit_length()) // 2
    scale = Fraction(2) ** shift
    return (math.isqrt(math.ceil(x * scale * scale)) + 1) / scale


def sides(ball: Sensitivity) -> Weights:
    """The largest change of each coordinate."""
    if isinstance(ball, L1 | L2 | LInf):
        return Fraction(ball.radius)
    if isinstance(ball, AtMost | Counts):
        return Fraction(ball.each)
    return [Fraction(x) for x in ball.box.tolist()]


def _times(first: Weights, second: Weights, power: int) -> Weights:
    """(first * second)^power, coordinate by coordinate."""
    if isinstance(first, Fraction) and isinstance(second, Fraction):
        return (first * second) ** power
    pair = (first, second)
    n = next(len(one) for one in pair if not isinstance(one, Fraction))
    left, right = ([one] * n if isinstance(one, Fraction) else one for one in pair)
    return [above((x * y) ** power) for x, y in zip(left, right, strict=True)]


def _largest_sum(values: Weights, count: int) -> Fraction:
    """The sum of the largest of some values."""
    if isinstance(values, Fraction):
        return count * values
    return sum(sorted(values)[-count:], Fraction(0))


def _part(weights: Weights, start: int, count: int) -> Weights:
    return weights if isinstance(weights, Fraction) else weights[start : start + count]


def largest_power_sum(ball: Sensitivity, weights: Weights, power: int) -> Fraction:
    """The largest sum of (w_i |d_i|)^power over a set, power 1 or 2, rounded up.

    It does not depend on signs: of `Counts` it is that of the hull with all signs, as the extreme
    points of either change the same counts by as much.
    """
    ball = ball.unconditional_hull
    if isinstance(ball, Product):
        total, start = Fraction(0), 0
        for block in ball.blocks:
            part = _part(weights, start, block.dimension)
            total += largest_power_sum(block, part, power)
            start += block.dimension
        return above(total)
    K = ball.dimension
    if isinstance(ball, L2 | Ellipsoid):
        squares = _times(sides(ball), weights, 2)
        count = K if power == 1 else 1
        total = _largest_sum(squares, count)
        return root_above(total) if power == 1 else above(total)
    known = {L1: 1, LInf: K, Box: K}
    count = ball.m if isinstance(ball, AtMost) else known[type(ball)]
    return above(_largest_sum(_times(sides(ball), weights, power), count))


def _runs(ball: Product, coordinates: Sequence[int]) -> Iterator[tuple[Sensitivity, list[int]]]:
    """The blocks of a product that chosen coordinates are in, one after the other."""
    ends = list(accumulate(block.dimension for block in ball.blocks))
    for k, run in groupby(coordinates, lambda i: bisect_right(ends, i)):
        block = ball.blocks[k]
        yield block, [i - ends[k] + block.dimension for i in run]


def projected(ball: Sensitivity, coordinates: Sequence[int]) -> Sensitivity:
    """A set that holds the chosen coordinates of all differences, in the order chosen."""
    n = len(coordinates)
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


def size_in_norm(ball: Sensitivity, unit: Sensitivity) -> Fraction | float:
    """The largest norm of a set, where `unit` is the unit ball; rounded up, or infinite."""
    if ball == unit:
        return Fraction(1)
    if isinstance(unit, Product):
        ends = list(accumulate(block.dimension for block in unit.blocks))
        spans = [range(e - b.dimension, e) for b, e in zip(unit.blocks, ends, strict=True)]
        pairs = [(b, at) for b, at in zip(unit.blocks, spans, strict=True) if ball.box[at].any()]
        return max(size_in_norm(projected(ball, at), block) for block, at in pairs)
    weights = _inverse(sides(unit), sides(ball))
    if isinstance(unit, Counts) or weights is None:
        return _size_in_counts(ball, unit) if isinstance(unit, Counts) else math.inf
    if isinstance(unit, L1):
        return largest_power_sum(ball, weights, 1)
    if isinstance(unit, L2 | Ellipsoid):
        return root_above(largest_power_sum(ball, weights, 2))
    widest = _largest_sum(_times(sides(ball), weights, 1), 1)
    total = largest_power_sum(ball, weights, 1) / unit.m if isinstance(unit, AtMost) else 0
    return max(widest, total)
