"""Noise of vectors whose coordinates depend on each other: K-norm and Gaussian noise.

*K-norm* noise: vectors whose density falls exponentially in a norm. Hardt & Talwar, "On the
geometry of differential privacy" (STOC 2010). The density at x is
exp(-||x|| / scale) / (K! scale^K V), V the volume of the unit ball in K dimensions. With
scale = sensitivity / epsilon, the sensitivity being in the same norm, it is epsilon-private.
The norm of a draw has the gamma distribution with shape K.

*Gaussian* noise with any covariance has the privacy of one number (docs/joint-noise.md). The noise
sigma R z, with z standard normal and {R u : |u| <= 1} an ellipsoid, has the covariance sigma^2 R
R'. A difference d moves it by mu = norm(d) / sigma standard deviations in the norm of the
ellipsoid, and everything else is noise without a shift: its privacy is the profile of Gaussian
noise at the largest mu of the set.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import special

from dpnoise._validation import Problems, check_factor, draws, is_integer
from dpnoise.joint.base import ROUNDED_UP, JointNoise
from dpnoise.joint.noise import Radial
from dpnoise.noise.exact import as_double_above
from dpnoise.noise.exponential_power import Gaussian
from dpnoise.privacy.accounts import GAUSSIAN, Bounds, gaussian_delta
from dpnoise.sensitivity.balls import L1, L2, LInf
from dpnoise.sensitivity.spheroid import RoundSet

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity


@dataclass(frozen=True)
class KNorm(Radial):
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
    dimension: int = field()
    scale: float

    power = 1.0
    bound = math.inf

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

    @cached_property
    def ball(self) -> Sensitivity:  # type: ignore[override]
        """The unit ball of the norm."""
        kind = {1.0: L1, 2.0: L2}.get(self.norm, LInf)
        return kind(1.0, self.dimension)

    def scaled(self, factor: float) -> Self:
        """The distribution of `factor` * X, for a positive factor."""
        check_factor(self, factor)
        return type(self)(self.norm, self.dimension, factor * self.scale)

    def var(self) -> float:  # type: ignore[override]  # one number: all are alike
        """The variance of each coordinate."""
        K = self.dimension
        factor = {1.0: 2.0, 2.0: K + 1.0, math.inf: (K + 1.0) * (K + 2.0) / 3.0}[self.norm]
        return self.scale * (self.scale * factor)

    def std(self) -> float:  # type: ignore[override]  # one number: all are alike
        """The standard deviation of each coordinate."""
        return math.sqrt(self.var())

    def mean_abs(self) -> float:  # type: ignore[override]  # one number: all are alike
        """E|X_i| for each coordinate."""
        K = self.dimension
        if self.norm == 2.0:
            # E R = K scale, times the mean |coordinate| of a uniform direction
            return self.scale * K / (math.sqrt(math.pi) * float(special.poch(0.5 * K, 0.5)))
        return self.scale * (1.0 if self.norm == 1.0 else 0.5 * (K + 1.0))


@dataclass(frozen=True)
class CorrelatedGaussian(JointNoise):
    """Gaussian noise of covariance sigma^2 M for an ellipsoid {d : d' M^-1 d <= 1}.

    Its privacy for a sensitivity set is the profile of Gaussian noise of one number at
    mu = max (d' M^-1 d)^(1/2) / sigma, the largest norm of a difference over sigma.

    Parameters
    ----------
    ball : Spheroid or TiltedEllipsoid
        The ellipsoid, as `Ellipsoid` makes it from a matrix, or as the set's `smallest_ellipsoid`;
        its relation is not kept. For one along the axes take independent noise. If it lies in the
        plane of vectors that add up to 0, so does the noise.
    sigma : float
        The standard deviation of the noise over the length of each axis, from 1e-100 to 1e100.

    Raises
    ------
    ValueError
        If a parameter is out of range; the message names every problem.

    Examples
    --------
    >>> from dpnoise import Counts, Ellipsoid
    >>> from dpnoise.joint.vectors import CorrelatedGaussian
    >>> noise = CorrelatedGaussian(Ellipsoid.of_matrix([[2.0, 1.0], [1.0, 2.0]]), sigma=3.0)
    >>> [[round(x, 9) for x in row] for row in noise.covariance().tolist()]
    [[18.0, 9.0], [9.0, 18.0]]
    >>> counts = Counts(2, of=2, relation="add-remove")
    >>> least = CorrelatedGaussian(counts.smallest_ellipsoid, sigma=1.0)
    >>> round(float(least.var()[0]), 9), float(least.mu(counts))
    (1.333333333, 1.0)
    """

    ball: RoundSet
    sigma: float

    def __post_init__(self) -> None:
        """Check of the parameters; sigma is stored as a float."""
        problems = Problems("correlated Gaussian noise")
        known = isinstance(self.ball, RoundSet)
        problems.require(known, "ball", "an ellipsoid that Ellipsoid makes of a matrix", self.ball)
        problems.number("sigma", self.sigma, low=1e-100, high=1e100)
        problems.raise_if_any()
        object.__setattr__(self, "ball", self.ball.body)
        object.__setattr__(self, "sigma", float(self.sigma))

    @property
    def scale(self) -> float:
        """The standard deviation sigma of an axis of length 1."""
        return self.sigma

    def mu(self, sensitivity: Sensitivity) -> float:
        """The largest shift of a set in standard deviations, rounded up.

        Parameters
        ----------
        sensitivity : Sensitivity
            The set of differences.

        Returns
        -------
        float
            Infinite if a difference leaves the plane in which the noise lies.
        """
        size = self.ball.largest_norm_of(sensitivity)
        return math.inf if size == math.inf else as_double_above(size / Fraction(self.sigma))

    def squared_mu_in(self, ball: Sensitivity) -> Fraction:
        """The largest squared mu of a set; ValueError if a difference leaves the plane."""
        size = self.ball.largest_norm_of(ball)
        if size == math.inf:
            message = f"noise: expected some in every direction of {ball!r}, got {self!r}"
            raise ValueError(message)
        return (Fraction(size) / Fraction(self.sigma)) ** 2

    def bounds_in(self, ball: Sensitivity, epsilon: float) -> Bounds:
        """Bounds on delta(epsilon) for a set (`dpnoise.privacy.accounts`)."""
        lower, upper = gaussian_delta(self.squared_mu_in(ball), epsilon)
        return Bounds(lower if self.ball.is_exact_for(ball) else 0.0, upper, GAUSSIAN)

    def dominating(self, size: Fraction) -> tuple[Gaussian, float]:
        """Gaussian noise of one number."""
        return Gaussian(1.0), as_double_above(size / Fraction(self.sigma))

    def covariance(self) -> Array:
        """The covariance, shape (K, K)."""
        return self.sigma**2 * self.ball.covariance

    def _log_radial(self, r: Array) -> Array:
        """The log density at norm `r`, in the plane of the noise if there is one."""
        rank = self.ball.rank
        unit = rank * (math.log(self.sigma) + 0.5 * math.log(2.0 * math.pi)) + self.ball.log_axes
        return np.asarray(-0.5 * (r / self.sigma) ** 2 - unit)

    def _layer(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Draws of T, for which X = T Z with Z uniform in the ellipsoid."""
        return self.sigma * np.sqrt(rng.chisquare(self.ball.rank + 2.0, size))

    def rvs(
        self,
        size: int | tuple[int, ...] | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> Array:
        """Independent random vectors, shape (*size, K); arguments as for `Noise.rvs`."""
        lead, rng = draws(self, size, random_state)
        found: Array = self.ball.image(rng.standard_normal((*lead, self.dimension)))
        return self.sigma * found

    def layer_moment(self, order: int) -> float:
        """E T^order, of a chi distribution with K + 2 degrees of freedom."""
        half = 0.5 * (self.ball.rank + 2.0)
        return float(
            (self.sigma * math.sqrt(2.0)) ** order
            * math.exp(special.gammaln(half + 0.5 * order) - special.gammaln(half))
        )

    def var(self) -> Array:
        """The variance of each coordinate, shape (K,)."""
        return self.sigma**2 * self.ball.diagonal

    def mean_abs(self) -> Array:
        """E|X_i| for each coordinate, shape (K,)."""
        return math.sqrt(2.0 / math.pi) * self.std()

    def half_width(self, level: float = 0.95) -> Array:
        """The h_i with P(|X_i| <= h_i) = level, shape (K,)."""
        return float(Gaussian(1.0).isf(0.5 * (1.0 - level))) * self.std()

    def upper_half_width(self, level: float) -> Array:
        """The half-widths, rounded up, shape (K,)."""
        return self.half_width(level) * ROUNDED_UP

    def scaled(self, factor: float) -> Self:
        """The distribution of `factor` X, for a positive factor."""
        check_factor(self, factor)
        return type(self)(self.ball, factor * self.sigma)
