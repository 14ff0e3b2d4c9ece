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
import pandas as pd

from dpnoise._check import Problems
from dpnoise.experiments._release import COLUMNS, Sensitivity, check_release, compare, streams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpnoise.experiments._release import Stream

    Array = NDArray[np.float64]


def _means(stream: Stream, samples: int, dimension: int, repetitions: int) -> Array:
    """Return the means of fresh data sets, shape (repetitions, dimension)."""
    means = np.empty((repetitions, dimension))
    for k in range(repetitions):
        rng = stream(k, "data")
        centre = rng.standard_normal(dimension)
        means[k] = centre + (rng.random((samples, dimension)).mean(axis=0) - 0.5)
    return means


def mean_estimation(
    *,
    seed: int,
    epsilon: float,
    delta: float,
    samples: int,
    repetitions: int,
    dimensions: Sequence[int],
    exact_up_to: int,
) -> pd.DataFrame:
    """Return the l2 error of each mechanism against the dimension, at one epsilon.

    Parameters
    ----------
    seed : int
        The seed of the config.
    epsilon, delta : float
        The privacy parameters; the classical Gaussian mechanism is a formula without a theorem
        at epsilon >= 1.
    samples : int
        Data points per data set, n.
    repetitions : int
        Data sets per dimension, at least 2.
    dimensions : sequence of int
        Each at least 3, for James-Stein.
    exact_up_to : int
        The largest dimension at which the families beyond the paper are run. They are
        calibrated to all d coordinates changing at once, where the best noise soon is the
        Gaussian.

    Returns
    -------
    DataFrame
        Columns epsilon, dimension, method, deviation (of the noise, per coordinate), error and
        error_se (mean over repetitions and its standard error), and for each of the paper's
        five methods gain_over_<method> and its standard error: the paired difference of errors,
        positive where the row is better.

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    problems = Problems("mean estimation")
    check_release(problems, seed, epsilon, delta, samples, repetitions, dimensions, exact_up_to)
    problems.raise_if_any()
    rows = []
    for d in sorted(set(dimensions)):
        stream = streams(seed, "mean-estimation", d)
        rows += compare(
            _means(stream, samples, d, repetitions),
            Sensitivity(1.0 / samples, d),
            epsilon,
            delta,
            stream,
            lambda difference: np.linalg.norm(difference, axis=1),
            exact=d <= exact_up_to,
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))
