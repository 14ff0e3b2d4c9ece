"""Figures of variances in K dimensions: what is on them, and that nothing is left out."""

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers import style
from dpnoise_papers.flipped_huber_2023.figures.vector_variances import (
    FLOOR,
    MARKERS,
    curve,
    figure_4,
    gain,
    table_2,
    variances,
)

EPSILONS = [0.1, 1.0, 10.0]


@pytest.fixture
def table():
    rows = [
        (3, delta, epsilon, mechanism, method, scale / epsilon**2, 10 * np.log10(9 / scale))
        for delta in (1e-8, 1e-6)
        for mechanism, method, scale in (
            ("gaussian", "exact", 9.0), ("flipped-huber", "exact", 3.0),
            ("flipped-huber", "sufficient", 4.0), ("laplace", "pure", 18.0),
        )
        for epsilon in EPSILONS
    ]  # fmt: skip
    columns = ["dimension", "delta", "epsilon", "mechanism", "method", "variance", "gain_db"]
    return pd.DataFrame(rows, columns=columns)


def test_every_mechanism_is_drawn_for_every_delta(table):
    figure = variances(table)
    assert len(figure.axes) == 6
    for panel, column in zip(figure.axes, ["variance"] * 2 + ["gain_db"] * 2, strict=False):
        drawn = {tuple(line.get_ydata()) for line in panel.get_lines()}
        expected = table.groupby(["mechanism", "method"])[column].agg(tuple).map(lambda y: y[:3])
        assert drawn == set(expected)
    (best,) = [line for line in figure.axes[4].get_lines() if set(line.get_ydata()) == {FLOOR}]
    assert best.get_ydata()[0] > figure.axes[4].get_ylim()[0]
    assert best.get_color() == style.COLOURS["flipped-huber"]
    excess = [line.get_ydata()[0] for line in figure.axes[4].get_lines() if line is not best]
    assert np.allclose(sorted(excess), [100 / 3, 200.0, 500.0])
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "Laplace" in words
    assert "flipped Huber, Theorem 8" in words


def test_a_box_without_private_noise_has_no_entry_in_the_legend(table):
    empty = table[table["method"] == "sufficient"].assign(method="box", variance=np.nan)
    words = [t.get_text() for t in variances(pd.concat([table, empty])).legends[0].get_texts()]
    assert not any("box" in word for word in words)


def test_printed_numbers_stand_at_their_place(table):
    printed = pd.DataFrame(
        {"column": ["variance", "gain_db"], "delta": ["1e-8", "1e-8"], "epsilon": ["1.0", "1.0"],
         "mechanism": ["flipped-huber"] * 2, "printed": [3.5, 1.0]}
    )  # fmt: skip
    with_numbers, without = variances(table, printed).axes[:2]
    (dots,) = with_numbers.collections
    assert dots.get_offsets().tolist() == [[1.0, 3.5]]
    assert not [c for c in without.collections if len(c.get_offsets())]


def test_gain_has_one_curve_per_budget_and_marks_its_peak(tmp_path):
    rows = [
        (k, e, d, g * e) for e in (0.5, 1.0) for d in (1e-8, 1e-6)
        for k, g in ((1, 0.1), (10, 0.9), (100, 0.0))
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["dimension", "epsilon", "delta", "gain_db"])
    figure = gain(table)
    (axes,) = figure.axes
    curves = [line for line in axes.get_lines() if len(line.get_xdata()) == 3]
    peaks = [line for line in axes.get_lines() if len(line.get_xdata()) == 1]
    assert len(curves) == 4
    assert {float(p.get_xdata()[0]) for p in peaks} == {10.0}
    assert len({(c.get_color(), c.get_linestyle()) for c in curves}) == 4
    first = style.save(figure, tmp_path / "a")
    again = style.save(gain(table), tmp_path / "b")
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in again]


def test_the_middle_panel_has_the_printed_numbers_against_the_gaussian(table):
    printed = pd.DataFrame(
        {"column": ["searched"], "delta": ["1e-8"], "epsilon": ["1.0"],
         "mechanism": ["flipped-huber"], "printed": [4.5]}
    )  # fmt: skip
    middle = figure_4(table, printed).axes[2]
    (dots,) = middle.collections
    assert dots.get_offsets()[0].tolist() == pytest.approx([1.0, 10 * np.log10(9.0 / 4.5)])


@pytest.mark.parametrize(
    ("draw", "ours"),
    [(figure_4, {"Laplace*"}), (table_2, {"Gaussian*", "flipped Huber, exact*"})],
)
def test_what_the_paper_does_not_show_carries_an_asterisk(table, draw, ours):
    words = [text.get_text() for text in draw(table, table[:0]).legends[0].get_texts()]
    starred = {word for word in words if word.endswith("*")}
    assert starred == ours
    assert words[-1] == style.OURS
    titles = [axes.get_title(loc="left") for axes in figure_4(table, table[:0]).axes[:2]]
    assert [title.endswith("*") for title in titles] == [False, True]


def test_mechanisms_have_their_colour_and_dash_and_methods_a_marker():
    for mechanism in style.COLOURS:
        plain, marked = curve(mechanism, "exact"), curve(mechanism, "box")
        assert {**plain, **style.look(mechanism)} == plain
        assert marked["linestyle"] == plain["linestyle"]
        assert (plain["marker"], marked["marker"]) == ("", "s")
    assert len(set(MARKERS.values())) == len(MARKERS)


@pytest.mark.parametrize(("loss", "scale"), [(-8.0, "symlog"), (-1.0, "linear")])
def test_small_gains_among_large_losses_are_spread(table, loss, scale):
    table.loc[table["mechanism"] == "flipped-huber", "gain_db"] = 0.3
    table.loc[table["mechanism"] == "laplace", "gain_db"] = loss
    assert variances(table).axes[2].get_yscale() == scale
