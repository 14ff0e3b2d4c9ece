"""Calibration by a search on a grid of parameters.

Muthukrishnan & Kalyani, "Grafting Laplace and Gaussian distributions" (IEEE TIFS 2023),
Sections V-A and V-B and Algorithm 2: of all (alpha, gamma), or (theta, rho) for OSGT noise, on
a grid, the private pair of minimum variance. The paper prints the box and not the step; here
the grid is equidistant.

At fixed alpha (theta) a larger gamma (rho) is more private and has more variance, so that the
grid is searched by lines. (The density at each quantile of the noise falls with gamma: the
noise grows in the dispersive order, and a shift of more dispersed noise is a post-processing
of the same shift of less dispersed noise, in each coordinate. Section 10 of
docs/vector-privacy.md has the proof.)
"""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpnoise._validation import is_integer
from dpnoise.calibration.budget import Calibration
from dpnoise.calibration.certify import certified, delta_to_compare
from dpnoise.calibration.scalar_profiles import (
    flipped_huber_log_delta,
    offset_gaussian_log_delta,
    offset_gaussian_variance,
)
from dpnoise.noise.grafted import FlippedHuber, OffsetSymmetricGaussian, flipped_huber_variance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise._validation import Problems
    from dpnoise.calibration.budget import Budget
    from dpnoise.noise.base import Noise

    Indices = NDArray[np.intp]
    Box = tuple[tuple[float, float], tuple[float, float]]

BOX = (0.02, 150.0), (0.02, 50.0)
RESOLUTION = 1500, 500
# What takes seconds, for one coordinate and for several: lines are evaluated together for one
# coordinate, else one by one.
MAXIMUM_LINES, MAXIMUM_SCALES = (200_000, 3000), (1_000_000, 3000)
_MINIMUM_LENGTH, _MAXIMUM_LENGTH = 1e-100, 1e100  # of alpha, gamma, theta and rho


class _GridFamily(NamedTuple):
    """A family by shape (alpha, theta) and scale (gamma, rho)."""

    make: Callable[[float, float], Noise]
    log_delta: Callable[[Array, Array, float], tuple[Array, Array]]  # as in `scalar_profiles`
    variance: Callable[[Array, Array], Array]


_FAMILIES: dict[type[Noise], _GridFamily] = {
    FlippedHuber: _GridFamily(FlippedHuber, flipped_huber_log_delta, flipped_huber_variance),
    OffsetSymmetricGaussian: _GridFamily(
        OffsetSymmetricGaussian,
        offset_gaussian_log_delta,
        lambda theta, rho: rho**2 * offset_gaussian_variance(theta / rho),
    ),
}


def check_grid(
    problems: Problems,
    method: str,
    box: Box | None,
    resolution: tuple[int, int] | None,
    *,
    many: bool,
) -> None:
    """Record what is wrong with the arguments of a grid; other methods take none."""
    if method != "grid":
        expected = "None unless the method is 'grid'"
        problems.require(box is None, "box", expected, box)
        problems.require(resolution is None, "resolution", expected, resolution)
        return
    try:
        (a, b), (c, d) = box if box is not None else BOX
        lengths: tuple[Any, ...] = (a, b, c, d)
        ends = all(isinstance(x, Real) and float(x) <= _MAXIMUM_LENGTH for x in lengths)
        good = ends and 0.0 <= a < b and _MINIMUM_LENGTH <= c < d
    except (TypeError, ValueError):
        good = False
    span = f"{_MINIMUM_LENGTH:g} to {_MAXIMUM_LENGTH:g}"
    expected = f"((low, high), (low, high)), numbers that rise, from 0 and from {span}"
    problems.require(good, "box", expected, box)
    most = MAXIMUM_LINES[many], MAXIMUM_SCALES[many]
    try:
        counts = list(resolution if resolution is not None else RESOLUTION)
        good = len(counts) == 2 and all(
            is_integer(n) and 2 <= int(n) <= top for n, top in zip(counts, most, strict=True)
        )
    except TypeError:
        good = False
    coordinates = "several coordinates" if many else "one coordinate"
    expected = f"two whole numbers of at least 2, at most {most!r} for {coordinates}"
    problems.require(good, "resolution", expected, resolution)


def first_private_index(
    private: Callable[[Indices], NDArray[np.bool_]], lines: int, length: int
) -> Indices:
    """Index of the first private scale on each line, `length` if there is none, shape (lines,).

    `private` tells it of one index for each line; once private, always private.
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


def _scalar_search(
    family: _GridFamily, budget: Budget, shapes: Array, scales: Array
) -> tuple[Array, Array]:
    """The smallest private (shape, scale) of each line, best first, for K = 1."""
    unit, target = budget.sensitivity, math.log(budget.delta)

    def private(indices: Indices) -> NDArray[np.bool_]:
        scale = scales[indices]
        return family.log_delta(shapes / scale, unit / scale, budget.epsilon)[0] <= target

    first = first_private_index(private, len(shapes), len(scales))
    found = first < len(scales)
    shapes, scales = shapes[found], scales[first[found]]
    order = np.argsort(family.variance(shapes, scales))
    return shapes[order], scales[order]


def _vector_search(
    family: _GridFamily, budget: Budget, shapes: Array, scales: Array
) -> tuple[Array, Array]:
    """The private (shape, scale) of minimum variance, for several coordinates.

    A line is left after one look at the largest scale that would be an improvement.
    """
    best, minimum = (np.empty(0), np.empty(0)), math.inf
    variances = family.variance(shapes[:, None], scales)
    for k in _coarse_to_fine(len(shapes)):
        high = int(np.searchsorted(variances[k], minimum)) - 1
        if high < 0 or not _private(family, budget, shapes[k], scales[high]):
            continue
        low = -1
        while high - low > 1:
            middle = (low + high) // 2
            if _private(family, budget, shapes[k], scales[middle]):
                high = middle
            else:
                low = middle
        best, minimum = (shapes[[k]], scales[[high]]), variances[k, high]
    return best


def _private(family: _GridFamily, budget: Budget, shape: float, scale: float) -> bool:
    """Whether noise is certified to keep the budget."""
    return delta_to_compare(family.make(float(shape), float(scale)), budget) <= budget.delta


def grid_optimum(
    kind: type[Noise], budget: Budget, box: Box, resolution: tuple[int, int]
) -> Calibration:
    """Private noise of minimum variance on a grid of shape and scale, for a positive delta.

    ValueError if no point of the grid is certified to be private.
    """
    shapes, scales = (np.linspace(*ends, n) for ends, n in zip(box, resolution, strict=True))
    family = _FAMILIES[kind]
    search = _scalar_search if budget.dimension == 1 else _vector_search
    for shape, scale in zip(*search(family, budget, shapes, scales), strict=True):
        noise = family.make(float(shape), float(scale))
        delta, account = certified(noise, budget)
        if delta <= budget.delta:
            variance = noise.var()
            return Calibration(noise, delta, variance, "grid", True, variance, (account,))
    message = f"calibration on a grid: no noise in the box {box!r} is certified for {budget!r}"
    raise ValueError(message)
