"""Figures 5 to 7 and the map of Table I show what their tables hold.

The picture of Lemma 7: what it shows is what the table holds, with the same bytes each time.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers import style
from dpnoise_papers.flipped_huber_2023.figures.privacy import (
    figure_5,
    figure_6,
    figure_7,
    lemma_7,
    table_1,
)
from dpnoise_papers.flipped_huber_2023.settings import (
    Lemma7,
    LossAndBound,
    LossesAtOneScale,
    ProfilesAtOneVariance,
)
from dpnoise_papers.flipped_huber_2023.tables.privacy import (
    loss_and_bound,
    losses_at_one_scale,
    profiles_at_one_variance,
)
from dpnoise_papers.flipped_huber_2023.theory.counterexamples import lemma_7 as tabulate
from dpnoise_papers.settings import Grid


def losses(**changes):
    settings = {"alpha": 2.0, "gamma": 1.0, "shifts": (1.0, 3.0, 5.0), "margin": 1.0, "points": 21}
    return loss_and_bound(LossAndBound(**settings | changes))


def profiles(high=1.2, count=25):
    grid = Grid(low=0.0, high=high, count=count, spacing="linear")
    return profiles_at_one_variance(
        ProfilesAtOneVariance(variance=16.0, scale=7.0, sensitivity=1.0, epsilons=grid)
    )


def at_one_scale():
    return losses_at_one_scale(LossesAtOneScale(scale=0.7, shift=1.0, half_width=2.5, points=21))


def lines(axes):
    return [line for line in axes.lines if len(line.get_xdata()) > 5]


def test_figure_5_draws_each_loss_below_its_bound_and_marks_the_ridge():
    table = losses()
    figure = figure_5(table)
    assert len(figure.axes) == 3
    for axes, (d, rows) in zip(figure.axes, table.groupby("d"), strict=True):
        bound, loss = lines(axes)
        assert list(loss.get_ydata()) == list(rows["loss"])
        assert list(bound.get_ydata()) == list(rows["bound"])
        (ridge,) = [line for line in axes.lines if line.get_marker() == "o"]
        assert list(ridge.get_xdata()) == [d / 2]
        assert f"d = {d:g}" in axes.get_title(loc="left")


@pytest.mark.parametrize(
    ("alpha", "words"), [(4.0, r"|d| \leq \alpha"), (2.0, r"\alpha < |d|$"), (1.0, "< |d|/2")]
)
def test_figure_5_names_the_case_of_equation_25(alpha, words):
    (axes,) = figure_5(losses(alpha=alpha, shifts=(3.0,))).axes
    assert words in axes.get_title(loc="left")


def test_figure_6_says_from_where_on_flipped_huber_is_best():
    table = profiles()
    whole, near = figure_6(table).axes
    assert whole.get_yscale() == "log"
    assert near.get_yscale() == "linear"
    wide = table.pivot_table(index="epsilon", columns="mechanism", values="delta")
    first = wide.index[wide.idxmin(axis=1) == "flipped-huber"].min()
    (guide,) = [line for line in near.lines if len(set(line.get_xdata())) == 1]
    assert guide.get_xdata()[0] == first
    assert f"from {first:.2g} on" in near.texts[0].get_text()
    assert near.get_xlim()[1] > first
    colours = [line.get_color() for line in lines(whole)]
    assert colours == [style.COLOURS[name] for name in table["mechanism"].unique()]


def test_figure_6_is_drawn_where_the_order_never_turns():
    _, near = figure_6(profiles(high=0.1, count=6)).axes
    assert near.get_xlim() == pytest.approx((0, 0.1))


def test_figure_7_draws_four_losses_with_their_names_below_them():
    table = at_one_scale()
    figure = figure_7(table)
    (axes,) = figure.axes
    drawn = {line.get_color(): line for line in lines(axes)}
    assert len(drawn) == 4
    for mechanism, rows in table.groupby("mechanism"):
        line = drawn[style.COLOURS[mechanism]]
        assert np.array_equal(line.get_ydata(), rows["loss"])
    names = {text.get_text() for text in figure.legends[0].get_texts()}
    assert names == {style.NAMES[mechanism] for mechanism in table["mechanism"].unique()}


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
