"""Clopper-Pearson bounds of the probabilities of an event, and what they prove of privacy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array


def clopper_pearson(hits: ArrayLike, runs: int, miss: float) -> tuple[Array, Array]:
    """Clopper-Pearson bounds of the probability of an event, one-sided.

    The event happened `hits` times, a number or an array, in `runs` runs. Each bound is wrong with
    a probability of at most `miss`.
    """
    count = np.asarray(hits, dtype=float)
    with np.errstate(invalid="ignore"):
        low = special.betaincinv(np.maximum(count, 1), runs - count + 1, miss)
        high = special.betainccinv(count + 1, np.maximum(runs - count, 1), miss)
    return np.where(count == 0, 0.0, low), np.where(count == runs, 1.0, high)


def proved_epsilon(low: float, high: float, delta: float) -> float:
    """The epsilon below which p <= e^epsilon q + delta fails, for p >= low and q <= high."""
    return math.log(low - delta) - math.log(high) if low - delta > high else 0.0


def proved_delta(low: float, high: float, epsilon: float) -> float:
    """The delta below which p <= e^epsilon q + delta fails, for p >= low and q <= high."""
    log_product = epsilon + math.log(high)
    return max(low - math.exp(log_product), 0.0) if log_product < 0.0 else 0.0
