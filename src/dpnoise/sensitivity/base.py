"""What every sensitivity set states: its norm, its size in other norms, its volume, its samples.

A sensitivity answers two questions about the differences between the answers to a vector query on
any two neighbouring data sets: which there are (`Sensitivity.differences`), and which convex set D
encloses them. D is symmetric about 0 and bounded, so that it is the unit ball of a norm, the
smallest t >= 0 with x in t D; all other methods are about D. A coordinate that no person can move
is released as it is: volumes and distributions are those of the other coordinates, the active ones.

A set also says which data sets are neighbours, its `relation`; without one it is plain geometry,
which can be computed with but about which no guarantee is stated.

Most sets are as they are when the sign of any coordinate is flipped; the norm of these depends on
the |x_i| alone. Of the others (`dpnoise.sensitivity.counts`) only -D = D is known, and nothing may
be computed from |x|.

The largest weighted power sum over a set is rounded up, in rational arithmetic: the doubles that
describe a set are taken as the rational numbers that they are, and sums keep 192 binary digits.
`Sensitivity.l1` and the like are rounded to nearest and not used for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass, field, fields
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpnoise._validation import Problems, draws, floats, is_integer, points
from dpnoise.sensitivity.relation import RELATIONS, promise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike
    from typing_extensions import TypeIs

    from dpnoise._types import Array, BoolArray
    from dpnoise.noise.exact import Weights
    from dpnoise.sensitivity.differences import Differences, VolumeMoments
    from dpnoise.sensitivity.spheroid import RoundSet


SMALLEST, LARGEST = 1e-100, 1e100  # sizes that squares of doubles can hold
MOST_COORDINATES = 10**8
MOST_UNEQUAL = 10**6  # sides that are counted one by one
_EXPECTED = " or ".join(f"{name!r} ({words})" for name, words in RELATIONS.items())
IN_SET = "in the sensitivity set, as L1(1.0, relation='add-remove'), or as relation="
_JOIN = (
    "replace_one(set) makes a set for 'add-remove' one for 'replace-one', at most twice as large "
    "(a number doubles, by group privacy); add_remove(set) leads back where what it says of the "
    "contributions holds"
)


def known(relation: object) -> bool:
    """Whether a value names a relation."""
    return isinstance(relation, str) and relation in RELATIONS


def check_relation(problems: Problems, relation: object) -> bool:
    """A problem is recorded unless a value names a relation or is None, none stated."""
    return problems.require(relation is None or known(relation), "relation", _EXPECTED, relation)


def require_relation(problems: Problems, relation: object, where: str = "as relation=") -> bool:
    """A problem is recorded unless a value names a relation; `where` says how it can be stated."""
    expected = f"{_EXPECTED}, {where}" if relation is None else _EXPECTED
    return problems.require(known(relation), "relation", expected, relation)


def joined(problems: Problems, first: str | None, second: str | None, what: str) -> str | None:
    """The relation that two parts of one promise share, None where neither states one.

    A problem is recorded if they state different ones; `what` says which parts these are.
    """
    if first is not None and second is not None and first != second:
        problems.add(f"relation: expected one for {what}, got {first!r} and {second!r}; {_JOIN}")
    return second if first is None else first


def check_size(problems: Problems, name: str, value: object) -> bool:
    """A problem is recorded unless a value can be the size of a set."""
    return problems.number(name, value, low=SMALLEST, high=LARGEST)


def check_dimension(problems: Problems, name: str, value: object) -> bool:
    """A problem is recorded unless a value can be a number of coordinates."""
    good = is_integer(value) and 1 <= value <= MOST_COORDINATES
    expected = f"an integer from 1 to {MOST_COORDINATES:g}"
    return problems.require(good, name, expected, value)


def read_sizes(problems: Problems, name: str, value: ArrayLike) -> tuple[float, ...]:
    """Sizes of a set along the axes, 0 or from 1e-100 to 1e100, not all 0; problems recorded."""
    values = floats(problems, name, value, low=0.0, high=LARGEST)
    if not problems.found:
        good = values.ndim == 1 and values.size > 0
        problems.require(good, f"shape of {name}", "one axis, not empty", values.shape)
        zero = not np.any(values > 0.0) and values.size > 0
        problems.require(not zero, name, "at least one above 0", value)
        tiny = values[(values > 0.0) & (values < SMALLEST)]
        problems.require(not tiny.size, name, f"0 or at least {SMALLEST:g}", tiny.tolist())
    return tuple(values.ravel().tolist())


def largest(x: Array) -> tuple[Array, Array]:
    """The largest size of an entry of vectors, and the vectors divided by it (0 stays 0).

    Squares and sums of the quotients neither overflow nor underflow to 0.
    """
    most = np.max(np.abs(x), axis=-1)
    unit = np.where((most > 0.0) & np.isfinite(most), most, 1.0)[..., None]
    return most, x / unit


def is_set(value: object) -> TypeIs[Sensitivity]:
    """Whether a value is a sensitivity set."""
    return isinstance(value, Sensitivity)


def require_set(problems: Problems, name: str, value: object) -> bool:
    """A problem is recorded unless a value is a sensitivity set."""
    return problems.require(is_set(value), name, "a sensitivity set such as Box or L2", value)


@dataclass(frozen=True, repr=False)
class Sensitivity(ABC):
    """The differences between the answers on neighbouring data sets, and a convex set around them.

    Parameters
    ----------
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours: one person more or less, or one person replaced by
        another. Without it the set is plain geometry.
    """

    relation: str | None = field(default=None, kw_only=True)

    signed: ClassVar[bool] = False  # flips of the signs of coordinates change the norm
    is_round: ClassVar[bool] = False  # an ellipsoid
    attains: ClassVar[bool] = True  # a difference has the `largest_power_sum`
    blocks: ClassVar[tuple[Sensitivity, ...]] = ()  # of a product
    spread: ClassVar[float] = 1.0  # the largest l1 norm of a row of the map of the unit ball
    moments: ClassVar[VolumeMoments | None] = None  # integers that measure `Counts`
    flat: ClassVar[str] = ""  # why the set has no volume, and what to do about it

    def __repr__(self) -> str:
        """The call that makes the set; the relation comes last, where there is one."""
        shown = [f for f in fields(self) if f.name != "relation"]
        parts = [f"{f.name}={getattr(self, f.name)!r}" for f in shown]
        parts += [f"relation={self.relation!r}"] * (self.relation is not None)
        return f"{type(self).__name__}({', '.join(parts)})"

    def stating(self, relation: str | None) -> Self:
        """The same set with a relation; refused if the set states another one.

        Parameters
        ----------
        relation : {"add-remove", "replace-one"} or None
            Which data sets are neighbours: one person more or less, or one person replaced by
            another. None leaves the set as it is.

        Returns
        -------
        Sensitivity
            The set, with the relation.

        Raises
        ------
        ValueError
            If the relation is unknown or not the one that the set states.

        Examples
        --------
        >>> from dpnoise import L1
        >>> L1(2.0, of=3).stating("add-remove")
        L1(radius=2.0, of=3, relation='add-remove')
        """
        problems = Problems(repr(self))
        if check_relation(problems, relation):
            joined(problems, self.relation, relation, "the set and relation=")
        problems.raise_if_any()
        return self if relation in (None, self.relation) else self._related(relation)

    def _related(self, relation: str | None) -> Self:
        """The same set with another relation or none; what is already computed is kept."""
        found = copy(self)
        vars(found).update(relation=relation)
        return found

    @property
    def body(self) -> Sensitivity:
        """The convex set around the differences alone, in its simplest form.

        The l1 or l-infinity ball where it is known to be one; without a relation, unless its form
        depends on the relation.
        """
        return self._related(None)

    @property
    def differences(self) -> Differences | None:
        """The true differences, where they are fewer than the points of the convex set.

        None where every point of the set is one, and for a product of more than one block, of which
        each says it by itself (`factors`).
        """
        return None

    @property
    def convex(self) -> bool:
        """Whether every point of the convex set is a true difference."""
        return self.differences is None

    @property
    def is_whole(self) -> bool:
        """Whether all true differences are whole numbers."""
        return self.differences is not None and self.differences.whole

    @property
    def preimage(self) -> tuple[Sensitivity, Any] | None:
        """A set and a matrix, if the differences are its products with those of that set."""
        return None

    @property
    @abstractmethod
    def words(self) -> str:
        """What one person changes, in words: 'in at most 3 of 12 counts, each by at most 1'."""

    def promise(self, epsilon: float, delta: float, times: int = 1) -> str:
        """The sentence that states a guarantee for this set.

        Parameters
        ----------
        epsilon, delta : float
            The guarantee.
        times : int, default 1
            How many releases it is for together.

        Returns
        -------
        str
            The sentence; it says so if the set states no relation.

        Examples
        --------
        >>> from dpnoise import LInf
        >>> LInf(1.0, of=2, relation="add-remove").promise(1.0, 0.0)
        'one person more or less, in 2 numbers, each by at most 1: epsilon = 1, delta = 0'
        """
        more = f", released {times} times" if times > 1 else ""
        return promise(self.relation, self.words + more, epsilon, delta)

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number K of coordinates."""

    @property
    @abstractmethod
    def box(self) -> Array:
        """The largest |d_i| in the set, shape (K,)."""

    @property
    @abstractmethod
    def l1(self) -> float:
        """The largest l1 norm in the set."""

    @property
    @abstractmethod
    def l2(self) -> float:
        """The largest l2 norm in the set."""

    @property
    @abstractmethod
    def log_volume(self) -> float:
        """The logarithm of the volume, in the active coordinates."""

    @property
    @abstractmethod
    def mean_square(self) -> Array:
        """E Z_i^2 for Z uniform in the set, shape (K,)."""

    @property
    @abstractmethod
    def mean_abs(self) -> Array:
        """E|Z_i| for Z uniform in the set, shape (K,)."""

    @abstractmethod
    def restricted(self, coordinates: Sequence[int]) -> Sensitivity:
        """A set that holds the chosen coordinates of all differences, in the order chosen."""

    @property
    def cut(self) -> int:
        """M of a set {|d_i| <= c_i, sum |d_i| / c_i <= M} with the sides c_i; 0 if it is none.

        1 for an l1 ball, K for a box.
        """
        return 0

    @property
    def moves_apart(self) -> bool:
        """Whether each coordinate moves whatever the others do, in a set that is no product."""
        return self.dimension in {1, self.body.cut}

    @property
    def facet_share(self) -> float:
        """The share of the set under the facets of an extreme point, 0 if it is not known.

        It is 1 / 2 if the set and the set moved to an extreme point meet in a copy of it.
        """
        halves = self.active_dimension == 1 or self.body.cut in (1, self.dimension)
        return 0.5 if halves else 0.0

    def largest_symmetric_form(self, squares: Fraction, total: Fraction) -> tuple[Fraction, bool]:
        """The largest a |d|^2 + b (d_1 + ... + d_K)^2 over the set, from above.

        Parameters
        ----------
        squares, total : Fraction
            a > 0 and b >= -a / K, with which the form is convex.

        Returns
        -------
        Fraction
            The largest value, or a bound on it.
        bool
            Whether a difference of the set attains it.
        """
        one = Fraction(1)
        bound = squares * self.largest_power_sum(one, 2)
        if total > 0:
            bound += total * self.largest_power_sum(one, 1) ** 2
        # One difference without negative entries has both sums.
        return bound, total >= 0 and (self.cut > 0 or self.ball_radius(2.0) > 0.0)

    @abstractmethod
    def _largest_norm_of(self, ball: Sensitivity) -> Fraction | float:
        """The largest norm of a difference of another set, rounded up."""

    def largest_norm_of(self, ball: Sensitivity) -> Fraction | float:
        """The largest norm of a difference of another set.

        Parameters
        ----------
        ball : Sensitivity
            A set of as many coordinates.

        Returns
        -------
        Fraction or float
            The largest norm, rounded up, or infinity.
        """
        own = self.body
        return Fraction(1) if ball.body == own else own._largest_norm_of(ball)  # noqa: SLF001

    def sides(self) -> Weights:
        """The largest change of each coordinate, as one number if it is that of all.

        ValueError for more different ones than are counted one by one.
        """
        if self.dimension > MOST_UNEQUAL:
            expected = f"at most {MOST_UNEQUAL} coordinates unless one number is the side of all"
            message = f"sensitivity: expected {expected}, got {self.dimension}"
            raise ValueError(message)
        return [Fraction(x) for x in self.box.tolist()]

    def _inverse_sides(self, ball: Sensitivity) -> Weights | None:
        """One over each side, 0 where the other set cannot change; None where only it can."""
        own = self.sides()
        if isinstance(own, Fraction):
            return 1 / own
        other = ball.sides()
        changes = [other] * len(own) if isinstance(other, Fraction) else other
        if any(x == 0 < change for x, change in zip(own, changes, strict=True)):
            return None
        return [1 / x if x else Fraction(0) for x in own]

    def factors(self, first: int = 0) -> Iterator[tuple[int, Sensitivity]]:
        """The sets that are no products, whose product the set is.

        Parameters
        ----------
        first : int
            The first coordinate of the set.

        Yields
        ------
        tuple of (int, Sensitivity)
            The first coordinate of each and the set; a set that is no product is its only factor.
        """
        yield first, self

    def ball_radius(self, p: float) -> float:  # noqa: ARG002  (of a ball)
        """The radius of a ball of the l_p norm; 0 for a set that is none."""
        return 0.0

    @property
    @abstractmethod
    def extreme_point(self) -> Array:
        """One extreme point of the set, shape (K,)."""

    @abstractmethod
    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """The largest sum of (w_i |d_i|)^power over the set, power 1 or 2, rounded up.

        One difference of the set attains it, so that it bounds the privacy of noise from both
        sides. It is exact but for the rounding to 192 binary digits, for every set: a convex
        function is largest at an extreme point, and each set knows its own.

        Parameters
        ----------
        weights : Fraction, or sequence of Fraction of shape (K,)
            The w_i >= 0, one for all coordinates or one for each.
        power : int
            1 or 2. With 2 it is the squared mu of Gaussian noise of standard deviations 1 / w_i.

        Returns
        -------
        Fraction
        """

    @abstractmethod
    def _norm(self, x: Array) -> Array:
        """The norm of vectors of the right shape, with signs only where these matter."""

    @abstractmethod
    def _support(self, a: Array) -> Array:
        """The support function at such vectors."""

    @abstractmethod
    def _sample(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Uniform points, shape (*size, K)."""

    @abstractmethod
    def _scaled(self, factor: float) -> Self:
        """The set `factor` D."""

    def _require_volume(self) -> None:
        """What needs a volume is refused for a set without one."""
        problems = Problems("noise in the norm of a sensitivity set")
        problems.require(not self.flat, "sensitivity", f"a set with a volume ({self.flat})", self)
        problems.raise_if_any()

    def vertices(self) -> Array | None:
        """All extreme points, one of each pair, shape (n, K), if they are few and listed."""
        return None

    @property
    def smallest_ellipsoid(self) -> RoundSet | None:
        """The ellipsoid around the set with the least sum of squared axes, if it is correlated.

        None where its axes are those of the coordinates, or where it is not known.
        """
        return None

    def split(self, x: Array) -> list[tuple[Sensitivity, Array]]:
        """The `blocks`, each with its part of vectors of all coordinates, shape (..., K)."""
        ends = list(accumulate(block.dimension for block in self.blocks))
        return list(zip(self.blocks, np.split(x, ends[:-1], axis=-1), strict=False))

    @property
    def active(self) -> BoolArray:
        """Which coordinates can change at all, shape (K,)."""
        return np.asarray(self.box > 0.0)

    @property
    def active_dimension(self) -> int:
        """The number of coordinates that can change."""
        return int(np.count_nonzero(self.active))

    def _vectors(self, name: str, value: ArrayLike) -> Array:
        """Vectors of K coordinates, without signs that do not matter; other values are refused."""
        x = points(self, name, value)
        problems = Problems(repr(self))
        good = x.ndim > 0 and x.shape[-1] == self.dimension
        expected = f"a last axis of length {self.dimension}"
        problems.require(good, f"shape of {name}", expected, x.shape)
        problems.raise_if_any()
        return x if self.signed else np.abs(x)

    def norm(self, x: ArrayLike) -> Array:
        """The norm whose unit ball is the set: the smallest t >= 0 with x in t D.

        Parameters
        ----------
        x : array_like, shape (..., K)
            Vectors.

        Returns
        -------
        numpy.ndarray, shape (...)
            Infinite where a coordinate that cannot change is not 0.
        """
        with np.errstate(over="ignore"):  # infinite beyond all doubles
            return self._norm(self._vectors("x", x))[()]

    def support(self, a: ArrayLike) -> Array:
        """The support function: the largest a'd over the set.

        Parameters
        ----------
        a : array_like, shape (..., K)
            Vectors.

        Returns
        -------
        numpy.ndarray, shape (...)
        """
        with np.errstate(over="ignore"):
            return self._support(self._vectors("a", a))[()]

    def sample(
        self,
        size: int | tuple[int, ...] | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> Array:
        """Independent uniform points of the set, shape (*size, K).

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape; one point by default.
        random_state : int or numpy.random.Generator, optional
            A seed or a generator; by default a stream seeded by the operating system.
        """
        return self._sample(*draws(self, size, random_state))

    def scaled(self, factor: float) -> Self:
        """The set `factor` D, for a positive factor."""
        problems = Problems(f"scaling {self!r}")
        check_size(problems, "factor", factor)
        problems.raise_if_any()
        return self._scaled(float(factor))
