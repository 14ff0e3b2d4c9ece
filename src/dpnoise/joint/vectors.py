"""Noise of vectors whose coordinates depend on each other: K-norm, staircase of two, Gaussian.

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
from dpnoise.joint.noise import NormStaircase, Radial
from dpnoise.noise.exact import as_double_above
from dpnoise.noise.exponential_power import Gaussian
from dpnoise.noise.stepwise import check_staircase, steps
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
class Staircase2D(JointNoise):
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

    ball = L1(1.0, 2)

    epsilon: float
    sensitivity: float
    gamma: float

    def __post_init__(self) -> None:
        """Check of the parameters, stored as floats."""
        check_staircase(self, "two-dimensional staircase noise")

    def loss_at(self, size: Fraction) -> Fraction:
        """The largest privacy loss at an l1 sensitivity: that of a shell for each one crossed."""
        return Fraction(self.epsilon) * math.ceil(size / Fraction(self.sensitivity))

    def dominating(self, size: Fraction) -> Fraction:
        """The pure epsilon."""
        return self.loss_at(size)

    def scaled(self, factor: float) -> Self:
        """The distribution of `factor` X, for a positive factor."""
        check_factor(self, factor)
        return type(self)(self.epsilon, factor * self.sensitivity, self.gamma)

    @property
    def in_its_ball(self) -> NormStaircase:
        """The same noise in the norm of the ball whose radius is its sensitivity."""
        return NormStaircase(L1(self.sensitivity, 2), self.epsilon, self.gamma)

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

    def _log_radial(self, r: Array) -> Array:
        """The log density at l1 norm `r`."""
        shell, f = steps(r, self.sensitivity)
        fall = self.epsilon * (shell + (f >= self.gamma))
        unit = self.sensitivity / self._fall[1]
        return -fall - math.log(2.0 * self._sum(2)) - 2.0 * math.log(unit)

    def _layer(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Draws of T = Delta (k + gamma), where k has weights b^k (k + gamma)^2."""
        b, c = self._fall
        g = self.gamma
        # A mixture of b^k, k b^k and k (k - 1) b^k: sums of one, two or three geometric variates,
        # from 0, 1 or 2 on.
        weight = np.array([c * c * g * g, c * b * (2.0 * g + 1.0), 2.0 * b * b])
        part = rng.choice(3, size=size, p=weight / weight.sum())
        count = np.floor(rng.standard_exponential((3, *size)) / self.epsilon)
        shell = part + count[0] + (part > 0) * count[1] + (part > 1) * count[2]
        return self.sensitivity * (shell + g)

    def layer_moment(self, order: int) -> float:
        """E T^order, (order + 2) / 2 times that of the norm."""
        unit = self.sensitivity / self._fall[1]
        return math.prod([unit] * order, start=0.5 * (order + 2.0) * self._norm_moment(order))

    def _norm_moment(self, n: int) -> float:
        """E R^n / (Delta / c)^n."""
        return 2.0 * self._sum(n + 2) / ((n + 2.0) * self._sum(2))

    def mean_norm(self) -> float:
        """E||X||_1."""
        return self.sensitivity / self._fall[1] * self._norm_moment(1)

    def mean_abs(self) -> float:  # type: ignore[override]  # one number: all are alike
        """E|X_i| for each coordinate, half the mean norm."""
        return 0.5 * self.mean_norm()

    def var(self) -> float:  # type: ignore[override]  # one number: all are alike
        """The variance of each coordinate, E R^2 / 3."""
        unit = self.sensitivity / self._fall[1]
        return unit * (unit * (self._norm_moment(2) / 3.0))

    def std(self) -> float:  # type: ignore[override]  # one number: all are alike
        """The standard deviation of each coordinate."""
        return math.sqrt(self.var())


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
