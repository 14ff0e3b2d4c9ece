"""Ellipsoids along the axes: the l2 ball with a unit of its own for each coordinate.

Those with other axes are of `dpnoise.sensitivity.round.tilted`, also made by `Ellipsoid`.

Noise in the norm of an ellipsoid is spherical noise with unequal scales. It protects every set
within the ellipsoid; `enclosing_ellipsoid` is the one of least sum of squared axes, to which the
summed variance of such noise is proportional. For a box with sides lambda it has axes
sqrt(lambda_i sum_j lambda_j): of all t with sum_i (lambda_i / t_i)^2 = 1 these have the least
sum t_i^2 = (sum lambda_i)^2, by the inequality of Cauchy and Schwarz.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np

from dpnoise._validation import Problems
from dpnoise.sensitivity.balls import L2
from dpnoise.sensitivity.base import Sensitivity, largest, read_sizes
from dpnoise.sensitivity.power_sums import above, largest_sum, powers, root_above
from dpnoise.sensitivity.product import Product
from dpnoise.sensitivity.relation import each_words, list_words
from dpnoise.sensitivity.round.tilted import TiltedEllipsoid, rows_of_matrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.sensitivity.power_sums import Weights

_OUTWARD = 1.0 + 2.0**-48  # an enclosing set errs by more than rounding on the outer side


def _is_matrix(axes: ArrayLike) -> bool:
    """Whether axes are given as vectors; what cannot be read is refused as lengths."""
    try:
        return np.ndim(axes) == 2
    except ValueError:
        return False


@dataclass(frozen=True, repr=False)
class Ellipsoid(Sensitivity):
    """Sensitivity set {d : sum (d_i / axes_i)^2 <= 1}, or an ellipsoid with any axes.

    Parameters
    ----------
    axes : array_like of float, shape (K,) or (K, K)
        The largest change of each coordinate alone: 0, or from 1e-100 to 1e100; at least one
        positive. A coordinate with 0 never changes and is released without noise. Or the
        semi-axes as the rows a_k of a matrix: {u_1 a_1 + ... + u_K a_K : |u| <= 1}, K up to 1000;
        any linearly independent vectors will do, perpendicular or not. `Ellipsoid.of_matrix`
        takes the matrix of a quadratic form instead.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours: one person more or less, or one person replaced by
        another. Without it the set is plain geometry.

    Raises
    ------
    ValueError
        If an entry is out of range or none is positive; the message names every problem.

    Examples
    --------
    >>> from dpnoise import Ellipsoid
    >>> float(Ellipsoid([1.0, 2.0]).norm([3.0, 8.0]))
    5.0
    """

    axes: tuple[float, ...]

    is_round = True

    def __new__(cls, axes: ArrayLike, *, relation: str | None = None) -> Self:
        """An object of this class, or of that for axes that are no coordinates'."""
        if _is_matrix(axes):
            return TiltedEllipsoid(axes, relation=relation)  # type: ignore[return-value,arg-type]
        return object.__new__(cls)

    def __getnewargs__(self) -> tuple[tuple[float, ...]]:
        """Arguments by which copies are made."""
        return (self.axes,)

    @staticmethod
    def of_matrix(matrix: ArrayLike, *, relation: str | None = None) -> TiltedEllipsoid:
        """The ellipsoid {d : d' M^-1 d <= 1} of a positive definite matrix M.

        Gaussian noise of covariance M has mu = 1 for it, and no other of a smaller trace does.

        Parameters
        ----------
        matrix : array_like of float, shape (K, K)
            M, symmetric, with eigenvalues within a factor of 1e10 of each other; K up to 1000.
        relation : {"add-remove", "replace-one"}, optional
            Which data sets are neighbours.

        Returns
        -------
        TiltedEllipsoid
            A set that holds the ellipsoid, with a margin for rounding.

        Raises
        ------
        ValueError
            If the matrix is of another kind; the message names every problem.

        Examples
        --------
        >>> from dpnoise import Ellipsoid
        >>> ball = Ellipsoid.of_matrix([[2.0, 1.0], [1.0, 2.0]])
        >>> round(float(ball.norm([1.0, 1.0])) ** 2, 9)
        0.666666667
        """
        return TiltedEllipsoid(rows_of_matrix(matrix), relation=relation)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        """Check of the axes, stored as a tuple of floats."""
        problems = Problems("ellipsoid of sensitivities")
        sizes = read_sizes(problems, "axes", self.axes)
        self._check_relation(problems)
        problems.raise_if_any()
        object.__setattr__(self, "axes", sizes)

    def _ball(self) -> L2:
        """The unit ball of the active coordinates."""
        return L2(1.0, self.active_dimension)

    @property
    def words(self) -> str:
        """What one person changes, in words."""
        if self.dimension == 1:
            return each_words(1, self.axes[0])
        axes = list_words(self.axes)
        return f"in {self.dimension} numbers, within the ellipsoid with axes {axes}"

    @property
    def dimension(self) -> int:
        """The number K of coordinates."""
        return len(self.axes)

    @property
    def box(self) -> Array:
        """The largest |d_i|, shape (K,)."""
        return np.array(self.axes)

    @property
    def l1(self) -> float:
        """The largest l1 norm."""
        return math.hypot(*self.axes)

    @property
    def l2(self) -> float:
        """The largest l2 norm, the longest axis."""
        return max(self.axes)

    @property
    def log_volume(self) -> float:
        """The logarithm of the volume, in the active coordinates."""
        return self._ball().log_volume + math.fsum(np.log(self.box[self.active]))

    @property
    def mean_square(self) -> Array:
        """E Z_i^2 for Z uniform in the set, shape (K,)."""
        return self.box**2 / (self.active_dimension + 2.0)

    @property
    def mean_abs(self) -> Array:
        """E|Z_i| for Z uniform in the set, shape (K,)."""
        return self.box * self._ball().mean_abs[0]

    def mean_largest(self, weights: Array) -> float:
        """That of the ball, with weights times the axes."""
        return self._ball().mean_largest((weights * self.box)[self.active])

    @property
    def extreme_point(self) -> Array:
        """The end of the longest axis, shape (K,)."""
        return np.where(np.arange(self.dimension) == np.argmax(self.axes), self.box, 0.0)

    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """The root of the sum of (w_i axes_i)^2, or the largest of these, on its axis."""
        squares = powers([Fraction(x) for x in self.axes], weights, 2)
        total = largest_sum(squares, self.dimension if power == 1 else 1)
        return root_above(total) if power == 1 else above(total)

    def _norm(self, x: Array) -> Array:
        """The Euclidean norm of the x_i / axes_i."""
        ratio = np.full(x.shape, math.inf)
        np.divide(x, self.box, out=ratio, where=self.box > 0.0)
        ratio[(x == 0.0) & (self.box == 0.0)] = 0.0
        most, share = largest(ratio)
        with np.errstate(invalid="ignore"):  # of infinite entries
            return np.where(np.isinf(most), math.inf, most * np.linalg.norm(share, axis=-1))

    def _support(self, a: Array) -> Array:
        """The Euclidean norm of the a_i axes_i."""
        most, share = largest(np.where(self.box > 0.0, a, 0.0) * self.box)
        return most * np.linalg.norm(share, axis=-1)

    def _sample(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Uniform points, shape (*size, K)."""
        points = np.zeros((*size, self.dimension))
        points[..., self.active] = self._ball()._sample(size, rng)  # noqa: SLF001  (stretched)
        return self.box * points

    def _scaled(self, factor: float) -> Self:
        """The ellipsoid with `factor` times the axes."""
        return replace(self, axes=tuple((factor * self.box).tolist()))


def _axes(sensitivity: Sensitivity) -> Array:
    """Axes of an ellipsoid around a set."""
    if isinstance(sensitivity, Product):
        parts = [_axes(block) for block in sensitivity.blocks]
        sizes = np.array([np.linalg.norm(part) for part in parts])
        stretch = np.sqrt(np.sum(sizes) / sizes)
        return np.concatenate([s * part for s, part in zip(stretch, parts, strict=True)])
    if isinstance(sensitivity, Ellipsoid):
        return sensitivity.box
    sides = sensitivity.box
    if np.all(sides == sides[0]):  # sets that permutations of the coordinates leave as they are
        return np.full(sensitivity.dimension, sensitivity.l2)
    return np.sqrt(sides * math.fsum(sides))


def enclosing_ellipsoid(sensitivity: Sensitivity) -> Ellipsoid:
    """The ellipsoid around a sensitivity set with the least sum of squared axes.

    Parameters
    ----------
    sensitivity : Sensitivity
        The set: a box, a ball, `AtMost`, `Ellipsoid` or a product of these. Around `Counts`, and
        around an ellipsoid with other axes, `sensitivity.smallest_ellipsoid` is smaller.

    Returns
    -------
    Ellipsoid
        With its axes along the coordinates and the set's relation; it contains the set with a
        margin for rounding.

    Raises
    ------
    ValueError
        If the argument is not a sensitivity set.

    Examples
    --------
    >>> from dpnoise import Box, enclosing_ellipsoid
    >>> [round(axis, 6) for axis in enclosing_ellipsoid(Box([1.0, 3.0])).axes]
    [2.0, 3.464102]
    """
    problems = Problems("enclosing ellipsoid")
    known = isinstance(sensitivity, Sensitivity)
    problems.require(known, "sensitivity", "a sensitivity set such as Box or L2", sensitivity)
    problems.raise_if_any()
    axes = tuple((_OUTWARD * _axes(sensitivity)).tolist())
    return Ellipsoid(axes, relation=sensitivity.relation)
