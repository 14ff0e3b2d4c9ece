"""Noise beside itself shifted: the module of `scalar` for its profile, or bounds for any noise.

A family made of quadratic pieces needs no entry here (`scalar.pieces`), nor does any other
symmetric noise that falls with |t|, for which there are bounds instead of values.

**Bounds from density and tail alone**, without log-concavity and pieces. The half-line t > -d / 2,
on which the privacy loss L(t) = psi(t + d) - psi(t) of a shift by d is positive, is cut
into cells. psi = -log density grows with |t|, so that its values at the ends of a cell bound L on
it by `low` and `high` (for log-concave noise L grows with t, and its values at the ends do). With P
and Q the masses of a cell and of the shifted cell, its part of delta is

    P - e^epsilon Q                    where low > epsilon,
    0                                  where high <= epsilon,
    at most P (1 - e^(epsilon - high)) elsewhere.

Cells of the last kind are divided further. The masses are differences of tails; the bounds allow
for relative errors of 1e-12 in logarithms of density and tail, which the tests of all families
check.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from dpnoise.noise.base import Noise, is_scalar
from dpnoise.noise.exact import as_double, as_double_above
from dpnoise.noise.exponential_power import Subbotin
from dpnoise.noise.integers import (
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    IntegerNoise,
)
from dpnoise.noise.stepwise import Staircase
from dpnoise.privacy.scalar.integers import DiscreteLaplaceShift, IntegerShift, StaircaseShift
from dpnoise.privacy.scalar.pieces import PieceShift
from dpnoise.privacy.scalar.subbotin import SubbotinShift

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array, BoolArray
    from dpnoise._validation import Problems


# Sensitivity over E|T|, and E|T| itself, as far as doubles carry all intermediate values.
_MIN_RATIO, _MAX_RATIO = 1e-100, 1e50
_MIN_SIZE, _MAX_SIZE = 1e-200, 1e200
_MOST_STEPS = 2.0**50  # integers and their halves are exact
_MOST_INTEGER = 2.0**53  # from it on, a double stands for several integers
WHOLE = "integers below 2^53: noise on the integers is for integer-valued queries"
_ERROR = 4e-12  # of a logarithm relative to 1 + its size, with a margin
_LEVELS = np.concatenate(  # -log P(|T| > t) at the ends of cells
    [[0.0], np.geomspace(1e-12, 1e-2, 200), np.linspace(1e-2, 40.0, 6000)[1:],
     np.linspace(40.0, 740.0, 3000)[1:]]
)  # fmt: skip
_ROUNDS, _PARTS, _MOST_CELLS = 6, 16, 4000


class Shift(Protocol):
    """Noise and a shift of it.

    Attributes
    ----------
    largest_loss : float
        The least double that no finite loss exceeds, or infinity.
    smallest_delta : Fraction
        No less than delta at the largest loss, the mass of infinite loss.
    log_error, epsilon_error : float
        A computed log delta is that of an epsilon off by at most the factor epsilon_error, up
        to log_error (below delta = 1e-300, up to log_error times log delta / 700).
    """

    largest_loss: float
    smallest_delta: Fraction
    log_error: float
    epsilon_error: float

    def log_delta_and_slope(self, epsilon: Array) -> tuple[Array, Array]:
        """Log delta, and log of -d delta / d epsilon, at epsilon >= 0."""
        ...


class NoShift:
    """Two equal distributions."""

    largest_loss = log_error = epsilon_error = 0.0
    smallest_delta = Fraction(0)

    def log_delta_and_slope(self, epsilon: Array) -> tuple[Array, Array]:
        """-inf for log delta and for log of its slope."""
        return np.full_like(epsilon, -math.inf), np.full_like(epsilon, -math.inf)


_OWN: dict[type[Noise | IntegerNoise], Callable[..., Shift]] = {
    Staircase: StaircaseShift,
    Subbotin: SubbotinShift,
    DiscreteGaussian: IntegerShift,
    DiscreteLaplace: DiscreteLaplaceShift,
    DiscreteStaircase: lambda noise, shift: StaircaseShift(noise.continuous, shift),
}


def whole_shift(sensitivity: Array) -> BoolArray:
    """Whether noise on the integers is for such sensitivities."""
    return (sensitivity == np.floor(sensitivity)) & (sensitivity < _MOST_INTEGER)


def check_shift(problems: Problems, noise: object, sensitivity: Array) -> None:
    """Check of noise and of non-negative sensitivities that may be too far from its scale."""
    expected = "symmetric noise of one number, or noise on the integers"
    if not is_scalar(noise):
        problems.add(f"noise: expected {expected}, got {noise!r}")
        return
    size = noise.mean_abs()
    if noise.whole:
        size = max(size, 1.0)
        whole = whole_shift(sensitivity)
        got = sensitivity if sensitivity.ndim == 0 else sensitivity[~whole][:3]
        problems.require(bool(whole.all()), "sensitivity", WHOLE, got.tolist())
    problems.number("E|T|", size, low=_MIN_SIZE, high=_MAX_SIZE)
    with np.errstate(over="ignore", invalid="ignore"):  # refused below, or already
        ratio = sensitivity[sensitivity > 0.0] / max(size, _MIN_SIZE)
    good = (ratio >= _MIN_RATIO) & (ratio <= _MAX_RATIO)
    span = f"0 or within [{_MIN_RATIO:g}, {_MAX_RATIO:g}]"
    if noise.step_width < math.inf:
        steps = float(np.max(sensitivity, initial=0.0)) / noise.step_width
        problems.number("sensitivity / step width", steps, low=0.0, high=_MOST_STEPS)
    if ratio.size:
        bad = ratio[~good] if not good.all() else ratio
        problems.require(bool(good.all()), "sensitivity / E|T|", span, float(bad[0]))


@lru_cache(maxsize=256)
def shifted(noise: Noise | IntegerNoise, shift: float) -> Shift:
    """Noise beside itself shifted, for checked arguments."""
    d = Fraction(shift)
    if not d:
        return NoShift()
    if noise.whole:
        return _OWN[type(noise)](noise, d)
    # By a power of 2, which is exact: then all lengths are moderate.
    factor = 2.0 ** -math.frexp(noise.mean_abs())[1]
    noise, d = noise.scaled(factor), d * Fraction(factor)
    if noise.log_concave and noise.pieces() is not None:
        return PieceShift(noise, d)
    return _OWN.get(type(noise), UnimodalShift)(noise, d)


class ShiftedCells(NamedTuple):
    """Cells of noise values, shape (cells,), with bounds on the privacy loss.

    `log_tails`, shape (4, cells), is log P(T > t) at the left and right ends, and at those of the
    shifted cells.
    """

    left: Array
    right: Array
    low: Array
    high: Array
    log_tails: Array

    def masses(self, epsilon: float = 0.0) -> tuple[Array, Array]:
        """P and e^epsilon Q of all cells."""
        start, end, start_shifted, end_shifted = self.log_tails
        return _difference(start, end), _difference(start_shifted + epsilon, end_shifted + epsilon)

    def doubts(self, epsilon: float = 0.0) -> tuple[Array, Array]:
        """Bounds on the errors of P and e^epsilon Q of each cell, and of runs of cells from it."""
        start, _, start_shifted, _ = self.log_tails
        return _doubt(start, 0.0), _doubt(start_shifted, epsilon)

    def chosen(self, which: BoolArray) -> ShiftedCells:
        """The cells that a mask selects."""
        return ShiftedCells(*(part[..., which] for part in self))


def _difference(log_a: Array, log_b: Array) -> Array:
    """exp(log_a) - exp(log_b) for log_a >= log_b, 0 where both are -inf."""
    gap = np.where(log_a > -math.inf, log_b - np.where(log_a > -math.inf, log_a, 0.0), 0.0)
    return np.exp(np.minimum(log_a, 700.0)) * -np.expm1(np.minimum(gap, 0.0))


def _doubt(log_tail: Array, shift: float) -> Array:
    """A bound on the errors of exp(log_tail + shift) and of the same at smaller tails."""
    some = np.where(log_tail > -math.inf, log_tail, 0.0)
    size = np.exp(np.minimum(log_tail + shift, 700.0))
    return 2.0 * _ERROR * size * (2.0 - some)


class UnimodalShift:
    """Noise with a density that falls with |t|, and a positive shift of it.

    The loss is finite where `largest_loss` is; `beyond` is no less than the mass of noise values
    beyond all cells.
    """

    log_error = epsilon_error = 0.0  # what is handed out is an upper bound
    smallest_delta = Fraction(0)

    def __init__(self, noise: Noise, shift: Fraction) -> None:
        self._noise, self._d = noise, as_double(shift)
        loss = noise.largest_loss(shift) if noise.bound == math.inf else math.inf
        self.largest_loss = as_double_above(loss) if loss < math.inf else math.inf
        size = noise._magnitude(_LEVELS)  # noqa: SLF001  (quantiles beyond the smallest double)
        size = np.unique(size[np.isfinite(size)])
        half = 0.5 * self._d
        ends = np.concatenate([[-half], -size, size, size - self._d])
        ends = np.unique(ends[(ends >= -half) & (ends <= size[-1])])
        self.cells = self._measured(ends[:-1], ends[1:])
        self.beyond = float(np.exp(noise.logsf(ends[-1]) * (1.0 - _ERROR)))

    def _measured(self, left: Array, right: Array) -> ShiftedCells:
        """The cells with given ends."""
        noise, d = self._noise, self._d
        log_tails = np.stack([noise.logsf(t) for t in (left, right, left + d, right + d)])
        near, far = (np.stack([-noise.logpdf(t + s) for t in (left, right)]) for s in (0.0, d))
        # Beyond a bound of the support the loss is infinite, also from one such value to another.
        inside = np.isfinite(near)
        near = np.where(inside, near, 0.0)
        if noise.log_concave:
            low, high = far - near
        else:
            low, high = far.min(axis=0) - near.max(axis=0), far.max(axis=0) - near.min(axis=0)
        finite = np.where(np.isfinite(far), far, 0.0)  # an infinite loss has no rounding
        slack = _ERROR * (1.0 + np.abs(near).max(axis=0) + np.abs(finite).max(axis=0))
        low = np.where(inside.all(axis=0), low - slack, 0.0)
        high = np.where(inside.all(axis=0), high + slack, math.inf)
        return ShiftedCells(left, right, low, high, log_tails)

    def _bounds(self, epsilon: float) -> tuple[float, float, float]:
        """Lower and upper bounds on delta, and about -d delta / d epsilon."""
        if epsilon >= self.largest_loss:
            return 0.0, 0.0, 0.0
        cells, lower, upper, slope = self.cells, 0.0, self.beyond, 0.0
        # ends: cells left undecided count in full in the upper bound
        for k in range(_ROUNDS):
            above = cells.low > epsilon
            mass, shifted = cells.chosen(above).masses(epsilon)
            gain = float(np.sum(mass - shifted))
            # Tails cancel but at the ends of each run of cells.
            first = above.copy()
            first[1:] &= ~(above[:-1] & (cells.left[1:] == cells.right[:-1]))
            error = float(np.sum(cells.chosen(first).doubts(epsilon)))
            lower, upper = lower + gain - error, upper + gain + error
            slope += float(np.sum(shifted))
            cells = cells.chosen(~above & (cells.high > epsilon))
            if not cells.left.size or cells.left.size > _MOST_CELLS or k == _ROUNDS - 1:
                break
            share = np.linspace(0.0, 1.0, _PARTS + 1)
            ends = cells.left[:, None] + (cells.right - cells.left)[:, None] * share
            ends[:, -1] = cells.right
            cells = self._measured(ends[:, :-1].ravel(), ends[:, 1:].ravel())
        mass, shifted = cells.masses(epsilon)
        share = -np.expm1(np.minimum(epsilon - cells.high, 0.0))
        upper += float(np.sum((mass + cells.doubts()[0]) * share))
        return max(lower, 0.0), min(max(upper, 0.0), 1.0), slope + float(np.sum(shifted))

    def log_bounds(self, epsilon: Array) -> tuple[Array, Array]:
        """Lower and upper bounds on log delta at epsilon >= 0, shape (n,); -inf for 0."""
        found = np.array([self._bounds(float(e))[:2] for e in epsilon]).reshape(-1, 2).T
        with np.errstate(divide="ignore"):  # 0
            low, high = np.log(found)
        return low, high

    def log_delta_and_slope(self, epsilon: Array) -> tuple[Array, Array]:
        """The upper bound on log delta, and about log of -d delta / d epsilon, at epsilon >= 0."""
        found = np.array([self._bounds(float(e))[1:] for e in epsilon]).reshape(-1, 2).T
        with np.errstate(divide="ignore"):  # 0
            log_delta, log_slope = np.log(found)
        return log_delta, log_slope

    def loss_tails(self, x: Array) -> tuple[Array, Array]:
        """Lower and upper bounds on P(L > x), shape (n,), from those on the loss of all cells.

        x has any sign: P(L <= -x) = Q(L >= x), by symmetry.
        """
        at = np.abs(x)
        sums = []
        for loss, sign in ((self.cells.low, -1.0), (self.cells.high, 1.0)):
            order = np.argsort(loss)
            first = np.searchsorted(loss[order], at, side="right")
            for mass, doubt in zip(self.cells.masses(), self.cells.doubts(), strict=True):
                part = (mass + sign * doubt)[order][::-1]
                sums.append(np.append(np.cumsum(part)[::-1], 0.0)[first])
        low, low_shifted, high, high_shifted = sums
        high, high_shifted = high + self.beyond, high_shifted + self.beyond
        return (
            np.clip(np.where(x >= 0.0, low, 1.0 - high_shifted), 0.0, 1.0),
            np.clip(np.where(x >= 0.0, high, 1.0 - low_shifted), 0.0, 1.0),
        )
