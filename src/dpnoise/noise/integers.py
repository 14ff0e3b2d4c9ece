"""Noise on the integers: what all of it has, and discrete Laplace, Gaussian and staircase noise.

`IntegerNoise` is not a `Noise`: it has neither a density nor a Fisher information about a shift,
and is for queries with integer values only. Shared methods keep `Noise`'s names. A family states
the logarithms of its probabilities and of its tail for k >= 0, its moments, and an exact sampler;
all else follows from symmetry, masses and tails.

*Discrete Laplace* noise, the two-sided geometric distribution. Ghosh, Roughgarden & Sundararajan,
"Universally utility-maximizing privacy mechanisms" (STOC 2009):
P(X = k) = (1 - a) / (1 + a) a^|k| with a = exp(-1 / beta).

*Discrete Gaussian* noise, the normal density on the integers only. Canonne, Kamath & Steinke, "The
discrete Gaussian for differential privacy" (NeurIPS 2020): P(X = k) proportional to
exp(-k^2 / (2 sigma^2)). The normaliser is a theta function, whose two forms (Poisson summation)
converge at once for small and for large sigma. Tails are sums of positive terms: directly where few
of them count, else by the formula of Euler and Maclaurin around the normal tail.

*Discrete staircase* noise, the optimal epsilon-private noise for an integer. Geng & Viswanath, "The
optimal noise-adding mechanism in differential privacy" (IEEE Transactions on Information Theory
2016), Section V: with b = exp(-epsilon), probabilities fall by b at the distances r, Delta + r,
2 Delta + r, ... from 0. Adding a uniform number from (-1/2, 1/2) makes it staircase noise with the
same epsilon and Delta, and gamma = (r - 1/2) / Delta, whose density is constant around each
integer; rounding undoes that. So an integer shift of one is exactly as private as of the other.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from scipy import special

from dpnoise._validation import Problems, draws, is_integer, points
from dpnoise.noise.base import ScalarNoise
from dpnoise.noise.exact import ZERO, bernoulli_exp, discrete_laplace, geometric
from dpnoise.noise.exponential_power import gaussian_magnitude, mills_ratio
from dpnoise.noise.stepwise import Staircase, staircase_gamma

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array, BoolArray, WordArray

_STEPS = 100  # from the quantile that a family proposes
MIN_BETA, MAX_BETA = 1.0 / 700.0, 1e12  # exp(-1 / beta) is normal, and k has a double
MIN_SIGMA, MAX_SIGMA = 0.01, 1e12  # beyond, it is 0 or doubles skip integers
_WIDE = 16.0  # from this sigma on the corrections of Euler and Maclaurin vanish quickly
_CORRECTIONS = 8
# B_2j / (2j)!, by which the derivatives of order 2j - 1 enter.
_BERNOULLI = special.bernoulli(2 * _CORRECTIONS)[2::2] / special.factorial(
    np.arange(2, 2 * _CORRECTIONS + 1, 2)
)
MIN_EPSILON, MAX_EPSILON = 1e-9, 700.0  # of a discrete staircase
MAX_SENSITIVITY = 2**30


@dataclass(frozen=True)
class IntegerNoise(ScalarNoise):
    """A distribution on the integers, symmetric about 0, that falls with |k|.

    Arguments of all methods may be scalars or arrays of any shape; the result has the same shape.
    """

    whole: ClassVar[Literal[True]] = True
    _drawn_by = "_exact_draws"

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

    def zcdp_pair(self, shift: Fraction) -> tuple[Fraction, Fraction] | None:
        """The pair (xi, eta) of a proved bound on the Renyi divergence, or None."""
        loss = self.largest_loss(shift)
        return None if loss == math.inf else (Fraction(loss), Fraction(0))

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
        # ends: raises
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
        independent and fair: `dpnoise.noise.exact`.
        """
        shape, rng = draws(self, size, random_state)
        result = np.empty(shape, dtype=np.int64)
        flat, filled = result.reshape(-1), 0
        # ends: more than half of all draws count
        while filled < flat.size:
            some = self._exact_draws(rng, flat.size - filled)[: flat.size - filled]
            flat[filled : filled + some.size] = some
            filled += some.size
        return result[()]


@dataclass(frozen=True)
class DiscreteLaplace(IntegerNoise):
    """Discrete Laplace noise with probabilities proportional to exp(-|k| / beta).

    Parameters
    ----------
    beta : float
        The scale, from 1 / 700 to 1e12: a query with integer values whose sensitivity is D gets
        (D / beta, 0)-DP.

    Raises
    ------
    ValueError
        If `beta` is out of range.
    """

    beta: float

    def __post_init__(self) -> None:
        """Check of the parameter, stored as a float."""
        problems = Problems("discrete Laplace noise")
        problems.number("beta", self.beta, low=MIN_BETA, high=MAX_BETA)
        problems.raise_if_any()
        object.__setattr__(self, "beta", float(self.beta))

    def _log_mass(self, k: Array) -> Array:
        return math.log(math.tanh(0.5 / self.beta)) - k / self.beta

    def _log_tail(self, k: Array) -> Array:
        return -k / self.beta - math.log1p(math.exp(-1.0 / self.beta))

    def _near_quantile(self, log_tail: Array) -> Array:
        start = -self.beta * (log_tail + math.log1p(math.exp(-1.0 / self.beta)))
        return np.floor(np.maximum(start, 0.0))

    def _exact_draws(self, rng: np.random.Generator, count: int) -> WordArray:
        return discrete_laplace(rng, Fraction(self.beta), 2 * count + 16)

    def largest_loss(self, shift: float | Fraction) -> Fraction:
        """The shift over beta."""
        return Fraction(shift) / Fraction(self.beta)

    def var(self) -> float:
        """The variance, 2 a / (1 - a)^2."""
        root = math.sinh(0.5 / self.beta)
        return 0.5 / root / root

    def mean_abs(self) -> float:
        """E|X| = 2 a / (1 - a^2)."""
        a = math.exp(-1.0 / self.beta)
        return -2.0 * a / math.expm1(-2.0 / self.beta)


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
        # ends: terms fall below 1e-18
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


@dataclass(frozen=True)
class DiscreteStaircase(IntegerNoise):
    """Discrete staircase noise, epsilon-private for queries with the given integer sensitivity.

    Parameters
    ----------
    epsilon : float
        The privacy parameter, from 1e-9 to 700: each step falls by exp(-epsilon).
    sensitivity : int
        The width Delta of the steps, from 1 to 2^30.
    r : int
        Where each step falls, from 1 to Delta; see `best_r`.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    log_concave: ClassVar[bool] = False
    stepwise: ClassVar[bool] = True

    epsilon: float
    sensitivity: int
    r: int

    def __post_init__(self) -> None:
        """Check of the parameters, stored as float, int and int."""
        problems = Problems("discrete staircase noise")
        problems.number("epsilon", self.epsilon, low=MIN_EPSILON, high=MAX_EPSILON)
        whole = is_integer(self.sensitivity) and 1 <= self.sensitivity <= MAX_SENSITIVITY
        expected = f"an integer from 1 to {MAX_SENSITIVITY}"
        problems.require(whole, "sensitivity", expected, self.sensitivity)
        inside = is_integer(self.r) and self.r >= 1 and (not whole or self.r <= self.sensitivity)
        problems.require(inside, "r", "an integer from 1 to the sensitivity", self.r)
        problems.raise_if_any()
        object.__setattr__(self, "epsilon", float(self.epsilon))
        object.__setattr__(self, "sensitivity", int(self.sensitivity))
        object.__setattr__(self, "r", int(self.r))

    @property
    def continuous(self) -> Staircase:
        """The staircase noise that rounds to this noise."""
        gamma = float(Fraction(2 * self.r - 1, 2 * self.sensitivity))
        return Staircase(self.epsilon, self.sensitivity, gamma)

    @property
    def _fall(self) -> tuple[float, float]:
        """The factors b = exp(-epsilon) and 1 - b."""
        return math.exp(-self.epsilon), -math.expm1(-self.epsilon)

    @property
    def _step(self) -> float:
        """Sum of the weights of 0, ..., Delta - 1."""
        return self.r + self._fall[0] * (self.sensitivity - self.r)

    @property
    def _log_normaliser(self) -> float:
        """Log of the sum of all weights, times 1 - b."""
        return math.log(2.0 * self._step - self._fall[1])

    def _log_mass(self, k: Array) -> Array:
        falls = np.floor((k - self.r) / self.sensitivity) + 1.0
        return math.log(self._fall[1]) - self._log_normaliser - self.epsilon * falls

    def _log_tail(self, k: Array) -> Array:
        b, drop = self._fall
        m = np.floor(k / self.sensitivity)
        j = k - m * self.sensitivity
        first = np.maximum(self.r - j, 0.0) + b * (self.sensitivity - np.maximum(self.r, j))
        rest = drop * first + b * self._step
        return np.log(rest) - self._log_normaliser - self.epsilon * m

    def _near_quantile(self, log_tail: Array) -> Array:
        """The integer by the quantile of the continuous staircase."""
        level = np.maximum(-math.log(2.0) - log_tail, 0.0)
        return np.maximum(np.floor(self.continuous.isf(0.5 * np.exp(-level))), 0.0)

    def _exact_draws(self, rng: np.random.Generator, count: int) -> WordArray:
        """A number of steps, a place within a step, and a sign; 0 with the sign - is rejected."""
        rate = Fraction(self.epsilon)
        place = rng.integers(0, self.sensitivity, size=2 * count + 16)
        low = bernoulli_exp(rng, np.full(place.shape, self.epsilon), lambda _: rate)
        place = place[(place < self.r) | low]
        size = place + self.sensitivity * geometric(rng, rate, place.size)
        negative = rng.integers(0, 2, size=size.size).astype(bool)
        keep = ~(negative & (size == 0))
        return np.where(negative, -size, size)[keep]

    @property
    def step_width(self) -> float:
        """The sensitivity."""
        return self.sensitivity

    def largest_loss(self, shift: float | Fraction) -> Fraction:
        """The epsilon of a step for each width, or part of it, that the shift has."""
        return Fraction(self.epsilon) * math.ceil(Fraction(shift) / self.sensitivity)

    def _moment(self, n: int) -> float:
        """E|X|^n for n = 1, 2, from the sums of k^j b^k and of the powers within a step."""
        (b, drop), D, r = self._fall, float(self.sensitivity), float(self.r)
        below = (lambda x: x, lambda x: x * (x - 1.0) / 2.0, _squares_below)
        inner = [drop * total(r) + b * total(D) for total in below]
        # (1 - b) times the sums of 1, k and k^2 with weights b^k.
        steps = [1.0, b / drop, b * (1.0 + b) / drop**2]
        parts = (math.comb(n, j) * D**j * steps[j] * inner[n - j] for j in range(n + 1))
        return 2.0 * math.fsum(parts) / math.exp(self._log_normaliser)

    def var(self) -> float:
        """The variance."""
        return self._moment(2)

    def mean_abs(self) -> float:
        """E|X|."""
        return self._moment(1)


def _squares_below(x: float) -> float:
    """0 + 1 + 4 + ... + (x - 1)^2."""
    return x * (x - 1.0) * (2.0 * x - 1.0) / 6.0


def best_r(epsilon: float, sensitivity: int, power: int = 2) -> int:
    """The r of discrete staircase noise with the smallest variance, or E|X| for power 1.

    The variance is that of the continuous staircase less 1/12, which has one minimum in gamma: the
    best r is next to it.
    """
    middle = float(staircase_gamma(epsilon, power)) * sensitivity + 0.5
    near = {min(max(math.floor(middle) + k, 1), sensitivity) for k in (-1, 0, 1, 2)}
    noises = [DiscreteStaircase(epsilon, sensitivity, r) for r in sorted(near)]
    return min(noises, key=lambda one: one.var() if power == 2 else one.mean_abs()).r
