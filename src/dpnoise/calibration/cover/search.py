"""A lower bound on the variance of a family, by intervals of its shapes.

For a variance v each interval has one noise that is more private than all noise of the family with
a shape in it and a variance of at most v (`ordered`, `staircase`). Where a proved lower bound on
the delta of that noise is above the budget's, the interval holds no noise that keeps the budget
with so little variance. Other intervals are halved, those first whose dominating noise has most
variance. Once it has hardly more than v, the shape itself is the reason: either noise of that shape
keeps the budget with variance v, and is better than what was known, or the bounds on delta are too
far apart, and the bound on the variance is lowered until they are not.

A smaller v leaves intervals excluded that are, so that nothing is ever looked at again.
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dpnoise.calibration.certify import certified_delta
from dpnoise.privacy.vector import vector_profile

if TYPE_CHECKING:
    from dpnoise.calibration.budget import Budget
    from dpnoise.noise.base import Noise

_RTOL = 1e-3  # of the bounds on delta, which falls much faster than the variance rises
_FINE = 0.125  # the excess of a dominating noise, in units of the tolerance: nothing to halve
_STEPS = 100  # to smaller variances of one shape; where they end does not matter
_ROUNDING = 1e-11, 1e-15  # of log delta, and for each coordinate


class Shapes(Protocol):
    """The shapes of a family, by places from 0 to 1."""

    @property
    def intervals(self) -> int:
        """How many intervals of equal length to start with."""

    @property
    def parameter(self) -> str:
        """What the shape is, in the family's parameters."""

    def shape(self, place: float) -> float:
        """The parameter at a place."""

    def member(self, place: float, variance: float) -> Noise:
        """The noise of a shape at a place above 0 and below 1."""

    def dominating(self, low: float, high: float, variance: float) -> Noise:
        """Noise more private than any of a shape in between with at most this variance."""


class Cell(NamedTuple):
    """An interval of shapes without private noise below a variance, and the reason.

    Attributes
    ----------
    shapes : (float, float)
        The family's parameter at the ends of the interval.
    noise : Noise
        For sensitivity 1: more private than every member of the family with a shape in the
        interval and the variance of the bound or less.
    log_delta : float
        A proved lower bound on the logarithm of its delta, above that of the budget.
    """

    shapes: tuple[float, float]
    noise: Noise
    log_delta: float


class Cover(NamedTuple):
    """A lower bound on a variance for sensitivity 1, its reasons and better noise, if any."""

    variance: float
    cells: tuple[Cell, ...]
    better: Noise | None


class _Search:
    """One family and one budget for sensitivity 1, delta > 0."""

    def __init__(self, shapes: Shapes, budget: Budget, known: float, rtol: float) -> None:
        self.shapes, self.budget, self.rtol = shapes, budget, rtol
        self.variance = known * (1.0 - rtol)
        self.better: Noise | None = None
        flat, each = _ROUNDING
        self.target = math.log(budget.delta) + flat + each * budget.dimension

    def cell(self, low: float, high: float) -> Cell:
        """An interval with its dominating noise and a lower bound on log delta."""
        noise = self.shapes.dominating(low, high, self.variance)
        ends = self.shapes.shape(low), self.shapes.shape(high)
        try:
            profile = vector_profile(
                noise, 1.0, self.budget.epsilon, copies=self.budget.dimension, rtol=_RTOL
            )
        except ValueError:  # noise beyond the range of the account
            return Cell(ends, noise, -math.inf)
        return Cell(ends, noise, float(profile.log_lower))

    def improved(self, place: float) -> bool:
        """Whether the noise of a shape keeps the budget; then about its least is to be beaten."""
        variance, step, better = self.variance, self.rtol, False
        for _ in range(_STEPS):
            noise = self.shapes.member(place, variance)
            if certified_delta(noise, self.budget) > self.budget.delta:
                break
            better, self.better = True, noise
            self.variance = noise.var() * (1.0 - self.rtol)
            variance, step = variance * (1.0 - step), min(2.0 * step, 0.5)
        return better


def cover(shapes: Shapes, budget: Budget, known: float, rtol: float, most: int) -> Cover:
    """The greatest variance below `known` by about `rtol` that can be excluded, or less.

    `known` is the variance of private noise for sensitivity 1, which the budget is for. At most
    `most` intervals are looked at; those that are left then only lower the bound.
    """
    search = _Search(shapes, budget, known, rtol)
    cells: list[Cell] = []
    open_: list[tuple[float, float, float]] = []  # by minus the excess of the dominating noise

    def push(low: float, high: float) -> None:
        excess = shapes.dominating(low, high, search.variance).var() / search.variance - 1.0
        heapq.heappush(open_, (-excess, low, high))

    for k in range(shapes.intervals):
        push(k / shapes.intervals, (k + 1) / shapes.intervals)
    for _, low, high in open_:  # should the search have gone wrong
        search.improved(0.5 * (low + high))
    left: list[tuple[float, float]] = []
    for _ in range(most):
        if not open_:
            break
        excess, low, high = heapq.heappop(open_)
        middle, cell = 0.5 * (low + high), search.cell(low, high)
        if cell.log_delta > search.target:
            cells.append(cell)
        elif -excess > _FINE * rtol:
            push(low, middle)
            push(middle, high)
        elif search.improved(middle):
            push(low, high)
        else:
            left.append((low, high))
    left += [(low, high) for _, low, high in open_]
    return _lowered(search, left, cells)


def _lowered(search: _Search, left: list[tuple[float, float]], cells: list[Cell]) -> Cover:
    """The cover with a variance so small that the intervals left are excluded too; 0 if none is."""
    step = search.rtol
    while left:
        cell = search.cell(*left[-1])
        if cell.log_delta > search.target:
            cells.append(cell)
            left.pop()
        elif step < 1.0:
            search.variance *= 1.0 - step
            step *= 2.0
        else:
            return Cover(0.0, (), search.better)
    cells.sort(key=lambda cell: cell.shapes)
    return Cover(search.variance, tuple(cells), search.better)
