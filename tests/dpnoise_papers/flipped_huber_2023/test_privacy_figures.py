"""Figures 5 to 7 show what their tables hold."""

from __future__ import annotations

import numpy as np

from dpnoise_papers import style
from dpnoise_papers.flipped_huber_2023.privacy import (
    loss_and_bound,
    losses_at_one_scale,
    profiles_at_one_variance,
)
from dpnoise_papers.flipped_huber_2023.privacy_figures import (
    figure_5,
    figure_6,
    figure_7,
)
from dpnoise_papers.flipped_huber_2023.settings import (
    LossAndBound,
    LossesAtOneScale,
    ProfilesAtOneVariance,
)
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
