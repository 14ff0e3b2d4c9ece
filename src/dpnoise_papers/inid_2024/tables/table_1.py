"""Table I of inid-2024: its formulas beside the noise that is calibrated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise_papers.inid_2024.tables.profiles import SCHEMES, mean_squared_error, profile

if TYPE_CHECKING:
    from dpnoise._types import Array
    from dpnoise_papers.inid_2024.settings import Formulas


def formula(noise: str, scheme: str, sensitivities: Array, unit: float) -> float:
    """Mean squared error by Table I, Delta_p = ||lambda||_p, for a unit of 1/mu_0 or 1/epsilon."""
    count, l1, l2 = len(sensitivities), sensitivities.sum(), np.linalg.norm(sensitivities)
    thirds = np.sum(np.cbrt(sensitivities) ** 2)
    errors = {
        ("gaussian", "iid"): count * l2**2,
        ("gaussian", "spr"): count * l2**2,
        ("gaussian", "optimal"): l1**2,
        ("laplace", "iid"): 2 * count * l1**2,
        ("laplace", "spr"): 2 * count**2 * l2**2,
        ("laplace", "optimal"): 2 * thirds**3,
    }
    return float(errors[noise, scheme] * unit**2)


def table_1(settings: Formulas) -> pd.DataFrame:
    """Mean squared errors of Table I by its formulas and by calibration.

    Columns profile, noise, scheme, formula and calibrated (mean squared errors), and excess
    (calibrated over formula, less 1).
    """
    epsilon, delta = settings.epsilon, settings.delta
    units = {"gaussian": float(gaussian_sigma(epsilon, delta)), "laplace": 1.0 / epsilon}
    rows = []
    for name in settings.profiles:
        sensitivities = profile(name, settings.dimension)
        for noise, unit in units.items():
            for scheme in SCHEMES:
                printed = formula(noise, scheme, sensitivities, unit)
                ours = mean_squared_error(sensitivities, noise, scheme, epsilon, delta)
                rows.append([name, noise, scheme, printed, ours, ours / printed - 1.0])
    columns = ["profile", "noise", "scheme", "formula", "calibrated", "excess"]
    return pd.DataFrame(rows, columns=columns)
