"""Huber noise: a Gaussian centre with Laplace tails, the flipped Huber turned inside out.

The least favourable distribution of Huber, "Robust estimation of a location parameter"
(Annals of Mathematical Statistics 1964), as in Muthukrishnan & Kalyani's slides (which leave
out the factor 1 / sqrt(2 pi) of the tails). With a = alpha and z = |t| / scale,

    density = exp(-rho(z)) / (2 H scale),  rho(z) = z^2 / 2  (z <= a),  a z - a^2 / 2  (z > a),
    H = sqrt(pi / 2) erf(a / sqrt 2) + exp(-a^2 / 2) / a,

so that 1 / (1 - tau) = sqrt(2 / pi) H. What is computed is a H, which stays finite as a -> 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import special

from dpnoise._validation import Problems
from dpnoise.noise.base import Noise, Piece
from dpnoise.noise.gaussian import gaussian_magnitude, mills_ratio
from dpnoise.noise.rational import ZERO, Quadratic

if TYPE_CHECKING:
    from dpnoise._types import Array

_HALF_MASS = math.sqrt(math.pi / 2.0)  # of exp(-z^2 / 2)
_MIN_ALPHA, _MAX_ALPHA = 1e-150, 1e150  # alpha^2 and 1 / alpha^2 have doubles


@dataclass(frozen=True)
class Huber(Noise):
    """Huber noise: N(0, scale^2) up to alpha standard deviations, exponential beyond.

    Parameters
    ----------
    alpha : float
        Where the Gaussian centre ends, in units of `scale`, from 1e-150 to 1e150.
        alpha -> infinity is N(0, scale^2); alpha -> 0 at fixed scale / alpha is
        Laplace(scale / alpha).
    scale : float
        The scale of the Gaussian centre, positive.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    alpha: float
    scale: float = 1.0

    def __post_init__(self) -> None:
        """Check of the parameters, stored as floats."""
        problems = Problems("Huber noise")
        problems.number("alpha", self.alpha, low=_MIN_ALPHA, high=_MAX_ALPHA)
        problems.number("scale", self.scale, low=0.0, open_low=True)
        problems.raise_if_any()
        object.__setattr__(self, "alpha", float(self.alpha))
        object.__setattr__(self, "scale", float(self.scale))

    @property
    def _rim(self) -> float:
        """exp(-a^2 / 2), which is a times the weight of the tails."""
        return math.exp(-0.5 * self.alpha**2)

    @property
    def _log_weight(self) -> float:
        """log(a H); with a relative error even where a H is nearly 1."""
        a = self.alpha
        excess = math.expm1(-0.5 * a * a) + a * _HALF_MASS * math.erf(a / math.sqrt(2.0))
        return math.log1p(excess)

    @property
    def _weight(self) -> float:
        """The value of a H."""
        return self._rim + self.alpha * _HALF_MASS * math.erf(self.alpha / math.sqrt(2.0))

    @property
    def _surplus(self) -> float:
        """1 / a - m(a): by how much the exponential tail outweighs the Gaussian one."""
        return 1.0 / self.alpha - float(mills_ratio(self.alpha))

    def _log_density(self, x: Array) -> Array:
        a, z = self.alpha, x / self.scale
        inner = np.minimum(z, a)
        value = self._log_weight - math.log(a) + math.log(2.0) + math.log(self.scale)
        return -0.5 * inner * inner - a * (z - inner) - value

    def _log_tail(self, x: Array) -> Array:
        a, log_weight = self.alpha, self._log_weight

        def centre(z: Array) -> Array:
            beyond = np.exp(-0.5 * (a - z) * (a + z)) * self._surplus
            mass = 0.5 * a / self._weight * (mills_ratio(z) + beyond)
            return -0.5 * z * z + np.log(mass)

        def tail(z: Array) -> Array:
            return -a * (z - 0.5 * a) - log_weight - math.log(2.0)

        z = x / self.scale
        return np.piecewise(z, [z <= a], [centre, tail])

    def _magnitude(self, level: Array) -> Array:
        a, weight, log_weight = self.alpha, self._weight, self._log_weight

        def centre_near(e: Array) -> Array:
            return math.sqrt(2.0) * special.erfinv(-np.expm1(-e) * (weight / a / _HALF_MASS))

        def centre_far(e: Array) -> Array:
            mass = weight / a - np.exp(e - 0.5 * a * a) * self._surplus
            return gaussian_magnitude(e - np.log(mass / _HALF_MASS))

        def tail(e: Array) -> Array:
            return 0.5 * a + (e - log_weight) / a

        inside, near = level <= 0.5 * a * a + log_weight, level <= math.log(2.0)
        return self.scale * np.piecewise(
            level, [inside & near, inside & ~near], [centre_near, centre_far, tail]
        )

    def _scaled(self, factor: float) -> Self:
        return type(self)(self.alpha, factor * self.scale)

    def pieces(self) -> tuple[Piece, ...]:
        """-log density on t >= 0 as quadratics."""
        a, edge = self.alpha, self.alpha * self.scale
        value = self._log_weight - math.log(a) + math.log(2.0) + math.log(self.scale)
        return (
            Piece(0.0, edge, value, 0.0, 1.0 / self.scale / self.scale),
            Piece(edge, math.inf, value + 0.5 * a * a, a / self.scale, 0.0),
        )

    def exact_pieces(self) -> list[Quadratic]:
        """-log density as rational functions of the parameters."""
        alpha, scale = Fraction(self.alpha), Fraction(self.scale)
        centre = Quadratic(ZERO, ZERO, 1 / scale**2)
        return [centre, Quadratic(alpha * scale, alpha / scale, ZERO)]

    def dispersion(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        """More dispersed with alpha scale, the end of the centre, and with 1 / alpha."""
        return (Huber,), (self.alpha * self.scale, 1.0 / self.alpha)

    @classmethod
    def from_dispersion(cls, *parameters: float) -> Self:
        """The noise with a given end of the centre and 1 / alpha."""
        end, ratio = parameters
        return cls(1.0 / ratio, end * ratio)

    @property
    def _centre_second(self) -> float:
        """The integral of z^2 exp(-z^2 / 2) over the centre, times a."""
        return self.alpha * _HALF_MASS * float(special.gammainc(1.5, 0.5 * self.alpha**2))

    def var(self) -> float:
        """The variance."""
        square = self.alpha**2
        total = self._centre_second + self._rim * (square + 2.0 + 2.0 / square)
        return self.scale * (self.scale * (total / self._weight))

    def mean_abs(self) -> float:
        """E|T|."""
        a = self.alpha
        return self.scale * ((a + self._rim / a) / self._weight)

    def fisher_information(self) -> float:
        """The Fisher information about a shift, P(|T| <= alpha scale) / scale^2."""
        a = self.alpha
        centre = a * _HALF_MASS * math.erf(a / math.sqrt(2.0))
        return centre / self._weight / self.scale / self.scale
