"""Laplace noise: the two-sided exponential distribution with scale beta."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from dpnoise._validation import Problems
from dpnoise.noise.base import Noise, Piece
from dpnoise.noise.rational import ZERO, Quadratic

if TYPE_CHECKING:
    from dpnoise._types import Array


@dataclass(frozen=True)
class Laplace(Noise):
    """Laplace noise with density exp(-|t| / beta) / (2 beta).

    Parameters
    ----------
    beta : float
        The scale, positive; |T| is exponential with mean beta.

    Raises
    ------
    ValueError
        If `beta` is not a positive finite number.
    """

    beta: float

    def __post_init__(self) -> None:
        """Check of the parameter, stored as a float."""
        problems = Problems("Laplace noise")
        problems.number("beta", self.beta, low=0.0, open_low=True)
        problems.raise_if_any()
        object.__setattr__(self, "beta", float(self.beta))

    def _log_density(self, x: Array) -> Array:
        return -x / self.beta - math.log(2.0) - math.log(self.beta)

    def _log_tail(self, x: Array) -> Array:
        return -x / self.beta - math.log(2.0)

    def _magnitude(self, level: Array) -> Array:
        return self.beta * level

    def _scaled(self, factor: float) -> Self:
        return type(self)(factor * self.beta)

    def pieces(self) -> tuple[Piece, ...]:
        """-log density on t >= 0 as quadratics."""
        value = math.log(2.0) + math.log(self.beta)
        return (Piece(0.0, math.inf, value, 1.0 / self.beta, 0.0),)

    def exact_pieces(self) -> list[Quadratic]:
        """-log density as rational functions of the parameters."""
        return [Quadratic(ZERO, 1 / Fraction(self.beta), ZERO)]

    def dispersion(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        """More dispersed with beta."""
        return (Laplace,), (self.beta,)

    def zcdp_pair(self, sensitivity: Fraction) -> tuple[Fraction, Fraction]:
        """(D / beta, 0), the pure DP of sensitivity D."""
        return sensitivity / Fraction(self.beta), ZERO

    def var(self) -> float:
        """The variance, 2 beta^2."""
        return 2.0 * self.beta * self.beta

    def mean_abs(self) -> float:
        """E|T| = beta."""
        return self.beta

    def fisher_information(self) -> float:
        """The Fisher information about a shift, 1 / beta^2."""
        return 1.0 / self.beta / self.beta
