"""DP-CD curves of the slides: the best error of each mechanism against the number of passes.

The slides show private coordinate descent at epsilon = 1, delta = 1/N^2. The sweeps of
Table III hold every (passes, step, clip); the curve is the smallest mean error over steps and
clips at each number of passes, with the standard error of that configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping

COLUMNS = ["dataset", "mechanism", "passes", "nmse", "nmse_se", "test_error", "test_error_se"]


def descent_curves(sweeps: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the best error by passes.

    Columns dataset, mechanism, passes, nmse, nmse_se, test_error and test_error_se, one row per
    data set, mechanism and number of passes: the configuration with the smallest nmse.

    Parameters
    ----------
    sweeps : mapping of str to DataFrame
        By data set, the configurations of Table III with their errors; a data set that could not
        be had is without rows, and is left out here.
    """
    parts = []
    for dataset, sweep in sorted(sweeps.items()):
        if sweep.empty:
            continue
        best = sweep.loc[sweep.groupby(["mechanism", "passes"])["nmse"].idxmin()]
        parts.append(best.assign(dataset=dataset)[COLUMNS])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)
