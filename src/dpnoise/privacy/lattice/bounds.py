"""Two-sided bounds on the privacy profile of a vector query, by losses on a lattice.

For log-concave noise each coordinate's loss is put on one lattice, once rounded up and once down
(see below), and the distribution of the sum is found by the fast Fourier transform: slower than the
inversion of closed-form transforms, but it needs only the density and the tail of the noise. This
is 'Algorithm 2' of Muthukrishnan & Kalyani (IEEE TIFS 2023), made rigorous and exact in the far
tail.

**Worst neighbours.** For log-concave noise and a shift d the largest probability of a
half-line under one neighbour minus e^epsilon times that under the other, SF(t) - e^epsilon
SF(t + d) at its best t, does not fall when d grows, for every real epsilon. By Blackwell's
theorem the pair of smaller shift is a post-processing of the pair of larger shift; products of
post-processings are post-processings of products. So |d_i| = shift_i is the worst
neighbour in the box |d_i| <= shift_i.

**Tilting.** All masses are weighted with e^(c loss), c near the saddle point of
M(c) e^(-c epsilon) / (c (c + 1)), M(c) = E e^(c loss): the weighted sum lies around epsilon, and
the transform resolves a delta of 1e-200 like one of 1e-2. With w(l) = e^(-c (l - epsilon))
(1 - e^(epsilon - l))_+ and q the weighted distribution of the sum,

    delta = P(loss infinite) + M(c) e^(-c epsilon) sum_l w(l) q(l).

**What is left out** is counted on the safe side of each bound.

- Cut tails. To the right: to infinity for the upper bound, to the last point for the lower. To the
  left: to the first point, and dropped.
- Wrap-around. The transform adds to q(l) the weight of l +- N h, +- 2 N h, ...: too much there,
  and missing where it came from. Either bound allows for max w = c^c / (c + 1)^(c + 1) times
  Chernoff bounds on the weight outside the window. (What comes up from below the window is too
  much only, which an upper bound may keep.)
- Rounding of the transforms. With u = 2^-53 one of length N is off by at most 8 u log2 N in
  relative 2-norm (Higham, Accuracy and Stability of Numerical Algorithms, Theorem 24.2, with
  accurate twiddle factors). |product of K transforms| <= 1, so that q is off by at most
  8 u log2 N sum K_i |q_i| in 2-norm, as much again for the products and the way back, and the sum
  by |w| times that.
- Quadrature and rounding of masses: a relative error of each, to the power K. Rounding of losses: a
  shift of the sum, taken off or added to epsilon.

**Losses on a lattice**, rounded up and rounded down. For noise with density g = exp(-psi),
symmetric and log-concave, and a shift d the loss L(t) = psi(t + d) - psi(t) is non-decreasing in t.
Under P the noise has density g(t), under Q density g(t + d), and R = dQ / dP = exp(-L). The profile
of a vector query is the mean of (1 - e^epsilon R_1 ... R_K)_+ under P, convex and non-increasing in
each R_i, so that it can only grow (fall) when the distribution of one R_i under P is replaced by
one that is

- up: spread, keeping its mean. A loss between two lattice points goes to both, with the shares
  that keep the mean of R. This is Doroshenko et al.'s 'connect the dots' (PoPETs 2022), the
  least distribution on the lattice that dominates.
- down: contracted, keeping its mean or raising it. The losses nearest to a lattice point l are
  merged into it, after passing a little mass to or from the neighbours so that their mean of R is
  e^-l. Where the mean is still larger, by no more than a tolerance, the tolerance is reported and
  the caller subtracts it from the loss; where it is larger than that, all goes to the next
  lattice point below.

Both change the profile by O(h^2), h the distance of lattice points. The distribution itself comes
as the nodes of `lattice.plan`; that of the sum is found by the fast Fourier transform.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import fft, special

from dpnoise._validation import Problems
from dpnoise.noise.base import Noise
from dpnoise.noise.integers import IntegerNoise
from dpnoise.noise.stepwise import Staircase
from dpnoise.privacy.inversion.loss import coordinate_loss
from dpnoise.privacy.lattice.discrete import (
    MOST_VALUES,
    DiscreteCoordinate,
    ListedLoss,
    integer_loss,
    integer_values,
    listed_loss,
)
from dpnoise.privacy.lattice.plan import (
    NEGLIGIBLE,
    UNIT,
    Coordinate,
    LatticePlan,
    ShiftedNoise,
    make_plan,
)
from dpnoise.privacy.shift import WHOLE, whole_shift

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from dpnoise._types import Array, BoolArray
    from dpnoise.privacy.lattice.plan import AnyCoordinate, Nodes

    AnyNoise = Noise | IntegerNoise | ListedLoss

# Passes that move the means to the lattice points, evenly where the density is smooth; then those
# that only raise a mean, by what comes from above, at breaks of the density. What the tolerance
# does not cover then goes below, as little of it as possible.
_PASSES, _RAISES = 12, 2
_UNDERFLOW = 1e-290  # more than all masses below the least double
_MOST_SPREAD = 2.0**24  # lattice points of one coordinate
_TINY = -40.0  # from here on 1 - exp(-exp(x)) is exp(x)


class Masses(NamedTuple):
    """A distribution on lattice points (start + k) h, weighted with exp(tilt loss) to total 1.

    `log_total` is the logarithm of the factor that was taken out of the weights.
    """

    start: int
    weight: Array
    log_total: float


def _masses(start: int, weight: Array, log_factor: float) -> Masses:
    total = float(np.sum(weight))
    return Masses(start, weight / total, log_factor + math.log(total))


def round_up(nodes: Nodes, h: float, tilt: float, log_factor: float) -> Masses:
    """A distribution on the lattice of points k h that dominates the one of the nodes.

    The masses are weighted with exp(tilt loss), so that far tails keep all their digits;
    `log_factor` is about the logarithm of E exp(tilt loss).
    """
    index = np.floor(nodes.loss / h)
    share = np.clip(np.expm1(index * h - nodes.loss) / math.expm1(-h), 0.0, 1.0)
    weight = np.exp(nodes.log_mass + tilt * (index * h) - log_factor)
    start = int(index.min())
    place = (index - start).astype(np.intp)
    total = np.bincount(place, weight * (1.0 - share), minlength=int(place.max()) + 2).astype(float)
    total[1:] += math.exp(tilt * h) * np.bincount(place, weight * share, minlength=len(total))[:-1]
    total[-1] += _UNDERFLOW
    return _masses(start, total, log_factor)


def _tolerance(late: Array, weight: Array, h: float) -> float:
    """The tolerance of least cost: itself, plus h for what exceeds it."""
    order = np.argsort(late)
    late, weight = late[order], weight[order]
    exceeding = weight.sum() - np.cumsum(weight)
    cost = np.maximum(late, 0.0) + h * exceeding
    return float(np.maximum(late[np.argmin(cost)], 0.0))


def round_down(
    nodes: Nodes, h: float, tilt: float, log_factor: float, rounding: float
) -> tuple[Masses, float]:
    """A distribution on the lattice that is dominated, but for a tolerance, and the tolerance.

    Arguments are those of `round_up`, and losses within `rounding` of a lattice point are on it.
    The caller has to take the tolerance off the loss for it to be dominated.
    """
    index = np.round(nodes.loss / h)
    beyond = nodes.loss - index * h
    mass = np.exp(nodes.log_mass + tilt * (index * h) - log_factor)
    excess = -mass * np.expm1(-beyond)  # mass minus Q-mass relative to the lattice point
    start = int(index.min()) - 1
    place = (index - start).astype(np.intp)
    size = int(place.max()) + 2

    def collect(which: BoolArray, what: Array) -> Array:
        return np.bincount(place, np.where(which, what, 0.0), minlength=size).astype(float)

    on, below = np.abs(beyond) <= rounding, beyond < -rounding
    above = ~(on | below)
    fixed = collect(on, mass)
    low, low_excess = collect(below, mass), collect(below, excess)
    high, high_excess = collect(above, mass), collect(above, excess)
    # The same masses in the view of the neighbour that may take them, at index one less for the
    # lower halves and one more for the upper halves.
    down, up = math.exp(-tilt * h), math.exp(tilt * h)
    low_taken = down * (low_excess * math.exp(-h) - low * math.expm1(-h))
    high_taken = up * (high_excess * math.exp(h) - high * math.expm1(h))

    # Between index k and k + 1: the share of the lower half at k + 1 that goes to k, or, if
    # negative, of the upper half at k that goes to k + 1. Both raise one of the two means.
    passed = np.zeros(size - 1)
    gain = np.maximum(low_taken[1:] - low_excess[1:], 0.0)
    gain = np.where(gain > 0, gain, np.maximum(high_excess[:-1] - high_taken[:-1], 0.0))

    def merge(own_low: Array, own_high: Array, taken_low: Array, taken_high: Array) -> Array:
        total = own_low + own_high
        take, give = np.maximum(passed, 0.0), np.maximum(-passed, 0.0)
        total[:-1] += take * taken_low[1:] - give * own_high[:-1]
        total[1:] += give * taken_high[:-1] - take * own_low[1:]
        return total

    def passing(short: Array, slope: Array) -> Array:
        change = np.divide(short, slope, out=np.zeros_like(short), where=slope > _UNDERFLOW)
        return np.clip(passed + change, -1.0, 1.0)

    def lateness() -> tuple[Array, Array, Array]:
        excess = merge(low_excess, high_excess, low_taken, high_taken)
        mass = merge(low, high, down * low, up * high)
        ratio = np.divide(-excess, mass, out=np.zeros(size), where=mass > 0)
        return excess, mass, np.log1p(np.maximum(ratio, -0.9))

    # ends: the result is checked cell by cell
    for _ in range(_PASSES):
        total = merge(low_excess, high_excess, low_taken, high_taken)
        passed = passing(-0.5 * (total[1:] + total[:-1]), gain)
    # ends: the result is checked cell by cell
    for _ in range(_RAISES):
        total = merge(low_excess, high_excess, low_taken, high_taken)
        slope = np.where(passed < 0.0, high_excess[:-1], low_taken[1:])
        passed = passing(np.maximum(-total[:-1], 0.0), slope)
    excess, mass, late = lateness()
    tolerance = _tolerance(late, mass, h) + rounding
    short = np.where(late > tolerance, -excess, 0.0)[1:]
    passed = passing(short, np.where(passed < 0.0, -high_taken[:-1], -low_excess[1:]))
    _, mass, late = lateness()
    keep = late <= tolerance
    fixed += np.where(keep, mass, 0.0)
    fixed[:-1] += down * np.where(keep, 0.0, mass)[1:]
    return _masses(start, fixed, log_factor), tolerance


class RoundedLoss(NamedTuple):
    """Copies of one coordinate on the lattice, in one direction."""

    copies: int
    log_infinite: float
    masses: Masses
    slack: float  # of the loss
    error: float  # relative, of the masses


def rounded_losses(part: AnyCoordinate, plan: LatticePlan) -> tuple[RoundedLoss, RoundedLoss]:
    """One coordinate's loss rounded down and rounded up, with tilt and spacing of the plan."""
    h, tilt = plan.h, plan.tilt
    below, above, infinite, rounding, error = part.planned(h, tilt)
    points = max(float(np.ptp(nodes.loss)) for nodes in (below, above)) / h
    if not points <= _MOST_SPREAD:
        message = f"lattice bounds: expected at most {_MOST_SPREAD:g} points, got {points:.3g}"
        raise ValueError(message)
    log_factor = float(special.logsumexp(below.log_mass + tilt * below.loss))
    down, tolerance = round_down(below, h, tilt, log_factor, rounding)
    up = round_up(above, h, tilt, log_factor)
    # Rounding of the weights' exponents, and of their sums, beside that of psi or the masses.
    size = max(abs(float(below.loss[0])), abs(float(below.loss[-1])))
    error += UNIT * (8.0 * (tilt * (size + h) + abs(log_factor)) + 64.0)
    return (
        RoundedLoss(part.copies, part.log_infinite, down, tolerance + rounding, error),
        RoundedLoss(part.copies, infinite, up, rounding, error),
    )


def log_any_infinite(pairs: list[tuple[int, float]]) -> float:
    """Log of 1 - prod (1 - p)^copies for (copies, log p), also where that underflows."""
    if any(math.exp(log_p) >= 1.0 for _, log_p in pairs):
        return 0.0
    rates = [
        math.log(copies) + (log_p if log_p < _TINY else math.log(-math.log1p(-math.exp(log_p))))
        for copies, log_p in pairs
    ]
    log_rate = float(np.logaddexp.reduce(rates))
    return log_rate if log_rate < _TINY else math.log(-math.expm1(-math.exp(min(log_rate, 9.0))))


def sum_weights(parts: list[RoundedLoss], start: int, size: int) -> tuple[Array, float]:
    """The weights of the sum at `size` points from `start` on; a bound on their 2-norm error."""
    spectrum, norm = np.ones(size // 2 + 1, dtype=complex), 0.0
    for part in parts:
        index = (part.masses.start + np.arange(len(part.masses.weight))) % size
        wrapped = np.bincount(index, part.masses.weight, minlength=size)
        norm += part.copies * float(np.linalg.norm(wrapped))
        factor, power = fft.rfft(wrapped), part.copies
        # ends: halves an integer
        while power:
            if power % 2:
                spectrum *= factor
            power //= 2
            if power:
                factor *= factor
    weights = np.roll(fft.irfft(spectrum, size), -(start % size))
    return weights, 3.0 * 8.0 * UNIT * math.log2(size) * norm


def log_outside(parts: list[RoundedLoss], plan: LatticePlan, size: int) -> tuple[float, float]:
    """Log of Chernoff's bounds on the weight of the sum above and below the window."""
    up, down = plan.steps
    bounds = []
    for step, end in ((up, plan.start + size), (-down, plan.start)):
        total = -step * end * plan.h
        for part in parts:
            start, weight, _ = part.masses
            some = np.flatnonzero(weight > 0)
            exponent = np.log(weight[some]) + step * plan.h * (start + some)
            total += part.copies * float(special.logsumexp(exponent))
        bounds.append(total)
    return bounds[0], bounds[1]


_MOST_COPIES = 10**7
_MOST_EPSILON = 1e9
_FARTHEST = 1e12  # noise this much wider or narrower than the shift has no digits left
# Seconds for each coordinate and epsilon, and for each lattice point of these; what is refused.
_EACH, _EACH_POINT, _MOST_SECONDS = 0.01, 1.5e-7, 10.0
_WIDEST = 700.0  # e^loss has a double
_UNDERFLOW = 1e-250  # more than all payoffs below the least double


class LatticeBounds(NamedTuple):
    """Bounds on the logarithm of delta, of the shape of epsilon; -inf where delta is 0."""

    log_lower: Array
    log_upper: Array


class LatticeSum:
    """The distribution of a sum on a lattice, below for side = -1, above for side = 1."""

    def __init__(self, parts: list[RoundedLoss], plan: LatticePlan, size: int, side: int) -> None:
        self._parts, self._plan, self._side = parts, plan, side
        self._weight, self._error = sum_weights(parts, plan.start, size)
        self._loss = (plan.start + np.arange(size)) * plan.h
        # Above the largest possible sum there is nothing but rounding.
        last = sum(
            part.copies * (part.masses.start + len(part.masses.weight) - 1) for part in parts
        )
        self._count = int(np.clip(last + 1 - plan.start, 0, size))
        self._outside = log_outside(parts, plan, size)
        self._slack = math.fsum(part.copies * part.slack for part in parts)
        self._log_total = math.fsum(part.copies * part.masses.log_total for part in parts)
        self._relative = math.fsum(part.copies * part.error for part in parts)
        self._infinite = log_any_infinite([(part.copies, part.log_infinite) for part in parts])

    def log_delta(self, epsilon: float) -> float:
        """A bound on log delta."""
        side, tilt, loss = self._side, self._plan.tilt, self._loss
        slack = self._slack
        slack += 8.0 * UNIT * (abs(epsilon) + max(abs(loss[0]), abs(loss[-1])))
        gap = loss[: self._count] - (epsilon - side * slack)
        weight, gap = self._weight[: self._count][gap > 0], gap[gap > 0]
        payoff = -np.expm1(-gap) * np.exp(-tilt * gap)
        total = float(np.sum(payoff * weight)) + side * self._error * float(np.linalg.norm(payoff))
        # What lies outside the window has wrapped around: it may be too much or missing.
        outside, below = self._outside
        if side < 0 or self._plan.start * self._plan.h > epsilon - slack:
            outside = float(np.logaddexp(outside, below))
        largest = -tilt * math.log1p(1.0 / tilt) - math.log1p(tilt)
        if side > 0 and gap.size and total < _UNDERFLOW:
            # So far above epsilon that payoffs are lost: what they are at most, as by Chernoff.
            total = math.exp(largest)
        total += side * math.exp(min(largest + outside, 0.0))
        relative = self._relative
        relative += UNIT * (64.0 + 8.0 * (abs(self._log_total) + tilt * (abs(epsilon) + slack)))
        log_finite = -math.inf
        if total > 0.0:
            log_finite = math.log(total) + self._log_total - tilt * (epsilon - side * slack)
        return float(np.logaddexp(log_finite, self._infinite)) + side * relative


def lattice_sums(
    parts: list[AnyCoordinate], epsilon: float, size: int
) -> tuple[LatticeSum, LatticeSum] | None:
    """The sums below and above, for epsilons near one; None if lattice points say nothing."""
    plan = make_plan(parts, epsilon, size)
    if max(1.0, plan.tilt) * plan.h > _WIDEST:
        return None  # lattice points this far apart say nothing
    down, up = zip(*(rounded_losses(part, plan) for part in plan.parts), strict=True)
    return LatticeSum(list(down), plan, size, -1), LatticeSum(list(up), plan, size, 1)


def _bounds(parts: list[AnyCoordinate], epsilon: float, size: int) -> tuple[float, float]:
    """The bounds on log delta at one epsilon."""
    # Exactly: a product or a sum that is rounded down would make a delta 0 that is not.
    total: float | Fraction = math.inf
    if all(part.largest < math.inf for part in parts):
        total = sum((part.copies * Fraction(part.largest) for part in parts), Fraction(0))
    if epsilon >= total:
        log_delta = log_any_infinite([(part.copies, part.log_infinite) for part in parts])
        if log_delta == -math.inf:
            return log_delta, log_delta
        error = 64.0 * UNIT * (sum(part.copies for part in parts) + abs(log_delta))
        return log_delta - error, min(log_delta + error, 0.0)
    if any(part.smallest > epsilon + NEGLIGIBLE for part in parts):
        # One coordinate alone gives delta >= 1 - e^-NEGLIGIBLE less a mass far below.
        return -UNIT, 0.0
    sums = lattice_sums(parts, epsilon, size)
    if sums is None:
        return -math.inf, 0.0
    lower, upper = (one.log_delta(epsilon) for one in sums)
    return min(lower, 0.0), min(upper, 0.0)


def lattice_seconds(different: int, epsilons: int, size: int) -> float:
    """Time that `lattice_bounds` takes for so many different coordinates, roughly, in seconds."""
    return epsilons * different * (_EACH + _EACH_POINT * size)


def _distinct(
    shares: Sequence[tuple[AnyNoise, float, int]], epsilon: Array, size: int
) -> dict[Any, int]:
    """Different coordinates with their numbers; a ValueError beyond the range of the bounds.

    Continuous noise is in units of the shift, that on the integers stands beside it.
    """
    problems = Problems("lattice bounds")
    found: dict[Any, int] = {}
    for noise, shift, copies in shares:
        if shift == 0.0:
            continue
        one: Any = noise
        known = noise.log_concave or isinstance(noise, Staircase | ListedLoss)
        problems.require(known, "noise", "log-concave noise or a staircase", noise)
        if isinstance(noise, IntegerNoise):
            problems.require(bool(whole_shift(np.asarray(shift))), "shift", WHOLE, shift)
            values = f"values of the loss of {noise!r}"
            problems.number(values, integer_values(noise, shift), high=MOST_VALUES)
            one = noise, shift
        elif isinstance(noise, Noise):
            problems.number(f"shift of {noise!r}", shift, high=noise.step_width)
            ratio = noise.mean_abs() / shift
            low, high = 1.0 / _FARTHEST, _FARTHEST
            if not problems.number("E|T| / shift", ratio, low=low, high=high):
                continue
            one = noise.scaled(1.0 / shift)
        found[one] = found.get(one, 0) + copies
    problems.number("copies", max(found.values(), default=0), high=_MOST_COPIES)
    problems.number("epsilon", float(np.max(epsilon, initial=0.0)), low=0.0, high=_MOST_EPSILON)
    seconds = lattice_seconds(len(found), epsilon.size, size)
    work = f"{len(found)} different coordinates, {epsilon.size} epsilons, size {size}"
    expected = f"work of at most {_MOST_SECONDS:g} s"
    problems.require(seconds <= _MOST_SECONDS, work, expected, f"about {seconds:.0f} s")
    problems.raise_if_any()
    return found


def _discrete(one: Any, copies: int) -> DiscreteCoordinate | None:  # noqa: ANN401
    """Copies of a coordinate whose loss is discrete; None of a continuous one."""
    if isinstance(one, tuple):
        return DiscreteCoordinate(integer_loss(*one), copies)
    if isinstance(one, ListedLoss):
        return DiscreteCoordinate(one.discrete, copies)
    if isinstance(one, Staircase):
        return DiscreteCoordinate(listed_loss(coordinate_loss(one).atoms), copies)
    return None


def lattice_bounds(
    shares: Sequence[tuple[AnyNoise, float, int]], epsilon: ArrayLike, *, size: int = 2**18
) -> LatticeBounds:
    """Bounds on the privacy profile of independent noise on the coordinates of a query.

    Each coordinate, or group of equal ones, has log-concave noise, continuous or on the integers,
    or a staircase at least as wide as the sensitivity, a sensitivity >= 0 (an integer for noise on
    the integers) and a number of copies, at most 10^7; `epsilon` is from 0 to 1e9. `size` is the
    number of lattice points, a power of two. Twice as many make the bounds about four times closer,
    unless values that several coordinates' losses take with positive probability cannot all be met
    by one lattice: then twice.

    The logarithm of the least delta for which the mechanism is (epsilon, delta)-DP over the box
    |d_i| <= shift_i lies between the bounds, rounding included. A ValueError is raised if an
    argument is out of range, noise is of no such kind, or it would take more than about 10 s.
    """
    epsilon = np.asarray(epsilon, dtype=float)
    distinct = _distinct(shares, epsilon, size)
    lower, upper = np.full(epsilon.shape, -math.inf), np.full(epsilon.shape, -math.inf)
    discrete = {one: _discrete(one, copies) for one, copies in distinct.items()}
    parts: list[AnyCoordinate] = [part for part in discrete.values() if part is not None]
    sources = [(ShiftedNoise(one), distinct[one]) for one, part in discrete.items() if part is None]
    if any(source.right <= source.left for source, _ in sources):
        # Rounding aside, no noise value leaves the two neighbours possible.
        lower[...] = max(source.log_infinite for source, _ in sources)
        upper[...] = 0.0
        return LatticeBounds(lower[()], upper[()])
    finite = [np.isfinite(source.loss(source.coarse)) for source, _ in sources]
    if any(np.sum(some) < 2 for some in finite):
        # The loss has no double; it rises, so that without one at first it is above epsilon.
        upper[...] = 0.0
        if any(not some[0] for some in finite):
            lower[...] = -UNIT
    elif distinct:
        parts = [*(Coordinate(source, copies) for source, copies in sources), *parts]
        for at, value in np.ndenumerate(epsilon):
            lower[at], upper[at] = _bounds(parts, float(value), int(size))
    return LatticeBounds(lower[()], upper[()])
