"""Rational arithmetic behind the largest weighted power sum over a sensitivity set, rounded up.

The doubles that describe a set are taken as the rational numbers that they are. Sums keep 192
binary digits; `Sensitivity.l1` and the like are rounded to nearest and not used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

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


def powers(first: Weights, second: Weights, power: int) -> Weights:
    """(first * second)^power, coordinate by coordinate."""
    if isinstance(first, Fraction) and isinstance(second, Fraction):
        return (first * second) ** power
    pair = (first, second)
    n = next(len(one) for one in pair if not isinstance(one, Fraction))
    left, right = ([one] * n if isinstance(one, Fraction) else one for one in pair)
    return [above((x * y) ** power) for x, y in zip(left, right, strict=True)]


def largest_sum(values: Weights, count: int) -> Fraction:
    """The sum of the `count` largest of some values."""
    if isinstance(values, Fraction):
        return count * values
    return sum(sorted(values)[-count:], Fraction(0))
