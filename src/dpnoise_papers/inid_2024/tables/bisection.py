"""Algorithm 1 of inid-2024 over epsilon and delta: where it runs, how long and how well.

Muthukrishnan & Kalyani (2024), Appendix B: the root mu_0 by bisection, as printed and with the
bracket that is always valid, beside the exact calibration.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise._validation import Problems
from dpnoise.calibration.gaussian import gaussian_sigma
from dpnoise.privacy.gaussian import gaussian_log_delta
from dpnoise_papers.grids import geometric, require_grid
from dpnoise_papers.inid_2024.as_printed import (
    algorithm_1,
    printed_bracket,
    repaired_algorithm_1,
    valid_bracket,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

# 'Private' up to this difference in log delta, which rounding of the comparison explains.
_ROUNDING = 1e-9


def bisection(
    *, epsilons: Mapping[str, float], odds: Mapping[str, float], tolerance: float
) -> pd.DataFrame:
    """Return what Algorithm 1 gives for every pair of a grid.

    Parameters
    ----------
    epsilons : mapping
        {low, high, count}, a geometric grid.
    odds : mapping
        The same for delta / (1 - delta), so that the grid is fine at both ends of (0, 1).
    tolerance : float
        Where bisection stops: the length of the bracket, in units of mu for the printed
        algorithm (which names none) and relative to mu for the repaired one.

    Returns
    -------
    DataFrame
        Columns epsilon, delta, mu_0 (exact), printed_width and valid_width (of the brackets, as
        log2 of the ratio of their ends; NaN where there is none, infinite where the lower end
        is 0), outcome ('private', 'unsafe' or 'none' where there is no bracket, no end or mu = 0),
        iterations, relative_error (mu / mu_0 - 1; below 0 there is too much noise) and
        log10_ratio (of the delta that mu really has to the delta asked for), all of the printed
        algorithm, and repaired_iterations and repaired_error.

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("Algorithm 1 of inid-2024")
    require_grid(problems, "epsilons", epsilons)
    require_grid(problems, "odds", odds)
    problems.number("tolerance", tolerance, low=1e-14)
    problems.raise_if_any()
    ratio = geometric(odds)
    epsilon, delta = (x.ravel() for x in np.meshgrid(geometric(epsilons), ratio / (1.0 + ratio)))
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
