"""Traces of the Fisher matrix against sums over all labels, for a linear classifier by hand."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from dpnoise_papers.inid_2024.deep.network import (  # noqa: E402
    initial_parameters,
    parameter_groups,
    residual_network,
)
from dpnoise_papers.inid_2024.deep.public import fisher_traces  # noqa: E402
from dpnoise_papers.inid_2024.deep_settings import Network  # noqa: E402
from dpnoise_papers.seeds import generator  # noqa: E402

NETWORK = Network(widths=(4, 8), blocks=1, stride=2, normalisation=2)


def test_the_classifier_has_the_trace_of_its_features():
    """For logits W z + b: E ||g||^2 = (1 + ||z||^2) sum_c p_c (1 - 2 p_c + sum p^2)."""
    images = 4000
    found = fisher_traces(NETWORK, "layer", (1, 6, 6), 3, networks=1, images=images, seed=4)
    model = residual_network(NETWORK, 1, 3)
    rng = generator(4, "public", 0)
    parameters = initial_parameters(model, rng)
    inputs = torch.from_numpy(rng.random((images, 1, 6, 6), dtype=np.float32))
    seen = {}

    def keep(_module, given, _):
        seen["z"] = given[0]

    model.classifier.register_forward_hook(keep)
    with torch.no_grad():
        logits = torch.func.functional_call(model, parameters, (inputs,))
    p = torch.softmax(logits.double(), -1)
    z = seen["z"].double()
    exact = (1 + (z**2).sum(-1)) * (1 - (p**2).sum(-1))
    assert found[-1] == pytest.approx(float(exact.mean()), rel=0.03)


def test_traces_add_up_over_groups_and_are_reproducible():
    given = {"networks": 2, "images": 8, "seed": 0}
    by_layer = fisher_traces(NETWORK, "layer", (1, 6, 6), 3, **given)
    by_tensor = fisher_traces(NETWORK, "tensor", (1, 6, 6), 3, **given)
    model = residual_network(NETWORK, 1, 3)
    assert len(by_layer) == len(parameter_groups(model, "layer"))
    assert by_layer.sum() == pytest.approx(by_tensor.sum(), rel=1e-9)
    assert np.all(by_layer > 0.0)
    again = fisher_traces(NETWORK, "layer", (1, 6, 6), 3, **given)
    assert again.tolist() == by_layer.tolist()
