"""Cells of Table IV: one budget for all schemes, search and training, and resumed runs."""

import math

import numpy as np
import pytest

import deep_toys as toys

torch = pytest.importorskip("torch")
from dpnoise_papers.inid_2024.deep.accounting import noise_unit  # noqa: E402
from dpnoise_papers.inid_2024.deep.training import train  # noqa: E402
from dpnoise_papers.inid_2024.table_4 import training  # noqa: E402
from dpnoise_papers.inid_2024.table_4.training import (  # noqa: E402
    GROUPS_COLUMNS,
    RUN_COLUMNS,
    cell_noise,
    cell_run,
    train_cell,
)

SIZES = [44, 152, 152, 304, 592, 90]
DATA = toys.images()


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("scheme", ["iid", "spr", "optimal", "spr-group"])
def test_every_cell_spends_the_same_budget(noise, scheme):
    """On all its steps; the thresholds have norm C_0."""
    table = toys.table(clip=0.7)
    delta = {"gaussian": 1e-05, "laplace": 0}[noise]
    run = cell_run(table, toys.images(), f"{noise}-{delta:g}-8-{scheme}", toys.TRIALS)
    assert run.noise == noise
    unit = noise_unit(noise, 8.0, float(delta), 8, 0.25)
    assert math.isclose(toys.spent_unit(run), unit, rel_tol=1e-12)
    power = 2 if noise == "gaussian" else 1
    assert math.isclose(sum(clip**power for clip in run.clips), 0.7**power, rel_tol=1e-12)
    assert run.whole == (scheme == "iid")
    assert len(run.clips) == (1 if run.whole else 6)


def test_scales_follow_the_closed_forms():
    """sigma_m^4 ~ C_m^2 / K_m, beta_m^3 ~ C_m / K_m; SPR ~ C_m / K_m^(1/p); by group ~ C_m."""
    table, k = toys.table(), np.array(SIZES, dtype=float)
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
    runs, groups = train_cell(toys.table(), DATA, "gaussian-1e-05-8-optimal")
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
    runs, groups = train_cell(toys.table(), DATA, "none")
    assert (runs["noise_norm"] == 0).all()
    assert (groups["clipped"] == 0).all()
    assert set(runs["noise"]) == {"none"}
    assert set(runs["epsilon"]) == {math.inf}


def test_where_all_learning_rates_diverge_an_error_names_them():
    bad = np.full_like(DATA.train, np.nan)
    data = toys.Images(bad, DATA.train_labels, DATA.test, DATA.test_labels, "toy")
    with pytest.raises(RuntimeError, match=r"expected a learning rate with finite losses, got"):
        train_cell(toys.table(), data, "laplace-0-8-spr")


def test_cells_resume_from_their_checkpoints(tmp_path, monkeypatch):
    """Killed in the reported phase, and again with everything done."""
    monkeypatch.chdir(tmp_path)
    table = toys.table(checkpoints="states")
    whole = train_cell(toys.table(), DATA, "gaussian-1e-05-8-spr")
    calls = []

    def dies(*told, **more):
        calls.append(told)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return train(*told, **more)

    monkeypatch.setattr(training, "train", dies)
    with pytest.raises(KeyboardInterrupt):
        train_cell(table, DATA, "gaussian-1e-05-8-spr")
    assert [path.name for path in (tmp_path / "states").iterdir()] == [
        "toy-gaussian-1e-05-8-spr-search.npz"
    ]
    for _ in range(2):
        again = train_cell(table, DATA, "gaussian-1e-05-8-spr")
        assert all(one.equals(two) for one, two in zip(whole, again, strict=True))
    with pytest.raises(ValueError, match="expected a checkpoint of these settings"):
        train_cell(toys.table(checkpoints="states", clip=2.0), DATA, "gaussian-1e-05-8-spr")
