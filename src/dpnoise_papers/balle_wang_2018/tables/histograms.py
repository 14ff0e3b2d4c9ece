"""Private sparse histograms with and without denoising (Balle & Wang, ICML 2018, B.1).

The four panels of Figure 4. The n items of a data set fall into d bins by probabilities drawn
from a symmetric Dirichlet distribution with parameter 1/d, anew for each data set, so that
most bins are empty. Released are the bins' shares, and the error is the l1 norm. Replacing
one item moves 1/n from one bin to another: the l2 sensitivity is sqrt(2)/n, the l1
sensitivity 2/n, and just two coordinates change however many bins there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.balle_wang_2018.tables.releases import Sensitivity, Settings, compare_releases

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from dpnoise._types import Array


def _histogram(rng: np.random.Generator, samples: int, bins: int) -> Array:
    """Return the shares of a fresh data set, shape (bins,)."""
    chances = rng.dirichlet(np.full(bins, 1.0 / bins))
    return rng.multinomial(samples, chances) / samples


def histograms(
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
    """Return the l1 error of each mechanism against the number of bins.

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
        Items per data set, n.
    repetitions : int
        Data sets per number of bins at least, 2 or more.
    draws : int
        A number of bins d has at least draws / d data sets.
    dimensions : sequence of int
        Numbers of bins, each at least 3, for James-Stein.
    exact_up_to : int
        The largest number of bins at which the families beyond the paper are run. Their
        noise is the same at every number of bins: two coordinates decide.

    Returns
    -------
    DataFrame
        Columns epsilon, dimension, method, repetitions, deviation (of the noise, per bin),
        error and error_se (mean over repetitions and its standard error), and for each of the
        paper's five methods and 'zero' gain_over_<method> and its standard error: the paired
        difference of errors, positive where the row is better.

    Raises
    ------
    ValueError
        If a setting is out of range; names all that are.
    """
    settings = Settings(seed, epsilons, delta, samples, repetitions, draws, dimensions, exact_up_to)
    return compare_releases(
        "histograms",
        settings,
        _histogram,
        lambda _: Sensitivity(1.0 / samples, 2),
        lambda difference: np.abs(difference).sum(axis=1),
    )
