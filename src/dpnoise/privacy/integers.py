"""Exact privacy profiles of staircase noise, and of noise on the integers for integer queries.

**Staircase noise.** Geng & Viswanath, "The optimal noise-adding mechanism in differential privacy"
(2016). In units of the step width the density is a b^kappa(|t|), b = exp(-epsilon), where kappa(x)
counts the edges gamma, 1 + gamma, 2 + gamma, ... up to x. A shift by d = j + r, 0 <= r < 1, has
the loss n epsilon with n = kappa(|t + d|) - kappa(|t|), and delta is the sum of P(n) (1 - e^(eps -
n epsilon)) over the n from N = floor(eps / epsilon) + 1 on.

For t >= 0 n is j or j + 1, since the edges have distance 1. For t = -u < 0, n falls by 1 with
growing u at each edge u = i + gamma and each u = i + rho, rho = frac(d - gamma): it is
kappa(d) - 2 m and kappa(d) - 2 m - 1 on alternating intervals whose density is proportional to
b^m. (n >= 1 lies on this side of the middle, u < d / 2, since n is odd about it.) The sums over
m are geometric:

    (1 - b) sum_{m <= M} b^m (1 - e^(-z - 2 (M - m) epsilon))
        = (1 - b^(M + 1)) [1 - e^-z + e^-z (1 - b^M)].

Discrete staircase noise has the loss of a continuous one.

**Discrete Laplace noise.** Under a shift by d the loss is d / beta for k >= 0, (d - 2 j) / beta for
k = -j, 0 < j < d, and -d / beta for k <= -d. With a = exp(-1 / beta) and m the number of j >= 1
whose loss exceeds epsilon, the sums over k are geometric:

    (1 + a) delta = 1 - e^(epsilon - d / beta)
                    + (1 - a^m) a (1 - e^(epsilon - (d - m - 1) / beta)).

Both terms are positive, and the differences are taken from the exact values of the doubles.

**Discrete Gaussian noise.** Canonne, Kamath & Steinke, "The discrete Gaussian for differential
privacy" (NeurIPS 2020), Theorem 7: with k1 the least integer whose privacy loss
(2 k d + d^2) / (2 sigma^2) exceeds epsilon, delta = P(X >= k1) - e^epsilon P(X >= k1 + d). The
difference is taken term by term,

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

from dpnoise.noise.exact import as_double, as_double_above
from dpnoise.noise.exponential_power import mills_ratio
from dpnoise.privacy.pieces import normal_fall

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.noise.integers import DiscreteGaussian, DiscreteLaplace
    from dpnoise.noise.stepwise import Staircase


_SPLITTER = 2.0**27 + 1.0
# From this sigma on, and up to k = sigma^2, the remainder of Euler and Maclaurin is below
# 2 (2 pi)^-16 of the sum after eight corrections, B_2i / (2i)! times derivatives of order 2i - 1.
_WIDE = 16.0
_BERNOULLI = [special.bernoulli(2 * i)[-1] / math.factorial(2 * i) for i in range(1, 9)]
_CUT = 45.0


def _split(x: Array) -> tuple[Array, Array]:
    """Two numbers of 26 bits whose sum is `x` (Veltkamp)."""
    high = _SPLITTER * x
    high = high - (high - x)
    return high, x - high


def _product_minus(a: Array, b: Array, c: Array) -> Array:
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
        return _product_minus(n, np.full_like(n, self._step), epsilon)

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
        return _product_minus(epsilon, np.full_like(epsilon, self._beta), steps) / self._beta

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
