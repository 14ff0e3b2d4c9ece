"""Algorithm 1 of inid-2024 over epsilon and delta: where it runs, how long and how well.

Muthukrishnan & Kalyani (2024), Appendix B: the root mu_0 by bisection, as printed and with the
bracket that is always valid, beside the exact calibration.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise_papers.grids import values
from dpnoise_papers.inid_2024.as_printed import (
    algorithm_1,
    printed_bracket,
    repaired_algorithm_1,
    valid_bracket,
)

if TYPE_CHECKING:
    from dpnoise_papers.inid_2024.settings import Bisection

# 'Private' up to this difference in log delta, which rounding of the comparison explains.
_ROUNDING = 1e-9


def bisection(settings: Bisection) -> pd.DataFrame:
    """Results of Algorithm 1 for every pair of epsilon and delta on a grid.

    Columns epsilon, delta, mu_0 (exact), printed_width and valid_width (of the brackets, as log2 of
    the ratio of their ends; NaN where there is none, infinite where the lower end is 0), outcome
    ('private', 'unsafe' or 'none' where there is no bracket, no end or mu = 0), iterations,
    relative_error (mu / mu_0 - 1; below 0 there is too much noise) and log10_ratio (of the delta
    that mu really has to the delta asked for), all of the printed algorithm, and
    repaired_iterations and repaired_error.
    """
    tolerance = settings.tolerance
    ratio = values(settings.odds)
    pairs = np.meshgrid(values(settings.epsilons), ratio / (1.0 + ratio))
    epsilon, delta = (x.ravel() for x in pairs)
    exact = 1.0 / gaussian_sigma(epsilon, delta)
    low, high = printed_bracket(epsilon, delta)
    below, above = valid_bracket(epsilon, delta)
    mu, iterations = algorithm_1(epsilon, delta, tolerance=tolerance)
    repaired, halvings = repaired_algorithm_1(epsilon, delta, tolerance=tolerance)
    ran = np.isfinite(mu)
    excess = np.full(epsilon.shape, np.nan)
    excess[ran] = gaussian_log_delta(mu[ran], epsilon[ran]) - np.log(delta[ran])
    with np.errstate(divide="ignore"):  # a lower end that cancels to 0
        width = np.log2(high) - np.log2(low)
    outcome = np.where(excess > _ROUNDING, "unsafe", "private")
    return pd.DataFrame(
        {
            "epsilon": epsilon,
            "delta": delta,
            "mu_0": exact,
            "printed_width": width,
            "valid_width": np.log2(above) - np.log2(below),
            "outcome": np.where(ran, outcome, "none"),
            "iterations": iterations,
            "relative_error": mu / exact - 1.0,
            "log10_ratio": excess / math.log(10.0),
            "repaired_iterations": halvings,
            "repaired_error": repaired / exact - 1.0,
        }
    ).sort_values(["delta", "epsilon"], ignore_index=True)
