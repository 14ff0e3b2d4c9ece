"""Best (alpha, gamma) of flipped Huber noise at some epsilons, by the paper's grid and exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from dpnoise.calibration.calibrate import calibrate
from dpnoise_papers.grids import parameters

if TYPE_CHECKING:
    from dpnoise_papers.flipped_huber_slides.settings import IllustrativeValues


def illustrative_values(settings: IllustrativeValues) -> pd.DataFrame:
    """Best (alpha, gamma) at some epsilons (slides, 'illustrative values').

    Columns epsilon, alpha, gamma, variance_grid (the paper's grid search), alpha_exact,
    gamma_exact, variance_exact (the optimum, proved to 0.1 %: docs/variance-bound.md) and
    delta_bound (the latter's).
    """
    delta, sensitivity = settings.delta, settings.sensitivity
    rows = []
    for epsilon in settings.epsilons:
        grid = calibrate(
            "flipped-huber",
            epsilon=epsilon,
            delta=delta,
            sensitivity=sensitivity,
            method="grid",
            box=settings.box,
            resolution=settings.resolution,
        )
        exact = calibrate("flipped-huber", epsilon=epsilon, delta=delta, sensitivity=sensitivity)
        row = {"epsilon": epsilon, **parameters(grid.noise), "variance_grid": grid.variance}
        row |= {f"{name}_exact": value for name, value in parameters(exact.noise).items()}
        rows.append(row | {"variance_exact": exact.variance, "delta_bound": exact.delta})
    return pd.DataFrame(rows)
