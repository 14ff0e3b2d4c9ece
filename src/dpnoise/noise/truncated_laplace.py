"""Truncated Laplace noise: a Laplace distribution that never leaves [-bound, bound].

Geng, Ding, Guo & Kumar, "Tight analysis of privacy and utility tradeoff in approximate
differential privacy" (AISTATS 2020), optimal in one dimension for small delta. The density
jumps at the bound; a shift by d moves mass out of the support, which delta has to pay for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import special

from dpnoise._validation import Problems
from dpnoise.noise.base import Noise, Piece

if TYPE_CHECKING:
    from dpnoise._types import Array

_LEAST_RATIO = 1e-100  # below it (bound / beta)^3 has no double; the noise is uniform by then


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
        """Check the parameters and store them as floats."""
        problems = Problems("truncated Laplace noise")
        problems.number("beta", self.beta, low=0.0, open_low=True)
        problems.number("bound", self.bound, low=0.0, open_low=True)
        if not problems.found:
            ratio = float(self.bound) / float(self.beta)
            problems.number("bound / beta", ratio, low=_LEAST_RATIO, finite=False)
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
        """Return -log density on [0, bound] as quadratics."""
        value = math.log(2.0 * self._mass) + math.log(self.beta)
        return (Piece(0.0, self.bound, value, 1.0 / self.beta, 0.0),)

    def var(self) -> float:
        """Return the variance, 2 beta^2 P(3, r) / P(1, r) with r = bound / beta."""
        share = float(special.gammainc(3.0, self._reach)) / self._mass
        return 2.0 * self.beta * (self.beta * share)

    def mean_abs(self) -> float:
        """Return E|T| = beta P(2, r) / P(1, r) with r = bound / beta."""
        return float(self.beta * (special.gammainc(2.0, self._reach) / self._mass))

    def fisher_information(self) -> float:
        """Return infinity: a density that jumps locates a shift at a faster rate."""
        return math.inf
