"""Losses of steps on Poisson samples on a lattice, for sums whose transform does not fade.

Where a record is hardly ever sampled, or sigma is small, nearly all of a step's loss is at the loss
of a record that is not sampled, log(1 - q), and the transform of the sum stays far from 0. There
`dpnoise.privacy.lattice` rounds the losses up and down. All losses are counted from log(1 - q) (its
negative where the record is added), so that this value is on the lattice whatever its spacing:
the sum is compared with epsilon less as much for each step. docs/sampling.md has the proofs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise.privacy.inversion.inversion import LogBounds
from dpnoise.privacy.lattice.bounds import lattice_sums
from dpnoise.privacy.lattice.plan import NEGLIGIBLE, QUADRATURE, UNIT, Nodes, Planned

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpnoise._types import Array
    from dpnoise.privacy.lattice.bounds import LatticeSum

_REACH = 40.0  # beyond, a normal density has e^-800
_STEP = 0.125  # of the logarithm of the density between two cuts, and of y
_NODES, _SKETCH = 4, 2  # between two cuts
_NARROWEST = 0.0625  # of y between two cuts near 0
_SIZES, _FEWEST = (1 << 13, 1 << 15, 1 << 17), 1 << 11  # points of the lattice, of one kind of step
_ENOUGH = 1e-7  # relative gap
_POINT = 4.0  # evaluations that take as long as a point of a lattice
_LOOSER = 1.5  # a gap from the sums of another epsilon, beside the gap there
_MOST_WORK = 2e6  # evaluations, after which the last sums serve every epsilon


def _centre_cuts() -> Array:
    """Cuts for a normal density, so that its logarithm changes by at most `_STEP`, as y does."""
    far = np.sqrt(2.0 * _STEP * np.arange(1.0, 0.5 * _REACH**2 / _STEP + 1.0))
    near = np.arange(0.0, 2.0 + _NARROWEST, _NARROWEST)
    right = np.unique(np.concatenate([near, far[far > 2.0]]))
    return np.concatenate([-right[:0:-1], right])


class SampledCoordinate:
    """Copies of one step; attributes and methods as of `lattice.plan.Coordinate`.

    `cuts` are values of t = y, or -y where the record is added, so that the loss rises with t.
    """

    def __init__(
        self, sigma: float, rate: float, copies: int, *, removed: bool, cuts: Array | None = None
    ) -> None:
        self.sigma, self.rate, self.copies, self.removed = sigma, rate, copies, removed
        self._odds = math.log(rate) - math.log1p(-rate)
        self.log_infinite = -math.inf
        self.largest = math.inf if removed else 0.0
        if cuts is None:
            centre = _centre_cuts()
            cuts = np.union1d(centre, centre + (1.0 if removed else -1.0) / sigma)
        self.cuts, self._loss = cuts, self.loss(cuts)
        self.smallest = float(self._loss[0])
        self.log_rest = self.log_last = float(self._log_sf(cuts[-1:])[0])
        sketch = self._nodes(cuts, _SKETCH)
        self.sketch = sketch.with_node(float(self._loss[-1]), self.log_last)

    def loss(self, t: Array) -> Array:
        """The loss, less its value for a record that is not sampled."""
        y = t if self.removed else -t
        exponent = self._odds + (y - 0.5 / self.sigma) / self.sigma
        value = np.logaddexp(0.0, exponent)
        return value if self.removed else -value

    def _log_sf(self, t: Array) -> Array:
        """Log P(more than t)."""
        plain = special.log_ndtr(-t)
        if not self.removed:
            return plain
        moved = special.log_ndtr(1.0 / self.sigma - t)
        return np.logaddexp(math.log1p(-self.rate) + plain, math.log(self.rate) + moved)

    def _log_cdf(self, t: Array) -> Array:
        """Log P(at most t)."""
        plain = special.log_ndtr(t)
        if not self.removed:
            return plain
        moved = special.log_ndtr(t - 1.0 / self.sigma)
        return np.logaddexp(math.log1p(-self.rate) + plain, math.log(self.rate) + moved)

    def _nodes(self, cuts: Array, count: int) -> Nodes:
        points, weights = np.polynomial.legendre.leggauss(count)
        half = 0.5 * np.diff(cuts)
        t = ((cuts[:-1] + half)[:, None] + half[:, None] * points).ravel()
        loss = self.loss(t)
        log_mass = (np.log(half)[:, None] + np.log(weights)).ravel() - 0.5 * t * t
        log_mass -= 0.5 * math.log(2.0 * math.pi)
        if self.removed:
            log_mass += loss + math.log1p(-self.rate)
        return Nodes(loss, log_mass)

    def _crossings(self, levels: Array) -> Array:
        """Where the loss is at levels: above 0 with the record removed, below 0 else."""
        size = levels if self.removed else -levels
        size = size[size > 0.0]
        exponent = size + np.log(-np.expm1(-size))
        y = self.sigma * (exponent - self._odds) + 0.5 / self.sigma
        return y if self.removed else -y

    def narrowed(self, epsilon: float, log_rest: float) -> SampledCoordinate:
        """The step up to a t beyond which it matters little, as of `lattice.plan.Coordinate`."""
        mass = self._log_sf(self.cuts) + np.minimum(epsilon - self._loss, 0.0)
        rare = np.flatnonzero(mass < log_rest)
        end = max(rare[0], 1) + 1 if len(rare) else len(self.cuts)
        if end == len(self.cuts):
            return self
        cuts = self.cuts[:end]
        return SampledCoordinate(
            self.sigma, self.rate, self.copies, removed=self.removed, cuts=cuts
        )

    def _ends(self, tilt: float) -> tuple[int, int]:
        """The cuts between which all that matters is."""
        weight = self._log_cdf(self.cuts) + tilt * self._loss - self.sketch.log_moment(tilt)[0]
        little = np.flatnonzero(weight < -NEGLIGIBLE - math.log(self.copies))
        return min(int(little[-1]), len(self.cuts) - 2) if len(little) else 0, len(self.cuts)

    def span(self, tilt: float) -> tuple[float, float]:
        """The losses at the ends of what matters."""
        first, end = self._ends(tilt)
        return float(self._loss[first]), float(self._loss[end - 1])

    def atoms(self, tilt: float) -> list[tuple[float, float]]:  # noqa: ARG002
        """None: the loss of a record that is not sampled is 0."""
        return []

    def planned(self, h: float, tilt: float) -> Planned:
        """The losses to round, cut at half the lattice points."""
        cuts = self.cuts[slice(*self._ends(tilt))]
        first, last = map(float, self.loss(cuts[[0, -1]]))
        start, end = math.ceil(2.0 * first / h), math.floor(2.0 * last / h)
        at = self._crossings(0.5 * h * np.arange(float(start), float(end + 1)))
        inside = at[(at > cuts[0]) & (at < cuts[-1])]
        nodes = self._nodes(np.union1d(cuts, inside), _NODES)
        below = nodes.with_node(last, self.log_last)
        above = nodes.with_node(first, float(self._log_cdf(cuts[:1])[0]))
        infinite = self.log_rest
        if not self.removed:
            above, infinite = above.with_node(0.0, infinite), -math.inf
        far = float(np.max(np.abs(cuts)))
        exponent = abs(self._odds) + (far + 1.0 / self.sigma) / self.sigma
        largest = max(abs(first), abs(last))
        # The derivative of the loss by its exponent is at most 1, and at most the loss.
        rounding = 8.0 * UNIT * (largest + min(largest, 1.0) * exponent)
        error = QUADRATURE + rounding + 8.0 * UNIT * (0.5 * far * far + 64.0)
        return Planned(below, above, infinite, rounding, error)


class Rounded:
    """Bounds for steps with their numbers, in one direction, by sums rounded down and up."""

    def __init__(self, steps: Iterable[tuple[float, float, int]], *, removed: bool) -> None:
        steps = list(steps)
        turn = 1.0 if removed else -1.0
        self._shift = turn * math.fsum(n * math.log1p(-rate) for _, rate, n in steps)
        self._doubt = 8.0 * UNIT * abs(self._shift)
        self._parts = [
            SampledCoordinate(sigma, rate, n, removed=removed) for sigma, rate, n in steps
        ]
        self._removed = removed
        fewer = max(len(steps) - 1, 0).bit_length()
        self._sizes = [max(size >> fewer, _FEWEST) for size in _SIZES]
        self._last: tuple[LatticeSum, LatticeSum] | None = None
        self._gap = 0.0  # of the last sums where they were made, if none had less
        self.work = 0.0  # evaluations of a transform that take as long as all sums so far

    def _sums(self, epsilon: float, size: int) -> bool:
        """Whether there are sums for epsilons near one."""
        shifted = epsilon - self._shift
        if not self._removed and shifted >= 0.0:
            return False
        self.work += _POINT * size * len(self._parts)
        with np.errstate(all="ignore"):
            try:
                self._last = lattice_sums(self._parts, shifted, size)  # type: ignore[arg-type]  # of its interface
            except (ValueError, OverflowError):  # nothing but rounding is left of the losses
                self._last = None
        return self._last is not None

    def _bounds(self, epsilon: float) -> LogBounds:
        """Bounds on log delta by the last sums."""
        assert self._last is not None  # noqa: S101  (there are sums)
        below, above = self._last
        high = min(above.log_delta(epsilon - self._shift - self._doubt), 0.0)
        low = min(below.log_delta(epsilon - self._shift + self._doubt), high)
        return LogBounds(low, 0.5 * (low + high) if low > -math.inf else high, high)

    def log_delta(self, epsilon: float, gap: float = 0.0, *, rough: bool = False) -> LogBounds:
        """Bounds on log delta with a gap, if possible; by the last sums where these are as good."""
        best, enough = LogBounds(-math.inf, 0.0, 0.0), max(_ENOUGH, gap)
        if self._last is not None:
            best = self._bounds(epsilon)
            if best.gap <= max(enough, min(_LOOSER * self._gap, 1.0)) or self.work > _MOST_WORK:
                return best
        self._gap = 0.0
        for size in self._sizes[: 1 if rough else None]:
            if not self._sums(epsilon, size):
                break
            found = self._bounds(epsilon)
            best = found if found.gap < best.gap or best.upper == 0.0 else best
            if best.gap <= enough:
                return best
        self._gap = 0.0 if rough else best.gap
        return best
