"""Boxes, and balls of the l1, l2 and l-infinity norm.

A box bounds the change of every coordinate by its own sensitivity, all of them at once; a ball has
one bound on the size of the whole difference. Volumes and moments are in closed form; the expected
largest of independent absolute values is the integral over t of 1 - prod P(|X_i| <= t).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from scipy import special

from dpnoise._validation import Problems
from dpnoise.sensitivity.base import (
    Sensitivity,
    above,
    check_dimension,
    check_size,
    largest,
    largest_sum,
    powers,
    read_sizes,
    root_above,
)
from dpnoise.sensitivity.cut_cube import corners, listed_vertices
from dpnoise.sensitivity.relation import each_words, number_words, own_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array, IntArray
    from dpnoise.sensitivity.base import Weights


_PANELS, _NODES = 400, 8  # of Gauss-Legendre quadrature
_MOST_VALUES = 2**25  # of the tail, with fewer panels where there are many scales
_NEGLIGIBLE = 1e-18  # probability of a larger value than the last one


@dataclass(frozen=True, repr=False)
class _Ball(Sensitivity):
    """The ball of an l_p norm in K coordinates."""

    radius: float
    of: int = 1

    _bound: ClassVar[str]  # what the radius bounds, in words

    def __post_init__(self) -> None:
        """Check of the parameters, stored as float and int."""
        problems = Problems(f"{type(self).__name__} sensitivity")
        check_size(problems, "radius", self.radius)
        check_dimension(problems, "of", self.of)
        self._check_relation(problems)
        problems.raise_if_any()
        object.__setattr__(self, "radius", float(self.radius))
        object.__setattr__(self, "of", int(self.of))

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

    def _scaled(self, factor: float) -> Self:
        """The ball of `factor` times the radius."""
        return replace(self, radius=factor * self.radius)

    def _first_axis(self) -> Array:
        """The radius on the first coordinate, shape (K,)."""
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

    has_corner = True
    _bound: ClassVar[str] = "the sum of all changes"

    @property
    def l1(self) -> float:
        """The largest l1 norm, the radius."""
        return self.radius

    @property
    def l2(self) -> float:
        """The largest l2 norm, the radius."""
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

    @property
    def coordinate_norm(self) -> tuple[str, Array]:
        """The sum of the |x_i| / radius."""
        return "sum", np.full(self.of, 1.0 / self.radius)

    def mean_largest(self, weights: Array) -> float | None:
        """The largest of K of K + 1 shares of an exponential sum: (1 + ... + 1/K) / (K + 1)."""
        if not np.all(weights == weights[0]):
            return None
        harmonic = float(special.digamma(self.of + 1.0)) - float(special.digamma(1.0))
        return float(weights[0]) * self.radius * harmonic / (self.of + 1.0)

    @property
    def alike(self) -> bool:
        """True: all extreme points are one with coordinates permuted and signs changed."""
        return True

    @property
    def extreme_point(self) -> Array:
        """The vertex on the first axis, shape (K,)."""
        return self._first_axis()

    def vertices(self) -> Array | None:
        """All extreme points, one of each pair; None if there are many."""
        return listed_vertices(self.of, [(1, 0)], self.radius)

    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """The largest term, attained at the vertex on its axis."""
        return above(largest_sum(powers(Fraction(self.radius), weights, power), 1))

    def whole_parts(self) -> list[tuple[IntArray, float, int, int]]:
        """All coordinates, one of which changes by the radius at once."""
        return [(np.arange(self.of), self.radius, 1, 1)]

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

    has_corner = True
    is_round = True
    _bound: ClassVar[str] = "the Euclidean norm of the change"

    @property
    def l1(self) -> float:
        """The largest l1 norm."""
        return self.radius * math.sqrt(self.of)

    @property
    def l2(self) -> float:
        """The largest l2 norm, the radius."""
        return self.radius

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

    def mean_largest(self, weights: Array) -> float:
        """That of a Gaussian vector, by the mean norms of both."""
        length = math.exp(math.lgamma(0.5 * self.of + 0.5) - math.lgamma(0.5 * self.of))
        share = self.of / (self.of + 1.0) / (math.sqrt(2.0) * length)
        return self.radius * share * mean_of_largest(special.erfc, math.sqrt(2.0) * weights)

    @property
    def extreme_point(self) -> Array:
        """The boundary point on the first axis, shape (K,)."""
        return self._first_axis()

    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """The root of the sum of (w_i radius)^2, or the largest of these (on its axis)."""
        squares = powers(Fraction(self.radius), weights, 2)
        total = largest_sum(squares, self.of if power == 1 else 1)
        return root_above(total) if power == 1 else above(total)

    def whole_parts(self) -> list[tuple[IntArray, float, int, int]]:
        """All coordinates, one of which changes by the radius at once."""
        return [(np.arange(self.of), self.radius, 2, 1)]

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


@dataclass(frozen=True, repr=False)
class LInf(_Ball):
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

    has_corner = True
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

    @property
    def coordinate_norm(self) -> tuple[str, Array]:
        """The largest |x_i| / radius."""
        return "largest", np.full(self.of, 1.0 / self.radius)

    def mean_largest(self, weights: Array) -> float:
        """The largest of uniform variates, K / (K + 1) of the radius with equal weights."""
        return largest_uniform(self.radius * weights)

    @property
    def alike(self) -> bool:
        """True: all extreme points are one with coordinates permuted and signs changed."""
        return True

    @property
    def extreme_point(self) -> Array:
        """The corner with positive coordinates, shape (K,)."""
        return self.box

    def vertices(self) -> Array | None:
        """All extreme points, one of each pair; None if there are many."""
        return corners(self.box)

    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """The sum over all coordinates, attained in the corner."""
        return above(largest_sum(powers(Fraction(self.radius), weights, power), self.of))

    def whole_parts(self) -> list[tuple[IntArray, float, int, int]]:
        """All coordinates, any number of which change by the radius at once."""
        return [(np.arange(self.of), self.radius, 1, self.of)]

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
class Box(Sensitivity):
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

    has_corner = True

    def __post_init__(self) -> None:
        """Check of the entries, stored as a tuple of floats."""
        problems = Problems("box of sensitivities")
        sizes = read_sizes(problems, "lambdas", self.lambdas)
        self._check_relation(problems)
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

    @property
    def coordinate_norm(self) -> tuple[str, Array]:
        """The largest |x_i| / lambda_i."""
        unit = self.box
        weights = np.zeros(unit.shape)
        return "largest", np.divide(1.0, unit, out=weights, where=unit > 0.0)

    def mean_largest(self, weights: Array) -> float:
        """The largest of uniform variates."""
        return largest_uniform(weights * self.box)

    @property
    def alike(self) -> bool:
        """True: all extreme points are one with coordinates permuted and signs changed."""
        return True

    @property
    def extreme_point(self) -> Array:
        """The corner with positive coordinates, shape (K,)."""
        return self.box

    def vertices(self) -> Array | None:
        """All extreme points, one of each pair; None if there are many."""
        return corners(self.box)

    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """The sum over all coordinates, attained in the corner."""
        terms = powers([Fraction(x) for x in self.lambdas], weights, power)
        return above(largest_sum(terms, self.dimension))

    def whole_parts(self) -> list[tuple[IntArray, float, int, int]]:
        """The coordinates of each size, which all change at once."""
        sizes, which = np.unique(self.box, return_inverse=True)
        groups = [np.flatnonzero(which == k) for k in range(sizes.size)]
        return [(at, size, 1, at.size) for at, size in zip(groups, sizes.tolist(), strict=True)]

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


def largest_uniform(sides: Array) -> float:
    """E max |U_i| for independent U_i, uniform on [-sides_i, sides_i]: the sum over the pieces.

    Where n of the sides are above t, prod P(|U_i| <= t) is t^n over their product.
    """
    u = np.sort(sides[sides > 0.0])
    if u.size == 0:
        return 0.0
    longest = float(u[-1])
    u = u / longest
    n = np.arange(u.size, 0, -1)  # sides that are not below u_j
    above = np.cumsum(np.log(u)[::-1])[::-1]  # of their logarithms
    before = np.concatenate([[0.0], u[:-1] / u[1:]])
    most = np.exp(np.minimum(n * np.log(u) - above, 0.0))  # the probability at t = u_j
    # Up to u_1 all sides are above t, from u_(j-1) to u_j n_j of them.
    within = u * most * (1.0 - before ** (n + 1.0)) / (n + 1.0)
    return longest * float(1.0 - np.sum(within))


def mean_of_largest(tail: Callable[[Array], Array], scales: Array) -> float:
    """E max s_i |X_i| for independent X_i with P(|X_i| > t) = tail(t), by quadrature.

    To about 1e-6, and from some 10,000 different scales on to about 1e-4.
    """
    unit, count = np.unique(scales[scales > 0.0], return_counts=True)
    if unit.size == 0:
        return 0.0
    largest = float(unit[-1])
    unit = unit / largest
    end = 1.0
    while scales.size * float(tail(np.array(end))) > _NEGLIGIBLE:
        end *= 1.25
    panels = max(16, min(_PANELS, _MOST_VALUES // (_NODES * unit.size)))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    width = end / panels
    t = (width * (np.arange(panels)[:, None] + 0.5 * (nodes + 1.0))).ravel()
    log_inside = np.zeros(t.size)
    with np.errstate(divide="ignore"):
        for scale, number in zip(unit.tolist(), count.tolist(), strict=True):
            log_inside += number * np.log1p(-np.minimum(tail(t / scale), 1.0))
    beyond = -np.expm1(log_inside)
    total = float(np.sum(beyond * np.tile(weights, panels)))
    return largest * 0.5 * width * total
