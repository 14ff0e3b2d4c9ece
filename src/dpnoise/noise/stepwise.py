"""Noise of a density that is constant by steps, with a geometric tail: staircase and histogram.

*Staircase* noise is the optimal epsilon-private noise for one number. Geng & Viswanath, "The
optimal noise-adding mechanism in differential privacy" (IEEE Transactions on Information Theory
2016). Steps of width Delta, each falling by exp(-epsilon) at the fraction gamma of its width:

    density(t) = a exp(-epsilon (k + [f >= gamma])),  |t| / Delta = k + f,  0 <= f < 1,
    a = (1 - b) / (2 Delta q),  b = exp(-epsilon),  q = gamma + b (1 - gamma).

k and f are independent: k is geometric, P(k) = (1 - b) b^k, and f is uniform on each side of
gamma, with P(f < gamma) = gamma / q.

*Histogram* noise is a symmetric density that is constant on cells. The cells are n to the unit of
the sensitivity, h = sensitivity / n wide, and centred at the multiples of h. Cell j >= 0 has the
mass p_j, as has cell -j. Beyond the last cell listed, each n cells repeat the n before them times a
ratio r:

    p_(j + n) = r p_j  for j >= m - n,  m masses listed.

Staircase noise is of this kind (where gamma is a multiple of h, less half of it), and so is the
optimised noise of Gilani et al. ("Optimizing Noise Distributions for Differential Privacy", ICML
2025), whose tail falls cell by cell. The density may rise again away from 0; `unimodal` says
whether it does not, for then the largest shift is the worst one for privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy import special

from dpnoise._validation import Problems, floats, is_integer
from dpnoise.noise.base import Noise

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array, BoolArray, IntArray
    from dpnoise.joint.vectors import Staircase2D
    from dpnoise.noise.exact import Ball

MIN_EPSILON, MAX_EPSILON = 1e-100, 700.0  # 1 / epsilon^2 and exp(-epsilon) have doubles
_MOST_CELLS, _MOST_MASSES = 2**12, 2**17
_SMALLEST = 1e-290  # mass of a cell in units of all: ratios of masses have all their digits
_NORMAL = 1e-14  # a sum of masses this close to 1 is not divided out
_STEPS = 60  # of Newton's method
_DOUBLES = 1200  # bits after the point that hold every double from 1e-300 on
_MARGIN = 1e-12  # more than the rounding of a difference of logarithms


def staircase_gamma(epsilon: ArrayLike, power: int = 2) -> Array:
    """The gamma of the staircase with the least E|T|^power.

    Parameters
    ----------
    epsilon : array_like of float
        Privacy parameter, from 1e-100 to 700.
    power : {1, 2}
        1 for the mean absolute error, 2 for the variance.

    Returns
    -------
    numpy.ndarray or float
        gamma in (0, 1/2). With b and q of this module it solves q^2 = b for power 1, so
        gamma = 1 / (1 + exp(epsilon / 2)), and q^3 = b (1 + b) / 2 for power 2. Geng and
        Viswanath print the second in a form that cancels for small epsilon.

    Raises
    ------
    ValueError
        If epsilon or power is out of range.
    """
    problems = Problems("gamma of the staircase")
    epsilon = floats(problems, "epsilon", epsilon, low=MIN_EPSILON, high=MAX_EPSILON)
    known = isinstance(power, Real | int) and not isinstance(power, bool) and power in (1, 2)
    problems.require(known, "power", "1 or 2", power)
    problems.raise_if_any()
    if power == 1:
        return special.expit(-0.5 * epsilon)[()]
    b = np.exp(-epsilon)
    q = np.cbrt(0.5 * b * (1.0 + b))
    # (q - b) / (1 - b), with the factor 1 - b taken out of q^3 - b^3.
    return (0.5 * b * (1.0 + 2.0 * b) / (q * q + q * b + b * b))[()]


def staircase_2d_gamma(epsilon: ArrayLike) -> Array:
    """The gamma of the two-dimensional staircase with the least E||X||_1.

    Parameters
    ----------
    epsilon : array_like of float
        Privacy parameter, from 1e-100 to 700.

    Returns
    -------
    numpy.ndarray or float
        gamma in (0, 1). With q = gamma + b (1 - gamma) the mean is
        2 Delta (q^3 + 3 b q + b + b^2) / (3 (1 - b) (q^2 + b)), so that the best q is the larger
        root of q^4 - 2 b (1 + b) q + 3 b^2 in [b, 1].

    Raises
    ------
    ValueError
        If epsilon is out of range.
    """
    problems = Problems("gamma of the two-dimensional staircase")
    epsilon = floats(problems, "epsilon", epsilon, low=MIN_EPSILON, high=MAX_EPSILON)
    problems.raise_if_any()
    b, c = np.exp(-epsilon), -np.expm1(-epsilon)
    # Written in gamma and divided by b c^2 it neither cancels nor underflows. It is convex, so
    # that Newton's method falls to the larger root from an upper bound.
    gamma = np.minimum(1.0, (np.cbrt(2.0 * b * (1.0 + b)) - b) / c)
    # ends: raises
    for _ in range(_STEPS):
        cube, square = c * c * gamma * gamma * (gamma / b), c * gamma * gamma
        linear = 6.0 * b * gamma
        value = gamma * (cube + 4.0 * square + linear - 2.0 * (1.0 + 2.0 * b)) + b
        step = value / (4.0 * cube + 12.0 * square + 2.0 * linear - 2.0 * (1.0 + 2.0 * b))
        gamma = gamma - step
        if np.all(np.abs(step) <= 1e-15 * gamma):
            return gamma[()]
    raise RuntimeError(f"gamma of the two-dimensional staircase: not found in {_STEPS} steps")


def steps(x: Array, width: float) -> tuple[Array, Array]:
    """Integers k and fractions 0 <= f < 1 with x / width = k + f, for x >= 0, even infinite."""
    most = min(1.0, width) * np.finfo(float).max  # beyond, k has no double
    step, rest = np.divmod(np.minimum(x, most), width)
    return np.where(x > most, math.inf, step), rest / width


def check_staircase(noise: Staircase | Staircase2D, subject: str) -> None:
    """Check of epsilon, sensitivity and gamma of a frozen staircase, stored as floats."""
    problems = Problems(subject)
    problems.number("epsilon", noise.epsilon, low=MIN_EPSILON, high=MAX_EPSILON)
    problems.number("sensitivity", noise.sensitivity, low=0.0, open_low=True)
    problems.number("gamma", noise.gamma, low=0.0, high=1.0, open_low=True, open_high=True)
    problems.raise_if_any()
    for name in ("epsilon", "sensitivity", "gamma"):
        object.__setattr__(noise, name, float(getattr(noise, name)))


@dataclass(frozen=True)
class Staircase(Noise):
    """Staircase noise, epsilon-private for the given sensitivity.

    The density is not log-concave: a shift by less than the sensitivity can be the worst one.

    Parameters
    ----------
    epsilon : float
        The privacy parameter, from 1e-100 to 700: each step falls by exp(-epsilon).
    sensitivity : float
        The width Delta of the steps, positive.
    gamma : float
        Where each step falls, as a fraction of its width, in (0, 1); see `staircase_gamma`.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    title, source = "staircase per coordinate", "Geng & Viswanath 2016"
    log_concave: ClassVar[bool] = False
    stepwise: ClassVar[bool] = True
    has_closed_loss = True  # up to its sensitivity

    epsilon: float
    sensitivity: float
    gamma: float

    def __post_init__(self) -> None:
        """Check of the parameters, stored as floats."""
        check_staircase(self, "staircase noise")

    @property
    def _fall(self) -> float:
        """The factor b = exp(-epsilon)."""
        return math.exp(-self.epsilon)

    @property
    def _drop(self) -> float:
        """1 - b."""
        return -math.expm1(-self.epsilon)

    @property
    def _width(self) -> float:
        """The effective width q of a step, as a fraction of Delta."""
        return self.gamma + self._fall * (1.0 - self.gamma)

    def _log_density(self, x: Array) -> Array:
        step, f = steps(x, self.sensitivity)
        peak = math.log(self._drop) - math.log(2.0 * self._width) - math.log(self.sensitivity)
        return peak - self.epsilon * (step + (f >= self.gamma))

    def _log_tail(self, x: Array) -> Array:
        b, drop, q = self._fall, self._drop, self._width
        step, f = steps(x, self.sensitivity)
        left = self.gamma - f + b * (1.0 - self.gamma + f)
        right = b * (q + drop * (1.0 - f))
        inside = np.where(f < self.gamma, left, right) / q
        return -self.epsilon * step + np.log(0.5 * inside)

    def _magnitude(self, level: Array) -> Array:
        q, drop = self._width, self._drop
        finite = np.minimum(level, 1e4)  # -log of the least double is 745
        step, rest = np.divmod(finite, self.epsilon)
        # The level at f = gamma is epsilon + log q, unless that cancels.
        inner = drop * self.gamma / q
        edge = self.epsilon + math.log(q) if inner > 0.5 else -math.log1p(-inner)
        left = q * np.expm1(-np.minimum(rest, edge)) / -drop
        right = self.gamma - np.expm1(edge - np.maximum(rest, edge)) / drop
        f = np.where(rest < edge, left, right)
        return np.where(level == math.inf, math.inf, self.sensitivity * (step + f))

    def exact_tail(self, t: Fraction, ball: Ball) -> Any:  # noqa: ANN401
        """P(|T| > t) in the numbers of `ball`."""
        steps = t / Fraction(self.sensitivity)
        k = math.floor(steps)
        f, gamma, epsilon = steps - k, Fraction(self.gamma), Fraction(self.epsilon)
        b, drop = (-ball(epsilon)).exp(), -(-ball(epsilon)).expm1()
        q = ball(gamma) + b * ball(1 - gamma)
        if f < gamma:
            inside = ball(gamma - f) + b * ball(1 - gamma + f)
        else:
            inside = b * (q + drop * ball(1 - f))
        return (-ball(epsilon * k)).exp() * inside / q

    def _scaled(self, factor: float) -> Self:
        return type(self)(self.epsilon, factor * self.sensitivity, self.gamma)

    @property
    def step_width(self) -> float:
        """The sensitivity."""
        return self.sensitivity

    def largest_loss(self, sensitivity: float | Fraction) -> Fraction:
        """The epsilon of a step for each width, or part of it, that the sensitivity has."""
        steps = math.ceil(Fraction(sensitivity) / Fraction(self.sensitivity))
        return Fraction(self.epsilon) * steps

    @property
    def _means(self) -> tuple[float, float]:
        """The means of k and f."""
        square = self.gamma**2
        mean_f = (square + self._fall * (1.0 - square)) / (2.0 * self._width)
        return self._fall / self._drop, mean_f

    def var(self) -> float:
        """The variance, Delta^2 E (k + f)^2."""
        b, cube = self._fall, self.gamma**3
        mean_k, mean_f = self._means
        square_k = mean_k * (1.0 + b) / self._drop
        square_f = (cube + b * (1.0 - cube)) / (3.0 * self._width)
        return self.sensitivity * self.sensitivity * (square_k + 2.0 * mean_k * mean_f + square_f)

    def mean_abs(self) -> float:
        """E|T| = Delta E (k + f)."""
        return self.sensitivity * sum(self._means)

    def fisher_information(self) -> float:
        """infinity: a density that jumps locates a shift at a faster rate."""
        return math.inf


@dataclass(frozen=True, repr=False)
class Histogram(Noise):
    """Histogram noise.

    Parameters
    ----------
    sensitivity : float
        The unit of length Delta, positive: as a rule the sensitivity of the query.
    cells : int
        Number n of cells to the unit, from 1 to 4096.
    masses : sequence of float, shape (m,)
        In proportion to the masses of the cells centred at 0, h, 2 h, ..., non-negative; each is 0
        or at least 1e-290 of the sum. At least n, at most 131,072.
    ratio : float
        The factor r in [0, 1) by which each further n cells are less than the n before them.

    Attributes
    ----------
    unimodal : bool
        Whether the density nowhere rises with |t|.

    Raises
    ------
    ValueError
        If a parameter is out of range; the message names every problem.

    Examples
    --------
    >>> from dpnoise import Histogram, privacy_profile
    >>> noise = Histogram(1.0, 1, (0.5, 0.2), 0.4)
    >>> float(noise.cdf(0.0)), noise.unimodal
    (0.5, True)
    """

    title, source = "histogram", "Gilani et al. 2025"
    log_concave: ClassVar[bool] = False
    stepwise: ClassVar[bool] = True

    sensitivity: float
    cells: int
    masses: tuple[float, ...]
    ratio: float

    def __post_init__(self) -> None:
        """Check of the parameters; the masses are stored as those of a distribution."""
        problems = Problems("histogram noise")
        problems.number("sensitivity", self.sensitivity, low=0.0, open_low=True)
        problems.number("ratio", self.ratio, low=0.0, high=1.0, open_high=True)
        whole = is_integer(self.cells) and 1 <= self.cells <= _MOST_CELLS
        problems.require(whole, "cells", f"a whole number from 1 to {_MOST_CELLS}", self.cells)
        masses = floats(problems, "masses", self.masses, low=0.0)
        few = f"from cells to {_MOST_MASSES} of them"
        fits = masses.ndim == 1 and int(self.cells if whole else 1) <= masses.size <= _MOST_MASSES
        problems.require(fits, "masses", few, masses.shape)
        problems.raise_if_any()
        self._store(masses)

    def _store(self, masses: Array) -> None:
        cells, ratio = int(self.cells), float(self.ratio)
        problems = Problems("histogram noise")
        tail = 2.0 * ratio / (1.0 - ratio) * math.fsum(masses[-cells:])
        total = math.fsum([*masses, *masses[1:], tail])
        sizes = masses[masses > 0.0]
        good = 0.0 < total < math.inf and bool(np.min(sizes) >= _SMALLEST * total)
        problems.require(good, "masses", f"0 or at least {_SMALLEST:g} of their sum", total)
        endless = ratio == 0.0 or math.fsum(masses[-cells:]) > 0.0
        problems.require(endless, "ratio", "0 where the last cells are empty", ratio)
        problems.raise_if_any()
        if abs(total - 1.0) > _NORMAL:
            masses = masses / total
        object.__setattr__(self, "sensitivity", float(self.sensitivity))
        object.__setattr__(self, "cells", cells)
        object.__setattr__(self, "masses", tuple(masses.tolist()))
        object.__setattr__(self, "ratio", ratio)

    def __repr__(self) -> str:
        """The parameters, of the masses only how many there are."""
        return (
            f"Histogram(sensitivity={self.sensitivity!r}, cells={self.cells}, "
            f"masses=<{len(self.masses)} values>, ratio={self.ratio!r})"
        )

    @property
    def width(self) -> float:
        """The width h of a cell."""
        return self.sensitivity / self.cells

    @cached_property
    def bound(self) -> float:  # type: ignore[override]  # of the masses
        """The largest |t| that can occur."""
        if self.ratio > 0.0:
            return math.inf
        return (float(np.flatnonzero(self._masses)[-1]) + 0.5) * self.width

    @cached_property
    def unimodal(self) -> bool:
        """Whether the density nowhere rises with |t|."""
        return bool(np.all(np.diff(self.masses_to(len(self.masses) + 1)) <= 0.0))

    @cached_property
    def _masses(self) -> Array:
        return np.array(self.masses)

    @cached_property
    def _tails(self) -> Array:
        """Mass of cell j and all beyond it on its side, for j = 0, ..., m; shape (m + 1,)."""
        block = self._masses[-self.cells :]
        rest = self.ratio / (1.0 - self.ratio) * float(np.sum(block))
        return np.append(np.cumsum(self._masses[::-1])[::-1] + rest, rest)

    def place(self, cell: IntArray) -> tuple[IntArray, IntArray]:
        """The listed cells that cells j >= 0 repeat, and how many times the ratio counts."""
        size, n = len(self.masses), self.cells
        times = np.where(cell < size, 0, (cell - size) // n + 1)
        return cell - times * n, times

    def masses_to(self, count: int) -> Array:
        """The masses of the first cells from 0 outwards, shape (count,)."""
        cell, times = self.place(np.arange(count))
        return self._masses[cell] * self.ratio**times

    def _cell(self, x: Array) -> tuple[IntArray, IntArray, Array, BoolArray]:
        """The listed cell, its repetition, the part of the cell beyond x, and where x is finite."""
        finite = np.isfinite(x)
        steps = np.where(finite, x, 0.0) / self.width + 0.5
        index = np.floor(np.minimum(steps, 2.0**52))
        beyond = np.clip(index + 1.0 - steps, 0.0, 1.0)
        listed, times = self.place(index.astype(np.intp))
        return listed, times, beyond, finite & (steps < 2.0**52)

    @property
    def _log_ratio(self) -> float:
        return math.log(self.ratio) if self.ratio > 0.0 else -math.inf

    def _times(self, times: Array | IntArray) -> Array:
        """The logarithm of the ratio to a power, which is 0 for the power 0."""
        with np.errstate(invalid="ignore"):
            return np.where(times > 0, times * self._log_ratio, 0.0)

    def _log_density(self, x: Array) -> Array:
        listed, times, _, finite = self._cell(x)
        with np.errstate(divide="ignore"):  # an empty cell
            inside = np.log(self._masses[listed]) + self._times(times) - math.log(self.width)
        return np.where(finite, inside, -math.inf)

    def _log_tail(self, x: Array) -> Array:
        listed, times, beyond, finite = self._cell(x)
        tail = beyond * self._masses[listed] + self._tails[listed + 1]
        with np.errstate(divide="ignore"):  # nothing is left
            return np.where(finite, np.log(tail) + self._times(times), -math.inf)

    def _magnitude(self, level: Array) -> Array:
        log_tail = -np.where(level < math.inf, level, 0.0) - math.log(2.0)
        times = np.zeros(np.shape(level))
        if self.ratio > 0.0:
            past = (math.log(self._tails[-1]) - log_tail) / -self._log_ratio
            times = np.maximum(np.floor(past) + 1.0, 0.0)
        log_tail = log_tail - self._times(times)
        with np.errstate(divide="ignore"):  # nothing is left
            levels = -np.log(self._tails)
        cell = np.clip(
            np.searchsorted(levels, -log_tail, side="right") - 1, 0, len(self.masses) - 1
        )
        mass = self._masses[cell]
        # From the left end of the cell, which for cell 0 is the middle of it.
        part = np.where(
            (cell == 0) & (times == 0.0),
            -0.5 * np.expm1(-level),
            self._tails[cell] - np.exp(log_tail),
        )
        share = np.divide(part, mass, out=np.zeros(np.shape(level)), where=mass > 0.0)
        start = np.where((cell == 0) & (times == 0.0), 0.0, cell - 0.5 + times * self.cells)
        x = (start + np.clip(share, 0.0, 1.0)) * self.width
        return np.where(level == math.inf, self.bound, np.minimum(x, self.bound))

    def _moment(self, values: Array, power: int) -> float:
        """E v(T / h), given the means of v by cell, for v(t) = |t|^power, power 1 or 2."""
        n, r, block = self.cells, self.ratio, self._masses[-self.cells :]
        inside = self._masses[0] * values[0] + 2.0 * math.fsum(self._masses[1:] * values[1:])
        # Sums of r^k, k r^k and k^2 r^k over k >= 1, k the number of the repetition.
        sums = np.array([r / (1 - r), r / (1 - r) ** 2, r * (1 + r) / (1 - r) ** 3])
        x = np.arange(len(self.masses) - n, len(self.masses), dtype=float)
        plain = x**2 + 1.0 / 12.0 if power == 2 else x  # repetitions of cell 0 are whole cells
        linear = 2.0 * n * x if power == 2 else np.full(n, float(n))
        terms = np.array([plain, linear, np.full(n, float(n * n * (power == 2)))])
        return float(inside + 2.0 * float(sums @ (terms @ block)))

    def var(self) -> float:
        """The variance."""
        x = np.arange(len(self.masses), dtype=float)
        return self.width**2 * self._moment(x**2 + 1.0 / 12.0, 2)

    def mean_abs(self) -> float:
        """E|T|."""
        x = np.arange(len(self.masses), dtype=float)
        x[0] = 0.25  # the cell that straddles 0
        return self.width * self._moment(x, 1)

    def fisher_information(self) -> float:
        """infinity: a density that jumps locates a shift at a faster rate."""
        return math.inf

    @cached_property
    def _cumulated(self) -> tuple[list[int], list[int], Fraction]:
        """Masses, sums of those before them, and everything on one side, over 2^-1200: exact."""
        masses = [int(Fraction(p) * 2**_DOUBLES) for p in self.masses]
        ratio = Fraction(self.ratio)
        rest = ratio / (1 - ratio) * sum(masses[-self.cells :])
        before = [0, *accumulate(masses)]
        return masses, before, before[-1] + rest

    def exact_tail(self, t: Fraction, ball: Ball) -> Any:  # noqa: ANN401
        """P(|T| > t) in the numbers of `ball`."""
        masses, before, side = self._cumulated
        steps = t * self.cells / Fraction(self.sensitivity) + Fraction(1, 2)
        cell = math.floor(steps)
        times = max(0, (cell - len(masses)) // self.cells + 1)
        listed = cell - times * self.cells
        tail = (cell + 1 - steps) * masses[listed] + (side - before[listed + 1])
        fall = ball(self.ratio) ** times if times else ball(1)
        return fall * ball(2 * tail / (2 * side - masses[0]))

    def _scaled(self, factor: float) -> Self:
        return type(self)(factor * self.sensitivity, self.cells, self.masses, self.ratio)

    def largest_loss(self, sensitivity: float | Fraction) -> Fraction | float:
        """An upper bound on the privacy loss of one coordinate, without rounding."""
        reach = math.ceil(Fraction(sensitivity) * self.cells / Fraction(self.sensitivity))
        if reach > _MOST_CELLS:
            return math.inf
        cell, times = self.place(np.arange(len(self.masses) + self.cells + reach))
        with np.errstate(divide="ignore"):  # an empty cell
            logs = np.log(self._masses[cell]) + self._times(times)
        if np.isneginf(logs).any():
            return math.inf
        largest = max(float(np.max(np.abs(logs[k:] - logs[:-k]))) for k in range(1, reach + 1))
        return Fraction(largest + _MARGIN * (1.0 + float(np.max(np.abs(logs)))))
