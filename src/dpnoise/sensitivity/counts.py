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

Volumes and moments: `dpnoise.sensitivity.cut_cube`, as ratios of integers.

A uniform point: j with the share of its vectors, the places of the positive entries by chance,
and points u, v of the two cut cubes; in conv(C, -C) the parts are r u / f(u) and r' v / f(v), with
(r, r', 1 - r - r') of a Dirichlet distribution with parameters j, K - j and 1.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import InitVar, dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise.noise.exact import above
from dpnoise.sensitivity.at_most import AtMost
from dpnoise.sensitivity.balls import L1, LInf
from dpnoise.sensitivity.base import (
    Sensitivity,
    check_dimension,
    check_relation,
    check_size,
    largest,
    require_relation,
)
from dpnoise.sensitivity.cut_cube import add_remove_moments, replace_one_moments, uniform_points
from dpnoise.sensitivity.differences import Differences
from dpnoise.sensitivity.relation import ADD_REMOVE, REPLACE_ONE, number_words
from dpnoise.sensitivity.spheroid import PatternedSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array, IntArray
    from dpnoise.noise.exact import Weights
    from dpnoise.sensitivity.cut_cube import VolumeMoments

_SUBJECT = "sensitivity of counts"


@dataclass(frozen=True, repr=False)
class Counts(PatternedSet):
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
    exactly : bool, default False
        Whether everybody is in exactly m counts, fewer than K, as in a histogram (m = 1), and adds
        exactly `each` to these. Needs the relation "replace-one". The differences then lie in a
        plane, so that noise in the norm of the set is refused: use independent noise, or leave one
        count out, whose value follows from the public number of persons.
    whole : bool, default True
        Whether a person adds whole numbers, as to counts of persons or visits. If False, any number
        up to `each`, as to amounts.
    relation : {"add-remove", "replace-one"}
        Which data sets are neighbours: one person more or less, or one person replaced by
        another. The two sets are different ones; there is no default.

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

    m: int
    of: int
    each: float = 1.0
    exactly: InitVar[bool] = field(default=False, kw_only=True)
    whole: bool = field(default=True, kw_only=True)

    _most: ClassVar[int] = 2000  # counts for which the integers take two seconds
    _m_of_l1: ClassVar[int] = 0  # for which the set is the l1 ball
    _own_relation: ClassVar[str | None] = None
    _is_exact: ClassVar[bool] = False

    def __new__(
        cls,
        m: int,
        of: int,
        each: float = 1.0,
        *,
        exactly: bool = False,
        whole: bool = True,
        relation: str | None = None,
    ) -> Self:
        """An object of the class for the relation."""
        if cls is not Counts:
            return object.__new__(cls)
        stated = relation if isinstance(relation, str) else ""
        for kind in (AddRemoveCounts, ReplaceOneCounts, ExactCounts):
            if kind._own_relation == stated and kind._is_exact is exactly:  # noqa: SLF001
                return object.__new__(kind)  # type: ignore[return-value]  # all of them are Counts
        problems = Problems(_SUBJECT)
        cls._check(problems, m, of, each, whole)
        problems.require(isinstance(exactly, bool), "exactly", "True or False", exactly)
        if require_relation(problems, relation) and exactly is True:
            advice = "Counts(m, of=K, relation='add-remove') holds people in exactly m counts, too"
            expected = f"{REPLACE_ONE!r} with exactly=True ({advice})"
            problems.require(relation == REPLACE_ONE, "relation", expected, relation)
        problems.raise_if_any()
        raise AssertionError

    def __getnewargs__(self) -> tuple[int, int]:
        """Arguments by which copies are made."""
        return self.m, self.of

    def __post_init__(self, exactly: bool) -> None:
        """Check of the parameters, stored as int, int and float."""
        problems = Problems(_SUBJECT)
        self._check(problems, self.m, self.of, self.each, self.whole)
        good = exactly is False or exactly is self._is_exact
        problems.require(good, "exactly", f"{self._is_exact}", exactly)
        if check_relation(problems, self.relation):
            self._require_own(problems, self.relation)
        problems.raise_if_any()
        object.__setattr__(self, "m", int(self.m))
        object.__setattr__(self, "of", int(self.of))
        object.__setattr__(self, "each", float(self.each))

    @classmethod
    def _check(cls, problems: Problems, m: Any, of: Any, each: Any, whole: Any) -> None:  # noqa: ANN401
        """Record of what is wrong with the numbers."""
        known = check_dimension(problems, "of", of)
        top = (of - cls._is_exact) if known else math.inf
        good = is_integer(m) and 1 <= m <= top
        most = f"{of}, the number of counts" if known else "the number of counts"
        if known and cls._is_exact:
            most = f"{of - 1}, as counts that everybody is in do not change"
        problems.require(good, "m", f"an integer from 1 to {most}", m)
        known_size = check_size(problems, "each", each)
        problems.require(isinstance(whole, bool), "whole", "True or False", whole)
        if known_size and whole is True and not float(each).is_integer():
            expected = (
                "a whole number, as the shares of counts are whole numbers (whole=False is for "
                "amounts, any number up to each)"
            )
            problems.require(False, "each", expected, each)
        if known and good:
            fits = of <= cls._most or m in (of, cls._m_of_l1)
            expected = f"at most {cls._most} counts unless a person can be in all of them"
            problems.require(fits, "of", expected, of)

    @classmethod
    def _require_own(cls, problems: Problems, relation: object) -> None:
        """Record of a problem if a relation is not the one that this class is for."""
        good = relation in (None, cls._own_relation)
        problems.require(good, "relation", f"{cls._own_relation!r}, for which the set is", relation)

    def _related(self, relation: str | None) -> Self:
        """The same set with its relation or none; refused with another one."""
        problems = Problems(repr(self))
        self._require_own(problems, relation)
        problems.raise_if_any()
        return super()._related(relation)

    @property
    def differences(self) -> Differences | None:
        """What two persons, or one, can make of m counts each; None where it is the convex set."""
        up, down = self._directions
        moved = min(up + down, self.of)
        every = not self.whole and not self._is_exact and (down or self.of == 1)
        if every and moved == self.of and up == self.of:
            return None
        return Differences(self.of, up, down, moved, self.each, self.whole, self._is_exact)

    @property
    def _directions(self) -> tuple[int, int]:
        """The largest numbers of counts that rise and that fall, of d or of -d."""
        raise NotImplementedError

    def restricted(self, coordinates: Sequence[int]) -> Counts:
        """A set that holds the changes of the chosen counts, with the same relation."""
        n = len(coordinates)
        return self if n == self.of else replace(self, m=min(self.m, n), of=n)

    def _largest_norm_of(self, ball: Sensitivity) -> Fraction | float:
        """The largest norm, at an extreme point.

        With all signs, the norm for replace-one is largest where no signs differ: that of `AtMost`.
        """
        if isinstance(ball, Counts):
            most = max(self._norm_of_pattern(up, down) for up, down in ball.patterns)
            return above(most * Fraction(ball.each) / Fraction(self.each))
        return AtMost(self.m, self.of, self.each).largest_norm_of(ball)

    def _gauge_of(self, count: int) -> Fraction:
        """The gauge of C at vectors of so many entries of c."""
        return max(Fraction(1), Fraction(count, self.m)) if count else Fraction(0)

    def _norm_of_pattern(self, up: int, down: int) -> Fraction:
        """The norm of differences that raise so many counts by c and lower so many others."""
        return max(self._gauge_of(up), self._gauge_of(down))

    @property
    def words(self) -> str:
        """What one person changes, in words."""
        raise NotImplementedError

    @property
    def _by(self) -> str:
        """How far a count changes, in words."""
        size = number_words(self.each)
        if not self.whole:
            return f"by any amount up to {size}"
        return "by at most 1" if self.each == 1.0 else f"by a whole number up to {size}"

    def _norm(self, x: Array) -> Array:
        """The norm."""
        raise NotImplementedError

    def _support(self, a: Array) -> Array:
        """The support function."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """The call that makes the set."""
        shown = f"m={self.m!r}, of={self.of!r}, each={self.each!r}"
        shown += ", whole=False" * (not self.whole)
        if self.relation is None:
            return f"{type(self).__name__}({shown})"
        exactly = ", exactly=True" * self._is_exact
        return f"Counts({shown}{exactly}, relation={self.relation!r})"

    @property
    def _shown(self) -> Self:
        """The set with its relation, which `Counts` needs."""
        return self

    @property
    def dimension(self) -> int:
        """The number K of counts."""
        return self.of

    def _refuse(self) -> NoReturn:
        """Refusal of what needs a volume, where there is none."""
        self._require_volume()
        raise AssertionError

    log_volume = mean_square = mean_abs = property(_refuse)

    def _sample(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:  # noqa: ARG002
        """Refused where there is no volume."""
        self._refuse()

    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """That of at most `moved` coordinates with any signs, on which the sum does not depend."""
        return AtMost(self.moved, self.of, self.each).largest_power_sum(weights, power)

    def whole_parts(self) -> list[tuple[IntArray, float, int, int]]:
        """All counts, at most `moved` of which change: signs do not matter to discrete noise."""
        return [(np.arange(self.of), self.each, 0, self.moved)]

    def _unsigned(self, x: Array) -> Array:
        """The vectors as they are: signs matter."""
        return x

    def _gauge(self, y: Array) -> Array:
        """f, the gauge of C, for vectors without negative entries and c = 1."""
        return np.maximum(np.max(y, axis=-1), np.sum(y, axis=-1) / self.m)

    def _parts(self, x: Array) -> tuple[Array, Array, Array]:
        """Lengths of vectors over `each`, and the gauges of both parts of the vectors of length 1.

        The length is the largest |x_i|.
        """
        most, _ = largest(np.abs(x))
        unit = np.where((most > 0.0) & np.isfinite(most), most, 1.0)[..., None]
        share = np.where(np.isinf(most)[..., None], 1.0, x) / unit  # any vector of length 1
        return (
            most / self.each,
            self._gauge(np.maximum(share, 0.0)),
            self._gauge(np.maximum(-share, 0.0)),
        )

    def _top(self, a: Array, count: int) -> Array:
        """The sums of the largest `count` entries."""
        if count < self.of:
            a = np.partition(a, self.of - count, axis=-1)[..., self.of - count :]
        return np.sum(a, axis=-1)

    def _scaled(self, factor: float) -> Self:
        """The set with `factor` times the largest change."""
        return replace(self, each=factor * self.each, whole=self.whole and factor.is_integer())


class SolidCounts(Counts):
    """Counts whose differences fill a set with a volume."""

    @property
    @abstractmethod
    def ball(self) -> Sensitivity | None:
        """The same set as an l1 or l-infinity ball, where it is one."""

    @property
    def plain(self) -> Sensitivity:
        """The same set, as a ball where it is one."""
        return self.ball or self

    @cached_property
    @abstractmethod
    def moments(self) -> VolumeMoments:
        """The integers by which the set is measured."""

    @property
    def _log_unit(self) -> float:
        """The logarithm of the multiple of the volume that `moments` has."""
        return math.lgamma(self.of + 1.0)

    @cached_property
    def facet_share(self) -> float:
        """The share of the set under facets that one extreme point lies in."""
        return 0.5 if self.ball else self.moments.facets / self.moments.total

    @property
    def log_volume(self) -> float:
        """The logarithm of the volume."""
        if self.ball:
            return self.ball.log_volume
        unit = self.of * math.log(self.each) - self._log_unit
        return math.log(self.moments.total) + unit

    @property
    def mean_square(self) -> Array:
        """E Z_i^2 for Z uniform in the set, shape (K,)."""
        if self.ball:
            return self.ball.mean_square
        K, moments = self.of, self.moments
        share = 2 * moments.square / ((K + 1) * (K + 2) * moments.total)
        return np.full(K, self.each**2 * share)

    @property
    def mean_abs(self) -> Array:
        """E|Z_i| for Z uniform in the set, shape (K,)."""
        if self.ball:
            return self.ball.mean_abs
        K, moments = self.of, self.moments
        return np.full(K, self.each * (2 * moments.first / ((K + 1) * moments.total)))

    @abstractmethod
    def _joined(self, up: Array, down: Array, rng: np.random.Generator) -> Array:
        """Points with `up` the first entries and -`down` the others, each uniform in a cut cube."""

    def _sample(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Uniform points, shape (*size, K)."""
        if self.ball:
            return self.ball._sample(size, rng)  # noqa: SLF001  (the same set)
        number, K, moments = math.prod(size), self.of, self.moments
        shares = np.array([part / moments.total for part in moments.cumulated])
        positive = np.searchsorted(shares, rng.uniform(size=number), side="right")
        found = np.empty((number, K))
        for j in np.unique(positive).tolist():
            rows = np.flatnonzero(positive == j)
            up = uniform_points(self.m, j, rows.size, rng)
            down = uniform_points(self.m, K - j, rows.size, rng)
            found[rows] = rng.permuted(self._joined(up, down, rng), axis=1)
        return self.each * found.reshape(*size, K)


class AddRemoveCounts(SolidCounts):
    """What a person more or less changes in counts: conv(C, -C), made by `Counts`."""

    _own_relation, _m_of_l1 = ADD_REMOVE, 1

    @property
    def words(self) -> str:
        """What one person changes, in words."""
        if self.of == 1:
            return f"in one count, {self._by}"
        return f"in at most {self.m} of {self.of} counts, each {self._by}"

    @property
    def ball(self) -> L1 | None:
        """The l1 ball, if a person is in one count."""
        return L1(self.each, self.of, relation=self.relation) if self.m == self._m_of_l1 else None

    @cached_property
    def moments(self) -> VolumeMoments:
        """The integers by which the set is measured; for m = K, where all V_j = 1, known."""
        return add_remove_moments(self.m, self.of)

    @property
    def _log_unit(self) -> float:
        """The logarithm of the multiple of the volume that `moments` has."""
        return math.log(12.0) if self.m == self.of else super()._log_unit

    @property
    def _directions(self) -> tuple[int, int]:
        """M counts in one direction."""
        return self.m, 0

    @property
    def patterns(self) -> list[tuple[int, int]]:
        """How many counts extreme points change by `each` and by -`each`: m in one direction."""
        return [(self.m, 0)]

    @property
    def all_patterns(self) -> list[tuple[int, int]]:
        """Any number of counts up to m, in one direction.

        Of more than 2000 the longest and those around (K + sqrt(K)) / 2.
        """
        best = 0.5 * (self.of + math.sqrt(self.of))
        near = range(math.floor(best) - 1, math.ceil(best) + 2)
        some = range(1, self.m) if self.m <= self._most else near
        return [(j, 0) for j in some if 0 < j < self.m] + [(self.m, 0)]

    def _norm_of_pattern(self, up: int, down: int) -> Fraction:
        """The norm of differences that raise so many counts by c and lower so many others."""
        return self._gauge_of(up) + self._gauge_of(down)

    def _largest_norm_of(self, ball: Sensitivity) -> Fraction | float:
        """The largest norm; with all signs at most twice that for replace-one, or the l1 norm."""
        found = super()._largest_norm_of(ball)
        if isinstance(ball, Counts):
            return found
        return min(2 * found, L1(self.each, self.of).largest_norm_of(ball))

    def _forms(self, squares: Fraction, total: Fraction) -> list[tuple[int, int]]:
        """The ends of a j + b j^2, and the integers next to its largest value."""
        top = -squares / (2 * total) if total < 0 else Fraction(self.m)
        tried = {1, self.m, *(min(max(math.floor(top) + k, 1), self.m) for k in (0, 1))}
        return [(j, 0) for j in sorted(tried)]

    @property
    def unconditional_core(self) -> L1:
        """The l1 ball."""
        return L1(self.each, self.of, relation=self.relation)

    def _norm(self, x: Array) -> Array:
        """The sum of the gauges of the positive and the negative part."""
        most, up, down = self._parts(x)
        return np.asarray(most * (up + down))

    def _support(self, a: Array) -> Array:
        """The sum of the m largest a_i, or of the m largest -a_i, times each."""
        up, down = (self._top(np.maximum(side, 0.0), self.m) for side in (a, -a))
        return self.each * np.maximum(up, down)

    def _joined(self, up: Array, down: Array, rng: np.random.Generator) -> Array:
        """Points whose parts have gauges of a Dirichlet distribution."""
        spacings = rng.standard_exponential((up.shape[0], self.of + 1))
        spacings /= np.sum(spacings, axis=1, keepdims=True)
        ends = np.split(spacings, [up.shape[1], self.of], axis=1)
        parts = [
            part * (np.sum(end, axis=1) / self._gauge(part))[:, None] if part.shape[1] else part
            for part, end in zip((up, down), ends[:2], strict=True)
        ]
        return np.hstack([parts[0], -parts[1]])


class ReplaceOneCounts(SolidCounts):
    """What replacing a person by another changes in counts: C - C, made by `Counts`."""

    _own_relation = REPLACE_ONE

    @property
    def words(self) -> str:
        """What one person changes, in words."""
        if self.of == 1:
            return f"in one count, {self._by}"
        return f"both in at most {self.m} of {self.of} counts, each count {self._by}"

    @property
    def moves_apart(self) -> bool:
        """Whether a person can be in all counts."""
        return self.m == self.of

    @property
    def ball(self) -> LInf | None:
        """The l-infinity ball, if a person can be in all counts."""
        return LInf(self.each, self.of, relation=self.relation) if self.m == self.of else None

    @cached_property
    def moments(self) -> VolumeMoments:
        """The integers by which the set is measured."""
        return replace_one_moments(self.m, self.of)

    @property
    def _directions(self) -> tuple[int, int]:
        """M counts of either person."""
        return self.m, self.m

    @property
    def patterns(self) -> list[tuple[int, int]]:
        """How many counts extreme points change by `each` and by -`each`: up to m of either."""
        m, K = self.m, self.of
        return [(m, m)] if 2 * m <= K else [(up, K - up) for up in range(K - m, m + 1)]

    @property
    def all_patterns(self) -> list[tuple[int, int]]:
        """As many counts as can change, or m up and any fewer down."""
        m, K = self.m, self.of
        fewer = {(m, down) for down in range(min(m, K - m) + 1)}
        return sorted(fewer.union(self.patterns))

    def largest_symmetric_form(self, squares: Fraction, total: Fraction) -> tuple[Fraction, bool]:
        """The largest value at an extreme point, exactly; of a box as of that ball."""
        if self.ball:
            return self.ball.largest_symmetric_form(squares, total)
        return super().largest_symmetric_form(squares, total)

    @property
    def unconditional_core(self) -> AtMost:
        """At most m of K coordinates."""
        return AtMost(self.m, self.of, self.each, relation=self.relation)

    def _norm(self, x: Array) -> Array:
        """The larger of the gauges of the positive and the negative part."""
        most, up, down = self._parts(x)
        return np.asarray(most * np.maximum(up, down))

    def _support(self, a: Array) -> Array:
        """The sum of the m largest a_i and of the m largest -a_i above 0, times each."""
        up, down = (self._top(np.maximum(side, 0.0), self.m) for side in (a, -a))
        return self.each * (up + down)

    def _joined(self, up: Array, down: Array, rng: np.random.Generator) -> Array:  # noqa: ARG002
        """Points whose parts are independent."""
        return np.hstack([up, -down])


class ExactCounts(Counts):
    """What replacing a person changes where everybody is in exactly m counts, made by `Counts`.

    The set {d : d_1 + ... + d_K = 0, |d_i| <= each, sum of |d_i| <= 2 min(m, K - m) each}. Of a
    vector d of it with parts u = d+ and v = d-, for each = 1, u + w and v + w are two persons, for
    any w between 0 and 1 - |d| that adds up to m less the sum of u.
    """

    _own_relation, _is_exact = REPLACE_ONE, True
    _most = 5000  # as of AtMost
    exactly = True  # what the object was made with

    @property
    def words(self) -> str:
        """What one person changes, in words."""
        if self.each == 1.0:
            return f"both in exactly {self.m} of {self.of} counts, each count by at most 1"
        size = number_words(self.each)
        return f"both adding {size} to exactly {self.m} of {self.of} counts"

    @property
    def flat(self) -> str:
        """Why the set has no volume, and what to do about it."""
        each = f", each={self.each!r}" if self.each != 1.0 else ""
        each += ", whole=False" * (not float(self.each).is_integer())
        fewer = f"Counts({self.m}, of={self.of - 1}{each}, relation='replace-one')"
        people = "the public number of persons"
        if self.m * self.each != 1.0:
            people = f"{number_words(self.m * self.each)} times {people}"
        return (
            "all changes add up to 0, a plane without volume: take independent noise, or release "
            f"all counts but one with noise for {fewer}, as the last one is {people} less their sum"
        )

    @property
    def sums_to_zero(self) -> bool:
        """True: as many counts rise as fall."""
        return True

    @property
    def _pairs(self) -> int:
        """The largest number of counts that rise together."""
        return min(self.m, self.of - self.m)

    @property
    def _directions(self) -> tuple[int, int]:
        """As many counts of either person, those that both are in left out."""
        return self._pairs, self._pairs

    @property
    def patterns(self) -> list[tuple[int, int]]:
        """How many counts extreme points change by `each` and by -`each`: as many of either."""
        return [(self._pairs, self._pairs)]

    def holds_pattern(self, up: int, down: int) -> bool:
        """Whether the differences that change counts by `each` and by -`each` are in the set."""
        return up == down <= self._pairs

    def restricted(self, coordinates: Sequence[int]) -> Counts:
        """A set that holds the changes of the chosen counts, with the same relation."""
        n = len(coordinates)
        if n == self.of:
            return self
        most = min(self.m, n)
        return ReplaceOneCounts(most, n, self.each, whole=self.whole, relation=self.relation)

    @property
    def unconditional_core(self) -> None:
        """None: flips of signs lead out of the plane."""
        return

    def _norm(self, x: Array) -> Array:
        """The larger of the largest |x_i| and sum of |x_i| / (2 m'); infinite off the plane."""
        size, total = np.abs(x), np.sum(np.abs(x), axis=-1)
        with np.errstate(invalid="ignore"):  # infinity less infinity
            off = np.abs(np.sum(x, axis=-1)) > 2.0**-52 * self.of * total
        norm = np.maximum(np.max(size, axis=-1), total / self.moved) / self.each
        return np.where(off | ~np.isfinite(total), math.inf, norm)

    def _support(self, a: Array) -> Array:
        """The sum of the largest a_i less that of as many smallest ones, times each."""
        up, down = (self._top(side, self._pairs) for side in (a, -a))
        return self.each * (up + down)
