"""The box: every coordinate moves by at most its own sensitivity, all of them at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np

from dpnoise._validation import Problems
from dpnoise.sensitivity.base import Sensitivity, read_sizes
from dpnoise.sensitivity.cut_cube import corners
from dpnoise.sensitivity.largest_entry import largest_uniform
from dpnoise.sensitivity.power_sums import above, largest_sum, powers
from dpnoise.sensitivity.relation import own_words

if TYPE_CHECKING:
    from dpnoise._types import Array, IntArray
    from dpnoise.sensitivity.power_sums import Weights


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
