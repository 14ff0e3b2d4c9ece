"""Integrals of the exponential of a quadratic over stretches of noise values, with error bounds.

Over a stretch (see `inversion.loss`) the integrand of the transform is the exponential of a
quadratic f(y) = f_0 + f_1 y + f_2 y^2 / 2 with f_j = s zeta_j - psi_j. With r^2 = -f_2 / 2,
Re r >= 0, and z(y) = -f'(y) / (2 r),

    int_y^y' e^f = sqrt(pi) / (2 r) [e^f(y) erfcx(z(y)) - e^f(y') erfcx(z(y'))],

where erfcx(z) = 2 e^(z^2) - erfcx(-z) keeps its argument in the right half plane, on which it
is bounded by 1. Stretches too short for this difference are integrated by Gauss-Legendre
quadrature, and those without a quadratic term by the elementary formula.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dpnoise._types import Array, BoolArray, ComplexArray, IntArray

    Kinds = list[tuple[Callable[..., tuple[ComplexArray, Array]], "_Rows"]]

# Relative errors of one closed form: of the special function, and per unit of the magnitude
# of the exponent. The second includes the 15 digits by which copies are recognised.
_FUNCTION_ERROR = 2e-13
EXPONENT_ERROR = 5e-14
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_NODES, _WEIGHTS = 0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS


class _Rows(NamedTuple):
    """The stretches of one kind, as columns."""

    rows: IntArray
    length: Array
    psi: tuple[Array, Array, Array]
    zeta: tuple[Array, Array, Array]

    @classmethod
    def of(cls, table: Array, chosen: BoolArray) -> _Rows:
        index = np.flatnonzero(chosen)
        length, *columns = (column[:, None] for column in table[index].T)
        psi_0, psi_1, psi_2, zeta_0, zeta_1, zeta_2 = columns
        return cls(index, length, (psi_0, psi_1, psi_2), (zeta_0, zeta_1, zeta_2))

    def exponent(self, s: ComplexArray) -> tuple[ComplexArray, ComplexArray, ComplexArray]:
        f0, f1, f2 = (s * z - p for z, p in zip(self.zeta, self.psi, strict=True))
        return f0, f1, f2

    def magnitude(self, s: ComplexArray, peak: Array) -> Array:
        """The size of the terms that make up f_0 - peak."""
        return np.abs(s) * np.abs(self.zeta[0]) + (np.abs(self.psi[0]) + np.abs(peak))


def _linear(rows: _Rows, s: ComplexArray, peak: Array) -> tuple[ComplexArray, Array]:
    """Integrals of exp(f_0 + f_1 y - peak) over each stretch."""
    f0, f1, _ = rows.exponent(s)
    endless = np.isinf(rows.length[:, 0])
    length = np.where(endless[:, None], 1.0, rows.length)
    x = f1 * length
    # From the end with the greater integrand.
    rising = x.real > 0.0
    end = f0 + np.where(rising, x, 0.0) - peak
    w = np.where(rising, -x, x)
    w[w == 0.0] = 1e-300
    ratio = np.expm1(w) / w
    ratio[endless] = -1.0 / w[endless]
    value = np.asarray(length * np.exp(end) * ratio, dtype=complex)
    scale = rows.magnitude(s, peak) + np.where(rising, np.abs(x), 0.0)
    error: Array = np.abs(value) * (EXPONENT_ERROR * (1.0 + scale))
    return value, error


def _bounded(z: ComplexArray) -> tuple[ComplexArray, Array]:
    """Sign erfcx(sign z) and the sign, that of Re z."""
    sign = np.copysign(1.0, z.real)
    return sign * special.erfcx(sign * z), sign


def _add_vertex(
    integral: tuple[ComplexArray, Array], terms: tuple[NDArray, ...], turns: Array
) -> None:
    """Addition of the term 2 e^f at the vertex, where erfcx changes its form between the ends.

    `turns` is 1 where the argument of erfcx goes from the left to the right half plane, -1
    the other way and 0 where it stays; `terms` are factor, f_0, z and the scale of f_0.
    """
    if not turns.any():
        return
    where = np.nonzero(turns)
    factor, f0, z, scale = (term[where] for term in terms)
    square = z * z
    vertex = 2.0 * turns[where] * factor * np.exp(f0 + square)
    value, error = integral
    value[where] += vertex
    error[where] += np.abs(vertex) * (_FUNCTION_ERROR + EXPONENT_ERROR * (scale + np.abs(square)))


def _tail(rows: _Rows, s: ComplexArray, peak: Array) -> tuple[ComplexArray, Array]:
    """Integrals of exp(f_0 + f_1 y + f_2 y^2 / 2 - peak) over endless stretches, real f_2."""
    f0, f1, _ = rows.exponent(s)
    f0 -= peak
    root = np.sqrt(0.5 * rows.psi[2])
    factor = (0.5 * math.sqrt(math.pi)) / root
    scale = rows.magnitude(s, peak)
    z = f1 * (-0.5 / root)
    near, sign = _bounded(z)
    value = factor * np.exp(f0) * near
    error = np.abs(value) * (_FUNCTION_ERROR + EXPONENT_ERROR * scale)
    factor = np.broadcast_to(factor, z.shape)
    _add_vertex((value, error), (factor, f0, z, scale), 0.5 * (1.0 - sign))
    return value, error


def _curved(rows: _Rows, s: ComplexArray, peak: Array) -> tuple[ComplexArray, Array]:
    """Integrals of exp(f_0 + f_1 y + f_2 y^2 / 2 - peak) over each finite stretch."""
    f0, f1, f2 = rows.exponent(s)
    f0 -= peak
    length, square = rows.length, rows.length**2
    # A quadratic term far below rounding is replaced by one with a root.
    bend = np.abs(f2) * square
    f2 = np.where(bend < 1e-20, -1e-20 / square, f2)
    root = np.sqrt(-0.5 * f2)
    factor = (0.5 * math.sqrt(math.pi)) / root
    scale = rows.magnitude(s, peak)
    extent = np.abs(f1) * length + 0.5 * bend

    z = -0.5 * f1 / root
    near, sign = _bounded(z)
    near *= factor * np.exp(f0)
    far, sign_far = _bounded(z + root * length)
    far *= factor * np.exp(f0 + length * (f1 + 0.5 * length * f2))
    value = near - far
    near_size, far_size = np.abs(near), np.abs(far)
    error = EXPONENT_ERROR * (near_size * scale + far_size * (scale + extent))
    error += _FUNCTION_ERROR * (near_size + far_size)
    _add_vertex((value, error), (factor, f0, z, scale), 0.5 * (sign_far - sign))

    short = np.nonzero(extent + 0.5 * bend <= 1.0)
    if short[0].size:
        g0, g1, g2 = (part[short][:, None] for part in (f0, f1, f2))
        y = length[short[0]] * _NODES
        sums = np.exp(g0 + y * (g1 + 0.5 * y * g2)) @ _WEIGHTS
        value[short] = length[short[0], 0] * sums
        error[short] = np.abs(value[short]) * (EXPONENT_ERROR * (2.0 + scale[short]))
    return value, error


def sort_kinds(table: Array) -> Kinds:
    """The rows of a table, shape (stretches, 7), by the functions that integrate them."""
    bent = (table[:, 3] != 0.0) | (table[:, 6] != 0.0)
    endless = np.isinf(table[:, 0])
    kinds = ((_linear, ~bent), (_tail, bent & endless), (_curved, bent & ~endless))
    return [(kind, _Rows.of(table, chosen)) for kind, chosen in kinds if chosen.any()]


def integrate(table: Array, s: ComplexArray) -> tuple[ComplexArray, Array]:
    """Integrals over stretches, rows like `inversion.loss.Stretch`, and bounds on their errors.

    Both have shape (stretches, points); Re s zeta - psi must have no great positive values.
    """
    return integrate_kinds(sort_kinds(table), np.zeros((len(table), 1)), s)


def integrate_kinds(
    kinds: Kinds,
    peak: Array,
    s: ComplexArray,
) -> tuple[ComplexArray, Array]:
    """Integrals of sorted stretches over exp(peak), shape (stretches, 1), and error bounds."""
    values = np.empty((len(peak), len(s)), dtype=complex)
    errors = np.empty(values.shape)
    for kind, rows in kinds:
        values[rows.rows], errors[rows.rows] = kind(rows, s, peak[rows.rows])
    return values, errors
