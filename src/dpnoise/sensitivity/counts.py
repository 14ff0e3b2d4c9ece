"""What people can change in counts: nobody adds a negative number.

A person adds some v >= 0 with at most m entries that are not 0, each of at most c: whole numbers,
as counts of persons or visits are, or any numbers, as amounts are. So the differences between
neighbouring data sets are fewer than those of `AtMost`, which allows m changes in any directions.
The convex hull of all v is C = {0 <= v_i <= c, v_1 + ... + v_K <= m c}, and the convex sets around
the differences are:

- add/remove: v or -v, with the convex hull conv(C, -C); for c = 1 its norm is f(x+) + f(x-), where
  f(y) = max(max y, sum y / m) and x+, x- are the positive and the negative part (the 'Count' ball
  of Joseph & Yu, "Some constructions of private, efficient, and optimal K-norm and elliptic
  Gaussian noise", ICML 2024);
- replace-one: v - v', the set C - C, with norm max(f(x+), f(x-));
- replace-one where everybody is in exactly m counts: the same within the plane of vectors that add
  up to 0.

Both norms: x = p - q with p, q >= 0 implies p >= x+ and q >= x-, and f rises in every entry.

Volumes and moments: `dpnoise.sensitivity.differences`, as ratios of integers.

A uniform point: j with the share of its vectors, the places of the positive entries by chance,
and points u, v of the two cut cubes; in conv(C, -C) the parts are r u / f(u) and r' v / f(v), with
(r, r', 1 - r - r') of a Dirichlet distribution with parameters j, K - j and 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Self, cast

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise.noise.exact import above
from dpnoise.sensitivity.at_most import AtMost, FewEntries
from dpnoise.sensitivity.balls import L1, LInf
from dpnoise.sensitivity.base import (
    Sensitivity,
    check_dimension,
    check_size,
    largest,
    require_relation,
)
from dpnoise.sensitivity.differences import (
    Differences,
    listed_vertices,
    uniform_points,
    volume_moments,
)
from dpnoise.sensitivity.relation import ADD_REMOVE, REPLACE_ONE, number_words
from dpnoise.sensitivity.spheroid import around, correlated_axes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise.noise.exact import Weights
    from dpnoise.sensitivity.differences import VolumeMoments
    from dpnoise.sensitivity.spheroid import RoundSet

_MOST, _MOST_EXACTLY = 2000, 5000  # counts for which the integers take two seconds


@dataclass(frozen=True, repr=False)
class Counts(FewEntries):
    """Sensitivity of K counts to which a person adds at most m times, nothing negative.

    Everybody adds some v with 0 <= v_i <= each, of which at most m are not 0. Counts of visits,
    purchases or symptoms are of this kind, once each person is limited to m of them.

    Parameters
    ----------
    m : int
        The number of counts that a person can be in, from 1 to K.
    of : int
        The number K of counts, from 1 to 1e8; at most 2000 (with `exactly`, 5000) unless m is K,
        or m is 1 and the relation "add-remove".
    each : float, default 1
        The most that a person adds to one count, from 1e-100 to 1e100; a whole number unless
        `whole` is False.
    relation : {"add-remove", "replace-one"}
        Which data sets are neighbours: one person more or less, or one person replaced by
        another. The two sets are different ones; there is no default.
    exactly : bool, default False
        Whether everybody is in exactly m counts, fewer than K, as in a histogram (m = 1), and adds
        exactly `each` to these. Needs the relation "replace-one". The differences then lie in a
        plane, so that noise in the norm of the set is refused: use independent noise, or leave one
        count out, whose value follows from the public number of persons.
    whole : bool, default True
        Whether a person adds whole numbers, as to counts of persons or visits. If False, any number
        up to `each`, as to amounts.

    Raises
    ------
    ValueError
        If a parameter is out of range or there is no relation; the message names every problem.

    References
    ----------
    Joseph & Yu, "Some constructions of private, efficient, and optimal K-norm and elliptic
    Gaussian noise" (ICML 2024).

    Examples
    --------
    >>> from dpnoise import Counts
    >>> visits = Counts(3, of=12, relation="add-remove")
    >>> float(visits.norm([1.0] * 3 + [0.0] * 9)), float(visits.norm([1.0, -1.0] + [0.0] * 10))
    (1.0, 2.0)
    >>> visits.l1, Counts(3, of=12, relation="replace-one").l1
    (3.0, 6.0)
    """

    exactly: bool = field(default=False, kw_only=True)
    whole: bool = field(default=True, kw_only=True)

    signed = True

    def __post_init__(self) -> None:
        """Check of the parameters, stored as int, int and float."""
        problems = Problems("sensitivity of counts")
        known = check_dimension(problems, "of", self.of)
        flag = isinstance(self.exactly, bool)
        exactly = problems.require(flag, "exactly", "True or False", self.exactly) and self.exactly
        top = (self.of - exactly) if known else math.inf
        most = f"{self.of}, the number of counts" if known else "the number of counts"
        if known and exactly:
            most = f"{top}, as counts that everybody is in do not change"
        good = is_integer(self.m) and 1 <= self.m <= top
        problems.require(good, "m", f"an integer from 1 to {most}", self.m)
        known_size = check_size(problems, "each", self.each)
        problems.require(isinstance(self.whole, bool), "whole", "True or False", self.whole)
        if known_size and self.whole is True and not float(self.each).is_integer():
            expected = (
                "a whole number, as the shares of counts are whole numbers (whole=False is for "
                "amounts, any number up to each)"
            )
            problems.require(False, "each", expected, self.each)
        if require_relation(problems, self.relation) and exactly:
            advice = "Counts(m, of=K, relation='add-remove') holds people in exactly m counts, too"
            expected = f"{REPLACE_ONE!r} with exactly=True ({advice})"
            problems.require(self.relation == REPLACE_ONE, "relation", expected, self.relation)
        if known and good:
            limit, ball = (_MOST_EXACTLY if exactly else _MOST), self.m == 1 and self._is_added
            fits = self.of <= limit or self.m == self.of or ball
            expected = f"at most {limit} counts unless a person can be in all of them"
            problems.require(fits, "of", expected, self.of)
        problems.raise_if_any()
        vars(self).update(m=int(self.m), of=int(self.of), each=float(self.each))

    def _related(self, relation: str | None) -> Self:  # noqa: ARG002  (any but its own is refused)
        """The set itself: its form depends on the relation."""
        return self

    @property
    def _is_added(self) -> bool:
        """Whether neighbours have one person more or less."""
        return isinstance(self.relation, str) and self.relation == ADD_REMOVE

    @property
    def _rising(self) -> int:
        """The largest number of counts that one of the persons of a difference changes."""
        return min(self.m, self.of - self.m) if self.exactly else self.m

    @property
    def moved(self) -> int:
        """The largest number of entries that are not 0."""
        return self.m if self._is_added else min(2 * self._rising, self.of)

    @cached_property
    def body(self) -> Sensitivity:
        """The l1 ball of one count of a person, the l-infinity ball of a person in all; or itself.

        The relation stays, as it decides the set.
        """
        if self._is_added and self.m == 1:
            return L1(self.each, self.of)
        whole_cube = self.m == self.of and not self._is_added
        return LInf(self.each, self.of) if whole_cube else self

    @property
    def differences(self) -> Differences | None:
        """What two persons, or one, can make of m counts each; None where it is the convex set."""
        up, down = self._rising, 0 if self._is_added else self._rising
        every = not self.whole and not self.exactly and (down or self.of == 1)
        if every and self.moved == self.of and up == self.of:
            return None
        return Differences(self.of, up, down, self.moved, self.each, self.whole, self.exactly)

    @property
    def _noun(self) -> str:
        """What one of the numbers is called."""
        return super()._noun if self.whole else "sum"

    @property
    def words(self) -> str:
        """What one person changes, in words."""
        size, noun = number_words(self.each), self._noun
        if self.exactly and self.each != 1.0:
            return f"both adding {size} to exactly {self.m} of {self.of} {noun}s"
        by = "by at most 1" if self.each == 1.0 else f"by a whole number up to {size}"
        if not self.whole and not self.exactly:
            by = f"by any amount up to {size}"
        if self.exactly:
            return f"both in exactly {self.m} of {self.of} {noun}s, each {noun} {by}"
        if self.of == 1:
            return f"in one {noun}, {by}"
        if self._is_added:
            return f"in at most {self.m} of {self.of} {noun}s, each {by}"
        return f"both in at most {self.m} of {self.of} {noun}s, each {noun} {by}"

    def __repr__(self) -> str:
        """The call that makes the set."""
        shown = f"m={self.m!r}, of={self.of!r}, each={self.each!r}"
        shown += ", whole=False" * (not self.whole) + ", exactly=True" * self.exactly
        return f"Counts({shown}, relation={self.relation!r})"

    @property
    def flat(self) -> str:  # type: ignore[override]  # empty for most sets
        """Why the set has no volume, and what to do about it."""
        if not self.exactly:
            return ""
        each = f", each={self.each!r}" if self.each != 1.0 else ""
        each += ", whole=False" * (not self.each.is_integer())
        fewer = f"Counts({self.m}, of={self.of - 1}{each}, relation='replace-one')"
        people = "the public number of persons"
        if self.m * self.each != 1.0:
            people = f"{number_words(self.m * self.each)} times {people}"
        return (
            "all changes add up to 0, a plane without volume: take independent noise, or release "
            f"all counts but one with noise for {fewer}, as the last one is {people} less their sum"
        )

    def restricted(self, coordinates: Sequence[int]) -> Counts:
        """A set that holds the changes of the chosen counts, with the same relation."""
        n = len(coordinates)
        return self if n == self.of else replace(self, m=min(self.m, n), of=n, exactly=False)

    def _scaled(self, factor: float) -> Self:
        """The set with `factor` times the largest change."""
        return replace(self, each=factor * self.each, whole=self.whole and factor.is_integer())

    # --- extreme points ------------------------------------------------------------------------

    @property
    def _patterns(self) -> list[tuple[int, int]]:
        """How many entries of extreme points are `each` and -`each`, up to the sign.

        Of those that others surpass in both numbers none is listed.
        """
        m, K = self._rising, self.of
        if self._is_added:
            return [(m, 0)]
        return [(m, m)] if 2 * m <= K else [(up, K - up) for up in range(K - m, m + 1)]

    @property
    def _all_patterns(self) -> list[tuple[int, int]]:
        """The same of all extreme points.

        One direction: any number of counts up to m; of more than 2000 the longest and those around
        (K + sqrt(K)) / 2, which decide the least ellipsoid. Two: as many as can change, or m up and
        any fewer down; with `exactly` as many of either.
        """
        m, K = self.m, self.of
        if self.exactly:
            return self._patterns
        if not self._is_added:
            return sorted({(m, down) for down in range(min(m, K - m) + 1)}.union(self._patterns))
        best = 0.5 * (K + math.sqrt(K))
        near = range(math.floor(best) - 1, math.ceil(best) + 2)
        some = range(1, m) if m <= _MOST else near
        return [(j, 0) for j in some if 0 < j < m] + [(m, 0)]

    @property
    def extreme_point(self) -> Array:
        """The first entries `each`, the next ones, if any, -`each`, shape (K,)."""
        up, down = self._patterns[len(self._patterns) // 2]
        return np.repeat([self.each, -self.each, 0.0], [up, down, self.of - up - down])

    def vertices(self) -> Array | None:
        """All extreme points, one of each pair; None if there are many."""
        return listed_vertices(self.of, self._all_patterns, self.each)

    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """That of at most `moved` coordinates with any signs, on which the sum does not depend."""
        return AtMost(self.moved, self.of, self.each).largest_power_sum(weights, power)

    def largest_symmetric_form(self, squares: Fraction, total: Fraction) -> tuple[Fraction, bool]:
        """The largest value at an extreme point, exactly; of a box as of that ball."""
        tried = self._all_patterns
        if self._is_added:  # the ends of a j + b j^2, and the integers next to its largest value
            top = -squares / (2 * total) if total < 0 else Fraction(self.m)
            near = (min(max(math.floor(top) + k, 1), self.m) for k in (0, 1))
            tried = [(j, 0) for j in sorted({1, self.m, *near})]
        elif self.body is not self:
            return self.body.largest_symmetric_form(squares, total)
        most = max(squares * (up + down) + total * (up - down) ** 2 for up, down in tried)
        return above(most * Fraction(self.each) ** 2), True

    @cached_property
    def smallest_ellipsoid(self) -> RoundSet | None:
        """The least spheroid around the set; None if it is a ball, or the set a simpler one."""
        axes = None if self.body is not self else correlated_axes(self.of, self._all_patterns)
        return around(self, axes.scaled(self.each)) if axes else None

    # --- norm and support ----------------------------------------------------------------------

    def _largest_norm_of(self, ball: Sensitivity) -> Fraction | float:
        """The largest norm, at an extreme point.

        With all signs, the norm for replace-one is largest where no signs differ: that of `AtMost`.
        That for add/remove is at most twice as large, and at most the l1 norm.
        """
        if isinstance(ball, Counts):
            some = ball._patterns  # noqa: SLF001  (of this class)
            gauges = [[max(Fraction(n > 0), Fraction(n, self.m)) for n in p] for p in some]
            most = max(up + down if self._is_added else max(up, down) for up, down in gauges)
            return above(most * Fraction(ball.each) / Fraction(self.each))
        found = AtMost(self.m, self.of, self.each).largest_norm_of(ball)
        if not self._is_added:
            return found
        return min(2 * found, L1(self.each, self.of).largest_norm_of(ball))

    def _gauge(self, y: Array) -> Array:
        """f, the gauge of C, for vectors without negative entries and c = 1."""
        return np.maximum(np.max(y, axis=-1), np.sum(y, axis=-1) / self._rising)

    def _norm(self, x: Array) -> Array:
        """By the gauges of both parts; with `exactly` infinite off the plane."""
        most, share = largest(x)
        share = np.where(np.isinf(most)[..., None], 1.0, share)  # any vector of length 1
        up, down = (self._gauge(np.maximum(part, 0.0)) for part in (share, -share))
        both = up + down if self._is_added else np.maximum(up, down)
        norm = np.asarray(most / self.each * both)
        if not self.exactly:
            return norm
        total = np.sum(np.abs(share), axis=-1)
        off = np.abs(np.sum(share, axis=-1)) > 2.0**-52 * self.of * total
        return np.where(off | np.isinf(most), math.inf, norm)

    def _support(self, a: Array) -> Array:
        """The sums of the m largest a_i and of the m largest -a_i, times each.

        With `exactly` of so many, else of those above 0. The larger for add/remove, else both.
        """
        sides = [a, -a] if self.exactly else [np.maximum(a, 0.0), np.maximum(-a, 0.0)]
        n = self._rising
        if n < self.of:
            sides = [np.partition(x, self.of - n, axis=-1)[..., self.of - n :] for x in sides]
        up, down = (np.sum(x, axis=-1) for x in sides)
        return self.each * (np.maximum(up, down) if self._is_added else up + down)

    # --- volume and samples --------------------------------------------------------------------

    @cached_property
    def moments(self) -> VolumeMoments | None:  # type: ignore[override]  # none for most sets
        """The integers by which the set is measured; None if it has no volume, or is a ball."""
        if self.exactly or self.body is not self:
            return None
        return volume_moments(self.m, self.of, added=self._is_added)

    @cached_property
    def facet_share(self) -> float:
        """The share of the set under facets that one extreme point lies in."""
        return self.moments.facets / self.moments.total if self.moments else super().facet_share

    def _log_volume(self) -> float:
        """The logarithm of the volume, by that of the multiple that `moments` has."""
        known = self.m == self.of  # all V_j are 1
        unit = math.log(12.0) if known else math.lgamma(self.of + 1.0)
        assert self.moments is not None  # noqa: S101  (a set with a volume that is no ball)
        return math.log(self.moments.total) + (self.of * math.log(self.each) - unit)

    def _mean_power(self, power: int) -> float:
        """E |Z_1|^power / each^power, by the integers."""
        K, moments = self.of, cast("VolumeMoments", self.moments)
        if power == 1:
            return 2 * moments.first / ((K + 1) * moments.total)
        return 2 * moments.square / ((K + 1) * (K + 2) * moments.total)

    def _uniform(self, number: int, rng: np.random.Generator) -> Array:
        """Points with j positive entries, by the share of these; shape (number, K)."""
        K, moments = self.of, cast("VolumeMoments", self.moments)
        shares = np.array([part / moments.total for part in moments.cumulated])
        positive = np.searchsorted(shares, rng.uniform(size=number), side="right")
        found = np.empty((number, K))
        for j in np.unique(positive).tolist():
            rows = np.flatnonzero(positive == j)
            parts = [uniform_points(self.m, n, rows.size, rng) for n in (j, K - j)]
            if self._is_added:  # gauges of a Dirichlet distribution
                spacings = rng.standard_exponential((rows.size, K + 1))
                spacings /= np.sum(spacings, axis=1, keepdims=True)
                ends = np.split(spacings, [j, K], axis=1)[:2]
                parts = [
                    part * (np.sum(end, axis=1) / self._gauge(part))[:, None] if part.size else part
                    for part, end in zip(parts, ends, strict=True)
                ]
            found[rows] = rng.permuted(np.hstack([parts[0], -parts[1]]), axis=1)
        return found
