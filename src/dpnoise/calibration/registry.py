"""Which families can be calibrated, how, and what each of them cannot do."""

from __future__ import annotations

import math
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise.calibration import closed_forms, integers
from dpnoise.calibration.scalar import scalar_optimum
from dpnoise.calibration.scale_family import pure_optimum, scale_optimum
from dpnoise.calibration.staircase_search import staircase_optimum
from dpnoise.calibration.vector import vector_optimum
from dpnoise.noise import FAMILIES, INTEGER_FAMILIES
from dpnoise.noise import integers as staircase_limits
from dpnoise.noise.exponential_power import Gaussian, Laplace, Subbotin, TruncatedLaplace
from dpnoise.noise.grafted import FlippedHuber, Huber, OffsetSymmetricGaussian
from dpnoise.noise.integers import (
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    IntegerNoise,
)
from dpnoise.noise.stepwise import MAX_EPSILON, MIN_EPSILON, Staircase
from dpnoise.privacy.scalar.shift import WHOLE, whole_shift

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._validation import Problems
    from dpnoise.calibration.budget import Budget, Calibration
    from dpnoise.noise.base import Noise

    Kind = type[Noise | IntegerNoise]


class Calibrator(NamedTuple):
    """How a family is calibrated, for delta > 0 and for delta = 0 (None: its loss is unbounded)."""

    exact: Callable[[Budget], Calibration]
    pure: Callable[[Budget], Calibration] | None = None
    methods: tuple[str, ...] = ("exact",)
    shares: tuple[float, float] | None = None  # range of epsilon / K, of staircases
    scalar_only: bool = False  # whether delta > 0 is for one coordinate only


def _searched(kind: type[Noise], budget: Budget) -> Calibration:
    """Noise found by the search for one coordinate or by that for several."""
    search = scalar_optimum if budget.dimension == 1 else vector_optimum
    return search(kind, budget)


_CALIBRATORS: dict[Kind, Calibrator] = {
    Gaussian: Calibrator(closed_forms.gaussian),
    Laplace: Calibrator(closed_forms.laplace, partial(pure_optimum, Laplace(1.0))),
    FlippedHuber: Calibrator(
        partial(_searched, FlippedHuber), methods=("exact", "grid", "sufficient")
    ),
    OffsetSymmetricGaussian: Calibrator(
        partial(_searched, OffsetSymmetricGaussian), methods=("exact", "grid")
    ),
    Staircase: Calibrator(
        staircase_optimum, closed_forms.staircase, shares=(MIN_EPSILON, MAX_EPSILON)
    ),
    TruncatedLaplace: Calibrator(partial(_searched, TruncatedLaplace)),
    Subbotin: Calibrator(  # with delta = 0 only p = 1, Laplace noise by another name
        partial(vector_optimum, Subbotin),
        partial(pure_optimum, Subbotin(1.0, 1.0)),
        scalar_only=True,
    ),
    Huber: Calibrator(partial(vector_optimum, Huber), closed_forms.pure_huber),
    DiscreteGaussian: Calibrator(integers.discrete_gaussian),
    DiscreteLaplace: Calibrator(integers.discrete_laplace, integers.pure_discrete_laplace),
    DiscreteStaircase: Calibrator(
        integers.discrete_staircase,
        integers.pure_discrete_staircase,
        shares=(staircase_limits.MIN_EPSILON, staircase_limits.MAX_EPSILON),
    ),
}
# Smaller budgets need noise beyond the range of `vector_profile`.
_MINIMUM_BUDGET = 1e-7
# In several coordinates the accounts tell no larger delta from 1.
MAXIMUM_DELTA = 1.0 - 1e-6
_MAXIMUM_DIMENSION = 10**8


def _calibrator(kind: Kind) -> Calibrator | None:
    """How a family is calibrated; None if it has several parameters and no entry."""
    if kind in _CALIBRATORS or len(fields(kind)) != 1:
        return _CALIBRATORS.get(kind)
    unit: Noise = kind(1.0)  # type: ignore[call-arg, assignment] # the scale
    bounded = unit.largest_loss(1.0) < math.inf
    return Calibrator(
        partial(scale_optimum, unit), partial(pure_optimum, unit) if bounded else None
    )


class Family(NamedTuple):
    """A family that can be calibrated, by its name and its class."""

    name: str
    kind: Kind
    calibrator: Calibrator


def read_family(problems: Problems, family: object) -> Family:
    """A registered family; any other one is recorded as a problem."""
    families: dict[str, Kind] = {**FAMILIES, **INTEGER_FAMILIES}
    for name, kind in families.items():
        calibrator = _calibrator(kind)
        if calibrator and (family is kind or (isinstance(family, str) and family == name)):
            return Family(name, kind, calibrator)
    problems.add(f"family: expected one of {', '.join(families)} or its class, got {family!r}")
    return Family("gaussian", Gaussian, _CALIBRATORS[Gaussian])


def check_request(problems: Problems, family: Family, budget: Budget, method: str) -> None:
    """Record what a family cannot do."""
    name, calibrator = family.name, family.calibrator
    if issubclass(family.kind, IntegerNoise):
        whole = bool(whole_shift(np.asarray(budget.sensitivity)))
        problems.require(whole, "sensitivity", WHOLE, budget.sensitivity)
    if budget.delta == 0.0 and calibrator.pure is None:
        problems.add(
            f"delta: expected more than 0 for {name}, whose privacy loss is unbounded, got 0"
        )
    pure = budget.delta == 0.0 or calibrator.shares is not None
    if budget.epsilon == 0.0 and pure:
        reason = name if calibrator.shares else f"{name} with delta = 0"
        problems.add(f"epsilon: expected more than 0 for {reason}, got 0")
    elif not pure and max(budget.epsilon, budget.delta) < _MINIMUM_BUDGET * budget.dimension:
        problems.add(
            f"epsilon, delta: expected one of at least {_MINIMUM_BUDGET:g} times the dimension, "
            f"got {budget.epsilon!r}, {budget.delta!r}"
        )
    if not pure and budget.dimension > _MAXIMUM_DIMENSION:
        expected = f"at most {_MAXIMUM_DIMENSION:g} for {name} with delta > 0"
        problems.add(f"dimension: expected {expected}, got {budget.dimension}")
    if budget.delta == 0.0 and budget.epsilon > 0.0 and not budget.allows_pure:
        problems.add(
            "epsilon: expected a scale K / epsilon below 1e150 with delta = 0, whose variance "
            f"has a double, got {budget.epsilon!r}"
        )
    if budget.epsilon == 0.0 and method == "sufficient":
        problems.add("epsilon: expected more than 0 for Theorem 8, got 0")
    if calibrator.scalar_only and budget.dimension > 1 and budget.delta > 0.0:
        problems.add(f"dimension: expected 1 for {name} with delta > 0, got {budget.dimension}")
    if calibrator.shares and budget.epsilon > 0.0:
        low, high = calibrator.shares
        problems.number(
            "epsilon / dimension", budget.epsilon / budget.dimension, low=low, high=high
        )
