"""Residual networks with group normalisation, gradients of single samples, their clipped sum.

He et al., "Deep Residual Learning for Image Recognition" (2016), Section 4.2: a convolution, stages
of residual blocks of two 3 x 3 convolutions, the mean over height and width, and one linear
classifier; shortcuts have no parameters. Three stages of three blocks with 16, 32 and 64 channels
are ResNet-20. Batch normalisation would mix the samples of a batch, so that no sample has a
gradient of its own; group normalisation (Wu & He 2018) takes its place.

A network here is a structure without values; its parameters are dictionaries from name to tensor.

Several networks of one structure are differentiated at once: parameters and batches have a first
axis for the R networks, gradients a second one for the B samples of each.

What is proved of the clipped sum, floating point included. A group's gradient is added in whole
multiples of u = 2^ceil(log2 C) / 2^30, rounded towards zero, which lowers every norm. The norm is
computed in float64 with a relative error below K 2^-53 in any order of addition; the factor and the
product are float32 and add less than 3 * 2^-24. The margin 2^-20 of the threshold covers both for K
up to 2^32. So what a sample contributes to a group has norm at most C, and up to 2^22 such
contributions of at most 2^30 units are added without any rounding: adding or removing a sample
changes the sum of a group by its own contribution, and by nothing else.

All of this is arithmetic on single entries, which no setting of matrix products changes; an entry
so small that a processor may flush it to zero adds no unit.

Nothing here waits for a GPU: no value is read by the processor that launches the work.

Not proved: that a sample's gradient is computed with the same rounding whichever samples are
beside it. The kernels used here were never seen to differ for two or more samples and networks
(the tests look); a single sample is padded to two for this reason.
"""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from dpnoise._imports import imports_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from dpnoise_papers.inid_2024.settings import Network


with imports_of("deep"):
    import torch
    from torch import Tensor, nn
    from torch.func import functional_call, grad_and_value, vmap
    from torch.nn import functional


_MARGIN = 2.0**-20
_UNITS = 30  # powers of two in a threshold
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


def parameter_groups(model: nn.Module, *, whole: bool = False) -> list[Group]:
    """Groups of the parameters of a model, in its order.

    Parameters
    ----------
    model : torch.nn.Module
        From `residual_network`.
    whole : bool
        Whether all parameters are one group, for global clipping. Else each layer is one: a
        convolution with its normalisation, or the classifier; 20 in ResNet-20.

    Returns
    -------
    list of Group
        Each parameter is in one group.
    """
    sizes = {name: tensor.numel() for name, tensor in model.named_parameters()}

    def group_of(name: str) -> str:
        module, _, _ = name.rpartition(".")
        layer, _, kind = module.rpartition(".")
        return "whole" if whole else layer if kind in _LAYER else module

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


class ClippedSum(NamedTuple):
    """Sum of clipped gradients.

    Attributes
    ----------
    sums : torch.Tensor, shape (R, K)
        In float64, exact; all tensors are flat and one behind the other.
    clipped : torch.Tensor of bool, shape (R, B, M)
        Where the norm of a group was lowered.
    kept : torch.Tensor of bool, shape (R, B)
        Which samples count: present, with a finite gradient.
    """

    sums: Tensor
    clipped: Tensor
    kept: Tensor


def sample_gradients(
    model: nn.Module, parameters: Mapping[str, Tensor], images: Tensor, labels: Tensor
) -> tuple[dict[str, Tensor], Tensor]:
    """Gradient of the cross-entropy of each sample, and the losses.

    Parameters
    ----------
    model : torch.nn.Module
        Structure.
    parameters : mapping of str to torch.Tensor, shape (R, ...)
        Of each network.
    images : torch.Tensor, shape (R, B, channels, height, width)
        Samples of each network.
    labels : torch.Tensor of int, shape (R, B)
        Classes.

    Returns
    -------
    gradients : dict of str to torch.Tensor, shape (R, B, ...)
        In float32.
    losses : torch.Tensor, shape (R, B)
        In float32.
    """

    def loss(values: dict[str, Tensor], image: Tensor, label: Tensor) -> Tensor:
        logits = functional_call(model, values, (image[None],))
        return functional.cross_entropy(logits, label[None])

    each_sample = vmap(grad_and_value(loss), in_dims=(None, 0, 0))
    if len(images) > 1:
        gradients, losses = vmap(each_sample)(dict(parameters), images, labels)
        return gradients, losses
    single = {name: value[0] for name, value in parameters.items()}
    gradients, losses = each_sample(single, images[0], labels[0])
    return {name: value[None] for name, value in gradients.items()}, losses[None]


def clipped_sum(
    gradients: Mapping[str, Tensor],
    groups: Sequence[Group],
    clips: Sequence[float],
    order: int,
    present: Tensor,
) -> ClippedSum:
    """Sum over samples of gradients that are clipped by group.

    Parameters
    ----------
    gradients : mapping of str to torch.Tensor, shape (R, B, ...)
        In float32.
    groups : sequence of Group
        The M groups.
    clips : sequence of float
        Threshold of each group.
    order : {1, 2}
        Of the norm.
    present : torch.Tensor of bool, shape (R, B)
        Which samples are in the batch; others are padding.

    Returns
    -------
    ClippedSum
        Of which a sample changes group m by a vector of norm at most `clips[m]`. A sample whose
        gradient is not finite anywhere contributes 0: an error would tell of its presence.
    """
    flat = {name: gradient.flatten(2) for name, gradient in gradients.items()}
    by_group = torch.stack(
        [_norm([flat[name] for name in group.tensors], order) for group in groups], -1
    )
    kept = present & torch.isfinite(by_group).all(-1)
    sums, clipped = [], []
    for m, (group, clip) in enumerate(zip(groups, clips, strict=True)):
        unit, inner = 2.0 ** (math.ceil(math.log2(clip)) - _UNITS), (1.0 - _MARGIN) * clip
        clipped.append(kept & (by_group[..., m] > inner))
        shrunk = inner / by_group[..., m].clamp(min=inner) / unit
        factor = shrunk.masked_fill(~kept, 0.0).to(torch.float32)[..., None]
        for name in group.tensors:
            scaled = (flat[name] * factor).masked_fill(~kept[..., None], 0.0)  # 0 times nan is nan
            whole_units = scaled.to(torch.int64)  # rounds towards zero
            sums.append(whole_units.sum(1).to(torch.float64) * unit)
    return ClippedSum(torch.cat(sums, -1), torch.stack(clipped, -1), kept)


def _norm(parts: Sequence[Tensor], order: int) -> Tensor:
    """Norm of flat gradients of some tensors together, in float64."""
    norms = [torch.linalg.vector_norm(part, order, -1, dtype=torch.float64) for part in parts]
    return torch.linalg.vector_norm(torch.stack(norms, -1), order, -1)
