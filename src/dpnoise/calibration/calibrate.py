"""Noise of least variance for a privacy budget: which family is calibrated how.

Whatever is found is verified, and enlarged if need be, in `dpnoise.calibration.certify`.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, NamedTuple

from dpnoise._validation import Problems
from dpnoise.calibration import closed_forms
from dpnoise.calibration.budget import Budget, Calibration, check_budget
from dpnoise.calibration.cross_check import cross_checked
from dpnoise.calibration.grid import BOX, MAXIMUM_LINES, MAXIMUM_SCALES, RESOLUTION, grid_optimum
from dpnoise.calibration.scalar import scalar_optimum
from dpnoise.calibration.sufficient import sufficient_optimum
from dpnoise.calibration.vector import vector_optimum
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
from dpnoise.noise.staircase import MAX_EPSILON, MIN_EPSILON

if TYPE_CHECKING:
    from collections.abc import Callable


class _Way(NamedTuple):
    """How a family is calibrated.

    Attributes
    ----------
    exact : callable
        Budget with delta > 0 -> Calibration.
    pure : callable or None
        The same for delta = 0, None if the family is never (epsilon, 0)-DP.
    methods : tuple of str
        What is offered.
    """

    exact: Callable[[Budget], Calibration]
    pure: Callable[[Budget], Calibration] | None = None
    methods: tuple[str, ...] = ("exact",)


def _one_or_many(kind: type[Noise]) -> Callable[[Budget], Calibration]:
    def exact(budget: Budget) -> Calibration:
        search = scalar_optimum if budget.dimension == 1 else vector_optimum
        return search(kind, budget)

    return exact


_WAYS: dict[type[Noise], _Way] = {
    Gaussian: _Way(closed_forms.gaussian),
    Laplace: _Way(closed_forms.laplace, closed_forms.pure_laplace),
    FlippedHuber: _Way(_one_or_many(FlippedHuber), methods=("exact", "grid", "sufficient")),
    OffsetSymmetricGaussian: _Way(_one_or_many(OffsetSymmetricGaussian), methods=("exact", "grid")),
    Staircase: _Way(closed_forms.staircase, closed_forms.staircase),
    TruncatedLaplace: _Way(_one_or_many(TruncatedLaplace)),
    Subbotin: _Way(lambda budget: vector_optimum(Subbotin, budget), closed_forms.pure_subbotin),
    Huber: _Way(lambda budget: vector_optimum(Huber, budget), closed_forms.pure_huber),
}
# Smaller budgets need noise beyond the range of `vector_profile`.
_LEAST_BUDGET = 1e-7
# In several coordinates the accounts tell no larger delta from 1.
_MOST_DELTA = 1.0 - 1e-6
_MOST_COORDINATES = 10**8
_LEAST_LENGTH, _MOST_LENGTH = 1e-100, 1e100  # of parameters on a grid
_NAMES = {kind: name for name, kind in FAMILIES.items()}


def _check_family(problems: Problems, family: object) -> type[Noise] | None:
    kind = FAMILIES.get(family) if isinstance(family, str) else family
    known = isinstance(kind, type) and kind in _WAYS
    problems.require(known, "family", f"one of {', '.join(FAMILIES)} or its class", family)
    return kind if known else None


def _check_request(problems: Problems, kind: type[Noise], budget: Budget, method: str) -> None:
    """Record what a family cannot do."""
    way, name = _WAYS[kind], _NAMES[kind]
    offered = " or ".join(repr(one) for one in way.methods)
    known = isinstance(method, str) and method in way.methods
    problems.require(known, "method", f"{offered} for {name}", method)
    if budget.delta == 0.0 and way.pure is None:
        problems.add(
            f"delta: expected more than 0 for {name}, whose privacy loss is unbounded, got 0"
        )
    pure = budget.delta == 0.0 or kind is Staircase
    if budget.epsilon == 0.0 and pure:
        reason = "staircase" if kind is Staircase else f"{name} with delta = 0"
        problems.add(f"epsilon: expected more than 0 for {reason}, got 0")
    elif not pure and max(budget.epsilon, budget.delta) < _LEAST_BUDGET * budget.dimension:
        problems.add(
            f"epsilon, delta: expected one of at least {_LEAST_BUDGET:g} times the dimension, "
            f"got {budget.epsilon!r}, {budget.delta!r}"
        )
    if not pure and budget.dimension > _MOST_COORDINATES:
        expected = f"at most {_MOST_COORDINATES:g} for {name} with delta > 0"
        problems.add(f"dimension: expected {expected}, got {budget.dimension}")
    if budget.delta == 0.0 and budget.epsilon > 0.0 and not budget.allows_pure:
        problems.add(
            "epsilon: expected a scale K / epsilon below 1e150 with delta = 0, whose variance "
            f"has a double, got {budget.epsilon!r}"
        )
    if budget.epsilon == 0.0 and method == "sufficient":
        problems.add("epsilon: expected more than 0 for Theorem 8, got 0")
    if kind is Subbotin and budget.dimension > 1 and budget.delta > 0.0:
        problems.add(f"dimension: expected 1 for {name} with delta > 0, got {budget.dimension}")
    share = budget.epsilon / budget.dimension
    if kind is Staircase and budget.epsilon > 0.0:
        problems.number("epsilon / dimension", share, low=MIN_EPSILON, high=MAX_EPSILON)


def _check_grid(
    problems: Problems, method: str, box: object, resolution: object, *, many: bool
) -> None:
    if not (isinstance(method, str) and method == "grid"):
        problems.require(box is None, "box", "None unless the method is 'grid'", box)
        expected = "None unless the method is 'grid'"
        problems.require(resolution is None, "resolution", expected, resolution)
        return
    try:
        (a, b), (c, d) = box if box is not None else BOX
        ends = all(isinstance(x, Real) and x <= _MOST_LENGTH for x in (a, b, c, d))
        good = ends and 0.0 <= a < b and _LEAST_LENGTH <= c < d
    except (TypeError, ValueError):
        good = False
    span = f"{_LEAST_LENGTH:g} to {_MOST_LENGTH:g}"
    expected = f"((least, greatest), (least, greatest)), numbers that rise, from 0 and from {span}"
    problems.require(good, "box", expected, box)
    most = MAXIMUM_LINES[many], MAXIMUM_SCALES[many]
    try:
        counts = list(resolution if resolution is not None else RESOLUTION)
        whole = all(isinstance(n, Integral) and not isinstance(n, bool) for n in counts)
        good = whole and len(counts) == 2
        good = good and all(2 <= n <= top for n, top in zip(counts, most, strict=True))
    except TypeError:
        good = False
    coordinates = "several coordinates" if many else "one coordinate"
    expected = f"two whole numbers of at least 2, at most {most!r} for {coordinates}"
    problems.require(good, "resolution", expected, resolution)


def calibrate(
    family: str | type[Noise],
    *,
    epsilon: float,
    delta: float = 0.0,
    sensitivity: float = 1.0,
    dimension: int = 1,
    method: str = "exact",
    box: tuple[tuple[float, float], tuple[float, float]] | None = None,
    resolution: tuple[int, int] | None = None,
) -> Calibration:
    """Return the noise of least variance that keeps a privacy budget.

    Independent noise of one distribution is added to each of K coordinates; neighbouring data
    sets (replace-one) move each by at most the sensitivity, so that Delta_1 = K sensitivity and
    Delta_2 = sqrt(K) sensitivity.

    Parameters
    ----------
    family : str or type
        One of `dpnoise.noise.FAMILIES`, by name or by class.
    epsilon : float
        Non-negative, at most 1e4; 0 only together with a positive delta.
    delta : float
        0, or from 1e-300 to below 1. If it is positive, it or epsilon is at least 1e-7 K. With
        delta = 0 only families with a bounded privacy loss can be calibrated: Laplace,
        staircase, Huber, Subbotin (which then is Laplace). Staircase noise makes no use of
        delta. In several coordinates a delta above 1 - 1e-6 counts as that, unless the noise is
        Gaussian.
    sensitivity : float
        In the units of the query, from 1e-100 to 1e100.
    dimension : int
        K, at least 1, with delta > 0 at most 1e8; for Subbotin noise with delta > 0 it must be 1.
    method : {"exact", "grid", "sufficient"}
        "exact": the least variance under the exact privacy profile. "grid" (flipped Huber and
        offset symmetric Gaussian noise): the same on a grid of parameters, Algorithm 2 of
        Muthukrishnan & Kalyani (IEEE TIFS 2023). "sufficient" (flipped Huber noise): under
        the condition of their Theorem 8.
    box : ((float, float), (float, float)), optional
        For "grid": the ranges of alpha or theta, and of gamma or rho; ((0.02, 150), (0.02,
        50)) by default, as in the paper.
    resolution : (int, int), optional
        For "grid": how many equidistant values of each; (1500, 500) by default, at most (200000,
        1000000) for one coordinate and (3000, 3000) for several, where each line takes
        milliseconds.

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

    Tested, not proved: that no noise of the family has less variance. Against dense scans of the
    shapes under the same account, "exact" is within 5e-9 for flipped Huber, offset symmetric
    Gaussian and truncated Laplace noise with K = 1, within 1e-8 for Subbotin and Huber noise
    with K = 1, and within 1e-7 for K > 1; where the family has a Gaussian, Laplace or pure
    Laplace limit it is not worse than that by more. Close to pure Laplace noise with a delta
    below about 1e-10 the search is short, by a count of evaluations, and may leave more.
    "grid" and "sufficient" are the papers', the first exact on its grid, the second the least
    under its condition.

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
    kind = _check_family(problems, family)
    check_budget(problems, epsilon, delta, sensitivity, dimension)
    if not problems.found:
        budget = Budget(float(epsilon), float(delta), float(sensitivity), int(dimension))
        _check_request(problems, kind, budget, method)
    elif kind:
        offered = _WAYS[kind].methods
        known = isinstance(method, str) and method in offered
        problems.require(known, "method", f"one of {', '.join(offered)}", method)
    many = isinstance(dimension, Integral) and bool(dimension != 1)
    _check_grid(problems, method, box, resolution, many=many)
    problems.raise_if_any()
    try:
        found = _found(kind, budget, method, box, resolution)
    except (ValueError, ArithmeticError) as error:
        if str(error).startswith("calibration"):
            raise
        message = (
            f"calibration: {_NAMES[kind]} noise for {budget!r} is beyond what double precision or "
            f"the accounts reach ({error})"
        )
        raise RuntimeError(message) from error
    return cross_checked(found, budget)


def _found(
    kind: type[Noise],
    budget: Budget,
    method: str,
    box: tuple[tuple[float, float], tuple[float, float]] | None,
    resolution: tuple[int, int] | None,
) -> Calibration:
    """Return what a method finds, certified once."""
    way = _WAYS[kind]
    if budget.dimension > 1 and kind is not Gaussian:
        budget = budget._replace(delta=min(budget.delta, _MOST_DELTA))
    if method == "grid":
        return grid_optimum(kind, budget, box or BOX, resolution or RESOLUTION)
    if method == "sufficient":
        return sufficient_optimum(budget)
    return (way.exact if budget.delta > 0.0 else way.pure)(budget)
