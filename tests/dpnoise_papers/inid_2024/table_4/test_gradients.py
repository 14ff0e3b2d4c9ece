"""Measured gradients of Table IV: records of first steps, and their shape."""

import numpy as np
import pytest

import deep_toys as toys

torch = pytest.importorskip("torch")
from dpnoise_papers.data.images import ImageSet  # noqa: E402
from dpnoise_papers.inid_2024.deep.network import (  # noqa: E402
    initial_parameters,
    parameter_groups,
    residual_network,
)
from dpnoise_papers.inid_2024.learning_settings import MeasuredGradients  # noqa: E402
from dpnoise_papers.inid_2024.table_4.gradients import (  # noqa: E402
    SHAPE_COLUMNS,
    UNTRAINED,
    gradient_shapes,
    measured_gradients,
)
from dpnoise_papers.inid_2024.table_4.training import cell_noise  # noqa: E402

DATA = toys.images(train=7)
MEASURED = MeasuredGradients(
    cells=("none", "gaussian-1e-05-8-iid", "gaussian-1e-05-8-optimal"),
    learning_rate=0.5, records=2, steps=3, tested=5, shaped=6, chunk=64, seed=3,
)  # fmt: skip


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


def test_measured_gradients_have_the_noise_of_the_whole_training():
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (40, 3, 8, 8), dtype=np.uint8)
    labels = (np.arange(40) % 10).astype(np.uint8)
    images = ImageSet("cifar10", "toy", pixels, labels, pixels, labels)
    table = toys.table()
    totals, groups, shapes = measured_gradients(MEASURED, table, images)
    assert totals["steps"].tolist() == [3, 6] * 3
    assert set(totals["accuracy"] % 20) == {0.0}  # of five images
    cell = groups[groups["cell"] == "gaussian-1e-05-8-optimal"].iloc[:6]
    _, _, clips, scales = cell_noise(
        table, table.cells[cell["cell"].iloc[0]], cell["size"].tolist()
    )
    assert np.allclose(cell["scale"], scales)
    assert np.allclose(cell["threshold"], clips)
    empty = measured_gradients(MEASURED, table, None)
    assert [list(one) for one in empty] == [list(totals), list(groups), list(shapes)]
    assert shapes["cell"].tolist() == [
        cell for cell in (UNTRAINED, *MEASURED.cells) for _ in range(2)
    ]
    assert shapes["steps"].tolist() == [0, 0] + [6] * 6
    assert set(shapes["samples"]) == {6}
    assert (shapes["signal_l1"] <= shapes["signal_l2"]).all()
