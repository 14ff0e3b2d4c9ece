"""Flipped Huber densities and their normalised Fisher information (flipped-huber-2023).

Figure 1 shows densities, equation (8), for several transition parameters alpha and
scales gamma. Figure 2 shows the normalised Fisher information, the product of Fisher
information (12) and variance (11), which depends on alpha/gamma alone. The parameters
of Figure 1 are not printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise.noise import FlippedHuber, Gaussian, Laplace, Noise
from dpnoise_papers.grids import values

if TYPE_CHECKING:
    from dpnoise_papers.flipped_huber_2023.settings import Densities, FisherInformation


def densities(settings: Densities) -> pd.DataFrame:
    """Flipped Huber densities on a common grid (Figure 1).

    Columns alpha, gamma, t, density and transition (1 where abs(t) = alpha, else 0), sorted by
    density and t.
    """
    half_width = settings.half_width
    grid = np.linspace(-half_width, half_width, settings.points)
    parts = []
    for alpha, gamma in settings.parameters:
        marks = [-alpha, alpha] if 0 < alpha <= half_width else []
        t = np.union1d(grid, marks)
        columns = {"alpha": float(alpha), "gamma": float(gamma), "t": t}
        columns["density"] = FlippedHuber(alpha, gamma).pdf(t)
        columns["transition"] = np.isin(t, marks).astype(int)
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def fisher_information(settings: FisherInformation) -> pd.DataFrame:
    """Normalised Fisher information against alpha/gamma (Figure 2).

    Columns mechanism, ratio (alpha/gamma), variance_over_gamma2 (variance in units of gamma^2),
    fisher_information_times_gamma2 and nfi. The mechanism is flipped-huber, once per ratio, then
    gaussian and laplace, once each, for which only nfi has a value.
    """
    rows = []
    for ratio in (0.0, *values(settings.ratios).tolist()):
        noise = FlippedHuber(ratio, 1.0)
        variance, information = noise.var(), noise.fisher_information()
        rows.append(("flipped-huber", ratio, variance, information, variance * information))
    ends: dict[str, Noise] = {"gaussian": Gaussian(1.0), "laplace": Laplace(1.0)}
    for name, end in ends.items():
        rows.append((name, np.nan, np.nan, np.nan, end.var() * end.fisher_information()))
    columns = ["mechanism", "ratio", "variance_over_gamma2", "fisher_information_times_gamma2"]
    return pd.DataFrame(rows, columns=[*columns, "nfi"])
