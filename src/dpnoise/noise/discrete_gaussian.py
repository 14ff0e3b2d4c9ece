"""Discrete Gaussian noise: the normal density on the integers only.

Canonne, Kamath & Steinke, "The discrete Gaussian for differential privacy" (NeurIPS 2020):
P(X = k) proportional to exp(-k^2 / (2 sigma^2)).

The normaliser is a theta function, whose two forms (Poisson summation) converge at once for
small and for large sigma. Tails are sums of positive terms: directly where few of them count,
else by the formula of Euler and Maclaurin around the normal tail.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise._validation import Problems
from dpnoise.noise.exact_draws import bernoulli_exp, discrete_laplace
from dpnoise.noise.gaussian import gaussian_magnitude, mills_ratio
from dpnoise.noise.integers import IntegerNoise
from dpnoise.noise.rational import ZERO

if TYPE_CHECKING:
    from dpnoise._types import Array, WordArray

MIN_SIGMA, MAX_SIGMA = 0.01, 1e12  # beyond, it is 0 or doubles skip integers
_WIDE = 16.0  # from this sigma on the corrections of Euler and Maclaurin vanish quickly
_CORRECTIONS = 8
# B_2j / (2j)!, by which the derivatives of order 2j - 1 enter.
_BERNOULLI = special.bernoulli(2 * _CORRECTIONS)[2::2] / special.factorial(
    np.arange(2, 2 * _CORRECTIONS + 1, 2)
)


@dataclass(frozen=True)
class DiscreteGaussian(IntegerNoise):
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
        problems.number("sigma", self.sigma, low=MIN_SIGMA, high=MAX_SIGMA)
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

    def _log_mass(self, k: Array) -> Array:
        return -0.5 * (k / self.sigma) ** 2 - self._log_normaliser()

    def _near_quantile(self, log_tail: Array) -> Array:
        """The normal quantile, off by a few integers at most."""
        level = np.maximum(-np.log(2.0) - log_tail, 0.0)
        return np.floor(self.sigma * gaussian_magnitude(level))

    def _exact_draws(self, rng: np.random.Generator, count: int) -> WordArray:
        """By rejection from the discrete Laplace distribution: Algorithm 3 of the paper."""
        square, t = Fraction(self.sigma) ** 2, math.floor(self.sigma) + 1
        y = discrete_laplace(rng, Fraction(t), 2 * count + 16)  # most are accepted
        misfit = (np.abs(y) - self.sigma**2 / t) / self.sigma

        def exact(i: int) -> Fraction:
            return (abs(int(y[i])) - square / t) ** 2 / (2 * square)

        return y[bernoulli_exp(rng, 0.5 * misfit**2, exact)]

    def largest_loss(self, shift: float | Fraction) -> float:  # noqa: ARG002  (any shift)
        """Infinity: the loss grows with k."""
        return math.inf

    def zcdp_pair(self, shift: Fraction) -> tuple[Fraction, Fraction]:
        """(0, D^2 / (2 sigma^2)) for an integer shift D: Proposition 5 of the paper."""
        return ZERO, (shift / Fraction(self.sigma)) ** 2 / 2

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
