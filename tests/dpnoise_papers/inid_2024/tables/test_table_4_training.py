"""Table IV, trained: noise of each cell, the search, the summary and its errors."""

import math

import numpy as np
import pandas as pd
import pytest

import deep_toys as toys

torch = pytest.importorskip("torch")
from dpnoise_papers.data.images import ImageSet  # noqa: E402
from dpnoise_papers.inid_2024.deep.accounting import noise_unit  # noqa: E402
from dpnoise_papers.inid_2024.deep.run import effective_scale  # noqa: E402
from dpnoise_papers.inid_2024.deep.training import train  # noqa: E402
from dpnoise_papers.inid_2024.deep_settings import (  # noqa: E402
    MeasuredGradients,
    PrivateTraining,
)
from dpnoise_papers.inid_2024.tables import table_4_training  # noqa: E402
from dpnoise_papers.inid_2024.tables.table_4_gradients import measured_gradients  # noqa: E402
from dpnoise_papers.inid_2024.tables.table_4_training import (  # noqa: E402
    GROUPS_COLUMNS,
    RUN_COLUMNS,
    cell_noise,
    cell_run,
    cifar10_cell,
    groups_of_cells,
    table_4_gains,
    table_4_trained,
    train_cell,
)

DATA = toys.images()
BUDGETS = [
    {"noise": "gaussian", "delta": 1e-5, "epsilon": 8.0},
    {"noise": "laplace", "delta": 0.0, "epsilon": 8.0},
]


def settings(**changes):
    told = {
        "network": toys.NETWORK.model_dump(),
        "groups": "layer",
        "clip": 1.0,
        "rate": 0.25,
        "epochs": 2,
        "budgets": BUDGETS,
        "schemes": ["iid", "spr", "optimal", "spr-group"],
        "learning_rates": [0.1, 1.0],
        "search": 2,
        "search_epochs": 1,
        "repetitions": 3,
        "chunk": 64,
        "seed": 7,
    }
    return PrivateTraining.model_validate(told | changes)


SIZES = [44, 152, 152, 304, 592, 90]


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("scheme", ["iid", "spr", "optimal", "spr-group"])
def test_every_cell_spends_the_same_budget(noise, scheme):
    """On all its steps; the thresholds have norm C_0."""
    table = settings(clip=0.7)
    delta = {"gaussian": 1e-05, "laplace": 0}[noise]
    run = cell_run(table, DATA, f"{noise}-{delta:g}-8-{scheme}", toys.TRIALS)
    assert run.noise == noise
    unit = noise_unit(noise, 8.0, float(delta), 8, 0.25)
    assert math.isclose(effective_scale(run), unit, rel_tol=1e-12)
    power = 2 if noise == "gaussian" else 1
    assert math.isclose(sum(clip**power for clip in run.clips), 0.7**power, rel_tol=1e-12)
    assert run.whole == (scheme == "iid")
    assert len(run.clips) == (1 if run.whole else 6)


def test_scales_follow_the_closed_forms():
    """sigma_m^4 ~ C_m^2 / K_m, beta_m^3 ~ C_m / K_m; SPR ~ C_m / K_m^(1/p); by group ~ C_m."""
    table, k = settings(), np.array(SIZES, dtype=float)
    powers = {
        ("gaussian", "optimal"): k**-0.25,
        ("laplace", "optimal"): k ** (-1 / 3),
        ("gaussian", "spr"): k**-0.5,
        ("laplace", "spr"): k**-1.0,
        ("gaussian", "spr-group"): np.ones(6),
        ("laplace", "spr-group"): np.ones(6),
    }
    for (noise, scheme), expected in powers.items():
        delta = {"gaussian": 1e-05, "laplace": 0}[noise]
        cell = table.cells[f"{noise}-{delta:g}-8-{scheme}"]
        _, _, _, scales = cell_noise(table, cell, SIZES)
        ratios = np.array(scales) / expected
        assert np.allclose(ratios, ratios[0], rtol=1e-12)


def test_the_search_has_other_seeds_and_the_same_grid():
    runs, groups = train_cell(settings(), DATA, "gaussian-1e-05-8-optimal")
    assert list(runs) == RUN_COLUMNS
    assert list(groups) == GROUPS_COLUMNS
    search, report = (runs[runs["phase"] == phase] for phase in ("search", "report"))
    assert set(search["learning_rate"]) == {0.1, 1.0}
    assert search.groupby("learning_rate")["repetition"].nunique().eq(2).all()
    assert report["repetition"].nunique() == 3
    means = search.groupby("learning_rate")["accuracy"].mean()
    assert set(report["learning_rate"]) == {means.idxmax()}
    losses = search["train_loss"].to_numpy()
    assert not np.isin(report["train_loss"], losses).any()
    assert groups["epoch"].tolist() == [1] * 6 + [2] * 6


def test_the_cell_without_noise_is_not_clipped():
    runs, groups = train_cell(settings(), DATA, "none")
    assert (runs["noise_norm"] == 0).all()
    assert (groups["clipped"] == 0).all()
    assert set(runs["noise"]) == {"none"}
    assert set(runs["epsilon"]) == {math.inf}


def test_a_learning_rate_that_diverges_is_not_chosen():
    """Nor is an error raised while another one is left."""
    bad = np.full_like(DATA.train, np.nan)
    data = toys.Images(bad, DATA.train_labels, DATA.test, DATA.test_labels, "toy")
    with pytest.raises(RuntimeError, match=r"expected a learning rate with finite losses, got"):
        train_cell(settings(), data, "laplace-0-8-spr")
    epochs = pd.DataFrame(
        {
            "learning_rate": [0.1, 0.1, 1.0, 1.0],
            "epoch": [1, 2, 1, 2],
            "samples": [10, 10, 10, 10],
            "train_loss": [2.0, 1.0, 1.0, math.nan],
            "accuracy": [10.0, 20.0, 30.0, 90.0],
        }
    )
    assert table_4_training._best_rate(epochs, 2, "cell") == 0.1


def test_cells_resume_from_their_checkpoints(tmp_path, monkeypatch):
    """Killed in the reported phase, and again with everything done."""
    monkeypatch.chdir(tmp_path)
    table = settings(checkpoints="states")
    whole = train_cell(settings(), DATA, "gaussian-1e-05-8-spr")
    calls = []

    def dies(*told, **more):
        calls.append(told)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return train(*told, **more)

    monkeypatch.setattr(table_4_training, "train", dies)
    with pytest.raises(KeyboardInterrupt):
        train_cell(table, DATA, "gaussian-1e-05-8-spr")
    assert [path.name for path in (tmp_path / "states").iterdir()] == [
        "toy-gaussian-1e-05-8-spr-search.npz"
    ]
    for _ in range(2):
        again = train_cell(table, DATA, "gaussian-1e-05-8-spr")
        assert all(one.equals(two) for one, two in zip(whole, again, strict=True))
    with pytest.raises(ValueError, match="expected a checkpoint of these settings"):
        train_cell(settings(checkpoints="states", clip=2.0), DATA, "gaussian-1e-05-8-spr")


def runs_of(accuracies, noise="gaussian", delta=1e-5, epsilon=8.0, scheme="iid"):
    """Runs of one cell whose reported networks end with these accuracies."""
    rows = len(accuracies)
    return pd.DataFrame({
        "noise": noise, "delta": delta, "epsilon": epsilon, "scheme": scheme, "phase": "report",
        "repetition": range(rows), "learning_rate": 1.0, "epoch": 2, "samples": 9, "dropped": 0,
        "train_loss": 1.0, "accuracy": accuracies, "clipped": 0.5, "signal": 0.1,
        "noise_norm": 0.3, "data_note": "lossy",
    })  # fmt: skip


def test_standard_errors_are_those_of_the_mean():
    table = settings()
    parts = {name: runs_of([], scheme="none") for name in table.cells}
    parts["gaussian-1e-05-8-iid"] = runs_of([80.0, 82.0, 87.0])
    found = table_4_trained(table, parts)
    assert len(found) == 1
    [row] = found.to_dict("records")
    assert row["accuracy"] == 83.0
    assert math.isclose(row["accuracy_sd"], math.sqrt(13.0))
    assert math.isclose(row["accuracy_se"], math.sqrt(13.0 / 3.0))
    assert (row["lowest"], row["highest"], row["repetitions"]) == (80.0, 87.0, 3)
    assert row["edge"] == "highest"
    assert row["data_note"] == "lossy"  # so that no verdict on such data goes without it


def test_gains_and_the_seeds_that_tell_them_from_noise():
    """n seeds of each have a difference with variance (s^2 + t^2) / n."""
    table = settings()
    cells = {
        "gaussian-1e-05-8-iid": ([80.0, 82.0], "gaussian", 1e-5, 8.0, "iid"),
        "gaussian-1e-05-8-optimal": ([84.0, 90.0], "gaussian", 1e-5, 8.0, "optimal"),
        "laplace-0-8-optimal": ([10.0, 10.0], "laplace", 0.0, 8.0, "optimal"),
    }
    parts = {name: runs_of([], scheme="none") for name in table.cells}
    parts |= {name: runs_of(*told) for name, told in cells.items()}
    gains = table_4_gains(table_4_trained(table, parts))
    scheme = gains[gains["comparison"] == "scheme"].iloc[0]
    assert scheme["gain"] == 6.0
    assert math.isclose(scheme["gain_se"], math.sqrt((2.0 + 18.0) / 2))
    assert scheme["point_seeds"] == 80  # 2 sqrt(20 / 80) = 1
    [noise] = gains[gains["comparison"] == "noise"].to_dict("records")
    assert noise["gain"] == -77.0
    assert noise["other"] == "gaussian, delta = 1e-05"


def test_without_images_nothing_is_trained():
    runs, groups = cifar10_cell(settings(), None, part="none")
    assert runs.empty
    assert groups_of_cells({"none": groups}).empty
    table = settings()
    assert table_4_trained(table, dict.fromkeys(table.cells, runs)).empty
    assert table_4_gains(table_4_trained(table, dict.fromkeys(table.cells, runs))).empty


MEASURED = MeasuredGradients(
    cells=("none", "gaussian-1e-05-8-iid", "gaussian-1e-05-8-optimal"),
    learning_rate=0.5, records=2, steps=3, tested=5, seed=3,
)  # fmt: skip


def test_measured_gradients_have_the_noise_of_the_whole_training():
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (40, 3, 8, 8), dtype=np.uint8)
    labels = (np.arange(40) % 10).astype(np.uint8)
    images = ImageSet("cifar10", "toy", pixels, labels, pixels, labels)
    table = settings()
    totals, groups = measured_gradients(MEASURED, table, images)
    assert totals["steps"].tolist() == [3, 6] * 3
    assert set(totals["accuracy"] % 20) == {0.0}  # of five images
    cell = groups[groups["cell"] == "gaussian-1e-05-8-optimal"].iloc[:6]
    _, _, clips, scales = cell_noise(
        table, table.cells[cell["cell"].iloc[0]], cell["size"].tolist()
    )
    assert np.allclose(cell["scale"], scales)
    assert np.allclose(cell["threshold"], clips)
    empty = measured_gradients(MEASURED, table, None)
    assert [list(one) for one in empty] == [list(totals), list(groups)]
