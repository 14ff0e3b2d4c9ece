"""One exact draw: a uniform number that gets as many bits as a comparison needs.

|T| is the quantile function of a uniform number U at P(|T| > t): |T| > t if and only if U is below
that probability. U is known to lie between two neighbouring multiples of 2^-bits, the probability
to lie in a ball. If they overlap, U gets more bits and the ball more precision.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import ctx

from dpnoise.releases.tails import TAILS

if TYPE_CHECKING:
    from dpnoise.noise.base import Noise
    from dpnoise.releases.entropy import Entropy

_WORD, _GUARD = 64, 64
_REFINEMENTS = 12  # each doubles the bits: comparisons end long before, but for 2^-200000


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
        tail = TAILS[type(noise)]
        for _ in range(_REFINEMENTS):
            with ctx.workprec(self.bits + _GUARD):
                scaled = tail(noise, t) * 2**self.bits
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
        while reaches(high):
            low, width = high, 2 * width
            high += width
    else:
        low = max(0, high - width)
        while not reaches(low):  # 0 is always reached
            high, width = low, 2 * width
            low = max(0, high - width)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reaches(middle) else (low, middle)
    return low


def _guess(noise: Noise, uniform: Uniform, step: Fraction, offset: Fraction) -> int:
    """Where to look first: by the quantile function in doubles."""
    chance = (uniform.word + 0.5) / 2.0**uniform.bits
    size = float(noise.isf(0.5 * chance))
    return math.floor(Fraction(size) / step + offset) if math.isfinite(size) else 0
