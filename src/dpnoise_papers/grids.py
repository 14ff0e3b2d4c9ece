"""Checks, grids and wording that the one-dimensional experiments share."""

from __future__ import annotations

import math
from dataclasses import fields
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from dpnoise._types import Array
    from dpnoise._validation import Problems
    from dpnoise.noise import Noise
    from dpnoise_papers.settings import Grid


def parameters(noise: Noise) -> dict[str, float]:
    """Parameters of a noise by name.

    Parameters
    ----------
    noise : Noise

    Returns
    -------
    dict
    """
    names = fields(noise)  # type: ignore[arg-type]  # every family is a dataclass
    return {field.name: getattr(noise, field.name) for field in names}


def describe(noise: Noise) -> str:
    """Parameters of a noise as 'alpha=0.5, gamma=2'.

    Parameters
    ----------
    noise : Noise

    Returns
    -------
    str
    """
    return ", ".join(f"{name}={value:.6g}" for name, value in parameters(noise).items())


def require_count(problems: Problems, name: str, value: object, least: int) -> None:
    """Record a problem unless `value` is a whole number of at least `least`."""
    ok = isinstance(value, int) and not isinstance(value, bool) and value >= least
    problems.require(ok, name, f"a whole number of at least {least}", value)


def require_grid(
    problems: Problems,
    name: str,
    spec: Mapping[str, float],
    *,
    high: float = math.inf,
    positive: bool = True,
) -> None:
    """Record what is wrong with a grid {low, high, count} in (0, high), or [0, high)."""
    if not problems.require(
        set(spec) == {"low", "high", "count"}, name, "{low, high, count}", dict(spec)
    ):
        return
    ok = problems.number(f"{name}: low", spec["low"], low=0.0, open_low=positive)
    floor = spec["low"] if ok and isinstance(spec["low"], Real) else 0.0
    problems.number(
        f"{name}: high", spec["high"], low=floor, open_low=True, high=high, open_high=True
    )
    require_count(problems, f"{name}: count", spec["count"], 2)


def values(grid: Grid | tuple[float, ...]) -> Array:
    """Points of a grid, from the lowest up.

    Parameters
    ----------
    grid : Grid or tuple of float
        Listed points stay as they are.

    Returns
    -------
    float64 array, shape (grid.count,)
    """
    if isinstance(grid, tuple):
        return np.array(grid)
    spaced = np.geomspace if grid.spacing == "log" else np.linspace
    return spaced(grid.low, grid.high, grid.count)


def geometric(spec: Mapping[str, float]) -> NDArray[np.float64]:
    """Return the log-spaced grid {low, high, count}."""
    return np.geomspace(spec["low"], spec["high"], spec["count"])


def symmetric(half_width: float, points: int, marks: list[float]) -> Array:
    """Grid from minus to plus `half_width`, with marks of both signs where they lie inside.

    Parameters
    ----------
    half_width : float
    points : int
        Of the even grid.
    marks : list of float

    Returns
    -------
    float64 array
        Sorted, without repeats.
    """
    inside = [mark for mark in marks if mark <= half_width]
    grid = np.linspace(-half_width, half_width, points)
    return np.union1d(grid, [*inside, *np.negative(inside)])
