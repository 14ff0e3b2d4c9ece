"""Noise of minimum variance on the integers.

Discrete Gaussian and discrete Laplace noise have one scale: a root of log delta under the exact
profile of one coordinate, or the upper bound for several (`dpnoise.privacy.lattice`). Without
delta the scale is in closed form. The discrete staircase has the search of the continuous one
(`dpnoise.calibration.staircase_search`).

Integer noise cannot be scaled, so that every candidate is certified itself, and the smallest scale
that was seen to be private is returned. For discrete Laplace noise delta falls with the scale: wide
noise is narrow noise plus independent noise. For the discrete Gaussian it does not: at epsilon = 5,
delta is 8e-5 for sigma = 0.72, and 1.6e-4 for sigma = 0.8 (sensitivity 1). Losses are multiples of
D / sigma^2 there, up to an offset, and delta dips where one of them is epsilon, for K coordinates

    sigma^2 = D (2 n + K D) / (2 epsilon),  n an integer.

So these sigmas are tried from the smallest one on, unless they are so many that delta is smooth.

For a sensitivity set delta is the largest one of its maximal integer points
(`dpnoise.privacy.integer_sets`). The scale is sought for one of them; a point that contradicts it
joins the search, until none does.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import scipy  # its optimize, 0.2 s, loads where it is used

from dpnoise.calibration import scalar
from dpnoise.calibration.budget import Calibration
from dpnoise.calibration.search import laplace
from dpnoise.calibration.staircase_search import discrete_staircase_optimum
from dpnoise.noise.integers import (
    MAX_BETA,
    MAX_EPSILON,
    MAX_SENSITIVITY,
    MAX_SIGMA,
    MIN_BETA,
    MIN_EPSILON,
    MIN_SIGMA,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    best_r,
)
from dpnoise.privacy.accounts import equal_share, event_log_delta, first_account
from dpnoise.privacy.integer_sets import (
    concentrated_log_delta,
    concentration,
    integer_bounds,
    listed_points,
    point_bounds,
    shares_of_point,
)
from dpnoise.privacy.second import Account, require_agreement
from dpnoise.privacy.vector import VectorProfile, vector_profile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dpnoise.calibration.budget import Target
    from dpnoise.noise.integers import IntegerNoise
    from dpnoise.privacy.integer_sets import IntegerPart, Sizes

    NoiseOn = Callable[[Sequence[IntegerPart], float, float], IntegerNoise]  # epsilon and delta
    NoiseAt = Callable[[float], Sequence[IntegerNoise]]  # of each part, by a scale

_STEP, _DOUBLINGS = 0.02, 12  # of the logarithm of a scale; together beyond any range
CLOSE = 1e-12, 1e-8  # relative, of the scale, for one coordinate and for several
_MOST_DIPS = 400, 16  # for one coordinate and for several
_CLIP = 700.0  # of log delta, for the search
_WIDTHS = 94  # of staircases, up to 2^30


def _profile(noise: IntegerNoise, budget: Target) -> VectorProfile:
    size = int(budget.sensitivity)
    return vector_profile(noise, size, budget.epsilon, copies=budget.dimension)


def _found(noise: IntegerNoise, budget: Target) -> Calibration:
    """Noise with its certified delta; RuntimeError if that is more than the budget's."""
    delta, account = first_account(noise, budget.sensitivity, budget.dimension, budget.epsilon)
    if delta > budget.delta:
        raise RuntimeError(f"calibration: {noise!r} could not be verified for {budget!r}")
    variance = noise.var()
    return Calibration(noise, delta, variance, "exact", True, variance, (account,))


def smallest_scale(
    profile: Callable[[float], VectorProfile],
    limits: tuple[float, float],
    start: float,
    delta: float,
    close: float,
) -> float:
    """The smallest scale between limits that is seen to be private, infinite if there is none.

    `profile` is that of a scale, and `close` the relative tolerance.
    """
    bar, (low, high) = math.log(delta), map(math.log, limits)
    private = math.inf

    def excess(x: float) -> float:
        nonlocal private
        scale = min(max(math.exp(x), limits[0]), limits[1])
        found = profile(scale)
        if found.upper <= delta:
            private = min(private, scale)
            return max(min(float(found.log_upper) - bar, 0.0), -_CLIP)
        return min(float(found.log_upper) - bar, _CLIP)

    here = min(max(math.log(start), low), high)
    side = 1.0 if excess(here) > 0.0 else -1.0
    before, step = here, _STEP
    # ends: noise that was seen to be private, or none
    for _ in range(_DOUBLINGS):
        before, here = here, min(max(here + side * step, low), high)
        step *= 2.0
        if here == before or side * excess(here) <= 0.0:
            break
    if here != before and private < math.inf:
        left, right = min(before, here), max(before, here)
        if excess(left) > 0.0 >= excess(right):
            root = float(scipy.optimize.brentq(excess, left, right, xtol=close, rtol=close))
            excess(root + 2.0 * close)
    return private


def _by_scale(
    make: Callable[[float], IntegerNoise], limits: tuple[float, float], start: float, budget: Target
) -> Calibration:
    """Noise of the smallest private scale."""
    close = CLOSE[budget.dimension > 1]
    scale = smallest_scale(
        lambda scale: _profile(make(scale), budget), limits, start, budget.delta, close
    )
    if scale == math.inf:
        message = (
            f"calibration: no {type(make(limits[1])).__name__} noise up to a scale of"
            f" {limits[1]:g} was found for {budget!r}"
        )
        raise RuntimeError(message)
    return _found(make(scale), budget)


def discrete_gaussian(budget: Target) -> Calibration:
    """Discrete Gaussian noise for delta > 0, sought from the continuous sigma and below."""
    start = scalar.gaussian_scale(budget)
    found = _by_scale(DiscreteGaussian, (MIN_SIGMA, MAX_SIGMA), start, budget)
    before = MIN_SIGMA
    for sigma in _dips(budget, found.noise.sigma):
        if _profile(DiscreteGaussian(sigma), budget).upper <= budget.delta:
            return _by_scale(DiscreteGaussian, (before, sigma), sigma, budget)
        before = sigma
    return found


def _dips(budget: Target, sigma: float) -> Iterator[float]:
    """Where delta may dip below `sigma`, from the smallest on; nothing where it is smooth."""
    size, total = budget.sensitivity, budget.dimension * budget.sensitivity
    if budget.epsilon == 0.0:
        return
    first = math.floor(-0.5 * total) + 1
    last = math.ceil(budget.epsilon * sigma * (sigma / size) - 0.5 * total)
    if last - first > _MOST_DIPS[budget.dimension > 1]:
        return
    for n in range(first, last):
        dip = math.sqrt(0.5 * size * (2 * n + total) / budget.epsilon)
        if MIN_SIGMA < dip < sigma:
            yield dip


def discrete_laplace(budget: Target) -> Calibration:
    """Discrete Laplace noise for delta > 0, sought from the continuous scale."""
    beta = laplace(budget).noise.mean_abs()
    found = _by_scale(DiscreteLaplace, (MIN_BETA, MAX_BETA), beta, budget)
    if not budget.allows_pure:
        return found
    pure = pure_discrete_laplace(budget)
    return found if found.variance < pure.variance else pure


def pure_discrete_laplace(budget: Target) -> Calibration:
    """(epsilon, 0)-DP discrete Laplace noise: beta = K sensitivity / epsilon, rounded up."""
    exact = budget.dimension * Fraction(budget.sensitivity) / Fraction(budget.epsilon)
    beta = float(exact)
    beta = math.nextafter(beta, math.inf) if Fraction(beta) < exact else beta
    return _found(DiscreteLaplace(max(beta, MIN_BETA)), budget)


def discrete_staircase(budget: Target) -> Calibration:
    """Discrete staircase noise for delta > 0, delta used where that gains anything."""
    return discrete_staircase_optimum(budget, pure_discrete_staircase(budget))


def pure_discrete_staircase(budget: Target) -> Calibration:
    """(epsilon, 0)-DP discrete staircase noise: epsilon / K for each coordinate."""
    share, size = equal_share(budget.epsilon, budget.dimension), int(budget.sensitivity)
    return _found(DiscreteStaircase(share, size, best_r(share, size)), budget)


def scale_for_points(
    noises_at: NoiseAt,
    parts: Sequence[IntegerPart],
    goal: tuple[float, float],
    limits: tuple[float, float],
    start: float,
) -> float:
    """The smallest scale between limits that is seen to keep `goal` = (epsilon, delta > 0).

    `noises_at` is the noise of each part at a scale. Infinite if no scale is seen to.
    """
    epsilon, delta = goal
    bar = math.log(delta)
    points = listed_points(parts)

    def by_concentration(scale: float) -> VectorProfile:
        rho = concentration(noises_at(scale), parts)
        upper = 0.0 if rho is None else concentrated_log_delta(rho, epsilon)
        return VectorProfile(*(np.asarray(x) for x in (-math.inf, upper, upper)))

    if points is None:
        return smallest_scale(by_concentration, limits, start, delta, CLOSE[1])

    def excess(scale: float, point: tuple[Sizes, ...]) -> float:
        return point_bounds(shares_of_point(noises_at(scale), point), epsilon)[1]

    chosen = [max(points, key=lambda point: _squares(noises_at(start), point))]
    # ends: each pass adds one of finitely many points, or returns
    while True:

        def profile(scale: float) -> VectorProfile:
            upper = np.asarray(max(excess(scale, point) for point in chosen))
            return VectorProfile(np.asarray(-math.inf), upper, upper)

        close = CLOSE[sum(k for sizes in chosen[0] for _, k in sizes) > 1]
        scale = smallest_scale(profile, limits, start, delta, close)
        if scale == math.inf:
            return scale
        worst = max(points, key=lambda point: excess(scale, point))
        if excess(scale, worst) <= bar:
            return scale
        if worst in chosen:  # delta rounds to more than its logarithm
            return math.inf
        chosen.append(worst)
        start = scale


def _squares(noises: Sequence[IntegerNoise], point: tuple[Sizes, ...]) -> float:
    """The sum of squares of a point in units of the noise: large where delta is."""
    shares = shares_of_point(noises, point)
    return math.fsum(count * size**2 / noise.var() for noise, size, count in shares)


def certified_on_parts(
    noises: Sequence[IntegerNoise], parts: Sequence[IntegerPart], epsilon: float, delta: float
) -> tuple[float, tuple[str, ...]]:
    """Certified delta of noise for the integer points of a set, and by which accounts.

    RuntimeError if it is above `delta`, or if a second account contradicts the first.
    """
    found = integer_bounds(noises, parts, epsilon)
    what = f"noise on the integers: {noises!r} at epsilon = {epsilon!r}"
    if found.upper > delta:
        message = f"{what}: delta could not be verified to be at most {delta!r}"
        raise RuntimeError(message)
    points = listed_points(parts)
    if points is None or found.upper == 0.0:
        return found.upper, (found.account,)
    some = max(points, key=lambda point: _squares(noises, point))
    shares = [(n, float(size), count) for n, size, count in shares_of_point(noises, some)]
    second = Account("half-lines", event_log_delta(shares, epsilon), 0.0)
    require_agreement(what, found.account, found.upper, second)
    return found.upper, (found.account, second.name)


def staircase_for_steps(part: IntegerPart, epsilon: float) -> DiscreteStaircase:
    """Discrete staircase noise for a part of a set, with an equal share of epsilon for each step.

    Steps as wide as a change are few and long, narrow ones many and short.
    """
    top = part.largest
    if top > MAX_SENSITIVITY:
        message = f"discrete staircase: expected changes of at most {MAX_SENSITIVITY}, got {top}"
        raise ValueError(message)
    widths = sorted({min(top, round(1.25**k)) for k in range(_WIDTHS)} | {top})
    found = []
    for width in widths:
        share = equal_share(epsilon, part.steps(width))
        if MIN_EPSILON <= share <= MAX_EPSILON:
            found.append(DiscreteStaircase(share, width, best_r(share, width)))
    if not found:
        message = (
            f"discrete staircase: expected an epsilon from {MIN_EPSILON:g} to {MAX_EPSILON:g} for "
            f"each step, got {epsilon!r} for all of them"
        )
        raise ValueError(message)
    return min(found, key=lambda noise: noise.var())
