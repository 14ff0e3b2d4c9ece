"""Coordinates with a continuous loss as quadrature nodes, and the choice of a lattice for them.

**Nodes.** For noise with density g = exp(-psi), symmetric and log-concave, and a shift of 1 the
loss L(t) = psi(t + 1) - psi(t) is non-decreasing in t. Its distribution under g is described by the
nodes of a Gauss-Legendre rule between cuts: at the breaks of psi(t) and psi(t + 1), at small
steps of both and where the loss crosses given levels. In between, the integrands are smooth;
all are positive, so that nothing cancels however small a mass is.

**Tilt, spacing and window** decide how close the bounds of `lattice.bounds` are, never whether they
hold. The weight exp(c loss) has c at the saddle point; the window holds the weighted sum up to a
negligible rest by Chernoff's bounds; and the distance of lattice points is adjusted to values that
the loss takes with positive probability (Laplace noise, the centre of flipped Huber noise).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.noise.base import Noise
    from dpnoise.privacy.lattice.discrete import DiscreteCoordinate


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
_MOST_TILT = 30.0  # between neighbouring lattice points, also of steps
NEGLIGIBLE = 42.0  # e^-42 is below the rounding of what it is added to
_DEEPEST_DELTA = 800.0  # -log delta is looked at up to here
_FINE = 0.125  # step of psi between cuts
_SKETCH = 4  # nodes between two coarse cuts
MOST_ATOMS, _LIGHT = 8, 1e-12  # how many atoms are met, and those too light to matter
# The lattice may be this much finer to meet them, in so many tries for each.
_FINER, _TRIES = 0.05, 500


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
        # ends: doubles; psi grows at least linearly
        while self._psi(np.asarray(end)) - self._floor < _DEEPEST:
            end *= 2.0
        return float(self._radii(np.array([_DEEPEST]), end)[0])

    def _radii(self, rises: Array, end: float) -> Array:
        """The |t| <= end at which psi has risen by `rises`, by bisection."""
        low, high = np.zeros_like(rises), np.full_like(rises, end)
        # ends: a choice of cuts: bounds hold on any
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


class Planned(NamedTuple):
    """The loss of a coordinate as nodes to be rounded down and up.

    `log_infinite` is the logarithm of the mass that counts as infinite when rounded up, `rounding`
    bounds the error of the losses, and `error` is that of the masses, relative.
    """

    below: Nodes
    above: Nodes
    log_infinite: float
    rounding: float
    error: float


class Coordinate:
    """Copies of one coordinate, with a rough distribution of its loss.

    `cuts` are noise values with a finite loss and small steps of psi between them, by default all
    that matter. The loss is at least `smallest`, up to a mass of far below exp(-`NEGLIGIBLE`).
    `log_rest` is the logarithm of the mass beyond the cuts and `log_last` that of the part of it
    with a finite loss, which is at the last cut in the distribution `sketch`.
    """

    def __init__(self, source: ShiftedNoise, copies: int, cuts: Array | None = None) -> None:
        self.source, self.copies = source, copies
        self.largest, self.log_infinite = source.largest, source.log_infinite
        cuts = source.coarse if cuts is None else cuts
        loss = source.loss(cuts)
        self.cuts, self._loss = cuts[np.isfinite(loss)], loss[np.isfinite(loss)]
        self.smallest = float(self._loss[0])
        self.log_rest = self.log_last = float(source.noise.logsf(self.cuts[-1]))
        if source.log_infinite > -math.inf:
            share = source.log_infinite - self.log_rest
            whole = self.cuts[-1] == source.right or share >= 0.0
            self.log_last = -math.inf if whole else self.log_rest + math.log(-math.expm1(share))
        self.sketch = source.nodes(self.cuts, _SKETCH).with_node(
            float(self._loss[-1]), self.log_last
        )
        self._slack = source.rounding(self.cuts)

    def narrowed(self, epsilon: float, log_rest: float) -> Coordinate:
        """The coordinate up to a noise value beyond which it matters little.

        That the loss is infinite there, or that at that value, changes the profile by at most
        exp(`log_rest`): by the mass, or the mass times exp(epsilon - loss).
        """
        mass = self.source.noise.logsf(self.cuts) + np.minimum(epsilon - self._loss, 0.0)
        rare = np.flatnonzero(mass < log_rest)
        end = max(rare[0], 1) + 1 if len(rare) else len(self.cuts)
        return (
            self if end == len(self.cuts) else Coordinate(self.source, self.copies, self.cuts[:end])
        )

    def span(self, tilt: float) -> tuple[float, float]:
        """The losses at the ends of what matters."""
        low, high = self.source.loss(np.array(self._ends(tilt)))
        return float(low), float(high)

    def planned(self, h: float, tilt: float) -> Planned:
        """The losses to round, cut at half the lattice points."""
        source = self.source
        left, right = self._ends(tilt)
        cuts = source.cuts(left, right, _FINE)
        first, last = map(float, source.loss(cuts[[0, -1]]))
        start, end = math.ceil(2.0 * first / h), math.floor(2.0 * last / h)
        levels = 0.5 * h * np.arange(float(start), float(end + 1))
        nodes = source.nodes(np.union1d(cuts, source.crossings(cuts, levels)))
        rounding = source.rounding(cuts)
        below = nodes.with_node(last, self.log_last)
        above = nodes.with_node(first, float(source.noise.logsf(-left)))
        infinite = self.log_rest
        if right >= source.flat_from:
            above, infinite = above.with_node(last, infinite), -math.inf
        error = QUADRATURE + rounding + 8.0 * UNIT * len(cuts)
        return Planned(below, above, infinite, rounding, error)

    def _ends(self, tilt: float) -> tuple[float, float]:
        """Noise values with negligible weight to the left, and the last one."""
        weight = self.source.noise.logsf(-self.cuts) + tilt * self._loss
        weight -= self.sketch.log_moment(tilt)[0]
        little = np.flatnonzero(weight < -NEGLIGIBLE - math.log(self.copies))
        left = min(little[-1], len(self.cuts) - 2) if len(little) else 0
        return float(self.cuts[left]), float(self.cuts[-1])

    def atoms(self, tilt: float) -> list[tuple[float, float]]:
        """The size of values taken with positive probability, and their weights."""
        loss, log_mass = self.sketch
        label = np.concatenate([[0], np.cumsum(np.diff(loss) > self._slack)])
        weight = np.exp(log_mass + tilt * loss - self.sketch.log_moment(tilt)[0])
        first, count = np.unique(label, return_index=True, return_counts=True)[1:]
        total = np.where(count > 1, np.bincount(label, weight), 0.0)
        heavy = [k for k in np.argsort(-total)[:MOST_ATOMS] if total[k] > _LIGHT]
        # Close by, the loss is rounded to the same: the heaviest node is in the flat stretch.
        at = [first[k] + np.argmax(weight[first[k] : first[k] + count[k]]) for k in heavy]
        return [
            (abs(float(loss[i])), self.copies * float(total[k]))
            for i, k in zip(at, heavy, strict=True)
        ]


AnyCoordinate: TypeAlias = "Coordinate | DiscreteCoordinate"


class LatticePlan(NamedTuple):
    """Tilt, spacing and window of a lattice.

    The weight is exp(tilt loss), h the distance of lattice points and `start` the index of the
    first one of the sum. `steps` are the tilts, further up and further down, for bounds on what
    lies above and below the window, and `parts` the coordinates, each up to where it matters.
    """

    tilt: float
    h: float
    start: int
    steps: tuple[float, float]
    parts: list[AnyCoordinate]


def _cumulant(parts: list[AnyCoordinate], tilt: float) -> tuple[float, float, float]:
    """Log E exp(tilt sum) with its first two derivatives, roughly."""
    moments = np.array([part.sketch.log_moment(tilt) for part in parts])
    total, mean, spread = np.array([part.copies for part in parts], dtype=float) @ moments
    return float(total), float(mean), float(spread)


def _saddle(parts: list[AnyCoordinate], epsilon: float) -> float:
    """The tilt at which exp(-c epsilon) M(c) / (c (c + 1)) is least, roughly."""
    _, mean, spread = _cumulant(parts, 0.0)
    scale = max(math.sqrt(spread), abs(mean), 1e-300)

    def slope(log_tilt: float) -> float:
        c = math.exp(log_tilt)
        return _cumulant(parts, c)[1] - epsilon - 1.0 / c - 1.0 / (c + 1.0)

    low, high = math.log(1e-6 / scale), math.log(1e5 / scale)
    if slope(low) > 0:
        return math.exp(low)
    if slope(high) < 0:
        return math.exp(high)
    from scipy.optimize import brentq  # noqa: PLC0415 - 0.1 s

    return math.exp(brentq(slope, low, high, xtol=1e-3))


def _spacing(parts: list[AnyCoordinate], tilt: float, smallest: float) -> float:
    """A distance of lattice points, not much above `smallest`, that meets the atoms.

    An atom between two points goes down to the next for the lower bound, which costs its
    distance from it; on a point it costs nothing.
    """
    atoms = [atom for part in parts for atom in part.atoms(tilt) if atom[0] > smallest]
    if not atoms:
        return smallest
    candidates = []
    for value, _ in atoms:
        most = math.floor(value / smallest)
        fewest = min(most, math.ceil(value / smallest / (1.0 + _FINER)))
        candidates.append(value / np.unique(np.linspace(fewest, most, _TRIES).round()))
    h = np.concatenate(candidates)
    lost = np.zeros_like(h)
    for value, weight in atoms:
        share = value / h
        lost += weight * np.maximum(share - np.floor(share * (1.0 + 1e-12)), 0.0) * h
    # The rest of the gap is that of a variance of h^2 / 4 for each copy.
    copies = sum(part.copies for part in parts)
    return float(h[np.argmin(lost + 0.125 * (tilt + 1.0) * copies * h * h)])


def make_plan(parts: list[AnyCoordinate], epsilon: float, size: int) -> LatticePlan:
    """Choice of tilt, spacing and window for one epsilon and `size` lattice points."""
    log_copies = math.log(sum(part.copies for part in parts))
    log_delta = -_DEEPEST_DELTA
    # The estimate of delta narrows the coordinates, and they make a better estimate.
    # ends: a choice of lattice: bounds hold on any
    for _ in range(2):
        log_rest = log_delta - NEGLIGIBLE - log_copies
        parts = [part.narrowed(epsilon, log_rest) for part in parts]
        tilt = _saddle(parts, epsilon)
        total, _, spread = _cumulant(parts, tilt)
        log_delta = min(total - tilt * epsilon - math.log(tilt + 1.0), 0.0)
        log_delta = max(log_delta, *(part.log_rest for part in parts))
    spans = [part.span(tilt) for part in parts]
    widest = max(right - left for left, right in spans)
    steps = np.geomspace(1.0, 16.0, 9) / (math.sqrt(spread) + 1e-6 * widest or 1.0)
    rise = np.array([_cumulant(parts, tilt + step)[0] - total for step in steps])
    fall = np.array([_cumulant(parts, tilt - step)[0] - total for step in steps])
    above, below = (rise + NEGLIGIBLE) / steps, (fall + NEGLIGIBLE) / steps
    high, low = float(above.min()), -float(below.min())
    # One coordinate may be wider than the weighted sum: two points for each of its cells.
    h = _spacing(parts, tilt, max(1.01 * (high - low), 0.5 * widest) / (size - 4))
    # Beyond the largest tilt a mass added for an underflow would count above the largest sum.
    up, down = (min(float(steps[k.argmin()]), _MOST_TILT / h) for k in (above, below))
    return LatticePlan(
        tilt=min(tilt, _MOST_TILT / h),
        h=h,
        # Only what is above epsilon counts: what is to spare goes below.
        start=math.ceil(high / h) + 2 - size,
        steps=(up, down),
        parts=parts,
    )
