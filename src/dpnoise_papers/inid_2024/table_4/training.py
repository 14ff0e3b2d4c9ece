"""Training of the cells of Table IV of inid-2024: a search of the learning rate, then networks.

The grid of learning rates is the same for all cells (`deep.search`).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpnoise_papers.inid_2024.deep.images import cifar10, digits
from dpnoise_papers.inid_2024.deep.records import EPOCH_COLUMNS, GROUP_COLUMNS
from dpnoise_papers.inid_2024.deep.search import best_rate, report_trials, search_trials
from dpnoise_papers.inid_2024.deep.training import train
from dpnoise_papers.inid_2024.table_4.cells import cell_run

if TYPE_CHECKING:
    from dpnoise_papers.data.images import ImageSet
    from dpnoise_papers.inid_2024.deep.images import Images
    from dpnoise_papers.inid_2024.deep.records import Trained
    from dpnoise_papers.inid_2024.deep.run import Trial
    from dpnoise_papers.inid_2024.deep_settings import PrivateTraining

CELL = ["noise", "delta", "epsilon", "scheme"]
RUN_COLUMNS = [*CELL, "data_note", "phase", "repetition", *EPOCH_COLUMNS[1:]]
GROUPS_COLUMNS = [*CELL, *GROUP_COLUMNS[2:]]


def digits_cell(settings: PrivateTraining, *, part: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training of one cell on the digits of scikit-learn; `part` is one of `settings.cells`."""
    return train_cell(settings, digits(), part)


def cifar10_cell(
    settings: PrivateTraining, data: ImageSet | None, *, part: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training of one cell on CIFAR-10; no rows without the data."""
    if data is None:
        return pd.DataFrame(columns=RUN_COLUMNS), pd.DataFrame(columns=GROUPS_COLUMNS)
    return train_cell(settings, cifar10(data), part)


def train_cell(
    settings: PrivateTraining, data: Images, part: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Search of the learning rate and training of one cell of Table IV.

    Parameters
    ----------
    settings : PrivateTraining
        Of the whole table.
    data : Images
        What is learnt.
    part : str
        The cell, one of `settings.cells`.

    Returns
    -------
    runs : pandas.DataFrame
        `RUN_COLUMNS`: each epoch of each network, of the phases 'search' and 'report'; `data_note`
        is what is not as in the original data.
    groups : pandas.DataFrame
        `GROUPS_COLUMNS`: each epoch and group, means over the reported networks.

    Raises
    ------
    RuntimeError
        If a reported network diverges, or those of all learning rates do.
    """
    cell = settings.cells[part]
    budget = cell.budget
    names = ["none", 0.0, math.inf]
    if budget is not None:
        names = [budget.noise, budget.delta, budget.epsilon]
    about: dict[str, Any] = dict(zip(CELL, [*names, cell.scheme], strict=True))
    tried = search_trials(settings.learning_rates, settings.search)
    search = _trained(settings, data, part, "search", tried)
    rate = best_rate(search.epochs, settings.search_epochs, part)
    kept = report_trials(rate, settings.repetitions)
    report = _trained(settings, data, part, "report", kept)
    runs = pd.concat([search.epochs, report.epochs], ignore_index=True)
    stream = runs.pop("stream").str.split("/")
    about["data_note"] = data.note
    runs = runs.assign(phase=stream.str[0], repetition=stream.str[1].astype(int), **about)
    values = ["norm", "clipped", "signal", "noise_norm"]
    keys = ["epoch", "group", "size", "threshold", "scale"]
    groups = report.groups.groupby(keys, sort=False, as_index=False)[values].mean()
    return runs[RUN_COLUMNS], groups.assign(**about)[GROUPS_COLUMNS]


def _trained(
    settings: PrivateTraining, data: Images, part: str, phase: str, trials: tuple[Trial, ...]
) -> Trained:
    """Networks of one phase of a cell, with its own checkpoint."""
    run = cell_run(settings, data, part, trials, search=phase == "search")
    place = None
    if settings.checkpoints is not None:
        place = Path(settings.checkpoints) / f"{data.name}-{part}-{phase}.npz"
    return train(run, data, checkpoint=place, device=settings.device)
