"""Algorithm 1 of Balle & Wang (ICML 2018) as published: to be measured, not to be used.

Nothing in the library needs it; `dpnoise.gaussian_sigma` is what to use.

It writes sigma = alpha sensitivity / sqrt(2 epsilon) and searches v >= 0 with B+(v) = delta
where alpha <= 1, else u >= 0 with B-(u) = delta, where

    B+(v) = Phi(sqrt(epsilon v)) - e^epsilon Phi(-sqrt(epsilon (v + 2))),
    B-(u) = Phi(-sqrt(epsilon u)) - e^epsilon Phi(-sqrt(epsilon (u + 2))),

with Phi(t) = (1 + erf(t / sqrt 2)) / 2. The bracket is the first power of two beyond the root,
the search is by bisection. Where it stops has two versions:

    "argument"   v* and u* are known to 1e-12, as Section 5.1 says;
    "delta"      B is within 1e-12 of delta, on either side, as in the authors' published script.

In both the last middle may be on the side that is not private, and 1 + erf is absolute: far out
nothing is left of a small delta.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from dpnoise._validation import Problems
from dpnoise.noise._arrays import floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dpnoise._types import Array

TOLERANCE = 1e-12  # Section 5.1
STOPS = ("argument", "delta")
# Doubles have few more powers of two to try, and no more middles before two are neighbours.
_DOUBLINGS = 1000
_MIDDLES = 1100


def _phi(t: Array) -> Array:
    """Return Phi(t) as the paper writes it; nothing is left of it far below 0."""
    return 0.5 * (1.0 + special.erf(t / math.sqrt(2.0)))


def _b_plus(v: Array, epsilon: Array) -> Array:
    """Delta of alpha = sqrt(1 + v/2) - sqrt(v/2), B+(v) in the paper."""
    return _phi(np.sqrt(epsilon * v)) - np.exp(epsilon) * _phi(-np.sqrt(epsilon * (v + 2.0)))


def _b_minus(u: Array, epsilon: Array) -> Array:
    """Delta of alpha = sqrt(1 + u/2) + sqrt(u/2), B-(u) in the paper."""
    return _phi(-np.sqrt(epsilon * u)) - np.exp(epsilon) * _phi(-np.sqrt(epsilon * (u + 2.0)))


def _search(
    epsilon: Array, delta: Array, plus: NDArray[np.bool_], tolerance: float, stop: str
) -> Array:
    """Return v* or u* of each pair; NaN where the published search would never end."""

    def excess(x: Array, which: NDArray[np.intp]) -> Array:
        e = epsilon[which]
        return np.where(plus[which], _b_plus(x, e), _b_minus(x, e)) - delta[which]

    found = np.full(epsilon.shape, np.nan)
    low, high = np.zeros_like(epsilon), np.ones_like(epsilon)
    left = np.arange(epsilon.size)
    for _ in range(_DOUBLINGS):
        over = excess(high[left], left)
        beyond = np.where(plus[left], over > 0.0, over <= 0.0)
        left = left[~beyond]
        if left.size == 0:
            break
        low[left], high[left] = high[left], 2.0 * high[left]
    searching = np.setdiff1d(np.arange(epsilon.size), left)
    for _ in range(_MIDDLES):
        middle = 0.5 * (low[searching] + high[searching])
        over = excess(middle, searching)
        if stop == "delta":
            close = np.abs(over) <= tolerance
        else:  # or no double is left between the two ends
            ends = low[searching], high[searching]
            close = (ends[1] - ends[0] <= tolerance) | (middle == ends[0]) | (middle == ends[1])
        found[searching[close]] = middle[close]
        # Both searches go down from where delta is passed: B+ rises and B- falls.
        down = np.where(plus[searching], over > 0.0, over <= 0.0)
        high[searching] = np.where(down, middle, high[searching])
        low[searching] = np.where(down, low[searching], middle)
        searching = searching[~close]
        if searching.size == 0:
            break
    return found


def algorithm_1(
    epsilon: ArrayLike,
    delta: ArrayLike,
    *,
    tolerance: float = TOLERANCE,
    stop: str = "argument",
) -> Array:
    """Standard deviation of Algorithm 1 in double precision, private or not.

    For epsilon >= 0, delta in (0, 1), which broadcast, at sensitivity 1; `stop` is one
    of `STOPS`, and `tolerance` is in units of v and u, or of delta. NaN where the algorithm gives
    no sigma: at epsilon = 0 it never ends, from about 709.8 on e^epsilon overflows, and where
    rounding keeps B away from delta no bracket, and with stop = "delta" no middle, is ever found.
    Raises ValueError if an argument is out of range.
    """
    problems = Problems("Algorithm 1")
    epsilon = floats(problems, "epsilon", epsilon, low=0.0)
    delta = floats(problems, "delta", delta, low=0.0, high=1.0, open_low=True, open_high=True)
    problems.number("tolerance", tolerance, low=0.0)
    problems.require(stop in STOPS, "stop", f"one of {', '.join(STOPS)}", stop)
    problems.raise_if_any()
    epsilon, delta = np.broadcast_arrays(epsilon, delta)
    sigma = np.full(epsilon.shape, np.nan).ravel()
    usable = np.flatnonzero((epsilon > 0.0) & (epsilon < math.log(np.finfo(float).max)))
    e, d = epsilon.ravel()[usable], delta.ravel()[usable]
    plus = d >= _b_plus(np.zeros_like(e), e)
    half = 0.5 * _search(e, d, plus, tolerance, stop)
    alpha = np.sqrt(1.0 + half) + np.where(plus, -1.0, 1.0) * np.sqrt(half)
    sigma[usable] = alpha / np.sqrt(2.0 * e)
    return sigma.reshape(epsilon.shape)[()]
