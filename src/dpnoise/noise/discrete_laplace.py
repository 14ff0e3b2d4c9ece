"""Discrete Laplace noise: the two-sided geometric distribution.

Ghosh, Roughgarden & Sundararajan, "Universally utility-maximizing privacy mechanisms" (STOC 2009):
P(X = k) = (1 - a) / (1 + a) a^|k| with a = exp(-1 / beta).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems
from dpnoise.noise.exact_draws import discrete_laplace
from dpnoise.noise.integers import IntegerNoise

if TYPE_CHECKING:
    from dpnoise._types import Array, WordArray

MIN_BETA, MAX_BETA = 1.0 / 700.0, 1e12  # exp(-1 / beta) is normal, and k has a double


@dataclass(frozen=True)
class DiscreteLaplace(IntegerNoise):
    """Discrete Laplace noise with probabilities proportional to exp(-|k| / beta).

    Parameters
    ----------
    beta : float
        The scale, from 1 / 700 to 1e12: a query with integer values whose sensitivity is D gets
        (D / beta, 0)-DP.

    Raises
    ------
    ValueError
        If `beta` is out of range.
    """

    beta: float

    def __post_init__(self) -> None:
        """Check of the parameter, stored as a float."""
        problems = Problems("discrete Laplace noise")
        problems.number("beta", self.beta, low=MIN_BETA, high=MAX_BETA)
        problems.raise_if_any()
        object.__setattr__(self, "beta", float(self.beta))

    def _log_mass(self, k: Array) -> Array:
        return math.log(math.tanh(0.5 / self.beta)) - k / self.beta

    def _log_tail(self, k: Array) -> Array:
        return -k / self.beta - math.log1p(math.exp(-1.0 / self.beta))

    def _near_quantile(self, log_tail: Array) -> Array:
        start = -self.beta * (log_tail + math.log1p(math.exp(-1.0 / self.beta)))
        return np.floor(np.maximum(start, 0.0))

    def _exact_draws(self, rng: np.random.Generator, count: int) -> WordArray:
        return discrete_laplace(rng, Fraction(self.beta), 2 * count + 16)

    def largest_loss(self, shift: float | Fraction) -> Fraction:
        """The shift over beta."""
        return Fraction(shift) / Fraction(self.beta)

    def var(self) -> float:
        """The variance, 2 a / (1 - a)^2."""
        root = math.sinh(0.5 / self.beta)
        return 0.5 / root / root

    def mean_abs(self) -> float:
        """E|X| = 2 a / (1 - a^2)."""
        a = math.exp(-1.0 / self.beta)
        return -2.0 * a / math.expm1(-2.0 / self.beta)
