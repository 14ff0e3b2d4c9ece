"""Most draws at once: a table of P(|T| > t) that decides them in double precision.

The density must not rise with |t|, so that P(|T| > t) is convex: between two entries it lies below
the chord and above both neighbouring chords, prolonged. So a uniform number encloses |T| in an
interval; where all of it rounds to the same integer the draw is decided, and where not, or in the
far tail, `dpnoise.releases.refining` decides with the same uniform number. Margins of 2^-44 cover
the rounding of a dozen operations, each of at most 2^-52, and 2^-60 the bits of the uniform number
after the 64th.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from flint import ctx

from dpnoise.releases.tails import TAILS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpnoise._types import Array, BoolArray, WordArray
    from dpnoise.noise.base import Noise

_CELLS = 2**8  # to a mean |T|
_MOST_CELLS = 2**13
_TAIL = 2.0**-20  # less is left to the exact comparison
_MARGIN = 2.0**-44
_BITS_LEFT = 2.0**-60  # over what the bits after the 64th can add
_BITS = 128


class Table(NamedTuple):
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
def table_of(noise: Noise) -> Table:
    """The table of one noise."""
    exponent = math.frexp(noise.mean_abs() / _CELLS)[1] - 1
    width = Fraction(2) ** exponent
    end = float(noise.isf(0.25 * _TAIL))
    cells = min(math.ceil(Fraction(end) / width) + 2, _MOST_CELLS)
    tail = TAILS[type(noise)]
    found = [1.0]
    with ctx.workprec(_BITS):
        for k in range(1, cells + 1):
            value = tail(noise, k * width)
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
    return Table(width, tails, masses, left, right, margins)
