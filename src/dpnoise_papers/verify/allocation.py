"""Noise by coordinate as a convex program, without the closed forms of the papers.

Minimise sum cost(s_i) under sum loss(s_i) <= budget, with cost s^p and loss (lambda_i / s)^q (q = 2
for Gaussian noise, 1 for Laplace noise): for each price of the loss every coordinate is minimised
by itself, by golden sections over its logarithm, and the price is a root. Coordinates that no
neighbour changes get no noise.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize

if TYPE_CHECKING:
    from dpnoise._types import Array

_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
_SECTIONS = 70
_BROAD = 40.0  # logarithm of a scale, to both sides


def minimum_cost(sensitivities: Array, *, power: float, loss: float, budget: float) -> float:
    """Minimum of sum s_i^power under sum (lambda_i / s_i)^loss <= budget."""
    own, copies = np.unique(sensitivities[sensitivities > 0.0], return_counts=True)
    unit = float(own.max())
    scaled = own / unit
    limit = math.log(budget)

    @cache
    def at(log_price: float) -> tuple[float, float]:
        """Logarithm of the loss and the cost at a price of the loss."""

        def total(x: Array) -> Array:
            return np.exp(power * x) + np.exp(log_price + loss * (np.log(scaled) - x))

        x = _minimised(total, len(scaled))
        spent = float(copies @ (scaled * np.exp(-x)) ** loss)
        return math.log(spent) - limit, float(copies @ np.exp(power * x))

    root = optimize.brentq(lambda price: at(price)[0], -120.0, 120.0, xtol=1e-13, rtol=1e-14)
    return at(root)[1] * unit**power


def _minimised(function: object, count: int) -> Array:
    """Minimum of each of `count` convex functions of one variable, by golden sections."""
    low, high = np.full(count, -2.0 * _BROAD), np.full(count, 2.0 * _BROAD)
    for _ in range(_SECTIONS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        down = function(left) < function(right)  # type: ignore[operator]
        low, high = np.where(down, low, left), np.where(down, right, high)
    return 0.5 * (low + high)
