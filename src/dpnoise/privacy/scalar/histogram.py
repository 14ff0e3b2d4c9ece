"""The privacy loss of histogram noise under a shift, and its exact profile.

For cells of width h and a shift d = (k + s) h, 0 <= s < 1, the density at t + d is, on each cell j,
that of cell j + k on a share 1 - s of it and that of cell j + k + 1 on the rest. The loss is
discrete. Where in its cell t lies has the same distribution under both neighbours, so that the
pair of distributions for d is a mixture, with a label that is seen, of those for k and k + 1 cells.

**Worst shifts.** Of independent coordinates the profile is therefore linear in each share s, and
its supremum over the box is attained where every shift is a whole number of cells or the
sensitivity. Of unimodal noise the largest shift is the worst one (`dpnoise.privacy.profile`). Of
other noise with one coordinate the largest of the profiles of these shifts is the answer; of
several coordinates it is not known which of them shifts by how much, but

    D(y) = max over these shifts of the mean of (1 - y e^-loss)_+,  y = e^epsilon,

is convex in y, as each term is, and a loss with D as its profile dominates them all, also in sums
(Zhu, Dong & Wang, "Optimal accounting of differential privacy via characteristic function", AISTATS
2022, Theorem 10). `dominating_loss` lists one with a profile of straight lines between points on
and above D.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.noise.stepwise import Histogram

MOST_SHIFTS = 2**12  # cells to the sensitivity
_MASS_ERROR = 1e-12  # relative, of a mass or a sum of positive ones, with a margin
_LOSS_ERROR = 2.0**-49  # of a loss relative to its terms
_WIDEST = 600.0  # e^loss has a double, with room
_MOST_KNOTS, _CLOSEST = 2**12, 1e-6  # of a dominating profile, and their distance by its width


class Losses(NamedTuple):
    """Finite losses of positive mass, in no order, and the mass of infinite loss.

    `slack` bounds the error of a loss by rounding.
    """

    values: Array
    masses: Array
    infinite: float
    slack: float

    def divergence(self) -> tuple[float, float]:
        """The mass of infinite loss, and the mean of the others."""
        return self.infinite, float(np.sum(self.masses * self.values))

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Delta and -d delta / d epsilon at a real epsilon, up to rounding."""
        fall = epsilon - self.values
        above = fall < 0.0
        masses, fall = self.masses[above], fall[above]
        return (
            float(np.sum(masses * -np.expm1(fall))) + self.infinite,
            float(np.sum(masses * np.exp(fall))),
        )

    def bounds(self, epsilon: Array) -> tuple[Array, Array]:
        """Bounds on delta at many real epsilons, by sums over all larger losses."""
        if np.max(np.abs(self.values), initial=0.0) > _WIDEST:
            delta = np.array([self.delta(float(x))[0] for x in epsilon])
            return delta * (1.0 - _MASS_ERROR), delta * (1.0 + _MASS_ERROR)
        order = np.argsort(self.values)[::-1]
        values, masses = self.values[order], self.masses[order]
        count = values.size - np.searchsorted(values[::-1], epsilon, side="right")
        here, there = (
            np.append(0.0, np.cumsum(part))[count] for part in (masses, masses * np.exp(-values))
        )
        # The difference of two sums, each with the rounding of all its terms.
        doubt = 4.0 * (values.size + 8.0) * 2.0**-53 * here
        delta = np.maximum(here - np.exp(epsilon) * there, 0.0) + self.infinite
        return np.maximum(delta - doubt, self.infinite), delta + doubt


def _log_ratio(a: Array, b: Array) -> Array:
    """Log of a / b for positive numbers, with a small relative error also next to 0."""
    near = (0.5 * b < a) & (a < 2.0 * b)
    return np.where(near, np.log1p(np.where(near, a - b, 0.0) / b), np.log(a / b))


def _whole(noise: Histogram, k: int) -> Losses:
    """The losses for a shift by k cells."""
    size, n, r = len(noise.masses), noise.cells, noise.ratio
    listed, repeats = noise.place(np.arange(size + 2 * k + n + 1))
    masses = np.array(noise.masses)
    # Cells from -(size + k + n - 1) to size - 1: the outermost n at both ends stand for all beyond.
    j = np.arange(-(size + k + n - 1), size)
    weight = np.ones(j.size)
    weight[:n] = weight[-n:] = 1.0 / (1.0 - r)
    here, there = np.abs(j), np.abs(j + k)
    a, b = masses[listed[here]], masses[listed[there]]
    mass = weight * a * r ** repeats[here].astype(float)
    # Repetitions are beyond the support where the ratio is 0.
    a, b = (np.where((r == 0.0) & (repeats[x] > 0), 0.0, v) for x, v in ((here, a), (there, b)))
    some = (a > 0.0) & (mass > 0.0)
    finite = some & (b > 0.0)
    infinite = math.fsum(mass[some & ~finite])
    ratio = _log_ratio(a[finite], b[finite])
    values, largest = ratio, float(np.max(np.abs(ratio), initial=0.0))
    if r > 0.0:
        steps = (repeats[here] - repeats[there])[finite] * math.log(r)
        values, largest = ratio + steps, max(largest, float(np.max(np.abs(steps), initial=0.0)))
    slack = _LOSS_ERROR * largest + (k // n + 2) * _rise(noise)
    return Losses(values, mass[finite], infinite, slack)


def _rise(noise: Histogram) -> float:
    """A bound on the log of a rise that counts as none, where the repetitions begin.

    A smaller shift than the largest may lose so much more for each repetition between the two.
    """
    first = Fraction(noise.ratio) * Fraction(noise.masses[-noise.cells])
    return 2.0**-52 if noise.unimodal and first > Fraction(noise.masses[-1]) else 0.0


def cells_of(noise: Histogram, shift: Fraction) -> Fraction:
    """A shift in cells."""
    return shift * noise.cells / Fraction(noise.sensitivity)


def losses(noise: Histogram, cells: Fraction) -> Losses:
    """The losses for a positive shift by so many cells."""
    k = math.floor(cells)
    share = float(cells - k)
    parts = [(_whole(noise, k), 1.0 - share)] if k > 0 else []
    if k == 0:  # the loss is 0 on that share
        parts = [(Losses(np.zeros(1), np.ones(1), 0.0, 0.0), 1.0 - share)]
    if share > 0.0:
        parts.append((_whole(noise, k + 1), share))
    return Losses(
        np.concatenate([part.values for part, _ in parts]),
        np.concatenate([weight * part.masses for part, weight in parts]),
        math.fsum(weight * part.infinite for part, weight in parts),
        max(part.slack for part, _ in parts),
    )


def worst_shifts(noise: Histogram, cells: Fraction) -> list[Fraction]:
    """Shifts, in cells, of which one is the worst for each epsilon; the largest is the last."""
    if noise.unimodal:
        return [cells]
    return [Fraction(k) for k in range(1, math.ceil(cells))] + [cells]


class HistogramShift:
    """Histogram noise and a positive shift of it, or any smaller one if that is worse.

    Attributes are those of `scalar.shift.Shift`.
    """

    log_error = epsilon_error = 0.0  # what is handed out is an upper bound

    def __init__(self, noise: Histogram, shift: Fraction) -> None:
        cells = cells_of(noise, shift)
        self.all = [losses(noise, one) for one in worst_shifts(noise, cells)]
        self._slack = max(one.slack for one in self.all)
        top = max(float(np.max(one.values, initial=0.0)) for one in self.all)
        self.largest_loss = top + 2.0 * self._slack
        self._infinite = max(one.infinite for one in self.all)
        self.smallest_delta = Fraction(self._infinite * (1.0 + _MASS_ERROR))

    def _log_delta(self, epsilon: Array, side: float) -> tuple[Array, Array]:
        """A bound on log delta, below or above by the sign of `side`, and about log of the fall."""
        found = np.empty((2, epsilon.size))
        for k, value in enumerate(epsilon):
            beyond = side > 0.0 and value >= self.largest_loss
            at = math.inf if beyond else float(value) - side * self._slack
            found[:, k] = max(one.delta(at) for one in self.all)
        with np.errstate(divide="ignore"):  # 0
            log_delta, log_fall = np.log(found)
        return np.minimum(log_delta + side * _MASS_ERROR, 0.0), log_fall

    def log_bounds(self, epsilon: Array) -> tuple[Array, Array]:
        """Lower and upper bounds on log delta at epsilon >= 0, shape (n,); -inf for 0."""
        return self._log_delta(epsilon, -1.0)[0], self._log_delta(epsilon, 1.0)[0]

    def log_delta_and_slope(self, epsilon: Array) -> tuple[Array, Array]:
        """The upper bound on log delta, and about log of -d delta / d epsilon, at epsilon >= 0."""
        return self._log_delta(epsilon, 1.0)


def dominating_loss(parts: list[Losses]) -> Losses:
    """One loss whose profile is at least that of each, at every real epsilon.

    It has the masses m_i and the values log y_i whose profile, sum of m_i (1 - y / y_i)_+ and the
    infinite mass, joins points on the largest profile by straight lines in y. Rounding is made
    good by a factor on all masses, which then sum to slightly more than 1.
    """
    slack = max(part.slack for part in parts)
    infinite = max(part.infinite for part in parts)
    values = np.unique(np.concatenate([part.values for part in parts]))
    # Equally spaced points, and the loss next to each of them; not too close, for the differences.
    inner = np.linspace(values[0], values[-1], _MOST_KNOTS)
    knots = np.union1d(inner, values[np.searchsorted(values, inner[:-1])])
    knots = knots[np.append(True, np.diff(knots) > _CLOSEST * (values[-1] - values[0]))]
    knots[-1] = values[-1]
    top = np.max([part.bounds(knots)[1] for part in parts], axis=0)
    top = np.maximum(top * (1.0 + _MASS_ERROR), infinite)
    # Slopes in y / y_i: on the first stretch from y = 0, where D is 1, and between knots.
    steps = -np.diff(top) / -np.expm1(-np.diff(knots))  # of y_(i+1) (D_i - D_(i+1)) / (dy)
    left = np.append(1.0 - top[0], steps)
    right = np.append(steps * np.exp(-np.diff(knots)), 0.0)
    masses = np.maximum(left - right, 0.0)
    some = masses > 0.0
    found = Losses(knots[some], masses[some], infinite, slack)
    reached = found.bounds(knots)[0]
    short = np.divide(top, reached, out=np.ones(top.size), where=reached > 0.0)
    if not np.all((reached > 0.0) | (top == 0.0)):
        raise ArithmeticError("dominating loss: the profile underflows")
    whole = 1.0 / (float(np.sum(found.masses)) + infinite)
    factor = max(1.0, whole, float(np.max(short))) * (1.0 + _MASS_ERROR)
    return found._replace(masses=factor * found.masses, infinite=factor * infinite)
