"""The transform M(s) = E exp(s L) of a sum of independent privacy losses, with error bounds.

The transform of one coordinate is a sum of integrals over stretches of noise values
(`inversion.stretches`) and of atoms. Everything is divided by exp(peak), the largest integrand on
the real axis, so that nothing overflows at any s. docs/vector-privacy.md has the proofs of the
bounds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.privacy.inversion.envelope import Line
from dpnoise.privacy.inversion.stretches import EXPONENT_ERROR, integrate_kinds, sort_kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array, ComplexArray
    from dpnoise.privacy.inversion.loss import CoordinateLoss

USABLE = 1e-3  # the relative error up to which values at real s are used
_CALL = 500  # evaluations that take as long as what a call takes besides


class _Owners:
    """Groups of the rows of a table, in order."""

    def __init__(self, owner: NDArray[np.intp]) -> None:
        self.start = np.flatnonzero(np.diff(owner, prepend=-1))
        self.groups = owner[self.start]

    def reduce(self, rows: NDArray, ufunc: np.ufunc, out: NDArray) -> None:
        """Reduction of the rows of each group into that group's row of `out`."""
        if len(self.groups) == 1:
            g = self.groups[0]
            out[g] = ufunc(out[g], ufunc.reduce(rows, axis=0))
        elif len(self.groups):
            out[self.groups] = ufunc(out[self.groups], ufunc.reduceat(rows, self.start, axis=0))


class Values(NamedTuple):
    """Transforms of the groups, divided by exp(peak), of shape (groups, points).

    `error` bounds that of atoms + continuous; `stretches` is the continuous part by stretches.
    """

    atoms: ComplexArray
    continuous: ComplexArray
    error: Array
    stretches: ComplexArray


class LossTransform:
    """The transform of the losses of several groups of identical coordinates.

    Each group has a loss, none of them Gaussian, and its number of copies; `gaussian` is the sum of
    mu^2 over all Gaussian coordinates. `evaluations` counts the integrals over stretches and atoms
    asked for so far, and so many more for each call, for estimates of time.
    """

    orders = 2  # of atoms that may be subtracted

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
        self._kinds = sort_kinds(table)
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
        self.largest = float(sum(n * loss.largest for n, loss in zip(copies, losses, strict=True)))
        if gaussian > 0.0:
            self.largest = math.inf

    @property
    def rows(self) -> int:
        """Integrals that one value takes."""
        return len(self.owner)

    @property
    def continuous(self) -> bool:
        """Whether the sum has a part without atoms."""
        return bool(self.owner.size) or self.gaussian > 0.0

    def line(self, c: float) -> Line:
        """The transform on the vertical line through c."""
        return Line(self, c)

    def gather(self, rows: NDArray, out: NDArray) -> None:
        """Sums of values by stretch, shape (stretches, points), over each group."""
        self._owners.reduce(rows, np.add, out)

    def peaks(self, c: Array) -> Array:
        """The logarithm of each group's largest integrand, shape (groups, points)."""
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
        """Transforms of all groups at the points s, divided by exp(peak)."""
        shape = (len(self.losses), len(s))
        self.evaluations += _CALL + len(s) * (len(self.table) + len(self.atoms))
        continuous, atoms = np.zeros((2, *shape), dtype=complex)
        error = np.zeros(shape)
        rows, errors = integrate_kinds(self._kinds, peak[self.owner], s)
        if self.owner.size:
            self._owners.reduce(rows, np.add, continuous)
            self._owners.reduce(errors, np.add, error)
        if self.atoms.size:
            value, log_mass = self.atoms[:, 1:2], self.atoms[:, 2:3]
            top = peak[self._atom_owner]
            terms = np.exp(s * value + (log_mass - top))
            self._atom_owners.reduce(terms, np.add, atoms)
            size = np.abs(s) * np.abs(value) + (np.abs(log_mass) + np.abs(top) + 1.0)
            errors = np.abs(terms) * (EXPONENT_ERROR * size)
            self._atom_owners.reduce(errors, np.add, error)
        return Values(atoms, continuous, error, rows)

    def log_real(self, c: Array) -> Array:
        """Log M at real arguments, and infinity where rounding hides it.

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
