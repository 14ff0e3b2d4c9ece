"""Gradients of Table IV's network as they are, beside the noise that its cells add to them.

ResNet-20 on CIFAR-10 for the first steps of training, which a CPU can do. The noise is that of the
whole training of 100 epochs, so signal against noise is that of the paper's setting. Beside it the
shape of the gradients before and after these steps: their l1 norm over their l2 norm, and what
clipping leaves of them. A gradient of K entries of one size has the ratio sqrt(K), one with a
single entry the ratio 1. It is how much more clipping to an l1 norm takes away than clipping to the
same l2 norm.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pandas as pd

from dpnoise._imports import imports_of
from dpnoise_papers.inid_2024.deep.network import (
    clipped_sum,
    group_norms,
    initial_parameters,
    parameter_groups,
    residual_network,
    sample_gradients,
)
from dpnoise_papers.inid_2024.deep.run import Trial, cifar10
from dpnoise_papers.inid_2024.deep.scales import flat_clips
from dpnoise_papers.inid_2024.deep.training import train
from dpnoise_papers.inid_2024.table_4.training import cell_run
from dpnoise_papers.seeds import generator

with imports_of("deep"):
    import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpnoise_papers.data.images import ImageSet
    from dpnoise_papers.inid_2024.deep.run import Images
    from dpnoise_papers.inid_2024.deep.scales import Noise
    from dpnoise_papers.inid_2024.learning_settings import MeasuredGradients, PrivateTraining

SHAPE_COLUMNS = ["clipping", "samples", "l1_over_l2", "flat", "signal_l1", "signal_l2"]
_NORMS: tuple[Noise, Noise] = ("laplace", "gaussian")  # order 1 and 2
Clipping = Literal["whole", "group"]
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


def gradient_shapes(
    settings: PrivateTraining, parameters: Mapping[str, np.ndarray], data: Images
) -> pd.DataFrame:
    """Shape of the gradients of one network at all training images.

    Parameters
    ----------
    settings : PrivateTraining
        Network, groups, norm of all thresholds and size of chunks.
    parameters : mapping of str to array, shape (...)
        Of the network.
    data : Images
        At which images.

    Returns
    -------
    pandas.DataFrame
        `SHAPE_COLUMNS`, for the gradient as a whole and by group: `l1_over_l2` is the mean of the
        ratio of the norms over samples (and groups), `flat` what it would be for entries of one
        size, `signal_l1` and `signal_l2` are l2 norms of the mean over samples of gradients
        that are clipped in l1 or in l2.
    """
    _, channels, _, _ = data.train.shape
    model = residual_network(settings.network, channels, int(data.train_labels.max()) + 1)
    values = {name: torch.as_tensor(value)[None] for name, value in parameters.items()}
    images = torch.as_tensor(data.train)[None]
    labels = torch.as_tensor(data.train_labels, dtype=torch.int64)[None]
    clippings = get_args(Clipping)
    groups = {
        clipping: parameter_groups(model, "whole" if clipping == "whole" else settings.groups)
        for clipping in clippings
    }
    samples = images.shape[1]
    size = sum(value.size for value in parameters.values())
    sums = {
        (clipping, order): torch.zeros(size, dtype=torch.float64)
        for clipping in clippings
        for order in (1, 2)
    }
    ratios = dict.fromkeys(clippings, 0.0)
    for start in range(0, samples, settings.chunk):
        part = slice(start, start + settings.chunk)
        gradients, _ = sample_gradients(model, values, images[:, part], labels[:, part])
        there = torch.ones(labels[:, part].shape, dtype=torch.bool)
        for clipping in clippings:
            norms = []
            for order, noise in enumerate(_NORMS, start=1):
                clips = flat_clips(noise, len(groups[clipping]), settings.clip).tolist()
                found = clipped_sum(gradients, groups[clipping], clips, order, there)
                sums[clipping, order] += found.sums[0]
                norms.append(group_norms(found.norms, list(gradients), groups[clipping], order))
            ratios[clipping] += float((norms[0] / norms[1]).mean(-1).sum())
    rows = []
    for clipping in clippings:
        flat = float(np.mean(np.sqrt([group.size for group in groups[clipping]])))
        signals = [float(torch.linalg.vector_norm(sums[clipping, k])) / samples for k in (1, 2)]
        rows.append([clipping, samples, ratios[clipping] / samples, flat, *signals])
    return pd.DataFrame(rows, columns=SHAPE_COLUMNS)


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
    training = training.model_copy(update={"chunk": settings.chunk})
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
