"""Grids of settings as arrays, and noise in words."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise.noise import Noise
    from dpnoise_papers.settings import Grid


def parameters(noise: Noise) -> dict[str, float]:
    """Parameters of a noise by name."""
    return {field.name: getattr(noise, field.name) for field in fields(noise)}


def describe(noise: Noise) -> str:
    """Parameters of a noise as 'alpha=0.5, gamma=2'."""
    return ", ".join(f"{name}={value:.6g}" for name, value in parameters(noise).items())


def values(grid: Grid | tuple[float, ...]) -> Array:
    """Points of a grid, from the lowest up; listed points stay as they are."""
    if isinstance(grid, tuple):
        return np.array(grid)
    spaced = np.geomspace if grid.spacing == "log" else np.linspace
    return spaced(grid.low, grid.high, grid.count)


def symmetric(half_width: float, points: int, marks: list[float]) -> Array:
    """Grid of `points` from minus to plus `half_width`, with marks of both signs where they lie
    inside.
    """
    inside = [mark for mark in marks if mark <= half_width]
    grid = np.linspace(-half_width, half_width, points)
    return np.union1d(grid, [*inside, *np.negative(inside)])
