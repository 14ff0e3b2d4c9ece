"""Noise of Table IV of inid-2024 by two accountants: which one calibrates, and what the other says.

Muthukrishnan & Kalyani (2024), Section VI-C, account by Renyi divergences. Privacy loss
distributions are sharper: the same noise has a lower epsilon, and less noise will do.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from dpnoise_papers.inid_2024.deep.accounting import (
    minimum_multiplier,
    noise_unit,
    pld_epsilon,
    rdp_epsilon,
)
from dpnoise_papers.inid_2024.deep.laplace import replace_one_epsilon

if TYPE_CHECKING:
    from dpnoise_papers.inid_2024.learning_settings import DeepLearning

COLUMNS = (
    "noise", "delta", "epsilon", "accountant", "steps", "rate", "multiplier",
    "epsilon_rdp", "epsilon_pld", "epsilon_pure", "epsilon_replace_one",
)  # fmt: skip
_RTOL = 1e-5  # of the multiplier by privacy loss distributions


def table_4_accounting(settings: DeepLearning) -> pd.DataFrame:
    """Noise multiplier of each budget by each accountant, and the epsilon of each at it.

    Columns `COLUMNS`: `accountant` ("rdp", "pld", "pure") is the one that calibrates;
    `epsilon_rdp` and `epsilon_pld` are upper bounds for a record added or removed (NaN where delta
    is 0), `epsilon_pure` is exact (NaN where delta is not), and `epsilon_replace_one` is for a
    record replaced by another, by privacy loss distributions or, with delta = 0, exactly.
    """
    steps, rate = settings.steps, settings.rate
    table = []
    for budget in settings.budgets:
        noise, delta, epsilon = budget.noise, budget.delta, budget.epsilon
        unit = noise_unit(noise, epsilon, delta, steps, rate)
        if noise == "laplace":
            more = replace_one_epsilon(1.0 / unit, steps, rate)
            row = [steps, rate, unit, math.nan, math.nan, epsilon, more]
            table.append([noise, delta, epsilon, "pure", *row])
            continue

        def sharper(multiplier: float, delta: float = delta) -> float:
            return pld_epsilon(multiplier, delta, steps, rate)

        units = {"rdp": unit, "pld": minimum_multiplier(sharper, epsilon, _RTOL, guess=unit)}
        for name, multiplier in units.items():
            bounds = rdp_epsilon(multiplier, delta, steps, rate), sharper(multiplier)
            more = pld_epsilon(multiplier, delta, steps, rate, replace_one=True)
            row = [steps, rate, multiplier, *bounds, math.nan, more]
            table.append([noise, delta, epsilon, name, *row])
    return pd.DataFrame(table, columns=list(COLUMNS))
