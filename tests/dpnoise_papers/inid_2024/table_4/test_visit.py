"""Visits to a device: no step twice, the same tables, and refusals."""

import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import deep_toys as toys
from dpnoise_papers import cli
from dpnoise_papers.data.images import ImageSet

torch = pytest.importorskip("torch")
from dpnoise_papers.inid_2024.deep import training  # noqa: E402
from dpnoise_papers.inid_2024.table_4.training import cifar10_cell, train_cell  # noqa: E402
from dpnoise_papers.inid_2024.table_4.visit import visit  # noqa: E402

DATA = replace(toys.images(), note="toy copy")
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
        assert visit(table, DATA, Questions(questions), print) == 0
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
        found = train_cell(table, DATA, part)
        assert all(a.equals(b) for a, b in zip(found, train_cell(alone, DATA, part), strict=True))


def test_a_cell_that_diverges_stops_no_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    bad = replace(DATA, train=np.full_like(DATA.train, np.nan))
    assert visit(toys.table(**SMALL), bad, Questions(1000), print) == 1
    *cells, last = capsys.readouterr().out.splitlines()
    assert all("expected a learning rate with finite losses" in line for line in cells)
    assert last.startswith("0 of 3 cells finished, 3 diverged, 0 left; checkpoints in states")


def test_a_checkpoint_of_other_settings_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    visit(toys.table(**SMALL), DATA, Questions(3), print)
    with pytest.raises(ValueError, match="expected a checkpoint of these settings, data and"):
        visit(toys.table(**SMALL | {"rate": 0.5}), DATA, Questions(3), print)


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
    assert all(one.equals(two) for one, two in zip(found, whole, strict=True))
    runs, groups = cifar10_cell(elsewhere, images, part="gaussian-1e-05-8-iid")
    assert (len(runs), len(groups)) == (0, 0)
    assert list(runs) == list(whole[0])


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
