"""Staircase noise by adding up its steps, in one and in two dimensions."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize

if TYPE_CHECKING:
    from dpnoise._types import Array

_LEFT = 50.0  # steps are followed down to exp(-50)


def _edges(epsilon: float, gamma: float) -> tuple[Array, Array]:
    """Edges of the steps and the logarithm of the height between them, sensitivity 1."""
    last = int(_LEFT / epsilon) + 3
    k = np.arange(last)
    edges = np.append(0.0, np.column_stack([k + gamma, k + 1.0]).ravel())
    heights = np.column_stack([k, k + 1.0]).ravel()
    return edges, -epsilon * heights


def _moment(epsilon: float, gamma: float, power: int, ball: int) -> float:
    """Mean of R^power when the density falls in steps of R, in `ball` dimensions."""
    edges, log_height = _edges(epsilon, gamma)
    height = np.exp(log_height)
    top, bottom = (float(height @ np.diff(edges ** (n + ball))) / (n + ball) for n in (power, 0))
    return top / bottom


@cache
def minimum_moment(epsilon: float, power: int, ball: int = 1) -> float:
    """Minimum over gamma of the mean of R^power, sensitivity 1."""
    grid = np.linspace(0.0, 1.0, 201)
    values = [_moment(epsilon, gamma, power, ball) for gamma in grid]
    k = int(np.argmin(values))
    ends = grid[max(k - 1, 0)], grid[min(k + 1, 200)]
    found = optimize.minimize_scalar(
        lambda gamma: _moment(epsilon, gamma, power, ball),
        bounds=ends, method="bounded", options={"xatol": 1e-10, "maxiter": 200},
    )  # fmt: skip
    return min(float(found.fun), values[k])


def minimum_variance(epsilon: float, sensitivity: float = 1.0, dimension: int = 1) -> float:
    """Minimum variance per coordinate of one staircase for each, with an equal share of epsilon."""
    return sensitivity**2 * minimum_moment(epsilon / dimension, 2)


def box_error(lambdas: Array, epsilon: float) -> float:
    """Minimum l1 error of two coordinates whose density falls in steps of max |x_i| / lambda_i.

    Over the box of radius r the mean of |x_1| + |x_2| is that of uniform noise; rings are
    differences of boxes.
    """

    def error(gamma: float) -> float:
        edges, log_height = _edges(epsilon, gamma)
        height = np.exp(log_height)
        area = 4.0 * float(np.prod(lambdas)) * edges**2
        inside = 0.5 * float(np.sum(lambdas)) * edges * area
        return float(height @ np.diff(inside)) / float(height @ np.diff(area))

    found = optimize.minimize_scalar(
        error, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-10, "maxiter": 200}
    )
    return float(found.fun)


def split_error(lambdas: Array, epsilon: float) -> float:
    """Minimum l1 error of one staircase for each of two coordinates, over shares of epsilon."""

    def error(share: float) -> float:
        parts = share * epsilon, (1.0 - share) * epsilon
        return sum(
            float(one) * minimum_moment(part, 1) for one, part in zip(lambdas, parts, strict=True)
        )

    # Steps are endless at epsilon = 0; beyond 1e-3 of the budget no share is best.
    found = optimize.minimize_scalar(
        error, bounds=(1e-3, 1.0 - 1e-3), method="bounded", options={"xatol": 1e-7, "maxiter": 60}
    )
    return float(found.fun)


def no_less(epsilon: float) -> float:
    """Minimum mean of |X| of scalar noise at sensitivity 1."""
    return minimum_moment(epsilon, 1) if epsilon > 0.0 else math.inf
