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
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import special

from dpnoise._validation import Problems, check_factor, is_integer
from dpnoise.joint.noise import JointNoise, NormStaircase, Radial
from dpnoise.noise.stepwise import check_staircase, steps
from dpnoise.sensitivity.balls import L1, L2, LInf

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
