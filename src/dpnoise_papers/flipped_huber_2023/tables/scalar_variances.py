"""Minimum variance of each mechanism in one dimension (flipped-huber-2023, Section V-A).

Figure 3a and the slide 'variances' compare mechanisms at one delta, Figures 3b and 3c give the
ratio of flipped Huber noise to another mechanism over epsilon and delta. The paper searches a
grid inside a box and does not print its resolution; here the minimum variance inside that box
stands beside the unrestricted one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise.calibration.calibrate import calibrate
from dpnoise_papers.flipped_huber_2023.tables.minimum_variances import (
    MinimumVariance,
    delta_of,
    minimum_variances,
)
from dpnoise_papers.grids import values

if TYPE_CHECKING:
    from dpnoise_papers.flipped_huber_2023.settings import (
        MinimumVariances,
        VarianceRatio,
    )


def scalar_variances(settings: MinimumVariances) -> pd.DataFrame:
    """Minimum variance of each mechanism against epsilon (Figure 3a).

    Columns epsilon, mechanism, method, variance, noise, delta_bound (certified), attained,
    off_truncated_laplace (by how much of it the variance differs from that of truncated Laplace
    noise at this epsilon, either way; NaN without that mechanism) and, for flipped Huber noise,
    gain_step and gain_step_osgt (see `gain_steps`). Where the minimum is a limit that no member of
    the family attains, a second row of method 'infimum' has it, without noise.
    """
    rows = [
        (epsilon, *row)
        for epsilon in np.union1d(values(settings.epsilons), settings.also)
        for row in minimum_variances(
            settings.mechanisms,
            settings.box,
            epsilon=float(epsilon),
            delta=settings.delta,
            sensitivity=settings.sensitivity,
        )
    ]
    table = pd.DataFrame(rows, columns=["epsilon", *MinimumVariance._fields])
    truncated = table[(table["mechanism"] == "truncated-laplace") & (table["method"] == "exact")]
    other = table["epsilon"].map(truncated.set_index("epsilon")["variance"])
    table["off_truncated_laplace"] = (table["variance"] / other - 1.0).abs()
    return gain_steps(table)


def gain_steps(table: pd.DataFrame) -> pd.DataFrame:
    """How much more flipped Huber noise gains than at the next smaller epsilon.

    The gain is the variance of another mechanism over that of flipped Huber noise. Column gain_step
    is for Gaussian noise, gain_step_osgt for offset-symmetric Gaussian noise of the same method.
    The smallest epsilon has the step to the next one; rows of other mechanisms have NaN.
    """
    table = table.assign(gain_step=np.nan, gain_step_osgt=np.nan)

    def variances(mechanism: str, method: str) -> pd.Series:
        rows = table[(table["mechanism"] == mechanism) & (table["method"] == method)]
        return rows.set_index("epsilon")["variance"].sort_index()

    for method in ("exact", "box"):
        own = variances("flipped-huber", method)
        others = {
            "gain_step": variances("gaussian", "exact"),
            "gain_step_osgt": variances("offset-symmetric-gaussian", method),
        }
        rows = (table["mechanism"] == "flipped-huber") & (table["method"] == method)
        for column, other in others.items():
            steps = (other.reindex(own.index) / own).diff().bfill(limit=1)
            table.loc[rows, column] = table.loc[rows, "epsilon"].map(steps)
    return table


def variance_ratio(settings: VarianceRatio) -> pd.DataFrame:
    """Variance of flipped Huber noise over that of another mechanism (Figures 3b, 3c).

    Columns epsilon, delta, flipped_huber, one named after the other mechanism (variances) and
    ratio_db. Where flipped Huber noise has no minimum variance, its infimum is used.
    """
    against, sensitivity = settings.against, settings.sensitivity
    rows = []
    for epsilon in values(settings.epsilons).tolist():
        for delta in values(settings.deltas).tolist():
            ours, theirs = (
                calibrate(
                    name, epsilon=epsilon, delta=delta_of(name, delta), sensitivity=sensitivity
                ).infimum
                for name in ("flipped-huber", against)
            )
            rows.append((epsilon, delta, ours, theirs, 10.0 * math.log10(ours / theirs)))
    columns = ["epsilon", "delta", "flipped_huber", against.replace("-", "_"), "ratio_db"]
    return pd.DataFrame(rows, columns=columns)
