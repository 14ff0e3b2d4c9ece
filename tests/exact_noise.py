"""The noise families recomputed from their definitions at 80 digits, as an oracle for tests.

A family states -log density on t >= 0, up to a constant, in pieces
offset + rate t + curvature t^2 / 2, and the rest is integration. Staircase (endless pieces)
and Subbotin (no quadratic) have their own oracles. Nothing here uses the code under test
beyond the parameters of the noise.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import mpmath as mp

from dpnoise.noise import (
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    OffsetSymmetricGaussian,
    Staircase,
    Subbotin,
    TruncatedLaplace,
    staircase_gamma,
)
from dpnoise_papers.verify import oracles as densities
from dpnoise_papers.verify.oracles import Density


def _pieces(density, *parameters):
    """Pieces (left, right, rate, curvature, offset) of a density of `oracles`, at any precision."""
    found = density(*map(mp.mpf, parameters))
    ends = [*(piece[0] for piece in found.pieces[1:]), found.bound]
    return [
        (mp.mpf(left), mp.mpf(right), rate, curvature, offset)
        for (left, offset, rate, curvature), right in zip(found.pieces, ends, strict=True)
    ]


def huber(alpha, scale):
    tail = (alpha * scale, -alpha * alpha / 2, alpha / scale, 0)
    return Density(((0, 0, 0, 1 / scale**2), tail))


class ExactPieces:
    """Densities proportional to exp(-(offset + rate t + curvature t^2 / 2)), piece by piece."""

    def __init__(self, pieces):
        self.pieces = pieces
        self.half = self.moment(0)

    @property
    def seams(self):
        return [float(p[0]) for p in self.pieces if p[0] > 0]

    def moment(self, power, start=0):
        """Return the integral of t^power exp(-rho) over t >= start."""
        total = mp.mpf(0)
        for left, right, *rho in self.pieces:
            low = max(left, mp.mpf(start))
            if low < right:
                total += integral(power, low, right, rho)
        return total

    def log_density(self, t):
        inside = [p for p in self.pieces if p[0] <= t <= p[1]]
        if not inside:
            return -mp.inf
        _, _, rate, curvature, offset = inside[0]
        return -(offset + rate * t + curvature * t * t / 2) - mp.log(2 * self.half)

    def log_tail(self, t):
        return mp.log(self.moment(0, t) / (2 * self.half))

    def variance(self):
        return self.moment(2) / self.half

    def mean_abs(self):
        return self.moment(1) / self.half

    def fisher(self):
        if self.pieces[-1][1] < mp.inf:
            return mp.inf  # a jump
        total = mp.mpf(0)
        for left, right, *rho in self.pieces:
            rate, curvature = rho[:2]
            for power, factor in [(0, rate**2), (1, 2 * rate * curvature), (2, curvature**2)]:
                total += factor * integral(power, left, right, rho) if factor else 0
        return total / self.half


def integral(power, low, high, rho):
    """Return the integral of t^power exp(-(offset + rate t + curvature t^2 / 2))."""
    rate, curvature, offset = rho
    if not curvature:
        # Not gammainc(n, low, high), which is 0 when the two are close.
        part = mp.gammainc(power + 1, rate * low)
        part -= 0 if high == mp.inf else mp.gammainc(power + 1, rate * high)
        return mp.exp(-offset) * part / rate ** (power + 1)
    # Complete the square: t = u - shift.
    shift = rate / curvature
    total = mp.mpf(0)
    for n in range(power + 1):
        if n < power and not shift:
            continue
        half = mp.mpf(n + 1) / 2
        part = mp.gammainc(half, (low + shift) ** 2 * curvature / 2)
        part -= 0 if high == mp.inf else mp.gammainc(half, (high + shift) ** 2 * curvature / 2)
        part *= (2 / curvature) ** half / 2
        total += mp.binomial(power, n) * (-shift) ** (power - n) * part
    return total * mp.exp(-offset + curvature * shift**2 / 2)


def _upper_gamma(a, u):
    """Return the upper incomplete gamma function; mpmath takes seconds for tiny arguments."""
    if 0 < u < mp.eps:  # two terms of the series of the lower one
        return mp.gamma(a) - u**a * (1 / a - u / (a + 1))
    return mp.gammainc(a, u)


class ExactSubbotin:
    """|T / scale|^p / p has the gamma distribution of shape 1 / p."""

    seams = ()

    def __init__(self, noise):
        self.p, self.scale = mp.mpf(noise.p), mp.mpf(noise.scale)
        self.half = self.moment(0)

    def moment(self, power, start=0):
        """Return the integral of t^power exp(-t^p / (p scale^p)) over t >= start."""
        p = self.p
        shape, low = (power + 1) / p, (mp.mpf(start) / self.scale) ** p / p
        return (self.scale * p ** (1 / p)) ** (power + 1) / p * _upper_gamma(shape, low)

    def log_density(self, t):
        return -((t / self.scale) ** self.p) / self.p - mp.log(2 * self.half)

    def log_tail(self, t):
        return mp.log(self.moment(0, t) / (2 * self.half))

    def variance(self):
        return self.moment(2) / self.half

    def mean_abs(self):
        return self.moment(1) / self.half

    def fisher(self):
        """E of the squared derivative of t^p / (p scale^p)."""
        return self.moment(2 * self.p - 2) / self.half / self.scale ** (2 * self.p)


class ExactStaircase:
    """Steps of height exp(-k epsilon) on [k, k + gamma) and one fall lower on [k + gamma, k + 1).

    All lengths are in units of the sensitivity.
    """

    def __init__(self, noise):
        self.width, self.gamma = mp.mpf(noise.sensitivity), mp.mpf(noise.gamma)
        self.epsilon = mp.mpf(noise.epsilon)
        self.b = mp.exp(-self.epsilon)
        self.half = self.moment(0)
        last = min(60, int(45 / noise.epsilon) + 1)
        self.seams = [
            float(self.width * edge) for k in range(last) for edge in (k + self.gamma, k + 1)
        ]

    def moment(self, power):
        """Return the integral of t^power over t >= 0, by sums of k^n b^k over k."""
        b, total = self.b, mp.mpf(0)
        sums = [1 / (1 - b), b / (1 - b) ** 2, b * (1 + b) / (1 - b) ** 3]
        for n in range(power + 1):
            ways = mp.binomial(power + 1, n)
            # (k + y)^(power + 1) - (k + x)^(power + 1), the coefficient of k^n
            high = self.gamma ** (power + 1 - n)
            total += ways * sums[n] * (high + b * (1 - high))
        return total / (power + 1)

    def _place(self, t):
        k = mp.floor(t / self.width)
        return k, t / self.width - k

    def log_density(self, t):
        k, f = self._place(t)
        return -self.epsilon * (k + (f >= self.gamma)) - mp.log(2 * self.half * self.width)

    def log_tail(self, t):
        k, f = self._place(t)
        rest = max(self.gamma - f, 0) + self.b * (1 - max(self.gamma, f)) + self.b * self.half
        return -self.epsilon * k + mp.log(rest / (2 * self.half))

    def variance(self):
        return self.width**2 * self.moment(2) / self.half

    def mean_abs(self):
        return self.width * self.moment(1) / self.half

    def fisher(self):
        return mp.inf


RATIOS = [0.0, 1e-12, 1e-6, 1e-3, 0.05, 0.5, 0.97, 1.0, 2.0, 5.5, 12.0, 26.0, 39.0, 300.0, 2e4]
FLIPPED = [FlippedHuber(b * g, g) for b, g in zip(RATIOS, [1.0, 0.3, 7.0] * 5, strict=True)]
OFFSETS = [0.0, 1e-12, 1e-3, 0.6, 0.99, 1.0, 2.0, 7.0, 40.0, 1e4, 1e9]
SPREADS = [1.0, 0.3, 7.0, 1.0, 0.3, 7.0, 1.0, 0.3, 7.0, 1.0, 0.3]
OFFSET = [OffsetSymmetricGaussian(s * r, r) for s, r in zip(OFFSETS, SPREADS, strict=True)]
CORNERS = [1e-8, 1e-3, 0.1, 0.5, 0.84, 0.86, 1.0, 2.0, 6.0, 12.0, 39.0, 1e5]
HUBERS = [Huber(a, s) for a, s in zip(CORNERS, [1.0, 0.3, 7.0] * 4, strict=True)]
POWERS = [1.0, 1.001, 1.5, 2.0, 3.7, 20.0, 50.0, 110.0]
SUBBOTIN = [Subbotin(p, s) for p, s in zip(POWERS, [1.0, 40.0] * 4, strict=True)]
REACHES = [1e-12, 1e-3, 0.5, 0.7, 3.0, 40.0, 900.0]
TRUNCATED = [TruncatedLaplace(0.3, 0.3 * r) for r in REACHES]
STEPS = [(1e-6, 0.5), (0.02, 0.4999), (1.0, 0.3775), (1.0, 0.9), (3.0, 1e-9), (40.0, 0.01)]
STAIRS = [Staircase(e, d, c) for (e, c), d in zip(STEPS, [1.0, 3.0] * 3, strict=True)]
STAIRS += [Staircase(700.0, 2.0, staircase_gamma(700.0)), Staircase(700.0, 2.0, 0.5)]


class Row(NamedTuple):
    """The tests' instances of a family, and its oracle as a function of the noise."""

    instances: list
    exact: Callable


# One row for each family of `dpnoise.noise.FAMILIES`: all that the tests need of a new one.
TABLE = {
    Gaussian: Row(
        [Gaussian(1.0), Gaussian(0.02), Gaussian(3e5)],
        lambda n: ExactPieces(_pieces(densities.gaussian, n.sigma)),
    ),
    Laplace: Row(
        [Laplace(1.0), Laplace(40.0)], lambda n: ExactPieces(_pieces(densities.laplace, n.beta))
    ),
    FlippedHuber: Row(
        FLIPPED, lambda n: ExactPieces(_pieces(densities.flipped_huber, n.alpha, n.gamma))
    ),
    OffsetSymmetricGaussian: Row(
        OFFSET, lambda n: ExactPieces(_pieces(densities.offset_symmetric_gaussian, n.theta, n.rho))
    ),
    TruncatedLaplace: Row(
        TRUNCATED, lambda n: ExactPieces(_pieces(densities.truncated_laplace, n.beta, n.bound))
    ),
    Huber: Row(HUBERS, lambda n: ExactPieces(_pieces(huber, n.alpha, n.scale))),
    Subbotin: Row(SUBBOTIN, ExactSubbotin),
    Staircase: Row(STAIRS, ExactStaircase),
}


def exact_noise(noise):
    """Return the oracle of a noise: log_density, log_tail, variance, mean_abs, fisher, seams."""
    return TABLE[type(noise)].exact(noise)


def off(value, exact):
    """Return the relative error of a double against an exact number."""
    if math.isinf(exact):
        return 0.0 if value == float(exact) else math.inf
    return float(abs(mp.mpf(float(value)) - exact) / abs(exact))
