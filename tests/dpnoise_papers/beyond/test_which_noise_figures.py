"""The map of the best mechanism, drawn.

The page 'which noise?' holds the table and nothing from outside.
"""

from __future__ import annotations

import json
import re

import numpy as np

import figure_checks
from dpnoise.mechanisms.methods import METHODS
from dpnoise_papers.beyond.which_noise_figures import CELLS, data, less, more, render, which_noise
from dpnoise_papers.style import COLOURS
from which_noise_toys import MECHANISMS, toy


def test_each_set_and_delta_has_a_panel_with_the_best_mechanism_in_each_cell():
    table = toy(deltas=(0.0, 1e-9, 1e-6))
    figure = figure_checks.drawn(which_noise(table))
    assert len(figure.axes) == 2 * 3
    assert [axes.get_title(loc="left") for axes in figure.axes[:3]] == [
        r"$\delta = 0$", r"$\delta = 10^{-9}$", r"$\delta = 10^{-6}$",
    ]  # fmt: skip
    axes = figure.axes[2]
    names = sorted(MECHANISMS, key=[*CELLS].index)
    shown = axes.images[0].get_array()
    here = table[(table["set"] == "all") & (table["delta"] == 1e-6)]
    best = here.drop_duplicates(["dimension", "epsilon"]).pivot_table(
        index="epsilon", columns="dimension", values="mechanism", aggfunc="first"
    )
    assert (np.array(names)[shown.astype(int)] == best.to_numpy()).all()
    assert figure_checks.clipped_texts(figure) == []


def test_a_dot_marks_cells_where_plain_noise_is_close():
    table = toy()
    figure = which_noise(table)
    here = table[(table["set"] == "all") & (table["delta"] == 0)]
    best = here.drop_duplicates(["dimension", "epsilon"])
    count = best["mechanism"].isin(["Laplace", "Gaussian"]).sum()  # the next has 1.5 times as much
    assert len(figure.axes[0].lines[0].get_xdata()) == count > 0


def test_every_mechanism_has_a_colour_of_its_own():
    assert {method.name for method in METHODS} <= set(CELLS)
    assert len(set(CELLS.values())) == len(CELLS)
    assert CELLS["Laplace"] == COLOURS["laplace"]


def test_the_page_holds_every_point_of_the_table():
    table = toy()
    content = re.search(r'<script type="application/json" id="data">(.*?)</script>', render(table))
    held = json.loads(content[1])
    assert held == json.loads(json.dumps(data(table)))
    assert held["axes"] == {
        "dimension": ["1", "5", "12"], "epsilon": ["0.1", "1", "3"], "delta": ["0", "1e-06"],
    }  # fmt: skip
    assert len(held["points"]) == 2 * 3 * 3 * 2 - 6
    here = table[(table["set"] == "three") & (table["dimension"] == 12)]
    here = here[(here["epsilon"] == 3.0) & (here["delta"] == 1e-6)]
    rows = held["points"]["three 12 3 1e-06"]["rows"]
    assert [row[0] for row in rows] == here["mechanism"].tolist()
    assert [row[1] for row in rows] == here["variance"].tolist()
    assert set(held["colours"]) == set(MECHANISMS)


def test_bounds_are_rounded_to_the_safe_side():
    assert more(1.00001e-6) == "1.001e-06"
    assert less(9.9999e-7) == "9.999e-07"
    assert more(0.0) == less(0.0) == "0"


def test_nothing_comes_from_outside():
    text = render(toy())
    assert not re.findall(r"(?:src|href)=|url\(|https?:|@import", text)
