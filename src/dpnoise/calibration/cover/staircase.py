"""The shapes of staircase noise with steps as wide as the sensitivity, and their dominating noise.

A shift by the width of a step has the losses -e, 0 and e, where e is the staircase's epsilon, and
the total variation distance tau = P(2 |T| <= width). Privacy falls with both e and tau: they fix
the privacy profile of a coordinate, which rises with them at every epsilon (docs/variance-bound.md,
section 4). At a fixed gamma the variance falls with e, and tau rises.

Of an interval of gammas, all noise with a variance of at most v has an e of at least that at which
the least variance over the interval is v; and with it a tau of at least that at one of its ends.
The place of a shape is its gamma.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpnoise.noise.stepwise import MAX_EPSILON, MIN_EPSILON, Staircase, staircase_gamma

if TYPE_CHECKING:
    from dpnoise.noise.base import Noise

_MARGIN = 1e-10  # of epsilon, over the rounding of its root
_VARIANCE_MARGIN = 1e-9  # over its rounding, which moves the root where the variance is flat
_RANGE = MIN_EPSILON * (1.0 + 1e-9), MAX_EPSILON * (1.0 - 1e-9)
_MAXIMUM_GAMMA = 1.0 - 2.0**-53  # a gamma


def _noise(epsilon: float, gamma: float) -> Staircase:
    """Staircase noise for sensitivity 1; that of gamma 0 and of gamma 1 is the same."""
    return Staircase(epsilon, 1.0, min(gamma, _MAXIMUM_GAMMA) or _MAXIMUM_GAMMA)


def _distance(epsilon: float, gamma: float) -> float:
    """The total variation distance of a shift by the width of a step."""
    b, drop = math.exp(-epsilon), -math.expm1(-epsilon)
    inner = gamma + b * (0.5 - gamma) if gamma < 0.5 else 0.5
    return drop * inner / (gamma + b * (1.0 - gamma))


def _epsilon(variance: float, low: float, high: float) -> float:
    """The epsilon at which the least variance between two gammas is `variance`."""
    from scipy.optimize import brentq  # noqa: PLC0415 - 0.1 s, for searches only

    def excess(log_epsilon: float) -> float:
        epsilon = math.exp(log_epsilon)
        gamma = min(max(float(staircase_gamma(epsilon)), low), high)
        return math.log(_noise(epsilon, gamma).var() / variance)

    start, end = map(math.log, _RANGE)
    if excess(end) >= 0.0:  # no step falls so far
        return _RANGE[1]
    if excess(start) <= 0.0:
        return MIN_EPSILON
    return math.exp(brentq(excess, start, end, xtol=1e-13, rtol=1e-14))


class StaircaseShapes:
    """The gammas of staircase noise for sensitivity 1."""

    parameter, intervals = "gamma", 16

    def shape(self, place: float) -> float:
        """The gamma at a place."""
        return place

    def member(self, place: float, variance: float) -> Noise:
        """The noise of a gamma with a variance."""
        return _noise(_epsilon(variance, place, place), place)

    def dominating(self, low: float, high: float, variance: float) -> Noise:
        """Noise more private than any of a gamma in between with at most this variance."""
        most = variance * (1.0 + _VARIANCE_MARGIN)
        epsilon = max(_epsilon(most, low, high) * (1.0 - _MARGIN), MIN_EPSILON)
        gamma = min(low, high, key=lambda end: _distance(epsilon, end))
        return _noise(epsilon, gamma)
