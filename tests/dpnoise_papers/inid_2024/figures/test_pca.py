"""Figure of DP-PCA: every number is on it, marked if private."""

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.inid_2024.figures.pca import VARIANTS, table_3
from dpnoise_papers.inid_2024.learning_settings import Pca
from dpnoise_papers.inid_2024.tables.pca import dp_pca_table


@pytest.fixture(scope="module")
def table():
    settings = Pca(
        seed=0, variants=["unclipped", "unclipped-largest", "add-remove"],
        samples=200, features=8, rank=2, subspaces=1, epsilons=[1.0, 8.0], delta=1e-5, trials=5,
        others={"counts": [1], "variants": ["unclipped"], "trials": 2},
    )  # fmt: skip
    return dp_pca_table(settings)


PRINTED = pd.DataFrame(
    {
        "noise": ["gaussian", "laplace"], "scheme": ["iid", "inid"], "epsilon": ["1", "8"],
        "column": "sre", "printed": [0.4, 0.3], "half_unit": 0.05, "verdict": "differs",
    }
)  # fmt: skip


def points(axes):
    offsets = [c.get_offsets() for c in axes.collections if len(c.get_offsets())]
    return {tuple(np.round(p, 9)) for offset in offsets for p in np.asarray(offset)}


def test_every_variant_has_its_line_of_points(table):
    figure = table_3(table, PRINTED)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    words = [label.get_text() for label in axes.get_yticklabels()]
    groups = table.drop_duplicates(["noise", "scheme", "reading"])
    expected = [
        VARIANTS[name]
        for key, rows in groups.groupby(["noise", "scheme"], sort=False)
        for name in VARIANTS if name in set(rows["reading"])
    ]  # fmt: skip
    assert words == expected
    drawn = points(axes)
    assert len({x for x, _ in drawn}) == table["sre"].round(9).nunique()
    assert len(drawn) == len(table)
    bars = [line for line in axes.get_lines() if len(set(line.get_xdata())) == 1]
    assert sorted(line.get_xdata()[0] for line in bars) == [0.3, 0.4]


def test_what_is_private_is_told_apart(table):
    noises = ["Gaussian noise", "Laplace noise"]
    words = [text.get_text() for text in table_3(table).legends[0].get_texts()]
    assert words == ["private if a sample is added or removed", "not private", *noises]
    alone = table[table["reading"] == "add-remove"].reset_index(drop=True)
    words = [text.get_text() for text in table_3(alone, PRINTED).legends[0].get_texts()]
    printed = ["printed", "printed, at the noise that gives it"]
    assert words == ["private if a sample is added or removed", *noises, *printed]


def test_errors_stand_at_their_noise(table):
    drawn = points(table_3(table, PRINTED).axes[1])
    own = table[~table["reading"].str.startswith("stated") & (table["reading"] != "unclipped")]
    expected = own[["off_diagonal", "sre"]].round(9)
    assert {tuple(row) for row in expected.to_numpy()} <= drawn
    assert {0.4, 0.3} <= {y for _, y in drawn}  # the printed errors, at the noise of the curve
