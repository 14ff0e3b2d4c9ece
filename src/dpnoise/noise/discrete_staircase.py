"""Discrete staircase noise: the optimal epsilon-private noise for an integer.

Geng & Viswanath, "The optimal noise-adding mechanism in differential privacy" (IEEE Transactions
on Information Theory 2016), Section V: with b = exp(-epsilon), probabilities fall by b at the
distances r, Delta + r, 2 Delta + r, ... from 0.

Adding a uniform number from (-1/2, 1/2) makes it staircase noise with the same epsilon and Delta,
and gamma = (r - 1/2) / Delta, whose density is constant around each integer; rounding undoes that.
So an integer shift of one is exactly as private as of the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise.noise.exact_draws import bernoulli_exp, geometric
from dpnoise.noise.integers import IntegerNoise
from dpnoise.noise.staircase import Staircase, staircase_gamma

if TYPE_CHECKING:
    from dpnoise._types import Array, WordArray

MIN_EPSILON, MAX_EPSILON = 1e-9, 700.0
MAX_SENSITIVITY = 2**30


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


def best_r(epsilon: float, sensitivity: int) -> int:
    """The r of discrete staircase noise with the smallest variance.

    The variance is that of the continuous staircase less 1/12, which has one minimum in gamma: the
    best r is next to it.
    """
    middle = float(staircase_gamma(epsilon)) * sensitivity + 0.5
    near = {min(max(math.floor(middle) + k, 1), sensitivity) for k in (-1, 0, 1, 2)}
    return min(sorted(near), key=lambda r: DiscreteStaircase(epsilon, sensitivity, r).var())
