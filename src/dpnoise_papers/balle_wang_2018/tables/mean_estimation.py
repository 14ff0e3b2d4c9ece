"""Private means with and without denoising (Balle & Wang, ICML 2018, Section 5.2).

The right two panels of Figures 1 and 3. A data set is x_i = x_0 + u_i, i = 1, ..., n, with
x_0 ~ N(0, I_d) and u_i uniform on [-1/2, 1/2]^d; released is the mean, and the error is the
l2 norm. The sensitivities sqrt(d)/n and d/n, which the paper uses, belong to replacing one
x_i within a known box of side 1 (an l_inf ball of radius 1/2; for the printed radius 1 they
would be twice as large). That box is x_0 + [-1/2, 1/2]^d, so x_0 is taken as public where
privacy is concerned, though no mechanism uses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.balle_wang_2018.tables.releases import Sensitivity, Settings, compare_releases

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from dpnoise._types import Array


def _mean(rng: np.random.Generator, samples: int, dimension: int) -> Array:
    """Return the mean of a fresh data set, shape (dimension,)."""
    centre = rng.standard_normal(dimension)
    return centre + (rng.random((samples, dimension)).mean(axis=0) - 0.5)


def mean_estimation(
    *,
    seed: int,
    epsilons: Sequence[float],
    delta: float,
    samples: int,
    repetitions: int,
    draws: int,
    dimensions: Sequence[int],
    exact_up_to: int,
) -> pd.DataFrame:
    """Return the l2 error of each mechanism against the dimension.

    Parameters
    ----------
    seed : int
        The seed of the config.
    epsilons : sequence of float
        Positive; the classical Gaussian mechanism is a formula without a theorem
        at epsilon >= 1.
    delta : float
        In [1e-300, 1).
    samples : int
        Data points per data set, n.
    repetitions : int
        Data sets per dimension at least, 2 or more.
    draws : int
        A dimension d has at least draws / d data sets.
    dimensions : sequence of int
        Each at least 3, for James-Stein.
    exact_up_to : int
        The largest dimension at which the families beyond the paper are run. They are
        calibrated to all d coordinates changing at once, where the best noise soon is the
        Gaussian.

    Returns
    -------
    DataFrame
        Columns epsilon, dimension, method, repetitions, deviation (of the noise, per
        coordinate), error and error_se (mean over repetitions and its standard error), and for
        each of the paper's five methods and 'zero' gain_over_<method> and its standard error:
        the paired difference of errors, positive where the row is better.

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    settings = Settings(seed, epsilons, delta, samples, repetitions, draws, dimensions, exact_up_to)
    return compare_releases(
        "mean-estimation",
        settings,
        _mean,
        lambda d: Sensitivity(1.0 / samples, d),
        lambda difference: np.linalg.norm(difference, axis=1),
    )
