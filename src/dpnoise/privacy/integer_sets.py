"""Bounds on delta of independent noise on the integers for the integer points of a set.

For noise that falls with |k| the shift by d dominates that by d' if |d'_i| <= |d_i| for all i
(docs/vector-privacy.md, section 1, with sums for integrals). So delta of a set is the largest of
its maximal integer points (`dpnoise.privacy.integer_points`), and both of its bounds are
attained. Where these points are too many to list, two bounds hold for all of them:

- the largest loss: discrete Laplace noise loses 1 / beta for each unit of the change, staircase
  noise its epsilon for each step, so that the largest sum of steps counts, in exact arithmetic;
- concentrated privacy: the Renyi divergence of order a of discrete Gaussian noise under a shift by
  d is at most a d^2 / (2 sigma^2) (Canonne, Kamath & Steinke 2020, Proposition 5), so that with the
  largest rho = sum d_i^2 / (2 sigma_i^2) and any a > 1 (their Corollary 13)

      delta <= exp((a - 1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from dpnoise.noise.exact import as_double_above
from dpnoise.privacy.integer_points import maximal_points
from dpnoise.privacy.lattice.bounds import lattice_bounds
from dpnoise.privacy.lattice.discrete import ListedLoss
from dpnoise.privacy.profile import response_log_delta
from dpnoise.privacy.vector import profile_of_counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.privacy.integer_points import IntegerPart, Sizes

    Shares = list[tuple[IntegerNoise, int, int]]  # noise, change, coordinates

MOST_POINTS, MOST_PARTS = 128, 16  # more take seconds
PURE, EXACT, CONCENTRATED = "greatest loss", "integer points", "concentrated privacy"
_LATTICE = 2**13  # points: losses of integers meet it, so that few are enough
_RHOS = 1e-12, 1e3  # whose dominating pairs are listed
_EPSILONS, _LAST = 256, 200.0  # how many, and minus the log delta at the last one, about
_ROUNDING = 1e-9  # relative, of the dozen operations of a logarithm up to 1e5


class IntegerBounds(NamedTuple):
    """Proved bounds lower <= delta <= upper for the integer points, and the account of upper."""

    log_lower: float
    log_upper: float
    account: str

    @property
    def lower(self) -> float:
        """The lower bound."""
        return math.exp(self.log_lower)

    @property
    def upper(self) -> float:
        """The upper bound, at least the smallest double unless delta is exactly 0."""
        return max(math.exp(self.log_upper), 5e-324) if self.log_upper > -math.inf else 0.0


def listed_points(parts: Sequence[IntegerPart]) -> list[tuple[Sizes, ...]] | None:
    """The maximal points of a set, None if they are too many, or change by too many sizes."""
    if len(parts) > MOST_PARTS:
        return None
    return maximal_points(parts, MOST_POINTS)


def shares_of_point(noises: Sequence[IntegerNoise], point: tuple[Sizes, ...]) -> Shares:
    """Noise, change and number of the coordinates that a point changes."""
    return [
        (noise, size, count)
        for noise, sizes in zip(noises, point, strict=True)
        for size, count in sizes
    ]


def largest_loss(noises: Sequence[IntegerNoise], parts: Sequence[IntegerPart]) -> Fraction | float:
    """The largest privacy loss over the integer points, exactly; infinite where it has none.

    `noises` has that of the coordinates of each part.
    """
    total: Fraction | float = Fraction(0)
    for noise, part in zip(noises, parts, strict=True):
        step = noise.largest_loss(1)
        if step == math.inf:
            return math.inf
        total += Fraction(step) * part.steps(getattr(noise, "sensitivity", 1))
    return total


def concentration(noises: Sequence[IntegerNoise], parts: Sequence[IntegerPart]) -> Fraction | None:
    """The largest rho of discrete Gaussian noise over the integer points; None for other noise."""
    rho = Fraction(0)
    for noise, part in zip(noises, parts, strict=True):
        pair = noise.zcdp_pair(Fraction(1))
        if pair is None or pair[0] > 0:
            return None
        rho += part.squares * pair[1]
    return rho


def concentrated_log_delta(rho: Fraction, epsilon: float) -> float:
    """Upper bound on log delta at epsilon where all Renyi divergences of order a are a rho."""
    size = as_double_above(rho)
    if not 0.0 < size < 1e100:
        return 0.0
    # Any order is a bound; the best one is near 1 + (epsilon - rho) / (2 rho).
    b = math.log(max((epsilon - size) / (2.0 * size), 1e-3))

    def log_delta(a: float) -> float:
        return (a - 1.0) * (a * size - epsilon) + a * math.log1p(-1.0 / a) - math.log(a - 1.0)

    orders = [1.0 + math.exp(b + 0.02 * k) for k in range(-60, 61)]
    best = min(map(log_delta, orders))
    largest = max(orders)
    error = _ROUNDING * (1.0 + abs(best)) + 2.0**-48 * largest * (largest * size + epsilon)
    return min(best + error, 0.0)


@lru_cache(maxsize=64)
def concentrated_loss(rho: Fraction) -> ListedLoss | None:
    """A pair that dominates noise with all Renyi divergences of order a at most a rho.

    By bounds on its profile at some epsilons. None if `rho` is out of range.
    """
    size = as_double_above(rho)
    if not _RHOS[0] <= size <= _RHOS[1]:
        return None
    top = size + 2.0 * math.sqrt(size * _LAST)
    at = [top * (k + 1) / _EPSILONS for k in range(_EPSILONS)]
    return ListedLoss(tuple(at), tuple(math.exp(concentrated_log_delta(rho, x)) for x in at))


def point_bounds(shares: Shares, epsilon: float, *, size: int = _LATTICE) -> tuple[float, float]:
    """Bounds on log delta for the shift by one point; (-inf, 0) beyond the range of the account."""
    try:
        several = sum(count for _, _, count in shares) > 1
        if several and all(noise.log_concave for noise, _, _ in shares):
            listed = [(n, float(d), k) for n, d, k in shares]
            found = lattice_bounds(listed, epsilon, size=size)
            return float(found.log_lower), float(found.log_upper)
        profile = profile_of_counted(shares, epsilon)
        return float(profile.log_lower), float(profile.log_upper)
    except ValueError:
        return -math.inf, 0.0


def integer_bounds(
    noises: Sequence[IntegerNoise], parts: Sequence[IntegerPart], epsilon: float
) -> IntegerBounds:
    """Bounds on log delta of noise for the integer points of a set.

    `noises` has that of the coordinates of each part; the bounds include all rounding.
    """
    loss = largest_loss(noises, parts)
    if loss <= epsilon:
        return IntegerBounds(-math.inf, -math.inf, PURE)
    points = listed_points(parts)
    found = [IntegerBounds(-math.inf, response_log_delta(loss, epsilon), PURE)]
    rho = concentration(noises, parts)
    if rho is not None:
        upper = concentrated_log_delta(rho, epsilon)
        found.append(IntegerBounds(-math.inf, upper, CONCENTRATED))
    lower = -math.inf
    if points is not None:
        pairs = [point_bounds(shares_of_point(noises, point), epsilon) for point in points]
        lower = max(low for low, _ in pairs)
        found.append(IntegerBounds(lower, max(high for _, high in pairs), EXACT))
    best = min(found, key=lambda one: one.log_upper)
    if lower > best.log_upper:
        message = (
            f"integer points: the accounts disagree for {noises!r} at epsilon = {epsilon!r}: "
            f"{best.account!r} finds log delta <= {best.log_upper!r}, {EXACT!r} finds log delta >= "
            f"{lower!r}; please report"
        )
        raise RuntimeError(message)
    return best._replace(log_lower=lower)
