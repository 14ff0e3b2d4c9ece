"""The floor under every mechanism, as far as one is known.

Noise N on the integers only has to hide integers, so that it can be below the floor of real noise
(docs/integers.md). Two bounds hold for its mean squared error:

- each coordinate hides its changes by up to c: the discrete staircase without delta (Geng &
  Viswanath 2016), else the linear program on the integers, or one event;
- with U uniform on [-1/2, 1/2]^K, N + U hides real shifts in s D as N hides integers in g D,
  g = s + the norm of (1, ..., 1), and its variance is larger by 1/12. Each integer point of g D is
  a sum of g of those of D for boxes, l1 balls and 'at most m counts' (integer polymatroids), so
  that it costs g times epsilon.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise.noise.integers import MAX_EPSILON, MIN_EPSILON, DiscreteStaircase, best_r
from dpnoise.optimality.floor import floor
from dpnoise.optimality.scalar_floor import MARGIN, LatticeProgram, group_budget

if TYPE_CHECKING:
    from dpnoise.mechanisms.request import Request

_PROGRAM = 8.0, 12, 1e-14  # largest epsilon and change, smallest delta of the program
_REACH, _MOST_MASSES = 16.0, 2000
_LARGEST = 600.0  # epsilon of a group
_GROUPS = 1.5, 2.0, 3.0, 5.0, 9.0  # over the norm of (1, ..., 1)


def mean_floor(request: Request) -> float:
    """Proved lower bound on the error of any additive noise; 0 where none is known.

    `Request.bounded` says of which. For integers it is one on the error of any noise on the
    integers.
    """
    if request.integer:
        square = request.bounded == "variance"
        return max(_of_coordinates(request) if square else 0.0, _of_groups(request))
    try:
        return floor(
            request.sensitivity,
            epsilon=request.epsilon,
            delta=request.delta,
            **_error(request),
        ).value
    except ValueError:  # a budget out of its range
        return 0.0


def _error(request: Request) -> dict[str, Any]:
    """The error and the weights as `floor` takes them."""
    weights = {"max": request.weights, "norm": None}
    mean = request.weights / np.sum(request.weights)
    return {"error": request.bounded, "weights": weights.get(request.bounded, mean)}


def _of_coordinates(request: Request) -> float:
    """The mean of what each coordinate by itself needs."""
    each = np.zeros(request.dimension)
    for part in request.integer_parts:
        each[part.at] = integer_floor(part.largest, request.epsilon, request.delta)
    return request.mean(each) * (1.0 - MARGIN)


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

    0 for `Counts`: not every integer point of g D is a sum of g of those of D, such as three counts
    up and three down at m = 2 and g = 3.
    """
    signs = request.sensitivity.unconditional_hull is request.sensitivity
    powers = {part.power for part in request.integer_parts}
    if request.epsilon == 0.0 or not signs or powers != {1}:
        return 0.0
    ball = request.sensitivity.geometry
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
