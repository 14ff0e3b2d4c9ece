"""Pictures of the slides show what their tables hold."""

import numpy as np
import pandas as pd
import pytest

import figure_checks
from dpnoise_papers import style
from dpnoise_papers.flipped_huber_slides.figures import densities_1d, illustrative_values
from dpnoise_papers.flipped_huber_slides.figures import huber_density as draw_huber
from dpnoise_papers.flipped_huber_slides.settings import CalibratedDensities, HuberDensity
from dpnoise_papers.flipped_huber_slides.tables import calibrated_densities, huber_density


def huber():
    return huber_density(HuberDensity(alpha=1.0, half_width=4.0, points=41))


def calibrated():
    return calibrated_densities(
        CalibratedDensities(
            epsilon=2.0, delta=1e-6, sensitivity=1.0, dimension=1, half_width=9.0, points=91,
            mechanisms=("gaussian", "truncated-laplace", "staircase"),
        )
    )  # fmt: skip


def values():
    return pd.DataFrame(
        {
            "epsilon": [0.5, 2.0],
            "alpha": [136.9, 132.3],
            "gamma": [16.5, 8.1],
            "alpha_exact": [20.3, 6.14],
            "gamma_exact": [6.37, 1.75],
            "delta_bound": [1e-6, 1e-6],
        }
    )


@pytest.mark.parametrize(("draw", "table"), [(draw_huber, huber()), (densities_1d, calibrated())])
def test_both_panels_draw_every_density(draw, table):
    plain, logarithmic = draw(table).axes
    for axes in (plain, logarithmic):
        drawn = {line.get_color(): line for line in axes.lines if len(line.get_xdata()) > 5}
        assert len(drawn) == table["mechanism"].nunique()
        for mechanism, rows in table.groupby("mechanism"):
            line = drawn[style.COLOURS[mechanism]]
            assert np.array_equal(line.get_xdata(), rows["t"])
            assert np.array_equal(line.get_ydata(), rows["density"])
    assert logarithmic.get_yscale() == "log"
    assert logarithmic.get_ylim()[0] > 0
    assert plain.get_ylim()[0] == 0
    assert plain.get_xlim()[1] <= logarithmic.get_xlim()[1]


def test_the_huber_density_is_marked_where_it_is_joined():
    for axes in draw_huber(huber()).axes:
        (dots,) = [line for line in axes.lines if line.get_marker() == "o"]
        assert list(dots.get_xdata()) == [-1, 1]


def test_the_legend_of_calibrated_densities_tells_the_standard_deviations():
    table = calibrated()
    words = [text.get_text() for text in densities_1d(table).legends[0].get_texts()]
    deviations = table.groupby("mechanism", sort=False)["variance"].first() ** 0.5
    assert words == [f"{style.NAMES[name]}: std {value:.4g}" for name, value in deviations.items()]
    assert not any("std" in text.get_text() for text in draw_huber(huber()).legends[0].get_texts())


def test_illustrative_values_are_written_at_their_dots():
    table = values()
    figure = figure_checks.drawn(illustrative_values(table))
    written = {"alpha": ["20.3", "6.14"], "gamma": ["6.37", "1.75"]}
    for axes, (name, texts) in zip(figure.axes, written.items(), strict=True):
        assert [text.get_text() for text in axes.texts] == texts
        assert "10^{-6}" in axes.get_title(loc="left")
        (circles,) = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
        assert list(circles.get_ydata()) == list(table[name])
    assert figure_checks.struck_texts(figure) == []
