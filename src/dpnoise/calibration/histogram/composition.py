"""The composed delta of a histogram on a lattice of losses, and its gradient by the masses.

Estimates, without bounds: `dpnoise.calibration.histogram.search` says what they are for. With S the
sum of K - 1 losses and P and Q the two neighbours, the best test of the neighbours gives (by the
envelope theorem: its own change with the masses p costs nothing)

    d delta = K sum_j [ A(l_j) d p_j - e^epsilon B(l_j) d p_(j+n) ],
    A(l) = P(S > epsilon - l),  B(l) = Q(S > epsilon - l),  l_j = log p_j / p_(j+n).

On the lattice V(l), the mean of (1 - e^(epsilon - S - l))_+, is a - b e^-l between two points, with
a for A and b for e^epsilon B. The lattice is weighted with e^(c loss) at the saddle point, so that
a small delta has all its digits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import fft, optimize

if TYPE_CHECKING:
    from dpnoise._types import Array, ComplexArray, IntArray
    from dpnoise.calibration.histogram.cells import Cells

_POINTS = 2**13  # of the lattice of losses
_REACH = 14.0  # standard deviations of the weighted sum on either side
_WIDEST = 250.0  # of the tilt times a loss
_SEARCHED = 2.0  # epsilon is looked for so far below the middle of the lattice
_WINDOWS = 60  # that are looked at for an epsilon
_TINY = 1e-290


class Lattice(NamedTuple):
    """Losses at (start + k) h, weighted with exp(tilt loss)."""

    h: float
    tilt: float
    start: int

    @property
    def levels(self) -> Array:
        """The losses."""
        return (self.start + np.arange(float(_POINTS))) * self.h


def plan(cells: Cells, p: Array, copies: int, epsilon: float) -> Lattice:
    """A lattice around the sum of the losses, weighted so that it lies around epsilon."""
    here, there, factor = cells.pair(p)
    loss, mass = np.log(here / there), factor * here
    most = _WIDEST / float(np.max(np.abs(loss)))

    def moments(c: float) -> tuple[float, float]:
        weight = mass * np.exp(c * (loss - loss.max()))
        mean = float(weight @ loss) / float(weight.sum())
        return copies * mean, copies * float(weight @ (loss - mean) ** 2) / float(weight.sum())

    def slope(log_c: float) -> float:  # of log of E e^(c sum) e^(-c epsilon) / (c (c + 1))
        c = math.exp(log_c)
        return moments(c)[0] - epsilon - 1.0 / c - 1.0 / (c + 1.0)

    low, high = math.log(1e-3 * most), math.log(most)
    c = most if slope(high) < 0.0 else math.exp(low)
    if slope(low) < 0.0 < slope(high):
        c = math.exp(optimize.brentq(slope, low, high, xtol=1e-3))
    mean, spread = moments(c)
    half = _REACH * math.sqrt(spread) + abs(mean - epsilon) + float(np.abs(loss).max())
    h = 2.0 * half / _POINTS
    return Lattice(h, c, round(epsilon / h) - _POINTS // 2)


class Composition(NamedTuple):
    """Log delta of composed noise at one epsilon, and its gradient by the masses."""

    log_delta: float
    gradient: Array


def _sums(spectrum: ComplexArray, start: int) -> Array:
    """A distribution on the lattice from its transform."""
    return np.maximum(np.roll(fft.irfft(spectrum, _POINTS), -(start % _POINTS)), 0.0)


def _above(part: Array) -> Array:
    """Sums from each lattice point on, shape (points + 1,)."""
    return np.append(np.cumsum(part[::-1])[::-1], 0.0)


class Sums(NamedTuple):
    """The composed loss on a lattice: what its profile is made of, in units of exp(log_unit).

    At lattice point k, delta is above[k] - e^(level - middle) rest[k].
    """

    lattice: Lattice
    loss: Array  # of each pair of masses
    top: float
    scale: float
    spectrum: ComplexArray
    above: Array
    rest: Array

    @property
    def middle(self) -> float:
        """The middle of the lattice."""
        return (self.lattice.start + _POINTS // 2) * self.lattice.h

    def above_and_rest(self, copies: int) -> tuple[Array, Array]:
        """Sums of P, and of P e^-(loss - middle), from each lattice point on."""
        h, c, start = self.lattice
        gap = self.lattice.levels - self.middle
        # Lower levels only matter to larger losses than there are.
        near = gap > -float(self.loss.max()) - 2.0 * h - _SEARCHED
        gap = np.where(near, gap, 0.0)
        weights = np.roll(fft.irfft(self.spectrum**copies, _POINTS), -(start % _POINTS))
        sums = np.where(near, np.exp(-c * gap) * np.maximum(weights, 0.0), 0.0)
        return _above(sums), _above(sums * np.exp(-gap))

    def log_delta(self, copies: int, epsilon: float) -> float:
        """Log delta at an epsilon within the lattice."""
        h, c, start = self.lattice
        k = math.floor(epsilon / h) + 1 - start
        if not 0 < k < _POINTS:
            raise ArithmeticError("histogram search: epsilon is outside the lattice")
        delta = float(self.above[k] - math.exp(epsilon - self.middle) * self.rest[k])
        unit = copies * (math.log(self.scale) + self.top) - c * self.middle
        return math.log(max(delta, _TINY)) + unit


def composed(cells: Cells, p: Array, copies: int, lattice: Lattice) -> tuple[Sums, IntArray, Array]:
    """The composed loss of given masses; the lattice point below each loss; factors of masses."""
    h, c, _ = lattice
    here, there, factor = cells.pair(p)
    loss, mass = np.log(here / there), factor * here
    top = float((c * loss).max())
    # Each loss goes to two lattice points, with the shares that keep the mean of e^-loss.
    index = np.floor(loss / h)
    share = np.expm1(index * h - loss) / math.expm1(-h)
    place = index.astype(np.intp)
    low = mass * (1.0 - share) * np.exp(c * index * h - top)
    high = mass * share * np.exp(c * (index + 1.0) * h - top)
    one = np.bincount(place % _POINTS, low, minlength=_POINTS)
    one = one + np.bincount((place + 1) % _POINTS, high, minlength=_POINTS)
    scale = float(one.sum())
    nothing = np.zeros(0)
    sums = Sums(lattice, loss, top, scale, fft.rfft(one / scale), nothing, nothing)
    above, rest = sums.above_and_rest(copies)
    return sums._replace(above=above, rest=rest), place, factor


def composition(
    cells: Cells, p: Array, copies: int, epsilon: float, lattice: Lattice
) -> Composition:
    """Log delta at an epsilon and its gradient; the losses are not far outside the lattice."""
    sums, place, factor = composed(cells, p, copies, lattice)
    log_delta = sums.log_delta(copies, epsilon)
    h, c, start = lattice
    # V(l), the mean of (1 - e^(epsilon - S - l))_+ over K - 1 losses, in units of delta.
    above, rest = sums.above_and_rest(copies - 1)
    points = np.arange(int(place.min()), int(place.max()) + 2)
    first = np.clip(np.floor(epsilon / h - points).astype(np.intp) + 1 - start, 0, _POINTS)
    value = above[first] - np.exp(epsilon - sums.middle - points * h) * rest[first]
    unit = (copies - 1) * (math.log(sums.scale) + sums.top) - c * sums.middle - log_delta
    value *= copies * math.exp(min(unit, 600.0))
    # Between lattice points it is a - b e^-l.
    b = np.diff(value) / -math.expm1(-h) * np.exp(points[:-1] * h)
    a = value[:-1] + b * np.exp(-points[:-1] * h)
    slot = place - points[0]
    return Composition(log_delta, cells.gather(factor * a[slot], -factor * b[slot]))


def minimum_epsilon(cells: Cells, p: Array, copies: int, log_delta: float, guess: float) -> float:
    """The least epsilon of given masses, without bounds, looked for from above."""
    for _ in range(_WINDOWS):
        lattice = plan(cells, p, copies, guess)
        sums, _, _ = composed(cells, p, copies, lattice)
        low, high = ((lattice.start + k) * lattice.h for k in (1, _POINTS - 2))
        low = max(low, sums.middle - _SEARCHED, 0.0)

        def excess(epsilon: float, sums: Sums = sums) -> float:
            return sums.log_delta(copies, epsilon) - log_delta

        if excess(low) > 0.0 > excess(high):
            return float(optimize.brentq(excess, low, high, xtol=1e-12))
        if low == 0.0 or excess(high) >= 0.0:
            break
        guess = low
    raise ArithmeticError("histogram search: no epsilon above 0 is the least one")
