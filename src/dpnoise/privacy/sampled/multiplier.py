"""The least noise multiplier with which training on samples keeps a budget.

A saddle point approximation of delta says where to begin; secants through values of the account
follow, or a bracket of the root of the upper bound on delta. What is returned was seen to keep the
budget by that bound, whatever the approximation was.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING

from scipy import optimize

from dpnoise._validation import MINIMUM_DELTA, Problems, is_integer
from dpnoise.privacy.sampled.mechanism import (
    LARGEST,
    MOST_STEPS,
    SAMPLINGS,
    SMALLEST,
    bounds_of,
    composition_of,
    relation_of,
)
from dpnoise.privacy.sampled.pairs import FIXED, GAUSSIAN, POISSON, Kind
from dpnoise.sensitivity.relation import ADD_REMOVE

if TYPE_CHECKING:
    from dpnoise.privacy.inversion.inversion import LogBounds
    from dpnoise.privacy.sampled.composition import Composition
    from dpnoise.privacy.sampled.relations import PairComposition

_CLIP = 700.0
_MOST_WORK = 4e6  # evaluations, after which any multiplier that is known to do is enough
_FIRST, _NEAR = 0.1, 1e-3  # strides of the logarithm of a multiplier, by approximations
_STRIDE, _MOST_MOVE = 0.1, 0.5  # and by bounds: the first of a bracket, the largest of a secant
_ROUGH, _CLOSE = 1e-2, 1.0  # gap of log delta where it is off by more than this
# Shares of the tolerance: the last interval of a bracket; of secants the aim, what is left, gaps.
_SHARE, _AIM, _ENOUGH, _GAP = 0.5, 0.35, 0.65, 0.3
_SECANTS = 15


def noise_multiplier(
    epsilon: float,
    delta: float,
    rate: float,
    steps: int,
    *,
    rtol: float = 1e-6,
    relation: str | None = None,
    sampling: str = POISSON,
) -> float:
    """Least noise multiplier with which training on samples keeps a budget.

    Parameters
    ----------
    epsilon : float
        From 1e-6 to 1e4.
    delta : float
        From 1e-300 to below 1; with 0 no multiplier will do.
    rate : float
        The chance of each record to be in the sample of a step, in (0, 1].
    steps : int
        From 1 to 1e9.
    rtol : float
        By how much the answer may exceed the least one, relatively, from 1e-8 to 0.1. After a few
        seconds of work an answer that exceeds it by more is returned as well.
    relation : {"add-remove", "replace-one"}, optional
        Which data sets are neighbours: "add-remove" by default, "replace-one" where samples have a
        fixed size.
    sampling : {"poisson", "without replacement"}
        As for `SampledGaussian`.

    Returns
    -------
    float
        The multiplier, rounded up: the upper bound on delta with it is at most `delta`.

    Raises
    ------
    ValueError
        If an argument is out of range, naming every problem, or no multiplier from 1e-3 to 1e6 is
        known to do.

    Examples
    --------
    >>> from dpnoise import noise_multiplier
    >>> round(noise_multiplier(epsilon=8.0, delta=1e-5, rate=0.04, steps=2250), 4)
    1.3459
    """
    problems = Problems("noise_multiplier")
    problems.number("epsilon", epsilon, low=1e-6, high=1e4)
    if not isinstance(delta, bool) and delta == 0:
        problems.add("delta: expected a positive number, got 0: epsilon is infinite for any noise")
    else:
        problems.number("delta", delta, low=MINIMUM_DELTA, high=1.0, open_high=True)
    problems.number("rate", rate, low=0.0, high=1.0, open_low=True)
    whole = is_integer(steps) and 1 <= steps <= MOST_STEPS
    problems.require(whole, "steps", f"a whole number from 1 to {MOST_STEPS}", steps)
    problems.number("rtol", rtol, low=1e-8, high=0.1)
    known = isinstance(sampling, str) and sampling in SAMPLINGS
    problems.require(known, "sampling", " or ".join(map(repr, SAMPLINGS)), sampling)
    stated = relation_of(problems, relation, fixed=sampling == FIXED)
    problems.raise_if_any()
    kind = Kind(1.0, float(rate), GAUSSIAN, sampling)
    return _minimum(float(epsilon), float(delta), kind, int(steps), float(rtol), stated)


class _EndError(Exception):
    """Enough work with a multiplier that is known to do, or the end of the range."""


class _MultiplierSearch:
    """A budget to keep by steps of one kind; `at` are logarithms of multipliers."""

    def __init__(self, epsilon: float, delta: float, kind: Kind, steps: int, relation: str) -> None:
        self.epsilon, self.log_delta = epsilon, math.log(delta)
        self.kind, self.steps, self.relation = kind, steps, relation
        self.kept = math.inf  # the least multiplier that was seen to keep the budget
        self._known: dict[float, float] = {}
        self._work = 0.0  # evaluations so far

    def composed(self, at: float) -> Composition | PairComposition:
        """The steps with a multiplier."""
        kind = self.kind._replace(sigma=math.exp(at))
        return composition_of({kind: self.steps}, self.relation)

    def approximate(self, at: float) -> float:
        """About the excess of log delta; NaN where no saddle point is known, or out of range."""
        if not math.log(SMALLEST) <= at <= math.log(LARGEST):
            return math.nan
        found = self.composed(at).saddle(self.epsilon)
        return math.nan if found is None else self._clipped(found[0])

    def _clipped(self, log_delta: float) -> float:
        """By how much a log delta is above the one allowed, at most 700."""
        return min(max(log_delta - self.log_delta, -_CLIP), _CLIP)

    def fall(self, at: float) -> float:
        """The fall of log delta there, that of log M at the tilt of the saddle point."""
        found = self.composed(at).saddle(self.epsilon)
        if found is None:
            return math.nan
        ends = [self.composed(at + move).log_moment(found[1]) for move in (-_NEAR, _NEAR)]
        return (ends[0] - ends[1]) / (2.0 * _NEAR)

    def bounds(self, at: float, gap: float = 0.0) -> LogBounds:
        """Bounds on log delta, no closer than by a gap."""
        composed = self.composed(at)
        composed.close = max(composed.close, gap)
        found = bounds_of(composed, self.epsilon, self.log_delta, upper=True)
        self._work += composed.work
        if found.upper <= self.log_delta:
            self.kept = min(self.kept, at)
        return found

    def excess(self, at: float) -> float:
        """By how much the upper bound is above what is allowed, at most 700; roughly if by far."""
        if self.spent and self.kept < math.inf:
            raise _EndError
        if at not in self._known:
            found = self.bounds(at, _ROUGH)
            near = abs(found.estimate - self.log_delta) <= _CLOSE
            self._known[at] = self._clipped((self.bounds(at) if near else found).upper)
        return self._known[at]

    @property
    def spent(self) -> bool:
        """Whether there was enough work."""
        return self._work > _MOST_WORK

    def bracket(self, at: float) -> tuple[float, float]:
        """Multipliers that are too small and large enough."""
        value, stride = self.excess(at), _STRIDE
        end = math.log(LARGEST) if value > 0.0 else math.log(SMALLEST)
        # ends: raises at the end of the range
        while at != end:
            other = min(at + stride, end) if value > 0.0 else max(at - stride, end)
            if (self.excess(other) > 0.0) != (value > 0.0):
                return min(at, other), max(at, other)
            at, stride = other, 2.0 * stride
        raise _EndError

    def between(self, low: float, high: float) -> tuple[float, float]:
        """A root of the excess by the line through its values at two ends, and the fall."""
        slope = (self.excess(low) - self.excess(high)) / (high - low)
        return low + self.excess(low) / slope, slope


def _minimum(  # noqa: PLR0917
    epsilon: float, delta: float, kind: Kind, steps: int, rtol: float, relation: str
) -> float:
    search = _MultiplierSearch(epsilon, delta, kind, steps, relation)
    if search.composed(math.log(SMALLEST)).log_seen <= search.log_delta:
        return SMALLEST
    if relation == ADD_REMOVE:
        near = _near(search)
    else:  # about that of a record added or removed that counts twice
        poisson = Kind(kind.sigma, kind.rate)
        near = _near(_MultiplierSearch(epsilon, delta, poisson, steps, ADD_REMOVE))
        near = None if near is None else (near[0] + math.log(2.0), near[1])
    far = math.inf
    with suppress(_EndError):
        at, slope = search.between(*search.bracket(0.0)) if near is None else near
        far, search.kept = search.kept, math.inf  # of the bracket
        found = _by_secants(search, at, slope, rtol)
        if found is not None:
            return found
        at = min(max(at, math.log(SMALLEST)), math.log(LARGEST))
        optimize.brentq(search.excess, *search.bracket(at), xtol=_SHARE * rtol, rtol=1e-15)
    kept = far if search.kept == math.inf else search.kept
    if kept < math.inf:
        return math.exp(kept)
    message = (
        f"noise_multiplier: expected a budget that a multiplier up to {LARGEST:g} is known to "
        f"keep, got epsilon = {epsilon!r}, delta = {delta:.6g}"
    )
    raise ValueError(message)


def _near(search: _MultiplierSearch) -> tuple[float, float] | None:
    """A root of the approximate excess, and about the fall there; None if there is none.

    It begins where the sum of the losses, were it normal, would keep the budget.
    """
    quantile = math.sqrt(-2.0 * search.log_delta)
    spread = 2.0 * search.epsilon / (math.sqrt(quantile**2 + 2.0 * search.epsilon) + quantile)
    ratio = spread / (search.kind.rate * math.sqrt(search.steps))
    at = after = -0.5 * math.log(math.log1p(ratio * ratio))
    value = there = search.approximate(at)
    move = math.copysign(_FIRST, value)
    # ends: at the end of the range of multipliers
    while value * there > 0.0:
        at, after = after, after + move
        value, there, move = there, search.approximate(after), 2.0 * move
    if math.isnan(there):
        return None

    def known(at: float) -> float:
        found = search.approximate(at)
        return 0.0 if math.isnan(found) else found  # the search ends there

    root = at if value == 0.0 else optimize.brentq(known, at, after, xtol=_NEAR)
    # Where large losses take over the tilt next to the root may be that of the others.
    fall = max(search.fall(float(root)), quantile**2)
    return (float(root), fall) if fall < math.inf else None


def _by_secants(search: _MultiplierSearch, at: float, slope: float, rtol: float) -> float | None:
    """A multiplier of which the upper bound on delta keeps the budget, hardly; None if not found.

    Secants of sqrt(-2 log delta), which is nearly straight, aim at a little more noise than is
    needed, so that the last bound shows it. Bounds are as close as they need to be. `slope` is
    about the fall of log delta.
    """
    quantile = math.sqrt(-2.0 * search.log_delta)
    low, high = math.log(SMALLEST), math.log(LARGEST)  # too little, enough
    rise, before, gap = slope / quantile, None, _ROUGH
    # ends: None: a bracket instead
    for _ in range(_SECANTS):
        if search.spent and search.kept < math.inf:
            return math.exp(search.kept)
        found = search.bounds(at, gap)
        fine = search.spent or gap <= _GAP * rtol * quantile * rise
        middle = quantile - math.sqrt(-2.0 * found.estimate)
        value = quantile - math.sqrt(-2.0 * found.upper) if fine else middle
        if before is not None and abs(at - before[0]) > rtol:  # of one kind: ends may be far apart
            rise = (before[1] - middle) / (at - before[0])
        if not (math.isfinite(value) and rise > 0.0):
            return None
        slope = quantile * rise
        if -_ENOUGH * rtol * slope <= found.upper - search.log_delta <= 0.0:
            return math.exp(at)
        if found.lower > search.log_delta:
            low = max(low, at)
        elif found.upper <= search.log_delta:
            high = min(high, at)
        before = at, middle
        at += min(max(value / rise + _AIM * rtol, -_MOST_MOVE), _MOST_MOVE)
        if low >= high:  # the largest multiplier is too small
            return None
        if not low < at < high:
            at = 0.5 * (low + high)
        far = abs(quantile * value)
        gap = max(_GAP * rtol * slope, _ROUGH * far if far > _ROUGH else 0.0)
        gap = _ROUGH if search.spent else gap
    return None
