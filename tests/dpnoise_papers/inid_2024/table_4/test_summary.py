"""Summary of trained cells: standard errors, gains and the networks that they take."""

import math

import pandas as pd
import pytest

import deep_toys as toys
from claim_toys import NUMBER, replace, verdict
from dpnoise_papers.claims.model import Condition

torch = pytest.importorskip("torch")
from dpnoise_papers.inid_2024.table_4.training import (  # noqa: E402
    cifar10_cell,
    groups_of_cells,
    table_4_printed,
    table_4_trained,
)


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
    cells = {
        "gaussian-1e-05-8-iid": ([80.9, 81.1], "gaussian", 1e-5, 8.0, "iid"),
        "gaussian-1e-05-8-spr": ([40.9, 41.1], "gaussian", 1e-5, 8.0, "spr"),
        "gaussian-1e-05-8-spr-group": ([51.9, 52.1], "gaussian", 1e-5, 8.0, "spr-group"),
        "laplace-0-8-spr": ([30.0, 32.0], "laplace", 0.0, 8.0, "spr"),
    }
    parts = {name: runs_of([], scheme="none") for name in table.cells}
    parts |= {name: runs_of(*told) for name, told in cells.items()}
    plain, found = table_4_trained(table, parts), table_4_printed(table, parts)
    pd.testing.assert_frame_equal(found[plain.columns], plain)
    ends = found.set_index(["noise", "scheme"])[["accuracy_least", "accuracy_greatest"]]
    assert ends.loc[("gaussian", "spr")].tolist() == pytest.approx([41.0, 52.0])
    assert ends.loc[("gaussian", "spr-group")].tolist() == pytest.approx([52.0, 52.0])
    assert ends.loc[("gaussian", "iid")].tolist() == pytest.approx([81.0, 81.0])
    assert ends.loc[("laplace", "spr")].isna().all()  # half a range could accuse

    select = Condition.parse("noise=gaussian;scheme=spr")
    claim = replace(NUMBER, select=select, column="accuracy")
    tried = found.drop(columns="untried")
    for printed, expected in (("47.16", "undecided"), ("90.00", "differs")):
        one = replace(claim, printed=printed)
        assert verdict(one, found.assign(data_note="")).reason == "undecided"
        assert verdict(one, tried.assign(data_note="")).reason == expected
        assert verdict(one, plain.assign(data_note="")).reason == "differs"


def test_without_images_nothing_is_trained():
    runs, groups = cifar10_cell(toys.table(), None, part="none")
    assert runs.empty
    assert groups_of_cells({"none": groups}).empty
    table = toys.table()
    assert table_4_trained(table, dict.fromkeys(table.cells, runs)).empty
