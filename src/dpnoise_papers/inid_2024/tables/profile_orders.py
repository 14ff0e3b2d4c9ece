"""Section V of inid-2024 in words: does dispersion order the gains, and do gains grow with K?

Muthukrishnan & Kalyani (2024) say that the reduction of the mean squared error improves with the
dispersion of the sensitivities, which they measure by the Gini coefficient (Figure 2), and with
the number K of coordinates. The gain of optimal over i.i.d. noise does not depend on the budget.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise_papers.inid_2024.tables.profiles import (
    case,
    decibels,
    gini,
    mean_squared_error,
    profile,
)

if TYPE_CHECKING:
    from dpnoise_papers.inid_2024.settings import Dispersion

_NORMS = {"gaussian": 2, "laplace": 1}  # which norm of the profile is 1
_BUDGET = 0.5, 1e-6  # epsilon and delta, of which the gains are free
_SAME = 1e-9  # Gini coefficients closer than this are equal


def _errors(noise: str, name: str, dimension: int) -> tuple[float, float]:
    """Mean squared errors of i.i.d. and of optimal noise."""
    sensitivities = profile(name, dimension, _NORMS[noise])
    iid, optimal = (
        mean_squared_error(sensitivities, noise, scheme, *_BUDGET) for scheme in ("iid", "optimal")
    )
    return iid, optimal


def dispersion_orders(settings: Dispersion) -> pd.DataFrame:
    """Gain of each profile over one that is less dispersed, by the Gini coefficient.

    Columns noise, dimension, more and less (two profiles, the first of the larger Gini
    coefficient; pairs with equal ones are left out), gini_difference and gain_difference_db (how
    many decibels more the first gains over i.i.d. noise).
    """
    rows = []
    for dimension in settings.dimensions:
        spread = {name: gini(profile(name, dimension)) for name in settings.profiles}
        for noise in _NORMS:
            gains = {
                name: decibels(np.divide(*_errors(noise, name, dimension)))
                for name in settings.profiles
            }
            rows += [
                (noise, dimension, more, less, spread[more] - spread[less],
                 float(gains[more] - gains[less]))
                for more, less in permutations(settings.profiles, 2)
                if spread[more] > spread[less] + _SAME
            ]  # fmt: skip
    columns = ["noise", "dimension", "more", "less", "gini_difference", "gain_difference_db"]
    return pd.DataFrame(rows, columns=columns)


def profile_steps(settings: Dispersion) -> pd.DataFrame:
    """Gain of optimal over i.i.d. noise, and what one more coordinate adds to it.

    Columns noise, profile, case, dimension, gain_db, step_db (gain_db less that at the next smaller
    dimension of the settings, the smallest of which has no row) and iid_departure (how far the
    error of i.i.d. noise is from K times that of one coordinate of the same norm, relative).
    """
    rows = []
    for noise, norm in _NORMS.items():
        one = mean_squared_error(profile("uniform", 1, norm), noise, "iid", *_BUDGET)
        for name in settings.profiles:
            last = np.nan
            for dimension in sorted(settings.dimensions):
                iid, optimal = _errors(noise, name, dimension)
                gain = float(decibels(iid / optimal))
                departure = abs(iid / (dimension * one) - 1.0)
                if not np.isnan(last):
                    rows.append((noise, name, case(name), dimension, gain, gain - last, departure))
                last = gain
    columns = ["noise", "profile", "case", "dimension", "gain_db", "step_db", "iid_departure"]
    return pd.DataFrame(rows, columns=columns)
