"""Coordinates whose privacy loss is discrete, and a discrete loss that dominates a mechanism.

Losses of noise on the integers and of staircases are listed instead of integrated;
everything else is as for `lattice.plan.Coordinate`. The losses of noise on the integers are
multiples of one number, which the lattice then meets, so that nothing is lost by rounding them.

**A dominating pair from bounds on a profile.** The profile, as a function H of alpha = e^epsilon,
is convex, H(alpha) = E_P (1 - alpha Q / P)_+. If H is at most u_k at alpha_k, it lies below the
lower convex hull of these points, and the hull is the profile of a pair with finitely many losses
('connect the dots', Doroshenko et al., PoPETs 2022). By Blackwell's theorem this pair dominates the
mechanism, so that it stands for it among other releases. The mechanism is taken to be symmetric,
its two neighbours in either order alike, so that H(1 / alpha) = 1 - 1 / alpha + H(alpha) / alpha:
the points are mirrored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np

from dpnoise._validation import Problems, floats
from dpnoise.noise.integers import DiscreteGaussian, DiscreteLaplace
from dpnoise.privacy.lattice.plan import MOST_ATOMS, NEGLIGIBLE, UNIT, Nodes, Planned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise.noise.integers import IntegerNoise


MOST_VALUES = 2**20  # of the loss of one coordinate
_DEEPEST = 1e-304  # mass of larger noise values counts as infinite loss
_MASS_ERROR = 5e-13  # relative, of a probability, beside the rounding of its logarithm
_UP = 1.0 + 1e-11  # relative, of masses and of sums: more than their rounding
_ROUNDING = 1e-12  # relative, of a bound: more than that of the masses made of it
_SMALLEST = 1e-300  # mass that a logarithm holds
_MOST_LOSSES = 2**16


class DiscreteLoss(NamedTuple):
    """Increasing values of a loss with the logarithms of their masses.

    `log_above` is the logarithm of the mass beyond the last value, `largest` bounds the loss, the
    values are multiples of `unit`, or of nothing if it is 0, and off by at most `slack` beside
    their rounding. `log_infinite` is the logarithm of a further mass, of infinite loss.
    """

    values: Array
    log_masses: Array
    log_above: float = -math.inf
    largest: float = math.inf
    unit: float = 0.0
    slack: float = 0.0
    log_infinite: float = -math.inf


def integer_values(noise: IntegerNoise, shift: float) -> float:
    """Number of values that the list of losses of noise on the integers has."""
    if isinstance(noise, DiscreteLaplace):
        return shift + 1.0
    return 2.0 * float(noise.isf(_DEEPEST)) + 1.0 if shift else 0.0


def integer_loss(noise: IntegerNoise, shift: float) -> DiscreteLoss:
    """The loss of noise on the integers under a positive integer shift."""
    if isinstance(noise, DiscreteLaplace):
        j = np.arange(shift, -1.0, -1.0)  # k = -j, the ends with all beyond them
        log_masses = noise.logpmf(j)
        log_masses[0], log_masses[-1] = noise.logsf(shift - 1.0), noise.logsf(-1.0)
        values = (shift - 2.0 * j) / noise.beta
        unit = (1.0 + (shift % 2.0 == 0.0)) / noise.beta
        largest = float(values[-1]) * (1.0 + 4.0 * UNIT)
        return DiscreteLoss(values, log_masses, largest=largest, unit=unit)
    assert isinstance(noise, DiscreteGaussian)  # noqa: S101  (staircases have three values)
    reach = float(noise.isf(_DEEPEST))
    k = np.arange(-reach, reach + 1.0)
    unit = 0.5 * shift / noise.sigma**2
    log_above = float(noise.logsf(reach))
    values = (2.0 * k + shift) * unit
    return DiscreteLoss(
        values, noise.logpmf(k), log_above, unit=unit * (1.0 + (shift % 2.0 == 0.0))
    )


def listed_loss(atoms: Sequence[tuple[float, float]]) -> DiscreteLoss:
    """A loss given as values and log masses."""
    values, log_masses = map(np.array, zip(*sorted(atoms), strict=True))
    return DiscreteLoss(values, log_masses, largest=float(values[-1]), unit=float(values[-1]))


class DiscreteCoordinate:
    """Copies of a coordinate with a discrete loss; attributes as of `Coordinate`."""

    def __init__(self, loss: DiscreteLoss, copies: int) -> None:
        self._loss, self.copies = loss, copies
        self.smallest, self.largest = float(loss.values[0]), loss.largest
        self.log_infinite, self.log_last = loss.log_infinite, loss.log_above
        self.log_rest = float(np.logaddexp(loss.log_infinite, loss.log_above))
        nodes = Nodes(loss.values, loss.log_masses)
        self.sketch = nodes.with_node(float(loss.values[-1]), self.log_last)

    def narrowed(self, epsilon: float, log_rest: float) -> DiscreteCoordinate:
        """The coordinate up to a loss beyond which it matters little."""
        values, log_masses = self._loss.values, self._loss.log_masses
        terms = np.append(log_masses[1:], self.log_last)
        beyond = np.logaddexp.accumulate(terms[::-1])[::-1]
        rare = np.flatnonzero(beyond + np.minimum(epsilon - values, 0.0) < log_rest)
        end = max(rare[0], 1) + 1 if len(rare) else len(values)
        if end >= len(values):
            return self
        cut = self._loss._replace(
            values=values[:end], log_masses=log_masses[:end], log_above=float(beyond[end - 1])
        )
        return DiscreteCoordinate(cut, self.copies)

    def _first(self, tilt: float) -> int:
        """The first value that is not of negligible weight together with all below it."""
        below = np.logaddexp.accumulate(self._loss.log_masses)
        weight = below + tilt * self._loss.values - self.sketch.log_moment(tilt)[0]
        little = np.flatnonzero(weight < -NEGLIGIBLE - math.log(self.copies))
        return min(int(little[-1]), len(weight) - 2) if len(little) else 0

    def span(self, tilt: float) -> tuple[float, float]:
        """The losses at the ends of what matters."""
        values = self._loss.values
        return float(values[self._first(tilt)]), float(values[-1])

    def atoms(self, tilt: float) -> list[tuple[float, float]]:
        """The number whose multiples all losses are, with all weight, or the heaviest losses."""
        if self._loss.unit > 0.0:
            return [(self._loss.unit, float(self.copies))]
        weight = self._loss.log_masses + tilt * self._loss.values - self.sketch.log_moment(tilt)[0]
        heaviest = np.argsort(weight)[::-1][:MOST_ATOMS]
        return [
            (abs(float(self._loss.values[k])), self.copies * math.exp(weight[k])) for k in heaviest
        ]

    def planned(self, h: float, tilt: float) -> Planned:  # noqa: ARG002  (any spacing)
        """The losses to round, down and up."""
        first = self._first(tilt)
        nodes = Nodes(self._loss.values[first:], self._loss.log_masses[first:])
        start, last = float(nodes.loss[0]), float(nodes.loss[-1])
        below = nodes.with_node(last, self.log_last)
        lost = self._loss.log_masses[:first]
        above = nodes.with_node(start, float(np.logaddexp.reduce(lost, initial=-math.inf)))
        rounding = 16.0 * UNIT * max(abs(start), abs(last)) + self._loss.slack
        deepest = min(-float(np.min(nodes.log_mass)), -math.log(_DEEPEST) + 10.0)
        error = _MASS_ERROR + 16.0 * UNIT * deepest
        return Planned(below, above, self.log_rest, rounding, error)


@dataclass(frozen=True)
class ListedLoss:
    """The least pair whose profile is nowhere below a mechanism's, from bounds at some epsilons.

    Parameters
    ----------
    epsilons : tuple of float
        Rising, positive.
    deltas : tuple of float
        Upper bounds on the profile there, in [0, 1].
    loss : Fraction, optional
        The largest finite loss if the last bound is 0: at most the last epsilon, which it is by
        default.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names every problem.
    """

    epsilons: tuple[float, ...]
    deltas: tuple[float, ...]
    loss: Fraction | None = field(default=None, compare=False)

    listed: ClassVar[Literal[True]] = True
    whole = log_concave = has_closed_loss = False
    step_width = math.inf

    def __post_init__(self) -> None:
        """Check of the lists."""
        problems = Problems("listed loss")
        at = floats(problems, "epsilons", self.epsilons, low=0.0, high=1e99, open_low=True)
        deltas = floats(problems, "deltas", self.deltas, low=0.0, high=1.0)
        if not problems.found:
            good = at.ndim == 1 and at.shape == deltas.shape and 0 < at.size <= _MOST_LOSSES
            expected = f"lists of one length from 1 to {_MOST_LOSSES}"
            problems.require(good, "epsilons, deltas", expected, (at.shape, deltas.shape))
            rising = at.ndim == 1 and bool(np.all(np.diff(at) > 0.0))
            problems.require(rising, "epsilons", "rising values", "others")
        problems.raise_if_any()
        object.__setattr__(self, "epsilons", tuple(at.tolist()))
        object.__setattr__(self, "deltas", tuple(deltas.tolist()))
        last = Fraction(self.epsilons[-1])
        exact = last if self.loss is None else min(Fraction(self.loss), last)
        object.__setattr__(self, "loss", exact)

    def __repr__(self) -> str:
        """How many losses there are, and the largest."""
        return f"ListedLoss({len(self.epsilons)} epsilons up to {self.epsilons[-1]:.6g})"

    def __hash__(self) -> int:
        """Of the lists."""
        return hash((self.epsilons, self.deltas))

    def pieces(self) -> None:
        """None, as for noise without a density of quadratic pieces."""

    def zcdp_pair(self, size: Fraction) -> None:
        """No concentrated bound but that of the largest loss."""

    def largest_loss(self, size: float | Fraction) -> Fraction | float:  # noqa: ARG002
        """The largest loss, infinite if some mass has no finite one."""
        return math.inf if self.deltas[-1] > 0.0 else self.loss  # type: ignore[return-value]

    @cached_property
    def _hull(self) -> tuple[Array, Array]:
        """The corners of the convex hull with alpha > 1: their epsilons and Q-masses."""
        deltas = np.minimum(np.array(self.deltas) * (1.0 + _ROUNDING), 1.0)
        top = float(deltas[-1])
        # Bounds fall; in reverse, as the slopes are small on the right.
        points = [(self.epsilons[-1], top)]
        slopes = [0.0]  # to the right of each corner, the last one first; negative
        levels = np.maximum.accumulate(deltas[::-1])[1:]
        for epsilon, delta in zip(self.epsilons[-2::-1], levels.tolist(), strict=True):
            slope = _slope(epsilon, delta, *points[-1])
            # ends: each pass takes a corner away
            while len(points) > 1 and slope > slopes[-1]:
                points.pop()
                slopes.pop()
                slope = _slope(epsilon, delta, *points[-1])
            points.append((epsilon, delta))
            slopes.append(slope)
        # Between the first corner and its mirror image the slope is -(1 - delta) / (alpha + 1).
        # ends: each pass takes a corner away
        while len(points) > 1 and _centre(*points[-1]) > slopes[-1]:
            points.pop()
            slopes.pop()
        at = np.array([epsilon for epsilon, _ in points[::-1]])
        right = np.array(slopes[::-1])
        left = np.concatenate([[_centre(*points[-1])], right[:-1]])
        return at, np.maximum(right - left, 0.0)

    @cached_property
    def discrete(self) -> DiscreteLoss:
        """The losses with the logarithms of their masses, no less private rounding included."""
        at, q = self._hull
        p = np.exp(at) * q
        infinite = min(self.deltas[-1] * _UP, 1.0)
        values = np.concatenate([-at[::-1], at])
        masses = np.concatenate([q[::-1], p])
        some = masses >= _SMALLEST
        infinite += float(np.sum(masses[~some]))
        # What rounding may have lost of the total counts as infinite loss.
        infinite += abs(1.0 - infinite - math.fsum(masses[some])) if infinite > 0.0 else 0.0
        return DiscreteLoss(
            values[some],
            np.log(masses[some]),
            largest=float(at[-1]),
            slack=float(at[-1]) * 2.0**-50,
            log_infinite=math.log(infinite) if infinite > 0.0 else -math.inf,
        )

    def log_delta(self, epsilon: Array) -> Array:
        """Upper bounds on the logarithm of delta at any epsilon >= 0."""
        at, q = self._hull
        a = np.asarray(epsilon, dtype=float)
        gap = np.maximum(at - a[..., None], 0.0)
        # Q (e^loss - e^epsilon), the losses below -epsilon do not count.
        parts = q * np.exp(at) * -np.expm1(-gap)
        mirrored = np.maximum(-at - a[..., None], 0.0)  # 0: epsilon >= 0
        total = np.sum(parts, axis=-1) + np.sum(mirrored, axis=-1) + self.deltas[-1]
        with np.errstate(divide="ignore"):
            return np.minimum(np.log(total * _UP), 0.0)


def _slope(first: float, low: float, second: float, high: float) -> float:
    """The slope between two points (epsilon, delta), in alpha = e^epsilon."""
    return (high - low) / (math.exp(first) * math.expm1(second - first))


def _centre(epsilon: float, delta: float) -> float:
    """The slope between a point and its mirror image."""
    return -(1.0 - delta) / (math.exp(epsilon) + 1.0)
