"""Noise beside itself shifted: the formulas for its profile, or bounds for any noise.

A family made of quadratic pieces needs no entry here (`privacy.pieces`), nor does any other
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

**The privacy profile of Subbotin noise, by quadrature of positive terms.**
With psi = |t|^p / p in units of the scale the privacy loss L(t) = psi(t + d) - psi(t) grows with
t. With t1 the root of L = epsilon,

    delta / g(t1) = integral over t > t1 of exp(psi(t1) - psi(t)) (1 - exp(epsilon - L(t))),

by the double exponential rule between 0, where the powers have kinks, and the places where t and
t + d leave the bulk of the density, the sharper the larger p. L is a difference of powers; its
rounding, a few p units in its last place, is as good as an error of that size in epsilon.

Domain: p from 1 to 1000 (1 and 2 have closed forms elsewhere), shifts from 1e-100 to 1e50 times
E|T|, epsilon up to 1e100. Proved: the root is bracketed, and one that is not found raises. Tested,
not proved: the error of the quadrature, against incomplete gamma functions at 110 digits, with p
from 1.00001 to 1000, round shifts, those within a percent of the bulk's edges p^(1/p) and its
double, tiny and huge ones, epsilon from 0 on, and delta down to 1e-300: below 2e-12 of delta, and
1e-13 for p <= 100, beside that error in epsilon. What is handed out allows for 4e-11.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from scipy import special

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
from dpnoise.privacy.integers import DiscreteLaplaceShift, IntegerShift, StaircaseShift
from dpnoise.privacy.pieces import PieceShift

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array, BoolArray
    from dpnoise._validation import Problems


_STEP, _REACH = 1.0 / 40.0, 3.25  # of the double exponential rule, for p up to 1000
_CUT = 60.0  # the density falls by exp(-60) over the range of integration
_CHUNK = 1000
_STEPS = 400
_TINY = 1e-290  # below it 1 - (1 - x)^p has no digits or no double
_DEEPEST = 1e300  # the largest psi(t1) that is followed


def _rule() -> tuple[Array, Array]:
    """Nodes and weights on (0, 1)."""
    s = np.arange(-_REACH, _REACH + _STEP, _STEP)
    x = math.pi * np.sinh(s)
    nodes = special.expit(x)
    return nodes, _STEP * math.pi * np.cosh(s) * nodes * special.expit(-x)


_NODES, _WEIGHTS = _rule()


class SubbotinShift:
    """Subbotin noise with p > 1 and a positive shift of it, in the units of the noise."""

    largest_loss = math.inf
    smallest_delta = Fraction(0)
    log_error = 4e-11  # twenty times what was seen at p = 1000

    def __init__(self, noise: Subbotin, shift: Fraction) -> None:
        self._noise = noise.scaled(1.0 / noise.scale)
        self.epsilon_error = noise.p * 2.0**-50
        self._p, self._d = noise.p, as_double(shift / noise.scale)
        self._log_peak = float(self._noise.logpdf(0.0))

    def _loss(self, t2: Array, distance: Array) -> Array:
        """psi(t2) - psi(t2 - distance) for t2 >= distance."""
        ratio = self._p * np.log1p(-distance / t2)  # log 0 leaves psi(0) = 0
        return t2**self._p / self._p * -np.expm1(ratio)

    def _log_gain(self, t2: Array, distance: Array | float, epsilon: Array) -> tuple[Array, Array]:
        """Log of L / epsilon at t2 and t1 = t2 - distance, and 1 - |t1 / t2|^p."""
        p, share = self._p, distance / t2
        fall = -np.expm1(p * np.log1p(-share))
        few = math.log(p) + np.log(distance) - np.log(t2)
        log_fall = np.where(share > _TINY, np.log(fall), few)
        log_gain = p * np.log(t2) - math.log(p) + log_fall - np.log(epsilon)
        # Near the root the power itself has more digits than its logarithm.
        close = np.abs(log_gain) < 1.0
        ratio = np.where(close, t2**p / p * fall / epsilon, 0.0)
        usable = close & (ratio > 0.1) & (ratio < 10.0)
        return np.where(usable, np.log(np.where(usable, ratio, 1.0)), log_gain), fall

    def _crossing(self, epsilon: Array) -> Array:
        """The root t1 of L = epsilon, infinite beyond the deepest psi; RuntimeError if not found.

        For t1 < 0 the unknown x is t1 + d / 2, with L = psi(d / 2 + x) - psi(d / 2 - x), else it
        is t2. The logarithm of L is nearly linear in that of x: Newton's method in a bracket.
        """
        p, d, log_d = self._p, self._d, math.log(self._d)
        zero = epsilon == 0.0  # there the root is -d / 2
        epsilon = np.where(zero, 1.0, epsilon)
        log_e = np.log(epsilon)
        left = log_e <= p * log_d - math.log(p)
        log_deepest = (math.log(p) + math.log(_DEEPEST)) / p
        deepest = math.exp(log_deepest)
        beyond = ~left & (self._log_gain(np.full_like(epsilon, deepest + d), d, epsilon)[0] < 0.0)
        # For t1 < 0 L <= 2 x psi'(d); else d psi'(t1) <= L <= d psi'(t2). Then some slack for
        # rounding.
        log_bound = (log_e - log_d) / (p - 1.0)
        slack = 2.0**-48 * (1.0 + (np.abs(log_e) + abs(log_d)) / (p - 1.0))
        log_bound = np.minimum(log_bound, log_deepest)
        smallest = np.maximum(log_e - math.log(2.0) - (p - 1.0) * log_d, log_d - 44.0)
        half = 0.5 * d
        low = np.where(left, np.exp(np.minimum(smallest - 1e-9, log_d - 1.0)), half)
        low = np.where(left, low, np.maximum(np.exp(log_bound - slack), d))
        high = np.where(left, half, d + np.exp(np.minimum(log_bound + slack, log_deepest)))
        x, result = np.where(left, high, low), np.full_like(epsilon, math.inf)
        result[zero] = -half
        open_ = np.flatnonzero(~beyond & ~zero)
        # ends: raises
        for k in range(_STEPS):
            at, on_left, target = x[open_], left[open_], epsilon[open_]
            t2 = np.where(on_left, half + at, at)
            distance = np.where(on_left, 2.0 * at, d)
            gain, fall = self._log_gain(t2, distance, target)
            low[open_], high[open_] = (
                np.where(gain < 0.0, at, low[open_]),
                np.where(gain < 0.0, high[open_], at),
            )
            result[open_] = np.where(on_left, at - half, at - d)
            # A gain of this size is rounding; so is such a bracket.
            done = np.abs(gain) <= p * 2.0**-53
            done |= high[open_] - low[open_] <= 2.0**-52 * high[open_]
            done |= on_left & (high[open_] <= 2.0**-60 * d)
            open_ = open_[~done]
            if not open_.size:
                return result
            at, on_left, gain, fall = at[~done], on_left[~done], gain[~done], fall[~done]
            t2, distance = t2[~done], distance[~done]
            other = np.exp((p - 1.0) * np.log1p(-distance / t2))  # psi'(|t1|) / psi'(t2)
            # Of log L in log x; on the right it is between p - 1 and p.
            slope = p * np.where(on_left, at / t2 * (1.0 + other), 1.0 - other)
            slope = np.where(fall > _TINY, slope / np.maximum(fall, _TINY), p - 1.0)
            new = at * np.exp(-gain / slope)
            a, b = low[open_], high[open_]
            middle = np.where(b < 2.0 * a, a + 0.5 * (b - a), np.sqrt(a) * np.sqrt(b))
            inside = (new > a) & (new < b) & (k % 4 != 3)
            x[open_] = np.where(inside, new, middle)
        message = f"Subbotin profile: no crossing of the loss at epsilon={epsilon[open_[0]]!r}"
        raise RuntimeError(message)

    def _end(self, t: Array) -> Array:
        """The place up to which psi grows by the cut from t >= 0."""
        return (t**self._p + self._p * _CUT) ** (1.0 / self._p)

    def _rise(self, t: Array, x: Array) -> Array:
        """psi(t + x) - psi(t) for t >= 0, x >= 0."""
        p, near = self._p, x < t
        ratio = np.where(near, x, 0.0) / np.where(near, t, 1.0)
        return np.where(near, t**p * np.expm1(p * np.log1p(ratio)), (t + x) ** p - t**p) / p

    def _integral(self, t1: Array, epsilon: Array) -> Array:
        """Delta / g(t1)."""
        d, eps = self._d, epsilon[:, None]
        start = np.maximum(t1, 0.0)
        far = start**self._p > self._p * _CUT  # no more than a few decay lengths
        length = np.where(far, self._far_length(start), self._end(start) - start)
        total = np.zeros_like(t1)
        bulk = self._p ** (1.0 / self._p)
        cuts = [np.clip(c - start, 0.0, length) for c in (0.0, bulk - d, bulk)] + [length]
        for a, b in pairwise(cuts):
            x = a[:, None] + (b - a)[:, None] * _NODES
            t = start[:, None] + x
            gain = self._loss(t + d, np.full_like(x, d)) - eps
            part = np.exp(-self._rise(start[:, None], x)) * -np.expm1(-np.maximum(gain, 0.0))
            total += (b - a) * (part @ _WEIGHTS)
        out = t1 < 0.0
        if out.any():
            size = -t1[out]
            total[out] *= np.exp(size**self._p / self._p)
            # t = -u
            cuts = [np.clip(c, 0.0, size) for c in (d - bulk, bulk)]
            cuts = [np.zeros_like(size), *np.sort(cuts, axis=0), size]
            for a, b in pairwise(cuts):
                u = a[:, None] + (b - a)[:, None] * _NODES
                gain = self._loss(d - u, d - 2.0 * u) - eps[out]
                part = np.exp(self._rise(u, size[:, None] - u))
                part = part * -np.expm1(-np.maximum(gain, 0.0))
                total[out] += (b - a) * (part @ _WEIGHTS)
        return total

    def _far_length(self, t: Array) -> Array:
        """The length over which psi grows by the cut, for large t."""
        return t * np.expm1(np.log1p(self._p * _CUT / np.maximum(t, 1.0) ** self._p) / self._p)

    def _log_ratio(self, t: Array) -> Array:
        """Log of P(T > t) / g(t), t > 0, where the two may be far below any double."""
        power = t**self._p
        far = power > 1e4 * self._p
        near = np.where(far, 1.0, t)
        u = np.where(far, power, math.inf) / (self._p - 1.0)
        tail = -np.log1p(1.0 / u) - (self._p - 1.0) * np.log(t)
        return np.where(far, tail, self._noise.logsf(near) - self._noise.logpdf(near))

    def log_delta_and_slope(self, epsilon: Array) -> tuple[Array, Array]:
        """Log delta, and log of e^epsilon P(T > t2) = -d delta / d epsilon, at epsilon >= 0."""
        starts = range(0, max(epsilon.size, 1), _CHUNK)
        # What has no double here is 0 in an exponential, or log 0 of a place or an epsilon.
        with np.errstate(over="ignore", divide="ignore"):
            parts = [self._part(epsilon[i : i + _CHUNK]) for i in starts]
        log_delta, log_slope = (np.concatenate(p) for p in zip(*parts, strict=True))
        return log_delta, log_slope

    def _part(self, epsilon: Array) -> tuple[Array, Array]:
        log_delta, log_slope = np.full((2, epsilon.size), -math.inf)
        t1 = self._crossing(epsilon)
        finite = t1 < math.inf
        t1, epsilon = t1[finite], epsilon[finite]
        log_g = self._log_peak - np.abs(t1) ** self._p / self._p
        slope = log_g + self._log_ratio(t1 + self._d)
        # Where most of the mass is beyond t1 the complement has the digits.
        rest = self._noise.sf(-t1) + np.exp(np.minimum(slope, 0.0))
        upper = (t1 < 0.0) & (rest < 0.5)
        value = np.where(upper, np.log1p(-np.minimum(rest, 0.5)), log_g)
        lower = ~upper
        # Beside a depth that takes the integral below all doubles it does not count.
        integral = np.log(self._integral(t1[lower], epsilon[lower]))
        value[lower] += np.maximum(integral, -1e3)
        log_delta[finite], log_slope[finite] = np.minimum(value, 0.0), slope
        return log_delta, log_slope


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
