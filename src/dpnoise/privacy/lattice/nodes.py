"""The privacy loss of one coordinate as the nodes of a quadrature rule.

For noise with density g = exp(-psi), symmetric and log-concave, and a shift of 1 the loss
L(t) = psi(t + 1) - psi(t) is non-decreasing in t. Its distribution under g is described by the
nodes of a Gauss-Legendre rule between cuts: at the breaks of psi(t) and psi(t + 1), at small
steps of both and where the loss crosses given levels. In between, the integrands are smooth;
all are positive, so that nothing cancels however small a mass is.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.noise.base import Noise

_COARSE = 0.5  # step of psi between coarse cuts
UNIT = 2.0**-53  # rounding of one operation
_DEEPEST = 800.0  # psi rises by this over the widest range of noise values that is looked at
_FARTHEST, _RATIO = 1e12, 1.01  # beyond it is cut by percents, if the shift leads there
_GRADES = 60  # cuts towards the centre, for the powers of |t| there: psi rises by 2^-60 at first
# Nodes between two cuts. A rule of n leaves at most 64/15 max |f| / (r^2n - 1) of the length,
# with f on the ellipse around the cell whose axes add up to r half-lengths. Where psi is
# quadratic, n = 4 and r = 256 give 1e-15 of the mass, since psi changes by at most 1/8; where it
# is a power, n = 8 and the singularity two cells away, r = 5.8, give 1e-12 of the non-smooth part
# of the cell next to the innermost ones, where it is at most 1/8. The cuts at lattice points
# are exact to 1e-5 h, which counts with its square.
_NODES, _NODES_POWER = 4, 8
QUADRATURE = 2e-13  # a bound on their relative error


class Nodes(NamedTuple):
    """A discrete distribution of the loss: its values and the logarithms of their masses."""

    loss: Array
    log_mass: Array

    def with_node(self, loss: float, log_mass: float) -> Nodes:
        """The distribution with one more value."""
        if log_mass == -math.inf:
            return self
        return Nodes(np.append(self.loss, loss), np.append(self.log_mass, log_mass))

    def log_moment(self, tilt: float) -> tuple[float, float, float]:
        """Log E exp(tilt L), and mean and variance of L under that weight."""
        exponent = self.log_mass + tilt * self.loss
        top = float(np.max(exponent))
        weight = np.exp(exponent - top)
        total = float(np.sum(weight))
        # Not by BLAS, whose threads take longer to meet than sums of this length.
        mean = float(np.sum(weight * self.loss)) / total
        spread = float(np.sum(weight * (self.loss - mean) ** 2)) / total
        return top + math.log(total), mean, spread


class ShiftedNoise:
    """Log-concave noise under a shift of 1, and what the lattice needs of its loss.

    The noise values from `left` to `right` are looked at, none if the loss is infinite. The loss
    does not change any more from `flat_from` on, if there is such a value; no finite loss is larger
    than `largest`, and `log_infinite` is log P(loss infinite).
    """

    def __init__(self, noise: Noise) -> None:
        self.noise = noise
        pieces = noise.pieces()
        self._nodes = _NODES_POWER if pieces is None else _NODES
        breaks = [0.0] if pieces is None else [piece.left for piece in pieces]
        self._breaks = np.array([b for b in breaks if math.isfinite(b)])
        self._floor = float(-noise.logpdf(0.0))
        if math.isfinite(noise.bound):
            end = noise.bound * (1.0 - 8.0 * UNIT)  # inside the support after rounding
            self.left, self.right = -end, end - 1.0
            self.flat_from = math.inf
            self.log_infinite = float(noise.logsf(noise.bound - 1.0))
        else:
            end = self._reach()
            self.left, self.right = -end, end
            last = pieces[-1] if pieces else None
            self.flat_from = last.left if last and last.curvature == 0.0 else math.inf
            self.log_infinite = -math.inf
        self.largest = math.inf
        if self.flat_from < math.inf or self.log_infinite > -math.inf:
            # The loss may still grow beyond what is looked at.
            far = max(self.right, self.flat_from) if self.flat_from < math.inf else self.right
            rounding = self.rounding(np.array([0.0, far]))
            self.largest = float(self.loss(np.asarray(far))) + rounding

    def _psi(self, t: Array) -> Array:
        return -self.noise.logpdf(t)

    def loss(self, t: Array) -> Array:
        """L(t) = psi(t + d) - psi(t)."""
        return self._psi(t + 1.0) - self._psi(t)

    def _reach(self) -> float:
        """A noise value at which psi has risen by `_DEEPEST`."""
        end = self.noise.mean_abs()
        while self._psi(np.asarray(end)) - self._floor < _DEEPEST:
            end *= 2.0
        return float(self._radii(np.array([_DEEPEST]), end)[0])

    def _radii(self, rises: Array, end: float) -> Array:
        """The |t| <= end at which psi has risen by `rises`, by bisection."""
        low, high = np.zeros_like(rises), np.full_like(rises, end)
        for _ in range(60):
            middle = 0.5 * (low + high)
            below = self._psi(middle) - self._floor < rises
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return high

    def cuts(self, left: float, right: float, step: float) -> Array:
        """Cuts of [left, right] at all breaks and where psi has risen by `step`.

        Between two of them psi(t) and psi(t + d) are smooth, and change by at most `step`, or
        by a percent where the density is so small that only the loss still matters.
        """
        end = min(max(-left, right + 1.0), self.noise.bound)
        rise = float(self._psi(np.asarray(end)) - self._floor)
        grades = step * 2.0 ** -np.arange(1.0, _GRADES)
        levels = np.concatenate([grades, np.arange(1.0, min(rise, _DEEPEST) / step) * step])
        if rise > _DEEPEST:
            far = math.log(min(rise, _FARTHEST) / _DEEPEST) / math.log(_RATIO)
            levels = np.concatenate([levels, _DEEPEST * _RATIO ** np.arange(far)])
        radii = np.concatenate([self._radii(levels, end), self._breaks])
        at = np.concatenate([radii, -radii])
        at = np.concatenate([at, at - 1.0])
        inside = at[(at > left) & (at < right)]
        return np.unique(np.concatenate([[left], inside, [right]]))

    @cached_property
    def coarse(self) -> Array:
        """Coarse cuts of all that is looked at."""
        return self.cuts(self.left, self.right, _COARSE)

    def crossings(self, cuts: Array, levels: Array) -> Array:
        """The noise values at which the loss crosses increasing `levels`.

        The loss is quadratic between cuts, or close to it.
        """
        at, middle = self.loss(cuts), self.loss(0.5 * (cuts[1:] + cuts[:-1]))
        at = np.maximum.accumulate(at)
        cell = np.clip(np.searchsorted(at, levels, side="right") - 1, 0, len(cuts) - 2)
        origin, width = cuts[cell], np.diff(cuts)[cell]
        rise, half = (at[1:] - at[:-1])[cell], (middle - at[:-1])[cell]
        slope, bend = 4.0 * half - rise, 2.0 * rise - 4.0 * half
        gap = levels - at[cell]
        root = np.sqrt(np.maximum(slope * slope + 4.0 * bend * gap, 0.0))
        steep = slope + root > 0
        share = np.divide(2.0 * gap, slope + root, out=np.full_like(gap, 0.5), where=steep)
        share = np.clip(share, 0.0, 1.0)
        for _ in range(0 if self._nodes == _NODES else 3):
            miss = self.loss(origin + share * width) - levels
            tangent = slope + 2.0 * bend * share
            safe = tangent > 0.25 * rise
            change = np.divide(miss, tangent, out=np.zeros_like(miss), where=safe)
            share = np.clip(share - change, 0.0, 1.0)
        return origin + share * width

    def nodes(self, cuts: Array, count: int | None = None) -> Nodes:
        """The distribution of the loss between the first cut and the last.

        With fewer nodes between two cuts than by default it is a sketch.
        """
        points, weights = np.polynomial.legendre.leggauss(count or self._nodes)
        half = 0.5 * np.diff(cuts)
        t = (cuts[:-1] + half)[:, None] + half[:, None] * points
        psi = self._psi(t)
        log_mass = np.log(weights) + np.log(half)[:, None] - psi
        return Nodes((self._psi(t + 1.0) - psi).ravel(), log_mass.ravel())

    def rounding(self, cuts: Array) -> float:
        """A bound on the absolute rounding error of psi and of the loss."""
        psi = np.concatenate([self._psi(cuts), self._psi(cuts + 1.0)])
        t = np.concatenate([cuts, cuts + 1.0])
        ok = np.isfinite(psi)
        steep = np.abs(np.diff(psi[ok])) / np.maximum(np.abs(np.diff(t[ok])), 1e-300)
        # A rounding of t counts with t psi'(t); the slope of a cell is that at its middle.
        moved = np.max(2.0 * steep * np.abs(t[ok][1:]), initial=0.0)
        return 8.0 * UNIT * (float(np.max(np.abs(psi[ok]), initial=1.0)) + float(moved))
