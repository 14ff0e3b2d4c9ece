"""Exact arithmetic behind the noise: rational numbers, and random events without rounding.

*Rational numbers.* The profile of noise with stretches of constant privacy loss hangs on the
difference between epsilon and that loss: for Laplace noise delta = 1 - exp((epsilon - d / beta) /
2), which is exactly 0 from epsilon = d / beta on. Parameters, shift and epsilon are doubles, hence
rational numbers, and so is every such difference; 1 / beta as a double would already spoil it. So
-log density by pieces is an exact function of the parameters, too.

*Random events and integers* with exactly the probabilities that are asked for. Canonne, Kamath &
Steinke, "The discrete Gaussian for differential privacy" (NeurIPS 2020), sample from independent
fair bits without rounding. An event of probability exp(-x), x rational, is decided here by
comparing a uniform number with exp(-x): its first 64 bits and doubles decide unless they are too
close; then more bits and as many decimals as it takes.

*Random bits* of the operating system come with the one method of a generator that these draws need.
"""

from __future__ import annotations

import decimal
import math
import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpnoise._types import Array, BoolArray, WordArray

ZERO = Fraction(0)
Weights = Fraction | Sequence[Fraction]  # one for all coordinates, or one for each
Ball = Callable[[Fraction | float], Any]  # makes a ball of Arb around a rational number
_WORD = 64
_DIGITS = 192  # binary ones, of a number that is rounded up
_LARGE = 30  # from it the complementary error function is not multiplied by its inverse
_DOUBT = 2.0**-38  # over all rounding of exp(-x), relative and for each unit of 1 + x
_TINY = 2.0**-50  # over the rounding of a uniform number


class Quadratic(NamedTuple):
    """One piece of psi = -log g on t >= 0: psi' = slope + curvature (t - left) from left on."""

    left: Fraction
    slope: Fraction
    curvature: Fraction

    def at(self, t: Fraction) -> Fraction:
        """psi'(t)."""
        return self.slope + self.curvature * (t - self.left)

    def rise(self, t: Fraction) -> Fraction:
        """psi(t) - psi(left)."""
        x = t - self.left
        return x * (self.slope + self.curvature * x / 2)


def as_double(value: Fraction | float) -> float:
    """The nearest double, infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def as_pair(value: Fraction) -> tuple[float, float]:
    """Two doubles whose sum is a rational number to about 32 digits, the nearest one first."""
    high = as_double(value)
    return high, as_double(value - Fraction(high)) if math.isfinite(high) else 0.0


def as_double_above(value: Fraction | float) -> float:
    """The smallest double that is not below a rational number, infinite beyond the largest."""
    high = as_double(value)
    return math.nextafter(high, math.inf) if math.isfinite(high) and high < value else high


def _decided(rng: np.random.Generator, word: int, x: Fraction) -> bool:
    """Whether a uniform number in [0, 1), whose first bits are `word`, is below exp(-x)."""
    bits = _WORD
    # ends: 64 more bits each time decide but for 2^-60
    while True:
        digits = bits // 3 + 10
        with decimal.localcontext(prec=digits):
            exponent = decimal.Decimal(x.numerator) / decimal.Decimal(x.denominator)
            scaled = (-exponent).exp() * decimal.Decimal(2) ** bits  # each is correctly rounded
        middle = Fraction(scaled)
        error = middle * (4 * (1 + x) / Fraction(10) ** (digits - 1))
        if word + 1 <= middle - error:
            return True
        if word >= middle + error:
            return False
        word = (word << _WORD) | int(rng.integers(0, 2**_WORD, dtype=np.uint64))
        bits += _WORD


def bernoulli_exp(
    rng: np.random.Generator, exponent: Array, exact: Callable[[int], Fraction]
) -> BoolArray:
    """Independent events of probabilities exp(-x_i), x_i >= 0, of shape (n,).

    `exponent` holds doubles within 2^-40 (1 + x_i) of x_i, and `exact` gives the rational x_i.
    """
    words = rng.integers(0, 2**_WORD, size=exponent.shape, dtype=np.uint64)
    uniform, chance = words.astype(float) * 2.0**-_WORD, np.exp(-exponent)
    doubt = chance * (_DOUBT * (1.0 + exponent)) + _TINY
    result = uniform < chance
    for i in np.flatnonzero(np.abs(uniform - chance) <= doubt):
        result[i] = _decided(rng, int(words[i]), exact(int(i)))
    return result


def _successes(rng: np.random.Generator, rate: Fraction, count: int) -> WordArray:
    """Independent integers v >= 0 with P(v >= n) = exp(-n rate), one event after another."""
    result = np.zeros(count, dtype=np.int64)
    active = np.arange(count)
    # ends: at most exp(-1) of the events happen each time
    while active.size:
        more = bernoulli_exp(rng, np.full(active.size, float(rate)), lambda _: rate)
        active = active[more]
        result[active] += 1
    return result


def geometric(rng: np.random.Generator, rate: Fraction, count: int) -> WordArray:
    """Independent integers v >= 0 with P(v >= n) = exp(-n rate), shape (count,).

    With N about 1 / rate, v = N w + u: w and u are independent, w geometric with rate N rate, and u
    uniform below N given an event of probability exp(-u rate).
    """
    block, step = math.ceil(1 / rate), float(rate)
    result = np.empty(count, dtype=np.int64)
    filled = 0
    # ends: more than half of all draws count
    while filled < count:
        u = rng.integers(0, block, size=2 * (count - filled) + 16)

        def exact(i: int, u: WordArray = u) -> Fraction:
            return int(u[i]) * rate

        u = u[bernoulli_exp(rng, u.astype(float) * step, exact)][: count - filled]
        result[filled : filled + u.size] = u
        filled += u.size
    return result + block * _successes(rng, block * rate, count)


def discrete_laplace(rng: np.random.Generator, scale: Fraction, count: int) -> WordArray:
    """At most `count` independent integers with probabilities as exp(-|k| / scale).

    Algorithm 2 of Canonne, Kamath & Steinke: a geometric size and a fair sign, and 0 with the sign
    - is rejected.
    """
    size = geometric(rng, 1 / scale, count)
    negative = rng.integers(0, 2, size=size.size).astype(bool)
    keep = ~(negative & (size == 0))
    return np.where(negative, -size, size)[keep]


def above(x: Fraction) -> Fraction:
    """A number that is at least `x` >= 0, of 192 binary digits unless `x` is an integer."""
    shift = _DIGITS - x.numerator.bit_length() + x.denominator.bit_length()
    if x.denominator == 1 and shift >= 0:
        return x
    scale = Fraction(2) ** shift
    return Fraction(math.ceil(x * scale)) / scale


def root_above(x: Fraction) -> Fraction:
    """A number that is at least the square root of `x` >= 0, and equal to it if it is rational."""
    if x == 0:
        return x
    p, q = math.isqrt(x.numerator), math.isqrt(x.denominator)
    if p * p == x.numerator and q * q == x.denominator:
        return Fraction(p, q)
    shift = _DIGITS + (x.denominator.bit_length() - x.numerator.bit_length()) // 2
    scale = Fraction(2) ** shift
    return (math.isqrt(math.ceil(x * scale * scale)) + 1) / scale


def powers(first: Weights, second: Weights, power: int) -> Weights:
    """(first * second)^power, coordinate by coordinate."""
    if isinstance(first, Fraction) and isinstance(second, Fraction):
        return (first * second) ** power
    pair = (first, second)
    n = next(len(one) for one in pair if not isinstance(one, Fraction))
    left, right = ([one] * n if isinstance(one, Fraction) else one for one in pair)
    return [above((x * y) ** power) for x, y in zip(left, right, strict=True)]


def largest_sum(values: Weights, count: int) -> Fraction:
    """The sum of the `count` largest of some values."""
    if isinstance(values, Fraction):
        return count * values
    return sum(sorted(values)[-count:], Fraction(0))


def upper_erf(x: Any) -> Any:  # noqa: ANN401  (a ball of Arb)
    """The integral of exp(-u^2 / 2) over u >= x."""
    return (x.pi() / 2).sqrt() * (x / type(x)(2).sqrt()).erfc()


def mills(x: Fraction, ball: Ball) -> Any:  # noqa: ANN401  (a ball of Arb)
    """The Mills ratio, the integral of exp(-u^2 / 2 - x u) over u >= 0, for x >= 0."""
    if x < _LARGE:
        return upper_erf(ball(x)) * ball(x * x / 2).exp()
    half = ball(Fraction(1, 2))
    return ball(x * x / 2).hypgeom_u(half, half) / ball(2).sqrt()


class Entropy:
    """Independent fair bits.

    There is no seed: whoever knows it knows the noise. Tests pass a source of their own.

    Parameters
    ----------
    source : callable
        Returns a given number of random bytes; `os.urandom` by default.
    """

    def __init__(self, source: Callable[[int], bytes] = os.urandom) -> None:
        self._source = source

    def words(self, count: int) -> NDArray[np.uint64]:
        """Uniform integers below 2^64, shape (count,)."""
        return np.frombuffer(self._source(8 * count), dtype="<u8").astype(np.uint64)

    def bits(self, count: int) -> int:
        """A uniform integer below 2^count, `count` a multiple of 8."""
        return int.from_bytes(self._source(count // 8), "little")

    def integers(
        self,
        low: int,
        high: int,
        size: int | tuple[int, ...] | None = None,
        dtype: Any = np.int64,  # noqa: ANN401  (as NumPy's)
    ) -> Any:  # noqa: ANN401
        """Uniform integers from `low` to below `high`, without bias; arguments as NumPy's."""
        shape = () if size is None else size
        count, span = int(np.prod(shape)), high - low
        if span == 2**_WORD:
            return self.words(count).astype(dtype).reshape(shape)[()]
        excess = np.uint64(2**_WORD % span)
        found = self.words(count)
        # The last 2^64 mod span words would favour small remainders: they are drawn anew.
        # ends: a rejection sampler: ends with probability 1
        while excess and (bad := np.flatnonzero(found > np.uint64(2**_WORD - 1) - excess)).size:
            found[bad] = self.words(bad.size)
        return (low + (found % np.uint64(span)).astype(dtype)).reshape(shape)[()]
