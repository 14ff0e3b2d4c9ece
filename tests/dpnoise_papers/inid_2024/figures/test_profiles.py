"""Figures of profiles of sensitivities: what the tables hold is drawn, the same on every run.

Table II of inid-2024 over epsilon.

The map of Algorithm 1 of inid-2024: both panels, and where nothing is drawn.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpnoise_papers.inid_2024.figures.profiles import (
    MECHANISMS,
    curves,
    dispersion,
    error_curves,
    laplace_and_gaussian,
    theorem_7,
)
from dpnoise_papers.style import COLOURS, GREY

PROFILES = ["uniform", "linear", "quadratic", "exponential", "one-hot"]


def curves_table(noise, dimensions, epsilons):
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
    table = curves_table(noise, [20], [0.1, 1.0, 10.0])
    best = table[table["scheme"] == "optimal"]
    for axes, column in zip(error_curves(table).axes, ("mse_db", "gain_db"), strict=True):
        assert axes.get_xscale() == "log"
        expected = {tuple(rows[column].round(9)) for _, rows in best.groupby("profile")}
        assert set(levels(axes, COLOURS[noise])) == expected
        assert len(levels(axes, "black")) == 1
        # SPR is drawn where it differs from i.i.d. noise.
        assert len(levels(axes, GREY)) == (3 if noise == "laplace" else 0)


def test_errors_against_the_dimension_have_a_close_view():
    figure = error_curves(curves_table("gaussian", [1, 2, 3, 9], [0.5]))
    main, near = figure.axes
    assert main.get_xlim() == (1, 9)
    assert {line.get_linestyle() for line in near.get_lines()} >= {"-"}
    drawn = [line for line in near.get_lines() if line.get_color() == COLOURS["gaussian"]]
    assert [list(line.get_xdata()) for line in drawn] == [[1, 2, 3]] * 3


def test_printed_numbers_are_open_circles():
    table = curves_table("gaussian", [20], [0.1, 1.0, 10.0])
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


def test_the_comparison_marks_the_first_loss_or_says_never():
    rows = [
        (noise, "optimal", name, k, 10.0 if noise == "gaussian" else level(k))
        for name, level in (("uniform", lambda k: 5.0 + k), ("exponential", lambda _: 7.0))
        for noise in ("gaussian", "laplace")
        for k in range(1, 9)
    ]
    table = pd.DataFrame(rows, columns=["noise", "scheme", "profile", "dimension", "mse_db"])
    one, two = laplace_and_gaussian(table).axes
    assert "from $K = 6$" in one.texts[0].get_text()
    assert "every" in two.texts[0].get_text()


def test_theorem_7_shows_claim_and_truth():
    table = pd.DataFrame(
        {"profile": ["linear", "block", "outlier"], "nu": [0.5, 0.1, 0.01],
         "gaussian": [0.8, 0.1, 0.9], "laplace": [0.9, 0.1, 0.95]}
    )  # fmt: skip
    figure = theorem_7(table)
    for axes, noise in zip(figure.axes, ("gaussian", "laplace"), strict=True):
        claim = axes.get_lines()[0]
        assert np.allclose(claim.get_ydata(), claim.get_xdata() ** 2)
        points = [line for line in axes.get_lines() if line.get_color() == COLOURS[noise]]
        shown = sorted(float(y) for line in points for y in line.get_ydata())
        assert shown == sorted(table[noise])


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
