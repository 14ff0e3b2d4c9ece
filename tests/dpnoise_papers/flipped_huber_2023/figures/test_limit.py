"""The figure and the sentences about the limit show what the table says."""

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers import style
from dpnoise_papers.flipped_huber_2023.figures.limit import (
    excess,
    limit,
    limit_page,
    limit_supplement,
)
from dpnoise_papers.flipped_huber_2023.tables.limit import within


@pytest.fixture
def table():
    over = {"gaussian": 3.0, "laplace": 1.005, "staircase": np.nan}
    rows = [
        (cost, delta, epsilon, 1.0, 1.004, mechanism, value * epsilon, value * epsilon / 1.004,
         int(value * epsilon <= 1.01))
        for cost in ("variance", "mean-abs")
        for delta in (0.0, 1e-8, 0.3)
        for epsilon in (1.0, 2.0)
        for mechanism, value in over.items()
    ]  # fmt: skip
    columns = ["cost", "delta", "epsilon", "lower", "upper", "mechanism"]
    return pd.DataFrame(rows, columns=[*columns, "over_limit", "over_limit_least", "within"])


def lines(axes, mechanism):
    colour = style.COLOURS[mechanism]
    return [line for line in axes.get_lines() if line.get_color() == colour]


def test_every_cost_and_delta_has_its_excess_and_its_marks(table):
    figure = excess(table)
    assert len(figure.axes) == 12
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ([r"$\delta = 0$", r"$\delta = 10^{-8}$", r"$\delta = 0.3$", "", "", ""] * 2)
    for above, below in zip(figure.axes[:3], figure.axes[3:6], strict=True):
        (curve,) = lines(above, "gaussian")
        assert np.allclose(curve.get_ydata(), [200.0, 500.0])  # per cent above the limit
        (curve,) = lines(above, "laplace")
        assert np.allclose(curve.get_ydata(), [0.5, 101.0])
        (marks,) = lines(below, "laplace")
        assert np.array_equal(marks.get_ydata(), [1.0, np.nan], equal_nan=True)
        (marks,) = lines(below, "gaussian")
        assert np.isnan(marks.get_ydata()).all()
    words = [axes.get_ylabel() for axes in figure.axes]
    assert words[0].startswith("variance")
    assert words[6].startswith("mean absolute error")


def test_curves_and_the_grey_area_lie_inside_the_panels(table):
    above = excess(table).axes[0]
    low, high = above.get_ylim()
    assert low < 0.4  # the bounds differ by 0.4 per cent
    assert high > 500.0
    grey = above.collections[0].get_paths()[0].vertices
    assert np.isclose(grey[:, 1].max(), 0.4)


def test_legend_names_every_mechanism_and_the_grey_area(table):
    words = [text.get_text() for text in excess(table).legends[0].get_texts()]
    assert words == ["Gaussian", "Laplace", "staircase", "bounds on the limit differ by this much"]


def test_one_cost_alone_can_be_drawn(table):
    excess(table[table["cost"] == "variance"])


def test_the_figure_and_its_supplement_have_every_delta_once(table):
    titles = [
        axes.get_title(loc="left")
        for draw in (limit, limit_supplement)
        for axes in draw(table).axes
        if axes.get_title(loc="left")
    ]
    assert titles == [r"$\delta = 0$"] * 2 + [r"$\delta = 10^{-8}$", r"$\delta = 0.3$"] * 2


def test_every_mechanism_has_its_colour_and_dash(table):
    entries = {line.get_label(): line for line in excess(table).legends[0].get_lines()}
    for mechanism in ("gaussian", "laplace", "staircase"):
        line = entries[style.NAMES[mechanism]]
        assert line.get_color() == style.COLOURS[mechanism]
        assert line.is_dashed() == (mechanism != "gaussian")


def test_each_delta_has_its_sentence():
    rows = [
        (cost, delta, epsilon, 1.0, 1.004, mechanism, 1 if good else 0)
        for cost in ("variance", "mean-abs")
        for delta in (0.0, 1e-6)
        for epsilon in (0.1, 0.5, 1.0)
        for mechanism, good in (
            ("flipped-huber", delta > 0 and epsilon < 1),
            ("laplace", delta > 0 and epsilon == 1),
        )
    ]  # fmt: skip
    columns = ["cost", "delta", "epsilon", "lower", "upper", "mechanism", "within"]
    table = pd.DataFrame(rows, columns=columns)
    page = limit_page(table, within(table)).splitlines()
    assert "## Variance (the limit is known to 0.4%)" in page
    assert "## Mean absolute error (the limit is known to 0.4%)" in page
    assert page.count("- delta = 0: none of them.") == 2
    sentence = (
        "- delta = 1e-06: flipped huber for epsilon from 0.1 to 0.5; laplace for epsilon at 1."
    )
    assert page.count(sentence) == 2
