"""The exact privacy profile of staircase noise, by geometric sums.

Geng & Viswanath, "The optimal noise-adding mechanism in differential privacy" (2016). In units
of the step width the density is a b^kappa(|t|), b = exp(-epsilon), where kappa(x) counts the
edges gamma, 1 + gamma, 2 + gamma, ... up to x. A shift by d = j + r, 0 <= r < 1, has the loss
n epsilon with n = kappa(|t + d|) - kappa(|t|), and delta is the sum of P(n) (1 - e^(eps - n
epsilon)) over the n from N = floor(eps / epsilon) + 1 on.

For t >= 0 n is j or j + 1, since the edges have distance 1. For t = -u < 0, n falls by 1 with
growing u at each edge u = i + gamma and each u = i + rho, rho = frac(d - gamma): it is
kappa(d) - 2 m and kappa(d) - 2 m - 1 on alternating intervals whose density is proportional to
b^m. (n >= 1 lies on this side of the middle, u < d / 2, since n is odd about it.) The sums over
m are geometric:

    (1 - b) sum_{m <= M} b^m (1 - e^(-z - 2 (M - m) epsilon))
        = (1 - b^(M + 1)) [1 - e^-z + e^-z (1 - b^M)].
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.noise.exact import as_double_above

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.noise.stepwise import Staircase

_SPLITTER = 2.0**27 + 1.0


def _split(x: Array) -> tuple[Array, Array]:
    """Two numbers of 26 bits whose sum is `x` (Veltkamp)."""
    high = _SPLITTER * x
    high = high - (high - x)
    return high, x - high


def product_minus(a: Array, b: Array, c: Array) -> Array:
    """A b - c with a small relative error, even where they are close (Dekker)."""
    product = a * b
    (a1, a2), (b1, b2) = _split(a), _split(b)
    error = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2
    return (product - c) + error


class StaircaseShift:
    """Staircase noise and a positive shift of it, in the units of the noise."""

    log_error, epsilon_error = 4e-12, 0.0
    smallest_delta = Fraction(0)

    def __init__(self, noise: Staircase, shift: Fraction) -> None:
        d, gamma = shift / Fraction(noise.sensitivity), Fraction(noise.gamma)
        whole, edge = math.floor(d), math.floor(d - gamma)
        self._step, self._fall = noise.epsilon, math.exp(-noise.epsilon)
        self._drop = -math.expm1(-noise.epsilon)
        b, drop = self._fall, self._drop
        self._scale = 0.5 / (noise.gamma + b * (1.0 - noise.gamma))
        self._most = float(edge + 1)  # kappa(d)
        r, rho = d - whole, d - gamma - edge
        # The masses over t >= 0, in units of self._scale.
        low, high = min(r, gamma), gamma - min(r, gamma)
        self._right = (
            (float(whole + 1), drop * float(low) + b * float(r)),
            (float(whole), drop * float(high) + b * float(1 - r)),
        )
        low, high = min(gamma, rho), max(gamma, rho)
        self._first, self._even = float(low), float(low + 1 - high)
        self._odd = float(high - low) * (b if gamma <= rho else 1.0)
        self.largest_loss = as_double_above(math.ceil(d) * Fraction(noise.epsilon))

    def _gap(self, n: Array, epsilon: Array) -> Array:
        return product_minus(n, np.full_like(n, self._step), epsilon)

    def _first_step(self, epsilon: Array) -> Array:
        """N, the least n with n step > epsilon."""
        n = np.floor(np.minimum(epsilon / self._step, 2.0**52)) + 1.0
        n = np.where(self._gap(n - 1.0, epsilon) > 0.0, n - 1.0, n)
        return np.where(self._gap(n, epsilon) <= 0.0, n + 1.0, n)

    def _sum(self, top: Array, smallest: Array, epsilon: Array) -> tuple[Array, Array]:
        """Sums of (1 - b) b^m (1 - e^-y) and (1 - b) b^m e^-y over n = top - 2 m >= smallest."""
        some = top >= smallest
        m = np.where(some, np.floor(0.5 * (top - smallest)), 0.0)
        z = np.where(some, self._gap(np.where(some, top - 2.0 * m, smallest), epsilon), 0.0)
        mass = np.where(some, -np.expm1(-(m + 1.0) * self._step), 0.0)
        return (
            mass * (-np.expm1(-z) - np.exp(-z) * np.expm1(-m * self._step)),
            mass * np.exp(-z - m * self._step),
        )

    def log_delta_and_slope(self, epsilon: Array) -> tuple[Array, Array]:
        """Log delta, and log of -d delta / d epsilon (from the right), at epsilon >= 0."""
        smallest = self._first_step(epsilon)
        most = np.full_like(epsilon, self._most)
        delta, slope = np.zeros((2, epsilon.size))
        single = [*self._right, (self._most, self._drop * self._first)]
        for n, mass in single:
            y = self._gap(np.full_like(epsilon, n), epsilon)
            counts = y > 0.0
            y = np.where(counts, y, 0.0)
            delta += mass * -np.expm1(-y)
            slope += np.where(counts, mass * np.exp(-y), 0.0)
        for top, mass in ((most - 2.0, self._fall * self._even), (most - 1.0, self._odd)):
            more, steeper = self._sum(top, smallest, epsilon)
            delta += mass * more
            slope += mass * steeper
        with np.errstate(divide="ignore"):  # no loss is larger
            return np.log(self._scale * delta), np.log(self._scale * slope)
