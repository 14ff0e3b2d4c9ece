"""Noise of minimum variance for a privacy budget: the public `calibrate`.

Each family is calibrated by the methods that its entry here names. Whatever is found is certified,
and enlarged if need be, in `dpnoise.calibration.budget`, and checked by another account
(`dpnoise.privacy.second`).

`calibrate` searches, and what it returns is the best that it found.
"""

from __future__ import annotations

import math
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpnoise._validation import Problems, is_integer
from dpnoise.calibration import integers, published, scalar, search
from dpnoise.calibration.budget import Calibration, Target, check_budget, cross_checked
from dpnoise.calibration.published import (
    BOX,
    RESOLUTION,
    check_grid,
    grid_optimum,
    sufficient_optimum,
)
from dpnoise.calibration.scalar import pure_optimum, scalar_optimum
from dpnoise.calibration.search import laplace, scale_optimum, vector_optimum
from dpnoise.calibration.staircase_search import staircase_optimum
from dpnoise.noise import integers as staircase_limits
from dpnoise.noise.exponential_power import Gaussian, Laplace, Subbotin, TruncatedLaplace
from dpnoise.noise.families import FAMILIES, INTEGER_FAMILIES
from dpnoise.noise.grafted import FlippedHuber, Huber, OffsetSymmetricGaussian
from dpnoise.noise.integers import (
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    IntegerNoise,
)
from dpnoise.noise.stepwise import MAX_EPSILON, MIN_EPSILON, Staircase
from dpnoise.privacy.shift import WHOLE, whole_shift
from dpnoise.sensitivity.base import is_set

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise.calibration.published import Box, GridFamily
    from dpnoise.calibration.scalar import ShapeFamily
    from dpnoise.calibration.search import VectorFamily
    from dpnoise.noise.base import Noise

    Kind = type[Noise | IntegerNoise]


def calibrate(
    family: str | Kind,
    *,
    epsilon: float,
    delta: float = 0.0,
    sensitivity: float = 1.0,
    dimension: int = 1,
    method: str = "exact",
    box: Box | None = None,
    resolution: tuple[int, int] | None = None,
) -> Calibration:
    """Noise of minimum variance that keeps a privacy budget.

    Independent noise of one distribution is added to each of K coordinates; neighbouring data
    sets, by either relation, move each by at most the sensitivity, so that Delta_1 = K sensitivity
    and Delta_2 = sqrt(K) sensitivity.

    Parameters
    ----------
    family : str or type
        One of `dpnoise.noise.FAMILIES` or `INTEGER_FAMILIES`, by name or by class.
    epsilon : float
        Non-negative, at most 1e4; 0 only together with a positive delta.
    delta : float
        0, or from 1e-300 to below 1. If it is positive, it or epsilon is at least 1e-7 K. With
        delta = 0 only families with a bounded privacy loss can be calibrated: Laplace and
        staircase (discrete or not), Huber, Subbotin (which then is Laplace). In several
        coordinates a delta above 1 - 1e-6 counts as that, unless the noise is Gaussian.
    sensitivity : float
        In the units of the query, from 1e-100 to 1e100; for noise on the integers an integer. For
        a set `best` finds noise, with `integer=True` on the integers.
    dimension : int
        K, at least 1, with delta > 0 at most 1e8; for Subbotin noise with delta > 0 it must be 1.
    method : {"exact", "grid", "sufficient"}
        "exact": the least variance found under the exact privacy profile, with a certificate
        proved to be near the minimum. "grid" (flipped Huber and offset symmetric Gaussian
        noise, one coordinate): the same on a grid of parameters, Algorithm 2 of Muthukrishnan &
        Kalyani (IEEE TIFS 2023). "sufficient" (flipped Huber noise): under the condition of their
        Theorem 8.
    box : ((float, float), (float, float)), optional
        For "grid": the ranges of alpha or theta, and of gamma or rho; ((0.02, 150), (0.02,
        50)) by default, as in the paper.
    resolution : (int, int), optional
        For "grid": how many equidistant values of each; (1500, 500) by default, at most (200000,
        1000000).

    Returns
    -------
    Calibration
        With attributes noise, delta, variance, method, attained, infimum and certified_by.

    Raises
    ------
    ValueError
        If an argument is out of range or the family cannot do what is asked; the message names
        every problem.
    RuntimeError
        If what was found could not be verified, or if a second account contradicts the first;
        the message names the noise, the budget and the accounts.

    Notes
    -----
    Proved: delta of the noise at epsilon is at most `Calibration.delta`, which is at most the
    budget's, for the doubles returned, in the model of real-valued noise. Checked besides, on
    every call: an account of another kind does not contradict it (`certified_by` has its name),
    unless that is too dear (K above 100,000, Subbotin noise in several coordinates).

    A case of `best`: with method "exact" it is what `best(LInf(sensitivity, of=dimension),
    epsilon=epsilon, delta=delta, family=family)` finds, and for noise on the integers `best(...,
    integer=True)` with the family "laplace", "gaussian" or "staircase" (tested: the same variance
    to 1e-4, within which `best` prefers the smaller delta). Huber and Subbotin noise with delta = 0
    is Laplace noise, which `best` finds as "laplace".

    Tested, not proved: that no noise of the family has less variance. Against dense scans of the
    shapes under the same account, "exact" is within 5e-9 for flipped Huber, offset symmetric
    Gaussian and truncated Laplace noise with K = 1, within 1e-8 for Subbotin and Huber noise with
    K = 1, and within 1e-7 for K > 1; where the family has a Gaussian, Laplace or pure Laplace limit
    it is not worse than that by more. Staircases are those with steps as wide as the sensitivity.
    Close to pure Laplace noise with a delta below about 1e-10 the search is short, by a count of
    evaluations, and may leave more.
    "grid" and "sufficient" are the papers', the first exact on its grid, the second the
    minimum under its condition.

    Examples
    --------
    >>> from dpnoise import calibrate
    >>> found = calibrate("flipped-huber", epsilon=1.0, delta=1e-6, dimension=5)
    >>> found.delta <= 1e-6
    True
    >>> found.certified_by
    ('vector profile', 'lattice')
    """
    problems = Problems("calibration")
    known = read_family(problems, family)
    named, name = not problems.found, method if isinstance(method, str) else ""
    if is_set(sensitivity):
        expected = "a number (best and calibrate_joint find noise for a set)"
        problems.add(f"sensitivity: expected {expected}, got {sensitivity!r}")
        sensitivity = 1.0
    check_budget(problems, epsilon, delta, sensitivity, dimension)
    if named:
        good = not problems.found
        methods = known.calibrator.methods
        expected = f"{' or '.join(map(repr, methods))} for {known.name}"
        problems.require(name in methods, "method", expected, method)
        if good:
            budget = Target(float(epsilon), float(delta), float(sensitivity), int(dimension))
            check_request(problems, known, budget, name)
    if name == "grid":
        check_grid(problems, box, resolution)
        many = is_integer(dimension) and int(dimension) != 1
        problems.require(not many, "dimension", "1 for the method 'grid'", dimension)
    else:
        for label, value in (("box", box), ("resolution", resolution)):
            problems.require(value is None, label, "None unless the method is 'grid'", value)
    problems.raise_if_any()
    try:
        found = _found(known, budget, method, box or BOX, resolution or RESOLUTION)
    except (ValueError, ArithmeticError) as error:
        if str(error).startswith("calibration"):
            raise
        message = (
            f"calibration: {known.name} noise for {budget!r} is beyond what double precision or "
            f"the accounts reach ({error})"
        )
        raise RuntimeError(message) from error
    return cross_checked(found, budget)


def _found(
    family: Family, budget: Target, method: str, box: Box, resolution: tuple[int, int]
) -> Calibration:
    """Noise that a method finds, certified once."""
    kind, calibrator = family.kind, family.calibrator
    if budget.dimension > 1 and kind is not Gaussian:
        budget = budget._replace(delta=min(budget.delta, MAXIMUM_DELTA))
    if method == "grid":
        assert calibrator.grid is not None  # noqa: S101  (as its methods say)
        return grid_optimum(calibrator.grid, budget, box, resolution)
    if method == "sufficient":
        return sufficient_optimum(budget)
    if budget.delta == 0.0 and calibrator.pure:
        return calibrator.pure(budget)
    return calibrator.exact(budget)


class Calibrator(NamedTuple):
    """How a family is calibrated, for delta > 0 and for delta = 0 (None: its loss is unbounded)."""

    exact: Callable[[Target], Calibration]
    pure: Callable[[Target], Calibration] | None = None
    methods: tuple[str, ...] = ("exact",)
    shares: tuple[float, float] | None = None  # range of epsilon / K, of staircases
    scalar_only: bool = False  # whether delta > 0 is for one coordinate only
    grid: GridFamily | None = None  # of the method "grid"


def _searched(
    one: Callable[[float, float], ShapeFamily],
    several: Callable[[Target], VectorFamily],
    budget: Target,
) -> Calibration:
    """Noise found by the search for one coordinate or by that for several."""
    if budget.dimension == 1:
        return scalar_optimum(one, budget)
    return vector_optimum(several, budget)


_CALIBRATORS: dict[Kind, Calibrator] = {
    Gaussian: Calibrator(scalar.gaussian),
    Laplace: Calibrator(laplace, partial(pure_optimum, Laplace(1.0))),
    FlippedHuber: Calibrator(
        partial(_searched, scalar.flipped_huber, search.flipped_huber),
        methods=("exact", "grid", "sufficient"),
        grid=published.FLIPPED_HUBER,
    ),
    OffsetSymmetricGaussian: Calibrator(
        partial(_searched, scalar.offset_gaussian, search.offset_gaussian),
        methods=("exact", "grid"),
        grid=published.OFFSET_GAUSSIAN,
    ),
    Staircase: Calibrator(staircase_optimum, scalar.staircase, shares=(MIN_EPSILON, MAX_EPSILON)),
    TruncatedLaplace: Calibrator(
        partial(_searched, scalar.truncated_laplace, search.truncated_laplace)
    ),
    Subbotin: Calibrator(  # with delta = 0 only p = 1, Laplace noise by another name
        partial(vector_optimum, search.subbotin),
        partial(pure_optimum, Subbotin(1.0, 1.0)),
        scalar_only=True,
    ),
    Huber: Calibrator(partial(vector_optimum, search.huber), scalar.pure_huber),
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


def check_request(problems: Problems, family: Family, budget: Target, method: str) -> None:
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
