"""Shape of real gradients: their l1 norm over their l2 norm, and what clipping leaves of them.

A gradient of K entries of one size has the ratio sqrt(K), one with a single entry the ratio 1. It
is how much more clipping to an l1 norm takes away than clipping to the same l2 norm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pandas as pd

from dpnoise._imports import imports_of
from dpnoise_papers.inid_2024.deep.gradients import clipped_sum, group_norms, sample_gradients
from dpnoise_papers.inid_2024.deep.network import parameter_groups, residual_network
from dpnoise_papers.inid_2024.deep.scales import flat_clips

with imports_of("deep"):
    import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpnoise_papers.inid_2024.deep.images import Images
    from dpnoise_papers.inid_2024.deep.scales import Noise
    from dpnoise_papers.inid_2024.deep_settings import PrivateTraining

SHAPE_COLUMNS = ["clipping", "samples", "l1_over_l2", "flat", "signal_l1", "signal_l2"]
_NORMS: tuple[Noise, Noise] = ("laplace", "gaussian")  # order 1 and 2
Clipping = Literal["whole", "group"]


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
