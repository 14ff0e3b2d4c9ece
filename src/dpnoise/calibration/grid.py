"""Calibration by a search on a grid of parameters.

Muthukrishnan & Kalyani, "Grafting Laplace and Gaussian distributions" (IEEE TIFS 2023),
Sections V-A and V-B and Algorithm 2: of all (alpha, gamma), or (theta, rho) for OSGT noise, on
a grid, the private pair of least variance. The paper prints the box and not the step; here
the grid is equidistant.

At fixed alpha (theta) a larger gamma (rho) is more private and has more variance, so that the
grid is searched by lines. (The density at each quantile of the noise falls with gamma: the
noise grows in the dispersive order, and a shift of more dispersed noise is a post-processing
of the same shift of less dispersed noise, in each coordinate. Section 10 of
docs/vector-privacy.md has the proof.)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpnoise.calibration.budget import Calibration
from dpnoise.calibration.certify import certified, certified_delta
from dpnoise.calibration.delta_bounds import half_line_log_delta
from dpnoise.calibration.scalar_profiles import (
    flipped_huber_log_delta,
    offset_gaussian_log_delta,
    offset_gaussian_variance,
)
from dpnoise.noise import FlippedHuber, OffsetSymmetricGaussian, flipped_huber_variance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dpnoise._types import Array
    from dpnoise.calibration.budget import Budget
    from dpnoise.noise import Noise

BOX = (0.02, 150.0), (0.02, 50.0)
RESOLUTION = 1500, 500
# What takes seconds, for one coordinate and for several: lines are evaluated together for one
# coordinate, else one by one.
MAXIMUM_LINES, MAXIMUM_SCALES = (200_000, 3000), (1_000_000, 3000)
_ROUNDING = 1e-9

_LOG_DELTA = {
    FlippedHuber: flipped_huber_log_delta,
    OffsetSymmetricGaussian: offset_gaussian_log_delta,
}
_VARIANCE: dict[type[Noise], Callable[[Array, Array], Array]] = {
    FlippedHuber: flipped_huber_variance,
    OffsetSymmetricGaussian: lambda theta, rho: rho**2 * offset_gaussian_variance(theta / rho),
}


def first_private_index(private: Callable[[Array], Array], lines: int, length: int) -> Array:
    """Return the first private place on each line, `length` if there is none.

    Parameters
    ----------
    private : callable
        Places, shape (lines,), -> whether they are private; once private, always private.
    lines, length : int
        The number of lines and of places on each.
    """
    low, high = np.full(lines, -1), np.full(lines, length)
    while np.any(high - low > 1):
        middle = (low + high) // 2
        good = private(np.clip(middle, 0, length - 1))
        low = np.where(good | (high - low <= 1), low, middle)
        high = np.where(good & (high - low > 1), middle, high)
    return high


def _coarse_to_fine(count: int) -> Iterator[int]:
    """Yield 0 to count - 1, spread over the range from the start."""
    step = 1 << max(count - 1, 1).bit_length()
    yield 0
    while step > 1:
        yield from range(step // 2, count, step)
        step //= 2


def _scalar(kind: type[Noise], budget: Budget, shapes: Array, scales: Array) -> tuple[Array, Array]:
    """Return the least private (shape, scale) of each line, best first, for one coordinate."""
    unit, target = budget.sensitivity, math.log(budget.delta)

    def private(places: Array) -> Array:
        scale = scales[places]
        return _LOG_DELTA[kind](shapes / scale, unit / scale, budget.epsilon)[0] <= target

    places = first_private_index(private, len(shapes), len(scales))
    found = places < len(scales)
    shapes, scales = shapes[found], scales[places[found]]
    order = np.argsort(_VARIANCE[kind](shapes, scales))
    return shapes[order], scales[order]


def _vector(kind: type[Noise], budget: Budget, shapes: Array, scales: Array) -> tuple[Array, Array]:
    """Return the least private (shape, scale) of the grid, for several coordinates.

    A line is left after one look at the largest scale that would be an improvement.
    """
    best, least = None, math.inf
    variances = _VARIANCE[kind](shapes[:, None], scales)
    for k in _coarse_to_fine(len(shapes)):
        high = int(np.searchsorted(variances[k], least)) - 1
        if high < 0 or not _private(kind, budget, shapes[k], scales[high]):
            continue
        low = -1
        while high - low > 1:
            middle = (low + high) // 2
            if _private(kind, budget, shapes[k], scales[middle]):
                high = middle
            else:
                low = middle
        best, least = (shapes[k], scales[high]), variances[k, high]
    return tuple(np.array([value]) for value in best) if best else (np.empty(0), np.empty(0))


def _private(kind: type[Noise], budget: Budget, shape: float, scale: float) -> bool:
    noise, unit = kind(float(shape), float(scale)), budget.sensitivity
    least = half_line_log_delta(noise, unit, budget.epsilon, budget.dimension)
    if least > math.log(budget.delta) + _ROUNDING:  # needs no more accurate account
        return False
    return certified_delta(noise, budget) <= budget.delta


def grid_optimum(
    kind: type[Noise],
    budget: Budget,
    box: tuple[tuple[float, float], tuple[float, float]] = BOX,
    resolution: tuple[int, int] = RESOLUTION,
) -> Calibration:
    """Return the private noise of least variance on a grid.

    Parameters
    ----------
    kind : type
        FlippedHuber or OffsetSymmetricGaussian.
    budget : Budget
        With positive delta.
    box : ((float, float), (float, float))
        The ranges of alpha or theta and of gamma or rho.
    resolution : (int, int)
        How many equidistant values of each.

    Raises
    ------
    ValueError
        If no point of the grid is certified to be private.
    """
    shapes, scales = (np.linspace(*ends, n) for ends, n in zip(box, resolution, strict=True))
    search = _scalar if budget.dimension == 1 else _vector
    for shape, scale in zip(*search(kind, budget, shapes, scales), strict=True):
        noise = kind(float(shape), float(scale))
        delta, account = certified(noise, budget)
        if delta <= budget.delta:
            variance = noise.var()
            return Calibration(noise, delta, variance, "grid", True, variance, (account,))
    message = f"calibration on a grid: no noise in the box {box!r} is certified for {budget!r}"
    raise ValueError(message)
