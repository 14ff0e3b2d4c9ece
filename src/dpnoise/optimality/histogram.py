"""Noise whose density is a symmetric histogram, and exactly how private it is.

The linear programs of `dpnoise.optimality.bounds` end in masses of cells. Here they become
a distribution on the line with an exact profile, so that what a program claims is checked
without it, and made private where the solver's rounding left it short.

Cells have width h = 1/n and centres j h. For such a density f and a shift d = (k + s) h with
0 <= s < 1, f(. + d) is on each cell p_(j+k) / h for a share 1 - s of it and p_(j+k+1) / h for
the rest. The integral of [f(t) - e^epsilon f(t + d)]_+ is therefore linear in s, and its
largest value over |d| <= 1 is attained at a whole number of cells: n sums decide. Symmetry
makes d and -d alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

if TYPE_CHECKING:
    from dpnoise._types import Array


@dataclass(frozen=True, eq=False)
class Histogram:
    """A symmetric histogram on the line, with a geometric tail if there is one.

    Parameters
    ----------
    cells : int
        Cells per unit of length, n; the width is 1/n.
    masses : array of float, shape (m,)
        Mass of the cell centred at j/n for j = 0, ..., m - 1; cell -j has the same mass.
        m is at least 2 n + 1.
    ratio : float
        In [0, 1). Beyond the last cell, each n cells repeat the n before them times this.
    """

    cells: int
    masses: Array
    ratio: float

    @property
    def edges(self) -> Array:
        """Edges of the cells at t >= 0: 0, then those of the half-open cells, shape (m + 1,)."""
        return np.maximum(np.arange(-0.5, self.masses.size) / self.cells, 0.0)

    def total(self) -> float:
        """Mass of all cells, tail included: 1 but for rounding."""
        return self._moment(np.ones(self.masses.size), 0)

    def var(self) -> float:
        """Variance."""
        width = 1.0 / self.cells
        centres = np.arange(self.masses.size, dtype=float) * width
        return self._moment(centres**2 + width**2 / 12.0, 2)

    def mean_abs(self) -> float:
        """E|T|."""
        width = 1.0 / self.cells
        size = np.arange(self.masses.size, dtype=float) * width
        size[0] = width / 4.0  # the cell that straddles 0
        return self._moment(size, 1)

    def _moment(self, values: Array, power: int) -> float:
        """E v(T), with `values` of v by cell and v(t + 1) known from E t^i, i <= power."""
        inside = float(self.masses[0] * values[0]) + 2.0 * math.fsum(self.masses[1:] * values[1:])
        block, r = self.masses[-self.cells :], self.ratio
        if r == 0.0:
            return inside
        x = values[-self.cells :]
        # sums of r^m, m r^m and m^2 r^m over m >= 1
        sums = np.array([r / (1 - r), r / (1 - r) ** 2, r * (1 + r) / (1 - r) ** 3])
        centres = np.arange(self.masses.size - self.cells, self.masses.size) / self.cells
        # v at m further: (t + m)^2 = t^2 + 2 t m + m^2, or |t| + m, or 1
        linear = 2.0 * centres if power == 2 else np.full_like(x, float(power))
        terms = [x, linear, np.full_like(x, float(power == 2))]
        return inside + 2.0 * float(sums @ (np.array(terms) @ block))

    def deltas(self, epsilon: float) -> Array:
        """Delta for a shift by each of 1, ..., n cells, shape (n,)."""
        n, m, r = self.cells, self.masses.size, self.ratio
        block = self.masses[-n:]
        right = np.concatenate([self.masses, r * block, r * r * block])  # to cell m - 1 + 2 n
        both = np.concatenate([right[:0:-1], right])
        # Cells -(m - 1 + n), ..., m - 1. The outermost n of each side stand for all beyond,
        # which repeat them times r, r^2, ..., on either side of the shift.
        start = n
        source = both[start : start + 2 * (m - 1) + 1 + n]
        weight = np.ones(source.size)
        weight[:n] = weight[-n:] = 1.0 / (1.0 - r)
        shifted = sliding_window_view(both[start + 1 : start + source.size + n], source.size)
        with np.errstate(over="ignore"):  # e^epsilon p = inf exceeds every p
            rest = source - math.exp(min(epsilon, 709.0)) * shifted
        return np.maximum(rest, 0.0) @ weight

    def delta(self, epsilon: float) -> float:
        """Minimum delta for which this noise is (epsilon, delta)-DP, sensitivity 1."""
        return float(np.max(self.deltas(epsilon)))


def pure_envelope(cells: int, masses: Array, epsilon: float) -> Histogram:
    """(epsilon, 0)-DP noise: the lowest envelope of given masses from above, normalised.

    p_j becomes max_i p_i e^(-epsilon ceil(|i - j| / n)), normalised: since ceil(a + b) <=
    ceil(a) + 1 for b <= 1, cells at most n apart differ by at most e^epsilon. Masses that
    are (epsilon, 0)-DP already stay as they are. They are those of cells 0, 1, ..., symmetric
    about 0, with n cells per unit.
    """
    from scipy.ndimage import maximum_filter1d  # noqa: PLC0415 - heavy and rarely needed

    reach = masses.size + 2 * cells
    right = np.zeros(reach)
    right[: masses.size] = masses
    both = np.concatenate([right[:0:-1], right])
    shrink = math.exp(-epsilon)
    # One step of the maximum at a time: the largest within n cells, times e^-epsilon.
    while True:
        near = maximum_filter1d(both, 2 * cells + 1, mode="constant")
        grown = np.maximum(both, shrink * near)
        if np.array_equal(grown, both):
            break
        both = grown
    return _normalised(Histogram(cells, both[reach - 1 :], shrink))


def _normalised(noise: Histogram) -> Histogram:
    return Histogram(noise.cells, noise.masses / noise.total(), noise.ratio)


def repaired_histogram(cells: int, masses: Array, epsilon: float, delta: float) -> Histogram:
    """(epsilon, delta)-DP noise close to given masses, for sensitivity 1.

    delta is convex in the noise, so that a share of (epsilon, 0)-DP noise, see `pure_envelope`,
    lowers it as far as needed. The profile of the result is verified: RuntimeError if it fails.
    """
    # A hair inside the budget: masses are rounded to 1e-16 of themselves and sum to 1, which
    # moves delta by less than 1e-15 and the ratio of two masses by less than 1e-12.
    inner_epsilon = epsilon * (1.0 - 1e-12)
    inner_delta = max(delta * (1.0 - 1e-9) - 1e-15, 0.0)
    safe = pure_envelope(cells, masses, inner_epsilon)
    short = np.zeros_like(safe.masses)
    short[: masses.size] = masses
    raw = _normalised(Histogram(cells, short, 0.0))
    excess = raw.delta(epsilon)
    noise = raw
    if excess > inner_delta:
        kept = inner_delta / excess
        noise = Histogram(cells, kept * raw.masses + (1.0 - kept) * safe.masses, safe.ratio)
    if not noise.delta(epsilon) <= delta:
        message = (
            f"histogram noise: not verified, delta is {noise.delta(epsilon)!r} "
            f"at epsilon={epsilon!r}, asked for {delta!r}"
        )
        raise RuntimeError(message)
    return noise
