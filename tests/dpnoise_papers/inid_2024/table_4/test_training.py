"""Training of cells of Table IV: the search, the networks reported, resumed cells."""

import math

import numpy as np
import pytest

import deep_toys as toys

torch = pytest.importorskip("torch")
from dpnoise_papers.inid_2024.deep.training import train  # noqa: E402
from dpnoise_papers.inid_2024.table_4 import training  # noqa: E402
from dpnoise_papers.inid_2024.table_4.training import (  # noqa: E402
    GROUPS_COLUMNS,
    RUN_COLUMNS,
    train_cell,
)

DATA = toys.images()


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
