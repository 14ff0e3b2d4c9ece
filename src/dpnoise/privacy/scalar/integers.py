"""The privacy profile of discrete Gaussian noise on an integer-valued query.

Canonne, Kamath & Steinke, "The discrete Gaussian for differential privacy" (NeurIPS 2020),
Theorem 7: with k1 the least integer whose privacy loss (2 k d + d^2) / (2 sigma^2) exceeds
epsilon, delta = P(X >= k1) - e^epsilon P(X >= k1 + d). The difference is taken term by term,

    delta / P(X = k1) = sum over j >= 0 of exp(-(2 j k1 + j^2) / (2 sigma^2))
                        (1 - exp(-gap - j d / sigma^2)),    gap = loss(k1) - epsilon,

or, where many terms count, by the formula of Euler and Maclaurin around the normal integral.
k1 and the gap are those of the doubles given, in integer arithmetic: where epsilon is a value of
the loss, up to rounding, the gap is all of the first term, and the others may be far smaller.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise.noise.exact import as_double
from dpnoise.noise.exponential_power import mills_ratio
from dpnoise.privacy.scalar.tail_ratio import normal_fall

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.noise.integers import DiscreteGaussian

# From this sigma on, and up to k = sigma^2, the remainder of Euler and Maclaurin is below
# 2 (2 pi)^-16 of the sum after eight corrections, B_2i / (2i)! times derivatives of order 2i - 1.
_WIDE = 16.0
_BERNOULLI = [special.bernoulli(2 * i)[-1] / math.factorial(2 * i) for i in range(1, 9)]
_CUT = 45.0


class IntegerShift:
    """Discrete Gaussian noise and a shift of it by a positive integer."""

    largest_loss = math.inf
    smallest_delta = Fraction(0)
    log_error = 4e-12
    epsilon_error = 0.0

    def __init__(self, noise: DiscreteGaussian, shift: Fraction) -> None:
        self._noise, self._sigma, self._d = noise, noise.sigma, as_double(shift)
        self._rate = self._d / noise.sigma**2  # by which the loss grows with k
        self._square = Fraction(noise.sigma) ** 2

    def _first_above(self, epsilon: Array) -> tuple[Array, Array]:
        """The least integer whose loss exceeds epsilon, and by how much, without rounding.

        Its loss is d (2 k + d) / (2 sigma^2); sigma^2 = n / m and epsilon = p / q are rational.
        """
        (n, m), d = self._square.as_integer_ratio(), int(self._d)
        k, gap = np.empty_like(epsilon), np.empty_like(epsilon)
        for i, (p, q) in enumerate(map(float.as_integer_ratio, epsilon.tolist())):
            step, bar = 2 * d * m * q, 2 * n * p - d * d * m * q
            first = bar // step + 1
            k[i], gap[i] = first, (first * step - bar) / (2 * n * q)
        return k, gap

    def _terms(self, k: Array, gap: Array) -> Array:
        """The sum term by term."""
        smallest, total = float(np.min(k, initial=math.inf)), np.zeros_like(k)
        if not k.size:
            return total
        # (2 j k + j^2) / (2 sigma^2) passes the cut at the latest here.
        root = math.sqrt(smallest * smallest + 2.0 * _CUT * self._sigma**2)
        most = (
            2.0 * _CUT * self._sigma**2 / (root + smallest) if smallest > 0.0 else root - smallest
        )
        for j in range(int(most) + 2):
            total += self._weight(k, j) * -np.expm1(-gap - j * self._rate)
        return total

    def _weight(self, k: Array, j: int) -> Array:
        """P(X = k + j) / P(X = k)."""
        return np.exp(-j * (2.0 * k + j) / (2.0 * self._sigma**2))

    def _derivatives(self, z: Array) -> Array:
        """The corrections of one normal density, from its Hermite polynomials."""
        total, before, now = np.zeros_like(z), np.ones_like(z), z
        for i, factor in enumerate(_BERNOULLI, start=1):
            total += factor * now * self._sigma ** (1.0 - 2.0 * i)
            for n in (2 * i - 1, 2 * i):
                before, now = now, z * now - n * before
        return total

    def _smooth(self, k: Array, gap: Array) -> Array:
        """The sum as integral + half the first term - derivatives at the start."""
        sigma, z, width = self._sigma, k / self._sigma, np.full_like(k, self._d / self._sigma)
        first, shrink = -np.expm1(-gap), np.exp(-gap)
        total = sigma * (first * mills_ratio(z) + shrink * normal_fall(z, width)) + 0.5 * first
        total += self._derivatives(z) - shrink * self._derivatives(z + width)
        return total

    def _apart(self, k: Array, gap: Array) -> Array:
        """The sum where P(X >= k) exceeds e^epsilon P(X >= k + d) by far."""
        z = k / self._sigma
        total = self._sigma * mills_ratio(z) + 0.5 + self._derivatives(z)
        return total - np.exp(-gap) * self._ratio(k + self._d)

    def _ratio(self, k: Array) -> Array:
        """P(X >= k) / P(X = k) for k > 0."""
        ratio = np.empty_like(k)
        smooth = (self._sigma >= _WIDE) & (k <= self._sigma**2)
        z, rest = k[smooth] / self._sigma, k[~smooth]
        ratio[smooth] = self._sigma * mills_ratio(z) + 0.5 + self._derivatives(z)
        most = int(_CUT) if self._sigma >= _WIDE else 150
        ratio[~smooth] = sum(self._weight(rest, j) for j in range(most + 1))
        return ratio

    def log_delta_and_slope(self, epsilon: Array) -> tuple[Array, Array]:
        """Log delta, and log of -d delta / d epsilon (from the right), at epsilon >= 0."""
        d = self._d
        k, gap = self._first_above(epsilon)
        log_mass = self._noise.logpmf(k)
        slope = log_mass - gap + np.log(self._ratio(k + d))
        rest = self._noise.sf(-k) + np.exp(np.minimum(slope, 0.0))
        value = np.empty_like(epsilon)
        upper = (k <= 0.0) & (rest < 0.5)
        value[upper] = np.log1p(-rest[upper])
        many = ~upper & (self._sigma >= _WIDE) & (k <= 0.5 * self._sigma**2)
        smooth = many & (k + d <= self._sigma**2)
        cases = (
            (smooth, self._smooth),
            (many & ~smooth, self._apart),
            (~upper & ~many, self._terms),
        )
        for here, formula in cases:
            # A sum that underflows stands beside a far smaller probability.
            log_sum = np.log(np.maximum(formula(k[here], gap[here]), 1e-300))
            value[here] = log_mass[here] + log_sum
        return np.minimum(value, 0.0), slope
