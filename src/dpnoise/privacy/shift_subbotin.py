"""The privacy profile of Subbotin noise, by quadrature of positive terms.

With psi = |t|^p / p in units of the scale the privacy loss L(t) = psi(t + d) - psi(t) grows with
t. With t1 the root of L = epsilon,

    delta / g(t1) = integral over t > t1 of exp(psi(t1) - psi(t)) (1 - exp(epsilon - L(t))),

by the double exponential rule between 0, where the powers have kinks, and the places where t and
t + d leave the bulk of the density, the sharper the larger p. L is a difference of powers; its
rounding, a few p units in its last place, is as good as an error of that size in epsilon.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise.privacy.exact_pieces import as_double

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from dpnoise.noise import Subbotin

    Array = NDArray[np.float64]

_STEP, _REACH = 1.0 / 32.0, 3.25  # of the double exponential rule, for p up to 1000
_CUT = 60.0  # the density falls by exp(-60) over the range of integration
_CHUNK = 1000
_STEPS = 200
_DEEPEST = 1e300  # the largest psi(t1) that is followed


def _rule() -> tuple[Array, Array]:
    """Return nodes and weights on (0, 1)."""
    s = np.arange(-_REACH, _REACH + _STEP, _STEP)
    x = math.pi * np.sinh(s)
    nodes = special.expit(x)
    return nodes, _STEP * math.pi * np.cosh(s) * nodes * special.expit(-x)


_NODES, _WEIGHTS = _rule()


class SubbotinShift:
    """Subbotin noise and a shift of it.

    Parameters
    ----------
    noise : Subbotin
        The noise, p > 1.
    shift : Fraction
        d, positive, in the units of the noise.

    Attributes
    ----------
    largest_loss : float
        Infinity.
    epsilon_error : float
        delta is as good as that at an epsilon off by this factor.
    """

    largest_loss = math.inf
    log_error = 4e-11  # at p = 1000; a tenth of it up to p = 100

    def __init__(self, noise: Subbotin, shift: Fraction) -> None:
        self._noise = noise.scaled(1.0 / noise.scale)
        self.epsilon_error = noise.p * 2.0**-50
        self._p, self._d = noise.p, as_double(shift / noise.scale)
        self._log_peak = float(self._noise.logpdf(0.0))

    def _loss(self, t2: Array, distance: Array) -> Array:
        """Return psi(t2) - psi(t2 - distance) for t2 >= distance."""
        ratio = self._p * np.log1p(-distance / t2)  # log 0 leaves psi(0) = 0
        return t2**self._p / self._p * -np.expm1(ratio)

    def _crossing(self, epsilon: Array) -> Array:
        """Return the root t1 of L = epsilon, infinite beyond the deepest psi.

        For t1 < 0 the unknown is c = t1 + d / 2 with L = psi(t2) - psi(t2 - 2 c); else it is t1.
        """
        p, d = self._p, self._d
        left = epsilon <= self._loss(np.array(d), np.array(d))
        deepest = (p * _DEEPEST) ** (1.0 / p)
        beyond = ~left & (self._loss(np.array(deepest + d), np.array(d)) < epsilon)
        # L >= d t1^(p - 1) bounds t1.
        bound = (np.log(epsilon) - math.log(d)) / (p - 1.0)
        high = np.where(left, 0.5 * d, np.exp(np.minimum(bound, math.log(deepest))))
        low, x = np.zeros_like(high), high
        for _ in range(_STEPS):
            t2 = np.where(left, x + 0.5 * d, x + d)
            excess = self._loss(t2, np.where(left, 2.0 * x, d)) - epsilon
            low, high = np.where(excess < 0.0, x, low), np.where(excess < 0.0, high, x)
            fall = np.abs(t2 - d) ** (p - 1.0)
            slope = t2 ** (p - 1.0) + np.where(left, fall, -fall)
            usable = (slope > 0.0) & (slope < math.inf)
            new = x - np.divide(excess, slope, out=np.full_like(x, math.inf), where=usable)
            # Halve in proportion, until only digits of t2 are left to find.
            least = np.maximum(low, 1e-3 * high)
            middle = np.where(low < 0.5 * high, np.sqrt(least) * np.sqrt(high), 0.5 * (low + high))
            new = np.where((new >= low) & (new <= high), new, middle)
            # Below that L - epsilon is rounding.
            still = np.abs(new - x) > p * 2.0**-52 * x + 2.0**-56 * d
            x = np.where(still, new, x)
            if not still.any():
                break
        return np.where(beyond, math.inf, np.where(left, x - 0.5 * d, x))

    def _end(self, t: Array) -> Array:
        """Return the place up to which psi grows by the cut from t >= 0."""
        return (t**self._p + self._p * _CUT) ** (1.0 / self._p)

    def _rise(self, t: Array, x: Array) -> Array:
        """Return psi(t + x) - psi(t) for t >= 0, x >= 0."""
        p, near = self._p, x < t
        ratio = np.where(near, x, 0.0) / np.where(near, t, 1.0)
        return np.where(near, t**p * np.expm1(p * np.log1p(ratio)), (t + x) ** p - t**p) / p

    def _integral(self, t1: Array, epsilon: Array) -> Array:
        """Return delta / g(t1)."""
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
        """Return the length over which psi grows by the cut, for large t."""
        return t * np.expm1(np.log1p(self._p * _CUT / np.maximum(t, 1.0) ** self._p) / self._p)

    def _log_ratio(self, t: Array) -> Array:
        """Return log of P(T > t) / g(t), t > 0, where the two may be far below any double."""
        power = t**self._p
        far = power > 1e4 * self._p
        near = np.where(far, 1.0, t)
        u = np.where(far, power, math.inf) / (self._p - 1.0)
        tail = -np.log1p(1.0 / u) - (self._p - 1.0) * np.log(t)
        return np.where(far, tail, self._noise.logsf(near) - self._noise.logpdf(near))

    def log_delta_and_slope(self, epsilon: Array) -> tuple[Array, Array]:
        """Return log delta, and the logarithm of e^epsilon P(T > t2) = -d delta / d epsilon.

        Parameters
        ----------
        epsilon : ndarray of float, shape (n,)
            Non-negative.
        """
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
