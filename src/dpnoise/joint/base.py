"""Noise whose density falls with the norm of a sensitivity set.

Every such density is a mixture of uniform ones on the multiples t D of the set: X = T Z with Z
uniform in D and the *layer* T independent of it. Moments and samples follow from those of T.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np

from dpnoise.noise._arrays import draws
from dpnoise.privacy.odometer.releases import dominated_ledger
from dpnoise.sensitivity.base import Sensitivity
from dpnoise.sensitivity.sizes import size_in_norm

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise._validation import Problems
    from dpnoise.noise.base import Noise
    from dpnoise.noise.vectors import Spherical
    from dpnoise.privacy.odometer.ledger import Ledger


def check_ball(problems: Problems, ball: object) -> None:
    """Record of a problem unless `ball` is a sensitivity set with a volume."""
    good = isinstance(ball, Sensitivity)
    problems.require(good, "ball", "a sensitivity set such as Box or L2", ball)
    if isinstance(ball, Sensitivity):
        problems.require(not ball.flat, "ball", f"a set with a volume ({ball.flat})", ball)


class JointNoise(ABC):
    """Noise for K coordinates with a density that falls with a norm.

    Attributes
    ----------
    ball : Sensitivity
        The unit ball of the norm. Coordinates that cannot change get no noise.
    """

    ball: Sensitivity

    @abstractmethod
    def _log_radial(self, r: Array) -> Array:
        """The log density, in the active coordinates, at points of norm `r`."""

    @abstractmethod
    def _layer(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Draws of T."""

    @abstractmethod
    def layer_moment(self, order: int) -> float:
        """E T^order."""

    @abstractmethod
    def scaled(self, factor: float) -> Self:
        """The distribution of `factor` X, for a positive factor."""

    def dominating(
        self,
        size: Fraction,  # noqa: ARG002
    ) -> tuple[Noise, float] | Spherical | Fraction | None:
        """What dominates this noise for the set `size` times its ball, None if that is not known.

        Noise of one number with its sensitivity, K-norm noise in an l2 norm, or a pure epsilon.
        """
        return None

    def spending_in(self, ball: Sensitivity) -> Ledger | None:
        """What one release costs a `Budget`, for a set; None if that is not known.

        A ValueError is raised if the noise protects no multiple of the set, or has other
        coordinates.
        """
        fits = ball.dimension == self.dimension
        size = size_in_norm(ball.geometry, self.ball) if fits else math.inf
        if size == math.inf:
            message = f"budget: noise: expected some for each coordinate of {ball!r}, got {self!r}"
            raise ValueError(message)
        return dominated_ledger(self, Fraction(size))

    @property
    def dimension(self) -> int:
        """The number K of coordinates."""
        return self.ball.dimension

    def logpdf(self, x: ArrayLike) -> Array:
        """The log density at vectors `x`, shape (..., K), of shape (...)."""
        r = np.asarray(self.ball.norm(x))
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return np.where(np.isinf(r), -np.inf, self._log_radial(r))[()]

    def pdf(self, x: ArrayLike) -> Array:
        """The density at vectors `x`, shape (..., K); the result has shape (...)."""
        with np.errstate(over="ignore"):
            return np.exp(self.logpdf(x))

    def rvs(
        self,
        size: int | tuple[int, ...] | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> Array:
        """Independent random vectors.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape; one vector by default.
        random_state : int or numpy.random.Generator, optional
            A seed or a generator; by default a stream seeded by the operating system.

        Returns
        -------
        numpy.ndarray, shape (*size, K)
        """
        lead, rng = draws(self, size, random_state)
        layer = np.asarray(self._layer(lead, rng))
        return layer[..., None] * self.ball.sample(lead, rng)

    def var(self) -> Array:
        """The variance of each coordinate, shape (K,)."""
        return self.layer_moment(2) * self.ball.mean_square

    def mean_abs(self) -> Array:
        """E|X_i| for each coordinate, shape (K,)."""
        return self.layer_moment(1) * self.ball.mean_abs

    def mean_largest(self, weights: Array) -> float | None:
        """E max w_i |X_i|; None where no formula is known."""
        unit = self.ball.plain.mean_largest(weights)
        return None if unit is None else self.layer_moment(1) * unit

    def mean_norm(self) -> float:
        """The mean of the norm of X whose unit ball is the set: that of Z is K / (K + 1)."""
        K = self.ball.active_dimension
        return self.layer_moment(1) * (K / (K + 1.0))

    def std(self) -> Array:
        """The standard deviation of each coordinate, shape (K,)."""
        return np.sqrt(self.var())
