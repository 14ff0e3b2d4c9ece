"""Noise on the integers with any digits, by adding up its probabilities.

Probabilities are exp(-psi(k)) up to a factor, psi even, rising with abs(k) and rational, so that
losses are compared without rounding. Digits are those of mpmath.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import mpmath as mp

if TYPE_CHECKING:
    from collections.abc import Callable

Number: TypeAlias = Any  # of any type that mpmath takes, or a number of mpmath
_DEEPEST = 2000  # psi: probabilities from there are nothing to a profile


def gaussian(sigma: float) -> Integers:
    """Discrete Gaussian noise."""
    rate = 1 / (2 * Fraction(sigma) ** 2)
    return Integers(lambda k: rate * k * k)


def laplace(beta: float) -> Integers:
    """Discrete Laplace noise."""
    rate = 1 / Fraction(beta)
    return Integers(lambda k: rate * abs(k), period=1)


def staircase(epsilon: float, sensitivity: int, r: int) -> Integers:
    """Discrete staircase noise, which falls at r from each multiple of the sensitivity."""
    step = Fraction(epsilon)

    def psi(k: int) -> Fraction:
        whole, rest = divmod(abs(k), sensitivity)
        return step * (whole + (rest >= r))

    return Integers(psi, period=sensitivity)


class Integers:
    """Noise on the integers.

    Parameters
    ----------
    psi : Callable[[int], Fraction]
        Minus the logarithm of a probability over that of 0.
    period : int, optional
        Distance over which psi rises by the same everywhere from 0 on.
    """

    def __init__(self, psi: Callable[[int], Fraction], period: int | None = None) -> None:
        self.psi, self.period = psi, period
        self._known: dict[tuple[int, int], Number] = {}

    def loss(self, k: int, d: int) -> Fraction:
        """Loss at k under a shift by d."""
        return self.psi(k + d) - self.psi(k)

    def weight(self, k: int) -> Number:
        """Probability of k over that of 0."""
        key = mp.mp.prec, abs(k)
        if key not in self._known:
            self._known[key] = mp.exp(-_number(self.psi(abs(k))))
        return self._known[key]

    def total(self, start: int, power: int = 0) -> Number:
        """Sum of k^power times the weight over k >= start > 0, to all digits."""
        total, k = mp.mpf(0), start
        # ends: weights fall to nothing, and like a geometric series at least
        while True:
            term = k**power * self.weight(k)
            total += term
            if term < total * mp.mpf(10) ** (-mp.mp.dps - 5):
                return total
            k += 1

    def whole(self) -> Number:
        """Sum of all weights."""
        key = mp.mp.prec, -1
        if key not in self._known:
            self._known[key] = 1 + 2 * self.total(1)
        return self._known[key]

    def pmf(self, k: int) -> Number:
        """Probability of k."""
        return self.weight(k) / self.whole()

    def tail(self, k: int) -> Number:
        """Probability of more than k >= 0."""
        return self.total(k + 1) / self.whole()

    def moment(self, power: int) -> Number:
        """Mean of abs(k)^power."""
        return 2 * self.total(1, power) / self.whole()

    def delta(self, d: int, epsilon: float) -> Number:
        """Privacy profile at a shift by d and epsilon >= 0; no loss up to -d/2 is above 0."""
        delta, level = mp.mpf(0), Fraction(epsilon)
        negligible = mp.mpf(10) ** (-mp.mp.dps - 5)
        k = -(d // 2)
        # ends: weights fall to nothing
        while self.psi(k) < _DEEPEST and not (delta and self.weight(k) < delta * negligible):
            gap = self.loss(k, d) - level
            if gap > 0:
                delta -= self.weight(k) * mp.expm1(-_number(gap))
            k += 1
            if k == self.period and not delta:  # the losses repeat
                break
        return delta / self.whole()


def _number(x: Fraction) -> Number:
    """A rational number with the digits of mpmath."""
    return mp.mpf(x.numerator) / x.denominator
