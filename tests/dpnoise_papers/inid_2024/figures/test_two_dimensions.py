"""Table II of inid-2024 as a page, and its curves."""

import pandas as pd
import pytest

from dpnoise_papers.inid_2024.figures.two_dimensions import MECHANISMS, curves, table_2
from dpnoise_papers.style import GREY


@pytest.fixture
def table():
    rows = [
        (epsilon, name, (10 - place) / epsilon ** (2 if name == "staircase" else 1))
        for epsilon in (0.5, 1.0, 4.0)
        for place, name in enumerate(MECHANISMS)
    ]
    table = pd.DataFrame(rows, columns=["epsilon", "mechanism", "mae"])
    return table.assign(mae_epsilon=table["mae"] * table["epsilon"])


def test_every_value_is_on_the_page_and_the_least_is_bold(table):
    printed = pd.DataFrame(
        {"mechanism": ["staircase", "staircase"], "epsilon": ["1", "4"], "column": ["mae", "gamma"],
         "printed": [9.875, 0.4]}
    )  # fmt: skip
    (axes,) = table_2(table, printed).axes
    words = [text.get_text() for text in axes.texts]
    for value in table["mae"]:
        assert f"{value:.4f}" in words
    grey = [text.get_text() for text in axes.texts if text.get_color() == GREY]
    assert grey == ["9.8750"]
    bold = {text.get_text() for text in axes.texts if text.get_fontweight() == "bold"}
    real = table[table["mechanism"] != "lower-bound"]
    least = {f"{value:.4f}" for value in real.groupby("epsilon")["mae"].min()}
    assert {word for word in bold if "=" not in word} == least


def test_curves_are_errors_times_epsilon_and_mark_the_crossing(table):
    (axes,) = curves(table).axes
    drawn = {tuple(line.get_ydata()) for line in axes.get_lines()}
    for name in ("staircase", "laplace-iid", "laplace-optimal", "box-staircase", "lower-bound"):
        rows = table[table["mechanism"] == name]
        assert tuple(rows["mae_epsilon"]) in drawn
    (mark,) = [line for line in axes.get_lines() if line.get_marker() == "o"]
    assert list(mark.get_xdata()) == [4.0]
