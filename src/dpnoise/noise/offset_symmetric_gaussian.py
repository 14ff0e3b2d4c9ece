"""Offset symmetric Gaussian noise: the two far flanks of a Gaussian, pushed together.

Sadeghi & Korki, "Offset-symmetric Gaussians for differential privacy" (IEEE TIFS 2022);
Muthukrishnan & Kalyani, "Grafting Laplace and Gaussian distributions", appendix F. With
s = theta / rho, z = |t| / rho and the Mills ratio m,

    density = phi(z + s) / (2 Q(s) rho) = exp(-z^2 / 2 - s z) / (2 m(s) rho).

The second form has no underflow. With I_n the integral of z^n exp(-z^2 / 2 - s z) / n! over
z >= 0, the moments are E|T| = rho I_1 / I_0 and E T^2 = 2 rho^2 I_2 / I_0. Integration by
parts gives I_{n-1} = s I_n + (n + 1) I_{n+1}, which forwards cancels for large s and
backwards is a continued fraction of positive terms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpnoise._validation import Problems
from dpnoise.noise.base import Noise, Piece
from dpnoise.noise.gaussian import Gaussian, mills_ratio
from dpnoise.noise.rational import ZERO, Quadratic

if TYPE_CHECKING:
    from dpnoise._types import Array

_MAX_RATIO = 1e150  # s^2 has a double
_SMALL_LEVEL = 0.05  # below it log P(|T| > x) loses digits of x; P(|T| <= x) does not
_NODES, _WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(5))


@dataclass(frozen=True)
class OffsetSymmetricGaussian(Noise):
    """Offset symmetric Gaussian noise (OSGT) with density phi((|t| + theta) / rho) / (2 rho Q).

    Parameters
    ----------
    theta : float
        The offset, non-negative. theta = 0 is N(0, rho^2); rho -> infinity at fixed
        rho^2 / theta is Laplace(rho^2 / theta).
    rho : float
        The scale of the Gaussian flanks, positive.

    Raises
    ------
    ValueError
        If a parameter is out of range or theta / rho exceeds 1e150.
    """

    theta: float
    rho: float

    def __post_init__(self) -> None:
        """Check of the parameters, stored as floats."""
        problems = Problems("offset symmetric Gaussian noise")
        problems.number("theta", self.theta, low=0.0)
        problems.number("rho", self.rho, low=0.0, open_low=True)
        if not problems.found:
            ratio = float(self.theta) / float(self.rho)
            problems.number("theta / rho", ratio, high=_MAX_RATIO)
        problems.raise_if_any()
        object.__setattr__(self, "theta", float(self.theta))
        object.__setattr__(self, "rho", float(self.rho))

    @property
    def _offset(self) -> float:
        return self.theta / self.rho

    def _log_density(self, x: Array) -> Array:
        s, z = self._offset, x / self.rho
        return -z * (0.5 * z + s) - math.log(2.0 * mills_ratio(s)) - math.log(self.rho)

    def _log_tail(self, x: Array) -> Array:
        s, z = self._offset, x / self.rho
        return -z * (0.5 * z + s) + np.log(self._thinning(z)) - math.log(2.0)

    def _thinning(self, z: Array) -> Array:
        """m(s + z) / m(s), not above 1."""
        # Past 1e300 the ratio no longer matters beside exp(-z^2 / 2), but must not become 0.
        s = self._offset
        return mills_ratio(s + np.minimum(z, 1e300)) / mills_ratio(s)

    def _magnitude(self, level: Array) -> Array:
        s = self._offset
        mills = mills_ratio(s)

        def near(e: Array) -> Array:
            mass = -np.expm1(-e) * mills
            z = mass
            for _ in range(4):  # the error squares from below 0.03 each time
                inner = z[..., None] * (_NODES + 0.5)
                found = z * (np.exp(-inner * (0.5 * inner + s)) @ _WEIGHTS)
                z = z - (found - mass) * np.exp(z * (0.5 * z + s))
            return z

        def far(e: Array) -> Array:
            # The level is convex in z and at least z / m(s) and z^2 / 2 + s z, so that
            # Newton's method starts on the right of the root and stays there.
            finite = np.minimum(e, 1e300)
            z = np.minimum(finite * mills, 2.0 * finite / (s + np.sqrt(s * s + 2.0 * finite)))
            for _ in range(6):
                excess = z * (0.5 * z + s) - np.log(self._thinning(z)) - finite
                z = z - excess * mills_ratio(s + z)
            return np.where(e == math.inf, math.inf, z)

        return self.rho * np.piecewise(level, [level < _SMALL_LEVEL], [near, far])

    def _scaled(self, factor: float) -> Self:
        return type(self)(factor * self.theta, factor * self.rho)

    def pieces(self) -> tuple[Piece, ...]:
        """-log density on t >= 0 as quadratics."""
        value = math.log(2.0 * mills_ratio(self._offset)) + math.log(self.rho)
        slope = self._offset / self.rho
        return (Piece(0.0, math.inf, value, slope, 1.0 / self.rho / self.rho),)

    def exact_pieces(self) -> list[Quadratic]:
        """-log density as rational functions of the parameters."""
        precision = 1 / Fraction(self.rho) ** 2
        return [Quadratic(ZERO, Fraction(self.theta) * precision, precision)]

    def dispersion(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        """More dispersed with theta and with rho / theta."""
        if self.theta == 0.0:
            return (Gaussian,), (self.rho,)
        kind, ratio = OffsetSymmetricGaussian, self.rho / self.theta
        return ((kind,), (self.theta, ratio)) if ratio < math.inf else ((self,), ())

    def _ratios(self) -> tuple[float, float]:
        """I_1 / I_0 and I_2 / I_1."""
        s = self._offset
        if s < 1.0:
            first = 1.0 / float(mills_ratio(s)) - s
            return first, 0.5 * (1.0 / first - s)
        # The error falls as exp(-2 s sqrt(2 terms)), and faster for large s.
        ratio = 0.0
        for n in range(20 + int(420.0 / (s * s)), 1, -1):
            ratio = 1.0 / (s + (n + 1.0) * ratio)
        return 1.0 / (s + 2.0 * ratio), ratio

    def var(self) -> float:
        """The variance, 2 rho^2 I_2 / I_0."""
        first, second = self._ratios()
        return 2.0 * (self.rho * first) * (self.rho * second)

    def mean_abs(self) -> float:
        """E|T| = rho I_1 / I_0."""
        return self.rho * self._ratios()[0]

    def fisher_information(self) -> float:
        """The Fisher information about a shift, E[(z + s)^2] / rho^2."""
        s = self._offset
        return (1.0 + s * (self._ratios()[0] + s)) / self.rho / self.rho
