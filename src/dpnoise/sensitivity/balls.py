"""Boxes, and balls of the l1, l2 and l-infinity norm; the set that a number or a vector stands for.

A box bounds the change of every coordinate by its own sensitivity, all of them at once; a ball has
one bound on the size of the whole difference. Volumes and moments are in closed form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from dpnoise._validation import Problems
from dpnoise.noise.exact import above, largest_sum, powers, root_above
from dpnoise.sensitivity.base import (
    Sensitivity,
    check_dimension,
    check_relation,
    check_size,
    is_set,
    joined,
    largest,
    read_sizes,
)
from dpnoise.sensitivity.differences import corners, listed_vertices
from dpnoise.sensitivity.relation import each_words, number_words, own_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.noise.exact import Weights


@dataclass(frozen=True, repr=False)
class _Ball(Sensitivity):
    """The ball of an l_p norm in K coordinates."""

    radius: float
    of: int = 1

    _power: ClassVar[float]  # of the norm
    _bound: ClassVar[str]  # what the radius bounds, in words

    def __post_init__(self) -> None:
        """Check of the parameters, stored as float and int."""
        problems = Problems(f"{type(self).__name__} sensitivity")
        check_size(problems, "radius", self.radius)
        check_dimension(problems, "of", self.of)
        check_relation(problems, self.relation)
        problems.raise_if_any()
        vars(self).update(radius=float(self.radius), of=int(self.of))

    @property
    def words(self) -> str:
        """What one person changes, in words."""
        if self.of == 1:
            return each_words(1, self.radius)
        return f"in {self.of} numbers, {self._bound} at most {number_words(self.radius)}"

    @property
    def dimension(self) -> int:
        """The number K of coordinates."""
        return self.of

    @property
    def box(self) -> Array:
        """The largest |d_i|, shape (K,)."""
        return np.full(self.of, self.radius)

    def sides(self) -> Fraction:
        """The radius."""
        return Fraction(self.radius)

    def restricted(self, coordinates: Sequence[int]) -> Self:
        """The ball of the same radius."""
        return replace(self, of=len(coordinates))

    def _scaled(self, factor: float) -> Self:
        """The ball of `factor` times the radius."""
        return replace(self, radius=factor * self.radius)

    def ball_radius(self, p: float) -> float:
        """The radius, for the power of the norm."""
        return self.radius if p == self._power else 0.0

    @property
    def l2(self) -> float:
        """The largest l2 norm, the radius."""
        return self.radius

    @property
    def extreme_point(self) -> Array:
        """The end of the first axis, shape (K,)."""
        point = np.zeros(self.of)
        point[0] = self.radius
        return point


@dataclass(frozen=True, repr=False)
class L1(_Ball):
    """Sensitivity set {d : |d_1| + ... + |d_K| <= radius}.

    Parameters
    ----------
    radius : float
        The largest l1 norm of a difference, from 1e-100 to 1e100.
    of : int, default 1
        The number K of coordinates, from 1 to 1e8.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours: one person more or less, or one person replaced by
        another. Without it the set is plain geometry.

    Raises
    ------
    ValueError
        If a parameter is out of range; the message names every problem.

    Examples
    --------
    >>> from dpnoise import L1
    >>> float(L1(2.0, of=3).norm([1.0, -2.0, 1.0]))
    2.0
    """

    _power = 1.0
    _bound: ClassVar[str] = "the sum of all changes"

    @property
    def cut(self) -> int:
        """One coordinate moves as far as it can."""
        return 1

    @property
    def l1(self) -> float:
        """The largest l1 norm, the radius."""
        return self.radius

    @property
    def log_volume(self) -> float:
        """The logarithm of the volume."""
        return self.of * math.log(2.0 * self.radius) - math.lgamma(self.of + 1.0)

    @property
    def mean_square(self) -> Array:
        """E Z_i^2 for Z uniform in the set, shape (K,)."""
        return np.full(self.of, 2.0 * self.radius**2 / ((self.of + 1.0) * (self.of + 2.0)))

    @property
    def mean_abs(self) -> Array:
        """E|Z_i| for Z uniform in the set, shape (K,)."""
        return np.full(self.of, self.radius / (self.of + 1.0))

    def vertices(self) -> Array | None:
        """All extreme points, one of each pair; None if there are many."""
        return listed_vertices(self.of, [(1, 0)], self.radius)

    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """The largest term, attained at the vertex on its axis."""
        return above(largest_sum(powers(Fraction(self.radius), weights, power), 1))

    def _largest_norm_of(self, ball: Sensitivity) -> Fraction:
        """The largest sum of changes, over the radius."""
        return ball.largest_power_sum(1 / self.sides(), 1)

    def _norm(self, x: Array) -> Array:
        """The sum of the |x_i|, over the radius."""
        most, ratio = largest(x)
        total = np.sum(ratio, axis=-1)
        return np.where(np.isinf(most), math.inf, total * (most / self.radius))

    def _support(self, a: Array) -> Array:
        """The largest |a_i|, times the radius."""
        return self.radius * np.max(a, axis=-1)

    def _sample(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Uniform points: K of K + 1 exponential variates over their sum, with random signs."""
        parts = rng.standard_exponential((*size, self.of + 1))
        share = parts[..., :-1] / np.sum(parts, axis=-1, keepdims=True)
        return self.radius * share * (2.0 * rng.integers(0, 2, share.shape) - 1.0)


@dataclass(frozen=True, repr=False)
class L2(_Ball):
    """Sensitivity set {d : d_1^2 + ... + d_K^2 <= radius^2}.

    Parameters
    ----------
    radius : float
        The largest l2 norm of a difference, from 1e-100 to 1e100.
    of : int, default 1
        The number K of coordinates, from 1 to 1e8.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours: one person more or less, or one person replaced by
        another. Without it the set is plain geometry.

    Raises
    ------
    ValueError
        If a parameter is out of range; the message names every problem.

    Examples
    --------
    >>> from dpnoise import L2
    >>> float(L2(2.0, of=2).norm([3.0, -4.0]))
    2.5
    """

    _power = 2.0
    is_round = True
    _bound: ClassVar[str] = "the Euclidean norm of the change"

    @property
    def l1(self) -> float:
        """The largest l1 norm."""
        return self.radius * math.sqrt(self.of)

    @property
    def log_volume(self) -> float:
        """The logarithm of the volume."""
        unit = 0.5 * self.of * math.log(math.pi) - math.lgamma(0.5 * self.of + 1.0)
        return self.of * math.log(self.radius) + unit

    @property
    def mean_square(self) -> Array:
        """E Z_i^2 for Z uniform in the set, shape (K,)."""
        return np.full(self.of, self.radius**2 / (self.of + 2.0))

    @property
    def mean_abs(self) -> Array:
        """E|Z_i| for Z uniform in the set, shape (K,)."""
        share = math.exp(math.lgamma(0.5 * self.of + 1.0) - math.lgamma(0.5 * self.of + 1.5))
        return np.full(self.of, self.radius * share / math.sqrt(math.pi))

    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """The root of the sum of (w_i radius)^2, or the largest of these (on its axis)."""
        squares = powers(Fraction(self.radius), weights, 2)
        total = largest_sum(squares, self.of if power == 1 else 1)
        return root_above(total) if power == 1 else above(total)

    def _largest_norm_of(self, ball: Sensitivity) -> Fraction:
        """The largest Euclidean norm, over the radius."""
        return root_above(ball.largest_power_sum(1 / self.sides(), 2))

    def _norm(self, x: Array) -> Array:
        """The Euclidean norm, over the radius."""
        most, ratio = largest(x)
        with np.errstate(invalid="ignore"):  # of infinite entries
            total = np.linalg.norm(ratio, axis=-1)
            return np.where(np.isinf(most), math.inf, total * (most / self.radius))

    def _support(self, a: Array) -> Array:
        """The Euclidean norm, times the radius."""
        most, ratio = largest(a)
        return self.radius * (most * np.linalg.norm(ratio, axis=-1))

    def _sample(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Uniform points: the direction of a Gaussian vector, times U^(1 / K)."""
        way = rng.standard_normal((*size, self.of))
        way /= np.linalg.norm(way, axis=-1, keepdims=True)
        return self.radius * rng.uniform(size=(*size, 1)) ** (1.0 / self.of) * way


class _Rectangle(Sensitivity):
    """A set that bounds the change of every coordinate by itself."""

    @property
    def cut(self) -> int:
        """The number of coordinates, all of which move at once."""
        return self.dimension

    def _largest_norm_of(self, ball: Sensitivity) -> Fraction | float:
        """The largest change of a coordinate, in units of its side."""
        weights = self._inverse_sides(ball)
        return math.inf if weights is None else largest_sum(powers(ball.sides(), weights, 1), 1)

    @property
    def extreme_point(self) -> Array:
        """The corner with positive coordinates, shape (K,)."""
        return self.box

    def vertices(self) -> Array | None:
        """All extreme points, one of each pair; None if there are many."""
        return corners(self.box)


@dataclass(frozen=True, repr=False)
class LInf(_Rectangle, _Ball):
    """Sensitivity set {d : |d_i| <= radius for all i}, the box of equal sensitivities.

    Parameters
    ----------
    radius : float
        The largest change of each coordinate, from 1e-100 to 1e100.
    of : int, default 1
        The number K of coordinates, from 1 to 1e8.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours: one person more or less, or one person replaced by
        another. Without it the set is plain geometry.

    Raises
    ------
    ValueError
        If a parameter is out of range; the message names every problem.

    Examples
    --------
    >>> from dpnoise import LInf
    >>> LInf(1.0, of=4).l2
    2.0
    """

    _power = math.inf
    _bound: ClassVar[str] = "each by"

    @property
    def l1(self) -> float:
        """The largest l1 norm."""
        return self.radius * self.of

    @property
    def l2(self) -> float:
        """The largest l2 norm."""
        return self.radius * math.sqrt(self.of)

    @property
    def log_volume(self) -> float:
        """The logarithm of the volume."""
        return self.of * math.log(2.0 * self.radius)

    @property
    def mean_square(self) -> Array:
        """E Z_i^2 for Z uniform in the set, shape (K,)."""
        return np.full(self.of, self.radius**2 / 3.0)

    @property
    def mean_abs(self) -> Array:
        """E|Z_i| for Z uniform in the set, shape (K,)."""
        return np.full(self.of, 0.5 * self.radius)

    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """The sum over all coordinates, attained in the corner."""
        return above(largest_sum(powers(Fraction(self.radius), weights, power), self.of))

    def _norm(self, x: Array) -> Array:
        """The largest |x_i|, over the radius."""
        return np.asarray(np.max(x, axis=-1) / self.radius)

    def _support(self, a: Array) -> Array:
        """The sum of the |a_i|, times the radius."""
        return self.radius * np.sum(a, axis=-1)

    def _sample(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Uniform points, shape (*size, K)."""
        return self.radius * rng.uniform(-1.0, 1.0, (*size, self.of))


@dataclass(frozen=True, repr=False)
class Box(_Rectangle):
    """Sensitivity set {d : |d_i| <= lambdas_i for all i}.

    Parameters
    ----------
    lambdas : array_like of float, shape (K,)
        The largest change of each coordinate: 0, or from 1e-100 to 1e100; at least one positive.
        A coordinate with 0 never changes and is released without noise.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours: one person more or less, or one person replaced by
        another. Without it the set is plain geometry.

    Raises
    ------
    ValueError
        If an entry is out of range or none is positive; the message names every problem.

    Examples
    --------
    >>> from dpnoise import Box
    >>> ages_and_incomes = Box([1.0, 50.0], relation="replace-one")
    >>> float(ages_and_incomes.norm([2.0, 25.0]))
    2.0
    """

    lambdas: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check of the entries, stored as a tuple of floats."""
        problems = Problems("box of sensitivities")
        sizes = read_sizes(problems, "lambdas", self.lambdas)
        check_relation(problems, self.relation)
        problems.raise_if_any()
        object.__setattr__(self, "lambdas", sizes)

    @property
    def words(self) -> str:
        """What one person changes, in words."""
        return own_words(self.lambdas)

    @property
    def dimension(self) -> int:
        """The number K of coordinates."""
        return len(self.lambdas)

    @property
    def box(self) -> Array:
        """The largest |d_i|, shape (K,)."""
        return np.array(self.lambdas)

    @property
    def l1(self) -> float:
        """The largest l1 norm, the sum of the sensitivities."""
        return math.fsum(self.lambdas)

    @property
    def l2(self) -> float:
        """The largest l2 norm."""
        return math.hypot(*self.lambdas)

    @property
    def log_volume(self) -> float:
        """The logarithm of the volume, in the active coordinates."""
        return math.fsum(np.log(2.0 * self.box[self.active]))

    @property
    def mean_square(self) -> Array:
        """E Z_i^2 for Z uniform in the set, shape (K,)."""
        return self.box**2 / 3.0

    @property
    def mean_abs(self) -> Array:
        """E|Z_i| for Z uniform in the set, shape (K,)."""
        return 0.5 * self.box

    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """The sum over all coordinates, attained in the corner."""
        terms = powers([Fraction(x) for x in self.lambdas], weights, power)
        return above(largest_sum(terms, self.dimension))

    def restricted(self, coordinates: Sequence[int]) -> Box:
        """The box of the chosen sides."""
        return replace(self, lambdas=tuple(self.lambdas[i] for i in coordinates))

    def _norm(self, x: Array) -> Array:
        """The largest |x_i| / lambda_i."""
        unit = self.box
        ratio = np.full(x.shape, math.inf)
        np.divide(x, unit, out=ratio, where=unit > 0.0)
        ratio[(x == 0.0) & (unit == 0.0)] = 0.0
        return np.asarray(np.max(ratio, axis=-1))

    def _support(self, a: Array) -> Array:
        """The sum of lambda_i |a_i|."""
        unit = self.box
        return np.sum(np.where(unit > 0.0, a, 0.0) * unit, axis=-1)

    def _sample(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Uniform points, shape (*size, K)."""
        return self.box * rng.uniform(-1.0, 1.0, (*size, self.dimension))

    def _scaled(self, factor: float) -> Self:
        """The box with every side `factor` times as long."""
        return replace(self, lambdas=tuple((factor * self.box).tolist()))


def as_sensitivity(
    sensitivity: float | ArrayLike | Sensitivity,
    dimension: int | None = None,
    *,
    relation: str | None = None,
) -> Sensitivity:
    """A sensitivity set from a number, a vector or a set.

    Parameters
    ----------
    sensitivity : float, array_like of shape (K,), or Sensitivity
        A number bounds the change of every coordinate (`LInf`), a vector that of each (`Box`);
        a set is returned as it is.
    dimension : int, optional
        The number K of coordinates. With a number it is 1 by default; otherwise it must be that
        of the vector or set.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours; with a set that states its relation it must be that one.

    Returns
    -------
    Sensitivity
        The set.

    Raises
    ------
    ValueError
        If an argument is out of range or the two do not fit; the message names every problem.

    Examples
    --------
    >>> from dpnoise import as_sensitivity
    >>> as_sensitivity(1.0, 3)
    LInf(radius=1.0, of=3)
    >>> as_sensitivity([1.0, 0.5], relation="add-remove")
    Box(lambdas=(1.0, 0.5), relation='add-remove')
    """
    problems = Problems("sensitivity")
    if dimension is not None:
        check_dimension(problems, "dimension", dimension)
    check_relation(problems, relation)
    array = isinstance(sensitivity, list | tuple) or getattr(sensitivity, "ndim", 0) > 0
    if not array and not is_set(sensitivity):
        value = sensitivity.item() if isinstance(sensitivity, np.ndarray) else sensitivity
        check_size(problems, "sensitivity", value)
        problems.raise_if_any()
        count = 1 if dimension is None else int(dimension)
        return LInf(float(value), count, relation=relation)  # type: ignore[arg-type]  # checked
    problems.raise_if_any()
    found = sensitivity if is_set(sensitivity) else Box(sensitivity)  # type: ignore[arg-type]
    fits = dimension in (None, found.dimension)
    problems.require(fits, "dimension", f"that of the sensitivity, {found.dimension}", dimension)
    joined(problems, found.relation, relation, "the set and relation=")
    problems.raise_if_any()
    return found.stating(relation)
