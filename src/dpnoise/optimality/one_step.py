"""Lower bound on the variance of additive noise for large epsilon, from one step outwards.

The mass near 0 of good noise is found again, e^-epsilon times as much, at every shift. Let D be a
convex set, symmetric about 0, that contains the l2 ball of radius rho, and 0 < s <= rho / 2. Every
point x of the ball of radius s is moved to every point y beyond it in (1 - s / rho) D, with the
density (|y|^2 - s^2) / Z: no such move is outside D. If e^epsilon times the integral psi of
(s^2 - |x|^2)_+ is at most Z, the noise has (docs/floor.md, section 10)

    E |T|^2 >= s^2 (1 - delta |D| (m + 2 s sqrt(m)) / Z),   m = E |d|^2 for d uniform in D.

As epsilon grows this tends to the variance of the best noise: uniform in a small ball, and beyond
it e^-epsilon times as dense.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.sensitivity.balls import L2, LInf

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.sensitivity.base import Sensitivity

_MARGIN = 1e-10  # relative, for sums of powers and logarithms
_TRIED = np.geomspace(0.3, 1.0, 5000)  # of the largest s for a point mass at 0


class Shape(NamedTuple):
    """What counts of the set: K, the logarithm of |D|, m, and rho."""

    dimension: int
    log_volume: float
    mean_square: float
    inradius: float


INTERVAL = Shape(1, math.log(2.0), 1.0 / 3.0, 1.0)


def one_step(shape: Shape, epsilon: float, delta: float, s: Array) -> Array:
    """Lower bounds on E |T|^2, one for each s > 0; 0 where s proves nothing."""
    K, rho = shape.dimension, shape.inradius
    m = shape.mean_square
    inner = 1.0 - s / rho
    # Z and the integral of (s^2 - |x|^2)_+ in units of |D|; Z without its part within the ball.
    target = inner**K * (inner**2 * m - s * s) * (1.0 - _MARGIN)
    log_ball = 0.5 * K * math.log(math.pi) - math.lgamma(0.5 * K + 1.0)
    log_psi = log_ball + math.log(2.0 / (K + 2.0)) + (K + 2.0) * np.log(s) - shape.log_volume
    fits = (s <= 0.5 * rho) & (target > 0.0)
    target = np.where(fits, target, 1.0)
    fits &= epsilon + log_psi + _MARGIN * (1.0 + K) <= np.log(target)
    lost = delta * (m + 2.0 * s * math.sqrt(m)) / target
    return np.where(fits, s * s * np.maximum(1.0 - lost, 0.0) * (1.0 - _MARGIN), 0.0)


def steps(shape: Shape, epsilon: float) -> Array:
    """Values of s worth trying."""
    K = shape.dimension
    log_ball = 0.5 * K * math.log(math.pi) - math.lgamma(0.5 * K + 1.0)
    mass = math.log(shape.mean_square * (0.5 * K + 1.0)) + shape.log_volume - log_ball - epsilon
    return np.asarray(np.minimum(_TRIED * math.exp(mass / (K + 2.0)), 0.5 * shape.inradius))


@dataclass(frozen=True)
class OneStep:
    """Certificate for a cube or an l2 ball with equal weights.

    Parameters
    ----------
    share : float
        s in units of the set's radius, at most 1/2.
    """

    share: float

    @property
    def method(self) -> str:
        """Kind of the bound."""
        return "one step"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Mean of the weights times the bound on E |T|^2; 0 where it does not apply."""
        equal = bool(np.all(weights == weights[0]))
        if not equal or not isinstance(sensitivity, L2 | LInf) or not 0.0 < self.share <= 0.5:
            return 0.0
        shape = unit_shape(sensitivity)
        value = float(one_step(shape, epsilon, delta, np.array([self.share]))[0])
        return value * float(weights[0]) * sensitivity.radius**2 * (1.0 - 1e-12)


def unit_shape(sensitivity: L2 | LInf) -> Shape:
    """The set scaled to radius 1."""
    K = sensitivity.dimension
    unit = type(sensitivity)(1.0, K)
    return Shape(K, unit.log_volume, float(np.sum(unit.mean_square)), 1.0)


def best_step(sensitivity: L2 | LInf, epsilon: float, delta: float) -> OneStep | None:
    """Certificate for a cube or an l2 ball, or None where it proves nothing."""
    shape = unit_shape(sensitivity)
    s = steps(shape, epsilon)
    values = one_step(shape, epsilon, delta, s)
    place = int(np.argmax(values))
    return OneStep(float(s[place])) if values[place] > 0.0 else None
