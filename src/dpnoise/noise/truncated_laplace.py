"""Truncated Laplace noise: a Laplace distribution that never leaves [-bound, bound].

Geng, Ding, Guo & Kumar, "Tight analysis of privacy and utility tradeoff in approximate
differential privacy" (AISTATS 2020), optimal in one dimension for small delta. The density
jumps at the bound; a shift by d moves mass out of the support, which delta has to pay for.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import special

from dpnoise._validation import Problems
from dpnoise.noise.base import Noise, Piece
from dpnoise.noise.rational import ZERO, Quadratic, as_double

if TYPE_CHECKING:
    from dpnoise._types import Array

_DIGITS = 60  # of the mass beyond a point
_MIN_RATIO = 1e-100  # below it (bound / beta)^3 has no double; the noise is uniform by then


@dataclass(frozen=True)
class TruncatedLaplace(Noise):
    """Truncated Laplace noise with density proportional to exp(-|t| / beta) on [-bound, bound].

    Parameters
    ----------
    beta : float
        The scale of the Laplace distribution, positive. beta -> infinity is uniform noise.
    bound : float
        The largest |t|, positive. bound -> infinity is Laplace(beta).

    Raises
    ------
    ValueError
        If a parameter is not positive and finite or bound / beta is below 1e-100.
    """

    beta: float
    bound: float = field()

    def __post_init__(self) -> None:
        """Check of the parameters, stored as floats."""
        problems = Problems("truncated Laplace noise")
        problems.number("beta", self.beta, low=0.0, open_low=True)
        problems.number("bound", self.bound, low=0.0, open_low=True)
        if not problems.found:
            ratio = float(self.bound) / float(self.beta)
            problems.number("bound / beta", ratio, low=_MIN_RATIO, finite=False)
        problems.raise_if_any()
        object.__setattr__(self, "beta", float(self.beta))
        object.__setattr__(self, "bound", float(self.bound))

    @property
    def _reach(self) -> float:
        return self.bound / self.beta

    @property
    def _mass(self) -> float:
        """P(|L| <= bound) for the Laplace variable L."""
        return -math.expm1(-self._reach)

    def _log_density(self, x: Array) -> Array:
        inside = -x / self.beta - math.log(2.0 * self._mass) - math.log(self.beta)
        return np.where(x > self.bound, -math.inf, inside)

    def _log_tail(self, x: Array) -> Array:
        rest = (self.bound - np.minimum(x, self.bound)) / self.beta
        with np.errstate(divide="ignore"):  # no mass is left at the bound
            return -x / self.beta + np.log(-np.expm1(-rest) / (2.0 * self._mass))

    def _magnitude(self, level: Array) -> Array:
        reach = self._reach

        def near(e: Array) -> Array:
            return -np.log1p(self._mass * np.expm1(-e))

        def far(e: Array) -> Array:  # -log(exp(-reach) + mass exp(-e))
            free = np.minimum(e, 1e300) - math.log(self._mass)
            return np.minimum(reach, free) - np.log1p(np.exp(-np.abs(reach - free)))

        x = np.piecewise(level, [(level <= math.log(2.0)) | (reach <= math.log(2.0))], [near, far])
        # The bound is reached exactly, and never passed by rounding.
        return np.where(level == math.inf, self.bound, np.minimum(self.beta * x, self.bound))

    def _scaled(self, factor: float) -> Self:
        return type(self)(factor * self.beta, factor * self.bound)

    def pieces(self) -> tuple[Piece, ...]:
        """-log density on [0, bound] as quadratics."""
        value = math.log(2.0 * self._mass) + math.log(self.beta)
        return (Piece(0.0, self.bound, value, 1.0 / self.beta, 0.0),)

    def exact_pieces(self) -> list[Quadratic]:
        """-log density as rational functions of the parameters."""
        return [Quadratic(ZERO, 1 / Fraction(self.beta), ZERO)]

    def mass_beyond(self, t: Fraction) -> Fraction:
        """P(T > t) for |t| < bound, rounded up by less than 1e-60 of its value.

        For t >= 0 it is exp(-t / beta) (1 - exp(-rest)) / (2 (1 - exp(-reach))), rest =
        (bound - t) / beta and reach = bound / beta.
        """
        if t < 0:
            return 1 - self.mass_beyond(-t) * (1 - Fraction(2, 10**_DIGITS))
        beta, bound = Fraction(self.beta), Fraction(self.bound)
        parts = [-t / beta, (t - bound) / beta, -bound / beta]
        if parts[0] < -10_000:  # below every positive double
            return Fraction(1, 2**1100)
        # Digits for a small argument, whose exponential is nearly 1, and for a large one.
        lost = max(abs(math.log10(max(as_double(-x), 1e-300))) for x in parts[1:])
        with decimal.localcontext() as context:
            context.prec = _DIGITS + 10 + 2 * int(lost)
            context.Emin, context.Emax = decimal.MIN_EMIN, decimal.MAX_EMAX
            fall, rest, reach = (
                (decimal.Decimal(x.numerator) / decimal.Decimal(x.denominator)).exp() for x in parts
            )
            mass = Fraction(fall * (1 - rest) / (2 * (1 - reach)))
        return mass * (1 + Fraction(1, 10**_DIGITS))

    def dispersion(self) -> tuple[tuple[Any, ...], tuple[float, ...]]:
        """More dispersed with beta and with bound / beta."""
        kind, ratio = TruncatedLaplace, self.bound / self.beta
        return ((kind,), (self.beta, ratio)) if ratio < math.inf else ((self,), ())

    def var(self) -> float:
        """The variance, 2 beta^2 P(3, r) / P(1, r) with r = bound / beta."""
        share = float(special.gammainc(3.0, self._reach)) / self._mass
        return 2.0 * self.beta * (self.beta * share)

    def mean_abs(self) -> float:
        """E|T| = beta P(2, r) / P(1, r) with r = bound / beta."""
        return float(self.beta * (special.gammainc(2.0, self._reach) / self._mass))

    def fisher_information(self) -> float:
        """infinity: a density that jumps locates a shift at a faster rate."""
        return math.inf
