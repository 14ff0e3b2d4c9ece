"""Table I of inid-2024: its formulas beside the noise that is calibrated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise._validation import Problems
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise_papers.grids import require_count
from dpnoise_papers.inid_2024.tables.profiles import PROFILES, SCHEMES, mean_squared_error, profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array


def formula(noise: str, scheme: str, sensitivities: Array, unit: float) -> float:
    """Return the mean squared error by Table I, with Delta_p = ||lambda||_p.

    Parameters
    ----------
    noise : {"gaussian", "laplace"}
    scheme : {"iid", "spr", "optimal"}
    sensitivities : array, shape (K,)
    unit : float
        1 / mu_0 or 1 / epsilon.
    """
    count, l1, l2 = len(sensitivities), sensitivities.sum(), np.linalg.norm(sensitivities)
    thirds = np.sum(np.cbrt(sensitivities) ** 2)
    errors = {
        ("gaussian", "iid"): count * l2**2,
        ("gaussian", "spr"): count * l2**2,
        ("gaussian", "optimal"): l1**2,
        ("laplace", "iid"): 2.0 * count * l1**2,
        ("laplace", "spr"): 2.0 * count**2 * l2**2,
        ("laplace", "optimal"): 2.0 * thirds**3,
    }
    return float(unit**2 * errors[noise, scheme])


def table_1(
    *, profiles: Sequence[str], dimension: int, epsilon: float, delta: float
) -> pd.DataFrame:
    """Return the mean squared errors of Table I by its formulas and by calibration.

    Parameters
    ----------
    profiles : sequence of str
        Names of `dpnoise_papers.inid_2024.tables.profiles.PROFILES`.
    dimension : int
        K.
    epsilon, delta : float
        The budget; Laplace noise has delta = 0.

    Returns
    -------
    DataFrame
        Columns profile, noise, scheme, formula and calibrated (mean squared errors), and excess
        (calibrated over formula, less 1).

    Raises
    ------
    ValueError
        Naming every setting that is out of range.
    """
    problems = Problems("Table I of inid-2024")
    known = len(profiles) > 0 and set(profiles) <= set(PROFILES)
    problems.require(known, "profiles", f"some of {', '.join(PROFILES)}", list(profiles))
    require_count(problems, "dimension", dimension, 1)
    problems.number("epsilon", epsilon, low=0.0, open_low=True, high=1e3)
    problems.number("delta", delta, low=1e-300, high=1.0, open_high=True)
    problems.raise_if_any()
    units = {"gaussian": float(gaussian_sigma(epsilon, delta)), "laplace": 1.0 / epsilon}
    rows = []
    for name in profiles:
        sensitivities = profile(name, dimension)
        for noise, unit in units.items():
            for scheme in SCHEMES:
                printed = formula(noise, scheme, sensitivities, unit)
                budget = {"epsilon": epsilon, "delta": delta if noise == "gaussian" else 0.0}
                ours = mean_squared_error(sensitivities, noise=noise, scheme=scheme, **budget)
                rows.append([name, noise, scheme, printed, ours, ours / printed - 1.0])
    columns = ["profile", "noise", "scheme", "formula", "calibrated", "excess"]
    return pd.DataFrame(rows, columns=columns)
