"""Discrete Gaussian noise: the normal density on the integers only.

Canonne, Kamath & Steinke, "The discrete Gaussian for differential privacy" (NeurIPS 2020):
P(X = k) proportional to exp(-k^2 / (2 sigma^2)). It is not a `Noise`, since it has neither a
density nor a Fisher information about a shift, and half an integer of it means nothing; what
both have goes by the same name.

The normaliser is a theta function, whose two forms (Poisson summation) converge at once for
small and for large sigma. Tails are sums of positive terms: directly where few of them count,
else by the formula of Euler and Maclaurin around the normal tail.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise._validation import Problems
from dpnoise.noise._arrays import draws, points
from dpnoise.noise.gaussian import gaussian_magnitude, mills_ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array, BoolArray

_MIN_SIGMA, _MAX_SIGMA = 0.01, 1e12  # beyond, it is 0 or doubles skip integers
_WIDE = 16.0  # from this sigma on the corrections of Euler and Maclaurin vanish quickly
_CORRECTIONS = 8
_STEPS = 100  # from the normal quantile
# B_2j / (2j)!, by which the derivatives of order 2j - 1 enter.
_BERNOULLI = special.bernoulli(2 * _CORRECTIONS)[2::2] / special.factorial(
    np.arange(2, 2 * _CORRECTIONS + 1, 2)
)


@dataclass(frozen=True)
class DiscreteGaussian:
    """Discrete Gaussian noise N_Z(0, sigma^2).

    Parameters
    ----------
    sigma : float
        The scale, from 0.01 to 1e12. The standard deviation is a little smaller, and equal to
        it in double precision from sigma = 1.5 on.

    Raises
    ------
    ValueError
        If `sigma` is out of range.
    """

    sigma: float

    def __post_init__(self) -> None:
        """Check of the parameter, stored as a float."""
        problems = Problems("discrete Gaussian noise")
        problems.number("sigma", self.sigma, low=_MIN_SIGMA, high=_MAX_SIGMA)
        problems.raise_if_any()
        object.__setattr__(self, "sigma", float(self.sigma))

    @property
    def _few(self) -> Array:
        """The positive integers that carry mass in double precision, for small sigma."""
        return np.arange(1.0, 40.0 * self.sigma + 2.0)

    def _weight(self, k: Array) -> Array:
        return np.exp(-0.5 * (k / self.sigma) ** 2)

    def _wave(self) -> tuple[float, float]:
        """Theta and sigma theta' for theta = normaliser / (sigma sqrt(2 pi))."""
        j = np.arange(1.0, 4.0)
        rate = 2.0 * (math.pi * self.sigma * j) ** 2
        theta, slope = 1.0 + 2.0 * np.exp(-rate).sum(), -4.0 * (rate * np.exp(-rate)).sum()
        return float(theta), float(slope)

    def _log_normaliser(self) -> float:
        """The logarithm of the sum of all weights."""
        if self.sigma < 1.0:
            return math.log1p(2.0 * float(self._weight(self._few).sum()))
        return 0.5 * math.log(2.0 * math.pi) + math.log(self.sigma) + math.log(self._wave()[0])

    def _log_tail(self, k: Array) -> Array:
        """Log P(X >= k) for integers k >= 1, as floats."""
        x = k / self.sigma
        steep = (self.sigma < _WIDE) | (x > self.sigma)
        with np.errstate(over="ignore"):  # -inf is the rounding of a log tail without a double
            mass = np.piecewise(k, [steep], [self._direct_sum, self._smooth_sum])
            return -0.5 * x * x + np.log(mass) - self._log_normaliser()

    def _direct_sum(self, k: Array) -> Array:
        """The sum of weight(k + j) / weight(k) over j >= 0, term by term."""
        total, rate = np.ones_like(k), k / self.sigma**2
        for j in itertools.count(1):
            term = np.exp(-j * rate - 0.5 * (j / self.sigma) ** 2)
            if not np.any(term > 1e-18 * total):
                break
            total = total + term
        return total

    def _smooth_sum(self, k: Array) -> Array:
        """The same sum as integral + half the first term - derivatives at the start."""
        x = k / self.sigma
        total = self.sigma * mills_ratio(x) + 0.5
        # The derivative of order n of exp(-x y - y^2 / 2) at y = 0 is (-1)^n He_n(x).
        before, now = np.ones_like(x), x
        for j, factor in enumerate(_BERNOULLI, start=1):
            total = total + factor * now * self.sigma ** (1.0 - 2.0 * j)
            for n in (2 * j - 1, 2 * j):
                before, now = now, x * now - n * before
        return total

    def logpmf(self, k: ArrayLike) -> Array:
        """Log P(X = k), -inf unless `k` is an integer."""
        k = points(self, "k", k)
        with np.errstate(over="ignore"):
            value = -0.5 * (k / self.sigma) ** 2 - self._log_normaliser()
        return np.where(np.isnan(k) | (k == np.floor(k)), value, -math.inf)[()]

    def pmf(self, k: ArrayLike) -> Array:
        """P(X = k), 0 unless `k` is an integer."""
        return np.exp(self.logpmf(k))

    def logsf(self, t: ArrayLike) -> Array:
        """Log P(X > t), which does not underflow where `sf` does."""
        t = np.floor(points(self, "t", t))
        # X > t is X >= t + 1, and for t < 0 its complement is X <= t, that is, -X >= -t.
        tail = self._log_tail(np.where(t < 0, -t, t + 1.0))
        return np.where(t < 0, np.log1p(-np.exp(tail)), tail)[()]

    def sf(self, t: ArrayLike) -> Array:
        """P(X > t)."""
        t = np.floor(points(self, "t", t))
        tail = np.exp(self._log_tail(np.where(t < 0, -t, t + 1.0)))
        return np.where(t < 0, 1.0 - tail, tail)[()]

    def cdf(self, t: ArrayLike) -> Array:
        """P(X <= t)."""
        # X <= t is -X > -floor(t) - 1.
        return self.sf(-np.floor(points(self, "t", t)) - 1.0)

    def isf(self, p: ArrayLike) -> Array:
        """The least integer k (as a float) with P(X > k) <= `p`; NaN outside [0, 1]."""
        p = points(self, "p", p)
        return self._quantile(np.where(p > 0.5, 1.0 - p, p), p > 0.5)

    def ppf(self, p: ArrayLike) -> Array:
        """The least integer k (as a float) with P(X <= k) >= `p`; NaN outside [0, 1]."""
        p = points(self, "p", p)
        return self._quantile(np.where(p < 0.5, p, 1.0 - p), p < 0.5)

    def _quantile(self, tail: Array, negative: BoolArray) -> Array:
        """K >= 0 with P(X > k) <= tail < P(X >= k), or minus the k with < and <=.

        Both are what the quantiles ask for on their side of 0, where the tail is exact.
        """
        outside = np.where(tail == 0, math.inf, math.nan)
        inside = (tail > 0) & (tail <= 0.5)
        tail = np.where(inside, tail, 0.5)

        log_tail = np.log(tail)  # the smallest tails are integers of the smallest double

        def beyond(k: Array) -> BoolArray:
            log_mass = self._log_tail(k + 1.0)
            return np.where(negative, log_mass < log_tail, log_mass <= log_tail)

        # The normal quantile is off by a few integers at most.
        k = np.floor(self.sigma * gaussian_magnitude(np.maximum(-np.log(2.0) - log_tail, 0.0)))
        for _ in range(_STEPS):
            short, far = ~beyond(k), (k > 0) & beyond(np.maximum(k - 1.0, 0.0))
            if not (short | far).any():
                k = np.where(inside, k, outside)
                return np.where(negative, -k, k)[()] + 0.0  # not -0.0
            k = k + short - (far & ~short)
        raise RuntimeError(f"quantile of {self!r}: not found in {_STEPS} steps")

    def rvs(
        self,
        size: int | tuple[int, ...] | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> NDArray[np.int64]:
        """Independent random integers; arguments as for `Noise.rvs`.

        By rejection from the discrete Laplace distribution (Canonne, Kamath & Steinke, algorithm
        3), with no other error than the rounding of an acceptance probability.
        """
        shape, rng = draws(self, size, random_state)
        result = np.empty(shape, dtype=np.int64)
        flat, filled = result.reshape(-1), 0
        width = math.floor(self.sigma) + 1.0
        while filled < flat.size:
            count = int(1.6 * (flat.size - filled)) + 16  # most are accepted
            # The floor of an exponential variate is geometric, a difference of two of those
            # discrete Laplace.
            steps = np.floor(width * rng.standard_exponential((2, count)))
            y = steps[0] - steps[1]
            misfit = (np.abs(y) - self.sigma**2 / width) / self.sigma
            y = y[rng.standard_exponential(count) >= 0.5 * misfit**2][: flat.size - filled]
            flat[filled : filled + y.size] = y
            filled += y.size
        return result[()]

    def var(self) -> float:
        """The variance, below sigma^2."""
        if self.sigma < 1.0:
            few = self._few
            return (
                2.0 * float((few**2 * self._weight(few)).sum()) / math.exp(self._log_normaliser())
            )
        theta, slope = self._wave()
        # sigma^2 times the derivative of log normaliser by log sigma
        return self.sigma**2 * (1.0 + slope / theta)

    def std(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.var())

    def mean_abs(self) -> float:
        """E|X|."""
        if self.sigma < _WIDE:
            few = self._few
            total = float((few * self._weight(few)).sum())
        else:  # Euler and Maclaurin for k exp(-k^2 / (2 sigma^2)), k >= 0
            j = np.arange(_CORRECTIONS)
            odd = special.factorial(2 * j + 1) / special.factorial(j)
            total = self.sigma**2 - float((_BERNOULLI * odd * (-0.5 / self.sigma**2) ** j).sum())
        return 2.0 * total / math.exp(self._log_normaliser())
