"""The global certificate of `calibrate`: how far noise is above the least variance of its family.

`dpnoise.calibration.cover` excludes all shapes of a family, interval by interval. Should it meet
better noise than the search has found, that noise is certified and takes its place.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from dpnoise.calibration.certify import certified_calibration
from dpnoise.calibration.cover.ordered import ORDERED, OneShape, OrderedShapes
from dpnoise.calibration.cover.search import Cover, cover
from dpnoise.calibration.cover.staircase import StaircaseShapes
from dpnoise.noise.integers import IntegerNoise
from dpnoise.noise.stepwise import Staircase

if TYPE_CHECKING:
    from dpnoise._validation import Problems
    from dpnoise.calibration.budget import Budget, Calibration
    from dpnoise.calibration.cover.search import Shapes
    from dpnoise.noise.base import Noise

GLOBAL = "global"
RTOL, MOST_INTERVALS = 1e-3, 10_000
_ROUNDING = 2.0**-48  # of a product with the square of the sensitivity


def shapes_of(kind: type[Noise | IntegerNoise]) -> Shapes | None:
    """The shapes of a family, None where they cannot be covered."""
    if issubclass(kind, IntegerNoise):
        return None
    if kind is Staircase:
        return StaircaseShapes()
    if kind in ORDERED:
        return OrderedShapes(kind)
    return OneShape(kind) if len(fields(kind)) == 1 else None


def check_certificate(
    problems: Problems,
    certificate: object,
    kind: type[Noise | IntegerNoise] | None,
    method: str,
    delta: object,
) -> None:
    """Record what is wrong with a request for a certificate; None is no request."""
    if certificate is None:
        return
    problems.require(certificate == GLOBAL, "certificate", f"None or {GLOBAL!r}", certificate)
    problems.require(method == "exact", "method", "'exact' with a certificate", method)
    check_coverable(problems, kind, delta)


def check_coverable(
    problems: Problems, kind: type[Noise | IntegerNoise] | None, delta: object
) -> None:
    """Record why the shapes of a family cannot be covered; None is no known family."""
    if kind is not None and shapes_of(kind) is None:
        problems.add(
            "family: expected one whose shapes are ordered (docs/variance-bound.md) for a global "
            f"certificate, got {kind.__name__}"
        )
    if delta == 0:
        problems.add(
            "delta: expected more than 0 for a global certificate (with delta = 0 the minimum has "
            "a closed form), got 0"
        )


def global_cover(
    kind: type[Noise], budget: Budget, found: Calibration, rtol: float, most: int
) -> tuple[Cover, Calibration]:
    """The cover of a family, and private noise that is at least as good as `found`.

    The bound of the cover is one for the budget's sensitivity, its cells are for sensitivity 1.
    """
    shapes = shapes_of(kind)
    assert shapes is not None  # noqa: S101  (checked before)
    square = budget.sensitivity * budget.sensitivity
    known = min(found.variance, found.infimum)
    proved = cover(shapes, budget.unit, known / square, rtol, most)
    if proved.better is not None:
        better = certified_calibration(proved.better.scaled(budget.sensitivity), budget)
        if better.variance < found.variance:
            found = better
    return proved._replace(variance=proved.variance * square * (1.0 - _ROUNDING)), found


def certified_optimum(
    kind: type[Noise | IntegerNoise], budget: Budget, found: Calibration
) -> Calibration:
    """The best noise known, with the share of its variance that may be too much."""
    assert not issubclass(kind, IntegerNoise)  # noqa: S101  (checked before)
    proved, found = global_cover(kind, budget, found, RTOL, MOST_INTERVALS)
    return replace(found, optimal_within=1.0 - proved.variance / found.variance)
