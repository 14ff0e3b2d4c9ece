"""Bounds on delta of independent noise for a sensitivity set, by the accounts of the package.

A coordinate counts by its noise and by the largest change in units of its scale. Of Gaussian noise
only the largest l2 norm of the scaled differences counts. For other noise the box around the set is
taken, which is no smaller, and one difference of the set for the lower bound. Where the loss is at
most proportional to the change, the set itself gives the largest loss. Answers with noise on the
integers are integers: of their differences only the integer points of the set count, exactly
(`dpnoise.privacy.integer_sets`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise._validation import Problems
from dpnoise.calibration.certify import (
    COMPOSED,
    PURE,
    SCALAR,
    VECTOR,
    composed_log_delta,
    shared_log_delta,
)
from dpnoise.mechanisms.noise import IndependentNoise
from dpnoise.noise.discrete_laplace import DiscreteLaplace
from dpnoise.noise.gaussian import Gaussian
from dpnoise.noise.integers import IntegerNoise
from dpnoise.noise.laplace import Laplace
from dpnoise.noise.rational import as_double_above
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.integer_sets import integer_bounds
from dpnoise.privacy.largest_loss import response_delta
from dpnoise.privacy.odometer.ledger import largest_loss
from dpnoise.privacy.vector import profile_of_counted
from dpnoise.sensitivity.balls import LInf
from dpnoise.sensitivity.box import Box
from dpnoise.sensitivity.integer_points import read_parts
from dpnoise.sensitivity.power_sums import root_above
from dpnoise.sensitivity.sizes import MOST_UNEQUAL, sides

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpnoise._types import Array
    from dpnoise.noise.base import Noise
    from dpnoise.sensitivity.base import Sensitivity
    from dpnoise.sensitivity.power_sums import Weights

    AnyNoise = Noise | IntegerNoise
    Independent = AnyNoise | IndependentNoise | tuple[AnyNoise, ...]

GAUSSIAN, DOMINATED, RESPONSE = "Gaussian profile", "dominating Laplace noise", "largest loss"
_ERROR = 1e-11  # relative, of the Gaussian profile and of closed forms
_MIN_MU, _MAX_MU = 1e-300, 1e150


class Bounds(NamedTuple):
    """Proved bounds lower <= delta <= upper, and the account that gave the upper one."""

    lower: float
    upper: float
    account: str


def one_coordinates(noise: Independent, ball: Sensitivity) -> Iterator[tuple[AnyNoise, Fraction]]:
    """The noise of each coordinate that can change and its largest change over the scale."""
    K = ball.dimension
    changes = sides(ball)
    each = [changes] * K if isinstance(changes, Fraction) else changes
    for k, change in enumerate(each):
        if change == 0:
            continue
        if isinstance(noise, IndependentNoise):
            scale = Fraction(float(noise.scales[k]))
            if scale == 0:
                message = f"noise: expected some for coordinate {k}, which can change, got none"
                raise ValueError(message)
            yield noise.unit, change / scale
        else:
            yield (noise[k] if isinstance(noise, tuple) else noise), change


def shares_of(noise: Independent, ball: Sensitivity) -> dict[tuple[AnyNoise, Fraction], int]:
    """How many coordinates there are of each noise and largest change."""
    changes = sides(ball)
    if not isinstance(noise, tuple | IndependentNoise) and isinstance(changes, Fraction):
        return {(noise, changes): ball.dimension}
    found: dict[tuple[AnyNoise, Fraction], int] = {}
    for share in one_coordinates(noise, ball):
        found[share] = found.get(share, 0) + 1
    return found


def weights_of(noise: Independent, ball: Sensitivity, name: str) -> Weights:
    """One over the scale `name` of each coordinate, 0 of those that cannot change."""
    if not isinstance(noise, tuple | IndependentNoise):
        return 1 / Fraction(getattr(noise, name))
    changes = sides(ball)
    each = [changes] * ball.dimension if isinstance(changes, Fraction) else changes
    shares = one_coordinates(noise, ball)
    found = []
    for change in each:
        one, ratio = next(shares) if change else (None, Fraction(0))
        found.append(ratio / (change * Fraction(getattr(one, name))) if change else Fraction(0))
    return found


def families_of(noise: Independent) -> set[type]:
    """The classes of the coordinates' noise."""
    if isinstance(noise, IndependentNoise):
        return {type(noise.unit)}
    return {type(one) for one in noise} if isinstance(noise, tuple) else {type(noise)}


def squared_mu(noise: Independent, ball: Sensitivity) -> Fraction:
    """The largest squared l2 norm of a difference in units of Gaussian noise, rounded up."""
    return ball.largest_power_sum(weights_of(noise, ball, "sigma"), 2)


def _squared_mu_at(noise: Independent, ball: Sensitivity, point: Array) -> Fraction:
    """The squared l2 norm of one difference in units of Gaussian noise."""
    weights = weights_of(noise, ball, "sigma")
    each = [weights] * ball.dimension if isinstance(weights, Fraction) else weights
    pairs = zip(each, point.tolist(), strict=True)
    return sum(((w * Fraction(x)) ** 2 for w, x in pairs), Fraction(0))


def gaussian_delta(square: Fraction, epsilon: float) -> tuple[float, float]:
    """Bounds on delta of Gaussian noise by its squared mu, for any real epsilon."""
    mu = min(max(as_double_above(root_above(square)), _MIN_MU), _MAX_MU)
    log_delta = float(gaussian_log_delta(mu, abs(epsilon)))
    error = _ERROR + 2.0**-50 * (10.0 - 3.0 * log_delta)
    low, high = math.exp(log_delta - error), min(math.exp(log_delta + error), 1.0)
    if mu in (_MIN_MU, _MAX_MU):
        low = 0.0
    if epsilon < 0.0:  # 1 - delta(-x) = e^-x (1 - delta(x))
        fall = math.exp(epsilon)
        low, high = (1.0 - fall * (1.0 - x) for x in (low, high))
        low, high = low * (1.0 - _ERROR), min(high * (1.0 + _ERROR), 1.0)
    return low, max(high, 5e-324)


def dominated_delta(loss: Fraction | float, epsilon: float) -> float:
    """Upper bound on delta where Laplace noise with a largest loss dominates."""
    if loss <= epsilon:
        return 0.0
    if loss == math.inf:
        return 1.0
    gap = as_double_above(Fraction(loss) - Fraction(epsilon))
    return min(-math.expm1(-0.5 * gap) * (1.0 + _ERROR), 1.0)


def pure_loss(noise: Independent, ball: Sensitivity) -> Fraction | float:
    """The largest privacy loss of all coordinates together, rounded up."""
    kinds = families_of(noise)
    if len(kinds) == 1 and kinds <= {Laplace, DiscreteLaplace}:  # proportional to the change
        return ball.largest_power_sum(weights_of(noise, ball, "beta"), 1)
    total: Fraction | float = Fraction(0)
    for (one, size), count in shares_of(noise, ball).items():
        loss = largest_loss(one, size)
        total = math.inf if loss == math.inf else total + count * Fraction(loss)
    return total


def _profile(noise: Independent, ball: Sensitivity, epsilon: float) -> tuple[float, float]:
    """Lower and upper bounds by the exact profile of a difference and of the box."""
    shares = shares_of(noise, ball)
    upper = _upper(shares, epsilon)
    if isinstance(ball, Box | LInf):
        return _lower(shares, epsilon), upper
    if ball.dimension > MOST_UNEQUAL:
        return 0.0, upper
    box, point = ball.box, ball.extreme_point
    inner: dict[tuple[AnyNoise, Fraction], int] = {}
    every = one_coordinates(noise, ball)
    for k in np.flatnonzero(box > 0.0):
        one, ratio = next(every)
        if point[k] > 0.0:
            key = one, ratio * Fraction(float(point[k])) / Fraction(float(box[k]))
            inner[key] = inner.get(key, 0) + 1
    return _lower(inner, epsilon), upper


def _doubles(shares: dict[tuple[AnyNoise, Fraction], int], *, up: bool) -> list[tuple]:
    """Noise, size as a double on one side, and how many."""
    found = []
    for (noise, size), count in shares.items():
        above = as_double_above(size)
        below = above if above == size else math.nextafter(above, 0.0)
        if isinstance(noise, IntegerNoise) and size.denominator != 1:
            message = f"sensitivity: expected integers for noise on the integers, got {size}"
            raise ValueError(message)
        found.append((noise, above if up else below, count))
    return found


def _lower(shares: dict[tuple[AnyNoise, Fraction], int], epsilon: float) -> float:
    try:
        return float(profile_of_counted(_doubles(shares, up=False), epsilon).lower)
    except ValueError:  # beyond the range of the profile
        return 0.0


def _upper(shares: dict[tuple[AnyNoise, Fraction], int], epsilon: float) -> float:
    try:
        return float(profile_of_counted(_doubles(shares, up=True), epsilon).upper)
    except ValueError:
        return 1.0


def _composed(noise: Independent, ball: Sensitivity, epsilon: float) -> float:
    """Upper bound by basic composition; 1 for noise that it is not made for."""
    shares = _doubles(shares_of(noise, ball), up=True)
    if not all(one.log_concave and not isinstance(one, IntegerNoise) for one, _, _ in shares):
        return 1.0
    if len(shares) == 1:
        ((one, size, count),) = shares
        log_delta = composed_log_delta(one, size, epsilon, count)
    else:
        log_delta = shared_log_delta(shares, epsilon)
    return max(math.exp(log_delta), 5e-324) if log_delta > -math.inf else 0.0


def _on_integer_points(noise: Independent, ball: Sensitivity, epsilon: float) -> Bounds | None:
    """Bounds of noise on the integers for the integer points of a set.

    None for other noise, and where coordinates that share one bound have different noise.
    """
    if not all(issubclass(kind, IntegerNoise) for kind in families_of(noise)):
        return None
    problems = Problems("certificate")
    parts = read_parts(problems, ball)
    noises: list[IntegerNoise] = []
    for part in parts:
        each = {noise[k] for k in part.at} if isinstance(noise, tuple) else {noise}
        if len(each) > 1:
            return None
        noises += [one for one in each if isinstance(one, IntegerNoise)]
    if problems.found:
        return None
    found = integer_bounds(noises, parts, epsilon)
    return Bounds(found.lower, found.upper, found.account)


def independent_bounds(noise: Independent, ball: Sensitivity, epsilon: float) -> Bounds:
    """Bounds for independent noise on the coordinates, any set and epsilon >= 0.

    All noise is symmetric about 0, so that delta of a difference depends on the |d_i| alone, and
    the hull of a set with all signs has the same largest one.
    """
    ball = ball.unconditional_hull
    if families_of(noise) == {Gaussian}:
        low, high = gaussian_delta(squared_mu(noise, ball), epsilon)
        if not ball.attains:
            low = gaussian_delta(_squared_mu_at(noise, ball, ball.extreme_point), epsilon)[0]
        return Bounds(low, high, GAUSSIAN)
    whole = _on_integer_points(noise, ball, epsilon)
    if whole is not None:
        return whole
    loss = pure_loss(noise, ball)
    if loss <= epsilon:
        return Bounds(0.0, 0.0, PURE)
    lower, upper = _profile(noise, ball, epsilon)
    one = ball.active_dimension == 1
    found = [(upper, SCALAR if one else VECTOR), (response_delta(loss, epsilon), RESPONSE)]
    if families_of(noise) == {Laplace}:
        found.append((dominated_delta(loss, epsilon), DOMINATED))
    if not one:
        found.append((_composed(noise, ball, epsilon), COMPOSED))
    best, account = min(found, key=lambda pair: pair[0])
    return Bounds(min(lower, best), best, account)
