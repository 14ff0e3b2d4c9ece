"""Lower bounds on errors other than the variance (docs/floor.md, section 11).

At delta = 0, for any set D and any norm N with unit ball Q: let s^K be the volume of D over that of
Q. By the inequality of Brunn and Minkowski the density may be taken to fall with N, as noise that
hides s Q, and then to be a staircase. So E N(T) is at least s times the least mean of a staircase
in K dimensions, which a staircase in the norm of D attains where Q is a multiple of D.

The errors are norms: the sum of w_i |T_i| ("mean-abs"), the largest w_i |T_i| ("max") and the norm
of the set ("norm"). For delta > 0 the density is replaced by a radial one, as private on average
(`dpnoise.optimality.rearrangement`), whose E |T| a radial test bounds; or coordinates are taken one
by one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.optimality.certificates import SUMS, Blocks, star_shaped
from dpnoise.optimality.closed_forms import smallest_moment, step_group
from dpnoise.optimality.few_entries import few_entries
from dpnoise.optimality.radial_test import FAST, radial_test
from dpnoise.optimality.rearrangement import (
    LARGEST_EPSILON,
    MOST_TESTED,
    averaged_test,
    best_share,
    best_size,
    grouped,
    heaviest,
    spent_on_average,
)
from dpnoise.optimality.scalar_floor import (
    MARGIN,
    ScalarCertificate,
    WholeCertificate,
    scalar_certificate,
    whole_certificate,
)
from dpnoise.sensitivity.balls import L2

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array
    from dpnoise.optimality.certificates import FloorCertificate
    from dpnoise.optimality.radial_test import RadialTest
    from dpnoise.sensitivity.base import Sensitivity

ERRORS = ("variance", "mean-abs", "max", "norm")
_MARGIN = 1e-11  # relative, of the K-th root of a volume


@dataclass(frozen=True)
class OwnCoordinates:
    """Certificate from the noise of single coordinates.

    Parameters
    ----------
    error : str
        "variance", "mean-abs", "max" or "norm".
    scalar : ScalarCertificate or WholeCertificate
        Of a lower bound on E|T|, or on E T^2, for one number of sensitivity 1; or, where the
        differences of coordinates are whole or the largest only, for whole numbers.
    """

    error: str
    scalar: ScalarCertificate | WholeCertificate

    @property
    def method(self) -> str:
        """Kind of the bound."""
        return "single coordinates"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Sum, or largest, of what the coordinates need; in the set's norm as much as one."""
        each = self.scalar.bound(epsilon, delta) * (1.0 - MARGIN)
        box = sensitivity.box
        sizes = box * self._unit(sensitivity)
        if self.error == "norm":  # |T_i| is at most h(e_i), sum |T_i| the largest l1 norm, times it
            active = box > 0.0
            one = float(np.max(sizes[active] / box[active]))
            return each * max(one, float(np.sum(sizes)) / sensitivity.l1 * (1.0 - MARGIN))
        sizes = weights * (sizes**2 if self.error == "variance" else sizes)
        return each * float(np.sum(sizes) if self.error in SUMS else np.max(sizes))

    def _unit(self, sensitivity: Sensitivity) -> Array:
        """One over the change that the scalar bound is for, by coordinate; 0 where it is not."""
        unit = np.zeros(sensitivity.dimension)
        for first, factor in sensitivity.factors():
            at = slice(first, first + factor.dimension)
            found = factor.differences
            if not isinstance(self.scalar, WholeCertificate):
                unit[at] = float(star_shaped(factor))
            elif self.scalar.change == 1:
                unit[at] = 1.0
            elif found is not None and found.whole and not found.full:
                good = self.scalar.change <= found.size
                unit[at] = good / found.size
        return unit


@dataclass(frozen=True)
class EqualVolume:
    """Certificate from the ball of the error's norm that is as large as the set.

    Parameters
    ----------
    error : str
        "mean-abs", "max" or "norm".
    size : int
        The bound is for so many of the heaviest coordinates; fewer than the set has only where
        they may be exchanged.
    group : int
        The steps are this many sensitivities wide, 1 unless the sums had too many terms.
    kept : float
        For delta > 0, the volume of the l2 ball used as a share of the set's.
    part : RadialTest or None
        For delta > 0, the test of order 1 for the l2 ball of radius 1.
    """

    error: str
    size: int
    group: int = 1
    kept: float = 1.0
    part: RadialTest | None = None

    @property
    def method(self) -> str:
        """Kind of the bound."""
        if self.part is not None:
            return f"ball of equal volume, {self.part.method}"
        own = self.error == "norm"
        return "staircase in the norm" if own else "staircase in the norm of the error"

    def bound(
        self, sensitivity: Sensitivity, epsilon: float, delta: float, weights: Array
    ) -> float:
        """Least mean norm of a staircase, or radial noise, times s; 0 where it does not apply."""
        if (
            sensitivity.flat
            or not sensitivity.convex
            or self.group < 1
            or self.size < 1
            or not 0.0 < self.kept <= 1.0
        ):
            return 0.0
        scale = 1.0
        if self.error == "norm":
            if self.size != sensitivity.active_dimension:
                return 0.0
        else:
            found = heaviest(sensitivity, weights, self.size, 1)
            if found is None:
                return 0.0
            unit = _log_unit(self.error, found[1])
            scale = math.exp((found[0].log_volume - unit) / self.size) * (1.0 - _MARGIN)
        return scale * self._smallest(sensitivity, epsilon, delta)

    def _smallest(self, sensitivity: Sensitivity, epsilon: float, delta: float) -> float:
        """Lower bound on E |T| for the unit ball of as many dimensions."""
        if delta == 0.0:
            return self.group * smallest_moment(self.size, self.group * epsilon, 1)[0]
        kept, spent = self.kept, spent_on_average(self.kept, delta)
        if self.error == "norm" and sensitivity.ball_radius(2.0):  # noise is radial as it is
            kept, spent = 1.0, delta
        if self.part is None or self.part.order != 1 or not spent < 1.0:
            return 0.0
        inner = self.part.bound(L2(1.0, self.size), epsilon, spent, np.ones(self.size))
        return kept ** (1.0 / self.size) * inner * (1.0 - _MARGIN)


def _log_unit(error: str, weights: Array) -> float:
    """The logarithm of the volume of {sum w_i |x_i| <= 1} or of {w_i |x_i| <= 1}."""
    cube = weights.size * math.log(2.0) - math.fsum(np.log(weights))
    return cube - (math.lgamma(weights.size + 1.0) if error == "mean-abs" else 0.0)


def _rise(error: str) -> Callable[[Array], Array]:
    """How the bound grows with the number of coordinates, as `best_size` takes it."""
    if error == "max":
        return lambda k: np.log(k + 0.3)
    return lambda k: np.log(k + 0.3) + np.cumsum(np.log(k)) / k


def _radial(
    K: int, epsilon: float, delta: float, *, alone: bool
) -> tuple[float, RadialTest] | None:
    """Share of the volume that is kept and the test of order 1 for the ball, or None.

    `alone` where noise for the ball itself is asked for.
    """
    if alone:
        own = radial_test(K, epsilon, delta, FAST, 1)
        return (1.0, own) if own else None
    group, wide, spent = grouped(epsilon, delta)
    kept = best_share(K, wide, spent)[0]
    test = averaged_test(K, wide, spent, kept, 1)
    return (kept, replace(test, group=group * test.group)) if test else None


def error_candidates(
    sensitivity: Sensitivity,
    error: str,
    epsilon: float,
    delta: float,
    weights: Array,
) -> list[tuple[float, FloorCertificate]]:
    """Pairs of a bound on an error and its certificate, never empty."""
    problem = (sensitivity, epsilon, delta, weights)
    scalars: list[ScalarCertificate | WholeCertificate] = []
    if star_shaped(sensitivity):
        scalars.append(scalar_certificate(epsilon, delta, order=1))
    else:
        scalars.append(whole_certificate(1, epsilon, delta, 1))
    few = sensitivity.differences
    if few is not None and few.whole and not few.full and few.size > 1.0:
        scalars.append(whole_certificate(int(few.size), epsilon, delta, 1))
    found: list[FloorCertificate] = [OwnCoordinates(error, scalar) for scalar in scalars]
    if few is not None:
        found += few_entries(few, error, epsilon, delta)
    if sensitivity.blocks and (error != "norm" or not sensitivity.convex):
        best = [
            max(
                error_candidates(block, error, epsilon, delta, part),
                key=lambda pair: pair[0],
            )[1]
            for block, part in sensitivity.split(weights)
        ]
        found.append(Blocks(tuple(best), error))
    size = 0
    if sensitivity.convex and not sensitivity.flat and error == "norm":
        size = sensitivity.active_dimension
    elif error != "norm":
        size = best_size(sensitivity, weights, _rise(error), 1)
    if size and delta == 0.0:
        found.append(EqualVolume(error, size, step_group(size, epsilon)))
    elif 2 <= size <= MOST_TESTED and epsilon <= LARGEST_EPSILON:
        alone = error == "norm" and sensitivity.ball_radius(2.0) > 0.0
        test = _radial(size, epsilon, delta, alone=alone)
        found += [EqualVolume(error, size, 1, *test)] if test else []
    return [(certificate.bound(*problem), certificate) for certificate in found]
