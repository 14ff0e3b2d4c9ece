"""Search of the learning rate: networks for each rate of a grid, and the rate that is kept.

The networks reported have other seeds than those of the search, and hence other initial weights,
batches and noise. The privacy that choosing a learning rate costs is not counted, as in the paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise_papers.inid_2024.deep.run import Trial

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd


def search_trials(rates: Iterable[float], networks: int) -> tuple[Trial, ...]:
    """Networks of a search, as many for each learning rate; of one number, they have one seed."""
    return tuple(Trial(("search", k), rate) for rate in rates for k in range(networks))


def report_trials(rate: float, networks: int) -> tuple[Trial, ...]:
    """Networks that are reported, with the learning rate of the search."""
    return tuple(Trial(("report", k), rate) for k in range(networks))


def best_rate(epochs: pd.DataFrame, last: int, name: str) -> float:
    """Learning rate with the highest mean accuracy after an epoch, the smallest of equals.

    Of those at which no network diverged.

    Parameters
    ----------
    epochs : pandas.DataFrame
        Records of the networks of a search, as `Trained` has them.
    last : int
        The epoch.
    name : str
        Of what is trained, for the error.

    Returns
    -------
    float
        One of the column `learning_rate`.

    Raises
    ------
    RuntimeError
        If networks of all learning rates diverged.
    """
    diverged = (epochs["samples"] > 0) & ~np.isfinite(epochs["train_loss"])
    good = epochs[~epochs["learning_rate"].isin(epochs.loc[diverged, "learning_rate"])]
    if good.empty:
        tried = sorted(set(epochs["learning_rate"]))
        message = f"{name}: expected a learning rate with finite losses, got none of {tried}"
        raise RuntimeError(message)
    means = good[good["epoch"] == last].groupby("learning_rate")["accuracy"].mean()
    return float(means[means == means.max()].index.min())
