"""Shape of gradients: ratios of norms and signals against single gradients."""

import numpy as np
import pytest

import deep_toys as toys

torch = pytest.importorskip("torch")
from dpnoise_papers.inid_2024.deep.network import (  # noqa: E402
    initial_parameters,
    parameter_groups,
    residual_network,
)
from dpnoise_papers.inid_2024.deep.shape import SHAPE_COLUMNS, gradient_shapes  # noqa: E402

DATA = toys.images(train=7)


def single_gradients(parameters, groups):
    """Gradient of each training image by automatic differentiation, split by group."""
    model = residual_network(toys.NETWORK, 1, 3)
    found = []
    for image, label in zip(DATA.train, DATA.train_labels, strict=True):
        values = {name: value.clone().requires_grad_() for name, value in parameters.items()}
        logits = torch.func.functional_call(model, values, (torch.from_numpy(image[None]),))
        loss = torch.nn.functional.cross_entropy(logits, torch.tensor([label]))
        flat = [g.flatten() for g in torch.autograd.grad(loss, list(values.values()))]
        ends = np.cumsum([group.size for group in groups])[:-1]
        found.append(np.split(torch.cat(flat).numpy(), ends))
    return found


@pytest.mark.parametrize("clipping", ["whole", "group"])
def test_shapes_are_those_of_single_gradients(clipping):
    settings = toys.table(chunk=3)
    model = residual_network(toys.NETWORK, 1, 3)
    parameters = initial_parameters(model, np.random.default_rng(0))
    groups = parameter_groups(model, "whole" if clipping == "whole" else "layer")
    gradients = single_gradients(parameters, groups)
    arrays = {name: value.numpy() for name, value in parameters.items()}
    table = gradient_shapes(settings, arrays, DATA)
    assert list(table.columns) == SHAPE_COLUMNS
    row = table.set_index("clipping").loc[clipping]
    norms = {q: [[np.linalg.norm(g, q) for g in one] for one in gradients] for q in (1, 2)}
    ratios = np.array(norms[1]) / np.array(norms[2])
    assert row["l1_over_l2"] == pytest.approx(ratios.mean(), rel=1e-4)
    sizes = np.array([group.size for group in groups])
    assert row["flat"] == pytest.approx(np.sqrt(sizes).mean(), rel=1e-12)
    assert (ratios <= np.sqrt(sizes)).all()
    for q in (1, 2):
        clip = len(groups) ** (-1.0 / q)
        clipped = [
            np.concatenate([g * min(1.0, clip / np.linalg.norm(g, q)) for g in one])
            for one in gradients
        ]
        expected = np.linalg.norm(np.mean(clipped, axis=0))
        assert row[f"signal_l{q}"] == pytest.approx(expected, rel=1e-3)
    assert row["samples"] == 7
