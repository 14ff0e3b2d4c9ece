"""Table II of inid-2024 over epsilon."""

import pandas as pd
import pytest

from dpnoise_papers.inid_2024.figures.profiles import MECHANISMS, curves


@pytest.fixture
def table():
    rows = [
        (epsilon, name, (10 - place) / epsilon ** (2 if name == "staircase" else 1))
        for epsilon in (0.5, 1.0, 4.0)
        for place, name in enumerate(MECHANISMS)
    ]
    table = pd.DataFrame(rows, columns=["epsilon", "mechanism", "mae"])
    return table.assign(mae_epsilon=table["mae"] * table["epsilon"])


def test_printed_errors_stand_on_the_curves_times_epsilon(table):
    printed = pd.DataFrame(
        {"mechanism": ["staircase", "staircase"], "epsilon": ["1", "4"], "column": ["mae", "gamma"],
         "printed": [9.875, 0.4]}
    )  # fmt: skip
    (axes,) = curves(table, printed).axes
    (dots,) = axes.collections
    assert dots.get_offsets().tolist() == [[1.0, 9.875]]
    (axes,) = curves(table, printed.assign(epsilon="4")).axes
    assert axes.collections[0].get_offsets().tolist() == [[4.0, 39.5]]


def test_curves_are_errors_times_epsilon_and_mark_the_crossing(table):
    (axes,) = curves(table).axes
    drawn = {tuple(line.get_ydata()) for line in axes.get_lines()}
    for name in ("staircase", "laplace-iid", "laplace-optimal", "box-staircase", "lower-bound"):
        rows = table[table["mechanism"] == name]
        assert tuple(rows["mae_epsilon"]) in drawn
    (mark,) = [line for line in axes.get_lines() if len(line.get_xdata()) == 1]
    assert list(mark.get_xdata()) == [4.0]
