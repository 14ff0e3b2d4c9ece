"""Orders of the columns: every order is drawn once, sorted, documented ones are named."""

import numpy as np
import pandas as pd
import pytest

from descent_toys import PLAIN_ORDERS, SETTINGS, dataset
from dpnoise_papers.inid_2024.descent_settings import DescentOrders
from dpnoise_papers.inid_2024.figures.descent_orders import LOOKS, PRINTED, descent_orders
from dpnoise_papers.inid_2024.tables.descent_variants import descent_orders as experiment
from dpnoise_papers.style import save

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
def table():
    return experiment(SETTINGS, ONE, dataset())[0]


def test_each_order_is_a_point_and_spr_is_sorted(table, tmp_path):
    figure = descent_orders(table, PAPER)
    (panel,) = figure.axes
    last = table[(table["protocol"] == "printed") & (table["passes"] == 3)]
    points = [part.get_offsets() for part in panel.collections if len(part.get_offsets()) == 5]
    drawn = {tuple(sorted(np.asarray(part)[:, 1])) for part in points}
    assert drawn == {tuple(sorted(own["error"])) for _, own in last.groupby("scheme")}
    spr = np.asarray(points[0])[:, 1]
    assert (np.diff(spr) >= 0).all()
    assert [text.get_text() for text in panel.get_xticklabels()] == ["as-is"]
    assert {0.02, 0.01} <= {line.get_ydata()[0] for line in panel.get_lines()}
    words = {text.get_text() for text in figure.legends[0].get_texts()}
    assert words == {look["label"] for look in LOOKS.values()} | set(PRINTED.values())
    assert all(path.stat().st_size for path in save(figure, tmp_path / "orders"))


def test_a_table_without_rows_is_an_empty_figure(table):
    assert len(descent_orders(table.iloc[:0], PAPER).axes) == 1
