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

from dpnoise._validation import Problems
from dpnoise.noise import FlippedHuber, Gaussian, Laplace
from dpnoise_papers.grids import require_count

if TYPE_CHECKING:
    from collections.abc import Sequence


def densities(
    *, parameters: Sequence[Sequence[float]], half_width: float, points: int
) -> pd.DataFrame:
    """Return flipped Huber densities on a common grid (Figure 1).

    Parameters
    ----------
    parameters : sequence of (alpha, gamma)
        One density each.
    half_width : float
        The grid runs from minus to plus this.
    points : int
        Grid points, an odd number so that 0 is one of them. The transitions at -alpha and
        alpha, where they lie inside, are added.

    Returns
    -------
    DataFrame
        Columns alpha, gamma, t, density and transition (1 where abs(t) = alpha, else 0),
        sorted by density and t.

    Raises
    ------
    ValueError
        If a setting is not as above; names all that are not.
    """
    problems = Problems("densities")
    problems.number("half_width", half_width, low=0, open_low=True)
    odd = (
        isinstance(points, int) and not isinstance(points, bool) and points >= 3 and points % 2 == 1
    )
    problems.require(odd, "points", "an odd number of at least 3", points)
    problems.require(len(parameters) > 0, "parameters", "at least one (alpha, gamma)", parameters)
    for place, pair in enumerate(parameters):
        if problems.require(len(pair) == 2, f"parameters[{place}]", "(alpha, gamma)", pair):
            problems.number(f"parameters[{place}]: alpha", pair[0], low=0)
            problems.number(f"parameters[{place}]: gamma", pair[1], low=0, open_low=True)
    problems.raise_if_any()
    grid = np.linspace(-half_width, half_width, points)
    parts = []
    for alpha, gamma in parameters:
        marks = [-alpha, alpha] if 0 < alpha <= half_width else []
        t = np.union1d(grid, marks)
        columns = {"alpha": float(alpha), "gamma": float(gamma), "t": t}
        columns["density"] = FlippedHuber(alpha, gamma).pdf(t)
        columns["transition"] = np.isin(t, marks).astype(int)
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def fisher_information(*, smallest: float, largest: float, points: int) -> pd.DataFrame:
    """Return the normalised Fisher information against alpha/gamma (Figure 2).

    Parameters
    ----------
    smallest, largest : float
        Ends of the geometric grid of alpha/gamma; 0 is added.
    points : int
        Grid points, besides 0.

    Returns
    -------
    DataFrame
        Columns mechanism, ratio (alpha/gamma), variance_over_gamma2 (variance in units of
        gamma^2), fisher_information_times_gamma2 and nfi. The mechanism is flipped-huber,
        once per ratio, then gaussian and laplace, once each, for which only nfi has a value.

    Raises
    ------
    ValueError
        If a setting is not as above; names all that are not.
    """
    problems = Problems("fisher_information")
    ok = problems.number("smallest", smallest, low=0, open_low=True)
    low = smallest if ok else 0
    problems.number("largest", largest, low=low, open_low=True)
    require_count(problems, "points", points, 3)
    problems.raise_if_any()
    rows = []
    for ratio in (0.0, *np.geomspace(smallest, largest, points)):
        noise = FlippedHuber(float(ratio), 1.0)
        variance, information = noise.var(), noise.fisher_information()
        rows.append(("flipped-huber", ratio, variance, information, variance * information))
    for name, noise in (("gaussian", Gaussian(1.0)), ("laplace", Laplace(1.0))):
        nfi = noise.var() * noise.fisher_information()
        rows.append((name, np.nan, np.nan, np.nan, nfi))
    columns = ["mechanism", "ratio", "variance_over_gamma2", "fisher_information_times_gamma2"]
    return pd.DataFrame(rows, columns=[*columns, "nfi"])
