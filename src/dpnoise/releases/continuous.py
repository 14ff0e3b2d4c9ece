"""Values plus continuous noise of one family, rounded to a grid by exact draws.

What is returned is the multiple of the grid next to value + scale T, with an exact draw T of the
noise and the value as the rational number that its double is. With a random sign s, and
s value / step + 1/2 = m + offset, the multiple is s (m + N), N = floor(|T| / (step / scale) +
offset); ties have probability 0.

|T| is the quantile function of a uniform number U at P(|T| > t): |T| > t if and only if U is below
that probability. U is known to lie between two neighbouring multiples of 2^-bits, the probability
to lie in a ball. If they overlap, U gets more bits and the ball more precision.

Most draws are decided at once, in double precision, by a table of P(|T| > t). The density must not
rise with |t|, so that P(|T| > t) is convex: between two entries it lies below the chord and above
both neighbouring chords, prolonged. So a uniform number encloses |T| in an interval; where all of
it rounds to the same integer the draw is decided, and where not, or in the far tail, balls decide
with the same uniform number. Margins of 2^-44 cover the rounding of a dozen operations, each of at
most 2^-52, and 2^-60 the bits of the uniform number after the 64th.

Balls are proved to contain P(|T| > t). Parameters are doubles and points are rational, both taken
as exact; functions are those of Arb (Johansson, "Arb: efficient arbitrary-precision midpoint-radius
interval arithmetic", IEEE Transactions on Computers 2017), in the precision of the context of
python-flint. Each family states its own (`Noise.exact_tail`), a second derivation from its density:
tests compare it with its other methods.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from flint import arb, ctx, fmpq

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpnoise._types import Array, BoolArray, WordArray
    from dpnoise.noise.base import Noise
    from dpnoise.noise.exact import Entropy

_FEW = 256  # draws for which no table is made
_MOST = 2**62  # beyond, integers are cut off, which is post-processing
_CELLS = 2**8  # to a mean |T|
_MOST_CELLS = 2**13
_TAIL = 2.0**-20  # less is left to the exact comparison
_MARGIN = 2.0**-44
_BITS_LEFT = 2.0**-60  # over what the bits after the 64th can add
_BITS = 128
_WORD, _GUARD = 64, 64
_REFINEMENTS = 12  # each doubles the bits: comparisons end long before, but for 2^-200000


def rounded_sums(
    values: Array, noise: Noise, scales: Array, step: Array, entropy: Entropy
) -> Array:
    """Multiples of `step` next to values + scales T, all of one shape (n,), scales above 0."""
    words = entropy.words(values.size)
    signs = 1 - 2 * entropy.integers(0, 2, values.size)
    found = np.empty(values.shape, dtype=np.int64)
    rest = np.arange(values.size)
    if values.size > _FEW:
        table = table_of(noise)
        place = signs * (values / step)
        whole = np.floor(place)
        part = place - whole
        whole, offset = whole + (part >= 0.5), part + np.where(part >= 0.5, -0.5, 0.5)
        with np.errstate(over="ignore"):
            width = math.frexp(float(table.width))[1]  # exponents: the ratio is not rounded
            ratio = np.ldexp(scales, width - np.frexp(step)[1])
        more, decided = table.steps(words, ratio, offset)
        found = signs * (whole.astype(np.int64) + more)
        rest = np.flatnonzero(~decided)
    for i in rest.tolist():
        exact = multiple(
            Fraction(float(values[i])),
            Fraction(float(step[i])),
            noise,
            scale=Fraction(float(scales[i])),
            sign=int(signs[i]),
            uniform=Uniform(int(words[i]), entropy),
        )
        found[i] = max(-_MOST, min(_MOST, exact))
    return np.ldexp(found.astype(float), np.frexp(step)[1] - 1)


def multiple(
    value: Fraction, step: Fraction, noise: Noise, *, scale: Fraction, sign: int, uniform: Uniform
) -> int:
    """The integer next to (value + scale T) / step, by comparisons in balls."""
    place = sign * value / step + Fraction(1, 2)
    whole = math.floor(place)
    return sign * (whole + steps(noise, uniform, step / scale, place - whole))


class TailTable(NamedTuple):
    """Cells of |T| of one width; entries by cell unless said otherwise.

    Attributes
    ----------
    width : Fraction
        Of a cell.
    tails : numpy.ndarray, shape (cells + 1,)
        P(|T| > t) where cells begin, and where the last one ends.
    masses : numpy.ndarray
        P(|T| in the cell).
    left, right : numpy.ndarray
        The mass over that of the cell before and after; 0 and infinity where they do not help.
    margins : numpy.ndarray
        For rounding, as a share of the cell; infinite where nothing is to be decided.
    """

    width: Fraction
    tails: Array
    masses: Array
    left: Array
    right: Array
    margins: Array

    def steps(
        self, words: NDArray[np.uint64], ratio: Array, offset: Array
    ) -> tuple[WordArray, BoolArray]:
        """floor(|T| / step + offset) where it is decided, and where that is.

        `ratio` is width / step, and `offset` is from 0 to 1.
        """
        u = (words.astype(float) + 0.5) * 2.0**-64
        cell = np.searchsorted(-self.tails, -u, side="right") - 1
        cell = np.clip(cell, 0, self.masses.size - 1)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            x = (self.tails[cell] - u) / self.masses[cell]
            low = np.fmax(x * self.left[cell], 1.0 - (1.0 - x) * self.right[cell])
            low = (cell + low - self.margins[cell]) * ratio * (1.0 - _MARGIN) + offset - _MARGIN
            high = (cell + x + self.margins[cell]) * ratio * (1.0 + _MARGIN) + offset + _MARGIN
            first, last = np.maximum(np.floor(low), 0.0), np.floor(high)
            decided = (first == last) & (last < 2.0**62)
        return np.where(decided, first, 0.0).astype(np.int64), decided


@lru_cache(maxsize=64)
def table_of(noise: Noise) -> TailTable:
    """The table of one noise."""
    exponent = math.frexp(noise.mean_abs() / _CELLS)[1] - 1
    width = Fraction(2) ** exponent
    end = float(noise.isf(0.25 * _TAIL))
    cells = min(math.ceil(Fraction(end) / width) + 2, _MOST_CELLS)
    found = [1.0]
    with ctx.workprec(_BITS):
        for k in range(1, cells + 1):
            value = noise.exact_tail(k * width, ball)
            if not (value.is_zero() or value.rel_accuracy_bits() >= _BITS // 2):
                break  # the exact comparison takes more digits
            found.append(float(value.mid()))
    tails = np.array(found)
    masses = tails[:-1] - tails[1:]
    before, after = np.append(np.inf, masses[:-1]), np.append(masses[1:], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = masses / after
        right = np.where(ratio < 2.0, ratio, np.inf)
        left = masses / before
        smallest = np.minimum(masses, np.minimum(before, after))
        margins = (_MARGIN * tails[:-1] + _BITS_LEFT) / smallest
    # The last cell, and those without mass, are not for doubles.
    margins = np.where(np.isfinite(margins) & (tails[1:] > 0.0), margins, np.inf)
    return TailTable(width, tails, masses, left, right, margins)


class Uniform:
    """A uniform number between `word` and `word + 1`, times 2^-bits."""

    def __init__(self, word: int, entropy: Entropy) -> None:
        self.word, self.bits = word, _WORD
        self._entropy = entropy

    def refine(self) -> None:
        """Draw as many bits again."""
        self.word = (self.word << self.bits) | self._entropy.bits(self.bits)
        self.bits *= 2

    def exceeds(self, noise: Noise, t: Fraction) -> bool:
        """Whether |T| > t for the draw of a noise that this number stands for."""
        if t <= 0:
            return True
        # ends: raises
        for _ in range(_REFINEMENTS):
            with ctx.workprec(self.bits + _GUARD):
                scaled = noise.exact_tail(t, ball) * 2**self.bits
                if scaled >= self.word + 1:
                    return True
                if scaled <= self.word:
                    return False
            self.refine()
        raise RuntimeError(f"draw of {noise!r}: P(|T| > {float(t)}) is not known well enough")


def steps(noise: Noise, uniform: Uniform, step: Fraction, offset: Fraction) -> int:
    """The integer floor(|T| / step + offset), 0 <= offset < 1."""

    def reaches(n: int) -> bool:
        return uniform.exceeds(noise, (n - offset) * step)

    low = high = _guess(noise, uniform, step, offset)
    width = 1
    if reaches(low):
        high = low + 1
        # ends: a point that doubles, or falls to 0, which is always reached; an interval
        # halves
        while reaches(high):
            low, width = high, 2 * width
            high += width
    else:
        low = max(0, high - width)
        # ends: a point that doubles, or falls to 0, which is always reached; an interval
        # halves
        while not reaches(low):  # 0 is always reached
            high, width = low, 2 * width
            low = max(0, high - width)
    # ends: a point that doubles, or falls to 0, which is always reached; an interval halves
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reaches(middle) else (low, middle)
    return low


def _guess(noise: Noise, uniform: Uniform, step: Fraction, offset: Fraction) -> int:
    """Where to look first: by the quantile function in doubles."""
    chance = (uniform.word + 0.5) / 2.0**uniform.bits
    size = float(noise.isf(0.5 * chance))
    return math.floor(Fraction(size) / step + offset) if math.isfinite(size) else 0


def ball(value: Fraction | float) -> arb:
    """A ball around a rational number."""
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))
