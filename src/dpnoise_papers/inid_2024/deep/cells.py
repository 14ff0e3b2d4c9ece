"""Cells of Table IV of inid-2024: a search of the learning rate, then networks; visits to a GPU.

A cell of the table is a budget and a scheme. One more cell, 'none', has neither clipping nor noise.
The grid of learning rates is the same for all cells. The table has the accuracy of each cell.

A visit trains as many cells as a number of minutes allows, one after another in the order of the
table. Checkpoints have what was done, of a finished cell its records alone; the next visit goes on
from them, and `make deep_cifar10` makes the tables of what is finished, with no GPU.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpnoise_papers.config import load
from dpnoise_papers.data.copies import check_mirror
from dpnoise_papers.data.images import load_images
from dpnoise_papers.inid_2024.deep.network import parameter_groups, residual_network
from dpnoise_papers.inid_2024.deep.noise import flat_clips, group_scales, noise_unit
from dpnoise_papers.inid_2024.deep.run import (
    EPOCH_COLUMNS,
    DivergedError,
    OutOfTimeError,
    Run,
    TimeLimit,
    best_rate,
    cifar10,
    digits,
    report_trials,
    search_trials,
)
from dpnoise_papers.inid_2024.deep.training import NoDeviceError, check_device, train

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpnoise_papers.data.images import ImageSet
    from dpnoise_papers.inid_2024.deep.noise import Noise
    from dpnoise_papers.inid_2024.deep.run import Images, Trained, Trial
    from dpnoise_papers.inid_2024.settings import Cell, PrivateTraining

    Say = Callable[[str], None]

_NO_CLIP = 1e4  # which no gradient of the unclipped cell reached; its column `clipped` says so
CELL = ["noise", "delta", "epsilon", "scheme"]
RUN_COLUMNS = [*CELL, "data_note", "phase", "repetition", *EPOCH_COLUMNS[1:]]


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
    sizes = [group.size for group in parameter_groups(model)]
    noise, whole, clips, scales = cell_noise(settings, settings.cells[part], sizes)
    return Run(
        network=settings.network,
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


def digits_cell(settings: PrivateTraining, *, part: str) -> pd.DataFrame:
    """Training of one cell on the digits of scikit-learn; `part` is one of `settings.cells`."""
    return train_cell(settings, digits(), part)


def cifar10_cell(settings: PrivateTraining, data: ImageSet | None, *, part: str) -> pd.DataFrame:
    """Training of one cell on CIFAR-10.

    No rows without the data, nor without the device of a cell that its checkpoints do not show as
    finished.
    """
    if data is None:
        return pd.DataFrame(columns=RUN_COLUMNS)
    try:
        return train_cell(settings, cifar10(data), part)
    except NoDeviceError:
        return pd.DataFrame(columns=RUN_COLUMNS)


def train_cell(
    settings: PrivateTraining, data: Images, part: str, limit: TimeLimit | None = None
) -> pd.DataFrame:
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
    pandas.DataFrame
        `RUN_COLUMNS`: each epoch of each network, of the phases 'search' and 'report'; `data_note`
        is what is not as in the original data.

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
    return runs.assign(phase=stream.str[0], repetition=stream.str[1].astype(int), **about)[
        RUN_COLUMNS
    ]


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


SUMMARY_COLUMNS = [
    *CELL, "data_note", "repetitions", "learning_rate", "edge", "accuracy", "accuracy_se",
    "accuracy_sd", "lowest", "highest", "train_loss", "clipped",
]  # fmt: skip
OPEN_COLUMNS = [*SUMMARY_COLUMNS, "untried", "accuracy_least", "accuracy_greatest"]
UNTRIED = "other grids of learning rates, groups of parameters and normalisation of the network"


def table_4_trained(settings: PrivateTraining, parts: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Accuracy of each cell of Table IV over the reported networks.

    Parameters
    ----------
    settings : PrivateTraining
        Of the whole table.
    parts : dict of str to pandas.DataFrame
        Runs by cell, of `train_cell`.

    Returns
    -------
    pandas.DataFrame
        Columns noise, delta, epsilon, scheme, data_note (what is not as in the original data),
        repetitions, learning_rate, edge (which end of the grid it is, if one), accuracy (mean, %),
        accuracy_se, accuracy_sd, lowest, highest, train_loss and clipped (means over the networks
        in the last epoch). No rows of a cell that was not trained.
    """
    rows = []
    grid = sorted(settings.learning_rates)
    for name in settings.cells:
        runs = parts[name]
        last = runs[(runs["phase"] == "report") & (runs["epoch"] == settings.epochs)]
        if last.empty:
            continue
        accuracy = last["accuracy"].to_numpy(dtype=float)
        rate = float(last["learning_rate"].iloc[0])
        ends = {grid[0]: "lowest", grid[-1]: "highest"} if len(grid) > 1 else {}
        deviation = float(np.std(accuracy, ddof=1)) if len(accuracy) > 1 else math.nan
        rows.append(
            last[[*CELL, "data_note"]].iloc[0].to_dict()
            | {
                "repetitions": len(accuracy),
                "learning_rate": rate,
                "edge": ends.get(rate, ""),
                "accuracy": accuracy.mean(),
                "accuracy_se": deviation / math.sqrt(len(accuracy)),
                "accuracy_sd": deviation,
                "lowest": accuracy.min(),
                "highest": accuracy.max(),
            }
            | last[["train_loss", "clipped"]].mean().to_dict()
        )
    return pd.DataFrame(rows, columns=SUMMARY_COLUMNS)


def table_4_printed(settings: PrivateTraining, parts: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Accuracy of each cell as it is compared with the printed one, with the range that is open.

    The paper does not say whether its SPR noise is by parameter (`spr`) or by layer (`spr-group`).

    Parameters
    ----------
    settings : PrivateTraining
        Of the whole table.
    parts : dict of str to pandas.DataFrame
        Runs by cell, of `train_cell`.

    Returns
    -------
    pandas.DataFrame
        Columns of `table_4_trained`, untried (open choices that no range covers), and
        accuracy_least and accuracy_greatest: of scheme `spr` the ends over both meanings, missing
        without the other one; else the accuracy itself.
    """
    table = table_4_trained(settings, parts).reindex(columns=OPEN_COLUMNS).assign(untried=UNTRIED)
    by_layer = table[table["scheme"] == "spr-group"].set_index(CELL[:-1])["accuracy"]
    for row, cell in table.iterrows():
        budget, own = tuple(cell[CELL[:-1]]), cell["accuracy"]
        other = by_layer.get(budget, math.nan) if cell["scheme"] == "spr" else own
        table.loc[row, OPEN_COLUMNS[-2:]] = np.minimum(own, other), np.maximum(own, other)
    return table


def gpu_visit(minutes: float, files: Sequence[str], began: float, say: Say) -> int:
    """Training of Table IV on CIFAR-10 for some minutes.

    Parameters
    ----------
    minutes : float
        How long it may last.
    files : sequence of str
        Config files over config.yaml.
    began : float
        When, by `time.monotonic`.
    say : callable
        Takes each line of the report.

    Returns
    -------
    int
        Exit code: 1 if a cell diverged, else 0, also where cells are left.

    Raises
    ------
    ValueError
        If the minutes or the settings are wrong, or a checkpoint is of others.
    NoDeviceError
        If there is no such device.
    DatasetUnavailable
        If no copy of the images can be had.
    """
    if not 0 < minutes < math.inf:
        raise ValueError(f"minutes: expected a positive number, got {minutes:g}")
    limit = TimeLimit(began + 60.0 * minutes - time.monotonic())
    config = load("config.yaml", *files)
    settings = config.inid_2024.table_4_cifar10
    if settings.checkpoints is None:
        raise ValueError("table_4_cifar10.checkpoints: expected a folder, got none")
    check_device(settings.device)
    check_mirror()
    where = {name: getattr(config.data, name) for name in ("cache", "source", "offline")}
    images, source = load_images("cifar10", **where)
    say(f"images: {source}{': ' + images.note if images.note else ''}")
    return visit(settings, cifar10(images), limit, say)


def visit(settings: PrivateTraining, data: Images, limit: TimeLimit, say: Say) -> int:
    """Training of cells until time runs out.

    Parameters
    ----------
    settings : PrivateTraining
        With a folder for checkpoints.
    data : Images
        What is learnt.
    limit : TimeLimit
        When to stop.
    say : callable
        Takes each line of the report: one for each cell, and a last one.

    Returns
    -------
    int
        Exit code: 1 if a cell diverged, else 0.

    Raises
    ------
    ValueError
        If a checkpoint is damaged or of other settings, data or device.
    """
    finished, diverged, note = 0, 0, f" ({data.note})" if data.note else ""
    for part in settings.cells:
        began = limit.clock()
        try:
            runs = train_cell(settings, data, part, limit)
        except DivergedError as error:
            diverged += 1
            say(f"{part}: {error}")
            continue
        except OutOfTimeError:
            say(f"{part}: stopped")
            break
        finished += 1
        others = dict.fromkeys(settings.cells, runs[:0])
        row = table_4_trained(settings, others | {part: runs}).iloc[0]
        say(
            f"{part}: accuracy {row['accuracy']:.2f} %{note}, standard error "
            f"{row['accuracy_se']:.2f}, learning rate {row['learning_rate']:g}; "
            f"{limit.clock() - began:.0f} s of this visit"
        )
    left = len(settings.cells) - finished - diverged
    say(
        f"{finished} of {len(settings.cells)} cells finished, {diverged} diverged, {left} left"
        f"{' (the same command goes on)' if left else ''}; checkpoints in {settings.checkpoints}"
    )
    return 1 if diverged else 0
