"""Bounds on delta of any noise of the package for any sensitivity set.

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

from dpnoise.calibration.certify import PURE
from dpnoise.certificates.bounds import (
    DOMINATED,
    GAUSSIAN,
    RESPONSE,
    Bounds,
    dominated_delta,
    gaussian_delta,
    independent_bounds,
    pure_loss,
    weights_of,
)
from dpnoise.joint.correlated import CorrelatedGaussian
from dpnoise.joint.noise import JointNoise, NormStaircase, RadialNoise
from dpnoise.joint.profile import radial_delta_bounds
from dpnoise.mechanisms.noise import BlockNoise, IndependentNoise
from dpnoise.noise.gaussian import Gaussian
from dpnoise.noise.k_norm import KNorm
from dpnoise.noise.laplace import Laplace
from dpnoise.noise.rational import as_double, as_double_above
from dpnoise.noise.staircase_2d import Staircase2D
from dpnoise.privacy.largest_loss import response_delta
from dpnoise.sensitivity.balls import L1, L2, LInf
from dpnoise.sensitivity.product import Product
from dpnoise.sensitivity.sizes import projected, size_in_norm

if TYPE_CHECKING:
    from dpnoise._types import IntArray
    from dpnoise.sensitivity.base import Sensitivity

RADIAL, RESPONSE_AND_GAUSSIAN = "layers of the norm", "randomized response and Gaussian profile"
_CELLS = 2**16  # as many as calibration takes
_BALLS: dict[float, type[L1 | L2 | LInf]] = {1.0: L1, 2.0: L2, math.inf: LInf}
_ERROR = 1e-11
_SCALES: dict[type, str] = {Gaussian: "sigma", Laplace: "beta"}  # of blocks that one form describes


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
    size = size_in_norm(ball, unit)
    if size == math.inf:
        return math.inf
    if _is_k_norm(noise):
        return size / Fraction(noise.scale)
    if isinstance(noise, NormStaircase | Staircase2D):
        return Fraction(noise.epsilon) * math.ceil(size)
    return math.inf


def _radial(noise: RadialNoise, ball: Sensitivity, epsilon: float) -> tuple[float, float]:
    """Bounds of radial noise for a set."""
    size = size_in_norm(ball, noise.ball)
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
    size = size_in_norm(ball, noise.ball)
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
    ends = np.cumsum([0, *(factor.dimension for factor in _factors(ball))])
    spans = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    return (int(at[0]), int(at[-1]) + 1) in spans and bool(np.all(np.diff(at) == 1))


def _factors(ball: Sensitivity) -> list[Sensitivity]:
    """The factors of a set that are no products."""
    if not isinstance(ball, Product):
        return [ball]
    return [factor for block in ball.blocks for factor in _factors(block)]


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
        inner = projected(ball, at.tolist())
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
