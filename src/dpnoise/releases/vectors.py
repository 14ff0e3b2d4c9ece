"""Values plus joint noise, rounded to a grid.

X = T Z, where the layer T and each factor of Z are functions of uniform numbers. Doubles decide the
integers next to (value + X) / step unless one of them is within the error of a half-integer; such a
vector is computed in balls, from more and more bits of the same uniform numbers.
"""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import ctx

from dpnoise.joint.correlated import CorrelatedGaussian
from dpnoise.releases.layers import as_joint, layer
from dpnoise.releases.numbers import Balls, Doubles, UndecidedError
from dpnoise.releases.points import drawn_normals, drawn_points
from dpnoise.releases.tails import ball
from dpnoise.sensitivity.product import Product
from dpnoise.sensitivity.spheroid import RoundSet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpnoise._types import Array, IntArray, WordArray
    from dpnoise.releases.entropy import Entropy
    from dpnoise.releases.points import Points, Sampler
    from dpnoise.sensitivity.base import Sensitivity

_WORD, _GUARD = 64, 96
_REFINEMENTS = 12
_ERROR = 2.0**-32  # of a coordinate, over its largest change times T + scale
_ENTRIES = 2**20  # of one chunk
_MOST = 2.0**62


class _Column:
    """The uniform numbers behind one sampler, for many rows."""

    def __init__(self, sampler: Sampler, count: int, entropy: Entropy) -> None:
        self.sampler, self._entropy = sampler, entropy
        self.fine: dict[int, tuple[list[int], int]] = {}  # rows known to more bits
        self.words = np.empty((count, sampler.columns), dtype=np.int64)
        filled, share = 0, 1.0
        while filled < count:  # by rejection
            tries = min(int((count - filled) / share) + 8, max(1, _ENTRIES // sampler.columns))
            words = entropy.words(tries * sampler.columns).view(np.int64).reshape(tries, -1)
            kept = self._accepted(words, filled, count - filled)
            self.words[filled : filled + kept.size] = words[kept]
            filled += kept.size
            share = max((kept.size + 1.0) / (tries + 1.0), 1e-3)

    def _accepted(self, words: WordArray, first: int, most: int) -> IntArray:
        """Rows that the sampler does not refuse; those in doubt are decided in balls."""
        x = Doubles(words)
        with np.errstate(all="ignore"):
            self.sampler.values(x)
        keep = ~x.refused
        doubtful = {}
        for row in np.flatnonzero(keep & x.doubt).tolist():
            found, bits, refused = self._decided(list(map(int, words[row])), _WORD)
            keep[row], doubtful[row] = not refused, (found, bits)
        kept = np.flatnonzero(keep)[:most]
        for place, row in enumerate(kept.tolist()):
            if row in doubtful:
                self.fine[first + place] = doubtful[row]
        return kept

    def _decided(self, words: list[int], bits: int) -> tuple[list[int], int, bool]:
        """Whether a row is refused, and the bits that this took."""
        for _ in range(_REFINEMENTS):
            try:
                with ctx.workprec(bits + _GUARD):
                    x = Balls(words, bits)
                    self.sampler.values(x)
                return words, bits, bool(x.refused[0])
            except UndecidedError:
                words, bits = self._refined(words, bits)
        raise RuntimeError(f"release: a vector is not decided by {bits} bits")

    def _refined(self, words: list[int], bits: int) -> tuple[list[int], int]:
        """As many bits again."""
        return [(word << bits) | self._entropy.bits(bits) for word in words], 2 * bits

    def refine(self, row: int) -> None:
        """As many bits again for one row."""
        self.fine[row] = self._refined(*self.known(row))

    def known(self, row: int) -> tuple[list[int], int]:
        """The uniform numbers of one row and the number of their bits."""
        return self.fine.get(row, (list(map(int, self.words[row])), _WORD))


def rounded_vectors(values: Array, noise: Any, step: Array, entropy: Entropy) -> Array:  # noqa: ANN401
    """Multiples of `step`, shape (K,), next to values + X; shape (rows, K)."""
    joint = as_joint(noise)
    found = np.empty(values.shape)
    rows = max(1, _ENTRIES // values.shape[1])
    for first in range(0, values.shape[0], rows):
        some = values[first : first + rows]
        for points in _drawn(joint, some.shape[0], entropy):
            part = _rounded(some[points.rows], joint, points, step, entropy)
            found[first + points.rows] = part
    return np.where(joint.ball.box > 0.0, found, values)


def _drawn(noise: Any, count: int, entropy: Entropy) -> Iterable[Points]:  # noqa: ANN401
    """How to make the vectors that are multiplied by T: uniform in the set, or Gaussian."""
    if isinstance(noise, CorrelatedGaussian):
        return [drawn_normals(noise.ball, count)]
    return drawn_points(noise.ball, count, entropy)


def _rounded(values: Array, noise: Any, drawn: Points, step: Array, entropy: Entropy) -> Array:  # noqa: ANN401
    """Some rows of `rounded_vectors`, whose points are made in one way."""
    count, box = values.shape[0], noise.ball.box
    parts = [layer(noise), *drawn.samplers]
    columns = [_Column(part, count, entropy) for part in parts]
    numbers = [Doubles(column.words) for column in columns]
    with np.errstate(all="ignore"):
        reach, *found = [c.sampler.values(x) for c, x in zip(columns, numbers, strict=True)]
        # In steps of the grid, with the integer part of the value apart.
        place = values / step
        whole = np.floor(place)
        scaled = (place - whole) + 0.5 + reach[:, None] * drawn.points(found) * (box / step)
        scale = getattr(noise, "scale", 1.0)
        error = _ERROR * _spread(noise.ball) * (reach[:, None] + scale) * (box / step) + 2.0**-40
        low, high = np.floor(scaled - error), np.floor(scaled + error)
        doubt = np.any((low != high) & (box > 0.0), axis=1) | np.any(~np.isfinite(scaled), axis=1)
    for column, x in zip(columns, numbers, strict=True):
        doubt |= x.doubt
        doubt[list(column.fine)] = True
    result = whole + low
    for row in np.flatnonzero(doubt).tolist():
        result[row] = _exactly(values[row], box, step, columns, drawn, row=row)
    return np.clip(result, -_MOST, _MOST) * step


def _spread(ball: Sensitivity) -> float:
    """By how much the errors of a point grow where it is the image of a simpler one."""
    blocks = ball.blocks if isinstance(ball, Product) else (ball,)
    inner = [_spread(one) for one in blocks] if isinstance(ball, Product) else [1.0]
    return max(ball.spread if isinstance(ball, RoundSet) else 1.0, *inner)


def _exactly(
    values: Array, box: Array, step: Array, columns: list[_Column], drawn: Points, *, row: int
) -> list[float]:
    """The integers of one row that doubles do not decide."""
    for _ in range(_REFINEMENTS):
        bits = max(column.known(row)[1] for column in columns)
        with ctx.workprec(bits + _GUARD), suppress(UndecidedError):
            known = [column.sampler.values(Balls(*column.known(row))) for column in columns]
            reach, points = known[0][0], drawn.points(known[1:], slice(row, row + 1))[0]
            units = zip(values.tolist(), box.tolist(), step.tolist(), points, strict=True)
            found = [
                _next_integer(
                    reach * z * ball(Fraction(c) / Fraction(g)), Fraction(v) / Fraction(g)
                )
                for v, c, g, z in units
            ]
            if all(n is not None for n in found):
                return [float(n) for n in found if n is not None]
        for column in columns:
            column.refine(row)
    raise RuntimeError("release: a vector is not decided by the bits drawn")


def _next_integer(noise: Any, value: Fraction) -> int | None:  # noqa: ANN401  (a ball)
    """The integer next to value + noise, if it is known."""
    found = (noise + ball(value + Fraction(1, 2))).floor().unique_fmpz()
    return None if found is None else int(found)
