"""The transform M(s) = E exp(s L) of a sum of independent privacy losses, with error bounds.

The transform of one coordinate is a sum of integrals over stretches of noise values and of atoms.
Everything is divided by exp(peak), the largest integrand on the real axis, so that nothing
overflows at any s. docs/vector-privacy.md has the proofs of the bounds.

**Integrals.** Over a stretch (see `inversion.loss`) the integrand is the exponential of a quadratic
f(y) = f_0 + f_1 y + f_2 y^2 / 2 with f_j = s zeta_j - psi_j. With r^2 = -f_2 / 2, Re r >= 0, and
z(y) = -f'(y) / (2 r),

    int_y^y' e^f = sqrt(pi) / (2 r) [e^f(y) erfcx(z(y)) - e^f(y') erfcx(z(y'))],

where erfcx(z) = 2 e^(z^2) - erfcx(-z) keeps its argument in the right half plane, on which it
is bounded by 1. Stretches too short for this difference are integrated by Gauss-Legendre
quadrature, and those without a quadratic term by the elementary formula.

**Bounds that fall along a vertical line** s = c + i u. There the integral over a stretch is two end
terms and, where the argument of erfcx changes half planes along the stretch, a vertex term. Each is
at most an explicit function that falls with |u|:

    end:     e^(Re f) min(sqrt(pi) / (2 |r|), 1.33 / |f'|),  |r| and |f'| rise with |u|;
    vertex:  sqrt(pi) / |r| times |e^f| at the vertex, which the largest integrand bounds,

and the mass of the stretch bounds it too. The proof says in particular why a vertex term, once
gone, stays away.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from dpnoise._types import Array, BoolArray, ComplexArray, IntArray
    from dpnoise.privacy.inversion.loss import CoordinateLoss

    Kinds = list[tuple[Callable[..., tuple[ComplexArray, Array]], "_Rows"]]

# Relative errors of one closed form: of the special function, and per unit of the magnitude
# of the exponent. The second includes the 15 digits by which copies are recognised.
_FUNCTION_ERROR = 2e-13
EXPONENT_ERROR = 5e-14
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_NODES, _WEIGHTS = 0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS
USABLE = 1e-3  # the relative error up to which values at real s are used
_CALL = 500  # evaluations that take as long as what a call takes besides
# |erfcx(z)| <= 1.33 / (sqrt(pi) |z|) on the right half plane.
REACH = 1.33
_MARGIN = 1.0 + 1e-9  # over the rounding of the bound itself


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
    """Integrals over stretches, rows like `loss.NoiseStretch`, and bounds on their errors.

    Both have shape (stretches, points); Re s zeta - psi must have no great positive values.
    """
    return integrate_kinds(sort_kinds(table), np.zeros((len(table), 1)), s)


def integrate_kinds(
    kinds: Kinds,
    peak: Array,
    s: ComplexArray,
) -> tuple[ComplexArray, Array]:
    """Integrals of sorted stretches over exp(peak), shape (stretches, 1), and error bounds.

    `s` are points for all stretches, shape (points,), or for each, shape (stretches, points).
    """
    values = np.empty((len(peak), s.shape[-1]), dtype=complex)
    errors = np.empty(values.shape)
    for kind, rows in kinds:
        found = kind(rows, s, peak[rows.rows])
        values[rows.rows], errors[rows.rows] = found
    return values, errors


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
        out = np.full((len(self.losses), c.shape[-1]), -math.inf)
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
        shape = (len(self.losses), s.shape[-1])
        self.evaluations += _CALL + s.shape[-1] * (len(self.table) + len(self.atoms))
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


class Line:
    """A transform on the vertical line through c, relative to its value at c.

    `peak` holds the logarithms by which all values are scaled, `norm` M(c) exp(-peak) of each group
    and `atoms` the share of the atoms in M(c), each of shape (groups, 1). `log_transform` is log
    M(c) of the sum of all losses, and `norm_error` bounds the relative error of its exponential.
    """

    def __init__(self, transform: LossTransform, c: float) -> None:
        self.transform, self.c = transform, c
        points = np.array([c])
        self.peak = transform.peaks(points)
        values = transform.values(points.astype(complex), self.peak)
        self.norm = (values.atoms + values.continuous).real
        self.atoms = values.atoms.real / self.norm
        self.log_groups = (self.peak + np.log(self.norm))[:, 0]
        self._errors = (values.error / self.norm)[:, 0]
        self._prepare(values.stretches.real, points)

    @property
    def _gaussian(self) -> float:
        return 0.5 * self.transform.gaussian * self.c * (self.c + 1.0)

    @property
    def log_transform(self) -> float:
        """Log M(c) of the sum of all losses."""
        return float(self.transform.copies @ self.log_groups + self._gaussian)

    @property
    def norm_error(self) -> float:
        """A bound on the relative error of its exponential."""
        copies = self.transform.copies
        size = float(copies @ np.abs(self.log_groups) + self._gaussian)
        return float(copies @ self._errors) + size * 32.0 * np.finfo(float).eps

    def values(self, u: Array) -> Values:
        """The transform at c + i u, divided by exp(peak)."""
        return self.transform.values(np.asarray(self.c + 1j * u, dtype=complex), self.peak)

    def affordable(self, step: float, most: int) -> int:  # noqa: ARG002
        """Number of points of a step, each of which takes the same time: `most`."""
        return most

    def _prepare(self, masses: Array, c: Array) -> None:
        transform = self.transform
        owner, table = transform.owner, transform.table
        self._scale = 1.0 / self.norm[owner]
        self._mass = masses * self._scale
        length, psi, zeta = table[:, :1], table[:, 1:4], table[:, 4:7]
        # Real parts of f_0, f_1, f_2.
        f0, f1, f2 = (c * zeta[:, j : j + 1] - psi[:, j : j + 1] for j in range(3))
        f0 = f0 - self.peak[owner]
        self._endless = np.isinf(length)
        y = np.where(self._endless, 0.0, length)
        self._slope = f1, np.where(self._endless, -math.inf, f1 + y * f2)
        self._rate = zeta[:, 1:2], zeta[:, 1:2] + y * zeta[:, 2:3]
        self._bend, self._twist = f2, zeta[:, 2:3]
        self._curved = (psi[:, 2:3] != 0.0) | (zeta[:, 2:3] != 0.0)
        near = np.exp(f0)
        far = np.where(self._endless, 0.0, np.exp(f0 + y * (f1 + 0.5 * y * f2)))
        self._ends = near, far
        vertex = np.divide(-f1, f2, out=np.zeros_like(f1), where=f2 < 0.0)
        inside = (vertex > 0.0) & (vertex < length)
        top = np.exp(f0 + 0.5 * np.where(inside, vertex, 0.0) * f1)
        self._top = np.maximum(np.maximum(near, far), top)
        self._straddles = (f1 > 0.0) & (self._slope[1] < 0.0)

    def envelope(self, u: Array) -> Array:
        """Bounds on the continuous parts at all |Im s| >= u > 0, relative to M(c).

        Their shape is (groups, points); they are at most one minus the share of the atoms.
        """
        if not self.transform.owner.size:
            return np.zeros((len(self.norm), u.shape[-1]))
        bend = np.hypot(self._bend, u * self._twist)
        width = np.full(bend.shape, math.sqrt(math.pi / 2.0))  # sqrt(pi) / (2 |r|)
        width = np.divide(width, np.sqrt(bend), out=np.zeros_like(bend), where=bend > 0.0)
        reach = np.where(self._curved, REACH, 1.0)
        total = np.zeros(bend.shape)
        for end, slope, rate in zip(self._ends, self._slope, self._rate, strict=True):
            with np.errstate(divide="ignore"):  # a stationary end has its width
                fall = reach / np.hypot(slope, u * rate)
            total += end * np.where(self._curved, np.minimum(width, fall), fall)
        total += self._vertex(u, bend, width)
        rows = np.minimum(total * self._scale * _MARGIN, self._mass)
        groups = np.zeros((len(self.norm), u.shape[-1]))
        self.transform.gather(rows, groups)
        return np.minimum(groups, 1.0 - self.atoms)

    def _vertex(self, u: Array, bend: Array, width: Array) -> Array:
        """Bounds on the vertex terms."""
        # Without a twist: |e^f| at the vertex is known and falls like a Gaussian.
        flat = self._curved & (self._twist == 0.0)
        psi_2 = np.where(flat, -self._bend, 1.0)
        fall = np.exp(-0.5 * (u * self._rate[0]) ** 2 / psi_2)
        straight = np.where(flat & self._straddles, 2.0 * width * self._top * fall, 0.0)
        # With a twist: the sign of Re z at either end, in the direction in which it persists.
        twisted = self._twist != 0.0
        sign = np.sign(self._twist)
        rates = [sign * rate for rate in self._rate]
        lift = (bend + self._bend) / np.where(twisted, np.abs(self._twist), 1.0)
        near, far = (r * lift - q for r, q in zip(rates, self._slope, strict=True))
        gone = (rates[0] >= 0.0) & (rates[1] >= 0.0) & (near > 0.0) & (far > 0.0)
        gone |= (rates[0] <= 0.0) & (rates[1] <= 0.0) & (near < 0.0) & (far < 0.0)
        return straight + np.where(twisted & ~gone, 2.0 * width * self._top, 0.0)
