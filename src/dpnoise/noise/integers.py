"""Methods of noise on the integers, derived from symmetry, masses and tails.

It is not a `Noise`: it has neither a density nor a Fisher information about a shift, and it is for
queries with integer values only. What both have goes by the same name. A family states the
logarithms of its probabilities and of its tail for k >= 0, its moments, and an exact sampler.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpnoise.noise._arrays import draws, points

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array, BoolArray, WordArray

_STEPS = 100  # from the quantile that a family proposes


@dataclass(frozen=True)
class IntegerNoise(ABC):
    """A distribution on the integers, symmetric about 0, that falls with |k|.

    Arguments of all methods may be scalars or arrays of any shape; the result has the same shape.

    Attributes
    ----------
    log_concave : bool
        Whether p(k)^2 >= p(k - 1) p(k + 1), so that the privacy loss grows with k.
    """

    log_concave: ClassVar[bool] = True

    @abstractmethod
    def _log_mass(self, k: Array) -> Array:
        """Log P(X = k) for integers k >= 0, as floats."""

    @abstractmethod
    def _log_tail(self, k: Array) -> Array:
        """Log P(X >= k) for integers k >= 1, as floats."""

    @abstractmethod
    def _near_quantile(self, log_tail: Array) -> Array:
        """An integer k >= 0 near the one with P(X > k) = exp(log_tail) <= 1/2."""

    @abstractmethod
    def _exact_draws(self, rng: np.random.Generator, count: int) -> WordArray:
        """Some independent values, about `count` of them, without any error of rounding."""

    @abstractmethod
    def largest_loss(self, shift: float | Fraction) -> Fraction | float:
        """An upper bound on the privacy loss under an integer shift, without rounding."""

    @abstractmethod
    def var(self) -> float:
        """The variance."""

    @abstractmethod
    def mean_abs(self) -> float:
        """E|X|."""

    def zcdp_pair(self, shift: Fraction) -> tuple[Fraction, Fraction] | None:
        """The pair (xi, eta) of a proved bound on the Renyi divergence, or None."""
        loss = self.largest_loss(shift)
        return None if loss == math.inf else (Fraction(loss), Fraction(0))

    def std(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.var())

    def logpmf(self, k: ArrayLike) -> Array:
        """Log P(X = k), -inf unless `k` is an integer."""
        k = points(self, "k", k)
        with np.errstate(over="ignore", invalid="ignore"):
            value = self._log_mass(np.abs(k))
        value = np.where(np.isinf(k), -math.inf, value)
        return np.where(np.isnan(k) | (k == np.floor(k)), value, -math.inf)[()]

    def pmf(self, k: ArrayLike) -> Array:
        """P(X = k), 0 unless `k` is an integer."""
        return np.exp(self.logpmf(k))

    def _log_beyond(self, t: Array) -> Array:
        """Log P(X > t) for t >= 0, and log P(X <= t) for t < 0, of integers."""
        k = np.where(t < 0, -t, t + 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(np.isinf(k), -math.inf, self._log_tail(k))

    def logsf(self, t: ArrayLike) -> Array:
        """Log P(X > t), which does not underflow where `sf` does."""
        t = np.floor(points(self, "t", t))
        # X > t is X >= t + 1, and for t < 0 its complement is X <= t, that is, -X >= -t.
        tail = self._log_beyond(t)
        return np.where(t < 0, np.log1p(-np.exp(tail)), tail)[()]

    def sf(self, t: ArrayLike) -> Array:
        """P(X > t)."""
        t = np.floor(points(self, "t", t))
        tail = np.exp(self._log_beyond(t))
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

        k = self._near_quantile(log_tail)
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

        Their distribution is that of the parameters, exactly, if the generator's bits are
        independent and fair: `dpnoise.noise.exact_draws`.
        """
        shape, rng = draws(self, size, random_state)
        result = np.empty(shape, dtype=np.int64)
        flat, filled = result.reshape(-1), 0
        while filled < flat.size:
            some = self._exact_draws(rng, flat.size - filled)[: flat.size - filled]
            flat[filled : filled + some.size] = some
            filled += some.size
        return result[()]
