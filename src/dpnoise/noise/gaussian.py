"""Gaussian noise: N(0, sigma^2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from scipy import special

from dpnoise._validation import Problems
from dpnoise.noise.base import Noise, Piece
from dpnoise.noise.rational import ZERO, Quadratic

if TYPE_CHECKING:
    from dpnoise._types import Array


@overload
def mills_ratio(x: float) -> float: ...
@overload
def mills_ratio(x: Array) -> Array: ...
def mills_ratio(x: Array | float) -> Array | float:
    """Mills ratio Q(x) / phi(x), the integral of exp(-u^2 / 2 - x u) over u >= 0."""
    return math.sqrt(math.pi / 2.0) * special.erfcx(x / math.sqrt(2.0))


def gaussian_magnitude(level: Array) -> Array:
    """The x >= 0 with P(|Z| > x) = exp(-level) for standard normal Z, at levels >= 0.

    `erfinv` keeps the relative accuracy of x near 0, `ndtri_exp` reaches the far tail.
    """
    return np.piecewise(
        level,
        [level <= math.log(2.0)],
        [
            lambda e: math.sqrt(2.0) * special.erfinv(-np.expm1(-e)),
            lambda e: -special.ndtri_exp(-e - math.log(2.0)),
        ],
    )


@dataclass(frozen=True)
class Gaussian(Noise):
    """Gaussian noise with density exp(-t^2 / (2 sigma^2)) / (sigma sqrt(2 pi)).

    Parameters
    ----------
    sigma : float
        The standard deviation, positive.

    Raises
    ------
    ValueError
        If `sigma` is not a positive finite number.
    """

    sigma: float

    def __post_init__(self) -> None:
        """Check of the parameter, stored as a float."""
        problems = Problems("Gaussian noise")
        problems.number("sigma", self.sigma, low=0.0, open_low=True)
        problems.raise_if_any()
        object.__setattr__(self, "sigma", float(self.sigma))

    def _log_density(self, x: Array) -> Array:
        return -0.5 * (x / self.sigma) ** 2 - 0.5 * math.log(2.0 * math.pi) - math.log(self.sigma)

    def _log_tail(self, x: Array) -> Array:
        return special.log_ndtr(-x / self.sigma)

    def _magnitude(self, level: Array) -> Array:
        return self.sigma * gaussian_magnitude(level)

    def _scaled(self, factor: float) -> Self:
        return type(self)(factor * self.sigma)

    def pieces(self) -> tuple[Piece, ...]:
        """-log density on t >= 0 as quadratics."""
        value = 0.5 * math.log(2.0 * math.pi) + math.log(self.sigma)
        return (Piece(0.0, math.inf, value, 0.0, 1.0 / self.sigma / self.sigma),)

    def exact_pieces(self) -> list[Quadratic]:
        """-log density as rational functions of the parameters."""
        return [Quadratic(ZERO, ZERO, 1 / Fraction(self.sigma) ** 2)]

    def dispersion(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        """More dispersed with sigma."""
        return (Gaussian,), (self.sigma,)

    def zcdp_pair(self, sensitivity: Fraction) -> tuple[Fraction, Fraction]:
        """(0, D^2 / (2 sigma^2)) for sensitivity D, which is exact."""
        return ZERO, (sensitivity / Fraction(self.sigma)) ** 2 / 2

    def var(self) -> float:
        """The variance, sigma^2."""
        return self.sigma * self.sigma

    def mean_abs(self) -> float:
        """E|T| = sigma sqrt(2 / pi)."""
        return self.sigma * math.sqrt(2.0 / math.pi)

    def fisher_information(self) -> float:
        """The Fisher information about a shift, 1 / sigma^2."""
        return 1.0 / self.sigma / self.sigma
