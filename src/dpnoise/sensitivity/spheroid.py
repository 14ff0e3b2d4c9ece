"""Ellipsoids in any position, spheroids about the diagonal, and sets around which these are least.

**Ellipsoids {R u : |u| <= 1}.** What follows from the linear map R alone: with M = R R' the norm is
(x' M^-1 x)^(1/2), the support function (a' M a)^(1/2), the largest change of a coordinate the root
of M_ii, and E Z Z' = M / (K + 2) for a uniform point Z, K the number of axes of positive length.
Gaussian noise sigma R z, with z standard normal, has the covariance sigma^2 M: a difference d then
has mu = norm(d) / sigma.

**Spheroids** are the ellipsoids that permutations of the coordinates leave as they are. Along (1,
..., 1) the spheroid reaches `along`, in all directions perpendicular to it `across`:

    norm(d)^2 = S^2 / (K along^2) + (|d|^2 - S^2 / K) / across^2,   S = d_1 + ... + d_K.

It is the image of the unit ball under z -> across (z - m) + along m, every entry of m the mean of
z. With along = 0 it lies in the plane of vectors that add up to 0.

The least one around counts (docs/joint-noise.md, section 10): differences with a entries 1
and b entries -1 have the two squares A = (a - b)^2 / K along the diagonal and B = a + b - A across
it. Of all spheroids with ratio rho = (across / along)^2 the least has across^2 = max (rho A + B),
and the sum of its squared axes is

    F(rho) = (1 / rho + K - 1) max (rho A + B),

a maximum of the convex functions A + (K - 1) B + rho (K - 1) A + B / rho.

**Sets with entries c, -c and 0** at their extreme points, how many of either being all that
matters: every permutation of their coordinates is in the set, so that a form
a |d|^2 + b (d_1 + ... + d_K)^2 depends on the two numbers alone, and the least ellipsoid around the
set is a spheroid about the diagonal.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from dpnoise._validation import Problems
from dpnoise.noise.exact import above, as_double_above, root_above
from dpnoise.sensitivity.balls import L2, Box
from dpnoise.sensitivity.base import (
    LARGEST,
    Sensitivity,
    check_dimension,
    check_relation,
    check_size,
    largest,
)
from dpnoise.sensitivity.relation import number_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise.noise.exact import Weights


OUTWARD = 1.0 + 2.0**-44  # more than the rounding of what is computed in doubles
_BISECTIONS = 200
_ENLARGEMENTS = 8  # one or two are needed
_ENLARGED = 1.0 + 2.0**-51
_SAME = 1e-9  # relative difference of axes that gains 1e-18


class RoundSet(Sensitivity):
    """An ellipsoid whose axes need not be those of the coordinates."""

    signed = is_round = True
    attains = False  # its largest sums are irrational, and rounded up

    @property
    @abstractmethod
    def rank(self) -> int:
        """The number of axes of positive length."""

    @property
    @abstractmethod
    def log_axes(self) -> float:
        """The logarithm of the product of the positive lengths of the axes."""

    @property
    @abstractmethod
    def covariance(self) -> Array:
        """The matrix M = R R', shape (K, K)."""

    @property
    @abstractmethod
    def diagonal(self) -> Array:
        """The diagonal of M, shape (K,)."""

    @abstractmethod
    def image(self, z: Any, number: Any = float) -> Any:  # noqa: ANN401  (doubles or balls)
        """The vectors R z, shape (..., K); `number` makes constants of the kind of the entries."""

    @abstractmethod
    def is_exact_for(self, ball: Sensitivity) -> bool:
        """Whether a difference of the other set has the norm `largest_norm_of`."""

    @property
    def smallest_ellipsoid(self) -> RoundSet:
        """The set itself, without a relation."""
        return self._related(None)

    @property
    def box(self) -> Array:
        """The largest |d_i|, rounded up, shape (K,)."""
        return OUTWARD * np.sqrt(self.diagonal)

    @property
    def log_volume(self) -> float:
        """The logarithm of the volume."""
        self._require_volume()
        return L2(1.0, self.rank).log_volume + self.log_axes

    @property
    def mean_square(self) -> Array:
        """E Z_i^2 for Z uniform in the set, shape (K,)."""
        return self.diagonal / (self.rank + 2.0)

    @property
    def mean_abs(self) -> Array:
        """E|Z_i| for Z uniform in the set, shape (K,)."""
        return np.sqrt(self.diagonal) * L2(1.0, self.rank).mean_abs[0]

    def restricted(self, coordinates: Sequence[int]) -> Sensitivity:
        """The set itself for all coordinates in their order, else the box around it."""
        if list(coordinates) == list(range(self.dimension)):
            return self
        sides = self.box
        return Box(tuple(float(sides[i]) for i in coordinates), relation=self.relation)

    def _sample(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Uniform points, shape (*size, K)."""
        self._require_volume()
        found: Array = self.image(L2(1.0, self.dimension).sample(size, rng))
        return found


@dataclass(frozen=True, repr=False)
class Spheroid(RoundSet):
    """Sensitivity set {d : S^2 / (K along^2) + (|d|^2 - S^2 / K) / across^2 <= 1}, S = sum of d_i.

    Parameters
    ----------
    along : float
        The largest l2 norm of a difference with equal entries: 0, or from 1e-100 to 1e100. With 0
        all differences add up to 0.
    across : float
        The largest l2 norm of a difference that adds up to 0, from 1e-100 to 1e100.
    of : int
        The number K of coordinates, from 2 to 1e8.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours: one person more or less, or one person replaced by
        another. Without it the set is plain geometry.

    Raises
    ------
    ValueError
        If a parameter is out of range; the message names every problem.

    Examples
    --------
    >>> from dpnoise.sensitivity.spheroid import Spheroid
    >>> ball = Spheroid(along=2.0, across=1.0, of=4)
    >>> float(ball.norm([1.0, 1.0, 1.0, 1.0])), float(ball.norm([1.0, -1.0, 1.0, -1.0]))
    (1.0, 2.0)
    """

    along: float
    across: float
    of: int

    def __post_init__(self) -> None:
        """Check of the parameters, stored as floats and int."""
        problems = Problems("spheroid of sensitivities")
        if problems.number("along", self.along, low=0.0, high=LARGEST) and self.along != 0:
            check_size(problems, "along", self.along)
        check_size(problems, "across", self.across)
        if check_dimension(problems, "of", self.of):
            problems.require(self.of > 1, "of", "at least 2 coordinates", self.of)
        check_relation(problems, self.relation)
        problems.raise_if_any()
        vars(self).update(along=float(self.along), across=float(self.across), of=int(self.of))

    @property
    def words(self) -> str:
        """What one person changes, in words."""
        along, across = number_words(self.along), number_words(self.across)
        within = f"within the spheroid that reaches {along} along the diagonal and {across} across"
        return f"in {self.of} numbers, {within}"

    @property
    def dimension(self) -> int:
        """The number K of coordinates."""
        return self.of

    @property
    def flat(self) -> str:  # type: ignore[override]  # empty for most sets
        """Why the set has no volume; empty if it has one."""
        return "" if self.along > 0.0 else "all changes add up to 0, a plane without volume"

    @property
    def rank(self) -> int:
        """The number of axes of positive length."""
        return self.of - (self.along == 0.0)

    @property
    def log_axes(self) -> float:
        """The logarithm of the product of the positive lengths of the axes."""
        first = math.log(self.along) if self.along else 0.0
        return first + (self.of - 1) * math.log(self.across)

    @property
    def _common(self) -> float:
        """The entries of M off the diagonal."""
        return (self.along - self.across) * (self.along + self.across) / self.of

    @property
    def covariance(self) -> Array:
        """The matrix M, shape (K, K)."""
        return self.across**2 * np.eye(self.of) + self._common

    @property
    def diagonal(self) -> Array:
        """The diagonal of M, shape (K,)."""
        share = 1.0 / self.of
        return np.full(self.of, share * self.along**2 + (1.0 - share) * self.across**2)

    @property
    def spread(self) -> float:  # type: ignore[override]  # 1 for most sets
        """A bound on the sum of |R_ij| over j by the root of M_ii."""
        return (self.across + abs(self.along - self.across)) / math.sqrt(self.diagonal[0]) * OUTWARD

    def image(self, z: Any, number: Any = float) -> Any:  # noqa: ANN401
        """The vectors across (z - m) + along m, every entry of m the mean of z."""
        mean = np.sum(z, axis=-1, keepdims=True) * number(Fraction(1, self.of))
        return number(self.across) * (z - mean) + number(self.along) * mean

    @property
    def l1(self) -> float:
        """The largest l1 norm."""
        return float(root_above(self.largest_power_sum(Fraction(1), 1) ** 2))

    @property
    def l2(self) -> float:
        """The largest l2 norm."""
        return max(self.along, self.across)

    @property
    def extreme_point(self) -> Array:
        """The end of a longest axis, a little inwards, shape (K,)."""
        found = np.zeros(self.of)
        if self.along >= self.across:
            found[:] = self.along / math.sqrt(self.of)
        else:
            found[:2] = np.array([1.0, -1.0]) * self.across * math.sqrt(0.5)
        return found / OUTWARD

    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """From above, by M = across^2 I + c 11'; exact for one weight.

        The largest sum of w_i |d_i| is the root of the largest a' M a with a_i = w_i or -w_i.
        """
        K, along, across = self.of, Fraction(self.along) ** 2, Fraction(self.across) ** 2
        common = max((along - across) / K, Fraction(0))
        if isinstance(weights, Fraction):
            if power == 2:
                return above(weights**2 * max(along, across))
            signs = Fraction(K * K if along >= across else K % 2, K)  # (sum of signs)^2 / K
            return root_above(weights**2 * (along * signs + across * (K - signs)))
        squares = sum((w * w for w in weights), Fraction(0))
        if power == 2:
            return above(across * max(weights) ** 2 + common * squares)
        return root_above(across * squares + common * sum(weights, Fraction(0)) ** 2)

    def largest_symmetric_form(self, squares: Fraction, total: Fraction) -> tuple[Fraction, bool]:
        """The larger of the values at the ends of the axes."""
        along, across = Fraction(self.along) ** 2, Fraction(self.across) ** 2
        return max(squares * across, (squares + self.of * total) * along), True

    def _form(self, ball: Sensitivity) -> tuple[Fraction | float, bool]:
        """The largest squared norm of a difference of a set, and whether it is attained."""
        if ball.dimension != self.of:
            return math.inf, False
        in_plane = float(ball.support(np.ones(self.of))) == 0.0  # all differences add up to 0
        if self.along == 0.0 and not in_plane:
            return math.inf, False
        squares, total = 1 / Fraction(self.across) ** 2, Fraction(0)
        if not in_plane:
            total = (1 / Fraction(self.along) ** 2 - squares) / self.of
        return ball.largest_symmetric_form(squares, total)

    def _largest_norm_of(self, ball: Sensitivity) -> Fraction | float:
        """The largest norm of a difference of another set, rounded up."""
        square = self._form(ball)[0]
        return math.inf if square == math.inf else root_above(Fraction(square))

    def is_exact_for(self, ball: Sensitivity) -> bool:
        """Whether a difference of the other set has the norm `largest_norm_of`."""
        return self._form(ball)[1]

    def _parts(self, x: Array) -> tuple[Array, Array, Array]:
        """The largest |x_i|, and of x over it the lengths along and across the diagonal."""
        most, share = largest(x)
        share = np.where(np.isinf(most)[..., None], 1.0, share)
        mean = np.mean(share, axis=-1, keepdims=True)
        across = np.linalg.norm(share - mean, axis=-1)
        return most, np.abs(mean[..., 0]) * math.sqrt(self.of), across

    def _norm(self, x: Array) -> Array:
        """The norm; infinite off the plane if there is one."""
        most, along, across = self._parts(x)
        if self.along > 0.0:
            return np.asarray(most * np.hypot(along / self.along, across / self.across))
        off = along > 2.0**-50 * math.sqrt(self.of) * np.hypot(along, across)
        return np.where(off | np.isinf(most), math.inf, most * (across / self.across))

    def _support(self, a: Array) -> Array:
        """The root of a' M a."""
        most, along, across = self._parts(a)
        return np.asarray(most * np.hypot(along * self.along, across * self.across))

    def _scaled(self, factor: float) -> Self:
        """The spheroid with `factor` times the axes."""
        return replace(self, along=factor * self.along, across=factor * self.across)


class Axes(NamedTuple):
    """Lengths of the axes of a spheroid: along the diagonal, and across it."""

    along: float
    across: float

    def scaled(self, factor: float) -> Axes:
        """The axes times a factor."""
        return Axes(factor * self.along, factor * self.across)


def smallest_axes(K: int, patterns: list[tuple[int, int]]) -> Axes:
    """Axes of the spheroid with the least sum of squares around vectors of entries 1, -1 and 0.

    `patterns` has the numbers of entries 1 and -1. The derivative of F is that of its largest
    piece, (K - 1) A - B / rho^2, so that its sign is bisected. To rounding; the caller measures.
    """
    up, down = np.array(patterns, dtype=float).T
    first = (up - down) ** 2 / K
    others = up + down - first
    if not np.any(first > 0.0):
        return Axes(0.0, math.sqrt(np.max(others)))
    low, high = -2.0 * math.log(K + 1.0), 2.0 * math.log(K + 1.0)  # of rho
    # ends: a search that ends early gives a larger spheroid, which holds the set
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        rho = math.exp(middle)
        at = int(np.argmax(rho * first + others))
        if (K - 1) * first[at] * rho * rho > others[at]:
            high = middle
        else:
            low = middle
    rho = math.exp(0.5 * (low + high))
    square = float(np.max(rho * first + others))
    return Axes(math.sqrt(square / rho), math.sqrt(square))


def correlated_axes(K: int, patterns: list[tuple[int, int]]) -> Axes | None:
    """The `smallest_axes` in two or more coordinates; None where those of a ball are as good."""
    axes = smallest_axes(K, patterns)
    round_ = K == 1 or math.isclose(axes.along, axes.across, rel_tol=_SAME)
    return None if round_ else axes


def around(ball: Sensitivity, axes: Axes) -> Spheroid:
    """A spheroid of about these axes around a set: as large as its largest norm needs."""
    found = Spheroid(*axes, of=ball.dimension)
    # ends: raises
    for _ in range(_ENLARGEMENTS):
        size = found.largest_norm_of(ball)
        if size <= 1:
            return found
        found = found.scaled(as_double_above(size) * _ENLARGED)
    message = f"no spheroid with axes of about {axes} was found to hold {ball!r}"
    raise RuntimeError(message)
