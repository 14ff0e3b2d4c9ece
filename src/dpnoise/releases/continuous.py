"""Values plus continuous noise, rounded to a grid: independent noise of one family.

What is returned is the multiple of the grid next to value + scale T, with an exact draw T of the
noise and the value as the rational number that its double is. With a random sign s, and
s value / step + 1/2 = m + offset, the multiple is s (m + N), N = floor(|T| / (step / scale) +
offset); ties have probability 0.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.releases.refining import Uniform, steps
from dpnoise.releases.table import table_of

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.noise.base import Noise
    from dpnoise.releases.entropy import Entropy

_FEW = 256  # draws for which no table is made
_MOST = 2**62  # beyond, integers are cut off, which is post-processing


def rounded_sums(
    values: Array, noise: Noise, scales: Array, step: Array, entropy: Entropy
) -> Array:
    """Multiples of `step` next to values + scales T, all of one shape (n,), scales above 0."""
    words = entropy.words(values.size)
    signs = 1 - 2 * entropy.integers(0, 2, values.size)
    found = np.empty(values.shape, dtype=np.int64)
    rest = np.arange(values.size)
    if values.size > _FEW and getattr(noise, "unimodal", True):
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
