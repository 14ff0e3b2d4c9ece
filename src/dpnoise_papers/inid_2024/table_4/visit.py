"""A visit to a GPU: as many cells of Table IV of inid-2024 as a number of minutes allows.

Cells are trained one after another in the order of the table. Checkpoints have what was done, of a
finished cell its records alone; the next visit goes on from them, and `make deep_cifar10` makes the
tables of what is finished, with no GPU.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from dpnoise_papers.config import load
from dpnoise_papers.data.copies import check_mirror
from dpnoise_papers.data.images import load_images
from dpnoise_papers.inid_2024.deep.run import DivergedError, OutOfTimeError, TimeLimit, cifar10
from dpnoise_papers.inid_2024.deep.training import check_device
from dpnoise_papers.inid_2024.table_4.training import no_rows, table_4_trained, train_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpnoise_papers.inid_2024.deep.run import Images
    from dpnoise_papers.inid_2024.learning_settings import PrivateTraining

    Say = Callable[[str], None]


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
            runs, _ = train_cell(settings, data, part, limit)
        except DivergedError as error:
            diverged += 1
            say(f"{part}: {error}")
            continue
        except OutOfTimeError:
            say(f"{part}: stopped")
            break
        finished += 1
        empty, _ = no_rows()
        row = table_4_trained(settings, dict.fromkeys(settings.cells, empty) | {part: runs}).iloc[0]
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
