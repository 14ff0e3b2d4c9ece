"""What is asked of every mechanism: a sensitivity set, a budget, an error and weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._results import EqualByValue
from dpnoise._validation import Problems
from dpnoise.calibration.budget import check_budget
from dpnoise.mechanisms.floor import mean_floor
from dpnoise.mechanisms.parts import parts_of
from dpnoise.noise._arrays import floats
from dpnoise.sensitivity.base import LARGEST, SMALLEST
from dpnoise.sensitivity.convert import as_sensitivity
from dpnoise.sensitivity.integer_points import parts_of_set, read_parts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise.mechanisms.parts import Parts
    from dpnoise.sensitivity.base import Sensitivity
    from dpnoise.sensitivity.integer_points import IntegerPart

ERRORS = ("variance", "mean-abs", "half-width", "max", "norm")
_HIGH, _LOWEST = 6.0, 1e-40  # power and least weight of scales for the largest error
_LARGEST_RATIO = 1e100  # of two sensitivities, whose squares are added
_MOST_COORDINATES = 10**6


@dataclass(frozen=True, eq=False)
class Request(EqualByValue):
    """A checked request for noise.

    Attributes
    ----------
    sensitivity : Sensitivity
        The set of differences between neighbouring answers.
    epsilon, delta : float
        The budget.
    error : str
        What is to be small, one of `ERRORS`.
    weights : numpy.ndarray, shape (K,)
        Of the coordinates in that error.
    integer : bool
        Whether answers, and so the noise, are integers.
    """

    sensitivity: Sensitivity
    epsilon: float
    delta: float
    error: str
    weights: Array
    integer: bool = False

    @property
    def dimension(self) -> int:
        """The number K of coordinates."""
        return self.sensitivity.dimension

    @property
    def power(self) -> float:
        """The power p of the scales in the error: it is sum w_i s_i^p for noise of one shape.

        For the largest error a high power stands for the maximum.
        """
        return {"variance": 2.0, "max": _HIGH, "norm": _HIGH}.get(self.error, 1.0)

    @property
    def order(self) -> int:
        """The moment of its norm that joint noise is to make small."""
        return 2 if self.error in {"variance", "half-width"} else 1

    @cached_property
    def scale_weights(self) -> Array:
        """The w_i of that sum, shape (K,)."""
        w = self.weights
        if self.error == "norm":
            box = self.sensitivity.box / self.unit
            w = np.divide(1.0, box, out=np.ones(box.shape), where=box > 0.0)
            w = w / np.max(w)
        return np.maximum(w, _LOWEST) ** _HIGH if self.error in {"max", "norm"} else w

    @cached_property
    def parts(self) -> Parts:
        """The parts of the set that move independently of each other."""
        return parts_of(self.sensitivity.geometry)

    @cached_property
    def integer_parts(self) -> list[IntegerPart]:
        """The parts of the set for answers that are integers."""
        return parts_of_set(self.sensitivity)

    @cached_property
    def unit(self) -> float:
        """A length in which the sensitivities are moderate: the largest one."""
        return float(np.max(self.sensitivity.box))

    @property
    def bounded(self) -> str:
        """The error that the floor is about: the one asked for, the variance for half-widths."""
        return "variance" if self.error == "half-width" else self.error

    @cached_property
    def floor(self) -> float:
        """Proved lower bound on the error of any additive noise, `bounded` says which."""
        return mean_floor(self)

    @property
    def floor_words(self) -> str:
        """What the floor bounds, in words before its value."""
        where = "noise on the integers" if self.integer else "noise"
        square = "mean squared error" if self.integer else "mean variance"
        names = {
            "variance": f"a {square}",
            "mean-abs": "a mean absolute error",
            "max": "an expected largest error",
            "norm": "an expected norm",
        }
        return f"no {where} for this set has {names[self.bounded]} below"

    def mean(self, values: Array) -> float:
        """The weighted mean over all coordinates."""
        return float(np.sum(self.weights * values) / np.sum(self.weights))


def read_request(
    sensitivity: float | ArrayLike | Sensitivity,
    epsilon: float,
    delta: float,
    error: str,
    weights: ArrayLike | None,
    *,
    relation: str | None = None,
    family: str | None = None,
    families: tuple[str, ...] = (),
    integer: bool = False,
) -> Request:
    """A checked request; one ValueError names everything that is wrong with it."""
    problems = Problems("noise for a sensitivity set")
    ball = None
    try:
        ball = as_sensitivity(sensitivity, relation=relation)
    except ValueError as wrong:
        problems.add(str(wrong))
    check_budget(problems, epsilon, delta, 1.0, 1)
    if not problems.found:
        both = epsilon == 0 and delta == 0
        problems.require(not both, "epsilon, delta", "one above 0", (epsilon, delta))
    known = isinstance(error, str) and error in ERRORS
    problems.require(known, "error", f"one of {', '.join(ERRORS)}", error)
    free = weights is None or error != "norm"
    problems.require(free, "weights", "None for error='norm'", weights)
    known = family is None or (isinstance(family, str) and family in families)
    problems.require(known, "family", f"None or one of {', '.join(families)}", family)
    values = np.ones(1)
    if weights is not None:
        values = floats(problems, "weights", weights, low=SMALLEST, high=LARGEST)
    if ball is not None:
        if weights is not None:
            good = values.shape == (ball.dimension,)
            problems.require(good, "shape of weights", f"({ball.dimension},)", values.shape)
        good = ball.dimension <= _MOST_COORDINATES
        problems.require(good, "dimension", f"at most {_MOST_COORDINATES:g}", ball.dimension)
        solid = error != "norm" or not ball.flat
        problems.require(solid, "error", f"another one than norm ({ball.flat})", error)
    if ball is not None and not problems.found:
        sizes = ball.box[ball.active]
        ratio = math.log10(float(np.max(sizes))) - math.log10(float(np.min(sizes)))
        expected = f"a ratio of at most {_LARGEST_RATIO:g} between the largest and the smallest"
        good = ratio <= math.log10(_LARGEST_RATIO)
        problems.require(good, "sensitivity", expected, f"1e{ratio:.0f}")
    known = isinstance(integer, bool | np.bool_)
    problems.require(known, "integer", "True or False", integer)
    if ball is not None and integer:
        read_parts(problems, ball)
    problems.raise_if_any()
    assert ball is not None  # noqa: S101  (or refused)
    values = np.broadcast_to(values / np.max(values), (ball.dimension,))
    return Request(ball, float(epsilon), float(delta), error, values, bool(integer))
