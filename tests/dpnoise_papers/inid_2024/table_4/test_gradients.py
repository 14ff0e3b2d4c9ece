"""Gradients of the first steps, beside the noise of the whole training."""

import numpy as np
import pytest

import deep_toys as toys

torch = pytest.importorskip("torch")
from dpnoise_papers.data.images import ImageSet  # noqa: E402
from dpnoise_papers.inid_2024.deep_settings import MeasuredGradients  # noqa: E402
from dpnoise_papers.inid_2024.table_4.cells import cell_noise  # noqa: E402
from dpnoise_papers.inid_2024.table_4.gradients import UNTRAINED, measured_gradients  # noqa: E402

MEASURED = MeasuredGradients(
    cells=("none", "gaussian-1e-05-8-iid", "gaussian-1e-05-8-optimal"),
    learning_rate=0.5, records=2, steps=3, tested=5, shaped=6, seed=3,
)  # fmt: skip


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
