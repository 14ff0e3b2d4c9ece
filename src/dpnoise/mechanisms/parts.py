"""The parts of a sensitivity set that one person moves independently of each other.

A product has those of its factors; every coordinate of a box is one; any other set is one as a
whole. Coordinates that cannot change belong to none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.sensitivity.balls import Box, LInf
from dpnoise.sensitivity.product import Product

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpnoise._types import Array, IntArray
    from dpnoise.sensitivity.base import Sensitivity


class Parts(NamedTuple):
    """Parts of a set, n in all, in the order of their coordinates.

    Attributes
    ----------
    first, sizes : numpy.ndarray, shape (n,)
        The first coordinate of each and the number of its coordinates, which follow one another.
    l1, l2 : numpy.ndarray, shape (n,)
        The largest l1 and l2 norm of each.
    blocks : dict
        The set of each part that is no single coordinate of a box, by its first coordinate.
    box : numpy.ndarray, shape (K,)
        The largest change of each coordinate.
    shape : numpy.ndarray, shape (K,)
        Scales of Gaussian noise within each part, at most 1: the axes of an ellipsoid over the
        longest of them, else 1.
    """

    first: IntArray
    sizes: IntArray
    l1: Array
    l2: Array
    blocks: dict[int, Sensitivity]
    box: Array
    shape: Array

    def sums(self, values: Array) -> Array:
        """Sums over the coordinates of each part, shape (n,)."""
        totals = np.concatenate([[0.0], np.cumsum(values)])
        many = totals[self.first + self.sizes] - totals[self.first]
        return np.where(self.sizes == 1, values[self.first], many)

    def indices(self, some: IntArray) -> IntArray:
        """The coordinates of some parts, part by part."""
        return np.concatenate([np.arange(n, n + k) for n, k in self._spans(some)])

    def _spans(self, some: IntArray) -> Iterator[tuple[int, int]]:
        """First coordinate and size of some parts."""
        return zip(self.first[some].tolist(), self.sizes[some].tolist(), strict=True)

    def ball(self, some: IntArray) -> Sensitivity:
        """The product of some parts, its coordinates in the order of `indices`."""
        if not any(n in self.blocks for n in self.first[some].tolist()):
            sides = self.box[self.first[some]]
            alike = float(np.ptp(sides)) == 0.0
            return LInf(float(sides[0]), sides.size) if alike else Box(tuple(sides.tolist()))
        balls = [self.blocks.get(n) or LInf(float(self.box[n])) for n in self.first[some].tolist()]
        return balls[0] if len(balls) == 1 else Product(*balls)

    def spread(self, values: Array) -> Array:
        """One value per part, given to each of its coordinates; 0 elsewhere, shape (K,)."""
        spread = np.zeros(self.box.size)
        spread[self.indices(np.arange(self.first.size))] = np.repeat(values, self.sizes)
        return spread


def parts_of(ball: Sensitivity) -> Parts:
    """The parts of a set."""
    first, sizes, l1, l2 = [], [], [], []
    blocks = {}
    shape = np.ones(ball.dimension)
    for start, factor in ball.factors():
        if factor.moves_apart:
            some = np.flatnonzero(factor.active)
            sides = factor.box[some]
            first.append(start + some)
            sizes.append(np.ones(some.size, dtype=np.intp))
            l1.append(sides)
            l2.append(sides)
        else:
            blocks[start] = factor
            shape[start : start + factor.dimension] = factor.relative_axes
            first.append(np.array([start]))
            sizes.append(np.array([factor.dimension]))
            l1.append(np.array([factor.l1]))
            l2.append(np.array([factor.l2]))
    return Parts(
        np.concatenate(first),
        np.concatenate(sizes),
        np.concatenate(l1),
        np.concatenate(l2),
        blocks,
        ball.box,
        shape,
    )


def coordinate_kinds(ball: Sensitivity) -> IntArray:
    """For each coordinate of joint noise in the norm of a set its kind, -1 if it never changes.

    In units of their standard deviations, coordinates of boxes are distributed alike, and those
    of any other factor among themselves.
    """
    parts = parts_of(ball)
    kind = np.where(parts.sizes == 1, 0, np.arange(parts.sizes.size) + 1)
    kinds = np.full(ball.dimension, -1)
    kinds[parts.indices(np.arange(parts.sizes.size))] = np.repeat(kind, parts.sizes)
    return kinds
