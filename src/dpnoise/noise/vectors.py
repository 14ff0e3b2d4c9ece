"""Noise of vectors whose coordinates depend on each other: K-norm noise, staircase noise of two.

*K-norm* noise: vectors whose density falls exponentially in a norm. Hardt & Talwar, "On the
geometry of differential privacy" (STOC 2010). The density at x is
exp(-||x|| / scale) / (K! scale^K V), V the volume of the unit ball in K dimensions. With
scale = sensitivity / epsilon, the sensitivity being in the same norm, it is epsilon-private.
The norm of a draw has the gamma distribution with shape K.

*Two-dimensional staircase* noise: the optimal epsilon-private noise for two numbers. Geng, Kairouz,
Oh & Viswanath, "The staircase mechanism in differential privacy" (IEEE Journal of Selected Topics
in Signal Processing 2015). The density depends on the l1 norm alone, in shells of width Delta, the
l1 sensitivity; with b = exp(-epsilon),

    density(x) = a b^(k + [f >= gamma]),  ||x||_1 / Delta = k + f,  0 <= f < 1.

The l1 ball of radius r has area 2 r^2, so that all moments of the norm R are sums

    M_n = sum over k of b^k ((k + gamma)^n - k^n + b (k + 1)^n - b (k + gamma)^n)

of powers: a = 1 / (2 Delta^2 M_2) and E R^n = 2 Delta^n M_(n + 2) / ((n + 2) M_2). Given R, a
point is uniform on the square ||x||_1 = R, so |X_1| = U R with U uniform on [0, 1].
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
from dpnoise.noise._arrays import draws, floats, points
from dpnoise.noise.exact import as_double_above
from dpnoise.noise.exponential_power import Laplace
from dpnoise.noise.stepwise import MAX_EPSILON, MIN_EPSILON, check_staircase, steps

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array

_STEPS = 60


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


def staircase_2d_gamma(epsilon: ArrayLike) -> Array:
    """The gamma of the two-dimensional staircase with the least E||X||_1.

    Parameters
    ----------
    epsilon : array_like of float
        Privacy parameter, from 1e-100 to 700.

    Returns
    -------
    numpy.ndarray or float
        gamma in (0, 1). With q = gamma + b (1 - gamma) the mean is
        2 Delta (q^3 + 3 b q + b + b^2) / (3 (1 - b) (q^2 + b)), so that the best q is the larger
        root of q^4 - 2 b (1 + b) q + 3 b^2 in [b, 1].

    Raises
    ------
    ValueError
        If epsilon is out of range.
    """
    problems = Problems("gamma of the two-dimensional staircase")
    epsilon = floats(problems, "epsilon", epsilon, low=MIN_EPSILON, high=MAX_EPSILON)
    problems.raise_if_any()
    b, c = np.exp(-epsilon), -np.expm1(-epsilon)
    # Written in gamma and divided by b c^2 it neither cancels nor underflows. It is convex, so
    # that Newton's method falls to the larger root from an upper bound.
    gamma = np.minimum(1.0, (np.cbrt(2.0 * b * (1.0 + b)) - b) / c)
    # ends: raises
    for _ in range(_STEPS):
        cube, square = c * c * gamma * gamma * (gamma / b), c * gamma * gamma
        linear = 6.0 * b * gamma
        value = gamma * (cube + 4.0 * square + linear - 2.0 * (1.0 + 2.0 * b)) + b
        step = value / (4.0 * cube + 12.0 * square + 2.0 * linear - 2.0 * (1.0 + 2.0 * b))
        gamma = gamma - step
        if np.all(np.abs(step) <= 1e-15 * gamma):
            return gamma[()]
    raise RuntimeError(f"gamma of the two-dimensional staircase: not found in {_STEPS} steps")


@dataclass(frozen=True)
class Staircase2D:
    """Two-dimensional staircase noise, epsilon-private for the given l1 sensitivity.

    Parameters
    ----------
    epsilon : float
        The privacy parameter, from 1e-100 to 700: each shell falls by exp(-epsilon).
    sensitivity : float
        The width Delta of the shells, positive.
    gamma : float
        Where each shell falls, as a fraction of its width, in (0, 1); see
        `staircase_2d_gamma`.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    epsilon: float
    sensitivity: float
    gamma: float

    def __post_init__(self) -> None:
        """Check of the parameters, stored as floats."""
        check_staircase(self, "two-dimensional staircase noise")

    @property
    def dimension(self) -> int:
        """The number of coordinates, 2."""
        return 2

    def dominating(self, size: float) -> Fraction:
        """The pure epsilon at an l1 sensitivity: that of a shell for each one crossed."""
        return Fraction(self.epsilon) * math.ceil(Fraction(size) / Fraction(self.sensitivity))

    @property
    def _fall(self) -> tuple[float, float]:
        """The factors b = exp(-epsilon) and c = 1 - b."""
        return math.exp(-self.epsilon), -math.expm1(-self.epsilon)

    def _sum(self, n: int) -> float:
        """c^n M_n for n = 2, 3, 4; the sum of k^j b^k is A_j / c^(j + 1)."""
        b, c = self._fall
        euler = (1.0, b, b * (1.0 + b), b * (1.0 + b * (4.0 + b)))
        parts = (
            math.comb(n, j) * (c * self.gamma ** (n - j) + b) * euler[j] * c ** (n - 1 - j)
            for j in range(n)
        )
        return math.fsum(parts)

    def logpdf(self, x: ArrayLike) -> Array:
        """The log density at points `x`, shape (..., 2), of shape (...); refuses others."""
        x = points(self, "x", x)
        problems = Problems(f"log density of {self!r}")
        good = x.ndim > 0 and x.shape[-1] == self.dimension
        problems.require(good, "shape of x", "a last axis of length 2", x.shape)
        problems.raise_if_any()
        with np.errstate(over="ignore"):  # infinite beyond all doubles
            radius = np.abs(x).sum(axis=-1)
        shell, f = steps(radius, self.sensitivity)
        fall = self.epsilon * (shell + (f >= self.gamma))
        unit = self.sensitivity / self._fall[1]
        return -fall - math.log(2.0 * self._sum(2)) - 2.0 * math.log(unit)

    def pdf(self, x: ArrayLike) -> Array:
        """The density at points `x`, shape (..., 2); the result has shape (...)."""
        with np.errstate(over="ignore"):
            return np.exp(self.logpdf(x))

    def rvs(
        self,
        size: int | tuple[int, ...] | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> Array:
        """Independent random points, shape (*size, 2); arguments as for `Noise.rvs`."""
        size, rng = draws(self, size, random_state)
        b, c = self._fall
        g = self.gamma
        # The mass of ring (k, f) is proportional to b^k (k + f), and b times it past gamma: a
        # mixture of k alone and f alone, on either side of gamma.
        weight = np.array([g * g, 2.0 * g * b / c, b * (1.0 - g * g), 2.0 * (1.0 - g) * b * b / c])
        part = rng.choice(4, size=size, p=weight / weight.sum())
        # b^k is the law of one geometric variate, k b^k that of 1 + the sum of two.
        count = np.floor(rng.standard_exponential((2, *np.shape(part))) / self.epsilon)
        odd = part % 2 == 1
        shell = count[0] + np.where(odd, count[1] + 1.0, 0.0)
        low, high = np.where(part < 2, 0.0, g), np.where(part < 2, g, 1.0)
        u = rng.uniform(size=size)
        ring = np.where(
            odd, low + (high - low) * u, np.sqrt(low * low + (high - low) * (high + low) * u)
        )
        with np.errstate(over="ignore"):  # infinite beyond all doubles
            radius = self.sensitivity * (shell + ring)
        share = rng.uniform(size=size)
        point = np.stack([radius * share, radius * (1.0 - share)], axis=-1)
        return point * (2.0 * rng.integers(0, 2, size=point.shape) - 1.0)

    def _norm_moment(self, n: int) -> float:
        """E R^n / (Delta / c)^n."""
        return 2.0 * self._sum(n + 2) / ((n + 2.0) * self._sum(2))

    def mean_norm(self) -> float:
        """E||X||_1."""
        return self.sensitivity / self._fall[1] * self._norm_moment(1)

    def mean_abs(self) -> float:
        """E|X_i| for each coordinate, half the mean norm."""
        return 0.5 * self.mean_norm()

    def var(self) -> float:
        """The variance of each coordinate, E R^2 / 3."""
        unit = self.sensitivity / self._fall[1]
        return unit * (unit * (self._norm_moment(2) / 3.0))

    def std(self) -> float:
        """The standard deviation of each coordinate."""
        return math.sqrt(self.var())
