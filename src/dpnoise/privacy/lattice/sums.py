"""Privacy losses on a lattice, rounded up and rounded down, and the distribution of their sum.

For noise with density g = exp(-psi), symmetric and log-concave, and a shift d the loss
L(t) = psi(t + d) - psi(t) is non-decreasing in t. Under P the noise has density g(t), under Q
density g(t + d), and R = dQ / dP = exp(-L). The profile of a vector query is the mean of
(1 - e^epsilon R_1 ... R_K)_+ under P, convex and non-increasing in each R_i, so that it
can only grow (fall) when the distribution of one R_i under P is replaced by one that is

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
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import fft, special

from dpnoise.privacy.lattice.plan import UNIT

if TYPE_CHECKING:
    from dpnoise._types import Array, BoolArray
    from dpnoise.privacy.lattice.plan import AnyCoordinate, LatticePlan, Nodes


# Passes that move the means to the lattice points, evenly where the density is smooth; then those
# that only raise a mean, by what comes from above, at breaks of the density. What the tolerance
# does not cover then goes below, as little of it as possible.
_PASSES, _RAISES = 12, 2
_UNDERFLOW = 1e-290  # more than all masses below the least double
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
