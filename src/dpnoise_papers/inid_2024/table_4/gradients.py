"""Gradients of Table IV's network as they are, beside the noise that its cells add to them.

ResNet-20 on CIFAR-10 for the first steps of training, which a CPU can do. The noise is that of the
whole training of 100 epochs, so signal against noise is that of the paper's setting. Beside it the
shape of the gradients before and after these steps: how much clipping in l1 takes away.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpnoise_papers.inid_2024.deep.images import cifar10
from dpnoise_papers.inid_2024.deep.network import initial_parameters, residual_network
from dpnoise_papers.inid_2024.deep.run import Trial
from dpnoise_papers.inid_2024.deep.shape import SHAPE_COLUMNS, gradient_shapes
from dpnoise_papers.inid_2024.deep.training import train
from dpnoise_papers.inid_2024.table_4.cells import cell_run
from dpnoise_papers.seeds import generator

if TYPE_CHECKING:
    from dpnoise_papers.data.images import ImageSet
    from dpnoise_papers.inid_2024.deep.images import Images
    from dpnoise_papers.inid_2024.deep_settings import MeasuredGradients, PrivateTraining

TOTALS = [
    "cell", "data_note", "steps", "samples", "train_loss", "accuracy", "clipped", "signal",
    "noise_norm",
]  # fmt: skip
GROUPS = [
    "cell", "data_note", "steps", "group", "size", "threshold", "scale", "norm", "clipped",
    "signal", "noise_norm",
]  # fmt: skip
SHAPES = ["cell", "data_note", "steps", *SHAPE_COLUMNS]
UNTRAINED = "untrained"


def measured_gradients(
    settings: MeasuredGradients, training: PrivateTraining, images: ImageSet | None
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Signal, noise and shape of gradients in the first steps of some cells.

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
        `TOTALS`: for each record, `steps` so far, and root mean squares of the norms of the mean
        clipped gradient and of the noise in it.
    groups : pandas.DataFrame
        `GROUPS`: the same by group, with the mean norm of a sample's gradient before clipping.
    shapes : pandas.DataFrame
        `SHAPES`: `gradient_shapes` of an untrained network and after the last step of each cell.
        No rows of any table without images.
    """
    columns = (TOTALS, GROUPS, SHAPES)
    if images is None:
        totals, groups, shapes = (pd.DataFrame(columns=names) for names in columns)
        return totals, groups, shapes
    data = cifar10(images)
    tested, shaped = _even(len(data.test), settings.tested), _even(len(data.train), settings.shaped)
    few = replace(data, test=data.test[tested], test_labels=data.test_labels[tested])
    some = replace(data, train=data.train[shaped], train_labels=data.train_labels[shaped])
    trials = (Trial(("measured", 0), settings.learning_rate),)
    shape = gradient_shapes(training, _untrained(settings, training, data), some)
    found = [[], [], [shape.assign(cell=UNTRAINED, steps=0)]]
    for name in settings.cells:
        run = cell_run(training, few, name, trials)
        run = replace(run, epochs=settings.records, steps=settings.steps, seed=settings.seed)
        trained = train(run, few)
        for kept, table in ((found[0], trained.epochs), (found[1], trained.groups)):
            kept.append(table.assign(cell=name, steps=table["epoch"] * settings.steps))
        last = {key: value[0] for key, value in trained.parameters.items()}
        steps = settings.records * settings.steps
        found[2].append(gradient_shapes(training, last, some).assign(cell=name, steps=steps))
    totals, groups, shapes = (
        pd.concat(tables, ignore_index=True).assign(data_note=data.note)[names]
        for tables, names in zip(found, columns, strict=True)
    )
    return totals, groups, shapes


def _untrained(
    settings: MeasuredGradients, training: PrivateTraining, data: Images
) -> dict[str, np.ndarray]:
    """Initial parameters of the network."""
    classes = int(data.train_labels.max()) + 1
    model = residual_network(training.network, data.train.shape[1], classes)
    drawn = initial_parameters(model, generator(settings.seed, "table-4-gradients", "initial"))
    return {name: value.numpy() for name, value in drawn.items()}


def _even(images: int, most: int) -> np.ndarray:
    """Indices at even distances, at most so many: files may hold one class after the other."""
    return np.linspace(0, images - 1, min(most, images)).astype(int)
