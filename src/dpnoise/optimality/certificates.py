"""Certificates made of others: of blocks of coordinates, and of the heaviest coordinates.

A subvector of additive noise is additive noise for the differences of those coordinates alone.
So a product of sets has at least the sum of the blocks' bounds, and for a set whose coordinates
may be exchanged, with weights in the order w_(1) >= ... >= w_(K) and w_(K+1) = 0,

    sum w_i sigma_i^2 = sum_l (w_(l) - w_(l+1)) sum_{i <= l} sigma_(i)^2,

where each inner sum is bounded by the floor of l coordinates with weights 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.balls import L1, L2, Box, LInf
from dpnoise.sensitivity.product import Product

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity


class Certificate(Protocol):
    """What proves a lower bound on sum w_i sigma_i^2, and computes it from itself alone."""

    @property
    def method(self) -> str:
        """Kind of the bound."""
        ...

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Lower bound for a set, a budget and weights, shape (K,); 0 where it proves nothing."""
        ...


@dataclass(frozen=True)
class Blocks:
    """Certificate for a product: one per block.

    Parameters
    ----------
    parts : tuple of Certificate
        In the order of the blocks.
    """

    parts: tuple[Certificate, ...]

    @property
    def method(self) -> str:
        """Kinds of the parts' bounds."""
        return _kinds(self.parts)

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Sum of the blocks' bounds."""
        if not isinstance(sensitivity, Product) or len(self.parts) != len(sensitivity.blocks):
            return 0.0
        rows = zip(self.parts, sensitivity.blocks, sensitivity.split(weights), strict=True)
        found = [part.bound(block, epsilon, delta, share) for part, block, share in rows]
        return float(np.sum(found)) * (1.0 - 1e-12)


@dataclass(frozen=True)
class Layers:
    """Certificate for coordinates that may be exchanged: bounds for the l heaviest.

    Parameters
    ----------
    sizes : tuple of int
        Each l, falling.
    parts : tuple of Certificate
        Of l coordinates with equal weights.
    """

    sizes: tuple[int, ...]
    parts: tuple[Certificate, ...]

    @property
    def method(self) -> str:
        """Kinds of the parts' bounds."""
        return _kinds(self.parts)

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Sum over l of (w_(l) - w_(l+1)) times the bound for l coordinates."""
        unit = exchangeable(sensitivity, weights)
        if unit is None or len(self.sizes) != len(self.parts):
            return 0.0
        heavy = np.append(np.sort(unit[1])[::-1], 0.0)
        ends = np.unique(self.sizes)
        if ends.size != len(self.sizes) or ends[0] < 1 or ends[-1] >= heavy.size:
            return 0.0
        total, before = 0.0, 0.0
        # Sizes that are left out lower the weights of the others: w_(l) - w_(next l).
        for size, part in sorted(zip(self.sizes, self.parts, strict=True), reverse=True):
            rise = heavy[size - 1] - before
            before = heavy[size - 1]
            inner = subset(unit[0], size)
            total += rise * part.bound(inner, epsilon, delta, np.ones(size))
        return float(total) * (1.0 - 1e-12)


@dataclass(frozen=True)
class Inclusion:
    """Certificate from a set within: the noise hides its differences, too.

    Parameters
    ----------
    inner : Sensitivity
        An l2 ball within the set.
    part : Certificate
        For that ball.
    """

    inner: L2
    part: Certificate

    @property
    def method(self) -> str:
        """Kind of the bound used."""
        return f"l2 ball within, {self.part.method}"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Bound for the ball, if it lies within the set."""
        if not isinstance(sensitivity, AtMost) or self.inner.of != sensitivity.of:
            return 0.0
        if self.inner.radius > inner_radius(sensitivity):
            return 0.0
        return self.part.bound(self.inner, epsilon, delta, weights)


@dataclass(frozen=True)
class Subsets:
    """Certificate for at most m of K coordinates, or for a cube: any k <= m may move at once.

    Averaged over all subsets of k coordinates, sum sigma_i^2 is K / k times the floor of a cube
    of k coordinates.

    Parameters
    ----------
    inner : LInf
        The cube of k coordinates.
    part : Certificate
        For that cube with equal weights.
    """

    inner: LInf
    part: Certificate

    @property
    def method(self) -> str:
        """Kind of the bound used."""
        return f"cube of a subset, {self.part.method}"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Sum of the weights over k, times the bound for the cube; 0 for unequal weights."""
        K = sensitivity.dimension
        if isinstance(sensitivity, AtMost):
            most, side = sensitivity.m, sensitivity.each
        elif isinstance(sensitivity, LInf):
            most, side = K, sensitivity.radius
        else:
            return 0.0
        if self.inner.of > most or self.inner.radius > side or not np.all(weights == weights[0]):
            return 0.0
        share = float(weights[0]) * K / self.inner.of
        return share * self.part.bound(self.inner, epsilon, delta, np.ones(self.inner.of))


def _kinds(parts: tuple[Certificate, ...]) -> str:
    """Methods of several certificates, each named once."""
    return " + ".join(dict.fromkeys(part.method for part in parts))


def inner_radius(sensitivity: AtMost) -> float:
    """Radius of the largest l2 ball within the set, rounded down."""
    share = min(1.0, sensitivity.m / math.sqrt(sensitivity.of))
    return sensitivity.each * share * (1.0 - 1e-15)


def exchangeable(sensitivity: Sensitivity, weights: Array) -> tuple[Sensitivity, Array] | None:
    """An equivalent problem whose coordinates may be exchanged, if there is one.

    A box becomes the unit cube of its active coordinates when each is divided by its
    sensitivity, with weights w_i lambda_i^2.
    """
    if isinstance(sensitivity, Box | LInf):
        sides = sensitivity.box
        active = sides > 0.0
        return LInf(1.0, int(np.count_nonzero(active))), (weights * sides**2)[active]
    if isinstance(sensitivity, L1 | L2 | AtMost):
        return sensitivity, weights
    return None


def subset(sensitivity: Sensitivity, size: int) -> Sensitivity:
    """The differences of `size` coordinates of a set whose coordinates may be exchanged."""
    if isinstance(sensitivity, AtMost):
        return AtMost(min(sensitivity.m, size), size, sensitivity.each)
    if isinstance(sensitivity, L1 | L2 | LInf):
        return type(sensitivity)(sensitivity.radius, size)
    message = f"coordinates of {sensitivity!r} may not be exchanged"
    raise TypeError(message)
