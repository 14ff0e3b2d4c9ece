"""Residual networks with group normalisation, and the groups of their parameters.

He et al., "Deep Residual Learning for Image Recognition" (2016), Section 4.2: a convolution, stages
of residual blocks of two 3 x 3 convolutions, the mean over height and width, and one linear
classifier; shortcuts have no parameters. Three stages of three blocks with 16, 32 and 64 channels
are ResNet-20. Batch normalisation would mix the samples of a batch, so that no sample has a
gradient of its own; group normalisation (Wu & He 2018) takes its place.

A network here is a structure without values; its parameters are dictionaries from name to tensor.
"""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Literal, NamedTuple

from dpnoise._imports import imports_of

with imports_of("deep"):
    import torch
    from torch import Tensor, nn
    from torch.nn import functional

if TYPE_CHECKING:
    import numpy as np

    from dpnoise_papers.inid_2024.learning_settings import GroupBy, Network

_LAYER = {"convolution", "norm"}  # modules that are one layer together


class Group(NamedTuple):
    """Parameters that are clipped together: a name, the names of the tensors and their size K_m."""

    name: str
    tensors: tuple[str, ...]
    size: int


class _Layer(nn.Module):
    """A 3 x 3 convolution without bias, and its normalisation."""

    def __init__(self, channels: tuple[int, int], stride: int, normalisation: int) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(*channels, 3, stride=stride, padding=1, bias=False)
        self.norm = nn.GroupNorm(normalisation, channels[1])

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.convolution(x))


class _Block(nn.Module):
    """Two layers and a shortcut, which drops rows and columns and adds channels of zeros."""

    def __init__(self, channels: tuple[int, int], stride: int, normalisation: int) -> None:
        super().__init__()
        self.first = _Layer(channels, stride, normalisation)
        self.second = _Layer((channels[1], channels[1]), 1, normalisation)
        self.stride, self.added = stride, channels[1] - channels[0]

    def forward(self, x: Tensor) -> Tensor:
        y = self.second(functional.relu(self.first(x)))
        shortcut = x[..., :: self.stride, :: self.stride]
        if self.added:  # else it would be copied
            shortcut = functional.pad(shortcut, (0, 0, 0, 0, 0, self.added))
        return functional.relu(y + shortcut)


class _ResidualNetwork(nn.Module):
    def __init__(self, network: Network, channels: int, classes: int) -> None:
        super().__init__()
        widths, normalisation = network.widths, network.normalisation
        self.stem = _Layer((channels, widths[0]), network.stride, normalisation)
        blocks, before = [], widths[0]
        for stage, width in enumerate(widths):
            for k in range(network.blocks):
                stride = 2 if stage and k == 0 else 1
                blocks.append(_Block((before, width), stride, normalisation))
                before = width
        self.blocks = nn.Sequential(*blocks)
        self.classifier = nn.Linear(before, classes)

    def forward(self, x: Tensor) -> Tensor:
        y = self.blocks(functional.relu(self.stem(x)))
        return self.classifier(y.mean((-2, -1)))


def residual_network(network: Network, channels: int, classes: int) -> nn.Module:
    """Structure of a residual network, without memory for its parameters.

    Parameters
    ----------
    network : Network
        Settings.
    channels, classes : int
        Of the images.

    Returns
    -------
    torch.nn.Module
        On the device 'meta'; for `torch.func.functional_call`.
    """
    with torch.device("meta"):
        return _ResidualNetwork(network, channels, classes)


def parameter_groups(model: nn.Module, by: GroupBy | Literal["whole"]) -> list[Group]:
    """Groups of the parameters of a model, in its order.

    Parameters
    ----------
    model : torch.nn.Module
        From `residual_network`.
    by : {"tensor", "module", "layer", "whole"}
        "tensor": each alone. "module": weights and biases of a convolution, a normalisation or a
        classifier. "layer": a convolution with its normalisation; 20 in ResNet-20. "whole": all
        parameters, for global clipping.

    Returns
    -------
    list of Group
        Each parameter is in one group.
    """
    sizes = {name: tensor.numel() for name, tensor in model.named_parameters()}

    def group_of(name: str) -> str:
        if by in {"tensor", "whole"}:
            return name if by == "tensor" else by
        module, _, _ = name.rpartition(".")
        layer, _, kind = module.rpartition(".")
        return layer if by == "layer" and kind in _LAYER else module

    found = []
    for name, members in groupby(sizes, group_of):
        tensors = tuple(members)
        found.append(Group(name, tensors, sum(sizes[tensor] for tensor in tensors)))
    return found


def initial_parameters(model: nn.Module, generator: np.random.Generator) -> dict[str, Tensor]:
    """Random parameters as He et al. (2015) draw them: weights of variance 2 over the inputs.

    Scales of normalisations are 1, all biases 0. The draws are those of the generator, and hence
    the same on every device.

    Parameters
    ----------
    model : torch.nn.Module
        From `residual_network`.
    generator : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    dict of str to torch.Tensor
        In float32, on the CPU.
    """
    parameters = {}
    for name, tensor in model.named_parameters():
        if tensor.ndim > 1:
            deviation = math.sqrt(2.0 * tensor.shape[0] / tensor.numel())
            value = torch.from_numpy(deviation * generator.standard_normal(tuple(tensor.shape)))
        else:
            value = torch.full(tensor.shape, float(name.endswith("norm.weight")))
        parameters[name] = value.to(torch.float32)
    return parameters
