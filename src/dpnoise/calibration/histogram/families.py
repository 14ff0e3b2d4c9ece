"""Noise of the other families as a histogram, which a search must not be worse than.

A cell holds the mass that a family's density has there. Which cell a noise value falls into is a
post-processing of it, and a shift by the sensitivity moves cells to cells, so that the histogram is
at least as private as the noise. In its place a value is anywhere in its cell: the variance grows
by about a sixth of the square of a cell, 1e-5 of it.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize

from dpnoise.calibration.calibrate import calibrate
from dpnoise.calibration.histogram.grids import Found
from dpnoise.noise.stepwise import Histogram, Staircase
from dpnoise.privacy.vector import vector_profile

if TYPE_CHECKING:
    from dpnoise.noise.base import Noise

FAMILIES = (
    "gaussian",
    "laplace",
    "flipped-huber",
    "offset-symmetric-gaussian",
    "huber",
    "truncated-laplace",
    "staircase",
)
_CELLS, _MOST_CELLS = 128.0, 4096  # to the standard deviation, to the unit
_REACH = 20.0  # standard deviations up to which cells are listed
_LIGHTEST = 1e-280  # mass of a listed cell
_LESS = 0.0, 1e-6, 1e-5, 1e-4  # relative, by which noise is enlarged until it is certified
_MARGIN = 1e-4  # of the variance, for cells and enlargement
_HALVINGS = 20


def as_histogram(noise: Noise) -> Histogram:
    """The masses of symmetric unimodal noise in cells of 1/n, for sensitivity 1."""
    std = noise.std()
    n = min(math.ceil(_CELLS / std), _MOST_CELLS)
    reach = noise.bound if noise.bound < math.inf else _REACH * std
    ends = (np.arange(max(math.ceil(reach * n), n) + n + 1) - 0.5) / n
    tails = noise.sf(ends)
    masses = np.minimum.accumulate(np.maximum(tails[:-1] - tails[1:], 0.0))
    if noise.bound < math.inf:
        return Histogram(1.0, n, tuple(np.where(masses < _LIGHTEST, 0.0, masses).tolist()), 0.0)
    masses = masses[masses >= _LIGHTEST]
    fall = min(float(masses[-1] / masses[-1 - n]), float(masses[-1] / masses[-n]))
    return Histogram(1.0, n, tuple(masses.tolist()), math.nextafter(fall, 0.0))


def _enlarged(noise: Noise, step: float) -> Noise:
    """More private noise; steps of a staircase keep their width, as its loss is their height."""
    if isinstance(noise, Staircase):
        return replace(noise, epsilon=noise.epsilon * (1.0 - step))
    return noise.scaled(1.0 + step)


def _certified(noise: Noise, epsilon: float, copies: int, delta: float) -> Found | None:
    """A family's noise as a histogram, enlarged until it is certified; None if it is not."""
    for step in _LESS:
        with suppress(ValueError):
            found = as_histogram(_enlarged(noise, step))
            upper = float(vector_profile(found, 1.0, epsilon, copies=copies).upper)
            if upper <= delta:
                return Found(found, epsilon, upper)
    return None


def _smallest(
    names: tuple[str, ...], epsilon: float, copies: int, delta: float
) -> tuple[Noise, str]:
    """Noise of minimum variance among families, and which; RuntimeError if there is none."""
    found = []
    for name in names:
        with suppress(RuntimeError, ValueError):
            one = calibrate(name, epsilon=epsilon, delta=delta, dimension=copies)
            found.append((one.variance, name, one.noise))
    if not found:
        raise RuntimeError("histogram calibration: no family keeps the budget")
    _, name, noise = min(found, key=lambda one: one[:2])
    return noise, name


def rival_by_epsilon(epsilon: float, copies: int, delta: float) -> Found | None:
    """The family of minimum variance for an epsilon, as a histogram."""
    return _certified(_smallest(FAMILIES, epsilon, copies, delta)[0], epsilon, copies, delta)


def rival_by_std(std: float, epsilon: float, copies: int, delta: float) -> Found | None:
    """A family's noise of a standard deviation with an epsilon below a given one, if there is any.

    Of the family of minimum variance at the given epsilon.
    """
    bar = std * std * (1.0 - _MARGIN)
    noise, name = _smallest(FAMILIES, epsilon, copies, delta)
    if noise.var() >= bar:
        return None

    def excess(log_epsilon: float) -> float:
        other, _ = _smallest((name,), math.exp(log_epsilon), copies, delta)
        return math.log(other.var() / bar)

    high = low = math.log(epsilon)
    for _ in range(_HALVINGS):
        low -= math.log(2.0)
        if excess(low) > 0.0:
            break
    else:
        return None
    below = math.exp(float(optimize.brentq(excess, low, high, xtol=1e-6)))
    found = _certified(_smallest((name,), below, copies, delta)[0], below, copies, delta)
    return found if found is not None and found.noise.var() <= std * std else None
