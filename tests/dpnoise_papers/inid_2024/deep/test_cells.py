"""Cells of Table IV: one budget for all schemes, search and training, resumed runs; visits."""

import math
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import claim_toys as claims
import deep_toys as toys
from dpnoise_papers import cli
from dpnoise_papers.claims.model import Condition
from dpnoise_papers.data.images import ImageSet

torch = pytest.importorskip("torch")
from dpnoise_papers.inid_2024.deep import cells, training  # noqa: E402
from dpnoise_papers.inid_2024.deep.cells import (  # noqa: E402
    RUN_COLUMNS,
    cell_noise,
    cell_run,
    cifar10_cell,
    table_4_printed,
    table_4_trained,
    train_cell,
    visit,
)
from dpnoise_papers.inid_2024.deep.noise import noise_unit  # noqa: E402
from dpnoise_papers.inid_2024.deep.training import train  # noqa: E402

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
    runs = train_cell(toys.table(), DATA, "gaussian-1e-05-8-optimal")
    assert list(runs) == RUN_COLUMNS
    search, report = (runs[runs["phase"] == phase] for phase in ("search", "report"))
    assert set(search["learning_rate"]) == {0.1, 1.0}
    assert search.groupby("learning_rate")["repetition"].nunique().eq(2).all()
    assert report["repetition"].nunique() == 3
    means = search.groupby("learning_rate")["accuracy"].mean()
    assert set(report["learning_rate"]) == {means.idxmax()}
    losses = search["train_loss"].to_numpy()
    assert not np.isin(report["train_loss"], losses).any()


def test_the_cell_without_noise_is_not_clipped():
    runs = train_cell(toys.table(), DATA, "none")
    assert cell_run(toys.table(), DATA, "none", toys.TRIALS).scales == (0.0,)
    assert (runs["clipped"] == 0).all()
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

    monkeypatch.setattr(cells, "train", dies)
    with pytest.raises(KeyboardInterrupt):
        train_cell(table, DATA, "gaussian-1e-05-8-spr")
    assert [path.name for path in (tmp_path / "states").iterdir()] == [
        "toy-gaussian-1e-05-8-spr-search.npz"
    ]
    for _ in range(2):
        again = train_cell(table, DATA, "gaussian-1e-05-8-spr")
        assert whole.equals(again)
    with pytest.raises(ValueError, match="expected a checkpoint of these settings"):
        train_cell(toys.table(checkpoints="states", clip=2.0), DATA, "gaussian-1e-05-8-spr")


def runs_of(accuracies, noise="gaussian", delta=1e-5, epsilon=8.0, scheme="iid"):
    """Runs of one cell whose reported networks end with these accuracies."""
    rows = len(accuracies)
    return pd.DataFrame({
        "noise": noise, "delta": delta, "epsilon": epsilon, "scheme": scheme, "phase": "report",
        "repetition": range(rows), "learning_rate": 1.0, "epoch": 2, "samples": 9, "dropped": 0,
        "train_loss": 1.0, "accuracy": accuracies, "clipped": 0.5, "data_note": "lossy",
    })  # fmt: skip


def test_standard_errors_are_those_of_the_mean():
    table = toys.table()
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


def test_spr_is_open_between_noise_by_parameter_and_by_layer():
    """Other schemes have no range; what is beyond both is open by choices that were not tried."""
    table = toys.table()
    trained = {
        "gaussian-1e-05-8-iid": ([80.9, 81.1], "gaussian", 1e-5, 8.0, "iid"),
        "gaussian-1e-05-8-spr": ([40.9, 41.1], "gaussian", 1e-5, 8.0, "spr"),
        "gaussian-1e-05-8-spr-group": ([51.9, 52.1], "gaussian", 1e-5, 8.0, "spr-group"),
        "laplace-0-8-spr": ([30.0, 32.0], "laplace", 0.0, 8.0, "spr"),
    }
    parts = {name: runs_of([], scheme="none") for name in table.cells}
    parts |= {name: runs_of(*told) for name, told in trained.items()}
    plain, found = table_4_trained(table, parts), table_4_printed(table, parts)
    pd.testing.assert_frame_equal(found[plain.columns], plain)
    ends = found.set_index(["noise", "scheme"])[["accuracy_least", "accuracy_greatest"]]
    assert ends.loc[("gaussian", "spr")].tolist() == pytest.approx([41.0, 52.0])
    assert ends.loc[("gaussian", "spr-group")].tolist() == pytest.approx([52.0, 52.0])
    assert ends.loc[("gaussian", "iid")].tolist() == pytest.approx([81.0, 81.0])
    assert ends.loc[("laplace", "spr")].isna().all()  # half a range could accuse

    select = Condition.parse("noise=gaussian;scheme=spr")
    claim = claims.replace(claims.NUMBER, select=select, column="accuracy")
    tried = found.drop(columns="untried")
    for printed, expected in (("47.16", "undecided"), ("90.00", "differs")):
        one = claims.replace(claim, printed=printed)
        assert claims.verdict(one, found.assign(data_note="")).reason == "undecided"
        assert claims.verdict(one, tried.assign(data_note="")).reason == expected
        assert claims.verdict(one, plain.assign(data_note="")).reason == "differs"


def test_without_images_nothing_is_trained():
    runs = cifar10_cell(toys.table(), None, part="none")
    assert runs.empty
    assert list(runs) == RUN_COLUMNS
    table = toys.table()
    assert table_4_trained(table, dict.fromkeys(table.cells, runs)).empty


NOTED = replace(toys.images(), note="toy copy")
BUDGETS = [{"noise": "gaussian", "delta": 1e-5, "epsilon": 8.0}]
SMALL = {"checkpoints": "states", "budgets": BUDGETS, "schemes": ["iid", "optimal"]}


class Questions:
    """A limit that passes at the last of so many questions."""

    clock = staticmethod(time.monotonic)

    def __init__(self, questions):
        self.left = questions

    def passed(self):
        self.left -= 1
        return self.left <= 0


@pytest.mark.parametrize("questions", [2, 5, 13])
def test_visits_take_each_step_once_and_end_at_the_same_tables(
    questions, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    taken = Counter()
    step = training._Trainer.take_step

    def counted(self):
        taken[self.run.scope, self.run.trials[0].stream, self.step] += 1
        step(self)

    monkeypatch.setattr(training._Trainer, "take_step", counted)
    table, visits = toys.table(**SMALL), 0
    said = [""]
    while "3 of 3 cells finished" not in said[-1]:
        before = taken.total()
        assert visit(table, NOTED, Questions(questions), print) == 0
        said = capsys.readouterr().out.splitlines()
        assert taken.total() > before  # each visit gets somewhere
        visits += 1
    assert visits > 1
    assert taken.total() == 3 * (4 + 8)  # cells, with epochs of 4 steps: one searches, two report
    assert set(taken.values()) == {1}
    assert [line.split(":")[0] for line in said[:-1]] == list(table.cells)
    assert all("% (toy copy), standard error" in line for line in said[:-1])
    alone = toys.table(**SMALL | {"checkpoints": None})
    for part in table.cells:
        assert train_cell(table, NOTED, part).equals(train_cell(alone, NOTED, part))


def test_a_cell_that_diverges_stops_no_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    bad = replace(NOTED, train=np.full_like(NOTED.train, np.nan))
    assert visit(toys.table(**SMALL), bad, Questions(1000), print) == 1
    *told, last = capsys.readouterr().out.splitlines()
    assert all("expected a learning rate with finite losses" in line for line in told)
    assert last.startswith("0 of 3 cells finished, 3 diverged, 0 left; checkpoints in states")


def test_a_checkpoint_of_other_settings_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    visit(toys.table(**SMALL), NOTED, Questions(3), print)
    with pytest.raises(ValueError, match="expected a checkpoint of these settings, data and"):
        visit(toys.table(**SMALL | {"rate": 0.5}), NOTED, Questions(3), print)


def test_a_missing_device_leaves_out_what_is_not_finished(tmp_path, monkeypatch):
    """The tables of cells that were finished on another machine are made all the same."""
    if torch.cuda.is_available():
        pytest.skip("there is one")
    monkeypatch.chdir(tmp_path)
    pixels = np.random.default_rng(0).integers(0, 256, (40, 3, 6, 6), dtype=np.uint8)
    labels = (np.arange(40) % 3).astype(np.uint8)
    images = ImageSet("cifar10", "toy copy", pixels, labels, pixels, labels)
    whole = cifar10_cell(toys.table(**SMALL | {"checkpoints": None}), images, part="none")
    elsewhere = toys.table(**SMALL, device="cuda")
    with monkeypatch.context() as patched:
        one_result = training.one_result
        patched.setattr(training, "one_result", lambda _, precision: one_result("cpu", precision))
        cifar10_cell(elsewhere, images, part="none")
    found = cifar10_cell(elsewhere, images, part="none")
    assert found.equals(whole)
    runs = cifar10_cell(elsewhere, images, part="gaussian-1e-05-8-iid")
    assert runs.empty
    assert list(runs) == list(whole)


@pytest.mark.parametrize("minutes", ["0", "-3", "nan", "inf"])
def test_minutes_that_are_not_positive_are_refused(minutes, capsys):
    assert cli.main(["gpu-visit", f"--minutes={minutes}"]) == 2
    assert "minutes: expected a positive number, got" in capsys.readouterr().err


def test_a_missing_device_is_one_error(capsys):
    if torch.cuda.is_available():
        pytest.skip("there is one")
    assert cli.main(["gpu-visit", "--minutes=5"]) == 1
    assert capsys.readouterr().err == (
        "dpnoise-papers: device: expected a CUDA device, found none (or set device: cpu)\n"
    )


def test_a_visit_without_a_folder_for_checkpoints_is_refused(tmp_path, capsys):
    own = tmp_path / "own.yaml"
    own.write_text("inid_2024: {table_4_cifar10: {checkpoints: null, device: cpu}}\n")
    assert cli.main(["gpu-visit", "--minutes=5", str(own)]) == 2
    assert "table_4_cifar10.checkpoints: expected a folder, got none" in capsys.readouterr().err
