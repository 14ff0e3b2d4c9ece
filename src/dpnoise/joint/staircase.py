"""Staircase noise in the norm of any set.

Geng & Viswanath, "The optimal noise-adding mechanism in differential privacy" (IEEE Transactions
on Information Theory 2016), with a norm in the place of the absolute value. The density falls by
the factor b = exp(-epsilon) at the norms gamma, 1 + gamma, 2 + gamma, ... Neighbours are at most 1
apart in the norm, hence at most one fall: the noise is epsilon-private. It is a mixture of
uniform distributions on (k + gamma) D with weights proportional to b^k (k + gamma)^K, so that
E T^n = M(K + n) / M(K) with M(n) = sum over k of b^k (k + gamma)^n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import special

from dpnoise._validation import Problems
from dpnoise.joint.base import JointNoise, check_ball
from dpnoise.sensitivity.base import Sensitivity

if TYPE_CHECKING:
    from dpnoise._types import Array

LARGEST_EPSILON = 700.0
_MOST_STEPS = 2**21


def steps_needed(dimension: int, epsilon: float) -> float:
    """Number of falls beyond which less than 1e-17 of any moment up to the second lies."""
    n = dimension + 2.0
    return (n + 10.0 * math.sqrt(n) + 60.0) / epsilon + 2.0


def check_steps(problems: Problems, dimension: int, epsilon: float) -> None:
    """Record of a problem unless the density has a manageable number of steps."""
    lowest = steps_needed(dimension, 1.0) / _MOST_STEPS
    problems.number("epsilon", epsilon, low=lowest, high=LARGEST_EPSILON)


def log_weights(dimension: int, epsilon: float, gamma: float) -> tuple[Array, Array]:
    """The radii k + gamma and the logarithms of b^k (k + gamma)^K."""
    radii = gamma + np.arange(math.ceil(steps_needed(dimension, epsilon)), dtype=float)
    return radii, dimension * np.log(radii) - epsilon * (radii - gamma)


def staircase_layer_moment(dimension: int, epsilon: float, gamma: float, order: int = 2) -> float:
    """E T^order of the staircase whose falls are 1 apart."""
    radii, logs = log_weights(dimension, epsilon, gamma)
    weights = np.exp(logs - np.max(logs))
    return float(np.sum(weights * radii**order) / np.sum(weights))


@dataclass(frozen=True)
class NormStaircase(JointNoise):
    """Staircase noise in the norm of a sensitivity set, epsilon-private for that set.

    Parameters
    ----------
    ball : Sensitivity
        The set of differences, whose norm shapes the noise; its relation is not kept.
    epsilon : float
        The privacy parameter, at most 700 and not so small that there are over 2e6 steps.
    gamma : float
        Where the density falls first, as a fraction of the width of a step, in (0, 1).

    Raises
    ------
    ValueError
        If a parameter is out of range; the message names every problem.

    Examples
    --------
    >>> from dpnoise import LInf
    >>> from dpnoise.joint.staircase import NormStaircase
    >>> noise = NormStaircase(LInf(1.0, of=2), epsilon=3.0, gamma=0.4)
    >>> round(float(noise.logpdf([0.0, 0.3]) - noise.logpdf([1.0, -0.7])), 12)
    3.0
    """

    ball: Sensitivity
    epsilon: float
    gamma: float

    def dominating(self, size: Fraction) -> Fraction:
        """The pure epsilon, that of a step for each one crossed."""
        return Fraction(self.epsilon) * math.ceil(size)

    def __post_init__(self) -> None:
        """Check of the parameters, stored as floats."""
        problems = Problems("staircase noise in a norm")
        check_ball(problems, self.ball)
        known = isinstance(self.ball, Sensitivity)
        check_steps(problems, self.ball.active_dimension if known else 1, self.epsilon)
        problems.number("gamma", self.gamma, low=0.0, high=1.0, open_low=True, open_high=True)
        problems.raise_if_any()
        object.__setattr__(self, "ball", self.ball.geometry)
        object.__setattr__(self, "epsilon", float(self.epsilon))
        object.__setattr__(self, "gamma", float(self.gamma))

    @cached_property
    def _steps(self) -> tuple[Array, Array]:
        """The radii k + gamma and the logarithms of their weights, which add up to 1."""
        radii, logs = log_weights(self.ball.active_dimension, self.epsilon, self.gamma)
        return radii, logs - special.logsumexp(logs)

    def _log_radial(self, r: Array) -> Array:
        """The log density at norm `r`."""
        radii, logs = self._steps
        falls = np.floor(r - self.gamma) + 1.0
        # All mass of layer 0 is weight over volume; the density at 0 is that over 1 - b.
        K = self.ball.active_dimension
        top = logs[0] - K * math.log(radii[0]) - math.log(-math.expm1(-self.epsilon))
        return top - self.ball.log_volume - self.epsilon * falls

    def _layer(self, size: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Draws of T by inversion of its distribution function."""
        radii, logs = self._steps
        total = np.cumsum(np.exp(logs))
        place = np.searchsorted(total, total[-1] * rng.uniform(size=size), side="right")
        return radii[np.minimum(place, radii.size - 1)]

    def layer_moment(self, order: int) -> float:
        """E T^order."""
        return staircase_layer_moment(self.ball.active_dimension, self.epsilon, self.gamma, order)

    def scaled(self, factor: float) -> Self:
        """The distribution of `factor` X, for a positive factor."""
        return type(self)(self.ball.scaled(factor), self.epsilon, self.gamma)
