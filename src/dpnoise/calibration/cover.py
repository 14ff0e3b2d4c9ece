"""Global certificate: a lower bound on the variance of a family, by intervals of its shapes.

For a variance v each interval has one noise that is more private than all noise of the family with
a shape in it and a variance of at most v. Where a proved lower bound on the delta of that noise is
above the budget's, the interval holds no noise that keeps the budget with so little variance. Other
intervals are halved, those first whose dominating noise has most variance. Once it has hardly more
than v, the shape itself is the reason: either noise of that shape keeps the budget with variance v,
and is better than what was known, or the bounds on delta are too far apart, and the bound on the
variance is lowered until they are not.

A smaller v leaves intervals excluded that are, so that nothing is ever looked at again.

Should the cover meet better noise than the search of `calibrate` has found, that noise is certified
and takes its place.

**Ordered shapes.** Of two shapes with equal density at 0 the heavier one is the more dispersed,
hence the more private, and has more variance (docs/variance-bound.md, sections 1 and 2). Let peak
be the density at 0 times the standard deviation, which no scale changes: it rises with the weight.
All noise whose shape lies between a lighter and a heavier one and whose variance is at most v has a
density of at least peak(lighter) / sqrt(v) at 0. So noise of the heavier shape with that density at
0 is more private than all of it. Its variance is v (peak(heavier) / peak(lighter))^2.

Shapes are named by their places, from 0, the lightest limit of the family, to 1, the heaviest.

**Staircases** with steps as wide as the sensitivity. A shift by the width of a step has the losses
-e, 0 and e, where e is the staircase's epsilon, and the total variation distance tau = P(2 |T| <=
width). Privacy falls with both e and tau: they fix the privacy profile of a coordinate, which rises
with them at every epsilon (docs/variance-bound.md, section 4). At a fixed gamma the variance falls
with e, and tau rises.

Of an interval of gammas, all noise with a variance of at most v has an e of at least that at which
the least variance over the interval is v; and with it a tau of at least that at one of its ends.
The place of a shape is its gamma.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dpnoise.calibration.budget import certified_calibration, certified_delta
from dpnoise.noise.exponential_power import Laplace, Subbotin, TruncatedLaplace
from dpnoise.noise.grafted import FlippedHuber, Huber, OffsetSymmetricGaussian
from dpnoise.noise.integers import IntegerNoise
from dpnoise.noise.stepwise import MAX_EPSILON, MIN_EPSILON, Staircase, staircase_gamma
from dpnoise.privacy.vector import known_profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._validation import Problems
    from dpnoise.calibration.budget import Budget, Calibration
    from dpnoise.noise.base import Noise

GLOBAL = "global"
RTOL, MOST_INTERVALS = 1e-3, 10_000
_SQUARE_ROUNDING = 2.0**-48  # of a product with the square of the sensitivity


def shapes_of(kind: type[Noise | IntegerNoise]) -> Shapes | None:
    """The shapes of a family, None where they cannot be covered."""
    if issubclass(kind, IntegerNoise):
        return None
    if kind is Staircase:
        return StaircaseShapes()
    if kind in ORDERED:
        return OrderedShapes(kind)
    return OneShape(kind) if len(fields(kind)) == 1 else None


def check_certificate(
    problems: Problems,
    certificate: object,
    kind: type[Noise | IntegerNoise] | None,
    method: str,
    delta: object,
) -> None:
    """Record what is wrong with a request for a certificate."""
    problems.require(certificate == GLOBAL, "certificate", f"None or {GLOBAL!r}", certificate)
    problems.require(method == "exact", "method", "'exact' with a certificate", method)
    check_coverable(problems, kind, delta)


def check_coverable(
    problems: Problems, kind: type[Noise | IntegerNoise] | None, delta: object
) -> None:
    """Record why the shapes of a family cannot be covered; None is no known family."""
    if kind is not None and shapes_of(kind) is None:
        problems.add(
            "family: expected one whose shapes are ordered (docs/variance-bound.md) for a global "
            f"certificate, got {kind.__name__}"
        )
    if delta == 0:
        problems.add(
            "delta: expected more than 0 for a global certificate (with delta = 0 the minimum has "
            "a closed form), got 0"
        )


def global_cover(
    kind: type[Noise], budget: Budget, found: Calibration, rtol: float, most: int
) -> tuple[Cover, Calibration]:
    """The cover of a family, and private noise that is at least as good as `found`.

    The bound of the cover is one for the budget's sensitivity, its cells are for sensitivity 1.
    """
    shapes = shapes_of(kind)
    assert shapes is not None  # noqa: S101  (checked before)
    square = budget.sensitivity * budget.sensitivity
    known = min(found.variance, found.infimum)
    proved = cover(shapes, budget.unit, known / square, rtol, most)
    if proved.better is not None:
        better = certified_calibration(proved.better.scaled(budget.sensitivity), budget)
        if better.variance < found.variance:
            found = better
    return proved._replace(variance=proved.variance * square * (1.0 - _SQUARE_ROUNDING)), found


def certified_optimum(
    kind: type[Noise | IntegerNoise], budget: Budget, found: Calibration
) -> Calibration:
    """The best noise known, with the share of its variance that may be too much."""
    assert not issubclass(kind, IntegerNoise)  # noqa: S101  (checked before)
    proved, found = global_cover(kind, budget, found, RTOL, MOST_INTERVALS)
    return replace(found, optimal_within=1.0 - proved.variance / found.variance)


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


class _CoverSearch:
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
        shares = [(noise, 1.0, self.budget.dimension)]
        profile = known_profile(shares, self.budget.epsilon, _RTOL)
        return Cell(ends, noise, float(profile.log_lower))

    def improved(self, place: float) -> bool:
        """Whether the noise of a shape keeps the budget; then about its least is to be beaten."""
        variance, step, better = self.variance, self.rtol, False
        # ends: a larger variance of a member: the bound stays below the optimum
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
    search = _CoverSearch(shapes, budget, known, rtol)
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


def _lowered(search: _CoverSearch, left: list[tuple[float, float]], cells: list[Cell]) -> Cover:
    """The cover with a variance so small that the intervals left are excluded too; 0 if none is."""
    step = search.rtol
    # ends: removes an interval, or doubles a step up to 1 and returns 0
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


_GAUSSIAN_PEAK = 1.0 / math.sqrt(2.0 * math.pi)
_UNIFORM_PEAK = 1.0 / math.sqrt(12.0)
_PEAK_MARGIN = 1e-9  # of variance, over the rounding of a peak and of a scale
_MOST = 1e3  # the greatest p of Subbotin noise


class _ShapeFamily(NamedTuple):
    """A family by one parameter, with the peak of its lightest limit; the heaviest is Laplace."""

    parameter: str
    value: Callable[[float], float]  # of the parameter, at a place above 0 and below 1
    make: Callable[[float], Noise]  # from the parameter, at some scale
    lightest: float
    ends: tuple[float, float]  # the parameter at the limits


def _rising(place: float) -> float:
    return place / (1.0 - place)


def _falling(place: float) -> float:
    return (1.0 - place) / place


_FAMILIES: dict[type[Noise], _ShapeFamily] = {
    FlippedHuber: _ShapeFamily(
        "alpha / gamma", _rising, lambda b: FlippedHuber(b, 1.0), _GAUSSIAN_PEAK, (0.0, math.inf)
    ),
    OffsetSymmetricGaussian: _ShapeFamily(
        "theta / rho",
        _rising,
        lambda b: OffsetSymmetricGaussian(b, 1.0),
        _GAUSSIAN_PEAK,
        (0.0, math.inf),
    ),
    Huber: _ShapeFamily(
        "alpha", _falling, lambda a: Huber(a, 1.0), _GAUSSIAN_PEAK, (math.inf, 0.0)
    ),
    TruncatedLaplace: _ShapeFamily(
        "bound / beta",
        _rising,
        lambda r: TruncatedLaplace(1.0, r),
        _UNIFORM_PEAK,
        (0.0, math.inf),
    ),
    Subbotin: _ShapeFamily(
        "p",
        lambda place: min(1.0 / place, _MOST),
        lambda p: Subbotin(p, 1.0),
        _UNIFORM_PEAK,
        (_MOST, 1.0),
    ),
}
ORDERED = tuple(_FAMILIES)


class OrderedShapes:
    """The shapes of one family in the order of their tails."""

    intervals = 16

    def __init__(self, kind: type[Noise]) -> None:
        self._family = _FAMILIES[kind]
        self._peaks = {0.0: self._family.lightest}

    @property
    def parameter(self) -> str:
        """What the shape is, in the family's parameters."""
        return self._family.parameter

    def shape(self, place: float) -> float:
        """The parameter at a place."""
        if place in (0.0, 1.0):
            return self._family.ends[int(place)]
        return self._family.value(place)

    def _unit(self, place: float) -> Noise:
        return Laplace(1.0) if place == 1.0 else self._family.make(self._family.value(place))

    def _peak(self, place: float) -> float:
        if place not in self._peaks:
            noise = self._unit(place)
            self._peaks[place] = float(noise.pdf(0.0)) * noise.std()
        return self._peaks[place]

    def member(self, place: float, variance: float) -> Noise:
        """The noise of a shape, no limit, with a variance."""
        return _with_variance(self._family.make(self._family.value(place)), variance)

    def dominating(self, low: float, high: float, variance: float) -> Noise:
        """Noise more private than any of a shape in between with at most this variance."""
        ratio = max(self._peak(high) / self._peak(low), 1.0)
        return _with_variance(self._unit(high), variance * ratio**2 * (1.0 + _PEAK_MARGIN))


class OneShape:
    """A family whose only parameter is a scale: less variance is less private."""

    parameter, intervals = "none", 1

    def __init__(self, kind: type[Noise]) -> None:
        self._kind = kind

    @cached_property
    def _unit(self) -> Noise:
        return self._kind(1.0)  # type: ignore[call-arg]  # the scale

    def shape(self, place: float) -> float:  # noqa: ARG002  (there is one)
        """No parameter."""
        return 0.0

    def member(self, place: float, variance: float) -> Noise:  # noqa: ARG002
        """The noise with a variance."""
        return _with_variance(self._unit, variance)

    def dominating(self, low: float, high: float, variance: float) -> Noise:  # noqa: ARG002
        """Noise more private than any with at most this variance."""
        return _with_variance(self._unit, variance * (1.0 + _PEAK_MARGIN))


def _with_variance(noise: Noise, variance: float) -> Noise:
    return noise.scaled(math.sqrt(variance / noise.var()))


_EPSILON_MARGIN = 1e-10  # of epsilon, over the rounding of its root
_VARIANCE_MARGIN = 1e-9  # over its rounding, which moves the root where the variance is flat
_RANGE = MIN_EPSILON * (1.0 + 1e-9), MAX_EPSILON * (1.0 - 1e-9)
_MAXIMUM_GAMMA = 1.0 - 2.0**-53  # a gamma


def _noise(epsilon: float, gamma: float) -> Staircase:
    """Staircase noise for sensitivity 1; that of gamma 0 and of gamma 1 is the same."""
    return Staircase(epsilon, 1.0, min(gamma, _MAXIMUM_GAMMA) or _MAXIMUM_GAMMA)


def _distance(epsilon: float, gamma: float) -> float:
    """The total variation distance of a shift by the width of a step."""
    b, drop = math.exp(-epsilon), -math.expm1(-epsilon)
    inner = gamma + b * (0.5 - gamma) if gamma < 0.5 else 0.5
    return drop * inner / (gamma + b * (1.0 - gamma))


def _epsilon(variance: float, low: float, high: float) -> float:
    """The epsilon at which the least variance between two gammas is `variance`."""
    from scipy.optimize import brentq  # noqa: PLC0415 - 0.1 s, for searches only

    def excess(log_epsilon: float) -> float:
        epsilon = math.exp(log_epsilon)
        gamma = min(max(float(staircase_gamma(epsilon)), low), high)
        return math.log(_noise(epsilon, gamma).var() / variance)

    start, end = map(math.log, _RANGE)
    if excess(end) >= 0.0:  # no step falls so far
        return _RANGE[1]
    if excess(start) <= 0.0:
        return MIN_EPSILON
    return math.exp(brentq(excess, start, end, xtol=1e-13, rtol=1e-14))


class StaircaseShapes:
    """The gammas of staircase noise for sensitivity 1."""

    parameter, intervals = "gamma", 16

    def shape(self, place: float) -> float:
        """The gamma at a place."""
        return place

    def member(self, place: float, variance: float) -> Noise:
        """The noise of a gamma with a variance."""
        return _noise(_epsilon(variance, place, place), place)

    def dominating(self, low: float, high: float, variance: float) -> Noise:
        """Noise more private than any of a gamma in between with at most this variance."""
        most = variance * (1.0 + _VARIANCE_MARGIN)
        epsilon = max(_epsilon(most, low, high) * (1.0 - _EPSILON_MARGIN), MIN_EPSILON)
        gamma = min(low, high, key=lambda end: _distance(epsilon, end))
        return _noise(epsilon, gamma)
