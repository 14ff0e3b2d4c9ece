"""The map of Table I of flipped-huber-2023 shows what its table holds."""

import pandas as pd
import pytest

from dpnoise_papers.flipped_huber_2023.figures.scalar_cases import table_1
from figure_bytes import svg


def cases(**changes):
    rows = {
        "case": ["i", "ii", "iii", "iv", "v", "iv-v"],
        "alpha": [0.2, 2.4, 1.2, 0.5, 0.6, 0.5],
        "sensitivity": [1.0, 2.0, 2.0, 1.0, 1.0, 1.0],
        "gamma": [1.0, 2.0, 1.0, 1.0, 1.0, 1.0],
        "epsilon": [0.1, 0.4, 1.5, 0.8, 1.5, 1.0],
        "t1_in_interval": 1,
        "t2_in_interval": 1,
        "ranges": 1,
    }
    return pd.DataFrame(rows).assign(**changes)


def points(axes, markers):
    lines = [line for line in axes.lines if line.get_marker() in tuple(markers)]
    return sorted(
        point for line in lines for point in zip(line.get_xdata(), line.get_ydata(), strict=True)
    )


def test_every_trial_stands_at_its_two_ratios_with_its_case_named():
    figure = table_1(cases())
    (axes,) = figure.axes
    expected = [(0.2, 0.1), (0.5, 0.8), (0.5, 1.0), (0.6, 0.375), (0.6, 1.5), (1.2, 0.4)]
    for found, wanted in zip(points(axes, "os^Dv"), expected, strict=True):
        assert found == pytest.approx(wanted)
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["(i)", "(ii)", "(iii)", "(iv)", "(v)", "border"]
    assert points(axes, "x") == []


@pytest.mark.parametrize(
    "changes", [{"t1_in_interval": 0}, {"t2_in_interval": 0}, {"ranges": 2}, {"ranges": 0}]
)
def test_a_trial_that_contradicts_the_table_is_crossed(changes):
    (axes,) = table_1(cases(**changes)).axes
    assert len(points(axes, "x")) == 6


def test_two_drawings_are_the_same():
    assert svg(table_1(cases())) == svg(table_1(cases()))
