"""Figures 1 to 3 of inid-2024: every curve of the table is on them, the same on every run."""

import numpy as np
import pandas as pd
import pytest

import figure_bytes
from dpnoise_papers.inid_2024.figures.curves import dispersion, error_curves
from dpnoise_papers.style import COLOURS, GREY

PROFILES = ["uniform", "linear", "quadratic", "exponential", "one-hot"]


def curves(noise, dimensions, epsilons):
    """Return a made-up table: SPR noise above i.i.d. noise if Laplace, optimal noise below."""
    shifts = {"iid": 0.0, "spr": 2.0 if noise == "laplace" else 0.0, "optimal": -1.0}
    rows = [
        (noise, scheme, name, k, e, 20 + k - 5 * np.log10(e) + shift * place, -shift * place)
        for scheme, shift in shifts.items()
        for place, name in enumerate(PROFILES)
        for k in dimensions
        for e in epsilons
    ]
    columns = ["noise", "scheme", "profile", "dimension", "epsilon", "mse_db", "gain_db"]
    return pd.DataFrame(rows, columns=columns)


def levels(axes, colour):
    return [tuple(np.round(line.get_ydata(), 9)) for line in axes.get_lines()
            if line.get_color() == colour and len(line.get_xdata()) > 2]  # fmt: skip


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_errors_against_epsilon(noise):
    table = curves(noise, [20], [0.1, 1.0, 10.0])
    best = table[table["scheme"] == "optimal"]
    for axes, column in zip(error_curves(table).axes, ("mse_db", "gain_db"), strict=True):
        assert axes.get_xscale() == "log"
        expected = {tuple(rows[column].round(9)) for _, rows in best.groupby("profile")}
        assert set(levels(axes, COLOURS[noise])) == expected
        assert len(levels(axes, "black")) == 1
        # SPR is drawn where it differs from i.i.d. noise.
        assert len(levels(axes, GREY)) == (3 if noise == "laplace" else 0)


def test_errors_against_the_dimension_have_a_close_view():
    figure = error_curves(curves("gaussian", [1, 2, 3, 9], [0.5]))
    main, near = figure.axes
    assert main.get_xlim() == (1, 9)
    assert {line.get_linestyle() for line in near.get_lines()} >= {"-"}
    drawn = [line for line in near.get_lines() if line.get_color() == COLOURS["gaussian"]]
    assert [list(line.get_xdata()) for line in drawn] == [[1, 2, 3]] * 3


def test_printed_numbers_are_open_circles():
    table = curves("gaussian", [20], [0.1, 1.0, 10.0])
    printed = pd.DataFrame(
        {"column": ["gain_db", "gain", "mse_db"], "printed": [2.0, 7.0, 33.0],
         "epsilon": [np.nan, np.nan, "10"]}
    )  # fmt: skip
    found = []
    for axes in error_curves(table, printed).axes:
        (circles,) = [line for line in axes.get_lines() if line.get_marker() == "o"]
        found += zip(circles.get_xdata(), circles.get_ydata(), strict=True)
    assert found == [(10.0, 33.0), (1.0, 2.0)]
    beyond = error_curves(table, printed.assign(epsilon="11"))  # not computed there
    assert not [line for axes in beyond.axes for line in axes.get_lines()
                if line.get_marker() == "o"]  # fmt: skip


def test_dispersion_has_a_named_line_per_profile():
    table = pd.DataFrame(
        [(name, k, 0.1 * place) for place, name in enumerate(PROFILES) for k in (1, 2, 5)],
        columns=["profile", "dimension", "gini"],
    )
    (axes,) = dispersion(table).axes
    words = [text.get_text() for text in axes.texts]
    assert set(PROFILES) <= set(words)


def test_the_same_bytes_twice():
    table = curves("laplace", [1, 2, 3, 9], [0.5])
    assert figure_bytes.svg(error_curves(table)) == figure_bytes.svg(error_curves(table))
