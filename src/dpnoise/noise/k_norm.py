"""K-norm noise: vectors whose density falls exponentially in a norm.

Hardt & Talwar, "On the geometry of differential privacy" (STOC 2010). The density at x is
exp(-||x|| / scale) / (K! scale^K V), V the volume of the unit ball in K dimensions. With
scale = sensitivity / epsilon, the sensitivity being in the same norm, it is epsilon-private.
The norm of a draw has the gamma distribution with shape K.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from scipy import special

from dpnoise._validation import Problems, is_integer
from dpnoise.noise._arrays import draws, points
from dpnoise.noise.laplace import Laplace
from dpnoise.noise.rational import as_double_above

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array


class Spherical(NamedTuple):
    """K-norm noise in the l2 norm, or that of an ellipsoid, for a sensitivity of 1 in that norm.

    Attributes
    ----------
    dimension : int
        The number K of coordinates, above 1.
    scale : Fraction
        The scale.
    """

    dimension: int
    scale: Fraction


@dataclass(frozen=True)
class KNorm:
    """K-norm noise for the l1, l2 or l-infinity norm.

    Parameters
    ----------
    norm : {1, 2, inf}
        The norm. 1 is independent Laplace noise in each coordinate.
    dimension : int
        The number K of coordinates, positive.
    scale : float
        The scale, positive.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    norm: float
    dimension: int
    scale: float

    def __post_init__(self) -> None:
        """Check of the parameters, stored as float, int and float."""
        problems = Problems("K-norm noise")
        known = isinstance(self.norm, Real | float) and not isinstance(self.norm, bool)
        known = known and self.norm in (1, 2, math.inf)
        problems.require(known, "norm", "1, 2 or inf", self.norm)
        positive = is_integer(self.dimension) and self.dimension > 0
        problems.require(positive, "dimension", "a positive integer", self.dimension)
        problems.number("scale", self.scale, low=0.0, open_low=True)
        problems.raise_if_any()
        object.__setattr__(self, "norm", float(self.norm))
        object.__setattr__(self, "dimension", int(self.dimension))
        object.__setattr__(self, "scale", float(self.scale))

    def scaled(self, factor: float) -> Self:
        """The distribution of `factor` * X, for a positive factor."""
        problems = Problems(f"scaling {self!r}")
        problems.number("factor", factor, low=0.0, open_low=True)
        problems.raise_if_any()
        return type(self)(self.norm, self.dimension, factor * self.scale)

    def dominating(self, size: Fraction) -> tuple[Laplace, float] | Spherical:
        """What dominates this noise at a sensitivity in its norm.

        Noise of one number with its sensitivity, exactly as private for the l1 and the l-infinity
        norm (docs/joint-noise.md, section 4); the noise itself for the l2 norm.
        """
        if self.norm == 2.0 and self.dimension > 1:
            return Spherical(self.dimension, Fraction(self.scale) / size)
        return Laplace(self.scale), as_double_above(size)

    def _log_ball(self) -> float:
        """The logarithm of the volume of the unit ball."""
        K = self.dimension
        if self.norm == 2.0:
            return 0.5 * K * math.log(math.pi) - math.lgamma(0.5 * K + 1.0)
        cube = K * math.log(2.0)
        return cube if self.norm == math.inf else cube - math.lgamma(K + 1.0)

    def logpdf(self, x: ArrayLike) -> Array:
        """The log density at vectors `x`, shape (..., K), of shape (...); refuses others."""
        x = points(self, "x", x)
        problems = Problems(f"log density of {self!r}")
        shape = f"a last axis of length {self.dimension}"
        problems.require(x.ndim > 0 and x.shape[-1] == self.dimension, "shape of x", shape, x.shape)
        problems.raise_if_any()
        # By the largest coordinate first, so that no square is beyond doubles.
        most = np.max(np.abs(x), axis=-1)
        unit = np.where(most > 0.0, most, 1.0)[..., None]
        with np.errstate(over="ignore", invalid="ignore"):  # -inf at infinity
            ratio = x / unit
            size = np.linalg.norm(ratio, ord=self.norm, axis=-1) * (most / self.scale)
        size = np.where(np.isinf(most), math.inf, size)
        K = self.dimension
        return -size - math.lgamma(K + 1.0) - K * math.log(self.scale) - self._log_ball()

    def pdf(self, x: ArrayLike) -> Array:
        """The density at vectors `x`, shape (..., K); the result has shape (...)."""
        with np.errstate(over="ignore"):
            return np.exp(self.logpdf(x))

    def rvs(
        self,
        size: int | tuple[int, ...] | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> Array:
        """Independent random vectors, shape (*size, K); arguments as for `Noise.rvs`."""
        lead, rng = draws(self, size, random_state)
        shape = (*lead, self.dimension)
        with np.errstate(over="ignore"):  # infinite beyond all doubles
            if self.norm == 1.0:
                return self.scale * rng.laplace(size=shape)
            if self.norm == 2.0:
                way = rng.standard_normal(shape)
                way /= np.linalg.norm(way, axis=-1, keepdims=True)
                return self.scale * rng.standard_gamma(self.dimension, (*lead, 1)) * way
            # A uniform point of the unit cube, blown up by a gamma variate of shape K + 1.
            reach = self.scale * rng.standard_gamma(self.dimension + 1.0, (*lead, 1))
            return reach * rng.uniform(-1.0, 1.0, shape)

    def var(self) -> float:
        """The variance of each coordinate."""
        K = self.dimension
        factor = {1.0: 2.0, 2.0: K + 1.0, math.inf: (K + 1.0) * (K + 2.0) / 3.0}[self.norm]
        return self.scale * (self.scale * factor)

    def std(self) -> float:
        """The standard deviation of each coordinate."""
        return math.sqrt(self.var())

    def mean_abs(self) -> float:
        """E|X_i| for each coordinate."""
        K = self.dimension
        if self.norm == 2.0:
            # E R = K scale, times the mean |coordinate| of a uniform direction
            return self.scale * K / (math.sqrt(math.pi) * float(special.poch(0.5 * K, 0.5)))
        return self.scale * (1.0 if self.norm == 1.0 else 0.5 * (K + 1.0))
