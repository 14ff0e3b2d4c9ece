"""Flipped Huber noise: a Laplace centre grafted onto Gaussian tails.

Muthukrishnan & Kalyani, "Grafting Laplace and Gaussian distributions" (IEEE TIFS 2023),
Definition 7 and equations (7)-(12), (23). With b = alpha / gamma and x = |t| / gamma,

    density = exp(-rho(x)) / (2 Z gamma),  rho(x) = b x  (x <= b),  (x^2 + b^2) / 2  (x > b).

The printed formulas overflow for b > 38, divide by zero at b = 0 and cancel when b is small.
Here every constant and moment is a sum of positive terms, written with the Mills ratio
m(b) = Q(b) / phi(b) and the incomplete gamma function:

    Z          = P(1, b^2) / b      + exp(-b^2) m(b)
    E|T|   Z   = P(2, b^2) / b^2    + exp(-b^2)
    E T^2  Z   = 2 P(3, b^2) / b^3  + exp(-b^2) (b + m(b))
    E rho'^2 Z = b P(1, b^2)        + exp(-b^2) (b + m(b))

where the first term of each is the centre and the second the two tails.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy import special

from dpnoise._validation import Problems
from dpnoise.noise._arrays import floats
from dpnoise.noise.base import Noise, Piece
from dpnoise.noise.gaussian import Gaussian, gaussian_magnitude, mills_ratio
from dpnoise.noise.rational import ZERO, Quadratic

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array

# Below the first ratio the density differs from the Gaussian's by less than 1e-60, so the
# Gaussian needs no case of its own; up to the second, b^2 has a double.
_MIN_RATIO = 1e-60
_MAX_RATIO = 1e150


class _Shape(NamedTuple):
    """Quantities of the distribution at gamma = 1 that depend on b = alpha / gamma."""

    b: Array  # alpha / gamma
    square: Array  # b^2
    centre: Array  # P(1, b^2): b times the weight of the centre
    rim: Array  # exp(-b^2)
    mills: Array  # m(b)
    weight: Array  # b Z


def _shape(alpha: ArrayLike, gamma: ArrayLike) -> _Shape:
    b = np.maximum(np.divide(alpha, gamma), _MIN_RATIO)
    square = b * b
    centre, rim = -np.expm1(-square), np.exp(-square)
    mills = mills_ratio(b)
    return _Shape(b, square, centre, rim, mills, centre + rim * b * mills)


def _check_ratio(problems: Problems, alpha: Array | float, gamma: Array | float) -> None:
    """Refusal of a ratio of good parameters that double precision cannot square."""
    if not problems.found:
        with np.errstate(over="ignore"):
            ratio = np.max(np.divide(alpha, gamma, dtype=float), initial=0.0)
        problems.require(
            bool(ratio <= _MAX_RATIO), "alpha / gamma", f"at most {_MAX_RATIO:g}", ratio
        )


def _variance(shape: _Shape) -> Array:
    """The variance at gamma = 1, between 2 / b^2 and 1 and never above either."""
    b = shape.b
    centre = 2.0 * special.gammainc(3.0, shape.square) / b / b
    return (centre + shape.rim * b * (b + shape.mills)) / shape.weight


def flipped_huber_variance(alpha: ArrayLike, gamma: ArrayLike) -> Array:
    """The variance of flipped Huber noise for many parameters at once.

    Parameters
    ----------
    alpha, gamma : array_like of float
        Transition parameter (non-negative) and scale (positive); they broadcast.

    Returns
    -------
    numpy.ndarray or float
        The variances, equation (11) of the paper in a form without cancellation; infinite
        beyond the largest double.

    Raises
    ------
    ValueError
        If a parameter is out of range or alpha / gamma exceeds 1e150.
    """
    problems = Problems("flipped Huber variance")
    alpha = floats(problems, "alpha", alpha, low=0.0)
    gamma = floats(problems, "gamma", gamma, low=0.0, open_low=True)
    _check_ratio(problems, alpha, gamma)
    problems.raise_if_any()
    with np.errstate(over="ignore"):
        return (gamma * (gamma * _variance(_shape(alpha, gamma))))[()]


def _log_ratio(s: _Shape) -> Array:
    """Log of P(|Z| > x) / P(|T| > x) in the tails, Z normal with the same gamma.

    It is of order b^3 for small b, where the difference of two terms of order b resolves
    it well enough for quantiles, which are at least b there.
    """
    if s.b < 1.0:
        excess = math.sqrt(2.0 / math.pi) * (2.0 / s.b) * np.sinh(0.5 * s.square)
        return np.log1p(excess - special.erf(s.b / math.sqrt(2.0)))
    return 0.5 * s.square + np.log(math.sqrt(2.0 / math.pi) * s.weight / s.b)


@dataclass(frozen=True)
class FlippedHuber(Noise):
    """Flipped Huber noise FH(alpha, gamma^2).

    Parameters
    ----------
    alpha : float
        Where the Laplace centre ends, non-negative. alpha = 0 is N(0, gamma^2);
        alpha -> infinity at fixed gamma^2 / alpha is Laplace(gamma^2 / alpha).
    gamma : float
        The scale of the Gaussian tails, positive.

    Raises
    ------
    ValueError
        If a parameter is out of range or alpha / gamma exceeds 1e150.
    """

    alpha: float
    gamma: float

    def __post_init__(self) -> None:
        """Check of the parameters, stored as floats."""
        problems = Problems("flipped Huber noise")
        problems.number("alpha", self.alpha, low=0.0)
        problems.number("gamma", self.gamma, low=0.0, open_low=True)
        if not problems.found:  # fractions too
            _check_ratio(problems, float(self.alpha), float(self.gamma))
        problems.raise_if_any()
        object.__setattr__(self, "alpha", float(self.alpha))
        object.__setattr__(self, "gamma", float(self.gamma))

    @property
    def _shape(self) -> _Shape:
        return _shape(self.alpha, self.gamma)

    def _log_density(self, x: Array) -> Array:
        s = self._shape
        x = x / self.gamma
        beyond = np.maximum(x, s.b)
        rho = s.b * np.minimum(x, s.b) + 0.5 * (beyond - s.b) * (beyond + s.b)
        return -rho - np.log(2.0 * s.weight / s.b) - math.log(self.gamma)

    def _log_tail(self, x: Array) -> Array:
        s = self._shape

        def centre(x: Array) -> Array:
            rest = s.b * (s.b - x)
            mass = (-np.expm1(-rest) + s.b * s.mills * np.exp(-rest)) / (2.0 * s.weight)
            return -s.b * x + np.log(mass)

        def tail(x: Array) -> Array:
            return special.log_ndtr(-x) - _log_ratio(s)

        x = x / self.gamma
        return np.piecewise(x, [x <= s.b], [centre, tail])

    def _magnitude(self, level: Array) -> Array:
        s = self._shape
        edge = s.square - np.log(s.b * s.mills / s.weight)  # the level at |t| = alpha

        def centre_near(e: Array) -> Array:
            return -np.log1p(s.weight * np.expm1(-e)) / s.b

        def centre_far(e: Array) -> Array:
            return (e - np.log(s.weight + np.exp(e - s.square) * (1.0 - s.b * s.mills))) / s.b

        def tail(e: Array) -> Array:
            return gaussian_magnitude(e - _log_ratio(s))

        inside, near = level <= edge, level <= math.log(2.0)
        return self.gamma * np.piecewise(
            level, [inside & near, inside & ~near], [centre_near, centre_far, tail]
        )

    def _scaled(self, factor: float) -> Self:
        return type(self)(factor * self.alpha, factor * self.gamma)

    def pieces(self) -> tuple[Piece, ...]:
        """-log density on t >= 0 as quadratics."""
        s, precision = self._shape, 1.0 / self.gamma / self.gamma
        value = math.log(2.0 * self.gamma) + float(np.log(s.weight / s.b))
        tail = Piece(
            self.alpha, math.inf, value + float(s.square), self.alpha * precision, precision
        )
        centre = Piece(0.0, self.alpha, value, self.alpha * precision, 0.0)
        return (centre, tail) if self.alpha > 0 else (tail,)

    def exact_pieces(self) -> list[Quadratic]:
        """-log density as rational functions of the parameters."""
        alpha, precision = Fraction(self.alpha), 1 / Fraction(self.gamma) ** 2
        tail = Quadratic(alpha, alpha * precision, precision)
        return [Quadratic(ZERO, tail.slope, ZERO), tail] if alpha else [tail]

    def dispersion(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        """More dispersed with alpha and with gamma / alpha."""
        if self.alpha == 0.0:
            return (Gaussian,), (self.gamma,)
        ratio = self.gamma / self.alpha
        return ((FlippedHuber,), (self.alpha, ratio)) if ratio < math.inf else ((self,), ())

    def zcdp_pair(self, sensitivity: Fraction) -> tuple[Fraction, Fraction]:
        """(R_D(alpha), D^2) / (2 gamma^2) for sensitivity D, Theorem 9."""
        d, alpha, twice = sensitivity, Fraction(self.alpha), 2 * Fraction(self.gamma) ** 2
        return (alpha**2 - max(alpha - d, ZERO) ** 2) / twice, (d / Fraction(self.gamma)) ** 2 / 2

    def centre_mass(self) -> float:
        """P(|T| <= alpha), the part of the noise in the Laplace centre."""
        return float(self._shape.centre / self._shape.weight)

    def var(self) -> float:
        """The variance, equation (11)."""
        return self.gamma * (self.gamma * float(_variance(self._shape)))

    def mean_abs(self) -> float:
        """E|T|."""
        s = self._shape
        centre = special.gammainc(2.0, s.square) / s.b
        return float(self.gamma * (centre + s.b * s.rim) / s.weight)

    def fisher_information(self) -> float:
        """The Fisher information about a shift, equation (12)."""
        s = self._shape
        total = s.b * (s.b * s.centre + s.rim * (s.b + s.mills)) / s.weight
        return float(total) / self.gamma / self.gamma
