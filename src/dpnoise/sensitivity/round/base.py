"""Ellipsoids {R u : |u| <= 1}: what follows from the linear map R alone.

With M = R R' the norm is (x' M^-1 x)^(1/2), the support function (a' M a)^(1/2), the largest
change of a coordinate the root of M_ii, and E Z Z' = M / (K + 2) for a uniform point Z, K the
number of axes of positive length. Gaussian noise sigma R z, with z standard normal, has the
covariance sigma^2 M: a difference d then has mu = norm(d) / sigma.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise._validation import Problems
from dpnoise.sensitivity.balls import L2
from dpnoise.sensitivity.base import Sensitivity

if TYPE_CHECKING:
    from fractions import Fraction

    from dpnoise._types import Array

OUTWARD = 1.0 + 2.0**-44  # more than the rounding of what is computed in doubles


class RoundSet(Sensitivity):
    """An ellipsoid whose axes need not be those of the coordinates."""

    is_round = True
    attains = False  # its largest sums are irrational, and rounded up

    @property
    @abstractmethod
    def rank(self) -> int:
        """The number of axes of positive length."""

    @property
    @abstractmethod
    def log_axes(self) -> float:
        """The logarithm of the product of the positive lengths of the axes."""

    @property
    @abstractmethod
    def covariance(self) -> Array:
        """The matrix M = R R', shape (K, K)."""

    @property
    @abstractmethod
    def diagonal(self) -> Array:
        """The diagonal of M, shape (K,)."""

    @property
    @abstractmethod
    def spread(self) -> float:
        """A bound on the sum of |R_ij| over j by the root of M_ii, for every i."""

    @abstractmethod
    def image(self, z: Any, number: Any = float) -> Any:  # noqa: ANN401  (doubles or balls)
        """The vectors R z, shape (..., K); `number` makes constants of the kind of the entries."""

    @abstractmethod
    def largest_norm_of(self, ball: Sensitivity) -> Fraction | float:
        """The largest norm of a difference of another set, rounded up; it may be infinite."""

    @abstractmethod
    def is_exact_for(self, ball: Sensitivity) -> bool:
        """Whether a difference of the other set has the norm `largest_norm_of`."""

    @property
    def smallest_ellipsoid(self) -> RoundSet:
        """The set itself."""
        return self.geometry

    def _unsigned(self, x: Array) -> Array:
        """The vectors as they are: signs matter."""
        return x

    @property
    def box(self) -> Array:
        """The largest |d_i|, rounded up, shape (K,)."""
        return OUTWARD * np.sqrt(self.diagonal)

    def _require_volume(self) -> None:
        """Refusal of what needs a volume."""
        problems = Problems("noise in the norm of a sensitivity set")
        problems.require(not self.flat, "sensitivity", f"a set with a volume ({self.flat})", self)
        problems.raise_if_any()

    @property
    def log_volume(self) -> float:
        """The logarithm of the volume."""
        self._require_volume()
        return L2(1.0, self.rank).log_volume + self.log_axes

    @property
    def mean_square(self) -> Array:
        """E Z_i^2 for Z uniform in the set, shape (K,)."""
        return self.diagonal / (self.rank + 2.0)

    @property
    def mean_abs(self) -> Array:
        """E|Z_i| for Z uniform in the set, shape (K,)."""
        return np.sqrt(self.diagonal) * L2(1.0, self.rank).mean_abs[0]

    @property
    def unconditional_core(self) -> None:
        """None: none is known."""
        return

    def _sample(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Uniform points, shape (*size, K)."""
        self._require_volume()
        found: Array = self.image(L2(1.0, self.dimension).sample(size, rng))
        return found
