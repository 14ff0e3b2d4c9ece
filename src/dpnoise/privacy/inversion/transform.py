"""The transform M(s) = E exp(s L) of a sum of independent privacy losses, with error bounds.

Over a stretch of noise values (see `inversion.loss`) the integrand is the exponential of a
quadratic f(y) = f_0 + f_1 y + f_2 y^2 / 2 with f_j = s zeta_j - psi_j. With r^2 = -f_2 / 2,
Re r >= 0, and z(y) = -f'(y) / (2 r),

    int_y^y' e^f = sqrt(pi) / (2 r) [e^f(y) erfcx(z(y)) - e^f(y') erfcx(z(y'))],

where erfcx(z) = 2 e^(z^2) - erfcx(-z) keeps its argument in the right half plane, on which it
is bounded by 1. Stretches too short for this difference are integrated by Gauss-Legendre
quadrature, and those without a quadratic term by the elementary formula.

Everything is divided by exp(peak), the largest integrand on the real axis, so that nothing
overflows at any s. docs/vector-privacy.md has the proofs of the bounds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise.privacy.inversion.loss import CoordinateLoss

    ComplexArray = NDArray[np.complex128]

# Relative errors of one closed form: of the special function, and per unit of the magnitude
# of the exponent. The second includes the 15 digits by which copies are recognised.
_FUNCTION_ERROR = 2e-13
_EXPONENT_ERROR = 5e-14
USABLE = 1e-3  # the relative error up to which values at real s are used
# |erfcx(z)| <= 1.33 / (sqrt(pi) |z|) on the right half plane.
REACH = 1.33
_CALL = 500  # evaluations that take as long as what a call takes besides
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_NODES, _WEIGHTS = 0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS


class _Rows(NamedTuple):
    """The stretches of one kind, as columns."""

    index: NDArray[np.intp]
    length: Array
    psi: tuple[Array, Array, Array]
    zeta: tuple[Array, Array, Array]

    @classmethod
    def of(cls, table: Array, chosen: NDArray[np.bool_]) -> _Rows:
        index = np.flatnonzero(chosen)
        columns = [column[:, None] for column in table[index].T]
        return cls(index, columns[0], tuple(columns[1:4]), tuple(columns[4:7]))

    def exponent(self, s: ComplexArray) -> tuple[ComplexArray, ComplexArray, ComplexArray]:
        return tuple(s * z - p for z, p in zip(self.zeta, self.psi, strict=True))

    def magnitude(self, s: ComplexArray, peak: Array) -> Array:
        """Return the size of the terms that make up f_0 - peak."""
        return np.abs(s) * np.abs(self.zeta[0]) + (np.abs(self.psi[0]) + np.abs(peak))


def _linear(rows: _Rows, s: ComplexArray, peak: Array) -> tuple[ComplexArray, Array]:
    """Integrate exp(f_0 + f_1 y - peak) over each stretch."""
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
    value = length * np.exp(end) * ratio
    scale = rows.magnitude(s, peak) + np.where(rising, np.abs(x), 0.0)
    return value, np.abs(value) * (_EXPONENT_ERROR * (1.0 + scale))


def _bounded(z: ComplexArray) -> tuple[ComplexArray, Array]:
    """Return sign erfcx(sign z) and the sign, that of Re z."""
    sign = np.copysign(1.0, z.real)
    return sign * special.erfcx(sign * z), sign


def _add_vertex(
    integral: tuple[ComplexArray, Array], terms: tuple[NDArray, ...], turns: Array
) -> None:
    """Add the term 2 e^f at the vertex, where erfcx changes its form between the ends.

    `turns` is 1 where the argument of erfcx goes from the left to the right half plane, -1
    the other way and 0 where it stays; `terms` are factor, f_0, z and the scale of f_0.
    """
    where = np.nonzero(turns)
    if not where[0].size:
        return
    factor, f0, z, scale = (np.broadcast_to(term, turns.shape)[where] for term in terms)
    square = z * z
    vertex = 2.0 * turns[where] * factor * np.exp(f0 + square)
    value, error = integral
    value[where] += vertex
    error[where] += np.abs(vertex) * (_FUNCTION_ERROR + _EXPONENT_ERROR * (scale + np.abs(square)))


def _tail(rows: _Rows, s: ComplexArray, peak: Array) -> tuple[ComplexArray, Array]:
    """Integrate exp(f_0 + f_1 y + f_2 y^2 / 2 - peak) over endless stretches, with real f_2."""
    f0, f1, _ = rows.exponent(s)
    f0 -= peak
    root = np.sqrt(0.5 * rows.psi[2])
    factor = (0.5 * math.sqrt(math.pi)) / root
    scale = rows.magnitude(s, peak)
    z = f1 * (-0.5 / root)
    near, sign = _bounded(z)
    value = factor * np.exp(f0) * near
    error = np.abs(value) * (_FUNCTION_ERROR + _EXPONENT_ERROR * scale)
    _add_vertex((value, error), (factor, f0, z, scale), 0.5 * (1.0 - sign))
    return value, error


def _curved(rows: _Rows, s: ComplexArray, peak: Array) -> tuple[ComplexArray, Array]:
    """Integrate exp(f_0 + f_1 y + f_2 y^2 / 2 - peak) over each finite stretch."""
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
    error = _EXPONENT_ERROR * (near_size * scale + far_size * (scale + extent))
    error += _FUNCTION_ERROR * (near_size + far_size)
    _add_vertex((value, error), (factor, f0, z, scale), 0.5 * (sign_far - sign))

    short = np.nonzero(extent + 0.5 * bend <= 1.0)
    if short[0].size:
        g0, g1, g2 = (part[short][:, None] for part in (f0, f1, f2))
        y = length[short[0]] * _NODES
        sums = np.exp(g0 + y * (g1 + 0.5 * y * g2)) @ _WEIGHTS
        value[short] = length[short[0], 0] * sums
        error[short] = np.abs(value[short]) * (_EXPONENT_ERROR * (2.0 + scale[short]))
    return value, error


def _kinds(table: Array) -> list[tuple[Callable[..., tuple[ComplexArray, Array]], _Rows]]:
    """Return the rows of a table of stretches, sorted by how they are integrated."""
    bent = (table[:, 3] != 0.0) | (table[:, 6] != 0.0)
    endless = np.isinf(table[:, 0])
    kinds = ((_linear, ~bent), (_tail, bent & endless), (_curved, bent & ~endless))
    return [(kind, _Rows.of(table, chosen)) for kind, chosen in kinds if chosen.any()]


def integrate(table: Array, s: ComplexArray) -> tuple[ComplexArray, Array]:
    """Return the integrals over stretches at all s, and bounds on their errors.

    Parameters
    ----------
    table : numpy.ndarray, shape (stretches, 7)
        Rows like `dpnoise.privacy.inversion.loss.Stretch`.
    s : numpy.ndarray, shape (points,)
        Where Re s zeta - psi has no great positive values.

    Returns
    -------
    numpy.ndarray, numpy.ndarray
        Of shape (stretches, points).
    """
    return _integrate(_kinds(table), np.zeros((len(table), 1)), s)


def _integrate(
    kinds: list[tuple[Callable[..., tuple[ComplexArray, Array]], _Rows]],
    peak: Array,
    s: ComplexArray,
) -> tuple[ComplexArray, Array]:
    values = np.empty((len(peak), len(s)), dtype=complex)
    errors = np.empty(values.shape)
    for kind, rows in kinds:
        values[rows.index], errors[rows.index] = kind(rows, s, peak[rows.index])
    return values, errors


class _Owners:
    """Which group each row of a table belongs to, with the groups in order."""

    def __init__(self, owner: NDArray[np.intp]) -> None:
        self.start = np.flatnonzero(np.diff(owner, prepend=-1))
        self.groups = owner[self.start]

    def reduce(self, rows: NDArray, ufunc: np.ufunc, out: NDArray) -> None:
        """Reduce the rows of each group into that group's row of `out`."""
        if len(self.groups) == 1:
            g = self.groups[0]
            out[g] = ufunc(out[g], ufunc.reduce(rows, axis=0))
        elif len(self.groups):
            out[self.groups] = ufunc(out[self.groups], ufunc.reduceat(rows, self.start, axis=0))


class Values(NamedTuple):
    """Transforms of the groups, divided by exp(peak).

    Attributes
    ----------
    atoms, continuous, error : numpy.ndarray, shape (groups, points)
        The two parts and a bound on the error of their sum.
    stretches : numpy.ndarray, shape (stretches, points)
        The continuous part by stretches.
    """

    atoms: ComplexArray
    continuous: ComplexArray
    error: Array
    stretches: ComplexArray


class LossTransform:
    """The transform of the losses of several groups of identical coordinates.

    Parameters
    ----------
    losses : sequence of CoordinateLoss
        One for each group, without Gaussian ones.
    copies : sequence of int
        How many coordinates each group has.
    gaussian : float
        The sum of mu^2 over all Gaussian coordinates.

    Attributes
    ----------
    evaluations : int
        How many integrals over stretches and atoms were asked for so far, and so many more for
        each call; for estimates of time.
    """

    def __init__(
        self, losses: Sequence[CoordinateLoss], copies: Sequence[int], gaussian: float
    ) -> None:
        self.losses = tuple(losses)
        self.copies = np.asarray(copies, dtype=float)
        self.gaussian = gaussian
        self.evaluations = 0
        table = np.array([cut for loss in losses for cut in loss.stretches]).reshape(-1, 7)
        self.owner = np.repeat(np.arange(len(losses)), [len(loss.stretches) for loss in losses])
        self.table = table
        self._kinds = _kinds(table)
        self.atoms = np.array(
            [(g, *atom) for g, loss in enumerate(losses) for atom in loss.atoms]
        ).reshape(-1, 3)
        self._atom_owner = self.atoms[:, 0].astype(int)
        self._owners, self._atom_owners = _Owners(self.owner), _Owners(self._atom_owner)
        finite = [1.0 - loss.infinite for loss in losses]
        whole = any(mass <= 0.0 for mass in finite)
        log_finite = (
            self.copies @ np.log1p([-loss.infinite for loss in losses]) if not whole else -math.inf
        )
        self.infinite = -math.expm1(log_finite)
        self.greatest = float(
            sum(n * loss.greatest for n, loss in zip(copies, losses, strict=True))
        )
        if gaussian > 0.0:
            self.greatest = math.inf

    def gather(self, rows: NDArray, out: NDArray) -> None:
        """Add what belongs to stretches, shape (stretches, points), to their groups."""
        self._owners.reduce(rows, np.add, out)

    def peaks(self, c: Array) -> Array:
        """Return the logarithm of each group's largest integrand, shape (groups, points)."""
        shape = (len(self.losses), len(c))
        out = np.full(shape, -math.inf)
        if self.owner.size:
            length, psi, zeta = self.table[:, :1], self.table[:, 1:4], self.table[:, 4:7]
            f0, f1, f2 = (zeta[:, j : j + 1] * c - psi[:, j : j + 1] for j in range(3))
            with np.errstate(divide="ignore", invalid="ignore"):
                vertex = np.where(f2 < 0.0, -f1 / f2, 0.0)
            y = np.where(np.isinf(length), 0.0, length)
            inside = (vertex > 0.0) & (vertex < length)
            top = np.maximum(f0, f0 + y * (f1 + 0.5 * y * f2))
            v = np.where(inside, vertex, 0.0)
            top = np.maximum(top, f0 + v * (f1 + 0.5 * v * f2))
            self._owners.reduce(top, np.maximum, out)
        if self.atoms.size:
            top = c * self.atoms[:, 1:2] + self.atoms[:, 2:3]
            self._atom_owners.reduce(top, np.maximum, out)
        return out

    def values(self, s: ComplexArray, peak: Array) -> Values:
        """Evaluate all transforms at the points s, divided by exp(peak)."""
        shape = (len(self.losses), len(s))
        self.evaluations += _CALL + len(s) * (len(self.table) + len(self.atoms))
        continuous, atoms = np.zeros((2, *shape), dtype=complex)
        error = np.zeros(shape)
        rows, errors = _integrate(self._kinds, peak[self.owner], s)
        if self.owner.size:
            self._owners.reduce(rows, np.add, continuous)
            self._owners.reduce(errors, np.add, error)
        if self.atoms.size:
            value, log_mass = self.atoms[:, 1:2], self.atoms[:, 2:3]
            top = peak[self._atom_owner]
            terms = np.exp(s * value + (log_mass - top))
            self._atom_owners.reduce(terms, np.add, atoms)
            size = np.abs(s) * np.abs(value) + (np.abs(log_mass) + np.abs(top) + 1.0)
            errors = np.abs(terms) * (_EXPONENT_ERROR * size)
            self._atom_owners.reduce(errors, np.add, error)
        return Values(atoms, continuous, error, rows)

    def log_real(self, c: Array) -> Array:
        """Return log M at real arguments, and infinity where rounding hides it.

        The mass of infinite loss does not count.
        """
        peak = self.peaks(c)
        # So far out that exponents lose all digits, results may overflow; they are not used.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            values = self.values(c.astype(complex), peak)
            sums = (values.atoms + values.continuous).real
            good = self.copies @ (values.error / sums) < USABLE
            log_m = self.copies @ (peak + np.log(sums))
        log_m = np.where(good & (sums > 0.0).all(axis=0), log_m, math.inf)
        return log_m + 0.5 * self.gaussian * c * (c + 1.0)
