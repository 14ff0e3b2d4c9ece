"""Bounds on delta of any noise of the package for any sensitivity set.

Independent noise: a coordinate counts by its noise and by the largest change in units of its scale.
Of Gaussian noise only the largest l2 norm of the scaled differences counts. For other noise the box
around the set is taken, which is no smaller, and one difference of the set for the lower bound.
Where the loss is at most proportional to the change, the set itself gives the largest loss. Answers
with noise on the integers are integers: of their differences only the integer points of the set
count, exactly (`dpnoise.privacy.integer_sets`).

Noise in the norm of a set, for another set: with c the largest norm of a difference, the noise
protects c times its own set, and is in that norm the same noise with its lengths divided by c.

Blocks: all Gaussian ones are one quadratic form of the difference, whose largest value over the
set gives their delta_G exactly; the pure losses of the others add up to at most epsilon_1. All of
them have delta >= delta_G(epsilon), by leaving the others out, and delta <= p delta_G(epsilon -
epsilon_1) + (1 - p) delta_G(epsilon + epsilon_1), p = 1 / (1 + exp(-epsilon_1)), by randomized
response (docs/certificates.md).
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

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
from dpnoise.joint.correlated import CorrelatedGaussian
from dpnoise.joint.noise import JointNoise, NormStaircase, RadialNoise
from dpnoise.joint.profile import radial_delta_bounds
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise
from dpnoise.noise.exact import as_double, as_double_above
from dpnoise.noise.exponential_power import Gaussian, Laplace
from dpnoise.noise.integers import DiscreteLaplace, IntegerNoise
from dpnoise.noise.vectors import KNorm, Staircase2D
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise.privacy.integer_sets import integer_bounds
from dpnoise.privacy.odometer.ledger import largest_loss
from dpnoise.privacy.profile import response_delta
from dpnoise.privacy.vector import profile_of_counted
from dpnoise.sensitivity.balls import L1, L2, Box, LInf
from dpnoise.sensitivity.base import MOST_UNEQUAL, root_above
from dpnoise.sensitivity.integer_points import read_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpnoise._types import Array, IntArray
    from dpnoise.noise.base import Noise
    from dpnoise.sensitivity.base import Sensitivity, Weights

    AnyNoise = Noise | IntegerNoise
    Independent = AnyNoise | IndependentNoise | tuple[AnyNoise, ...]

GAUSSIAN, DOMINATED, RESPONSE = "Gaussian profile", "dominating Laplace noise", "largest loss"
_ERROR = 1e-11  # relative, of the Gaussian profile and of closed forms
_MIN_MU, _MAX_MU = 1e-300, 1e150
RADIAL, RESPONSE_AND_GAUSSIAN = "layers of the norm", "randomized response and Gaussian profile"
_CELLS = 2**16  # as many as calibration takes
_BALLS: dict[float, type[L1 | L2 | LInf]] = {1.0: L1, 2.0: L2, math.inf: LInf}
_SCALES: dict[type, str] = {Gaussian: "sigma", Laplace: "beta"}  # of blocks that one form describes


class Bounds(NamedTuple):
    """Proved bounds lower <= delta <= upper, and the account that gave the upper one."""

    lower: float
    upper: float
    account: str


def one_coordinates(noise: Independent, ball: Sensitivity) -> Iterator[tuple[AnyNoise, Fraction]]:
    """The noise of each coordinate that can change and its largest change over the scale."""
    K = ball.dimension
    changes = ball.sides()
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
    changes = ball.sides()
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
    changes = ball.sides()
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


def unit_ball(noise: Any) -> Sensitivity | None:  # noqa: ANN401  (any noise)
    """The set whose norm shapes the density; None for independent noise and blocks."""
    if isinstance(noise, JointNoise):
        return noise.ball
    if isinstance(noise, KNorm):
        return _BALLS[noise.norm](1.0, noise.dimension)
    return L1(noise.sensitivity, 2) if isinstance(noise, Staircase2D) else None


def dimension_of(noise: Any) -> int | None:  # noqa: ANN401
    """The number of coordinates; None for noise of one number, which any number may have."""
    return len(noise) if isinstance(noise, tuple) else getattr(noise, "dimension", None)


def _is_k_norm(noise: Any) -> bool:  # noqa: ANN401
    radial = isinstance(noise, RadialNoise) and noise.power == 1.0 and noise.bound == math.inf
    return radial or isinstance(noise, KNorm)


def loss_of(noise: Any, ball: Sensitivity) -> Fraction | float:  # noqa: ANN401
    """An upper bound on the privacy loss for a set, infinite where none is known."""
    unit = unit_ball(noise)
    if unit is None:
        return pure_loss(noise, ball)
    size = unit.largest_norm_of(ball)
    if size == math.inf:
        return math.inf
    if _is_k_norm(noise):
        return size / Fraction(noise.scale)
    if isinstance(noise, NormStaircase | Staircase2D):
        return Fraction(noise.epsilon) * math.ceil(size)
    return math.inf


def _radial(noise: RadialNoise, ball: Sensitivity, epsilon: float) -> tuple[float, float]:
    """Bounds of radial noise for a set."""
    size = noise.ball.largest_norm_of(ball)
    if size == math.inf:
        return 0.0, 1.0
    if size > 1 and noise.bound < math.inf:  # both lengths by a power of 2, which is exact
        size = Fraction(2) ** (math.ceil(size) - 1).bit_length()
    if size > 1 or noise.bound == math.inf:
        scale, bound = Fraction(noise.scale) / size, noise.bound / as_double(size)
        noise = replace(noise, scale=-as_double_above(-scale), bound=bound)
    lower, upper = radial_delta_bounds(noise, epsilon, cells=_CELLS)
    return (lower if ball == noise.ball else 0.0), upper


def _squared_mu(noise: CorrelatedGaussian, ball: Sensitivity) -> Fraction:
    """The largest squared mu of a set; refused if a difference leaves the plane of the noise."""
    size = noise.ball.largest_norm_of(ball)
    if size == math.inf:
        message = f"noise: expected some in every direction of {ball!r}, got {noise!r}"
        raise ValueError(message)
    return (Fraction(size) / Fraction(noise.sigma)) ** 2


def _joint_bounds(noise: Any, ball: Sensitivity, epsilon: float) -> Bounds:  # noqa: ANN401
    """Bounds of noise in a norm."""
    if isinstance(noise, CorrelatedGaussian):
        lower, upper = gaussian_delta(_squared_mu(noise, ball), epsilon)
        return Bounds(lower if noise.ball.is_exact_for(ball) else 0.0, upper, GAUSSIAN)
    loss = loss_of(noise, ball)
    if loss <= epsilon:
        return Bounds(0.0, 0.0, PURE)
    if isinstance(noise, KNorm):
        noise = RadialNoise(unit_ball(noise), noise.scale)  # type: ignore[arg-type]  # a ball
    found = [(response_delta(loss, epsilon), RESPONSE)]
    lower = 0.0
    if _is_k_norm(noise):
        found.append((dominated_delta(loss, epsilon), DOMINATED))
    if isinstance(noise, RadialNoise):
        try:
            lower, upper = _radial(noise, ball, epsilon)
            found.append((upper, RADIAL))
        except ValueError:  # beyond the range of the account
            pass
    best, account = min(found, key=lambda pair: pair[0])
    return Bounds(min(lower, best), best, account)


def _each(noise: IndependentNoise, ball: Sensitivity, name: str) -> list[Fraction]:
    """One over the scale of each coordinate, 0 of those that cannot change."""
    found = weights_of(noise, ball, name)
    return [found] * ball.dimension if isinstance(found, Fraction) else list(found)


def _is_factor(ball: Sensitivity, at: IntArray) -> bool:
    """Whether coordinates are those of a factor of a product, which moves by itself."""
    spans = [(first, first + factor.dimension) for first, factor in ball.factors()]
    return (int(at[0]), int(at[-1]) + 1) in spans and bool(np.all(np.diff(at) == 1))


class _Sums(NamedTuple):
    """What blocks add up to: the squared mu of all Gaussian ones, the loss of all others."""

    square: Fraction
    loss: Fraction | float
    attained: bool  # whether one difference has this mu


def _sums(noise: BlockNoise, ball: Sensitivity) -> _Sums:
    """The sums over blocks; ValueError if a coordinate that can change is in none."""
    active = ball.active
    bare = active.copy()
    for at, _ in noise.blocks:
        bare[at] = False
    if bare.any():
        expected = "expected some for each coordinate that can change"
        message = f"noise: {expected}, got none for coordinate {int(np.argmax(bare))}"
        raise ValueError(message)
    loss: Fraction | float = Fraction(0)
    correlated, attained = Fraction(0), True
    weights = {"sigma": [Fraction(0)] * ball.dimension, "beta": [Fraction(0)] * ball.dimension}
    for at, part in noise.blocks:
        if not active[at].any():
            continue
        inner = ball.restricted(at.tolist())
        if isinstance(part, CorrelatedGaussian):
            correlated += _squared_mu(part, inner)
            attained &= _is_factor(ball, at) and part.ball.is_exact_for(inner)
            continue
        name = _SCALES.get(type(part.unit)) if isinstance(part, IndependentNoise) else None
        if name is not None and isinstance(part, IndependentNoise):
            for k, weight in zip(at.tolist(), _each(part, inner, name), strict=True):
                weights[name][k] = weight
        else:
            more = loss_of(part, inner)
            loss = math.inf if math.inf in (loss, more) else Fraction(loss) + Fraction(more)
    square = ball.largest_power_sum(weights["sigma"], 2) + correlated
    loss += ball.largest_power_sum(weights["beta"], 1)
    return _Sums(square, loss, attained and ball.attains)


def _blocks_bounds(noise: BlockNoise, ball: Sensitivity, epsilon: float) -> Bounds:
    """Bounds of blocks, of which some may be Gaussian."""
    square, loss, attained = _sums(noise, ball)
    if square == 0:
        return Bounds(0.0, response_delta(loss, epsilon), PURE if loss <= epsilon else RESPONSE)
    lower, upper = gaussian_delta(square, epsilon)
    lower = lower if attained else 0.0
    if loss == 0:
        return Bounds(lower, upper, GAUSSIAN)
    if loss == math.inf:
        return Bounds(lower, 1.0, RESPONSE_AND_GAUSSIAN)
    spent = as_double_above(loss)
    p = 1.0 / (1.0 + math.exp(-spent))
    below = -as_double_above(-(Fraction(epsilon) - Fraction(spent)))
    above = -as_double_above(-(Fraction(epsilon) + Fraction(spent)))
    first, second = (gaussian_delta(square, x)[1] for x in (below, above))
    upper = min((p * first + (1.0 - p) * second) * (1.0 + _ERROR), 1.0)
    return Bounds(min(lower, upper), upper, RESPONSE_AND_GAUSSIAN)


def account_bounds(noise: Any, ball: Sensitivity, epsilon: float) -> Bounds:  # noqa: ANN401
    """Bounds on delta(epsilon) of any noise for any set, which have been checked to fit."""
    if isinstance(noise, BlockNoise):
        return _blocks_bounds(noise, ball, epsilon)
    if unit_ball(noise) is not None:
        return _joint_bounds(noise, ball, epsilon)
    return independent_bounds(noise, ball, epsilon)
