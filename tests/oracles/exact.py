"""Noise of one number with any digits: density, tail, moments, Fisher information, profile.

All rests on the integrals of t^n exp(-psi(t)) over t >= start: incomplete gamma functions where
psi is quadratic in pieces (`densities`) or a power, sums over steps where it is a staircase. The
privacy profile is the plain difference P(T > t) - e^epsilon P(T > t + d) at the last t with a loss
of at most epsilon, with more digits than it can lose; for staircases, a sum over their steps.

Parameters are plain numbers. Digits are those of mpmath, but the profile chooses its own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import mpmath as mp

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise_papers.verify.oracles.densities import Density

Number: TypeAlias = Any  # of any type that mpmath takes, or a number of mpmath
_DEEPEST = mp.mpf(10) ** 400  # in the exponent of a density


class Symmetric(ABC):
    """Symmetric noise, which is made again by what is `given` where more digits are needed."""

    bound: Number = mp.inf
    seams: tuple[float, ...] = ()  # points t > 0 where the density is not smooth

    def __init__(self, *given: Number) -> None:
        self.given = given

    @abstractmethod
    def moment(self, power: Number, start: Number = 0) -> Number:
        """Integral of t^power over t >= start by the density without its normaliser."""

    @abstractmethod
    def psi(self, t: Number) -> Number:
        """Minus the logarithm of the density at t >= 0, without its normaliser."""

    @cached_property
    def half(self) -> Number:
        """Integral over t >= 0 of the density without its normaliser."""
        return self.moment(0)

    def log_density(self, t: Number) -> Number:
        """Logarithm of the density at t >= 0."""
        return -self.psi(t) - mp.log(2 * self.half) if t <= self.bound else -mp.inf

    def log_tail(self, t: Number) -> Number:
        """Logarithm of P(T > t) at t >= 0."""
        return mp.log(self.moment(0, t) / (2 * self.half))

    def variance(self) -> Number:
        """Variance."""
        return self.moment(2) / self.half

    def mean_abs(self) -> Number:
        """Mean of abs(T)."""
        return self.moment(1) / self.half

    def fisher(self) -> Number:
        """Fisher information; infinite where the density jumps."""
        return mp.inf

    def loss(self, t: Number, shift: Number) -> Number:
        """Privacy loss log g(t) - log g(t + shift)."""
        return self.psi(abs(t + shift)) - self.psi(abs(t))

    def crossing(self, shift: Number, epsilon: Number) -> Number | None:
        """Last t with a rising loss of at most epsilon, by bisection; None where no loss is larger.

        None too where a larger loss is beyond all numbers, delta being below exp(-_DEEPEST).
        """
        low, high = -shift / 2, shift
        # ends: doubles up to a cap, which powers close to 1 reach
        while self.loss(high, shift) < epsilon:
            high *= 2
            if self.psi(high) > _DEEPEST:
                return None
        for _ in range(int(4 * mp.mp.dps)):
            middle = (low + high) / 2
            low, high = (middle, high) if self.loss(middle, shift) < epsilon else (low, middle)
        return low

    def delta(self, shift: Number, epsilon: Number) -> Number:
        """Privacy profile at epsilon >= 0."""
        with mp.workdps(self._digits(shift, epsilon)):
            return type(self)(*self.given).delta_here(mp.mpf(shift), mp.mpf(epsilon))

    def log_delta(self, shift: Number, epsilon: Number) -> Number:
        """Logarithm of the privacy profile at epsilon >= 0, minus infinity where it is 0."""
        delta = self.delta(shift, epsilon)
        with mp.workdps(self._digits(shift, epsilon)):
            return mp.log(delta) if delta > 0 else -mp.inf

    def _digits(self, shift: Number, epsilon: Number) -> int:
        """Digits for what cancels: small shifts twice, and the depth of the tail."""
        narrow = max(0, -2 * math.log10(shift / self._size))
        return 90 + int(narrow) + int(3 * math.log10(1 + epsilon))

    @cached_property
    def _size(self) -> float:
        """Mean of abs(T) as a double."""
        with mp.workdps(60):
            return float(type(self)(*self.given).mean_abs())

    def delta_here(self, shift: Number, epsilon: Number) -> Number:
        """Profile with the digits that are set."""
        if 2 * self.bound <= shift:
            return mp.mpf(1)
        t = self.crossing(shift, epsilon)
        if t is None:
            return mp.mpf(0)
        here, there = (
            part if x >= 0 else 1 - part
            for x, part in ((x, self.moment(0, abs(x)) / (2 * self.half)) for x in (t, t + shift))
        )
        return max(here - mp.exp(epsilon) * there, mp.mpf(0))


class Pieces(Symmetric):
    """Noise with psi quadratic in pieces: a density of `densities`, by its parameters."""

    def __init__(self, density: Callable[..., Density], *parameters: Number) -> None:
        super().__init__(density, *parameters)
        found = density(*map(mp.mpf, parameters))
        ends = [*(piece[0] for piece in found.pieces[1:]), found.bound]
        self.bound = mp.mpf(found.bound)
        self.pieces = [  # left, right, rate, curvature, offset
            (mp.mpf(left), mp.mpf(right), rate, curvature, offset)
            for (left, offset, rate, curvature), right in zip(found.pieces, ends, strict=True)
        ]
        self.seams = tuple(float(piece[0]) for piece in self.pieces if piece[0] > 0)

    def moment(self, power: Number, start: Number = 0) -> Number:
        """Integral of t^power over t >= start by the density without its normaliser."""
        total = mp.mpf(0)
        for left, right, *psi in self.pieces:
            low = max(left, mp.mpf(start))
            if low < right:
                total += _integral(power, low, right, psi)
        return total

    def psi(self, t: Number) -> Number:
        """Minus the logarithm of the density at t >= 0, without its normaliser."""
        _, _, rate, curvature, offset = [piece for piece in self.pieces if piece[0] <= t][-1]
        return offset + t * (rate + curvature * t / 2)

    def fisher(self) -> Number:
        """Fisher information; infinite where the density jumps."""
        if self.bound < mp.inf:
            return mp.inf
        total = mp.mpf(0)
        for left, right, *psi in self.pieces:
            rate, curvature = psi[:2]
            for power, factor in [(0, rate**2), (1, 2 * rate * curvature), (2, curvature**2)]:
                total += factor * _integral(power, left, right, psi) if factor else 0
        return total / self.half

    def crossing(self, shift: Number, epsilon: Number) -> Number | None:
        """Last t whose loss is at most epsilon, by parabolas through three values of the loss."""
        loss = partial(self.loss, shift=shift)
        marks = {s * p[0] + o for p in self.pieces for s in (1, -1) for o in (0, -shift)}
        edges = sorted(e for e in marks | {-shift / 2} if e >= -shift / 2)
        if self.bound < mp.inf:
            edges = [e for e in edges if e < self.bound - shift] + [self.bound - shift]
        k = max(i for i, e in enumerate(edges) if loss(e) <= epsilon)
        start = edges[k]
        if k == len(edges) - 1:
            if self.bound < mp.inf:
                return start
            slope = loss(start + shift) - loss(start)
            tiny = mp.mpf(10) ** (-mp.mp.dps + 20) * (abs(loss(start)) + 1)
            return None if slope < tiny else start + shift * (epsilon - loss(start)) / slope
        width = edges[k + 1] - start
        low, middle, high = (loss(start + width * s) for s in (0, mp.mpf(1) / 2, 1))
        a, b, c = 2 * (low - 2 * middle + high), 4 * middle - 3 * low - high, epsilon - low
        if c == 0:
            return start
        return start + width * 2 * c / (b + mp.sqrt(max(b * b + 4 * a * c, 0)))


def _integral(power: int, low: Number, high: Number, psi: list[Number]) -> Number:
    """Integral of t^power exp(-(offset + rate t + curvature t^2 / 2))."""
    rate, curvature, offset = psi
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


class Power(Symmetric):
    """Noise with psi = (t / scale)^p / p, which has the gamma distribution of shape 1 / p."""

    def __init__(self, p: Number, scale: Number) -> None:
        super().__init__(p, scale)
        self.p, self.scale = mp.mpf(p), mp.mpf(scale)

    def moment(self, power: Number, start: Number = 0) -> Number:
        """Integral of t^power over t >= start by the density without its normaliser."""
        p = self.p
        part = _upper_gamma((power + 1) / p, self.psi(mp.mpf(start)))
        return (self.scale * p ** (1 / p)) ** (power + 1) / p * part

    def psi(self, t: Number) -> Number:
        """Minus the logarithm of the density at t >= 0, without its normaliser."""
        return (t / self.scale) ** self.p / self.p

    def fisher(self) -> Number:
        """Mean of the squared derivative of psi."""
        return self.moment(2 * self.p - 2) / self.half / self.scale ** (2 * self.p)


def _upper_gamma(a: Number, u: Number) -> Number:
    """Upper incomplete gamma function; mpmath takes seconds for tiny arguments."""
    if 0 < u < mp.eps:  # two terms of the series of the lower one
        return mp.gamma(a) - u**a * (1 / a - u / (a + 1))
    return mp.gammainc(a, u)


class Stairs(Symmetric):
    """Steps of height exp(-k epsilon) on [k, k + gamma) widths, one fall lower up to k + 1."""

    def __init__(self, epsilon: Number, width: Number, gamma: Number) -> None:
        super().__init__(epsilon, width, gamma)
        self.epsilon, self.width, self.gamma = mp.mpf(epsilon), mp.mpf(width), mp.mpf(gamma)
        self.b = mp.exp(-self.epsilon)
        last = min(60, int(45 / self.epsilon) + 1)
        self.seams = tuple(
            float(self.width * edge) for k in range(last) for edge in (k + self.gamma, k + 1)
        )

    def moment(self, power: Number, start: Number = 0) -> Number:
        """Integral of t^power over t >= 0, by the sums of k^n b^k over k; of 1 from any start."""
        if start:
            return 2 * self.half * mp.exp(self.log_tail(start))
        sums: list[Number] = []
        for n in range(power + 1):  # b times the sum of (k + 1)^n b^k is that of k^n b^k, n > 0
            before = sum(mp.binomial(n, j) * one for j, one in enumerate(sums))
            sums.append((self.b * before if n else 1) / -mp.expm1(-self.epsilon))
        total = mp.mpf(0)
        for n in range(power + 1):
            # (k + y)^(power + 1) - (k + x)^(power + 1), the coefficient of k^n
            high = self.gamma ** (power + 1 - n)
            total += mp.binomial(power + 1, n) * sums[n] * (high + self.b * (1 - high))
        return self.width ** (power + 1) * total / (power + 1)

    def _place(self, t: Number) -> tuple[Number, Number]:
        """Number of whole widths in t, and the rest as a share of one."""
        k = mp.floor(t / self.width)
        return k, t / self.width - k

    def psi(self, t: Number) -> Number:
        """Minus the logarithm of the density at t >= 0, without its normaliser."""
        k, rest = self._place(t)
        return self.epsilon * (k + (rest >= self.gamma))

    def log_tail(self, t: Number) -> Number:
        """Logarithm of P(T > t) at t >= 0."""
        (k, f), half = self._place(t), self.half / self.width
        rest = max(self.gamma - f, 0) + self.b * (1 - max(self.gamma, f)) + self.b * half
        return -self.epsilon * k + mp.log(rest / (2 * half))

    def delta_here(self, shift: Number, epsilon: Number) -> Number:
        """Profile, by adding up steps down to e^-75."""
        last = int(75 / self.epsilon) + int(shift / self.width) + 3
        edges = [(k + self.gamma) * self.width for k in range(last)]
        cuts = sorted({s * e + o for e in edges for s in (1, -1) for o in (0, -shift)})

        def height(t: Number) -> Number:
            steps = max(mp.floor(abs(t) / self.width - self.gamma) + 1, 0)
            return mp.exp(-self.epsilon * steps)

        level, total, delta = mp.exp(epsilon), mp.mpf(0), mp.mpf(0)
        for a, b in pairwise(cuts):
            t = (a + b) / 2
            total += (b - a) * height(t)
            delta += (b - a) * max(height(t) - level * height(t + shift), 0)
        return delta / total
