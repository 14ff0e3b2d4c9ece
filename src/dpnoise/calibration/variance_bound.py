"""A proved lower bound on the variance of all private noise of a family: `variance_bound`.

`calibrate` searches, and what it returns is the best that it found. Here intervals that cover all
shapes of the family are excluded one by one (`dpnoise.calibration.cover`). What is left is a proof
that no noise of the family keeps the budget with less variance; docs/variance-bound.md has the
theorems.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpnoise._validation import Problems, is_integer
from dpnoise.calibration.budget import Budget
from dpnoise.calibration.calibrate import calibrate
from dpnoise.calibration.certificate import (
    MOST_INTERVALS,
    RTOL,
    check_coverable,
    global_cover,
    shapes_of,
)
from dpnoise.calibration.cross_check import cross_checked
from dpnoise.calibration.registry import read_family
from dpnoise.noise.integers import IntegerNoise

if TYPE_CHECKING:
    from dpnoise.calibration.budget import Calibration
    from dpnoise.calibration.cover.search import Cell
    from dpnoise.calibration.registry import Kind

_MINIMUM_RTOL, _MAXIMUM_RTOL = 1e-6, 0.5


@dataclass(frozen=True)
class VarianceBound:
    """A lower bound on the variance of all noise of a family that keeps a budget.

    Attributes
    ----------
    variance : float
        No noise of the family keeps the budget with a smaller variance per coordinate. 0 where
        nothing could be proved.
    found : Calibration
        The best noise that is known to keep the budget.
    parameter : str
        What the shapes of the cells are, as an expression in the parameters of the family.
    cells : tuple of Cell
        Intervals of shapes that cover the family, in order. `Cell.noise` (for sensitivity 1) is
        more private than all noise with a shape in `Cell.shapes` and at most this variance, and
        `Cell.log_delta` is a proved lower bound on the logarithm of its delta: more than the
        budget allows.
    """

    variance: float
    found: Calibration
    parameter: str
    cells: tuple[Cell, ...]

    @property
    def optimal_within(self) -> float:
        """The share of the variance of `found` by which other noise of the family may be better."""
        return 1.0 - self.variance / self.found.variance


def variance_bound(
    family: str | Kind,
    *,
    epsilon: float,
    delta: float,
    sensitivity: float = 1.0,
    dimension: int = 1,
    rtol: float = RTOL,
    max_cells: int = MOST_INTERVALS,
) -> VarianceBound:
    """Proved lower bound on the variance of all private noise of a family.

    Parameters
    ----------
    family : str or type
        Gaussian, Laplace, flipped Huber, offset symmetric Gaussian, Huber, truncated Laplace,
        staircase or Subbotin noise, by name or by class; or one with a scale as its only
        parameter.
    epsilon, delta : float
        The budget, as for `calibrate`; delta positive.
    sensitivity : float
        In the units of the query, as for `calibrate`.
    dimension : int
        K, as for `calibrate`.
    rtol : float
        The relative distance from the best noise found at which the bound is sought, from 1e-6 to
        0.5. The number of cells grows like 1 / rtol or slower, at some milliseconds each.
    max_cells : int
        How many intervals are looked at, at least 1. Where these are too few the bound is lower.

    Returns
    -------
    VarianceBound
        With attributes variance, found, parameter, cells and optimal_within.

    Raises
    ------
    ValueError
        If an argument is out of range or the family cannot be covered; the message names every
        problem.
    RuntimeError
        If `calibrate` could not verify its noise.

    Notes
    -----
    Proved, under the assumptions of `vector_profile`: every noise of the family with a variance
    below the bound has a delta at epsilon above the budget's. The staircases are those with
    steps as wide as the sensitivity.

    Examples
    --------
    >>> from dpnoise import variance_bound
    >>> bound = variance_bound("flipped-huber", epsilon=0.3, delta=1e-8, dimension=5)
    >>> bound.variance < bound.found.variance < 1.0011 * bound.variance
    True
    """
    problems = Problems("variance bound")
    kind = read_family(problems, family).kind
    check_coverable(problems, kind, delta)
    problems.number("rtol", rtol, low=_MINIMUM_RTOL, high=_MAXIMUM_RTOL)
    good = is_integer(max_cells) and int(max_cells) >= 1
    problems.require(good, "max_cells", "a whole number of at least 1", max_cells)
    problems.raise_if_any()
    found = calibrate(
        kind, epsilon=epsilon, delta=delta, sensitivity=sensitivity, dimension=dimension
    )
    assert not issubclass(kind, IntegerNoise)  # noqa: S101  (they cannot be covered)
    budget = Budget(float(epsilon), float(delta), float(sensitivity), int(dimension))
    proved, best = global_cover(kind, budget, found, float(rtol), int(max_cells))
    if best is not found:
        best = cross_checked(best, budget)
    shapes = shapes_of(kind)
    assert shapes is not None  # noqa: S101  (checked above)
    return VarianceBound(proved.variance, best, shapes.parameter, proved.cells)
