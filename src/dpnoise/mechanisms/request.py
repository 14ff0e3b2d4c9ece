"""Request for noise, and what answers it: a set, a budget, an error and weights; a method; a floor.

Every mechanism answers the same request, and one floor is under all of them, as far as one is
known. Noise N on the integers only has to hide integers, so that it can be below the floor of real
noise (docs/integers.md). Three bounds hold for its mean squared error:

- each coordinate hides its changes by up to c: the discrete staircase without delta (Geng &
  Viswanath 2016), else the linear program on the integers, or one event;
- for differences of few entries the floor of any noise for whole ones (docs/floor.md, section 8);
- with U uniform on [-1/2, 1/2]^K, N + U hides real shifts in s D as N hides integers in g D,
  g = s + the norm of (1, ..., 1), and its variance is larger by 1/12. Each integer point of g D is
  a sum of g of those of D for boxes and l1 balls (integer polymatroids), so that it costs g times
  epsilon.

**The parts of a sensitivity set** that one person moves independently of each other: a product has
those of its factors; every coordinate of a box is one; any other set is one as a whole. Coordinates
that cannot change belong to none.
"""

from __future__ import annotations

import math
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise._results import EqualByValue
from dpnoise._validation import Problems, floats, is_integer
from dpnoise.noise.integers import MAX_EPSILON, MIN_EPSILON, DiscreteStaircase, best_r
from dpnoise.optimality.floor import floor
from dpnoise.optimality.scalar_floor import MARGIN, LatticeProgram, group_budget
from dpnoise.privacy.integer_sets import parts_of_set, read_parts
from dpnoise.sensitivity.balls import Box, LInf, as_sensitivity
from dpnoise.sensitivity.base import LARGEST, SMALLEST
from dpnoise.sensitivity.product import Product

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike

    from dpnoise._types import Array, IntArray
    from dpnoise.joint.base import VectorNoise
    from dpnoise.privacy.integer_sets import IntegerPart
    from dpnoise.sensitivity.base import Sensitivity


class Parts(NamedTuple):
    """Parts of a set, n in all, in the order of their coordinates.

    Attributes
    ----------
    first, sizes : numpy.ndarray, shape (n,)
        The first coordinate of each and the number of its coordinates, which follow one another.
    l1, l2 : numpy.ndarray, shape (n,)
        The largest l1 and l2 norm of each.
    moved : numpy.ndarray of int, shape (n,)
        How many coordinates of each a true difference moves at most.
    blocks : dict
        The set of each part that is no single coordinate of a box, by its first coordinate.
    box : numpy.ndarray, shape (K,)
        The largest change of each coordinate.
    shape : numpy.ndarray, shape (K,)
        Scales of Gaussian noise within each part, at most 1: the axes of an ellipsoid over the
        longest of them, else 1.
    relation : str or None
        That of the set.
    """

    first: IntArray
    sizes: IntArray
    l1: Array
    l2: Array
    moved: IntArray
    blocks: dict[int, Sensitivity]
    box: Array
    shape: Array
    relation: str | None

    def sums(self, values: Array) -> Array:
        """Sums over the coordinates of each part, shape (n,)."""
        ends = np.stack([self.first, self.first + self.sizes], axis=1).ravel()
        return np.asarray(np.add.reduceat(np.append(values, 0.0), ends)[::2])

    def indices(self, some: IntArray) -> IntArray:
        """The coordinates of some parts, part by part."""
        return np.concatenate([np.arange(n, n + k) for n, k in self._spans(some)])

    def _spans(self, some: IntArray) -> Iterator[tuple[int, int]]:
        """First coordinate and size of some parts."""
        return zip(self.first[some].tolist(), self.sizes[some].tolist(), strict=True)

    def ball(self, some: IntArray) -> Sensitivity:
        """The product of some parts, its coordinates in the order of `indices`."""
        if not any(n in self.blocks for n in self.first[some].tolist()):
            sides = self.box[self.first[some]]
            alike = float(np.ptp(sides)) == 0.0
            if alike:
                return LInf(float(sides[0]), sides.size, relation=self.relation)
            return Box(tuple(sides.tolist()), relation=self.relation)
        places = self.first[some].tolist()
        own = [LInf(float(self.box[n]), relation=self.relation) for n in places]
        balls = [self.blocks.get(n, one) for n, one in zip(places, own, strict=True)]
        return balls[0] if len(balls) == 1 else Product(*balls)

    def spread(self, values: Array) -> Array:
        """One value per part, given to each of its coordinates; 0 elsewhere, shape (K,)."""
        spread = np.zeros(self.box.size)
        spread[self.indices(np.arange(self.first.size))] = np.repeat(values, self.sizes)
        return spread


def parts_of(ball: Sensitivity) -> Parts:
    """The parts of a set."""
    first, sizes, l1, l2, moved = [], [], [], [], []
    blocks = {}
    shape = np.ones(ball.dimension)
    for start, factor in ball.factors():
        if factor.moves_apart:
            some = np.flatnonzero(factor.active)
            sides = factor.box[some]
            first.append(start + some)
            sizes.append(np.ones(some.size, dtype=np.intp))
            moved.append(sizes[-1])
            l1.append(sides)
            l2.append(sides)
        else:
            blocks[start] = factor
            if factor.is_round and factor.smallest_ellipsoid is None:  # along the coordinates
                shape[start : start + factor.dimension] = factor.box / np.max(factor.box)
            first.append(np.array([start]))
            sizes.append(np.array([factor.dimension]))
            l1.append(np.array([factor.l1]))
            l2.append(np.array([factor.l2]))
            true = factor.differences
            moved.append(np.array([factor.active_dimension if true is None else true.moved]))
    joined: Any = [np.concatenate(each) for each in (first, sizes, l1, l2, moved)]
    return Parts(*joined, blocks, ball.box, shape, ball.relation)  # type: ignore[call-arg]


SUBJECT = "noise for a sensitivity set"
ERRORS = ("variance", "mean-abs", "half-width", "max", "norm")
_HIGH, _LOWEST = 6.0, 1e-40  # power and least weight of scales for the largest error
_LARGEST_RATIO = 1e100  # of two sensitivities, whose squares are added
_MOST_COORDINATES = 10**6
_MOST_TIMES = 10**6


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
    integer : bool, optional
        Whether the noise is on the integers: True or False, or None for either, where the answers
        are whole numbers.
    times : int
        How many releases with fresh noise the budget is for.
    """

    sensitivity: Sensitivity
    epsilon: float
    delta: float
    error: str
    weights: Array
    integer: bool | None = False
    times: int = 1

    @cached_property
    def discrete(self) -> bool:
        """Whether noise on the integers is tried: asked for, or not refused for whole answers."""
        if self.integer is None and self.sensitivity.is_whole:
            problems = Problems("noise on the integers")
            read_parts(problems, self.sensitivity)  # of workloads only where it is asked for
            return not problems.found
        return bool(self.integer)

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
        return parts_of(self.sensitivity)

    @property
    def moved(self) -> int:
        """How many coordinates a true difference moves at most."""
        return int(np.sum(self.parts.moved))

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
        """Proved lower bound on the error of any additive noise, `bounded` says which.

        For several releases of n times that of one where it is about the variance, as their mean is
        an answer, too; else of one, which keeps the budget as well.
        """
        if self.times == 1:
            return mean_floor(self)
        one = replace(self, times=1)
        if self.bounded != "variance" or (self.integer and not self.sensitivity.is_whole):
            return mean_floor(one)
        return self.times * mean_floor(replace(one, integer=False))  # means are no integers

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


def read_request(  # noqa: PLR0917  (all that `best` and `compare` are asked for)
    sensitivity: float | ArrayLike | Sensitivity,
    epsilon: float,
    delta: float,
    error: str,
    weights: ArrayLike | None,
    relation: str | None = None,
    family: str | None = None,
    integer: bool | None = None,
    times: int = 1,
    families: tuple[str, ...] = (),
    problems: Problems | None = None,
) -> Request:
    """A checked request; one ValueError names everything wrong with it, and earlier problems."""
    problems = problems or Problems(SUBJECT)
    ball: Any = None
    try:
        ball = as_sensitivity(sensitivity, relation=relation)
    except ValueError as wrong:
        problems.add(str(wrong))
    known = len(problems.found)
    problems.budget(epsilon, delta)
    if len(problems.found) == known:
        both = epsilon == 0 and delta == 0
        problems.require(not both, "epsilon, delta", "one above 0", (epsilon, delta))
    known = isinstance(error, str) and error in ERRORS
    problems.require(known, "error", f"one of {', '.join(ERRORS)}", error)
    of_norm = known and error == "norm"
    free = weights is None or not of_norm
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
        solid = not of_norm or not ball.flat
        problems.require(solid, "error", f"another one than norm ({ball.flat})", error)
    if ball is not None and not problems.found:
        sizes = ball.box[ball.active]
        ratio = math.log10(float(np.max(sizes))) - math.log10(float(np.min(sizes)))
        expected = f"a ratio of at most {_LARGEST_RATIO:g} between the largest and the smallest"
        good = ratio <= math.log10(_LARGEST_RATIO)
        problems.require(good, "sensitivity", expected, f"1e{ratio:.0f}")
    known = integer is None or isinstance(integer, bool | np.bool_)
    problems.require(known, "integer", "None, True or False", integer)
    if ball is not None and known and integer and ball.preimage is None:
        read_parts(problems, ball)
    elif ball is not None and known and integer and not ball.is_whole:
        expected = "whole numbers of moderate size (2^20) for integers"
        problems.add(f"entries of W: expected {expected}, got fractions or larger numbers")
    good = is_integer(times) and 1 <= times <= _MOST_TIMES
    problems.require(good, "times", f"a whole number from 1 to {_MOST_TIMES:g}", times)
    problems.raise_if_any()
    values = np.broadcast_to(values / np.max(values), (ball.dimension,))
    chosen = None if integer is None else bool(integer)
    return Request(ball, float(epsilon), float(delta), error, values, chosen, int(times))


class Found(NamedTuple):
    """Noise that keeps the budget of a request, and a proved upper bound on its delta there."""

    noise: VectorNoise
    delta: float


def quick(request: Request) -> bool:  # noqa: ARG001  (one signature for all)
    """The answer of a mechanism that is found in milliseconds."""
    return False


@dataclass(frozen=True)
class Method:
    """One entry of the registry.

    Attributes
    ----------
    name : str
        As in the table.
    family : str
        The family of its noise, as `best` is asked for it; several mechanisms may share one.
    reference : str
        Where the mechanism is published.
    find : callable
        The best noise of the mechanism for a request; None if it does not apply. ValueError and
        RuntimeError say why it applies and cannot be had.
    slow : callable
        Whether that takes some tenths of a second or more, by counts alone.
    like : tuple of str
        Mechanisms of which the best needs about as much variance, 1.25 times as much at most.
    """

    name: str
    family: str
    reference: str
    find: Callable[[Request], Found | None]
    slow: Callable[[Request], bool] = quick
    like: tuple[str, ...] = ()


_PROGRAM = 8.0, 12, 1e-14  # largest epsilon and change, smallest delta of the program
_REACH, _MOST_MASSES = 16.0, 2000
_LARGEST = 600.0  # epsilon of a group
_GROUPS = 1.5, 2.0, 3.0, 5.0, 9.0  # over the norm of (1, ..., 1)


def mean_floor(request: Request) -> float:
    """Proved lower bound on the error of any additive noise; 0 where none is known.

    `Request.bounded` says of which. For integers it is one on the error of any noise on the
    integers.
    """
    if not request.integer:
        return _of_set(request, request.sensitivity)
    square = request.bounded == "variance"
    found = [_of_coordinates(request) if square else 0.0, _of_groups(request)]
    whole = whole_answers(request.sensitivity)
    return max(*found, _of_set(request, whole) if whole else 0.0)


def whole_answers(ball: Sensitivity) -> Sensitivity | None:
    """The set of few entries that are whole numbers, as for answers that are; None for others."""
    true = ball.differences
    if ball.is_whole or true is None:
        return ball if ball.is_whole else None
    found = copy(ball)
    vars(found)["differences"] = replace(true, whole=True)
    return found if found.is_whole else None


def _of_set(request: Request, ball: Sensitivity) -> float:
    """The floor of any noise for a set; 0 for a budget out of its range."""
    epsilon, delta = request.epsilon, request.delta
    try:
        return floor(ball, epsilon=epsilon, delta=delta, **_error(request)).value
    except ValueError:
        return 0.0


def _error(request: Request) -> dict[str, Any]:
    """The error and the weights as `floor` takes them."""
    weights = {"max": request.weights, "norm": None}
    mean = request.weights / np.sum(request.weights)
    return {"error": request.bounded, "weights": weights.get(request.bounded, mean)}


def _of_coordinates(request: Request) -> float:
    """The mean of what each coordinate by itself needs."""
    if request.sensitivity.preimage is None:
        largest = np.zeros(request.dimension, dtype=int)
        for part in request.integer_parts:
            largest[part.at] = part.largest
    else:
        # A change by c of a linear question need not come with smaller ones, unless c is 1.
        largest = (request.sensitivity.box == 1.0).astype(int)
    changes, which = np.unique(largest, return_inverse=True)
    one = [integer_floor(c, request.epsilon, request.delta) if c else 0.0 for c in changes.tolist()]
    return request.mean(np.array(one)[which]) * (1.0 - MARGIN)


def integer_floor(change: int, epsilon: float, delta: float) -> float:
    """Lower bound on E N^2 of noise on the integers that hides changes by up to `change`."""
    if delta == 0.0:
        if not MIN_EPSILON <= epsilon <= MAX_EPSILON:
            return 0.0
        best = DiscreteStaircase(epsilon, change, best_r(epsilon, change))
        return best.var() * (1.0 - MARGIN)
    # The event {N < change / 2} and a shift by the change: P(N >= change / 2) is at least
    # (1 - delta) / (1 + e^epsilon), for symmetric N, and so is that of the other side.
    tail = (1.0 - delta) / (1.0 + math.exp(min(epsilon, 700.0)))
    bound = 2.0 * tail * math.ceil(change / 2) ** 2
    largest, widest, smallest = _PROGRAM
    if 0.0 < epsilon <= largest and change <= widest and delta >= smallest:
        support = min(_REACH, math.log1p(math.expm1(epsilon) / (2.0 * delta)))
        last = math.ceil((support / epsilon + 2.0) * change)
        if last <= _MOST_MASSES:
            program = LatticeProgram(epsilon, delta, 2, change, last)
            shifts = list(range(1, change + 1))
            with suppress(RuntimeError):  # the solver may fail
                value = program.bound(shifts, program.multipliers(shifts))
                bound = max(bound, value * change**2)
    return bound * (1.0 - MARGIN)


def _of_groups(request: Request) -> float:
    """The floor of real noise for the shifts that N + U hides, less 1/12.

    Of convex sets: each integer point of g D has to be a sum of g of those of D.
    """
    if request.epsilon == 0.0 or not request.sensitivity.convex:
        return 0.0
    if {part.power for part in request.integer_parts} != {1}:
        return 0.0
    ball = request.sensitivity
    ones = float(ball.norm(np.ones(request.dimension)))
    # Rounding errors U on [-1/2, 1/2]^K: of the square, E|U|, max |U| and the norm of U.
    shares = {"variance": 1.0 / 12.0, "mean-abs": 0.25, "max": 0.5, "norm": 0.5 * ones}
    power = 2 if request.bounded == "variance" else 1
    best = 0.0
    for ratio in _GROUPS:
        group = math.ceil(ratio * ones)
        if group * request.epsilon > _LARGEST or group <= ones * (1.0 + MARGIN):
            continue
        epsilon, delta = group_budget(group, request.epsilon, request.delta)
        if delta >= 1.0:
            continue
        with suppress(ValueError):  # a budget out of its range
            real = floor(ball, epsilon=epsilon, delta=delta, **_error(request)).value
            size = (group - ones) * (1.0 - MARGIN)
            if request.bounded == "norm":  # in units of the set
                size = size * (1.0 - MARGIN)
            best = max(best, real * size**power - shares[request.bounded] * (1.0 + MARGIN))
    return best
