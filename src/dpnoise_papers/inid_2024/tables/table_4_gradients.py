"""Gradients of Table IV's network as they are, beside the noise that its cells add to them.

ResNet-20 on CIFAR-10 for the first steps of training, which a CPU can do. The noise is that of the
whole training of 100 epochs, so signal against noise is that of the paper's setting.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise_papers.inid_2024.deep.images import cifar10
from dpnoise_papers.inid_2024.deep.run import Trial
from dpnoise_papers.inid_2024.deep.training import train
from dpnoise_papers.inid_2024.tables.table_4_training import cell_run

if TYPE_CHECKING:
    from dpnoise_papers.data.images import ImageSet
    from dpnoise_papers.inid_2024.deep_settings import MeasuredGradients, PrivateTraining

TOTAL_COLUMNS = [
    "cell", "steps", "samples", "train_loss", "accuracy", "clipped", "signal", "noise_norm",
]  # fmt: skip
COLUMNS = [
    "cell", "steps", "group", "size", "threshold", "scale", "norm", "clipped", "signal",
    "noise_norm",
]  # fmt: skip


def measured_gradients(
    settings: MeasuredGradients, training: PrivateTraining, images: ImageSet | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Signal and noise in the first steps of some cells.

    Parameters
    ----------
    settings : MeasuredGradients
        Which cells, and for how long.
    training : PrivateTraining
        Of the table that they belong to.
    images : ImageSet or None
        CIFAR-10, or None if it could not be had.

    Returns
    -------
    totals : pandas.DataFrame
        `TOTAL_COLUMNS`: for each record, `steps` so far, and root mean squares of the norms of the
        mean clipped gradient and of the noise in it.
    groups : pandas.DataFrame
        `COLUMNS`: the same by group, with the mean norm of a sample's gradient before clipping.
        No rows without images.
    """
    totals, groups = [pd.DataFrame(columns=TOTAL_COLUMNS)], [pd.DataFrame(columns=COLUMNS)]
    if images is None:
        return totals[0], groups[0]
    data = cifar10(images)
    # Files may hold one class after the other: images at even distances.
    even = np.linspace(0, len(data.test) - 1, min(settings.tested, len(data.test))).astype(int)
    few = replace(data, test=data.test[even], test_labels=data.test_labels[even])
    trials = (Trial(("measured", 0), settings.learning_rate),)
    for name in settings.cells:
        run = cell_run(training, few, name, trials)
        run = replace(run, epochs=settings.records, steps=settings.steps, seed=settings.seed)
        found = train(run, few)
        for kept, table in ((totals, found.epochs), (groups, found.groups)):
            kept.append(table.assign(cell=name, steps=table["epoch"] * settings.steps))
    return (
        pd.concat(totals[1:], ignore_index=True)[TOTAL_COLUMNS],
        pd.concat(groups[1:], ignore_index=True)[COLUMNS],
    )
