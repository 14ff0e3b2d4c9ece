"""Integer points of sensitivity sets: differences between answers that are integers.

Answers that are integers differ by integers, so that noise on the integers has to hide only the
integers among the differences. Of each set with whole-number sizes these are, up to signs, in its
coordinates or in blocks of them, of the form

    {d in Z^n : |d_i| <= c, |d_1|^p + ... + |d_n|^p <= m c^p},   p = 0, 1 or 2 and 0^0 = 0,

an `IntegerPart`: the l1 and l2 ball have m = 1, a cube m = n, 'at most m counts' p = 0, for which
the sum is the number of entries other than 0. Noise that falls with |k| is less private for larger
|d_i|, so that only maximal points count: those of which no entry can grow. Up to signs and the
order of the coordinates they are lists of sizes.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise._validation import Problems

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dpnoise._types import IntArray
    from dpnoise.sensitivity.base import Sensitivity

    Sizes = tuple[tuple[int, int], ...]  # size and number of the coordinates that have it

LARGEST_SIZE = 2**30
_MOST_STEPS = 20_000  # of the search for maximal points
_SHOWN = 3


class IntegerPart(NamedTuple):
    """Coordinates of a set that share one bound, in whole numbers.

    Attributes
    ----------
    at : numpy.ndarray of int, shape (n,)
        Which coordinates.
    largest : int
        c, the largest change of one of them.
    power : int
        p, 0, 1 or 2.
    at_once : int
        m, how many of them can change by c at once.
    """

    at: IntArray
    largest: int
    power: int
    at_once: int

    @property
    def total(self) -> int:
        """The largest sum of |d_i|^p."""
        return self.at_once * self.largest**self.power

    @property
    def squares(self) -> int:
        """The largest sum of squares, of m coordinates that change by c."""
        return self.at_once * self.largest**2

    def steps(self, width: int = 1) -> int:
        """The largest sum of ceil(|d_i| / width) over the integer points.

        The first step of a coordinate takes a change by 1, the next ones by `width` more. Steps
        cost more of the total from one to the next, so that the cheapest ones are the most: all
        first steps before all second ones.
        """
        n, p, top = self.at.size, self.power, -(-self.largest // width)
        if p == 0:
            return min(self.at_once, n) * top
        root = self.total // n if p == 1 else math.isqrt(self.total // n)
        each = min((root - 1) // width + 1, top)  # of every coordinate, 0 if root is 0
        if each == top:
            return n * top

        def reach(steps: int) -> int:
            return ((steps - 1) * width + 1) ** p if steps else 0

        rest = self.total - n * reach(each)
        return n * each + rest // (reach(each + 1) - reach(each))

    def maximal(self, most: int) -> list[Sizes] | None:
        """The sizes of all maximal points, None if there are more than `most` or they take long."""
        if self.power == 0:
            return [((self.largest, min(self.at_once, self.at.size)),)]
        found: list[Sizes] = []
        try:
            for sizes in self._search(self.largest, self.total, self.at.size, [_MOST_STEPS]):
                found.append(sizes)
                if len(found) > most:
                    return None
        except _TooLongError:
            return None
        return found

    def _search(self, limit: int, rest: int, n: int, steps: list[int]) -> Iterator[Sizes]:
        """Maximal ways to give `n` coordinates sizes up to a limit, of a total of `rest`."""
        p = self.power
        if rest == 0 or n == 0:
            yield ()
            return
        top = min(limit, rest if p == 1 else math.isqrt(rest))
        for size in range(top, 0, -1):
            steps[0] -= 1
            if steps[0] < 0:
                raise _TooLongError
            cost = size**p
            # With this size everywhere, what is left could still make one of them larger.
            if size < self.largest and rest - n * cost >= (size + 1) ** p - cost:
                return
            for count in range(min(n, rest // cost), 0, -1):
                left = rest - count * cost
                for more in self._search(size - 1, left, n - count, steps):
                    smallest = more[-1][0] if more else size
                    spare = left - sum(k * s**p for s, k in more)
                    full = count + sum(k for _, k in more) == n
                    cheapest = (smallest + 1) ** p - smallest**p if full else 1
                    if spare < cheapest or smallest == self.largest:
                        yield ((size, count), *more)


class _TooLongError(RuntimeError):
    """More steps than are taken."""


def _whole_parts(ball: Sensitivity) -> list[tuple[IntArray, float, int, int]] | None:
    """Blocks {|d_i| <= c, sum |d_i|^p <= m c^p} of which the |d_i| are; None if not known.

    Of each the coordinates, c, p and m. With p = 0 at most m of the d_i are not 0.
    """
    found: list[tuple[IntArray, float, int, int]] = []
    for first, factor in ball.factors():
        true, sides, K = factor.differences, factor.box, factor.dimension
        every = first + np.arange(K)
        if true is not None and true.listed:
            return None
        if true is not None:
            found.append((every, true.size, 0, true.moved))
        elif factor.body.cut == K:
            each = np.unique(sides).tolist()
            groups = [every[sides == size] for size in each]
            found += [(at, size, 1, at.size) for at, size in zip(groups, each, strict=True)]
        elif factor.ball_radius(1.0) or factor.ball_radius(2.0):
            found.append((every, float(sides[0]), 2 if factor.ball_radius(2.0) else 1, 1))
        else:
            return None
    return found


def read_parts(problems: Problems, ball: Sensitivity) -> list[IntegerPart]:
    """The parts of a set for answers that are integers; what has none is recorded."""
    parts = _whole_parts(ball)
    if parts is None:
        problems.add(
            "sensitivity: expected a set whose integer points are known (L1, L2, LInf, Box, AtMost "
            "and products of these; a box around any set is Box(np.ceil(set.box))) for "
            f"integers, got {ball!r}"
        )
        return []
    sizes = sorted({float(size) for _, size, _, _ in parts})
    bad = [size for size in sizes if not (size.is_integer() and 1 <= size <= LARGEST_SIZE)]
    if bad:
        some = ", ".join(map(repr, bad[:_SHOWN])) + ", ..." * (len(bad) > _SHOWN)
        problems.add(
            f"sensitivity: expected whole numbers from 1 to {LARGEST_SIZE} for integers (rounding "
            f"up is safe; leave out coordinates that cannot change), got {some} in {ball!r}"
        )
        return []
    return [IntegerPart(at, int(size), power, many) for at, size, power, many in parts]


def parts_of_set(ball: Sensitivity) -> list[IntegerPart]:
    """The parts of a set; ValueError if it has no meaning for integers."""
    problems = Problems("noise on the integers")
    parts = read_parts(problems, ball)
    problems.raise_if_any()
    return parts


def maximal_points(parts: Sequence[IntegerPart], most: int) -> list[tuple[Sizes, ...]] | None:
    """For each maximal point of a whole set the sizes in each part; None if they are too many."""
    each = []
    number = 1
    for part in parts:
        found = part.maximal(most)
        number *= len(found) if found is not None else most + 1
        if found is None or number > most:
            return None
        each.append(found)
    return list(product(*each))
