"""Sizes of gradients by group that cost no privacy: untrained networks on synthetic images.

Labels are drawn from the network itself, so that the mean square of a group's gradient is the trace
of its block of the Fisher matrix, which near a model that fits is that of the Hessian: the weight
of the group's noise in the loss (docs/deep-learning.md, section 7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpnoise._imports import imports_of
from dpnoise_papers.inid_2024.deep.gradients import group_norms, sample_gradients
from dpnoise_papers.inid_2024.deep.network import (
    initial_parameters,
    parameter_groups,
    residual_network,
)
from dpnoise_papers.seeds import generator

with imports_of("deep"):
    import torch
    from torch import nn
    from torch.func import functional_call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpnoise._types import Array
    from dpnoise_papers.inid_2024.deep.network import Group
    from dpnoise_papers.inid_2024.deep_settings import GroupBy, Network


def fisher_traces(
    network: Network,
    groups: GroupBy,
    shape: tuple[int, int, int],
    classes: int,
    *,
    networks: int,
    images: int,
    seed: int,
) -> Array:
    """Mean square of the gradient of each group of an untrained network.

    Parameters
    ----------
    network : Network
        Structure.
    groups : {"tensor", "module", "layer"}
        Groups of parameters.
    shape : tuple of int
        Channels, height and width of an image; its pixels are independent and uniform in [0, 1].
    classes : int
        Labels, drawn from the network's own chances.
    networks, images : int
        How many, with initial weights of their own, and on how many images each.
    seed : int
        Of all draws.

    Returns
    -------
    numpy.ndarray, shape (M,)
        Positive.
    """
    model = residual_network(network, shape[0], classes)
    parts = parameter_groups(model, groups)
    found = [
        _traces_of_one(model, parts, (images, *shape), classes, generator(seed, "public", k))
        for k in range(networks)
    ]
    return np.mean(found, axis=0)


def _traces_of_one(
    model: nn.Module,
    groups: Sequence[Group],
    shape: tuple[int, ...],
    classes: int,
    rng: np.random.Generator,
) -> Array:
    """Mean square of the gradient of each group of one network, shape (M,)."""
    parameters = initial_parameters(model, rng)
    inputs = torch.from_numpy(rng.random(shape, dtype=np.float32))
    with torch.no_grad():
        logits = functional_call(model, parameters, (inputs,))
        chances = torch.softmax(logits.to(torch.float64), -1).cumsum(-1).numpy()
    drawn = (chances < rng.random((len(inputs), 1))).sum(-1)
    labels = torch.from_numpy(np.minimum(drawn, classes - 1))
    one = {name: value[None] for name, value in parameters.items()}
    gradients, _ = sample_gradients(model, one, inputs[None], labels[None])
    norms = torch.stack(
        [
            torch.linalg.vector_norm(part.flatten(2), dim=-1, dtype=torch.float64)
            for part in gradients.values()
        ],
        -1,
    )
    by_group = group_norms(norms, list(gradients), groups, 2)
    return (by_group**2).mean((0, 1)).numpy()
