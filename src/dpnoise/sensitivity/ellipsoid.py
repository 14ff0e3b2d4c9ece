"""Ellipsoids, the l2 ball with a unit of its own for each coordinate, and those with any axes.

Noise in the norm of an ellipsoid is spherical noise with unequal scales. It protects every set
within the ellipsoid; `enclosing_ellipsoid` is the one of least sum of squared axes, to which the
summed variance of such noise is proportional. For a box with sides lambda it has axes
sqrt(lambda_i sum_j lambda_j): of all t with sum_i (lambda_i / t_i)^2 = 1 these have the least
sum t_i^2 = (sum lambda_i)^2, by the inequality of Cauchy and Schwarz.

**Any axes**, made by `Ellipsoid` from a matrix: the set
{u_1 a_1 + ... + u_K a_K : |u| <= 1}, the a_k being the rows of the matrix A: its semi-axes if these
are perpendicular, but any conjugate set will do. M = A'A.

Norms of other sets are bounded from above. With V an approximate inverse of A and E = I - A V, of
which the size is bounded with all rounding, x = u A gives x V = u (I - E) and so

    norm(x) = |u| <= |x V| / (1 - |E|).

|x V| is a convex function of x: it is largest at an extreme point, which are listed if there are
few; else it is at most |V| times the l2 norm, and at most the root of the sum of the squared
support functions at the columns of V.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dpnoise._validation import Problems, floats
from dpnoise.noise.exact import above, largest_sum, powers, root_above
from dpnoise.sensitivity.balls import L2
from dpnoise.sensitivity.base import (
    LARGEST,
    Sensitivity,
    check_relation,
    largest,
    read_sizes,
    require_set,
)
from dpnoise.sensitivity.relation import each_words, list_words
from dpnoise.sensitivity.spheroid import OUTWARD, RoundSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.noise.exact import Weights


_ENCLOSING = 1.0 + 2.0**-48  # an enclosing set errs by more than rounding on the outer side
MOST_AXES = 1024
_MOST_SHOWN = 8
_FEW = 12  # coordinates whose signs are all tried
_UP = 1.0 + 2.0**-38  # covers the rounding of norms of matrices with up to 1024 rows
_MOST_ERROR = 0.01  # of the inverse
_WORST = 1e-10  # smallest over largest eigenvalue of a matrix that states an ellipsoid


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
        semi-axes as the rows a_k of a matrix: {u_1 a_1 + ... + u_K a_K : |u| <= 1}, K up to 1024;
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
            M, symmetric, with eigenvalues within a factor of 1e10 of each other; K up to 1024.
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
        check_relation(problems, self.relation)
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

    @property
    def extreme_point(self) -> Array:
        """The end of the longest axis, shape (K,)."""
        return np.where(np.arange(self.dimension) == np.argmax(self.axes), self.box, 0.0)

    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """The root of the sum of (w_i axes_i)^2, or the largest of these, on its axis."""
        squares = powers([Fraction(x) for x in self.axes], weights, 2)
        total = largest_sum(squares, self.dimension if power == 1 else 1)
        return root_above(total) if power == 1 else above(total)

    def restricted(self, coordinates: Sequence[int]) -> Ellipsoid:
        """The ellipsoid of the chosen axes."""
        return replace(self, axes=tuple(self.axes[i] for i in coordinates))

    def _largest_norm_of(self, ball: Sensitivity) -> Fraction | float:
        """The largest Euclidean norm in units of the axes."""
        weights = self._inverse_sides(ball)
        return math.inf if weights is None else root_above(ball.largest_power_sum(weights, 2))

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
    require_set(problems, "sensitivity", sensitivity)
    problems.raise_if_any()
    axes = tuple((_ENCLOSING * _enclosing_axes(sensitivity)).tolist())
    return Ellipsoid(axes, relation=sensitivity.relation)


def _enclosing_axes(ball: Sensitivity) -> Array:
    """Axes of an ellipsoid around a set, along the coordinates, shape (K,).

    The smallest sum of squares for boxes, for sets of equal sides that permutations of the
    coordinates leave as they are, and for products of these; its own of an ellipsoid.
    """
    if ball.blocks:
        parts = [_enclosing_axes(block) for block in ball.blocks]
        sizes = np.array([np.linalg.norm(part) for part in parts])
        stretch = np.sqrt(np.sum(sizes) / sizes)
        return np.concatenate([s * part for s, part in zip(stretch, parts, strict=True)])
    sides = ball.box
    if ball.is_round and ball.smallest_ellipsoid is None:
        return sides
    if np.all(sides == sides[0]):
        return np.full(ball.dimension, ball.l2)
    return np.sqrt(sides * math.fsum(sides))


@dataclass(frozen=True, repr=False)
class TiltedEllipsoid(RoundSet):
    """Sensitivity set {u_1 a_1 + ... + u_K a_K : |u| <= 1}, made by `Ellipsoid`.

    Parameters
    ----------
    axes : array_like of float, shape (K, K)
        The a_k as rows, at most 1024, linearly independent: the semi-axes if they are
        perpendicular. Entries are up to 1e100 in size.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours: one person more or less, or one person replaced by
        another. Without it the set is plain geometry.

    Raises
    ------
    ValueError
        If the shape is not square, an entry is out of range or the rows are nearly dependent.

    Examples
    --------
    >>> from dpnoise import Ellipsoid
    >>> ball = Ellipsoid([[2.0, 2.0], [1.0, -1.0]])
    >>> [round(float(x), 9) for x in ball.norm([[2.0, 2.0], [3.0, -3.0]])]
    [1.0, 3.0]
    """

    axes: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        """Check of the matrix, stored as tuples of floats."""
        problems = Problems("ellipsoid of sensitivities")
        values = floats(problems, "axes", self.axes, low=-LARGEST, high=LARGEST)
        if not problems.found:
            square = values.ndim == 2 and values.shape[0] == values.shape[1]
            good = square and 0 < values.shape[0] <= MOST_AXES
            expected = f"(K,), or (K, K) with K up to {MOST_AXES}"
            problems.require(good, "shape of axes", expected, values.shape)
        check_relation(problems, self.relation)
        problems.raise_if_any()
        object.__setattr__(self, "axes", tuple(map(tuple, values.tolist())))
        expected = "linearly independent rows (a coordinate that never changes: a Product)"
        good = self._inverse[1] <= _MOST_ERROR
        problems.require(bool(good), "axes", expected, repr(self))
        problems.raise_if_any()

    def __repr__(self) -> str:
        """The call of `Ellipsoid` that makes the set; of a large matrix only the shape."""
        K = len(self.axes)
        shown = repr(self.axes) if K <= _MOST_SHOWN else f"<matrix of shape ({K}, {K})>"
        relation = f", relation={self.relation!r}" if self.relation is not None else ""
        return f"Ellipsoid({shown}{relation})"

    @cached_property
    def _matrix(self) -> Array:
        """The matrix A."""
        return np.array(self.axes)

    @cached_property
    def _inverse(self) -> tuple[Array, float]:
        """An approximate inverse of A, and a bound on |I - A V|; infinite if there is none."""
        A, K = self._matrix, len(self.axes)
        unit = float(np.max(np.abs(A)))
        try:
            V: Any = np.linalg.inv(A / unit) / unit
        except (np.linalg.LinAlgError, ZeroDivisionError):
            return np.eye(K), math.inf
        with np.errstate(over="ignore", invalid="ignore"):
            rounding = 2.0**-51 * (K + 2) * (np.abs(A) @ np.abs(V))
            error = float(np.linalg.norm(np.abs(np.eye(K) - A @ V) + rounding)) * _UP
        return V, error if math.isfinite(error) else math.inf

    @cached_property
    def _lengths(self) -> Array:
        """The lengths of the axes, the longest first, and so the singular values of A."""
        return np.asarray(np.linalg.svd(self._matrix, compute_uv=False), dtype=float)

    @property
    def words(self) -> str:
        """What one person changes, in words."""
        sides = [float(f"{x:.4g}") for x in self.box.tolist()]
        return f"in {self.dimension} numbers, within an ellipsoid with sides {list_words(sides)}"

    @property
    def dimension(self) -> int:
        """The number K of coordinates."""
        return len(self.axes)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return self.dimension

    @property
    def log_axes(self) -> float:
        """The logarithm of the product of the lengths of the axes, |det A|."""
        return float(np.linalg.slogdet(self._matrix)[1])

    @property
    def covariance(self) -> Array:
        """The matrix M = A'A, shape (K, K)."""
        return self._matrix.T @ self._matrix

    @property
    def diagonal(self) -> Array:
        """The diagonal of M, shape (K,)."""
        return np.sum(self._matrix**2, axis=0)

    @property
    def spread(self) -> float:  # type: ignore[override]  # 1 for most sets
        """A bound on the sum of |a_ki| over k by the root of M_ii: that of Cauchy and Schwarz."""
        return math.sqrt(self.dimension) * OUTWARD

    def image(self, z: Any, number: Any = float) -> Any:  # noqa: ANN401
        """The vectors z_1 a_1 + ... + z_K a_K."""
        if np.asarray(z).dtype != object:
            return z @ self._matrix
        exact = [[number(Fraction(x)) for x in row] for row in self.axes]
        return z @ np.array(exact, dtype=object)

    @property
    def l1(self) -> float:
        """The largest l1 norm, from above."""
        return float(self.largest_power_sum(Fraction(1), 1))

    @property
    def l2(self) -> float:
        """The largest l2 norm, the longest axis, rounded up."""
        return float(self._lengths[0]) * _UP

    @property
    def extreme_point(self) -> Array:
        """The end of the longest axis, a little inwards, shape (K,)."""
        left, _, _ = np.linalg.svd(self._matrix)
        found: Array = left[:, 0] @ self._matrix / OUTWARD
        return found

    def largest_power_sum(self, weights: Weights, power: int) -> Fraction:
        """From above: a norm of the matrix of the w_i a_ki."""
        each = [weights] * self.dimension if isinstance(weights, Fraction) else weights
        unit = max(each)
        if unit == 0:
            return Fraction(0)
        scaled = self._matrix * np.array([float(w / unit) for w in each])
        longest = float(np.linalg.norm(scaled, 2)) * _UP
        if power == 2:
            return Fraction(longest) ** 2 * unit**2
        return Fraction(self._largest_l1(scaled, longest)) * unit

    def _largest_l1(self, scaled: Array, longest: float) -> float:
        """The largest |u A s| over signs s, from above."""
        K = self.dimension
        if K <= _FEW:
            signs = np.array([(1.0, *rest) for rest in product((-1.0, 1.0), repeat=K - 1)])
            return float(np.max(np.linalg.norm(signs @ scaled.T, axis=1))) * _UP
        sides = float(np.sum(np.linalg.norm(scaled, axis=0)))
        return min(longest * math.sqrt(K), sides) * _UP

    def _largest_norm_of(self, ball: Sensitivity) -> Fraction | float:
        """The largest norm of a difference of another set, from above."""
        if ball.dimension != self.dimension:
            return math.inf
        V, error = self._inverse
        points = ball.vertices()
        if points is not None:
            most = float(np.max(np.linalg.norm(points @ V, axis=1)))
        elif isinstance(ball, TiltedEllipsoid):
            most = float(np.linalg.norm(ball._matrix @ V, 2))  # noqa: SLF001  (of this class)
        else:
            sides = float(np.linalg.norm(ball.support(V.T)))
            most = min(ball.l2 * float(np.linalg.norm(V, 2)), sides)
        # Of |x V| the rounding is relative to the sizes of x and V, not to the result.
        rounding = 2.0**-47 * self.dimension * ball.l2 * float(np.linalg.norm(V))
        return Fraction((most * _UP + rounding) * _UP / (1.0 - error))

    def is_exact_for(self, ball: Sensitivity) -> bool:
        """Whether the other set is this one."""
        return ball.body == self.body

    def _norm(self, x: Array) -> Array:
        """The norm of u with x = u A."""
        most, share = largest(x)
        share = np.where(np.isfinite(most)[..., None], share, 1.0)
        return np.asarray(most * np.linalg.norm(share @ self._inverse[0], axis=-1))

    def _support(self, a: Array) -> Array:
        """The norm of A a."""
        most, _ = largest(np.abs(a))
        unit = np.where(most > 0.0, most, 1.0)[..., None]
        return np.asarray(most * np.linalg.norm((a / unit) @ self._matrix.T, axis=-1))

    def _scaled(self, factor: float) -> Self:
        """The ellipsoid with `factor` times the axes."""
        return replace(self, axes=tuple(map(tuple, (factor * self._matrix).tolist())))


def rows_of_matrix(matrix: Any) -> Sequence[Sequence[float]]:  # noqa: ANN401
    """Rows a_k whose ellipsoid holds {d : d' M^-1 d <= 1}, by the factor of Cholesky.

    L L' is M but for (K + 1) 2^-53 |L||L'|, so that a factor outwards covers the rounding. A
    ValueError is raised if the matrix is not symmetric and positive definite.
    """
    problems = Problems("ellipsoid of sensitivities")
    values = floats(problems, "matrix", matrix, low=-LARGEST, high=LARGEST)
    if not problems.found:
        good = values.ndim == 2 and values.shape[0] == values.shape[1] <= MOST_AXES
        expected = f"(K, K) with K up to {MOST_AXES}"
        problems.require(good and values.size > 0, "shape of matrix", expected, values.shape)
    problems.raise_if_any()
    problems.require(np.array_equal(values, values.T), "matrix", "a symmetric one", "another")
    ends = np.linalg.eigvalsh(0.5 * (values + values.T))[[0, -1]]
    ratio = float(ends[0] / ends[1]) if ends[1] > 0.0 else 0.0
    expected = f"positive definite, its eigenvalues within a factor of {1.0 / _WORST:g}"
    problems.require(ratio >= _WORST, "matrix", expected, f"a ratio of {ratio:.3g}")
    problems.raise_if_any()
    K = values.shape[0]
    outward = 1.0 + 4.0 * K * (K + 2) * 2.0**-53 / ratio
    found: list[list[float]] = (np.linalg.cholesky(values).T * outward).tolist()
    return found
