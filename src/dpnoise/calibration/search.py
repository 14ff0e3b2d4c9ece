"""Least-variance noise for a privacy budget: which family and method is found how.

Every way ends in `dpnoise.calibration.certify.settle`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpnoise._check import Problems
from dpnoise.calibration import closed_forms
from dpnoise.calibration.budget import Budget, Calibration, check_budget
from dpnoise.calibration.scalar_optimum import scalar_optimum
from dpnoise.calibration.sufficient import sufficient_optimum
from dpnoise.noise import (
    FAMILIES,
    FlippedHuber,
    Gaussian,
    Huber,
    Laplace,
    Noise,
    OffsetSymmetricGaussian,
    Staircase,
    Subbotin,
    TruncatedLaplace,
)

if TYPE_CHECKING:
    from collections.abc import Callable

# The methods of each family and whether it can be private at delta = 0 and at epsilon = 0.
METHODS = {
    Gaussian: ("exact",),
    Laplace: ("exact",),
    FlippedHuber: ("exact", "sufficient"),
    OffsetSymmetricGaussian: ("exact",),
    Staircase: ("exact",),
    TruncatedLaplace: ("exact",),
}
_PURE = {
    Laplace: closed_forms.pure_laplace,
    Staircase: closed_forms.staircase,
}


def _exact(kind: type[Noise], budget: Budget) -> Calibration:
    if budget.delta == 0.0 or kind is Staircase:
        return _PURE[kind](budget)
    if kind is Gaussian:
        return closed_forms.gaussian(budget)
    if kind is Laplace:
        return closed_forms.scalar_laplace(budget)
    return scalar_optimum(kind, budget)


def calibrate(
    family: str | type[Noise],
    *,
    epsilon: float,
    delta: float = 0.0,
    sensitivity: float = 1.0,
    dimension: int = 1,
    method: str = "exact",
) -> Calibration:
    """Return the noise of least variance that keeps a privacy budget."""
    kind = FAMILIES.get(family) if isinstance(family, str) else family
    budget = Budget(float(epsilon), float(delta), float(sensitivity), int(dimension))
    if method == "sufficient":
        return sufficient_optimum(budget)
    return _exact(kind, budget)
