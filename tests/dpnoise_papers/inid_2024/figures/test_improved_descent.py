"""Figures 5 and 6 of inid-2024: what is run is drawn, what is printed is marked."""

import numpy as np
import pandas as pd
import pytest

from descent_toys import PLAIN_ORDERS, SETTINGS, dataset
from dpnoise_papers.inid_2024.figures.improved_descent import (
    LOOKS,
    descent_orders,
    descent_paths,
)
from dpnoise_papers.inid_2024.figures.improved_descent import PRINTED as LABELS
from dpnoise_papers.inid_2024.learning_settings import DescentOrders
from dpnoise_papers.inid_2024.tables.descent_orders import descent_orders as experiment
from dpnoise_papers.inid_2024.tables.improved_descent import COLUMNS, improved_descent
from dpnoise_papers.style import OURS, save

PRINTED = pd.DataFrame(
    {
        "dataset": "california",
        "features": "raw",
        "protocol": ["printed", "printed", "fresh"],
        "scheme": ["spr", "optimal", "spr"],
        "passes": ["3", "3", "1"],
        "printed": [0.0188, 0.0045, 0.2],
    }
)
ONE = DescentOrders(
    **PLAIN_ORDERS | {"documented": {"california": {"as-is": ["a", "b", "c"]}}, "random": 4}
)
PAPER = pd.DataFrame(
    {
        "dataset": "california",
        "protocol": "printed",
        "scheme": ["spr", "optimal"],
        "printed": [0.02, 0.01],
    }
)


@pytest.fixture(scope="module")
def paths():
    return improved_descent(SETTINGS, dataset())


def words(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def points(panel):
    """Return all points of scatters, rounded, as a set."""
    offsets = [part.get_offsets() for part in panel.collections if len(part.get_offsets())]
    return {tuple(np.round(point, 9)) for part in offsets for point in np.asarray(part)}


def test_paths_show_the_fresh_cyclic_run_and_the_printed_numbers(paths):
    figure = descent_paths(paths, PRINTED)
    raw, standardised = figure.axes
    here = paths[
        (paths["features"] == "raw") & (paths["order"] == "cyclic") & (paths["protocol"] == "fresh")
        & (paths["reading"] == "run")
    ]  # fmt: skip
    expected = {tuple(own["error"]) for _, own in here.groupby("scheme")}
    assert {tuple(line.get_ydata()) for line in raw.get_lines()} == expected
    assert {(3.0, 0.0188), (3.0, 0.0045), (1.0, 0.2)} <= points(raw)
    assert not {(3.0, 0.0188), (3.0, 0.0045)} & points(standardised)
    assert len([line for line in standardised.get_lines() if len(line.get_ydata()) > 1]) == 1
    assert "all three schemes are one" in [text.get_text() for text in standardised.texts]
    assert set(words(figure)) == {
        "i.i.d.*", "SPR (usual DP-CD)", "optimal", "printed", "DP-CD of Mangold et al.", OURS,
        "a run of its own for this many passes",
    }  # fmt: skip


def test_paths_without_printed_numbers_or_data(paths, tmp_path):
    assert "printed" not in words(descent_paths(paths, PRINTED.iloc[:0]))
    figure = descent_paths(pd.DataFrame(columns=COLUMNS), PRINTED)
    assert save(figure, tmp_path / "empty")[0].stat().st_size > 0


@pytest.fixture(scope="module")
def orders_table():
    return experiment(SETTINGS, ONE, dataset())[0]


def test_each_order_is_a_point_and_spr_is_sorted(orders_table, tmp_path):
    figure = descent_orders(orders_table, PAPER)
    (panel,) = figure.axes
    last = orders_table[(orders_table["protocol"] == "printed") & (orders_table["passes"] == 3)]
    points = [part.get_offsets() for part in panel.collections if len(part.get_offsets()) == 5]
    drawn = {tuple(sorted(np.asarray(part)[:, 1])) for part in points}
    assert drawn == {tuple(sorted(own["error"])) for _, own in last.groupby("scheme")}
    spr = np.asarray(points[0])[:, 1]
    assert (np.diff(spr) >= 0).all()
    assert [text.get_text() for text in panel.get_xticklabels()] == ["as-is"]
    assert {0.02, 0.01} <= {line.get_ydata()[0] for line in panel.get_lines()}
    words = {text.get_text() for text in figure.legends[0].get_texts()}
    assert words == {look["label"] for look in LOOKS.values()} | set(LABELS.values())
    assert all(path.stat().st_size for path in save(figure, tmp_path / "orders"))


def test_a_table_without_rows_is_an_empty_figure(orders_table):
    assert len(descent_orders(orders_table.iloc[:0], PAPER).axes) == 1
