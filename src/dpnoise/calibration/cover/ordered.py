"""Families whose shapes are ordered by the weight of their tails, and their dominating noise.

Of two shapes with equal density at 0 the heavier one is the more dispersed, hence the more private,
and has more variance (docs/variance-bound.md, sections 1 and 2). Let peak be the density at 0 times
the standard deviation, which no scale changes: it rises with the weight. All noise whose shape
lies between a lighter and a heavier one and whose variance is at most v has a density of at least
peak(lighter) / sqrt(v) at 0. So noise of the heavier shape with that density at 0 is more private
than all of it. Its variance is v (peak(heavier) / peak(lighter))^2.

Shapes are named by their places, from 0, the lightest limit of the family, to 1, the heaviest.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dpnoise.noise.exponential_power import Laplace, Subbotin, TruncatedLaplace
from dpnoise.noise.grafted import FlippedHuber, Huber, OffsetSymmetricGaussian

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise.noise.base import Noise

_GAUSSIAN_PEAK = 1.0 / math.sqrt(2.0 * math.pi)
_UNIFORM_PEAK = 1.0 / math.sqrt(12.0)
_MARGIN = 1e-9  # of variance, over the rounding of a peak and of a scale
_MOST = 1e3  # the greatest p of Subbotin noise


class _Family(NamedTuple):
    """A family by one parameter, with the peak of its lightest limit; the heaviest is Laplace."""

    parameter: str
    value: Callable[[float], float]  # of the parameter, at a place above 0 and below 1
    make: Callable[[float], Noise]  # from the parameter, at some scale
    lightest: float
    ends: tuple[float, float]  # the parameter at the limits


def _rising(place: float) -> float:
    return place / (1.0 - place)


def _falling(place: float) -> float:
    return (1.0 - place) / place


_FAMILIES: dict[type[Noise], _Family] = {
    FlippedHuber: _Family(
        "alpha / gamma", _rising, lambda b: FlippedHuber(b, 1.0), _GAUSSIAN_PEAK, (0.0, math.inf)
    ),
    OffsetSymmetricGaussian: _Family(
        "theta / rho",
        _rising,
        lambda b: OffsetSymmetricGaussian(b, 1.0),
        _GAUSSIAN_PEAK,
        (0.0, math.inf),
    ),
    Huber: _Family("alpha", _falling, lambda a: Huber(a, 1.0), _GAUSSIAN_PEAK, (math.inf, 0.0)),
    TruncatedLaplace: _Family(
        "bound / beta",
        _rising,
        lambda r: TruncatedLaplace(1.0, r),
        _UNIFORM_PEAK,
        (0.0, math.inf),
    ),
    Subbotin: _Family(
        "p",
        lambda place: min(1.0 / place, _MOST),
        lambda p: Subbotin(p, 1.0),
        _UNIFORM_PEAK,
        (_MOST, 1.0),
    ),
}
ORDERED = tuple(_FAMILIES)


class OrderedShapes:
    """The shapes of one family in the order of their tails."""

    intervals = 16

    def __init__(self, kind: type[Noise]) -> None:
        self._family = _FAMILIES[kind]
        self._peaks = {0.0: self._family.lightest}

    @property
    def parameter(self) -> str:
        """What the shape is, in the family's parameters."""
        return self._family.parameter

    def shape(self, place: float) -> float:
        """The parameter at a place."""
        if place in (0.0, 1.0):
            return self._family.ends[int(place)]
        return self._family.value(place)

    def _unit(self, place: float) -> Noise:
        return Laplace(1.0) if place == 1.0 else self._family.make(self._family.value(place))

    def _peak(self, place: float) -> float:
        if place not in self._peaks:
            noise = self._unit(place)
            self._peaks[place] = float(noise.pdf(0.0)) * noise.std()
        return self._peaks[place]

    def member(self, place: float, variance: float) -> Noise:
        """The noise of a shape, no limit, with a variance."""
        return _with_variance(self._family.make(self._family.value(place)), variance)

    def dominating(self, low: float, high: float, variance: float) -> Noise:
        """Noise more private than any of a shape in between with at most this variance."""
        ratio = max(self._peak(high) / self._peak(low), 1.0)
        return _with_variance(self._unit(high), variance * ratio**2 * (1.0 + _MARGIN))


class OneShape:
    """A family whose only parameter is a scale: less variance is less private."""

    parameter, intervals = "none", 1

    def __init__(self, kind: type[Noise]) -> None:
        self._kind = kind

    @cached_property
    def _unit(self) -> Noise:
        return self._kind(1.0)  # type: ignore[call-arg]  # the scale

    def shape(self, place: float) -> float:  # noqa: ARG002  (there is one)
        """No parameter."""
        return 0.0

    def member(self, place: float, variance: float) -> Noise:  # noqa: ARG002
        """The noise with a variance."""
        return _with_variance(self._unit, variance)

    def dominating(self, low: float, high: float, variance: float) -> Noise:  # noqa: ARG002
        """Noise more private than any with at most this variance."""
        return _with_variance(self._unit, variance * (1.0 + _MARGIN))


def _with_variance(noise: Noise, variance: float) -> Noise:
    return noise.scaled(math.sqrt(variance / noise.var()))
