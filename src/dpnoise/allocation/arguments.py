"""The arguments of `allocate`, read and checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnoise.allocation.groups import tail_slope
from dpnoise.calibration.gaussian import MINIMUM_DELTA
from dpnoise.noise._arrays import floats
from dpnoise.noise.base import Noise
from dpnoise.noise.exponential_power import Gaussian, Laplace

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpnoise._types import Array
    from dpnoise._validation import Problems

MINIMUM, MAXIMUM = 1e-100, 1e100  # of positive sensitivities, weights and budgets
_MAXIMUM_EPSILON = 1e12
_NAMES = {"gaussian": Gaussian(1.0), "laplace": Laplace(1.0)}


def read_noise(problems: Problems, noise: Any, size: int | None) -> list[Noise]:  # noqa: ANN401
    """The noise of all coordinates, or of each; what is wrong with it is recorded."""
    expected = (
        "'gaussian', 'laplace', 'discrete-gaussian', 'discrete-laplace', log-concave noise or a"
        " sequence of it"
    )
    if isinstance(noise, str):
        problems.require(noise in _NAMES, "noise", expected, noise)
        return [_NAMES.get(noise, Gaussian(1.0))]
    many = isinstance(noise, Sequence) or (isinstance(noise, np.ndarray) and noise.ndim > 0)
    noises = list(noise) if many else [noise]
    bad = [one for one in noises if not (isinstance(one, Noise) and one.log_concave)]
    problems.require(not bad, "noise", expected, bad[:3] if many else noise)
    if many and size is not None:
        problems.require(len(noises) == size, "noise", f"length {size}", len(noises))
    return [] if bad else noises


def read_lambdas(problems: Problems, sensitivities: ArrayLike) -> Array:
    """The sensitivities if they are one vector of 0 or numbers of a usual size."""
    before = len(problems.found)
    lambdas = floats(problems, "sensitivities", sensitivities, low=0.0, high=MAXIMUM)
    shape = np.shape(lambdas)
    if len(problems.found) == before:
        vector = len(shape) == 1 and lambdas.size > 0
        problems.require(vector, "sensitivities", "shape (K,) with K >= 1", shape)
        small = lambdas[(lambdas > 0.0) & (lambdas < MINIMUM)]
        expected = f"0 or at least {MINIMUM:g}"
        problems.require(small.size == 0, "sensitivities", expected, small[:3].tolist())
    return lambdas if len(problems.found) == before else np.empty(0)


def read_weights(problems: Problems, weights: ArrayLike, shape: tuple[int, ...] | None) -> Array:
    """The weights; what is wrong with them is recorded."""
    before = len(problems.found)
    values = floats(problems, "weights", weights, low=MINIMUM, high=MAXIMUM)
    if len(problems.found) == before and shape is not None:
        problems.require(np.shape(values) == shape, "weights", f"shape {shape}", np.shape(values))
    return values


def check_budget(problems: Problems, noises: list[Noise], epsilon: float, delta: float) -> None:
    """Record what is wrong with the budget for this noise."""
    good = problems.number("epsilon", epsilon, low=0.0, high=_MAXIMUM_EPSILON)
    if not problems.number("delta", delta, low=0.0, high=1.0, open_high=True):
        return
    if delta > 0.0:
        expected = f"0 or at least {MINIMUM_DELTA:g}"
        problems.require(delta >= MINIMUM_DELTA, "delta", expected, delta)
        return
    unbounded = [noise for noise in noises if math.isinf(tail_slope(noise))]
    if unbounded:
        name = type(unbounded[0]).__name__
        expected = f"more than 0 for {name} noise, whose privacy loss is not bounded by its scale"
        problems.add(f"delta: expected {expected}, got {delta!r}")
    elif good and noises:
        problems.number("epsilon with delta = 0", epsilon, low=MINIMUM)
