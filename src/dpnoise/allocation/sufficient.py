"""Laplace noise for (epsilon, delta) by a sufficient condition: the paper's Corollary 6.

Kept to be compared with: `allocate` with delta > 0 gives the least scales instead. The condition
uses delta <= 1 - exp(epsilon - greatest loss), as if the greatest loss sum lambda_i / beta_i
always occurred. It occurs with probability 2^-K.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise._validation import Problems
from dpnoise.noise._arrays import floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array


def corollary_6(sensitivities: ArrayLike, epsilon: float, delta: float) -> Array:
    """Return the scales of Laplace noise that the paper states for (epsilon, delta).

    Parameters
    ----------
    sensitivities : array_like of float, shape (K,)
        lambda_i, non-negative.
    epsilon, delta : float
        The budget; delta below 1 and not both 0.

    Returns
    -------
    numpy.ndarray, shape (K,)
        beta_i = lambda_i^(1/3) sum_j lambda_j^(2/3) / (epsilon - log(1 - delta)), as printed,
        rounded to nearest. Sufficient for (epsilon, delta)-DP in exact arithmetic.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    problems = Problems("Corollary 6")
    lambdas = floats(problems, "sensitivities", sensitivities, low=0.0)
    problems.require(
        np.ndim(lambdas) == 1 and np.size(lambdas) > 0,
        "sensitivities",
        "shape (K,) with K >= 1",
        np.shape(lambdas),
    )
    good = problems.number("epsilon", epsilon, low=0.0)
    if problems.number("delta", delta, low=0.0, high=1.0, open_high=True) and good:
        problems.require(epsilon + delta > 0.0, "epsilon, delta", "not both 0", (epsilon, delta))
    problems.raise_if_any()
    root = np.cbrt(lambdas)
    return root * (float(np.sum(root * root)) / (epsilon - math.log1p(-delta)))
