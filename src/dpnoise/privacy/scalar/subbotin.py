"""The privacy profile of Subbotin noise, by quadrature of positive terms.

With psi = |t|^p / p in units of the scale the privacy loss L(t) = psi(t + d) - psi(t) grows with
t. With t1 the root of L = epsilon,

    delta / g(t1) = integral over t > t1 of exp(psi(t1) - psi(t)) (1 - exp(epsilon - L(t))),

by the double exponential rule between 0, where the powers have kinks, and the places where t and
t + d leave the bulk of the density, the sharper the larger p. L is a difference of powers; its
rounding, a few p units in its last place, is as good as an error of that size in epsilon.

Domain: p from 1 to 1000 (1 and 2 have closed forms elsewhere), shifts from 1e-100 to 1e50 times
E|T|, epsilon up to 1e100. Proved: the root is bracketed, and one that is not found raises. Tested,
not proved: the error of the quadrature, against incomplete gamma functions at 110 digits, with p
from 1.00001 to 1000, round shifts, those within a percent of the bulk's edges p^(1/p) and its
double, tiny and huge ones, epsilon from 0 on, and delta down to 1e-300: below 2e-12 of delta, and
1e-13 for p <= 100, beside that error in epsilon. What is handed out allows for 4e-11.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise.noise.exact import as_double

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.noise.exponential_power import Subbotin

_STEP, _REACH = 1.0 / 40.0, 3.25  # of the double exponential rule, for p up to 1000
_CUT = 60.0  # the density falls by exp(-60) over the range of integration
_CHUNK = 1000
_STEPS = 400
_TINY = 1e-290  # below it 1 - (1 - x)^p has no digits or no double
_DEEPEST = 1e300  # the largest psi(t1) that is followed


def _rule() -> tuple[Array, Array]:
    """Nodes and weights on (0, 1)."""
    s = np.arange(-_REACH, _REACH + _STEP, _STEP)
    x = math.pi * np.sinh(s)
    nodes = special.expit(x)
    return nodes, _STEP * math.pi * np.cosh(s) * nodes * special.expit(-x)


_NODES, _WEIGHTS = _rule()


class SubbotinShift:
    """Subbotin noise with p > 1 and a positive shift of it, in the units of the noise."""

    largest_loss = math.inf
    smallest_delta = Fraction(0)
    log_error = 4e-11  # twenty times what was seen at p = 1000

    def __init__(self, noise: Subbotin, shift: Fraction) -> None:
        self._noise = noise.scaled(1.0 / noise.scale)
        self.epsilon_error = noise.p * 2.0**-50
        self._p, self._d = noise.p, as_double(shift / noise.scale)
        self._log_peak = float(self._noise.logpdf(0.0))

    def _loss(self, t2: Array, distance: Array) -> Array:
        """psi(t2) - psi(t2 - distance) for t2 >= distance."""
        ratio = self._p * np.log1p(-distance / t2)  # log 0 leaves psi(0) = 0
        return t2**self._p / self._p * -np.expm1(ratio)

    def _log_gain(self, t2: Array, distance: Array | float, epsilon: Array) -> tuple[Array, Array]:
        """Log of L / epsilon at t2 and t1 = t2 - distance, and 1 - |t1 / t2|^p."""
        p, share = self._p, distance / t2
        fall = -np.expm1(p * np.log1p(-share))
        few = math.log(p) + np.log(distance) - np.log(t2)
        log_fall = np.where(share > _TINY, np.log(fall), few)
        log_gain = p * np.log(t2) - math.log(p) + log_fall - np.log(epsilon)
        # Near the root the power itself has more digits than its logarithm.
        close = np.abs(log_gain) < 1.0
        ratio = np.where(close, t2**p / p * fall / epsilon, 0.0)
        usable = close & (ratio > 0.1) & (ratio < 10.0)
        return np.where(usable, np.log(np.where(usable, ratio, 1.0)), log_gain), fall

    def _crossing(self, epsilon: Array) -> Array:
        """The root t1 of L = epsilon, infinite beyond the deepest psi; RuntimeError if not found.

        For t1 < 0 the unknown x is t1 + d / 2, with L = psi(d / 2 + x) - psi(d / 2 - x), else it
        is t2. The logarithm of L is nearly linear in that of x: Newton's method in a bracket.
        """
        p, d, log_d = self._p, self._d, math.log(self._d)
        zero = epsilon == 0.0  # there the root is -d / 2
        epsilon = np.where(zero, 1.0, epsilon)
        log_e = np.log(epsilon)
        left = log_e <= p * log_d - math.log(p)
        log_deepest = (math.log(p) + math.log(_DEEPEST)) / p
        deepest = math.exp(log_deepest)
        beyond = ~left & (self._log_gain(np.full_like(epsilon, deepest + d), d, epsilon)[0] < 0.0)
        # For t1 < 0 L <= 2 x psi'(d); else d psi'(t1) <= L <= d psi'(t2). Then some slack for
        # rounding.
        log_bound = (log_e - log_d) / (p - 1.0)
        slack = 2.0**-48 * (1.0 + (np.abs(log_e) + abs(log_d)) / (p - 1.0))
        log_bound = np.minimum(log_bound, log_deepest)
        smallest = np.maximum(log_e - math.log(2.0) - (p - 1.0) * log_d, log_d - 44.0)
        half = 0.5 * d
        low = np.where(left, np.exp(np.minimum(smallest - 1e-9, log_d - 1.0)), half)
        low = np.where(left, low, np.maximum(np.exp(log_bound - slack), d))
        high = np.where(left, half, d + np.exp(np.minimum(log_bound + slack, log_deepest)))
        x, result = np.where(left, high, low), np.full_like(epsilon, math.inf)
        result[zero] = -half
        open_ = np.flatnonzero(~beyond & ~zero)
        # ends: raises
        for k in range(_STEPS):
            at, on_left, target = x[open_], left[open_], epsilon[open_]
            t2 = np.where(on_left, half + at, at)
            distance = np.where(on_left, 2.0 * at, d)
            gain, fall = self._log_gain(t2, distance, target)
            low[open_], high[open_] = (
                np.where(gain < 0.0, at, low[open_]),
                np.where(gain < 0.0, high[open_], at),
            )
            result[open_] = np.where(on_left, at - half, at - d)
            # A gain of this size is rounding; so is such a bracket.
            done = np.abs(gain) <= p * 2.0**-53
            done |= high[open_] - low[open_] <= 2.0**-52 * high[open_]
            done |= on_left & (high[open_] <= 2.0**-60 * d)
            open_ = open_[~done]
            if not open_.size:
                return result
            at, on_left, gain, fall = at[~done], on_left[~done], gain[~done], fall[~done]
            t2, distance = t2[~done], distance[~done]
            other = np.exp((p - 1.0) * np.log1p(-distance / t2))  # psi'(|t1|) / psi'(t2)
            # Of log L in log x; on the right it is between p - 1 and p.
            slope = p * np.where(on_left, at / t2 * (1.0 + other), 1.0 - other)
            slope = np.where(fall > _TINY, slope / np.maximum(fall, _TINY), p - 1.0)
            new = at * np.exp(-gain / slope)
            a, b = low[open_], high[open_]
            middle = np.where(b < 2.0 * a, a + 0.5 * (b - a), np.sqrt(a) * np.sqrt(b))
            inside = (new > a) & (new < b) & (k % 4 != 3)
            x[open_] = np.where(inside, new, middle)
        message = f"Subbotin profile: no crossing of the loss at epsilon={epsilon[open_[0]]!r}"
        raise RuntimeError(message)

    def _end(self, t: Array) -> Array:
        """The place up to which psi grows by the cut from t >= 0."""
        return (t**self._p + self._p * _CUT) ** (1.0 / self._p)

    def _rise(self, t: Array, x: Array) -> Array:
        """psi(t + x) - psi(t) for t >= 0, x >= 0."""
        p, near = self._p, x < t
        ratio = np.where(near, x, 0.0) / np.where(near, t, 1.0)
        return np.where(near, t**p * np.expm1(p * np.log1p(ratio)), (t + x) ** p - t**p) / p

    def _integral(self, t1: Array, epsilon: Array) -> Array:
        """Delta / g(t1)."""
        d, eps = self._d, epsilon[:, None]
        start = np.maximum(t1, 0.0)
        far = start**self._p > self._p * _CUT  # no more than a few decay lengths
        length = np.where(far, self._far_length(start), self._end(start) - start)
        total = np.zeros_like(t1)
        bulk = self._p ** (1.0 / self._p)
        cuts = [np.clip(c - start, 0.0, length) for c in (0.0, bulk - d, bulk)] + [length]
        for a, b in pairwise(cuts):
            x = a[:, None] + (b - a)[:, None] * _NODES
            t = start[:, None] + x
            gain = self._loss(t + d, np.full_like(x, d)) - eps
            part = np.exp(-self._rise(start[:, None], x)) * -np.expm1(-np.maximum(gain, 0.0))
            total += (b - a) * (part @ _WEIGHTS)
        out = t1 < 0.0
        if out.any():
            size = -t1[out]
            total[out] *= np.exp(size**self._p / self._p)
            # t = -u
            cuts = [np.clip(c, 0.0, size) for c in (d - bulk, bulk)]
            cuts = [np.zeros_like(size), *np.sort(cuts, axis=0), size]
            for a, b in pairwise(cuts):
                u = a[:, None] + (b - a)[:, None] * _NODES
                gain = self._loss(d - u, d - 2.0 * u) - eps[out]
                part = np.exp(self._rise(u, size[:, None] - u))
                part = part * -np.expm1(-np.maximum(gain, 0.0))
                total[out] += (b - a) * (part @ _WEIGHTS)
        return total

    def _far_length(self, t: Array) -> Array:
        """The length over which psi grows by the cut, for large t."""
        return t * np.expm1(np.log1p(self._p * _CUT / np.maximum(t, 1.0) ** self._p) / self._p)

    def _log_ratio(self, t: Array) -> Array:
        """Log of P(T > t) / g(t), t > 0, where the two may be far below any double."""
        power = t**self._p
        far = power > 1e4 * self._p
        near = np.where(far, 1.0, t)
        u = np.where(far, power, math.inf) / (self._p - 1.0)
        tail = -np.log1p(1.0 / u) - (self._p - 1.0) * np.log(t)
        return np.where(far, tail, self._noise.logsf(near) - self._noise.logpdf(near))

    def log_delta_and_slope(self, epsilon: Array) -> tuple[Array, Array]:
        """Log delta, and log of e^epsilon P(T > t2) = -d delta / d epsilon, at epsilon >= 0."""
        starts = range(0, max(epsilon.size, 1), _CHUNK)
        # What has no double here is 0 in an exponential, or log 0 of a place or an epsilon.
        with np.errstate(over="ignore", divide="ignore"):
            parts = [self._part(epsilon[i : i + _CHUNK]) for i in starts]
        log_delta, log_slope = (np.concatenate(p) for p in zip(*parts, strict=True))
        return log_delta, log_slope

    def _part(self, epsilon: Array) -> tuple[Array, Array]:
        log_delta, log_slope = np.full((2, epsilon.size), -math.inf)
        t1 = self._crossing(epsilon)
        finite = t1 < math.inf
        t1, epsilon = t1[finite], epsilon[finite]
        log_g = self._log_peak - np.abs(t1) ** self._p / self._p
        slope = log_g + self._log_ratio(t1 + self._d)
        # Where most of the mass is beyond t1 the complement has the digits.
        rest = self._noise.sf(-t1) + np.exp(np.minimum(slope, 0.0))
        upper = (t1 < 0.0) & (rest < 0.5)
        value = np.where(upper, np.log1p(-np.minimum(rest, 0.5)), log_g)
        lower = ~upper
        # Beside a depth that takes the integral below all doubles it does not count.
        integral = np.log(self._integral(t1[lower], epsilon[lower]))
        value[lower] += np.maximum(integral, -1e3)
        log_delta[finite], log_slope[finite] = np.minimum(value, 0.0), slope
        return log_delta, log_slope
