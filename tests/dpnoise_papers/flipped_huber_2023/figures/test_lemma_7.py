"""The picture of Lemma 7: what it shows is what the table holds, with the same bytes each time."""

import numpy as np
import pytest

from dpnoise_papers.flipped_huber_2023.figures.privacy import lemma_7
from dpnoise_papers.flipped_huber_2023.settings import Lemma7
from dpnoise_papers.flipped_huber_2023.theory.counterexamples import lemma_7 as tabulate


@pytest.fixture(scope="module")
def table():
    return tabulate(Lemma7(alpha=1.0, gamma=1.0, epsilon=2.0, points=20))


def test_both_sides_are_drawn_in_each_panel(table):
    figure = lemma_7(table)
    panels = figure.axes
    for panel, (dimension, rows) in zip(panels, table.groupby("dimension"), strict=True):
        curve, bound = panel.lines
        assert panel.get_title(loc="left") == f"K = {dimension}"
        seen = rows["left"].to_numpy() > 1e-14
        assert np.array_equal(curve.get_ydata()[seen], rows["left"].to_numpy()[seen])
        assert np.array_equal(bound.get_ydata(), rows["right"])
        assert np.array_equal(curve.get_xdata(), rows["norm_ratio"])
        assert panel.get_yscale() == "log"
        (shade,) = panel.collections
        height = shade.get_paths()[0].get_extents()
        assert height.y1 == pytest.approx(rows["right"].iloc[0])
    (legend,) = figure.legends
    assert any("false here" in text.get_text() for text in legend.get_texts())
    assert r"\alpha=1" in legend.get_title().get_text()
