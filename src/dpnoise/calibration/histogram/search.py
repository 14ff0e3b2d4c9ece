"""Histogram noise of least epsilon for composition, at a given variance: a search, no proof.

Gilani et al. ("Optimizing Noise Distributions for Differential Privacy", ICML 2025) choose the
masses of the cells by the Renyi divergence of one order, a convex program. Here the composed delta
itself is lowered, by its gradient (`composition`). The masses are p_j = exp(-psi_j - a -
b x_j^2): whatever psi, a and b meet the total mass and the variance, so that psi is free and L-BFGS
finds it, in terms of its rises from cell to cell. What is found is sorted to fall with |t|
(isotonic regression, `cells`), and certified elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import optimize

from dpnoise.calibration.histogram.composition import composition, minimum_epsilon, plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpnoise._types import Array
    from dpnoise.calibration.histogram.cells import Cells
    from dpnoise.calibration.histogram.composition import Lattice

_ITERATIONS, _EVALUATIONS, _MEMORY, _ROUNDS = 80, 120, 20, 6
_FAR = 3.0  # a round ends when log delta is so far below its target
_ENOUGH = 1e-5  # relative change of epsilon in a round with which the search ends
_STEP = 1e-4  # relative, of epsilon for a slope


class Target(NamedTuple):
    """How many releases there are, and log delta of all of them."""

    copies: int
    log_delta: float


class Descent(NamedTuple):
    """Masses found and their epsilon; by how much it changes with the variance."""

    psi: Array
    masses: Array
    epsilon: float
    by_variance: float


def _far_enough(log_delta: float) -> Callable[[optimize.OptimizeResult], None]:
    """A callback that ends a round once delta is so small that epsilon should be."""

    def stop(intermediate_result: optimize.OptimizeResult) -> None:
        if intermediate_result.fun < log_delta - _FAR:
            raise StopIteration

    return stop


def descend(cells: Cells, psi: Array, target: Target, variance: float, epsilon: float) -> Descent:
    """Masses of a given variance with the least epsilon near a start, whose own is about given.

    Each round lowers delta at the epsilon of the last one.
    """
    copies, log_delta = target
    x2 = cells.square / cells.weight
    rows = np.array([cells.weight, cells.square])

    def multipliers(p: Array, gradient: Array) -> Array:
        """The gradient by total mass and variance, which cannot change."""
        right = [gradient @ p, gradient @ (p * x2)]
        return np.linalg.solve(np.array([rows @ p, rows @ (p * x2)]), right)

    for _ in range(_ROUNDS):
        lattice = plan(cells, cells.masses(psi, variance), copies, epsilon)

        def objective(
            rises: Array, lattice: Lattice = lattice, epsilon: float = epsilon
        ) -> tuple[float, Array]:
            p = cells.masses(np.cumsum(rises), variance)
            found = composition(cells, p, copies, epsilon, lattice)
            free = found.gradient - multipliers(p, found.gradient) @ rows
            return found.log_delta, np.cumsum((-p * free)[::-1])[::-1]

        rises = optimize.minimize(  # type: ignore[call-overload]  # a callback that may end it
            objective,
            np.diff(psi, prepend=0.0),
            jac=True,
            method="L-BFGS-B",
            callback=_far_enough(log_delta),
            options={"maxiter": _ITERATIONS, "maxfun": _EVALUATIONS, "maxcor": _MEMORY},
        ).x
        psi = np.cumsum(rises)
        p, before = cells.masses(psi, variance), epsilon
        epsilon = minimum_epsilon(cells, p, copies, log_delta, epsilon)
        if abs(before - epsilon) < _ENOUGH * epsilon:
            break
    step = _STEP * epsilon
    lattice = plan(cells, p, copies, epsilon)
    lower, upper = (
        composition(cells, p, copies, epsilon + side * step, lattice) for side in (-1.0, 1.0)
    )
    slope = (upper.log_delta - lower.log_delta) / (2.0 * step)
    square = multipliers(p, 0.5 * (lower.gradient + upper.gradient))[1]
    return Descent(psi, p, epsilon, float(-square / slope))
