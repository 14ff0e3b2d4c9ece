"""A pair of distributions that dominates a mechanism, made from bounds on its privacy profile.

The profile, as a function H of alpha = e^epsilon, is convex, H(alpha) = E_P (1 - alpha Q / P)_+.
If H is at most u_k at alpha_k, it lies below the lower convex hull of these points, and the hull is
the profile of a pair with finitely many losses ('connect the dots', Doroshenko et al., PoPETs
2022). By Blackwell's theorem this pair dominates the mechanism, so that it stands for it among
other releases. The mechanism is taken to be symmetric, its two neighbours in either order alike,
so that H(1 / alpha) = 1 - 1 / alpha + H(alpha) / alpha: the points are mirrored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems
from dpnoise.noise._arrays import floats
from dpnoise.privacy.lattice.discrete import DiscreteLoss

if TYPE_CHECKING:
    from dpnoise._types import Array

_UP = 1.0 + 1e-11  # relative, of masses and of sums: more than their rounding
_ROUNDING = 1e-12  # relative, of a bound: more than that of the masses made of it
_SMALLEST = 1e-300  # mass that a logarithm holds
_MOST_LOSSES = 2**16


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

    log_concave = False

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
            while len(points) > 1 and slope > slopes[-1]:
                points.pop()
                slopes.pop()
                slope = _slope(epsilon, delta, *points[-1])
            points.append((epsilon, delta))
            slopes.append(slope)
        # Between the first corner and its mirror image the slope is -(1 - delta) / (alpha + 1).
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
