"""Densities of the slides: Huber's, beside the two it is made of, and those of one budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from dpnoise.calibration.calibrate import calibrate
from dpnoise.noise import Gaussian, Huber, Laplace, Noise, Staircase
from dpnoise_papers.flipped_huber_2023.tables.minimum_variances import delta_of
from dpnoise_papers.grids import describe, symmetric

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise_papers.flipped_huber_slides.settings import CalibratedDensities, HuberDensity

_JUST_OUTSIDE = 1.0 + 1e-9


def huber_density(settings: HuberDensity) -> pd.DataFrame:
    """Huber's density beside the two that it is made of (slides).

    Columns mechanism (huber; gaussian with sigma = 1; laplace with beta = 1/alpha), t, density,
    noise and transition (1 where abs(t) = alpha and the mechanism is huber).
    """
    alpha = settings.alpha
    t = symmetric(settings.half_width, settings.points, [0.0, alpha])
    noises = {"gaussian": Gaussian(1.0), "laplace": Laplace(1.0 / alpha), "huber": Huber(alpha)}
    table = pd.concat([_density(*item, t) for item in noises.items()], ignore_index=True)
    marked = (table["mechanism"] == "huber") & (table["t"].abs() == alpha)
    return table.assign(transition=marked.astype(int))


def calibrated_densities(settings: CalibratedDensities) -> pd.DataFrame:
    """Density of each mechanism's minimum-variance noise for a budget (slides).

    A family with no minimum variance is represented by the private noise that `calibrate`
    returns, close to its limit.

    Columns mechanism, t, density, noise and variance.
    """
    half_width = settings.half_width
    parts = []
    for name in settings.mechanisms:
        noise = calibrate(
            name,
            epsilon=settings.epsilon,
            delta=delta_of(name, settings.delta),
            sensitivity=settings.sensitivity,
            dimension=settings.dimension,
        ).noise
        t = symmetric(half_width, settings.points, [0.0, *_jumps(noise, half_width)])
        parts.append(_density(name, noise, t).assign(variance=noise.var()))
    return pd.concat(parts, ignore_index=True)


def _jumps(noise: Noise, half_width: float) -> list[float]:
    """Points on both sides of each jump of the density, so that it is drawn upright."""
    if isinstance(noise, Staircase):
        steps = range(int(half_width / noise.sensitivity) + 1)
        edges = [noise.sensitivity * (k + part) for k in steps for part in (noise.gamma, 1.0)]
    else:
        edges = [noise.bound]
    return [side for edge in edges for side in (edge / _JUST_OUTSIDE, edge * _JUST_OUTSIDE)]


def _density(name: str, noise: Noise, t: Array) -> pd.DataFrame:
    """Rows of one density."""
    return pd.DataFrame(
        {"mechanism": name, "t": t, "density": noise.pdf(t), "noise": describe(noise)}
    )
