"""Uniform points of a sensitivity set as functions of uniform numbers, in doubles or in balls.

Coordinates are in units of the largest change of each and err by at most 2^-34 in doubles; the
laws are those of `Sensitivity.sample`.

Samplers are written once, in operations that NumPy applies to arrays of doubles (of many rows) and
of balls (of one) alike. In doubles each says by how much a comparison may err; what is in doubt is
decided in balls, with as many bits of the same uniform numbers as it takes.

Assumed of doubles: logarithms, powers, cosines and square roots of NumPy err by at most 2^-46 of
their value. Where a logarithm is steep (below 2^-24 from 0 or from 1) nothing is decided in
doubles; elsewhere exponential variates err by at most 2^-39 of their value.
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from flint import arb, fmpq

from dpnoise.sensitivity.differences import tilt_of
from dpnoise.sensitivity.relation import ADD_REMOVE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from dpnoise._types import Array, IntArray, WordArray
    from dpnoise.noise.exact import Entropy
    from dpnoise.sensitivity.base import Sensitivity
    from dpnoise.sensitivity.counts import Counts
    from dpnoise.sensitivity.differences import VolumeMoments
    from dpnoise.sensitivity.spheroid import RoundSet

_STEEP = 2.0**-24


def ball(value: Fraction | float) -> arb:
    """A ball around a rational number."""
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))


class Sampler(NamedTuple):
    """Some values as a function of uniform numbers, by rejection if it requires anything."""

    columns: int
    values: Callable[[Numbers], Any]


class Points(NamedTuple):
    """How the points of some rows are made of uniform numbers.

    Attributes
    ----------
    rows : numpy.ndarray of int, shape (n,)
        The rows.
    samplers : list of Sampler
        Of independent parts.
    joined : callable
        Points, shape (rows, K), of the list of the samplers' values.
    order : numpy.ndarray of int, shape (n, K), optional
        Which entry of these is that of each coordinate, where it is drawn.
    """

    rows: IntArray
    samplers: list[Sampler]
    joined: Callable[[list[Any]], Any]
    order: IntArray | None

    def points(self, values: list[Any], rows: slice = slice(None)) -> Any:  # noqa: ANN401
        """Points of the samplers' values, for all rows or some of them."""
        found = self.joined(values)
        return found if self.order is None else np.take_along_axis(found, self.order[rows], axis=1)


class _Factor(NamedTuple):
    """The samplers of one factor of a set, and its points by the list of their values."""

    samplers: list[Sampler]
    joined: Callable[[list[Any]], Any] = np.hstack


def drawn_points(ball: Sensitivity, count: int, entropy: Entropy) -> Iterator[Points]:
    """How to make `count` points of a set, in units of `ball.box`, for groups of rows.

    Rows differ by the numbers of counts that rise: what is drawn of `Counts` to begin with.
    """
    factors = [one.body for _, one in ball.factors()]  # counts that are a ball as that ball
    counts = [one.moments for one in factors if one.moments]
    rising = np.array([[_rising(one, entropy) for one in counts] for _ in range(count)], dtype=int)
    order = _order(factors, count, entropy) if counts else None
    kinds, group = np.unique(rising.reshape(count, -1), axis=0, return_inverse=True)
    for k, kind in enumerate(kinds.tolist() if counts else [[]]):
        rows = np.flatnonzero(group.ravel() == k) if counts else np.arange(count)
        numbers = iter(kind)
        parts = [
            _counts(cast("Counts", one), next(numbers)) if one.moments else _plain(one)
            for one in factors
        ]
        yield Points(
            rows,
            [sampler for part in parts for sampler in part.samplers],
            partial(_joined, parts),
            None if order is None else order[rows],
        )


def _joined(parts: list[_Factor], values: list[Any]) -> Any:  # noqa: ANN401
    """The points of all factors, side by side."""
    found = iter(values)
    return np.hstack([part.joined([next(found) for _ in part.samplers]) for part in parts])


def _plain(ball: Sensitivity) -> _Factor:
    """The sampler of a factor that is no `Counts`."""
    K, tilted = ball.dimension, ball.smallest_ellipsoid
    if ball.cut == K:
        return _Factor([Sampler(K, lambda x: x.signed)])
    if ball.cut == 1:
        return _Factor([Sampler(K + 1, _cross_polytope)])
    if ball.cut:
        return _Factor([_cut_cube(ball.cut, K)])
    if ball.is_round and tilted is None:
        return _Factor([_sphere(np.flatnonzero(ball.active), K)])
    if ball.is_round and tilted is not None:
        inner, image = _sphere(np.arange(K), K), partial(_image, tilted)
        return _Factor([Sampler(inner.columns, lambda x: image(inner.values(x), x))])
    message = f"release: expected a norm with an exact sampler, got that of {ball!r}"
    raise ValueError(message)


def drawn_normals(ball: RoundSet, count: int) -> Points:
    """How to make images of standard normal vectors, in units of `ball.box`, for all rows."""
    K = ball.dimension
    pairs = -(-K // 2)
    draw = Sampler(2 * pairs, lambda x: _image(ball, normal(x, 0, pairs)[:, :K], x))
    return Points(np.arange(count), [draw], np.hstack, None)


def _image(ball: RoundSet, z: Any, x: Numbers) -> Any:  # noqa: ANN401
    """The vectors R z in units of `ball.box`.

    By the inequality of Cauchy and Schwarz the rows of R, over the lengths that are the units, have
    an l1 norm of at most `ball.spread`, by which errors of z grow.
    """
    units = np.array([x.number(Fraction(side)) for side in ball.box.tolist()])
    return ball.image(z, x.number) / units


def _rising(moments: VolumeMoments, entropy: Entropy) -> int:
    """The number of counts that rise, by a uniform integer below the multiple of the volume."""
    total = moments.total
    size = total.bit_length()
    bits = -(-size // 8) * 8
    # ends: an integer below 2^n, kept with a chance of 1/2
    while (number := entropy.bits(bits) >> (bits - size)) >= total:
        pass
    return bisect_right(moments.cumulated, number)


def _order(factors: list[Sensitivity], count: int, entropy: Entropy) -> IntArray:
    """A uniform permutation of the entries of each `Counts`, shape (count, K)."""
    found = []
    first = 0
    for factor in factors:
        K = factor.dimension
        places = np.broadcast_to(np.arange(K), (count, K))
        if factor.moments:
            words = entropy.words(count * K).reshape(count, K)
            # ends: words that appear twice are drawn anew
            while (ties := _with_ties(words)).size:  # all orders stay as likely
                words[ties] = entropy.words(ties.size * K).reshape(-1, K)
            places = np.argsort(words, axis=1)
        found.append(first + places)
        first += K
    return np.hstack(found)


def _with_ties(words: NDArray[np.uint64]) -> IntArray:
    """Rows in which a word appears twice."""
    ordered = np.sort(words, axis=1)
    return np.flatnonzero(np.any(ordered[:, 1:] == ordered[:, :-1], axis=1))


def _counts(ball: Counts, rising: int) -> _Factor:
    """Samplers of vectors whose first entries are positive, the others negative.

    As `Counts.sample`. Points of conv(C, -C) err by more than those of C - C: by 2^-35.3 over the
    gauge by which they are divided, and by 2^-38 for the exponential variates.
    """
    sides = [(k, sign) for k, sign in ((rising, 1), (ball.of - rising, -1)) if k]
    if ball.relation != ADD_REMOVE:

        def apart(values: list[Any]) -> Any:  # noqa: ANN401
            return np.hstack([sign * x for (_, sign), x in zip(sides, values, strict=True)])

        return _Factor([_sizes(ball.m, k) for k, _ in sides], apart)

    def spaced(values: list[Any]) -> Any:  # noqa: ANN401
        *parts, spacings = values
        first = [0, sides[0][0]]
        shares = [
            sign * np.sum(spacings[:, at : at + k], axis=1)
            for (k, sign), at in zip(sides, first, strict=False)
        ]
        return np.hstack([s[:, None] * x for s, x in zip(shares, parts, strict=True)])

    last = Sampler(ball.of + 1, _spacings)
    return _Factor([*(_boundary(ball.m, k) for k, _ in sides), last], spaced)


def _spacings(x: Numbers) -> Any:  # noqa: ANN401
    """Exponential variates over their sum."""
    parts = x.exponential(slice(None))
    total = np.sum(parts, axis=1)
    x.away_from(total, 2.0**-6)
    return parts / total[:, None]


def _sizes(m: int, K: int) -> Sampler:
    """Points of the cut cube, without signs."""
    inner = Sampler(K, lambda x: x.signed) if m >= K else _cut_cube(m, K)
    return Sampler(inner.columns, lambda x: np.abs(inner.values(x)))


def _boundary(m: int, K: int) -> Sampler:
    """Points of the cut cube over their gauge max(max u, sum u / m).

    Without a tilt entries err by 2^-52; with one by 2^-37, and the gauge by 2^-35.8.
    """
    inner, smallest = _sizes(m, K), 0.5 if tilt_of(m, K) > 0.0 else 2.0**-16

    def values(x: Numbers) -> Any:  # noqa: ANN401
        size = inner.values(x)
        gauge = x.largest(size)
        if m < K:
            total = np.sum(size, axis=1) / m
            gauge = x.largest(np.stack([gauge, total], axis=1))
        x.away_from(gauge, smallest)
        return size / gauge[:, None]

    return Sampler(inner.columns, values)


def _cross_polytope(x: Numbers) -> Any:  # noqa: ANN401
    """K of K + 1 exponential variates over their sum, with random signs."""
    parts = x.exponential(slice(None))
    total = np.sum(parts, axis=1)
    x.away_from(total, 2.0**-6)
    return x.sign(x.signed[:, :-1]) * parts[:, :-1] / total[:, None]


def normal(x: Numbers, first: int, pairs: int) -> Any:  # noqa: ANN401
    """Normal variates by Box and Muller, from 2 `pairs` columns."""
    level, angle = slice(first, first + pairs), slice(first + pairs, first + 2 * pairs)
    reach, turn = np.sqrt(2 * x.exponential(level)), x.signed[:, angle] * x.pi
    return np.concatenate([reach * np.cos(turn), reach * np.sin(turn)], axis=1)


def _sphere(active: Any, dimension: int) -> Sampler:  # noqa: ANN401
    """The direction of normal variates, times U^(1 / K)."""
    K = active.size
    pairs = -(-K // 2)

    def values(x: Numbers) -> Any:  # noqa: ANN401
        way = normal(x, 0, pairs)[:, :K]
        size = np.sqrt(np.sum(way * way, axis=1))
        x.away_from(size, 2.0**-5)
        reach = np.exp(-x.exponential(slice(2 * pairs, None))[:, 0] * x.number(Fraction(1, K)))
        found = np.zeros((way.shape[0], dimension), dtype=way.dtype)
        found[:, active] = way * (reach / size)[:, None]
        return found

    return Sampler(2 * pairs + 1, values)


def _cut_cube(m: int, K: int) -> Sampler:
    """Points of the cube whose sizes have a sum of at most m, tilted and thinned.

    As `AtMost.sample`: the tilt, a double taken as exact, decides only how many are refused.
    """
    tilt = tilt_of(m, K)
    error = 2.0**-32 * K * (1.0 + tilt)

    def values(x: Numbers) -> Any:  # noqa: ANN401
        signed = x.signed[:, :K]
        size = np.abs(signed)
        if tilt > 0.0:
            x.away_from(1.0 - size, 2.0**-16)
            fall = x.number(tilt)
            drop = np.expm1(np.array([-fall]))[0]
            size = -np.log1p(size * drop) / fall
        spare = m - np.sum(size, axis=1)
        x.require(spare, error)
        if tilt > 0.0:
            x.require(x.exponential(slice(K, None))[:, 0] - x.number(tilt) * spare, error)
        return x.sign(signed) * size

    return Sampler(K + 1, values)


class UndecidedError(ArithmeticError):
    """A comparison of balls that overlap."""


class Doubles:
    """Uniform numbers of many rows in double precision.

    Attributes
    ----------
    signed : numpy.ndarray, shape (rows, columns)
        The numbers.
    doubt : numpy.ndarray of bool, shape (rows,)
        Rows of which something is not decided.
    refused : numpy.ndarray of bool, shape (rows,)
        Rows that a sampler by rejection refuses, for certain.
    """

    pi = np.pi

    def __init__(self, words: WordArray) -> None:
        self.signed: Any = (words.astype(float) + 0.5) * 2.0**-63
        # 1 - |s| without cancellation
        most = np.where(words < 0, words - np.int64(-(2**63)), np.int64(2**63 - 1) - words)
        self._rest: Array = (most.astype(float) + 0.5) * 2.0**-63
        self.doubt = np.zeros(words.shape[0], dtype=bool)
        self.refused = np.zeros(words.shape[0], dtype=bool)

    def exponential(self, columns: slice) -> Any:  # noqa: ANN401
        """Exponential variates -log|s|."""
        size, rest = np.abs(self.signed[:, columns]), self._rest[:, columns]
        self.doubt |= np.any((size < _STEEP) | (rest < _STEEP), axis=1)
        return -np.where(size < 0.5, np.log(size), np.log1p(-rest))

    def away_from(self, value: Any, bound: float) -> None:  # noqa: ANN401
        """Doubt where a value is too small for the next operation."""
        self.doubt |= np.any(~(value >= bound), axis=tuple(range(1, value.ndim)))

    def require(self, slack: Any, error: float) -> None:  # noqa: ANN401
        """Refusal of rows with negative slack, which may err by `error`, unless in doubt."""
        self.refused |= (slack < -error) & ~self.doubt
        self.doubt |= ~(np.abs(slack) > error)

    @staticmethod
    def number(value: Fraction | float) -> Any:  # noqa: ANN401
        """A constant."""
        return float(value)

    @staticmethod
    def sign(value: Any) -> Any:  # noqa: ANN401
        """The signs."""
        return np.sign(value)

    @staticmethod
    def smaller(first: Any, second: Any) -> Any:  # noqa: ANN401
        """The smaller of two numbers."""
        return np.minimum(first, second)

    @staticmethod
    def largest(values: Any) -> Any:  # noqa: ANN401
        """The largest entry of each row."""
        return np.max(values, axis=1)


class Balls:
    """The same of one row, as balls around numbers known to some bits."""

    def __init__(self, words: list[int], bits: int) -> None:
        found = [arb((2 * word + 1, -bits), (1, -bits)) for word in words]
        self.signed: Any = np.array([found], dtype=object)
        self.bits = bits
        self.refused = np.zeros(1, dtype=bool)

    @property
    def pi(self) -> Any:  # noqa: ANN401
        """The number pi."""
        return arb.pi()

    def exponential(self, columns: slice) -> Any:  # noqa: ANN401
        """Exponential variates -log|s|."""
        return -np.log(np.abs(self.signed[:, columns]))

    def away_from(self, value: Any, bound: float) -> None:  # noqa: ANN401
        """Nothing: balls carry their errors."""

    def require(self, slack: Any, error: float) -> None:  # noqa: ANN401, ARG002
        """Refusal of the row if its slack is negative."""
        value = slack[0]
        if value < 0:
            self.refused[0] = True
        elif not value > 0 and not self.refused[0]:
            raise UndecidedError

    @staticmethod
    def number(value: Fraction | float) -> Any:  # noqa: ANN401
        """A constant."""
        return ball(value)

    @staticmethod
    def sign(value: Any) -> Any:  # noqa: ANN401
        """The signs."""
        return np.vectorize(lambda x: x.sgn(), otypes=[object])(value)

    @staticmethod
    def smaller(first: Any, second: Any) -> Any:  # noqa: ANN401
        """The smaller of two numbers."""
        return np.vectorize(lambda x, y: x.min(arb(y)), otypes=[object])(first, second)

    @staticmethod
    def largest(values: Any) -> Any:  # noqa: ANN401
        """The largest entry of the row."""
        return np.array([reduce(lambda x, y: x.max(y), row) for row in values], dtype=object)


Numbers = Doubles | Balls
