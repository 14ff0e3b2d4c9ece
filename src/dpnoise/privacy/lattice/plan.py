"""Choice of tilt, spacing and window of the lattice of `dpnoise.privacy.lattice.bounds`.

Everything here is a choice: it decides how close the bounds are, never whether they hold. The
weight exp(c loss) has c at the saddle point; the window holds the weighted sum up to a negligible
rest by Chernoff's bounds; and the distance of lattice points is adjusted to values that the loss
takes with positive probability (Laplace noise, the centre of flipped Huber noise).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from dpnoise.privacy.lattice.nodes import QUADRATURE, UNIT

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.privacy.lattice.discrete import DiscreteCoordinate
    from dpnoise.privacy.lattice.nodes import Nodes, ShiftedNoise

_MOST_TILT = 30.0  # between neighbouring lattice points
NEGLIGIBLE = 42.0  # e^-42 is below the rounding of what it is added to
_DEEPEST = 800.0  # -log delta is looked at up to here
_FINE = 0.125  # step of psi between cuts
_SKETCH = 4  # nodes between two coarse cuts
MOST_ATOMS, _LIGHT = 8, 1e-12  # how many atoms are met, and those too light to matter
# The lattice may be this much finer to meet them, in so many tries for each.
_FINER, _TRIES = 0.05, 500


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


class Plan(NamedTuple):
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


def make_plan(parts: list[AnyCoordinate], epsilon: float, size: int) -> Plan:
    """Choice of tilt, spacing and window for one epsilon and `size` lattice points."""
    log_copies = math.log(sum(part.copies for part in parts))
    log_delta = -_DEEPEST
    # The estimate of delta narrows the coordinates, and they make a better estimate.
    for _ in range(2):
        log_rest = log_delta - NEGLIGIBLE - log_copies
        parts = [part.narrowed(epsilon, log_rest) for part in parts]
        tilt = _saddle(parts, epsilon)
        total, _, spread = _cumulant(parts, tilt)
        log_delta = min(total - tilt * epsilon - math.log(tilt + 1.0), 0.0)
        log_delta = max(log_delta, *(part.log_rest for part in parts))
    spans = [part.span(tilt) for part in parts]
    widest = max(right - left for left, right in spans)
    steps = np.geomspace(1.0, 16.0, 9) / (math.sqrt(spread) + 1e-6 * widest)
    rise = np.array([_cumulant(parts, tilt + step)[0] - total for step in steps])
    fall = np.array([_cumulant(parts, tilt - step)[0] - total for step in steps])
    above, below = (rise + NEGLIGIBLE) / steps, (fall + NEGLIGIBLE) / steps
    high, low = float(above.min()), -float(below.min())
    # One coordinate may be wider than the weighted sum: two points for each of its cells.
    h = _spacing(parts, tilt, max(1.01 * (high - low), 0.5 * widest) / (size - 4))
    return Plan(
        tilt=min(tilt, _MOST_TILT / h),
        h=h,
        # Only what is above epsilon counts: what is to spare goes below.
        start=math.ceil(high / h) + 2 - size,
        steps=(float(steps[above.argmin()]), float(steps[below.argmin()])),
        parts=parts,
    )
