"""Residual networks: sizes of the paper's, groups that cover each parameter once."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from dpnoise_papers.inid_2024.deep.network import (  # noqa: E402
    initial_parameters,
    parameter_groups,
    residual_network,
)
from dpnoise_papers.inid_2024.learning_settings import Network  # noqa: E402

RESNET_20 = Network(widths=(16, 32, 64), blocks=3, stride=1, normalisation=8)
SMALL = Network(widths=(4, 8), blocks=2, stride=2, normalisation=2)


def test_resnet_20_has_the_sizes_of_he_et_al():
    """269722 = 270K parameters of 20 layers, of which normalisation has 2 for each channel."""
    model = residual_network(RESNET_20, 3, 10)
    groups = parameter_groups(model, "layer")
    channels = 7 * [16] + 6 * [32] + 6 * [64]
    inputs = [3, *channels[:-1]]
    weights = [9 * i * o + 2 * o for i, o in zip(inputs, channels, strict=True)]
    assert [group.size for group in groups] == [*weights, 65 * 10]
    assert sum(group.size for group in groups) == 269722
    assert len(groups) == 20


@pytest.mark.parametrize("by", ["tensor", "module", "layer", "whole"])
@pytest.mark.parametrize("network", [RESNET_20, SMALL])
def test_groups_cover_each_parameter_once_in_order(by, network):
    model = residual_network(network, 1, 10)
    groups = parameter_groups(model, by)
    names = [name for group in groups for name in group.tensors]
    assert names == [name for name, _ in model.named_parameters()]
    assert len({group.name for group in groups}) == len(groups)
    sizes = dict(model.named_parameters())
    assert [g.size for g in groups] == [sum(sizes[n].numel() for n in g.tensors) for g in groups]


def test_numbers_of_groups():
    """Of L layers: L - 1 have a weight, a scale and a shift; the classifier has two tensors."""
    model = residual_network(SMALL, 1, 10)
    counts = {by: len(parameter_groups(model, by)) for by in ("tensor", "module", "layer", "whole")}
    layers = counts["layer"]
    assert layers == 1 + 2 * 4 + 1
    assert counts["module"] == 2 * (layers - 1) + 1
    assert counts["tensor"] == 3 * (layers - 1) + 2
    assert counts["whole"] == 1


def test_a_block_with_zero_weights_is_its_shortcut():
    """A stage that halves keeps every second row and column, and adds channels of zeros."""
    network = Network(widths=(2, 4), blocks=1, stride=1, normalisation=1)
    model = residual_network(network, 1, 3)
    values = initial_parameters(model, np.random.default_rng(0))
    values |= {name: 0 * values[name] for name in values if name.startswith("blocks")}
    x = torch.from_numpy(np.random.default_rng(1).normal(size=(1, 1, 6, 6)).astype("f4"))
    stem = {n.removeprefix("stem."): v for n, v in values.items() if n.startswith("stem")}
    y = torch.relu(torch.func.functional_call(model.stem, stem, (x,)))
    found = torch.func.functional_call(model, values, (x,))
    pooled = y[..., ::2, ::2].mean((-2, -1))
    expected = pooled @ values["classifier.weight"][:, :2].T
    assert torch.allclose(found, expected + values["classifier.bias"], atol=1e-6)


def test_initial_weights_have_the_variance_of_he_et_al():
    model = residual_network(RESNET_20, 3, 10)
    values = initial_parameters(model, np.random.default_rng(2))
    for name, value in values.items():
        if value.ndim > 1:
            scaled = value.double() * (value[0].numel() / 2.0) ** 0.5
            slack = 5.0 / value.numel() ** 0.5
            assert abs(float(scaled.mean())) < slack
            assert abs(float(scaled.var()) - 1.0) < 1.5 * slack
        else:
            expected = 1.0 if "norm.weight" in name else 0.0
            assert torch.all(value == expected)


def test_initial_weights_depend_on_the_generator_alone():
    model = residual_network(SMALL, 1, 10)
    torch.manual_seed(1)
    first = initial_parameters(model, np.random.default_rng(3))
    torch.manual_seed(2)
    second = initial_parameters(model, np.random.default_rng(3))
    assert all(torch.equal(first[name], second[name]) for name in first)
