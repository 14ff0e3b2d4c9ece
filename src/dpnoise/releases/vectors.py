"""Values plus joint noise, rounded to a grid.

X = T Z, where the layer T and each factor of Z are functions of uniform numbers. Doubles decide the
integers next to (value + X) / step unless one of them is within the error of a half-integer; such a
vector is computed in balls, from more and more bits of the same uniform numbers.

The laws of T are those of `dpnoise.joint`. Gamma variates: Marsaglia & Tsang, "A simple method for
generating gamma variables" (ACM Transactions on Mathematical Software 2000). A gamma variate of
shape K that must not exceed w is drawn anew until it does not, or, where that is rare, from the
tangent of its log density at w, which lies above it: v = w - E / lam with lam = (K - 1) / w - 1.
Layers err by at most 2^-34 (T + scale) in doubles.
"""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, ctx
from scipy import special

from dpnoise.joint.noise import NormStaircase, RadialNoise
from dpnoise.joint.vectors import CorrelatedGaussian, Staircase2D
from dpnoise.releases.continuous import ball
from dpnoise.releases.points import (
    Balls,
    Doubles,
    Sampler,
    UndecidedError,
    drawn_normals,
    drawn_points,
    normal,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpnoise._types import Array, IntArray, WordArray
    from dpnoise.noise.exact import Entropy
    from dpnoise.releases.points import Numbers, Points

_WORD, _GUARD = 64, 96
_REFINEMENTS = 12
_ERROR = 2.0**-32  # of a coordinate, over its largest change times T + scale
_ENTRIES = 2**20  # of one chunk
_MOST = 2.0**62
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
    joint = noise.in_its_ball if isinstance(noise, Staircase2D) else noise
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
