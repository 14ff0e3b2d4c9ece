"""Counts of which a person moves at most m: the ball max(|d|_inf / c, |d|_1 / (m c)).

Its volume is (2 c)^K P(U_1 + ... + U_K <= m), U_i uniform on [0, 1]. For a whole number m that
probability (Irwin-Hall) and the moments are ratios of integers, computed exactly: with

    S = sum over k < m of (-1)^k C(K, k) (m - k)^K,

P = S / K!, and E Z_1^2 / c^2 is the integral of u^2 P(U_2 + ... + U_K <= m - u) over [0, 1],
divided by P. Uniform points: `dpnoise.sensitivity.differences`, with random signs.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise.noise.exact import above, largest_sum, powers
from dpnoise.sensitivity.balls import L1, LInf
from dpnoise.sensitivity.base import (
    Sensitivity,
    check_dimension,
    check_relation,
    check_size,
    largest,
)
from dpnoise.sensitivity.differences import Differences, listed_vertices, uniform_points
from dpnoise.sensitivity.relation import number_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise.noise.exact import Weights

_ENTRIES = 2**20  # drawn at a time


@dataclass(frozen=True, repr=False)
class FewEntries(Sensitivity):
    """A set of which at most m of K coordinates change, or for two persons m of each, by `each`."""

    m: int
    of: int
    each: float = 1.0

    @property
    def moved(self) -> int:
        """The largest number of entries that are not 0."""
        return self.m

    @property
    def dimension(self) -> int:
        """The number K of coordinates."""
        return self.of

    @property
    def box(self) -> Array:
        """The largest |d_i|, shape (K,)."""
        return np.full(self.of, self.each)

    def sides(self) -> Fraction:
        """The largest change."""
        return Fraction(self.each)

    @property
    def _noun(self) -> str:
        """What one of the numbers is called: a person adds more than 1, or less, to sums alone."""
        return "count" if self.each == 1.0 else "sum"

    @property
    def l1(self) -> float:
        """The largest l1 norm."""
        return self.moved * self.each

    @property
    def l2(self) -> float:
        """The largest l2 norm."""
        return math.sqrt(self.moved) * self.each

    @abstractmethod
    def _log_volume(self) -> float:
        """The logarithm of the volume of a set that is no ball."""

    @abstractmethod
    def _mean_power(self, power: int) -> float:
        """E |Z_1|^power / each^power for Z uniform in a set that is no ball, power 1 or 2."""

    @property
    def _ball(self) -> Sensitivity | None:
        """The same set as an l1 or l-infinity ball, if it is one."""
        return self.body if self.body.cut in (1, self.of) else None

    @property
    def log_volume(self) -> float:
        """The logarithm of the volume."""
        self._require_volume()
        return self._ball.log_volume if self._ball else self._log_volume()

    @property
    def mean_square(self) -> Array:
        """E Z_i^2 for Z uniform in the set, shape (K,)."""
        self._require_volume()
        if self._ball:
            return self._ball.mean_square
        return np.full(self.of, self.each**2 * self._mean_power(2))

    @property
    def mean_abs(self) -> Array:
        """E|Z_i| for Z uniform in the set, shape (K,)."""
        self._require_volume()
        ball = self._ball
        return ball.mean_abs if ball else np.full(self.of, self.each * self._mean_power(1))

    @abstractmethod
    def _uniform(self, number: int, rng: np.random.Generator) -> Array:
        """Uniform points of a set that is no ball, over `each`, shape (number, K)."""

    def _sample(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Uniform points, shape (*size, K)."""
        self._require_volume()
        if self._ball:
            return self._ball._sample(size, rng)  # noqa: SLF001  (the same set)
        return self.each * self._uniform(math.prod(size), rng).reshape(*size, self.of)


@dataclass(frozen=True, repr=False)
class AtMost(FewEntries):
    """Sensitivity of K counts of which one person moves at most m, each by at most c.

    The differences have at most m entries other than 0, of size at most `each`. The convex set
    around them is {d : |d_i| <= each for all i, |d_1| + ... + |d_K| <= m each}.

    Parameters
    ----------
    m : int
        The number of coordinates that a person can move, from 1 to K.
    of : int
        The number K of coordinates, from 1 to 1e8; at most 5000 unless m is 1 or K.
    each : float, default 1
        The largest change of each coordinate, from 1e-100 to 1e100.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours: one person more or less, or one person replaced by
        another. Without it the set is plain geometry.

    Raises
    ------
    ValueError
        If a parameter is out of range; the message names every problem.

    Examples
    --------
    >>> from dpnoise import AtMost
    >>> visits = AtMost(3, of=12, relation="add-remove")
    >>> visits.l1, round(visits.l2, 3)
    (3.0, 1.732)
    >>> visits.words
    'in at most 3 of 12 counts, each by at most 1'
    """

    _most = 5000  # coordinates for which the integers take a second

    def __post_init__(self) -> None:
        """Check of the parameters, stored as int, int and float."""
        problems = Problems("sensitivity of at most m of K coordinates")
        known = check_dimension(problems, "of", self.of)
        top = self.of if known else math.inf
        good = is_integer(self.m) and 1 <= self.m <= top
        expected = f"an integer from 1 to {self.of}" if known else "a positive integer"
        problems.require(good, "m", expected, self.m)
        check_size(problems, "each", self.each)
        check_relation(problems, self.relation)
        if known and good:
            fits = self.of <= self._most or self.m in (1, self.of)
            limit = f"at most {self._most} coordinates unless m is 1 or their number"
            problems.require(fits, "of", limit, self.of)
        problems.raise_if_any()
        vars(self).update(m=int(self.m), of=int(self.of), each=float(self.each))

    @cached_property
    def body(self) -> Sensitivity:
        """The l1 or l-infinity ball for m = 1 and m = K; else the set without a relation."""
        if self.m == self.of:
            return LInf(self.each, self.of)
        return L1(self.each, self.of) if self.m == 1 else self._related(None)

    @cached_property
    def irwin_hall(self) -> tuple[int, Fraction, Fraction]:
        """The integer S, E|Z_1| / each and E Z_1^2 / each^2."""
        K, m = self.of, self.m
        volume = first = square = 0
        whole, part = 1, 1  # C(K, k) and C(K - 1, k), with the sign of (-1)^k
        for k in range(m):
            n = m - k
            near = (n - 1) ** K
            volume += whole * n**K
            first += part * (n ** (K + 1) - near * (n + K))
            far = 2 * (n ** (K + 2) - near * (n - 1) ** 2)
            square += part * (far - (K + 2) * near * (K + 1 + 2 * (n - 1)))
            whole, part = -whole * (K - k) // (k + 1), -part * (K - 1 - k) // (k + 1)
        first_moment = Fraction(first, (K + 1) * volume)
        return volume, first_moment, Fraction(square, (K + 1) * (K + 2) * volume)

    @cached_property
    def box_share(self) -> float:
        """The share of the set where the largest |x_i| decides the norm, not the sum.

        Its 2 K cones stand on faces |x_i| = each, of volume (2 each)^(K - 1) times the Irwin-Hall
        probability of K - 1 coordinates with a sum of at most m - 1.
        """
        if self.m in (1, self.of):
            return float(self.m == self.of)
        faces = AtMost(self.m - 1, self.of - 1).irwin_hall[0]
        return float(Fraction(self.of * faces, self.irwin_hall[0]))

    @cached_property
    def differences(self) -> Differences | None:
        """At most m entries, with any signs; None for m = K, where these fill a cube."""
        if self.m == self.of:
            return None
        return Differences(self.of, self.m, self.m, self.m, self.each)

    @property
    def words(self) -> str:
        """What one person changes, in words."""
        size = number_words(self.each)
        if self.of == 1:
            return f"in one {self._noun}, by at most {size}"
        return f"in at most {self.m} of {self.of} {self._noun}s, each by at most {size}"

    def _log_volume(self) -> float:
        """The logarithm of the volume, by S."""
        cube = self.of * math.log(2.0 * self.each)
        return cube + math.log(self.irwin_hall[0]) - math.lgamma(self.of + 1.0)

    def _mean_power(self, power: int) -> float:
        """E |Z_1|^power / each^power, by integers."""
        return float(self.irwin_hall[power])

    def _uniform(self, number: int, rng: np.random.Generator) -> Array:
        """Points of the cut cube with random signs, shape (number, K)."""
        rows = max(1, _ENTRIES // self.of)
        magnitudes = uniform_points(self.m, self.of, number, rng, rows)
        return (2.0 * rng.integers(0, 2, magnitudes.shape) - 1.0) * magnitudes

    def restricted(self, coordinates: Sequence[int]) -> AtMost:
        """At most m of the chosen coordinates."""
        n = len(coordinates)
        return replace(self, m=min(self.m, n), of=n)

    def _scaled(self, factor: float) -> Self:
        """The set with `factor` times the largest change."""
        return replace(self, each=factor * self.each)

    @property
    def cut(self) -> int:
        """The number of coordinates that move at once."""
        return self.m

    @property
    def facet_share(self) -> float:
        """Of m of the 2 K facets of the cube, and one in 2^m of the others."""
        box = self.box_share
        return 0.5 * box * self.m / self.of + (1.0 - box) * 0.5**self.m

    def _largest_norm_of(self, ball: Sensitivity) -> Fraction:
        """The larger of the largest change and the largest sum of changes over m."""
        weight = 1 / self.sides()
        widest = largest_sum(powers(ball.sides(), weight, 1), 1)
        return max(widest, ball.largest_power_sum(weight, 1) / self.m)

    @property
    def extreme_point(self) -> Array:
        """The first m coordinates moved by `each`, shape (K,)."""
        return np.where(np.arange(self.of) < self.m, self.each, 0.0)

    def vertices(self) -> Array | None:
        """All extreme points, one of each pair; None if there are many."""
        return listed_vertices(self.of, [(self.m - j, j) for j in range(self.m + 1)], self.each)

    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """The sum of the m largest terms, attained where these m coordinates move by `each`."""
        return above(largest_sum(powers(Fraction(self.each), weights, power), self.m))

    def _norm(self, x: Array) -> Array:
        """The larger of the largest |x_i| / each and |x|_1 / (m each)."""
        most, ratio = largest(x)
        total = np.sum(ratio, axis=-1)
        share = np.maximum(total / self.m, 1.0)
        return np.where(np.isinf(most), math.inf, share * (most / self.each))

    def _support(self, a: Array) -> Array:
        """The sum of the m largest |a_i|, times each."""
        if self.m < self.of:
            a = np.partition(a, self.of - self.m, axis=-1)[..., self.of - self.m :]
        return self.each * np.sum(a, axis=-1)
