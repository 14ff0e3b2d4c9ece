"""Training of the cells of Table IV of inid-2024: a search of the learning rate, then networks.

A cell of the table is a budget and a scheme. One more cell, 'none', has neither clipping nor noise.
The grid of learning rates is the same for all cells (`deep.run`).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpnoise_papers.inid_2024.deep.accounting import noise_unit
from dpnoise_papers.inid_2024.deep.network import parameter_groups, residual_network
from dpnoise_papers.inid_2024.deep.records import EPOCH_COLUMNS, GROUP_COLUMNS
from dpnoise_papers.inid_2024.deep.run import (
    Run,
    best_rate,
    cifar10,
    digits,
    report_trials,
    search_trials,
)
from dpnoise_papers.inid_2024.deep.scales import flat_clips, group_scales
from dpnoise_papers.inid_2024.deep.training import NoDeviceError, train

if TYPE_CHECKING:
    from dpnoise_papers.data.images import ImageSet
    from dpnoise_papers.inid_2024.deep.records import Trained
    from dpnoise_papers.inid_2024.deep.run import Images, Trial
    from dpnoise_papers.inid_2024.deep.scales import Noise
    from dpnoise_papers.inid_2024.deep.time_limit import TimeLimit
    from dpnoise_papers.inid_2024.learning_settings import Cell, PrivateTraining

_NO_CLIP = 1e4  # which no gradient of the unclipped cell reached; its column `clipped` says so
CELL = ["noise", "delta", "epsilon", "scheme"]
RUN_COLUMNS = [*CELL, "data_note", "phase", "repetition", *EPOCH_COLUMNS[1:]]
GROUPS_COLUMNS = [*CELL, *GROUP_COLUMNS[2:]]


def cell_run(
    settings: PrivateTraining,
    data: Images,
    part: str,
    trials: tuple[Trial, ...],
    *,
    search: bool = False,
) -> Run:
    """Settings of the networks of one cell.

    Parameters
    ----------
    settings : PrivateTraining
        Of the whole table.
    data : Images
        What is learnt.
    part : str
        The cell, one of `settings.cells`.
    trials : tuple of Trial
        The networks.
    search : bool
        Whether they are trained for `search_epochs`, and may diverge.

    Returns
    -------
    Run
        With the noise of `epochs` in any case.
    """
    _, channels, _, _ = data.train.shape
    model = residual_network(settings.network, channels, int(data.train_labels.max()) + 1)
    sizes = [group.size for group in parameter_groups(model, settings.groups)]
    noise, whole, clips, scales = cell_noise(settings, settings.cells[part], sizes)
    return Run(
        network=settings.network,
        groups=settings.groups,
        whole=whole,
        noise=noise,
        clips=clips,
        scales=scales,
        rate=settings.rate,
        epochs=settings.search_epochs if search else settings.epochs,
        trials=trials,
        seed=settings.seed,
        scope=("table-4", data.name, part),
        chunk=settings.chunk,
        precision=settings.precision,
        stop=not search,
    )


def cell_noise(
    settings: PrivateTraining, cell: Cell, sizes: list[int]
) -> tuple[Noise, bool, tuple[float, ...], tuple[float, ...]]:
    """Noise, whether the gradient is clipped as a whole, thresholds and scales of a cell.

    Parameters
    ----------
    settings : PrivateTraining
        Of the whole table.
    cell : Cell
        Budget and scheme.
    sizes : list of int
        Numbers of parameters of the groups.

    Returns
    -------
    noise : {"gaussian", "laplace"}
        Its family.
    whole : bool
        True for i.i.d. noise.
    clips, scales : tuple of float
        Of each clipped group.
    """
    if cell.budget is None or cell.scheme == "none":
        return "gaussian", True, (_NO_CLIP,), (0.0,)
    noise, whole = cell.budget.noise, cell.scheme == "iid"
    steps = settings.epochs * max(1, round(1.0 / settings.rate))
    budget = (cell.budget.epsilon, cell.budget.delta)
    unit = noise_unit(noise, *budget, steps, settings.rate)
    sizes = [sum(sizes)] if whole else sizes
    clips = flat_clips(noise, len(sizes), settings.clip)
    scales = group_scales(cell.scheme, noise, clips, sizes, unit)
    return noise, whole, tuple(clips.tolist()), tuple(scales.tolist())


def no_rows() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both tables of a cell that was not trained."""
    return pd.DataFrame(columns=RUN_COLUMNS), pd.DataFrame(columns=GROUPS_COLUMNS)


def digits_cell(settings: PrivateTraining, *, part: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training of one cell on the digits of scikit-learn; `part` is one of `settings.cells`."""
    return train_cell(settings, digits(), part)


def cifar10_cell(
    settings: PrivateTraining, data: ImageSet | None, *, part: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training of one cell on CIFAR-10.

    No rows without the data, nor without the device of a cell that its checkpoints do not show as
    finished.
    """
    if data is None:
        return no_rows()
    try:
        return train_cell(settings, cifar10(data), part)
    except NoDeviceError:
        return no_rows()


def train_cell(
    settings: PrivateTraining, data: Images, part: str, limit: TimeLimit | None = None
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
    limit : TimeLimit, optional
        When to stop, which needs `settings.checkpoints`.

    Returns
    -------
    runs : pandas.DataFrame
        `RUN_COLUMNS`: each epoch of each network, of the phases 'search' and 'report'; `data_note`
        is what is not as in the original data.
    groups : pandas.DataFrame
        `GROUPS_COLUMNS`: each epoch and group, means over the reported networks.

    Raises
    ------
    DivergedError
        If a reported network diverges, or those of all learning rates do.
    NoDeviceError
        If `settings.device` is missing.
    OutOfTimeError
        If time ran out; checkpoints have all steps so far.
    """
    cell = settings.cells[part]
    budget = cell.budget
    names = ["none", 0.0, math.inf]
    if budget is not None:
        names = [budget.noise, budget.delta, budget.epsilon]
    about: dict[str, Any] = dict(zip(CELL, [*names, cell.scheme], strict=True))
    tried = search_trials(settings.learning_rates, settings.search)
    search = _trained(settings, data, part, "search", tried, limit=limit)
    rate = best_rate(search.epochs, settings.search_epochs, part)
    kept = report_trials(rate, settings.repetitions)
    report = _trained(settings, data, part, "report", kept, limit=limit)
    runs = pd.concat([search.epochs, report.epochs], ignore_index=True)
    stream = runs.pop("stream").str.split("/")
    about["data_note"] = data.note
    runs = runs.assign(phase=stream.str[0], repetition=stream.str[1].astype(int), **about)
    values = ["norm", "clipped", "signal", "noise_norm"]
    keys = ["epoch", "group", "size", "threshold", "scale"]
    groups = report.groups.groupby(keys, sort=False, as_index=False)[values].mean()
    return runs[RUN_COLUMNS], groups.assign(**about)[GROUPS_COLUMNS]


def _trained(
    settings: PrivateTraining,
    data: Images,
    part: str,
    phase: str,
    trials: tuple[Trial, ...],
    *,
    limit: TimeLimit | None,
) -> Trained:
    """Networks of one phase of a cell, with its own checkpoint."""
    run = cell_run(settings, data, part, trials, search=phase == "search")
    place = None
    if settings.checkpoints is not None:
        place = Path(settings.checkpoints) / f"{data.name}-{part}-{phase}.npz"
    return train(run, data, checkpoint=place, device=settings.device, limit=limit)
