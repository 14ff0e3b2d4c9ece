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

**Joint noise** is X = T Z, where the layer T and each factor of Z are functions of uniform numbers.
Doubles decide the integers next to (value + X) / step unless one of them is within the error of a
half-integer; such a vector is computed in balls, from more and more bits of the same uniform
numbers.

The laws of T are those of `dpnoise.joint`. Gamma variates: Marsaglia & Tsang, "A simple method for
generating gamma variables" (ACM Transactions on Mathematical Software 2000). A gamma variate of
shape K that must not exceed w is drawn anew until it does not, or, where that is rare, from the
tangent of its log density at w, which lies above it: v = w - E / lam with lam = (K - 1) / w - 1.
Layers err by at most 2^-34 (T + scale) in doubles.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from flint import arb, ctx
from scipy import special

from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.joint.vectors import CorrelatedGaussian
from dpnoise.releases.points import (
    Balls,
    Doubles,
    Sampler,
    UndecidedError,
    ball,
    drawn_normals,
    drawn_points,
    normal,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from dpnoise._types import Array, BoolArray, IntArray, WordArray
    from dpnoise.noise.base import Noise
    from dpnoise.noise.exact import Entropy
    from dpnoise.releases.points import Numbers, Points

_FEW = 256  # draws for which no table is made
_MOST = 2**62  # beyond, integers are cut off, which is post-processing
_CELLS = 2**8  # to a mean |T|
_MOST_CELLS = 2**13
_TAIL = 2.0**-20  # less is left to the exact comparison
_MARGIN = 2.0**-44
_BITS_LEFT = 2.0**-60  # over what the bits after the 64th can add
_BITS = 128
_WORD, _GUARD = 64, 96
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


_ERROR = 2.0**-32  # of a coordinate, over its largest change times T + scale
_ENTRIES = 2**20  # of one chunk

_OFTEN = 0.1  # share of gamma variates within the bound
_ROUNDING = 2.0**-46  # of a logarithm, over the size of its terms
_SUMMING = 2.0**-52  # of one addition among shares


class _Column:
    """The uniform numbers behind one sampler, for many rows."""

    def __init__(self, sampler: Sampler, count: int, entropy: Entropy) -> None:
        self.sampler, self._entropy = sampler, entropy
        self.fine: dict[int, tuple[list[int], int]] = {}  # rows known to more bits
        self.words = np.empty((count, sampler.columns), dtype=np.int64)
        filled, share = 0, 1.0
        # ends: a rejection sampler: ends with probability 1
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
        # ends: raises
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
    found = np.empty(values.shape)
    rows = max(1, _ENTRIES // values.shape[1])
    for first in range(0, values.shape[0], rows):
        some = values[first : first + rows]
        for points in _drawn(noise, some.shape[0], entropy):
            part = _rounded(some[points.rows], noise, points, step, entropy)
            found[first + points.rows] = part
    return np.where(noise.ball.box > 0.0, found, values)


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
        error = _ERROR * noise.ball.spread * (reach[:, None] + scale) * (box / step) + 2.0**-40
        low, high = np.floor(scaled - error), np.floor(scaled + error)
        doubt = np.any((low != high) & (box > 0.0), axis=1) | np.any(~np.isfinite(scaled), axis=1)
    for column, x in zip(columns, numbers, strict=True):
        doubt |= x.doubt
        doubt[list(column.fine)] = True
    result = whole + low
    for row in np.flatnonzero(doubt).tolist():
        result[row] = _exactly(values[row], box, step, columns, drawn, row=row)
    return np.clip(result, -_MOST, _MOST) * step


def _exactly(
    values: Array, box: Array, step: Array, columns: list[_Column], drawn: Points, *, row: int
) -> list[float]:
    """The integers of one row that doubles do not decide."""
    # ends: raises
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


def layer(noise: RadialNoise | NormStaircase | CorrelatedGaussian) -> Sampler:
    """The sampler of T, values of shape (rows,); of Gaussian noise, of its standard deviation."""
    if isinstance(noise, CorrelatedGaussian):
        sigma = noise.sigma
        return Sampler(1, lambda x: np.array([x.number(sigma)] * x.signed.shape[0]))
    if isinstance(noise, NormStaircase):
        return Sampler(1, _Stairs(noise).values)
    if noise.bound == np.inf:
        gamma = _gamma(Fraction(noise.ball.active_dimension) / Fraction(noise.power) + 1)

        def values(x: Numbers) -> Any:  # noqa: ANN401
            v = gamma.values(x)
            root = v if noise.power == 1.0 else v ** (1 / x.number(noise.power))
            return x.number(noise.scale) * root

        return Sampler(gamma.columns, values)
    if noise.power != 1.0:
        message = f"release: expected radial noise of power 1 beside a bound, got {noise!r}"
        raise ValueError(message)
    return _truncated(noise)


def _gamma(shape: Fraction) -> Sampler:
    """A gamma variate of a shape of at least 1, in three columns."""
    d = shape - Fraction(1, 3)
    error = 2.0**-30 * (1.0 + float(d))

    def values(x: Numbers) -> Any:  # noqa: ANN401
        centre = x.number(d)
        z = normal(x, 0, 1)[:, 0]
        root = 1 + z / (9 * centre) ** x.number(0.5)
        x.require(root, 2.0**-30)
        x.away_from(np.where(x.refused, 1.0, root), 2.0**-4)
        root = np.where(x.refused, 1.0, root)
        cube = root * root * root
        spare = z * z / 2 + centre - centre * cube + 3 * centre * np.log(root)
        x.require(spare + x.exponential(slice(2, 3))[:, 0], error)
        return centre * cube

    return Sampler(3, values)


def _truncated(noise: RadialNoise) -> Sampler:
    """K-norm noise with a bound: the layer is min(v + E, w), v the norm of a draw."""
    K = noise.ball.active_dimension
    w = Fraction(noise.bound) / Fraction(noise.scale)
    often = special.gammainc(K, float(w)) >= _OFTEN
    inner = _gamma(Fraction(K)) if often else Sampler(2, _tangent(K, w))

    def values(x: Numbers) -> Any:  # noqa: ANN401
        v, end = inner.values(x), x.number(w)
        x.require(end - v, 2.0**-33 * (1.0 + float(w)))
        more = x.exponential(slice(inner.columns, None))[:, 0]
        return x.number(noise.scale) * x.smaller(v + more, end)

    return Sampler(inner.columns + 1, values)


def _tangent(K: int, w: Fraction) -> Any:  # noqa: ANN401  (a function of numbers)
    """A gamma variate of shape K below w, where most exceed w; for K = 1 by inversion."""
    lam = Fraction(K - 1) / w - 1

    def inverse(x: Numbers) -> Any:  # noqa: ANN401
        end = x.number(w)
        return -np.log1p(np.abs(x.signed[:, 0]) * np.expm1(np.array([-end]))[0])

    def values(x: Numbers) -> Any:  # noqa: ANN401
        end = x.number(w)
        share = 1 - x.exponential(slice(0, 1))[:, 0] / (x.number(lam) * end)
        x.require(share, 2.0**-30)
        x.away_from(np.where(x.refused, 1.0, share), 2.0**-6)
        share = np.where(x.refused, 1.0, share)
        fall = (K - 1) * (np.log(share) - share + 1)
        x.require(fall + x.exponential(slice(1, 2))[:, 0], 2.0**-30 * K)
        return share * end

    return inverse if K == 1 else values


class _Stairs:
    """The radii k + gamma with weights e^(-k epsilon) (k + gamma)^K."""

    def __init__(self, noise: NormStaircase) -> None:
        self.noise = noise
        self.K = noise.ball.active_dimension
        radii, logs = noise._steps  # noqa: SLF001  (tested against the sums of balls below)
        self.radii, self.cumulated = radii, np.cumsum(np.exp(logs))
        largest = self.K * np.max(np.abs(np.log(radii))) + noise.epsilon * radii[-1]
        # Of sums of exponentials, added up one after another.
        self.error = _ROUNDING * (64.0 + float(largest)) + _SUMMING * radii.size

    def values(self, x: Numbers) -> Any:  # noqa: ANN401
        """T, by the first k whose cumulated share exceeds a uniform number."""
        if isinstance(x, Balls):
            k = self._exactly((x.signed[0, 0] + 1) / 2, x.bits)
            return np.array([k + ball(self.noise.gamma)], dtype=object)
        u = 0.5 * (x.signed[:, 0] + 1.0)
        place = np.searchsorted(self.cumulated, u)
        last = self.radii.size - 1
        near = [np.abs(self.cumulated[np.clip(place - i, 0, last)] - u) for i in (0, 1)]
        x.doubt |= (np.minimum(*near) < self.error) | (place >= last)
        return self.radii[np.minimum(place, last)]

    def _exactly(self, u: Any, bits: int) -> int:  # noqa: ANN401
        """The same in balls: sums until what is left is below 2^-bits of the total."""
        gamma, b = ball(self.noise.gamma), (-ball(self.noise.epsilon)).exp()
        sums, k, fall = [arb(0)], 0, arb(1)
        # ends: terms fall like a geometric series, whose rest is bounded; an interval
        # halves
        while True:
            sums.append(sums[-1] + fall * (k + gamma) ** self.K)
            k, fall = k + 1, fall * b
            ratio = b * (1 + 1 / (k + gamma)) ** self.K
            if ratio < 1:
                rest = fall * (k + gamma) ** self.K / (1 - ratio)  # of a geometric series
                if rest < sums[-1] * arb((1, -bits)):
                    break
        total = sums[-1].union(sums[-1] + rest)
        low, high = 0, len(sums) - 1
        # ends: terms fall like a geometric series, whose rest is bounded; an interval
        # halves
        while high - low > 1:
            middle = (low + high) // 2
            if u * total < sums[middle]:
                high = middle
            elif u * total > sums[middle]:
                low = middle
            else:
                raise UndecidedError
        if not (u * total < sums[high] and (low == 0 or u * total > sums[low])):
            raise UndecidedError
        return low
