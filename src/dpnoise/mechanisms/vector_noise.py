"""Noise for vectors: independent coordinates, and independent blocks of coordinates.

Both have the methods of `dpnoise.joint.noise.JointNoise`; moments have shape (K,). A coordinate
that cannot change gets no noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dpnoise._equality import EqualByValue
from dpnoise.noise._arrays import draws, points
from dpnoise.privacy.odometer.in_set import independent_ledger
from dpnoise.privacy.odometer.ledger import Ledger
from dpnoise.sensitivity.largest_entry import mean_of_largest
from dpnoise.sensitivity.sizes import projected

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from dpnoise._types import Array, IntArray, WordArray
    from dpnoise.noise.base import Noise
    from dpnoise.sensitivity.base import Sensitivity

    Seed = int | np.random.Generator | None
    Size = int | tuple[int, ...] | None


class VectorNoise(Protocol):
    """Distribution of vectors of K coordinates."""

    @property
    def dimension(self) -> int:
        """The number K of coordinates."""

    def rvs(self, size: Size = None, random_state: Seed = None) -> Array | WordArray:
        """Independent random vectors, shape (*size, K)."""

    def var(self) -> Array:
        """The variance of each coordinate, shape (K,)."""

    def spending_in(self, ball: Sensitivity) -> Ledger | None:
        """What one release costs a `Budget`, for a set; None if that is not known."""


class RealVectorNoise(VectorNoise, Protocol):
    """Distribution of vectors of K real numbers."""

    def rvs(self, size: Size = None, random_state: Seed = None) -> Array:
        """Independent random vectors, shape (*size, K)."""

    def logpdf(self, x: ArrayLike) -> Array:
        """The log density in the coordinates with noise."""


@dataclass(frozen=True, eq=False)
class IndependentNoise(EqualByValue):
    """Independent noise of one shape, by coordinate as wide as `scales`.

    Parameters
    ----------
    unit : Noise
        The noise of a coordinate of scale 1.
    scales : numpy.ndarray, shape (K,)
        The scales; 0 for no noise.
    """

    unit: Noise
    scales: Array

    def __repr__(self) -> str:
        """The noise and the range of its scales."""
        low, high = float(np.min(self.scales)), float(np.max(self.scales))
        scales = f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
        return f"IndependentNoise({self.unit!r}, scales={scales}, dimension={self.dimension})"

    @property
    def dimension(self) -> int:
        """The number K of coordinates."""
        return self.scales.size

    def spending_in(self, ball: Sensitivity) -> Ledger | None:
        """What one release costs a `Budget`, for a set; None if that is not known."""
        return independent_ledger(self.unit, self.scales, ball)

    def rvs(self, size: Size = None, random_state: Seed = None) -> Array:
        """Independent random vectors, shape (*size, K); arguments as for `Noise.rvs`."""
        lead, rng = draws(self, size, random_state)
        return self.scales * self.unit.rvs((*lead, self.dimension), rng)

    def logpdf(self, x: ArrayLike) -> Array:
        """The log density at vectors `x`, shape (..., K), of shape (...)."""
        x = points(self, "x", x)
        some = self.scales > 0.0
        outside = np.any(x[..., ~some] != 0.0, axis=-1)
        each = self.unit.logpdf(x[..., some] / self.scales[some]) - np.log(self.scales[some])
        return np.where(outside, -np.inf, np.sum(each, axis=-1))[()]

    def var(self) -> Array:
        """The variance of each coordinate, shape (K,)."""
        with np.errstate(over="ignore"):  # infinite beyond all doubles
            return self.scales * (self.scales * self.unit.var())

    def mean_abs(self) -> Array:
        """E|X_i|, shape (K,)."""
        return self.scales * self.unit.mean_abs()

    def mean_largest(self, weights: Array) -> float:
        """E max w_i |X_i|."""
        scales = weights * self.scales
        if np.count_nonzero(scales) == 1:
            return float(np.max(scales)) * self.unit.mean_abs()
        return mean_of_largest(lambda t: 2.0 * self.unit.sf(t), scales)

    def half_width(self, level: float = 0.95) -> Array:
        """The h_i with P(|X_i| <= h_i) = level, shape (K,)."""
        return self.scales * float(self.unit.isf(0.5 * (1.0 - level)))


@dataclass(frozen=True, eq=False)
class BlockNoise(EqualByValue):
    """Independent noise for blocks of coordinates, each with a joint distribution of its own.

    Parameters
    ----------
    blocks : tuple of (numpy.ndarray, VectorNoise)
        Which coordinates a block has, and its noise.
    dimension : int
        The number K of all coordinates; those in no block get no noise.
    """

    blocks: tuple[tuple[IntArray, RealVectorNoise], ...]
    dimension: int

    def __repr__(self) -> str:
        """The sizes of the blocks."""
        sizes = [indices.size for indices, _ in self.blocks]
        return f"BlockNoise(sizes={sizes}, dimension={self.dimension})"

    def spending_in(self, ball: Sensitivity) -> Ledger | None:
        """What one release costs a `Budget`, for a set: all blocks together; None if not known."""
        covered = np.zeros(self.dimension, dtype=bool)
        for indices, _ in self.blocks:
            covered[indices] = True
        if ball.dimension != self.dimension or bool(np.any(ball.active & ~covered)):
            message = f"budget: noise: expected some for each coordinate of {ball!r}, got {self!r}"
            raise ValueError(message)
        total, more = Ledger(), set()
        for indices, noise in self.blocks:
            part = noise.spending_in(projected(ball.geometry, indices.tolist()))
            if part is None:
                return None
            total = total.plus(part, 1)
            more |= {part.counted_as} - {""}
        return replace(total, counted_as=" and ".join(sorted(more)))

    def rvs(self, size: Size = None, random_state: Seed = None) -> Array:
        """Independent random vectors, shape (*size, K); arguments as for `Noise.rvs`."""
        lead, rng = draws(self, size, random_state)
        x = np.zeros((*lead, self.dimension))
        for indices, noise in self.blocks:
            x[..., indices] = noise.rvs(lead, rng)
        return x

    def logpdf(self, x: ArrayLike) -> Array:
        """The log density at vectors `x`, shape (..., K), of shape (...)."""
        x = points(self, "x", x)
        rest = np.setdiff1d(np.arange(self.dimension), np.concatenate([i for i, _ in self.blocks]))
        total = np.where(np.any(x[..., rest] != 0.0, axis=-1), -np.inf, 0.0)
        for indices, noise in self.blocks:
            total = total + noise.logpdf(x[..., indices])
        return total[()]

    def per_coordinate(self, moment: Callable[[RealVectorNoise], Array]) -> Array:
        """A moment of each coordinate, shape (K,), from those of the blocks."""
        values = np.zeros(self.dimension)
        for indices, noise in self.blocks:
            values[indices] = moment(noise)
        return values

    def var(self) -> Array:
        """The variance of each coordinate, shape (K,)."""
        return self.per_coordinate(lambda noise: noise.var())
