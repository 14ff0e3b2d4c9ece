"""Figures 5 and 6 of inid-2024: what is run is drawn, what is printed is marked."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import FillBetweenPolyCollection
from matplotlib.colors import to_rgb

from descent_toys import dataset, settings
from dpnoise_papers.inid_2024.figures.improved_descent import PRINTED as LABELS
from dpnoise_papers.inid_2024.figures.improved_descent import (
    SCHEMES,
    descent_orders,
    descent_paths,
)
from dpnoise_papers.inid_2024.tables.descent_orders import ORDERS_COLUMNS, spread
from dpnoise_papers.inid_2024.tables.descent_orders import descent_orders as experiment
from dpnoise_papers.style import save

PRINTED = pd.DataFrame(
    {
        "dataset": "california",
        "protocol": ["printed", "printed", "fresh"],
        "scheme": ["spr", "optimal", "spr"],
        "passes": ["3", "3", "1"],
        "printed": [0.0188, 0.0045, 0.2],
    }
)
ONE = settings(documented={"california": {"as-is": ["a", "b", "c"]}}, random=4)
PAPER = pd.DataFrame(
    {
        "dataset": "california",
        "protocol": "printed",
        "scheme": ["spr", "optimal"],
        "printed": [0.02, 0.01],
    }
)


def words(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def points(panel):
    """Return all points of scatters, rounded, as a set."""
    offsets = [part.get_offsets() for part in panel.collections if len(part.get_offsets())]
    return {tuple(np.round(point, 9)) for part in offsets for point in np.asarray(part)}


@pytest.fixture(scope="module")
def orders_table():
    return experiment(ONE, dataset())[0]


def drawn(panel):
    """Return the lines of a panel that have several points, as tuples of their heights."""
    return {tuple(line.get_ydata()) for line in panel.get_lines() if len(line.get_ydata()) > 1}


def colour_at(panel, point):
    """Return the colour of the scatter with a point at this place."""
    for part in panel.collections:
        if any(np.allclose(place, point) for place in np.asarray(part.get_offsets())):
            return tuple(np.round(part.get_facecolor()[0][:3], 3))
    return None


def test_a_curve_ends_at_the_number_that_is_judged(orders_table):
    (panel,) = descent_paths(orders_table, PRINTED).axes
    searched = orders_table[orders_table["protocol"] == "printed"]
    expected = set()
    for scheme in SCHEMES:
        own = searched[(searched["scheme"] == scheme) & (searched["order"] == "as-is")]
        expected.add(tuple(own["error"]))
        judged = spread(orders_table).query(
            f"scheme == '{scheme}' and protocol == 'printed' and passes == 3"
        )
        assert own["error"].iloc[-1] == judged["error"].iloc[0]
    assert drawn(panel) == expected
    bands = [part.get_paths()[0].vertices[:, 1] for part in panel.collections
             if isinstance(part, FillBetweenPolyCollection)]  # fmt: skip
    assert len(bands) == 2
    random = searched[searched["order"].str.startswith("random")]
    for scheme, band in zip(SCHEMES, bands, strict=True):
        own = random.loc[random["scheme"] == scheme, "error"]
        assert (band.min(), band.max()) == pytest.approx((own.min(), own.max()))


def test_each_printed_star_has_the_colour_of_its_scheme_and_everything_is_in_the_key(orders_table):
    figure = descent_paths(orders_table, PRINTED)
    (panel,) = figure.axes
    assert {(3.0, 0.0188), (3.0, 0.0045), (1.0, 0.2)} <= points(panel)
    for point, scheme in (((3.0, 0.0188), "spr"), ((3.0, 0.0045), "optimal")):
        colour = tuple(np.round(to_rgb(SCHEMES[scheme]["color"]), 3))
        assert colour_at(panel, point) == colour
    assert set(words(figure)) == {
        *(look["label"] for look in SCHEMES.values()), *LABELS.values(), "DP-CD of Mangold et al.",
        "columns in random orders",
    }  # fmt: skip
    assert [text.get_text() for text in panel.texts] == ["strong lines: columns in as-is order"]
    other = orders_table.replace({"order": {"random-1": "cal-housing"}})
    assert "columns in cal_housing's order" in words(descent_paths(other, PRINTED))


def test_paths_without_printed_numbers_or_data(orders_table, tmp_path):
    assert not set(LABELS.values()) & set(words(descent_paths(orders_table, PRINTED[:0])))
    figure = descent_paths(pd.DataFrame(columns=ORDERS_COLUMNS), PRINTED)
    assert save(figure, tmp_path / "empty")[0].stat().st_size > 0


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
    assert words == {look["label"] for look in SCHEMES.values()} | set(LABELS.values())
    assert all(path.stat().st_size for path in save(figure, tmp_path / "orders"))


def test_a_table_without_rows_is_an_empty_figure(orders_table):
    assert len(descent_orders(orders_table.iloc[:0], PAPER).axes) == 1
