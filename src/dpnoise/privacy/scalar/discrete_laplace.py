"""The exact privacy profile of discrete Laplace noise on an integer-valued query.

Under a shift by d the loss is d / beta for k >= 0, (d - 2 j) / beta for k = -j, 0 < j < d, and
-d / beta for k <= -d. With a = exp(-1 / beta) and m the number of j >= 1 whose loss exceeds
epsilon, the sums over k are geometric:

    (1 + a) delta = 1 - e^(epsilon - d / beta)
                    + (1 - a^m) a (1 - e^(epsilon - (d - m - 1) / beta)).

Both terms are positive, and the differences are taken from the exact values of the doubles.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.noise.exact import as_double, as_double_above
from dpnoise.privacy.scalar.staircase import product_minus

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.noise.integers import DiscreteLaplace


class DiscreteLaplaceShift:
    """Discrete Laplace noise and a shift of it by a positive integer."""

    log_error, epsilon_error = 4e-12, 0.0
    smallest_delta = Fraction(0)

    def __init__(self, noise: DiscreteLaplace, shift: Fraction) -> None:
        self._beta, self._d = noise.beta, as_double(shift)
        self._rate = 1.0 / noise.beta
        self._log_norm = math.log1p(math.exp(-self._rate))
        self.largest_loss = as_double_above(noise.largest_loss(shift))

    def _gap(self, steps: Array, epsilon: Array) -> Array:
        """Epsilon - steps / beta."""
        return product_minus(epsilon, np.full_like(epsilon, self._beta), steps) / self._beta

    def log_delta_and_slope(self, epsilon: Array) -> tuple[Array, Array]:
        """Log delta, and log of -d delta / d epsilon (from the right), at epsilon >= 0."""
        some = epsilon < self.largest_loss
        finite = np.where(some, epsilon, 0.0)
        d = np.full_like(epsilon, self._d)
        m = np.maximum(np.ceil(0.5 * (d - finite * self._beta)) - 1.0, 0.0)
        # Rounding must not move m past a tie.
        m = np.where((m >= 1.0) & (self._gap(d - 2.0 * m, finite) >= 0.0), m - 1.0, m)
        m = np.where(self._gap(d - 2.0 * (m + 1.0), finite) < 0.0, m + 1.0, m)
        first = -np.expm1(np.minimum(self._gap(d, finite), 0.0))
        rest = -np.expm1(np.minimum(self._gap(d - m - 1.0, finite), 0.0))
        rest = np.where(m >= 1.0, -np.expm1(-m * self._rate) * math.exp(-self._rate) * rest, 0.0)
        with np.errstate(divide="ignore"):  # no loss is larger
            log_delta = np.log(np.where(some, first + rest, 0.0)) - self._log_norm
        log_slope = self._gap(d - m, finite) - self._log_norm
        return np.minimum(log_delta, 0.0), np.where(some, log_slope, -math.inf)
