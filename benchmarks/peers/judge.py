"""What an answer is worth: unsafe, or how far above the truth, by accounts that no library shares.

Gaussian noise is judged in ball arithmetic (Arb), composed Laplace noise by convex curves on a
lattice that bound delta on both sides (tests/fuzz/references.py).
"""

from __future__ import annotations

import math

from dpnoise import Laplace
from dpnoise_papers.verify.oracles.gaussian import is_private
from fuzz.references import OutOfRangeError, reference_bounds

LADDER = (1e-9, 1e-6, 1e-3, 1e-2, 1e-1, math.inf)  # relative excess over the truth
UNSAFE, SHORT, UNDECIDED = "unsafe", "short by rounding", "undecided"
ROUNDING = 1e-6  # relative; an answer that lacks less is short by rounding


def judge(task: str, arguments: list[float], value: float) -> str | float:
    """'unsafe', 'short by rounding', or the least rung of the ladder above the relative excess."""
    if not value >= 0.0 or math.isinf(value):
        return "no answer"
    enough = ENOUGH[task]
    try:
        if not enough(value, *arguments):
            return SHORT if enough(value * (1.0 + ROUNDING), *arguments) else UNSAFE
        if value == 0.0:
            return LADDER[0]
        return next(r for r in LADDER if r == math.inf or not enough(value / (1 + r), *arguments))
    except OutOfRangeError:  # losses too large for the reference
        return UNDECIDED


def _sigma(value: float, epsilon: float, delta: float) -> bool:
    return value > 0.0 and is_private(epsilon, delta, value)


def _gaussian_epsilon(value: float, noise: float, copies: int, delta: float) -> bool:
    return is_private(value, delta, noise, math.sqrt(copies))


def _laplace_epsilon(value: float, noise: float, copies: int, delta: float) -> bool:
    """Whether epsilon may be enough: no lower bound on delta shows that it is not."""
    return reference_bounds([(Laplace(noise), 1.0, copies)], value)[0] <= math.log(delta)


ENOUGH = {
    "sigma": _sigma,
    "gaussian_epsilon": _gaussian_epsilon,
    "laplace_epsilon": _laplace_epsilon,
}
